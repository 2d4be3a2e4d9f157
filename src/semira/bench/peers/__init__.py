"""Other libraries that run the same algorithms; each is optional."""

from semira.bench.peers.registry import HOST_PEERS, PEERS, open_peer

__all__ = ["HOST_PEERS", "PEERS", "open_peer"]
