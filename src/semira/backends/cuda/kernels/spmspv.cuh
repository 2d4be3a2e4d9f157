// Everything the kernels of a push that lists its products may call.
#pragma once
#include "common/helpers.cuh"
#include "spmspv/products.cuh"
