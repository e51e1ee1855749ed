// The step between two labels where all steps of a chain are scored alike, for the best labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "chains/label_pairs.hpp"

namespace parsimon {

// Pair scores (−∞ for what is forbidden), and by how much one label must be worse than another one to be out of the
// question before any label:
//
//     gap(best, x) = max_y pair(x, y) − pair(best, y)          α(x) + gap(best, x) < α(best)  ⇒  x is on no best path
//
// (the bound of staggered decoding and of CarpeDiem, with whole rows of pair scores). It is a little larger, so that
// rounding does not matter; ties are kept.
struct LabelStep {
    int64_t n_labels, stride;
    std::vector<double> pair;         // [Y][Y]
    std::vector<double> into;         // [Y][stride]; −∞ in the padding
    std::vector<double> padding;      // [stride]: 0 for labels, −∞ behind them
    std::vector<double> gap;          // [Y][stride]; −∞ in the padding
    std::vector<double> first, last;  // [stride]: what is added for the ends of a sequence, 0 or −∞

    // With more labels than this they are not compared, and none is out of the question: that would be Y³ operations.
    static constexpr int64_t most_compared = 512;
    static constexpr double rounding = 1e-12;

    LabelStep(int64_t Y, const double* pairs, const double* starts, const double* ends)
        : n_labels(Y), stride(padded(Y)), pair(pairs, pairs + Y * Y), into(Y * stride, -infinity),
          padding(stride, -infinity), first(stride, -infinity), last(stride, -infinity) {
        std::fill_n(padding.begin(), Y, 0.0);
        std::copy(starts, starts + Y, first.begin());
        std::copy(ends, ends + Y, last.begin());
        for (int64_t x = 0; x < Y; ++x) std::copy(pairs + x * Y, pairs + (x + 1) * Y, into.begin() + x * stride);
        if (Y > most_compared) {
            gap.assign(stride, infinity);
            std::fill(gap.begin() + Y, gap.end(), -infinity);
            return;
        }
        double largest = 0;
        for (const double score : pair)
            if (std::isfinite(score)) largest = std::max(largest, std::fabs(score));
        gap.assign(Y * stride, -infinity);
        for (int64_t best = 0; best < Y; ++best)
            for (int64_t x = 0; x < Y; ++x) {
                double most = -infinity;
                for (int64_t y = 0; y < Y; ++y) {
                    const double score = pair[x * Y + y], other = pair[best * Y + y];
                    if (score > -infinity) most = std::max(most, score - other);
                }
                gap[best * stride + x] = most + rounding * (2 * largest + 1);
            }
    }

    // Of all labels, seen from the best one.
    const double* gap_of(int64_t best) const { return gap.data() + (n_labels > most_compared ? 0 : best * stride); }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
};

}  // namespace parsimon
