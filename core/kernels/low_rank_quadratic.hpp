// A quadratic model with a diagonal plus low-rank matrix, as quasi-Newton methods make them.
#pragma once

#include <cstdint>

namespace parsimon {

// q(d) = g·d + ½ dᵀ (B₀ − W M⁻¹ Wᵀ) d. B₀ is diag D, but for a block of coordinates that has a matrix. `projected` is
// W M⁻¹, `curvature` the diagonal of the whole matrix.
struct LowRankQuadratic {
    int64_t n, rank;
    const double *gradient, *diagonal, *curvature;  // [n]
    const double *columns, *projected;              // [n][rank]
    int64_t n_block;
    const int64_t* block;  // [n_block], ascending
    const double* matrix;  // [n_block][n_block]
};

// The same with W = [D S, Y] as it is remembered: row k of `pairs` begins with s, y, s, y, … of feature k, `rank`
// numbers of `stride`. Nothing else is as long as that, so a model of millions of features costs no memory of its own.
struct PairedQuadratic {
    int64_t n, rank, stride;
    const double *gradient, *diagonal;  // [n]
    const double* pairs;                // [n][stride]
    const double *middle, *inverse;     // M and M⁻¹ [rank][rank]
};

// Very many rows of a few numbers each.
struct TallMatrix {
    int64_t n, width;
    const double* rows;  // [n][width]
};

// Where the rows of such a model go.
struct LowRankRows {
    int64_t n, rank;
    const double* diagonal;                   // [n], given
    double *columns, *projected, *curvature;  // [n][rank], [n][rank], [n]
};

}  // namespace parsimon
