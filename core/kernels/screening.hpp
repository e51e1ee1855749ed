// Finding the features with a large gradient: what screen_pairs (see kernels/kernels.hpp) takes.
#pragma once

#include <cstdint>
#include <vector>

#include "chains/chain_posterior.hpp"
#include "chains/chain_shape.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

// What the gradient of label pairs is made of, for one batch: Σ over terms of sign · P(x, y) + Σ over outputs of
// times · [output is x, y], at the steps of distinct rows of attributes.
struct ScreenTerm {
    double sign;
    const ChainPosterior* posterior;
    const double* node;  // [T][Y]: marginals of nodes
};
struct ScreenOutput {
    const double* times;    // [T]
    const int32_t* labels;  // [T]
};
// The gradient of labels: Σ parts + Σ over outputs of times · [label is y], at the rows of a map.
struct NodeScreenBatch {
    const LinearMap* map;
    const double* parts;  // [T][Y]
    std::vector<ScreenOutput> outputs;
};
struct ScreenBatch {
    const LinearMap* steps;    // distinct rows × attributes, all features
    const int64_t* row_start;  // the steps of each of these rows
    const int32_t* row_steps;
    ChainShape shape;  // what the posteriors were computed with
    std::vector<ScreenTerm> terms;
    std::vector<ScreenOutput> outputs;
};

}  // namespace parsimon
