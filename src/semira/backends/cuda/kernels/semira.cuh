// Everything a generated program may call.
#pragma once
#include "common/helpers.cuh"
#include "ewise/cells.cuh"
#include "reduce/matrix.cuh"
#include "reduce/reduce.cuh"
#include "region/assign.cuh"
#include "region/sources.cuh"
#include "scalar/scalar.cuh"
#include "vxm/merge.cuh"
#include "vxm/pull.cuh"
#include "vxm/push.cuh"
