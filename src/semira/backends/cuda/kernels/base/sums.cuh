// Running sums of counts and of offsets that have 32 bits.
#pragma once
#include "matrix/scan.cuh"

SEMIRA_SCANS(semira_scan32_tiles, semira_scan32_sums, semira_scan32_items, semira_scan32_few, int)
