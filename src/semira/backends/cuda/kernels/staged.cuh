// Everything a staged matrix statement may call.
#pragma once
#include "common/helpers.cuh"
#include "matrix/policies.cuh"
#include "matrix/regions.cuh"
#include "mxm/entrywise.cuh"
#include "mxm/rowwise.cuh"
#include "mxm/sums.cuh"
