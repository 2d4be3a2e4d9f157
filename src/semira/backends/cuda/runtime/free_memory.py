"""How much memory of the GPU can still be allocated."""

from __future__ import annotations

from typing import Any

from semira.backends.cuda.runtime.errors import check


def free_bytes(runtime: Any) -> int:
    """Return the bytes that can still be allocated: the GPU's, and what the pool has in reserve.

    A memory resource that has less says so: its ``free_bytes`` is asked if there is one.
    """
    own = getattr(runtime.memory, "free_bytes", None)
    if own is not None:
        return int(own())
    driver, what = runtime._driver, "asking for free memory"
    free = free_of_driver(runtime)
    pool = check(driver.cuDeviceGetMemPool(runtime.device.device_id), what)
    reserved, used = (
        int(check(driver.cuMemPoolGetAttribute(pool, attribute), what))
        for attribute in (
            driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
            driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
        )
    )
    return free + reserved - used


def free_of_driver(runtime: Any) -> int:
    """Return the bytes of the GPU that are allocated neither by a process nor by a pool."""
    return int(check(runtime._driver.cuMemGetInfo(), "asking for free memory"))
