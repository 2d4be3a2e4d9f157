// Everything a product with a full operand may call.
#pragma once
#include "common/helpers.cuh"
#include "matrix/policies.cuh"
#include "mxm/columns.cuh"
#include "mxm/dense.cuh"
#include "mxm/masked_full.cuh"
#include "mxm/pieces.cuh"
#include "mxm/spmm.cuh"
#include "mxm/sums.cuh"
