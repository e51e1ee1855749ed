// What the recursions over a batch of chains found, kept for later questions.
#pragma once

#include <cstdint>
#include <vector>

namespace parsimon {

// Where log Z and marginals come from, kept for looking at any pair of labels later:
//
//     P(y_{t−1} = x, y_t = y) = left[t − 1][x] · pair[t](x, y) · right[t][y]
//
// with pair scores lifted (see pair_table_body.hpp). Sequences done in logs have logarithms of all three. In trees
// left[t] takes the place of left[t − 1]: a node's children have each their own.
struct ChainPosterior {
    int64_t n_labels = 0, stride = 0;
    std::vector<double> left, right;  // [T][stride]
    std::vector<double> matrices;     // [K][Y][stride]
    std::vector<double> singles;      // [E]: with their matrix's share in it
    std::vector<char> in_logs;        // [T]; empty if no sequence is
    std::vector<double> log_matrices, log_singles;
};

}  // namespace parsimon
