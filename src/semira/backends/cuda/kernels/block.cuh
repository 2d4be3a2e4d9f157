// Everything a product that pulls into a block may call.
#pragma once
#include "common/helpers.cuh"
#include "mxm/block.cuh"
