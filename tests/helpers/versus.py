"""A record of ours, and times of peers on the same graph."""

from __future__ import annotations

from semira.bench.record import Dataset, Record
from semira.bench.traffic import ROOF
from semira.bench.versus import Peers

USE = {
    "name": "program-1", "launches": 1, "device_ms": 0.9, "registers": 64, "shared_bytes": 2048,
    "local_bytes": 0, "threads": 512, "blocks": 132, "blocks_per_sm": 2, "occupancy": 0.5,
    "code_bytes": 20480, "workspace_bytes": 2**20,
}  # fmt: skip
LIBRARY = {**dict.fromkeys(USE), "name": "cupy argsort", "launches": 2, "device_ms": 0.1}
OURS = Record(
    "algorithm", "bfs", Dataset("ring", 100, 1000, "00"), "semira", "cuda", "INT32",
    ran={"push": 2}, first_s=0.05, warm_s=[0.002], device_s=[0.001], kernels=[USE, LIBRARY],
    least_bytes=int(ROOF * 0.00025), verified=True, environment={"gpu": "NVIDIA H200"},
)  # fmt: skip
PEERS = Peers(
    {"date": "2026-11-21", "gpu": "NVIDIA H200", "how": "Once.", "peers": {"a": "A 1"}},
    {"ring": {"n": 100, "entries": 1005}},
    {
        ("ring", "bfs"): [
            {"peer": "a", "device_ms": 3.0, "call_ms": 9.0},
            {"peer": "b", "device_ms": 5.0},
            {"peer": "c", "call_ms": 4.0},
        ]
    },
    {("ring", "bfs"): 0.5},
)
