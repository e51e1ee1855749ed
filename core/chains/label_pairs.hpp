// Labels and pairs of labels as numbers.
#pragma once

#include <cstdint>

namespace parsimon {

// Two labels in one number, so each has 16 bits. Numbers ascend by the first label, then by the second.
constexpr int64_t most_labels = 1 << 16;
inline uint32_t pair_of(uint32_t x, uint32_t y) { return x << 16 | y; }
inline int32_t first_of(uint32_t pair) { return static_cast<int32_t>(pair >> 16); }
inline int32_t second_of(uint32_t pair) { return static_cast<int32_t>(pair & 0xFFFF); }

// The stride of a row of Y numbers: rows are padded to whole vectors of four.
inline int64_t padded(int64_t n_labels) { return (n_labels + 3) / 4 * 4; }

}  // namespace parsimon
