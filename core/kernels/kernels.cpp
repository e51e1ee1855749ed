// Compiles the hot loops once for any processor and, on x86-64, once more for AVX2 and FMA. All other headers
// come before the target changes, so only the loops themselves are compiled for it.
#include "kernels/kernels.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/random.hpp"
#include "base/threads.hpp"
#include "chains/chain_posterior.hpp"
#include "chains/chain_shape.hpp"
#include "chains/chain_window.hpp"
#include "chains/label_step.hpp"
#include "chains/second_order_shape.hpp"
#include "dependency_trees/arc_weights.hpp"
#include "input/template_weights.hpp"
#include "kernels/low_rank_quadratic.hpp"
#include "kernels/screening.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

namespace baseline {
#define PARSIMON_INSTRUCTION_SET "baseline"
#include "kernels/kernel_bodies.hpp"
#undef PARSIMON_INSTRUCTION_SET
}  // namespace baseline

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define PARSIMON_HAS_V3 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,lzcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt")
#endif
namespace v3 {
#define PARSIMON_INSTRUCTION_SET "x86-64-v3"
#include "kernels/kernel_bodies.hpp"
#undef PARSIMON_INSTRUCTION_SET
}  // namespace v3
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

const Kernels& baseline_kernels() { return baseline::table; }

const Kernels& kernels() {
#ifdef PARSIMON_HAS_V3
    static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fast) return v3::table;
#endif
    return baseline::table;
}

}  // namespace parsimon
