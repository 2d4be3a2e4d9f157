"""Other libraries that run the same algorithms; each is optional."""

from semira.bench.peers.registry import PEERS, open_peer

__all__ = ["PEERS", "open_peer"]
