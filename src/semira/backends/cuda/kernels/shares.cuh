// Everything a product in equal shares may call.
#pragma once
#include "common/helpers.cuh"
#include "mxm/share_sizes.cuh"
#include "mxm/share_sums.cuh"
#include "scalar/scalar.cuh"
