// Everything the kernels of a push that lists its products may call.
#pragma once
#include "common/helpers.cuh"
#include "semira.methods.sorted_push.kernels:products.cuh"
