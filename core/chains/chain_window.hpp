// Marginals of some tokens of one sequence: what chain_window (see kernels/kernels.hpp) takes and leaves behind.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace parsimon {

// The tokens whose marginals are wanted, from first to last.
struct LabelWindow {
    int64_t first, last;
};

// The matrix of attributes that fire everywhere, and its transpose; lifted, and as scores (for sums in logs).
struct CachedMatrix {
    std::vector<double> lifted, lifted_back, score, score_back;  // [Y][stride]
    double low = 0, high = 0;
    bool stale = true;
};

// The pairs at steps with the same attributes that are not zero: scores (on top of the matrix), and their exponentials.
struct CachedRow {
    std::vector<uint32_t> pair;
    std::vector<double> score, lifted;
    double low = 0, high = 0;
    bool loses_digits = false, stale = true;
    const CachedMatrix* matrix = nullptr;
};

// What one look at a sequence needs and leaves behind; one a thread.
struct WindowWork {
    std::vector<const CachedRow*> rows;      // [T]: of the step into each token
    std::vector<double> alpha, right, node;  // [T][stride], [T][stride], [T][Y]
    std::shared_ptr<void> lattice;           // the recursion's own
};

}  // namespace parsimon
