"""Dynamic shared memory of the pulls in tiles (kernels/vxm/tiles.cuh)."""

from __future__ import annotations

from semira.backends.cuda.lower.context import Context

#: Bytes for tiles: 16 warps with 2 KB of sums and 192 bytes of bits each.
TILE_ROOM = 16 * (2048 + 192)
#: And behind that 4 KB of columns with 128 bytes of bits each, which loops keep.
KEPT_ROOM = 16 * (4096 + 128)


def rooms_of(ctx: Context) -> tuple[int, int]:
    """Return the bytes that pulls in tiles need, and those in which one keeps what it walks."""
    has_tiles = any(space.kind == "handed" for space in ctx.workspaces.values())
    if ctx.is_tight or not has_tiles:
        return 0, 0
    keeps = any(text.startswith("__shared__ KeptRows ") for text, _ in ctx.shared.values())
    return TILE_ROOM, KEPT_ROOM if keeps else 0


def agreed_rooms(ctx: Context) -> list[str]:
    """Return what stops the compiler where host and device disagree; nothing without tiles."""
    rooms = f"kTileRoom == {TILE_ROOM} && kKeptRoom == {KEPT_ROOM}"
    agreed = f'static_assert({rooms}, "host and device disagree");'
    return [agreed] if any(rooms_of(ctx)) else []
