// How the label pairs of steps are scored with some set of features: which attributes go into matrices that many
// steps share, and which stay single pairs (see ChainShape).
//
// A matrix costs Y² operations a step and some more for being made; a single pair costs a few operations a step. With
// all features there are only matrices; with the few that an L1 penalty leaves, there are matrices of attributes that
// fire everywhere and have many pairs (a label bigram), and single pairs for the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "chains/label_pairs.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

struct PairLayout {
    std::vector<int32_t> kind, row;  // [T]; −1 for none
    LinearMap matrices;              // kinds × attributes
    std::vector<int32_t> row_kind;   // [R]
    std::vector<int64_t> single_start;
    std::vector<uint32_t> single;
    LinearMap sums;  // singles × features: which weights are added up
};

// Nanoseconds, measured on chains of 22 to 114 labels: forward, backward and marginals of one cell of a matrix, and of
// one single pair, at one step; what one cell of a matrix, and one single pair, cost however many steps there are.
struct LayoutCosts {
    double cell = 0.3, single = 6.0, new_cell = 6.0, new_single = 15.0;
};

class LayoutMaker {
  public:
    LayoutMaker(const LinearMap& steps, const std::vector<int32_t>& row_of_token, int64_t n_labels,
                LayoutCosts costs = {})
        : features_(steps.features()), cells_(static_cast<double>(n_labels) * static_cast<double>(padded(n_labels))),
          n_labels_(n_labels), costs_(costs) {
        auto [rows, which] = distinct_rows(steps.rows());  // fewer, now that attributes are left out
        rows_ = std::move(rows);
        count_.assign(rows_.size(), 0);
        token_.resize(row_of_token.size());
        for (size_t t = 0; t < token_.size(); ++t) ++count_[token_[t] = which[row_of_token[t]]];
        steps_of_attribute_.assign(features_.n_attributes, 0);
        for (int64_t r = 0; r < rows_.size(); ++r)
            for (int64_t i = rows_.start[r]; i < rows_.start[r + 1]; ++i)
                steps_of_attribute_[rows_.index[i]] += count_[r];
    }

    // `whole`: every step has a matrix and there are no single pairs, whatever the cost.
    PairLayout make(std::shared_ptr<const FeatureRows> features, bool whole, int threads) {
        whole_ = whole || features_.all;
        Csr in_matrices;
        std::vector<int32_t> kinds;
        double demand = 1;  // by how much a matrix must be cheaper; raised while there would be too many
        for (;; demand *= 4) {
            const Csr chosen = choose(demand);
            std::tie(in_matrices, kinds) = distinct_rows(chosen);
            if (whole_ || static_cast<double>(in_matrices.size()) * cells_ * 8 <= most_bytes || demand > 1e6) break;
        }
        if (!whole_) drop_empty(in_matrices, kinds);
        PairLayout out{{}, {}, LinearMap(in_matrices, std::move(features), threads), {}, {0}, {}, no_sums()};
        std::vector<int32_t> row_number(rows_.size(), -1);
        Csr sums;
        sums.start.push_back(0);
        for (int64_t r = 0; r < rows_.size() && !whole_; ++r) {
            if (!add_singles(r, kinds[r] < 0 ? nullptr : &in_matrices, kinds[r], out, sums)) continue;
            row_number[r] = static_cast<int32_t>(out.row_kind.size());
            out.row_kind.push_back(kinds[r]);
            out.single_start.push_back(static_cast<int64_t>(out.single.size()));
        }
        auto weights = std::make_shared<FeatureRows>();
        weights->width = 1;
        weights->n_attributes = features_.size();
        out.sums = LinearMap(std::move(sums), std::move(weights), threads);
        out.kind.resize(token_.size());
        out.row.resize(token_.size());
        for (size_t t = 0; t < token_.size(); ++t) {
            out.kind[t] = kinds[token_[t]];
            out.row[t] = row_number[token_[t]];
        }
        return out;
    }

  private:
    static constexpr double most_bytes = 64e6;  // of one table of matrices; there are four or so

    int64_t n_columns(int64_t a) const {
        return features_.all ? features_.width : features_.start[a + 1] - features_.start[a];
    }

    // Of every row, the attributes that go into its matrix.
    Csr choose(double demand) const {
        std::vector<char> whole(features_.n_attributes, whole_);
        for (int64_t a = 0; a < features_.n_attributes && !whole_; ++a) {
            const auto n = static_cast<double>(steps_of_attribute_[a]), columns = static_cast<double>(n_columns(a));
            whole[a] = n * columns * costs_.single + columns * costs_.new_single
                       > demand * cells_ * (n * costs_.cell + costs_.new_cell);
        }
        Csr chosen;
        chosen.start.push_back(0);
        for (int64_t r = 0; r < rows_.size(); ++r) {
            const auto n = static_cast<double>(count_[r]);
            double columns = 0;
            bool matrix = false;
            for (int64_t i = rows_.start[r]; i < rows_.start[r + 1]; ++i) {
                if (whole[rows_.index[i]]) matrix = true;
                else columns += static_cast<double>(n_columns(rows_.index[i]));
            }
            // A row with many single pairs is better off with a matrix of its own.
            const double apart =
                n * columns * costs_.single + columns * costs_.new_single + (matrix ? n * cells_ * costs_.cell : 0.0);
            const bool own = columns > 0 && apart > demand * cells_ * (n * costs_.cell + costs_.new_cell);
            for (int64_t i = rows_.start[r]; i < rows_.start[r + 1]; ++i) {
                if (!own && !whole[rows_.index[i]]) continue;
                chosen.index.push_back(rows_.index[i]);
                if (!rows_.value.empty()) chosen.value.push_back(rows_.value[i]);
            }
            chosen.start.push_back(static_cast<int64_t>(chosen.index.size()));
        }
        return chosen;
    }

    // A matrix without attributes is none.
    static void drop_empty(Csr& matrices, std::vector<int32_t>& kinds) {
        int32_t empty = -1;
        for (int64_t k = 0; k < matrices.size(); ++k)
            if (matrices.start[k] == matrices.start[k + 1]) empty = static_cast<int32_t>(k);
        if (empty < 0) return;
        matrices.start.erase(matrices.start.begin() + empty);
        for (int32_t& kind : kinds) kind = kind == empty ? -1 : kind - (kind > empty);
    }

    // The pairs of a row's attributes that are not in its matrix, each with the features that are added up there.
    bool add_singles(int64_t r, const Csr* matrices, int32_t kind, PairLayout& out, Csr& sums) {
        entries_.clear();
        for (int64_t i = rows_.start[r]; i < rows_.start[r + 1]; ++i) {
            const int32_t a = rows_.index[i];
            if (matrices) {
                const auto first = matrices->index.begin() + matrices->start[kind],
                           last = matrices->index.begin() + matrices->start[kind + 1];
                if (std::find(first, last, a) != last) continue;
            }
            for (int64_t k = features_.start[a]; k < features_.start[a + 1]; ++k)
                entries_.push_back({pair_of(features_.column[k] / n_labels_, features_.column[k] % n_labels_),
                                    static_cast<int32_t>(k), rows_.value.empty() ? 1.0 : rows_.value[i]});
        }
        if (entries_.empty()) return false;
        std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
            return a.pair != b.pair ? a.pair < b.pair : a.feature < b.feature;
        });
        for (size_t i = 0; i < entries_.size(); ++i) {
            if (!i || entries_[i].pair != entries_[i - 1].pair) {
                out.single.push_back(entries_[i].pair);
                sums.start.push_back(sums.start.back());
            }
            sums.index.push_back(entries_[i].feature);
            if (!rows_.value.empty()) sums.value.push_back(entries_[i].value);
            ++sums.start.back();
        }
        return true;
    }

    static LinearMap no_sums() {
        Csr nothing;
        nothing.start.push_back(0);
        return LinearMap(std::move(nothing), std::make_shared<FeatureRows>());
    }

    struct Entry {
        uint32_t pair;
        int32_t feature;
        double value;
    };
    const FeatureRows& features_;
    double cells_;
    int64_t n_labels_;
    LayoutCosts costs_;
    bool whole_ = false;
    Csr rows_;                    // distinct
    std::vector<int32_t> token_;  // the row of each token's step
    std::vector<int64_t> count_, steps_of_attribute_;
    std::vector<Entry> entries_;
};

}  // namespace parsimon
