// Running sums of what may need 64 bits, whatever the offsets have.
#pragma once
#include "matrix/scan.cuh"

SEMIRA_SCANS(
    semira_scan64_tiles, semira_scan64_sums, semira_scan64_items, semira_scan64_few, long long)
