// A quadratic model with a diagonal plus low-rank matrix, as quasi-Newton methods make them.
#pragma once

#include <cstdint>

namespace parsimon {

// q(d) = g·d + ½ dᵀ (diag D − W M⁻¹ Wᵀ) d. `projected` is W M⁻¹, `curvature` the diagonal of the whole matrix.
struct LowRankQuadratic {
    int64_t n, rank;
    const double *gradient, *diagonal, *curvature;  // [n]
    const double *columns, *projected;              // [n][rank]
};

// Very many rows of a few numbers each.
struct TallMatrix {
    int64_t n, width;
    const double* rows;  // [n][width]
};

// Where the rows of such a model go.
struct LowRankRows {
    int64_t n, rank;
    const double* diagonal;                    // [n], given
    double *columns, *projected, *curvature;  // [n][rank], [n][rank], [n]
};

}  // namespace parsimon
