// Everything a product in equal shares may call.
#pragma once
#include "common/helpers.cuh"
#include "semira.methods.equal_shares.kernels:sizes.cuh"
#include "semira.methods.equal_shares.kernels:sums.cuh"
#include "scalar/scalar.cuh"
