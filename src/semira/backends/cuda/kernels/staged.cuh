// Everything a staged matrix statement may call.
#pragma once
#include "common/helpers.cuh"
#include "matrix/products.cuh"
#include "matrix/regions.cuh"
