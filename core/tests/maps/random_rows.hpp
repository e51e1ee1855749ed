// Random sparse matrices.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "maps/csr.hpp"

namespace check {

using namespace parsimon;

inline Csr random_rows(std::mt19937& random, int64_t n, int32_t n_attributes, bool valued, bool full = false) {
    Csr rows;
    rows.start.push_back(0);
    for (int64_t r = 0; r < n; ++r) {
        for (int32_t a = 0; a < n_attributes; ++a)
            if (full || random() % 3 == 0) {
                rows.index.push_back(a);
                if (valued) rows.value.push_back(static_cast<double>(random() % 7) - 3);
            }
        rows.start.push_back(static_cast<int64_t>(rows.index.size()));
    }
    return rows;
}

}  // namespace check
