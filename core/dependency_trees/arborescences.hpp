// Batches of sentences, from scores of arcs to trees: the oracles of a parser.
#pragma once

#include <algorithm>
#include <vector>

#include "base/threads.hpp"
#include "dependency_trees/eisner.hpp"
#include "dependency_trees/k_best_trees.hpp"
#include "dependency_trees/matrix_tree.hpp"
#include "dependency_trees/spanning_tree.hpp"

namespace parsimon {

struct TreeKind {
    bool projective;   // no arcs cross
    bool single_root;  // one token hangs on the root
};

// The oracles for one sentence at a time, with memory that is used again for the next. One for each thread.
class TreeOracles {
  public:
    explicit TreeOracles(TreeKind kind = {}) : kind_(kind) {}

    // The best tree's score: −∞ if there is no tree, not a number if some score is none. See arcs.hpp for the arrays.
    double best(const double* score, int32_t n, int32_t* head) {
        return kind_.projective ? eisner_.best(score, n, kind_.single_root, head)
                                : spanning_tree_.best(score, n, kind_.single_root, head);
    }
    double log_partition(const double* score, int32_t n, double* marginal) {
        return kind_.projective ? eisner_.log_partition(score, n, kind_.single_root, marginal)
                                : matrix_tree_.log_partition(score, n, kind_.single_root, marginal);
    }
    void best_trees(const double* part, int32_t n, int32_t n_labels, int32_t k, double* values, int64_t value_stride,
                    int32_t* choices, int64_t choice_stride) {
        if (kind_.projective)
            best_projective_.find(eisner_, part, n, n_labels, kind_.single_root, k, values, value_stride, choices,
                                  choice_stride);
        else
            best_spanning_.find(spanning_tree_, part, n, n_labels, kind_.single_root, k, values, value_stride, choices,
                                choice_stride);
    }

  private:
    TreeKind kind_;
    SpanningTree spanning_tree_;
    Eisner eisner_;
    MatrixTree matrix_tree_;
    BestTrees<SpanningTree> best_spanning_;
    BestTrees<Eisner> best_projective_;
};

// Sentences laid end to end, tokens and arcs.
class Arborescences {
  public:
    Arborescences(std::vector<int64_t> offsets, TreeKind kind) : offsets_(std::move(offsets)), arcs_{0}, kind_(kind) {
        for (int64_t i = 0; i < n_sentences(); ++i)
            arcs_.push_back(arcs_.back() + static_cast<int64_t>(length(i)) * (length(i) + 1));
    }

    int64_t n_sentences() const { return static_cast<int64_t>(offsets_.size()) - 1; }
    int64_t n_tokens() const { return offsets_.back(); }
    int64_t n_arcs() const { return arcs_.back(); }

    bool best(const double* score, double* values, int32_t* heads, int threads) const {
        each_sentence(threads, [&](int64_t i, TreeOracles& oracles) {
            values[i] = oracles.best(score + arcs_[i], length(i), heads + offsets_[i]);
        });
        return all_found(values);
    }

    // The marginals may take the place of the scores.
    bool log_partition(const double* score, double* log_z, double* marginal, int threads) const {
        each_sentence(threads, [&](int64_t i, TreeOracles& oracles) {
            log_z[i] = oracles.log_partition(score + arcs_[i], length(i), marginal + arcs_[i]);
        });
        return all_found(log_z);
    }

    // values k × sentences, choices k × tokens; see k_best_trees.hpp.
    bool best_trees(const double* part, int32_t n_labels, int32_t k, double* values, int32_t* choices,
                    int threads) const {
        each_sentence(threads, [&](int64_t i, TreeOracles& oracles) {
            oracles.best_trees(part + arcs_[i] * n_labels, length(i), n_labels, k, values + i, n_sentences(),
                               choices + offsets_[i], n_tokens());
        });
        return all_found(values);
    }

  private:
    int32_t length(int64_t i) const { return static_cast<int32_t>(offsets_[i + 1] - offsets_[i]); }

    bool all_found(const double* values) const {
        return std::all_of(values, values + n_sentences(), [](double value) { return value > no_tree; });
    }

    template <class Body>
    void each_sentence(int threads, Body&& body) const {
        std::vector<TreeOracles> oracles(std::max(threads, 1), TreeOracles(kind_));
        const auto cuts = balanced_cuts(arcs_.data(), n_sentences(), 64);
        parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int worker) {
            for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) body(i, oracles[worker]);
        });
    }

    std::vector<int64_t> offsets_;  // [n_sentences + 1], of tokens
    std::vector<int64_t> arcs_;     // [n_sentences + 1], of arcs
    TreeKind kind_;
};

}  // namespace parsimon
