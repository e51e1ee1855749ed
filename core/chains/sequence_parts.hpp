// One sequence of a chain (or one tree) at a time, as online learning goes: scores of its parts, and how far gold and
// the answer of the chain are apart at each of them.
//
// Label pairs are scored as in whole batches (see ChainShape): a kind of step with many pairs that score anything has a
// matrix, one with few has single pairs and costs no Y² anywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "chains/chain_posterior.hpp"
#include "chains/chain_shape.hpp"
#include "chains/column_sums.hpp"
#include "chains/forest.hpp"
#include "kernels/kernels.hpp"

namespace parsimon {

// Which kinds of steps have matrices. `by_cost` takes what is cheaper; with few labels that is always a matrix.
enum class PairForm { by_cost, matrices, singles };

class SequenceParts {
  public:
    SequenceParts(int32_t n_labels, PairForm form)
        : Y_(n_labels), S_(padded(n_labels)),
          form_(form == PairForm::by_cost && Y_ * Y_ <= few_pairs ? PairForm::matrices : form),
          sums_(form_ == PairForm::matrices ? 0 : Y_ * Y_) {}

    // Begins a sequence of T tokens from number `at` on, the steps into which have the given kinds (numbers below
    // n_kinds). Scores are zero. An empty forest makes it a chain.
    void begin(int64_t at, int64_t T, const int32_t* kind, int64_t n_kinds, const Forest& forest) {
        bars_ = forest.bars.empty() ? nullptr : forest.bars.data();
        forest_.take(forest, at, at + T);
        before_.resize(T);
        for (int64_t t = 0; t < T; ++t)
            before_[t] = forest.parent.empty() ? static_cast<int32_t>(t) - 1 : forest_.parent[t];
        for (const int32_t each : kinds_) local_[each] = -1;
        if (static_cast<int64_t>(local_.size()) < n_kinds) local_.resize(n_kinds, -1);
        T_ = T;
        offsets_[1] = T;
        node_.assign(T * Y_, 0.0);
        kinds_.clear();
        kind_.assign(T, -1);
        n_steps_.clear();
        for (int64_t t = 0; t < T; ++t) {
            if (before_[t] < 0) continue;
            int32_t& number = local_[kind[t]];
            if (number < 0) {
                number = static_cast<int32_t>(kinds_.size());
                kinds_.push_back(kind[t]);
                n_steps_.push_back(0);
            }
            kind_[t] = number;
            ++n_steps_[number];
        }
        matrix_.assign(kinds_.size(), -1);
        row_.assign(kinds_.size(), -1);
        n_matrices_ = 0;
        pair_.clear();
        single_.clear();
        single_score_.clear();
        single_start_.assign(1, 0);
    }

    const std::vector<int32_t>& kinds() const { return kinds_; }
    double* node(int64_t t) { return node_.data() + t * Y_; }
    // Where the step into a token comes from, −1 for none.
    int64_t before(int64_t t) const { return before_[t]; }

    // Scores of the k-th kind of step: give(add) calls add(column, score), where column is x Y + y.
    template <class Give>
    void score_steps(size_t k, Give&& give) {
        if (form_ == PairForm::matrices) {
            double* matrix = new_matrix(k);
            give([matrix](uint32_t column, double score) { matrix[column] += score; });
            return;
        }
        give([this](uint32_t column, double score) { sums_.add(column, score); });
        const size_t first = single_.size();
        uint32_t x = 0;
        const auto Y = static_cast<uint32_t>(Y_);
        sums_.drain([&](uint32_t column, double score) {
            while (column >= (x + 1) * Y) ++x;
            single_.push_back(pair_of(x, column - x * Y));
            single_score_.push_back(score);
        });
        const size_t n = single_.size() - first;
        if (!n) return;
        if (form_ == PairForm::by_cost && matrix_is_cheaper(n, n_steps_[k])) {
            double* matrix = new_matrix(k);
            for (size_t e = first; e < single_.size(); ++e)
                matrix[first_of(single_[e]) * Y_ + second_of(single_[e])] = single_score_[e];
            single_.resize(first);
            single_score_.resize(first);
            return;
        }
        row_[k] = static_cast<int32_t>(single_start_.size()) - 1;
        single_start_.push_back(static_cast<int64_t>(single_.size()));
    }

    // To be called when all is scored.
    void finish() {
        token_row_.resize(T_);
        token_matrix_.resize(T_);
        for (int64_t t = 0; t < T_; ++t) {
            token_row_[t] = kind_[t] < 0 ? -1 : row_[kind_[t]];
            token_matrix_[t] = kind_[t] < 0 ? -1 : matrix_[kind_[t]];
        }
        lay_out();
    }

    double score_of(const int32_t* labels) const {
        double sum = 0;
        for (int64_t t = 0; t < T_; ++t) {
            sum += node_[t * Y_ + labels[t]];
            if (before_[t] < 0) continue;
            const int32_t x = labels[before_[t]];
            if (token_matrix_[t] >= 0) sum += pair_[(token_matrix_[t] * Y_ + x) * Y_ + labels[t]];
            const int64_t e = shape_.find(token_row_[t], pair_of(x, labels[t]));
            if (e >= 0) sum += single_score_[e];
        }
        return sum;
    }

    // max_y s(y) + cost(y, gold), and where it is attained.
    double best(const int32_t* gold, double cost, std::vector<int32_t>& labels) {
        if (cost != 0)
            for (int64_t t = 0; t < T_; ++t)
                for (int64_t y = 0; y < Y_; ++y)
                    if (y != gold[t]) node_[t * Y_ + y] += cost;
        labels.resize(T_);
        double value;
        check((shape_.parent ? kernels().tree_argmax : kernels().chain_argmax)(shape_, scores(), &value, labels.data(),
                                                                               1));
        return value;
    }

    // log Z. Scores of nodes are gone; differences can be had instead.
    double marginals(const int32_t* gold) {
        gold_ = gold;
        bool all_matrices = true;
        for (const int32_t m : matrix_) all_matrices = all_matrices && m >= 0;
        pair_out_.resize(pair_.size());
        single_out_.resize(single_.size());
        scratch_.resize(all_matrices ? 2 * T_ * S_ : 0);
        double log_z;
        check(kernels().chain_marginals(shape_, scores(), &log_z, {node_.data(), pair_out_.data(), single_out_.data()},
                                        scratch_.data(), scratch_.data() + (all_matrices ? T_ * S_ : 0),
                                        all_matrices ? nullptr : &posterior_, 1));
        for (int64_t t = 0; t < T_; ++t)
            if (token_matrix_[t] >= 0) pair_out_[(token_matrix_[t] * Y_ + gold[before_[t]]) * Y_ + gold[t]] -= 1;
        return log_z;
    }

    // gold − marginals at a token, those above `least`.
    void node_differences(int64_t t, double least, ColumnDifferences& out) const {
        out.clear(Y_ + 1);
        for (int64_t y = 0; y < Y_; ++y) {
            const double value = (y == gold_[t]) - node_[t * Y_ + y];
            out.add(static_cast<uint32_t>(y), value, std::abs(value) > least);
        }
    }

    // gold − marginals at steps: summed over the steps of a kind that has a matrix, else step by step. body(k) is
    // called when `out` has those above least(k) of the k-th kind.
    template <class Least, class Body>
    void pair_differences(Least&& least, ColumnDifferences& out, Body&& body) {
        for (size_t k = 0; k < kinds_.size(); ++k) {
            if (matrix_[k] < 0) continue;
            matrix_differences(matrix_[k], least(k), out);
            body(k);
        }
        for (int64_t t = 0; t < T_; ++t) {
            if (before_[t] < 0 || token_matrix_[t] >= 0) continue;
            const double above = least(kind_[t]);
            if (std::isinf(above)) continue;
            step_differences(t, above, out);
            body(kind_[t]);
        }
    }

  private:
    static constexpr int64_t few_pairs = 256;

    // Nanoseconds, measured on Nettalk (51 labels) and chunking (22): a cell of a matrix at one step, and however many
    // steps there are; the same of a single pair.
    static constexpr double cell = 0.3, new_cell = 15.0, single = 8.0, new_single = 15.0;
    bool matrix_is_cheaper(size_t n_singles, int64_t n_steps) const {
        const auto E = static_cast<double>(n_singles), n = static_cast<double>(n_steps),
                   cells = static_cast<double>(Y_ * S_);
        return E * (n * single + new_single) > cells * (n * cell + new_cell);
    }

    double* new_matrix(size_t k) {
        matrix_[k] = n_matrices_++;
        pair_.resize(n_matrices_ * Y_ * Y_, 0.0);
        return pair_.data() + matrix_[k] * Y_ * Y_;
    }

    PartScores scores() const { return {node_.data(), pair_.data(), single_score_.data()}; }

    // Steps grouped by matrix: their marginals are summed by the chain. Those of single pairs are not: no steps, no
    // sums.
    void lay_out() {
        piece_start_.assign(1, 0);
        piece_kind_.clear();
        steps_.clear();
        for (size_t k = 0; k < kinds_.size(); ++k) {
            if (matrix_[k] < 0) continue;
            for (int64_t t = 0; t < T_; ++t)
                if (kind_[t] == static_cast<int32_t>(k)) steps_.push_back(static_cast<int32_t>(t));
            piece_kind_.push_back(matrix_[k]);
            piece_start_.push_back(static_cast<int64_t>(steps_.size()));
        }
        const auto n_rows = static_cast<int64_t>(single_start_.size()) - 1;
        row_kind_.assign(n_rows, -1);
        row_start_.assign(n_rows + 1, 0);
        shape_ = {1,
                  offsets_,
                  static_cast<int32_t>(Y_),
                  n_matrices_,
                  token_matrix_.data(),
                  nullptr,
                  static_cast<int64_t>(piece_kind_.size()),
                  piece_start_.data(),
                  piece_kind_.data(),
                  steps_.data(),
                  n_rows,
                  token_row_.data(),
                  row_kind_.data(),
                  single_start_.data(),
                  single_.data(),
                  row_start_.data(),
                  nullptr};
        if (forest_.parent.empty()) return;
        shape_.parent = forest_.parent.data();
        shape_.order = forest_.order.data();
        shape_.child_start = forest_.child_start.data();
        shape_.children = forest_.children.data();
        shape_.node_kind = forest_.node_kind.data();
        shape_.bars = bars_;
    }

    static void check(bool feasible) {
        if (!feasible) throw std::overflow_error("the weights have grown beyond what can be added up");
    }

    void matrix_differences(int32_t matrix, double least, ColumnDifferences& out) const {
        const double* sum = pair_out_.data() + matrix * Y_ * Y_;
        out.clear(Y_ * Y_ + 1);
        for (int64_t j = 0; j < Y_ * Y_; ++j) out.add(static_cast<uint32_t>(j), -sum[j], std::abs(sum[j]) > least);
    }

    // P(x, y) = left[t − 1][x] · pair(x, y) · right[t][y], where pair(x, y) is 1 but for single pairs. So of each x
    // only labels y with a large enough right side are looked at, and single pairs.
    void step_differences(int64_t t, double least, ColumnDifferences& out) {
        const bool in_logs = !posterior_.in_logs.empty() && posterior_.in_logs[t];
        const double *left = posterior_.left.data() + shape_.left_row(t) * S_,
                     *right = posterior_.right.data() + t * S_;
        const auto& singles = in_logs ? posterior_.log_singles : posterior_.singles;
        const auto probability = [in_logs](double l, double r, double pair) {
            return in_logs ? std::exp(l + r + pair) : l * r * pair;
        };
        const double one = in_logs ? 0.0 : 1.0, high = *std::max_element(left, left + Y_);
        by_right_.clear();
        for (int64_t y = 0; y < Y_; ++y)
            if (probability(high, right[y], one) > least) by_right_.emplace_back(right[y], static_cast<uint32_t>(y));
        std::sort(by_right_.rbegin(), by_right_.rend());
        for (int64_t x = 0; x < Y_; ++x)
            for (const auto& [r, y] : by_right_) {
                const double p = probability(left[x], r, one);
                if (!(p > least)) break;
                sums_.set(static_cast<uint32_t>(x * Y_) + y, p);
            }
        const int32_t row = token_row_[t];
        for (int64_t e = row < 0 ? 0 : single_start_[row]; row >= 0 && e < single_start_[row + 1]; ++e) {
            const int32_t x = first_of(single_[e]), y = second_of(single_[e]);
            const double p = probability(left[x], right[y], singles[e]);
            if (p > least || probability(left[x], right[y], one) > least)
                sums_.set(static_cast<uint32_t>(x * Y_ + y), p);
        }
        const int32_t x = gold_[before_[t]], y = gold_[t];
        const int64_t e = shape_.find(row, pair_of(x, y));
        sums_.set(static_cast<uint32_t>(x * Y_ + y), probability(left[x], right[y], e < 0 ? one : singles[e]) - 1);
        out.clear(Y_ * Y_ + 1);
        sums_.drain([&](uint32_t column, double p) { out.add(column, -p, std::abs(p) > least); });
    }

    int64_t Y_, S_, T_ = 0;
    PairForm form_;
    ColumnSums sums_;
    Forest forest_;  // of a tree; empty for a chain
    const double* bars_ = nullptr;
    std::vector<int32_t> before_;  // [T]
    // Kinds of steps are numbered anew within a sequence.
    std::vector<int32_t> local_;         // of each kind there is: its number here, −1
    std::vector<int32_t> kinds_, kind_;  // [K], [T]
    std::vector<int32_t> matrix_, row_;  // [K]; −1
    std::vector<int64_t> n_steps_;       // [K]
    int32_t n_matrices_ = 0;
    std::vector<double> node_, pair_, single_score_, pair_out_, single_out_, scratch_;
    std::vector<uint32_t> single_;
    std::vector<int64_t> single_start_;
    // Their shape as the chain's functions take it.
    int64_t offsets_[2] = {0, 0};
    std::vector<int32_t> token_row_, token_matrix_, row_kind_, piece_kind_, steps_;
    std::vector<int64_t> piece_start_, row_start_;
    ChainShape shape_{};
    ChainPosterior posterior_;
    const int32_t* gold_ = nullptr;
    std::vector<std::pair<double, uint32_t>> by_right_;  // labels of a step, the likely ones first
};

}  // namespace parsimon
