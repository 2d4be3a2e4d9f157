// Running sums of counts and of offsets that have 32 bits.
#pragma once
#include "matrix/scan.cuh"

extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_tiles(const int* items, long long n, int* sums) {
  scan_tiles(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_sums(int* sums, long long tiles) {
  scan_sums(sums, tiles);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_items(int* items, long long n, const int* sums) {
  scan_items(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_few(int* items, long long n, const int* sums) {
  scan_few(items, n, sums);
}
