"""For each row the key with the largest sum: keys are counted in a table found by hashing."""

import numpy as np

from semira.backends.cpu.kernels.slots import LISTED, draw, helper, kernel


@helper
def _first_of(i, count, used, table, sums, has_own, own, draws, seed):
    """Return the slot of the largest sum; of equal ones that of the key that wins the tie."""
    best = used[0]
    best_draw = np.uint64(0)
    is_drawn = False
    for k in range(count):
        slot = used[k]
        # NaN loses.
        if sums[slot] != sums[slot]:
            sums[slot] = -np.inf
        if k == 0 or sums[slot] > sums[best]:
            best = slot
            is_drawn = False
        elif sums[slot] == sums[best] and not (has_own and table[best] == own):
            if has_own and table[slot] == own:
                best = slot
            elif not draws:
                if table[slot] < table[best]:
                    best = slot
            else:
                if not is_drawn:
                    best_draw = draw(table[best], i, seed)
                    is_drawn = True
                mine = draw(table[slot], i, seed)
                if mine > best_draw or (mine == best_draw and table[slot] < table[best]):
                    best = slot
                    best_draw = mine
    return best


@kernel
def modes(
    lo, hi, listed, indptr, indices, values, stride, keys, key_stride, present, present_stride,
    prefers, preferred, preferred_stride, is_preferred, is_preferred_stride,
    draws, seed, may, truth, may_stride, complement,
    table, sums, stamps, used, out_values, out_present,
):  # fmt: skip
    """Write the mode of each row that is listed, or that the mask opens.

    Returns how many these are. ``stamps`` names the row that filled a slot, so that nothing has to
    be emptied between rows; it holds -1 at first. ``used`` has room for the longest row.
    """
    found = 0
    last = len(stamps) - 1
    for at in range(lo, hi):
        i = listed[at] if LISTED else at
        if not LISTED and (may[i * may_stride] and truth[i * may_stride]) == complement:
            continue
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if not present[j * present_stride]:
                continue
            key = np.int64(keys[j * key_stride])
            # A multiplicative hash: labels of neighbours tend to be close together.
            slot = ((key * np.int64(0x9E3779B1)) >> np.int64(12)) & last
            while stamps[slot] == i and table[slot] != key:
                slot = (slot + 1) & last
            if stamps[slot] == i:
                sums[slot] += values[p * stride]
            else:
                stamps[slot] = i
                table[slot] = key
                sums[slot] = values[p * stride]
                used[count] = slot
                count += 1
        if count == 0:
            continue
        has_own = prefers and is_preferred[i * is_preferred_stride]
        own = np.int64(preferred[i * preferred_stride]) if has_own else np.int64(0)
        best = _first_of(i, count, used, table, sums, has_own, own, draws, seed)
        out_values[i] = table[best]
        out_present[i] = True
        found += 1
    return found
