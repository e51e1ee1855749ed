// A block of weights that are scaled together. A weight is c ξ: its block's scale times a number of its own. So a whole
// block is scaled, and its norm is known, in constant time (Martins et al. 2011, §4, after Shalev-Shwartz et al. 2007).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parsimon {

struct WeightBlock {
    double scale = 1;         // c
    double squared_norm = 0;  // ‖ξ‖²
    // Running sums of what was to be taken from norms of rows, and from single weights, as numbers ξ.
    double pull_on_rows = 0, pull_on_entries = 0;
    double sum_before = 0;  // Σ of c over the rounds before `since`
    int64_t since = 0;
    bool touched = false;  // whether it has had a weight

    // Σ of c over the rounds up to t. The sum over rounds of c ξ is ξ · this − drift, which makes averages of weights
    // as cheap as in an averaged perceptron though whole blocks are being scaled.
    double sum_of_scales(int64_t t) const { return sum_before + scale * static_cast<double>(t - since); }

    void rescale(double factor, int64_t t) {
        sum_before = sum_of_scales(t);
        since = t;
        scale *= factor;
    }

    // After the numbers ξ have been multiplied by c: weights stay what they are.
    void absorb_scale(int64_t t) {
        squared_norm *= scale * scale;
        pull_on_entries *= scale;
        pull_on_rows *= scale;
        scale = 1;
        sum_before = 0;
        since = t;
    }

    static constexpr size_t n_numbers = 5, n_counts = 2;

    void save(std::vector<double>& numbers, std::vector<int64_t>& counts) const {
        numbers.insert(numbers.end(), {scale, squared_norm, pull_on_rows, pull_on_entries, sum_before});
        counts.insert(counts.end(), {since, touched});
    }
    static WeightBlock saved(const double* numbers, const int64_t* counts) {
        return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], counts[0], counts[1] != 0};
    }
};

}  // namespace parsimon
