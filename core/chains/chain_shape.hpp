// The shape of a batch of chains or trees, and the numbers of its parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chains/label_pairs.hpp"

namespace parsimon {

// Sequences laid end to end, Y labels. Label pairs are scored by a table of Y × Y matrices: the step into token t (from
// t − 1) uses matrix pair_kind[t]. The first token of a sequence has no step into it.
//
// With hundreds of labels and few weights that are not zero, most of a matrix would be zero. So a step may also have
// single pairs, whose scores are added to those of its matrix. Steps with the same `row` have the same single pairs.
struct ChainShape {
    int64_t n_sequences;
    const int64_t* offsets;    // [n_sequences + 1]
    int32_t n_labels;          // Y
    int64_t n_kinds;           // K
    const int32_t* pair_kind;  // [T]; −1 for no matrix: all its scores are zero
    const double* weight;      // [n_sequences]: what each sequence's marginals count for; null for ones
    // Steps grouped by kind, in pieces of bounded length, for summing pair marginals in a fixed order.
    int64_t n_pieces;
    const int64_t* piece_start;  // [n_pieces + 1] into steps
    const int32_t* piece_kind;   // [n_pieces]
    const int32_t* steps;        // token t of each step, grouped
    // Single pairs.
    int64_t n_rows = 0;                     // R
    const int32_t* row = nullptr;           // [T]; −1 for none; null if there are none at all
    const int32_t* row_kind = nullptr;      // [R]: all steps of a row have this matrix
    const int64_t* single_start = nullptr;  // [R + 1] into single
    const uint32_t* single = nullptr;       // [E]: pair_of(x, y), ascending within a row
    const int64_t* row_start = nullptr;     // [R + 1] into row_steps
    const int32_t* row_steps = nullptr;     // token t of each step, grouped by row

    // Trees: the step into a node comes from its parent. Null for chains, where it comes from the token before.
    const int32_t* parent = nullptr;       // [T]; −1 for roots, of which an instance may have several
    const int32_t* order = nullptr;        // [T]: all nodes of each instance, parents before their children
    const int64_t* child_start = nullptr;  // [T + 1] into children
    const int32_t* children = nullptr;     // in the order of `order`
    // Labels that some kinds of nodes cannot have.
    const int32_t* node_kind = nullptr;  // [T]
    const double* bars = nullptr;        // [node kinds][Y]: 0, or −∞ for a label that such nodes cannot have

    // Where the step into t comes from; −1 for the first token of a sequence (number `first`) and for roots.
    int64_t before(int64_t t, int64_t first) const { return parent ? parent[t] : t > first ? t - 1 : -1; }
    // The row of `left` (see ChainPosterior) for the step into t.
    int64_t left_row(int64_t t) const { return parent ? t : t - 1; }
    const double* bars_of(int64_t t) const {
        return bars ? bars + static_cast<int64_t>(node_kind[t]) * n_labels : nullptr;
    }

    int64_t n_singles() const { return n_rows ? single_start[n_rows] : 0; }
    int32_t row_of(int64_t t) const { return row ? row[t] : -1; }
    // Where a pair of labels is among a row's singles; −1 if it is not.
    int64_t find(int32_t r, uint32_t pair) const {
        if (r < 0) return -1;
        const uint32_t *first = single + single_start[r], *last = single + single_start[r + 1];
        const uint32_t* at = std::lower_bound(first, last, pair);
        return at != last && *at == pair ? at - single : -1;
    }
};

// Sums over label pairs are computed with whole matrices and then corrected at single pairs. Where a correction leaves
// less than this share of what was there, too many digits are lost, and the sum is computed anew.
constexpr double cancellation_limit = 1e-5;

// A number for every part: nodes [T][Y], matrices of pairs [K][Y][Y], single pairs [E].
struct PartScores {
    const double *node, *pair, *single = nullptr;
};
struct PartSums {
    double *node, *pair, *single = nullptr;
};

}  // namespace parsimon
