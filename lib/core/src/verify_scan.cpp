#include "verify_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tokpack::detail {
namespace {

namespace baseline {
#define TOKPACK_SCAN_TARGET
#include "verify_scan.inc"
#undef TOKPACK_SCAN_TARGET
}  // namespace baseline

constexpr ScanKernels kBaseline = {"baseline",
                                   baseline::any_above_u16,
                                   baseline::any_above_u32,
                                   baseline::any_bad_label,
                                   baseline::count_other_than,
                                   baseline::count_ones};

#if defined(__x86_64__)
namespace avx2 {
#define TOKPACK_SCAN_TARGET __attribute__((target("avx2,popcnt")))
#include "verify_scan.inc"
#undef TOKPACK_SCAN_TARGET
}  // namespace avx2

constexpr std::array<ScanKernels, 2> kVariants = {
    kBaseline,
    {"avx2", avx2::any_above_u16, avx2::any_above_u32, avx2::any_bad_label, avx2::count_other_than,
     avx2::count_ones}};

bool has_avx2() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}
#else
constexpr std::array<ScanKernels, 1> kVariants = {kBaseline};
bool has_avx2() noexcept { return false; }
#endif

}  // namespace

std::span<const ScanKernels> scan_variants() noexcept {
  static const std::size_t count = has_avx2() ? kVariants.size() : 1;
  return std::span(kVariants).first(count);
}

const ScanKernels& scan_kernels() noexcept { return scan_variants().back(); }

}  // namespace tokpack::detail
