// Running sums of what may need 64 bits, whatever the offsets have.
#pragma once
#include "matrix/scan.cuh"

extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_few(long long* items, long long n, const long long* sums) {
  scan_few(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_tiles(const long long* items, long long n, long long* sums) {
  scan_tiles(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_sums(long long* sums, long long tiles) {
  scan_sums(sums, tiles);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_items(long long* items, long long n, const long long* sums) {
  scan_items(items, n, sums);
}
