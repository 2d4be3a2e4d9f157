"""Other libraries that run the same algorithms; each is optional."""

from semira.bench.peers.registry import GPU_PEERS, HOST_PEERS, PEERS, open_peer

__all__ = ["GPU_PEERS", "HOST_PEERS", "PEERS", "open_peer"]
