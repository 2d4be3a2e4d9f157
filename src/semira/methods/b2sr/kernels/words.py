"""Words of bits, as LLVM knows them: it makes one instruction of each of these functions."""

import numpy as np

from semira.backends.cpu.kernels.slots import helper


@helper
def count_bits(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = word & np.uint64(0x3333333333333333)
    word = pairs + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@helper
def first_bit(word):
    """Place of the lowest bit that is set; of 0: 64."""
    return count_bits(~word & (word - np.uint64(1)))
