"""Gathered rows of tables: added up, or joined, made of length 1 and added up."""

import numpy as np

from semira.kernels import kernel


@kernel
def pool(low, high, k, width, mode, places, table, out):
    """Write the maximum (mode 0), mean (1) or sum (2) of the k rows of a table that items name."""
    for i in range(low, high):
        for c in range(width):
            out[i * width + c] = table[np.int64(places[i * k]) * width + c]
        for slot in range(1, k):
            row = np.int64(places[i * k + slot]) * width
            if mode == 0:
                for c in range(width):
                    out[i * width + c] = max(out[i * width + c], table[row + c])
            else:
                for c in range(width):
                    out[i * width + c] += table[row + c]
        if mode == 1:
            for c in range(width):
                out[i * width + c] /= np.float32(k)


@kernel
def pool_halves(low, high, k, width, mode, places, table, halves, out):
    """Do the same for words of float16; `halves` has the float32 that each word stands for."""
    for i in range(low, high):
        for c in range(width):
            out[i * width + c] = halves[table[np.int64(places[i * k]) * width + c]]
        for slot in range(1, k):
            row = np.int64(places[i * k + slot]) * width
            if mode == 0:
                for c in range(width):
                    out[i * width + c] = max(out[i * width + c], halves[table[row + c]])
            else:
                for c in range(width):
                    out[i * width + c] += halves[table[row + c]]
        if mode == 1:
            for c in range(width):
                out[i * width + c] /= np.float32(k)


@kernel
def join(low, high, k, own_width, other_width, mode, places, own, other, out):
    """Write the maximum, mean or sum of l2norm(relu([own[place], other[slot]])) over k slots.

    `places` has the row of `own` of each slot; `other` has a row for each slot. What is 0 stays 0.
    """
    width = own_width + other_width
    for i in range(low, high):
        for c in range(width):
            out[i * width + c] = 0.0
        for slot in range(k):
            left, right = np.int64(places[i * k + slot]) * own_width, (i * k + slot) * other_width
            square = np.float32(0.0)
            for c in range(own_width):
                value = max(own[left + c], np.float32(0.0))
                square += value * value
            for c in range(other_width):
                value = max(other[right + c], np.float32(0.0))
                square += value * value
            scale = np.float32(0.0)
            if square > 0.0:
                scale = np.float32(1.0) / np.float32(np.sqrt(square))
            for c in range(width):
                value = own[left + c] if c < own_width else other[right + c - own_width]
                value = max(value, np.float32(0.0)) * scale
                if mode == 0:
                    out[i * width + c] = max(out[i * width + c], value)
                else:
                    out[i * width + c] += value
        if mode == 1:
            for c in range(width):
                out[i * width + c] /= np.float32(k)
