// Scores of tokens and of steps at the present weights of block coordinate descent.
//
// Scores of tokens are always up to date. Those of steps are computed when a sequence is looked at and something has
// changed. A step has a matrix that it shares with many others, and single pairs of its own (see chain_window.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "chains/chain_shape.hpp"
#include "chains/chain_window.hpp"
#include "chains/label_pairs.hpp"
#include "kernels/kernels.hpp"
#include "learners/block_data.hpp"
#include "learners/block_weights.hpp"
#include "maps/csr.hpp"

namespace parsimon {

class BlockScores {
  public:
    BlockScores(const BlockData& data, const BlockWeights& weights, int64_t n_labels)
        : data_(data), weights_(weights), Y_(n_labels), S_(padded(n_labels)) {
        for (const BlockBatch& batch : data_.batches()) {
            node_.emplace_back(batch.offsets.back() * Y_, 0.0);
            rows_.emplace_back(batch.steps.rows().size());
        }
        choose_matrices();
    }

    // [T][Y] of a batch.
    const double* node(int32_t b) const { return node_[b].data(); }
    // Of the step into a token.
    const CachedRow& row(int32_t b, int64_t t) const { return rows_[b][data_.batch(b).row[t]]; }

    // Call after weights of an attribute have changed.
    void update(int part, int64_t a, const CellValues& changes) {
        if (changes.empty()) return;
        if (part == 0) {
            data_.each_firing(0, a, [&](int32_t b, int32_t t, double value) {
                for (const CellValue& change : changes) node_[b][t * Y_ + change.cell] += value * change.value;
            });
        } else if (in_matrices_[a]) {
            for (int64_t k = 0; k < matrix_attributes_.size(); ++k)
                for (int64_t i = matrix_attributes_.start[k]; i < matrix_attributes_.start[k + 1]; ++i)
                    if (matrix_attributes_.index[i] == a) matrices_[k].stale = matrices_changed_ = true;
        } else {
            for (size_t b = 0; b < rows_.size(); ++b) {
                const AttributeRows& attributes = data_.batches()[b].steps.attributes();
                const auto [begin, end] = attributes.entries_of(a);
                for (int64_t i = begin; i < end; ++i) {
                    rows_[b][attributes.index[i]].stale = true;
                    rows_[b][attributes.index[i]].high = 0;
                }
            }
        }
    }

    // Brings the steps of some sequences up to date.
    void refresh(const std::vector<BatchSequence>& sequences, int threads) {
        constexpr int64_t few_rows = 64;  // quicker than a thread is started
        parallel_for(static_cast<int64_t>(matrices_.size()), matrices_changed_ ? threads : 1, [&](int64_t k, int) {
            if (matrices_changed_ && matrices_[k].stale) refresh_matrix(k);
        });
        matrices_changed_ = false;
        list_stale_rows(sequences);
        const auto n = static_cast<int64_t>(stale_.size());
        parallel_for(n, n > few_rows ? threads : 1,
                     [&](int64_t i, int) { refresh_row(stale_[i].first, stale_[i].second); });
    }

  private:
    // Attributes of steps that fire often have many pairs, at many steps, so they go into matrices. Steps with the same
    // attributes of that kind share one. Who fires at more than a share of all steps fires often; the share grows until
    // there are few enough matrices to fit into the cache.
    void choose_matrices() {
        constexpr int64_t most_matrices = 256;
        constexpr double smallest_share = 0.002;
        const int64_t n_pair = data_.features(1).n_attributes;
        std::vector<int64_t> count(n_pair, 0);
        int64_t n_steps = 0;
        for (int64_t a = 0; a < n_pair; ++a) data_.each_firing(1, a, [&](int32_t, int32_t, double) { ++count[a]; });
        for (const BlockBatch& batch : data_.batches()) n_steps += batch.row_start.back();
        std::vector<int32_t> which;
        for (double share = smallest_share;; share *= 2) {
            in_matrices_.assign(n_pair, 0);
            for (int64_t a = 0; a < n_pair; ++a)
                in_matrices_[a] = static_cast<double>(count[a]) > share * static_cast<double>(n_steps);
            std::tie(matrix_attributes_, which) = distinct_rows(rows_in_matrices());
            if (matrix_attributes_.size() <= most_matrices || share >= 1) break;
        }
        matrices_.assign(matrix_attributes_.size(), CachedMatrix());
        size_t next = 0;
        for (const BlockBatch& batch : data_.batches()) {
            std::vector<int32_t>& matrix = matrix_of_row_.emplace_back();
            for (int64_t r = 0; r < batch.steps.rows().size(); ++r, ++next) {
                const int32_t k = which[next];
                matrix.push_back(matrix_attributes_.start[k] == matrix_attributes_.start[k + 1] ? -1 : k);
            }
        }
    }

    // The rows of all batches, with the attributes only that are in matrices.
    Csr rows_in_matrices() const {
        Csr out;
        out.start.push_back(0);
        for (const BlockBatch& batch : data_.batches()) {
            const Csr& rows = batch.steps.rows();
            for (int64_t r = 0; r < rows.size(); ++r) {
                for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
                    if (!in_matrices_[rows.index[i]]) continue;
                    out.index.push_back(rows.index[i]);
                    if (!rows.value.empty()) out.value.push_back(rows.value[i]);
                }
                out.start.push_back(static_cast<int64_t>(out.index.size()));
            }
        }
        return out;
    }

    void refresh_matrix(int64_t k) {
        constexpr double none = -std::numeric_limits<double>::infinity();
        CachedMatrix& matrix = matrices_[k];
        matrix = CachedMatrix();
        matrix.stale = false;
        matrix.score.assign(Y_ * S_, none);
        for (int64_t x = 0; x < Y_; ++x) std::fill_n(matrix.score.begin() + x * S_, Y_, 0.0);
        for (int64_t i = matrix_attributes_.start[k]; i < matrix_attributes_.start[k + 1]; ++i) {
            const double value = matrix_attributes_.value.empty() ? 1.0 : matrix_attributes_.value[i];
            for (const CellValue& weight : weights_.row(1, matrix_attributes_.index[i]))
                matrix.score[first_of(weight.cell) * S_ + second_of(weight.cell)] += value * weight.value;
        }
        matrix.lifted = matrix.score;
        kernels().exponentials(matrix.lifted.data(), Y_ * S_);
        matrix.score_back.assign(Y_ * S_, none);
        matrix.lifted_back.assign(Y_ * S_, 0.0);
        for (int64_t x = 0; x < Y_; ++x)
            for (int64_t y = 0; y < Y_; ++y) {
                const double score = matrix.score[x * S_ + y];
                matrix.score_back[y * S_ + x] = score;
                matrix.lifted_back[y * S_ + x] = matrix.lifted[x * S_ + y];
                matrix.low = std::min(matrix.low, score);
                matrix.high = std::max(matrix.high, score);
            }
    }

    void refresh_row(int32_t b, int64_t r) {
        thread_local std::vector<std::pair<uint32_t, double>> parts;  // pair, score
        parts.clear();
        const Csr& rows = data_.batch(b).steps.rows();
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
            if (in_matrices_[rows.index[i]]) continue;
            const double value = rows.value.empty() ? 1.0 : rows.value[i];
            for (const CellValue& weight : weights_.row(1, rows.index[i]))
                parts.emplace_back(weight.cell, value * weight.value);
        }
        std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        CachedRow& row = rows_[b][r];
        row = CachedRow();
        row.stale = false;
        row.matrix = matrix_of_row_[b][r] < 0 ? nullptr : &matrices_[matrix_of_row_[b][r]];
        for (const auto& [pair, score] : parts) {
            if (!row.pair.empty() && row.pair.back() == pair) row.score.back() += score;
            else {
                row.pair.push_back(pair);
                row.score.push_back(score);
            }
        }
        row.lifted = row.score;
        kernels().exponentials(row.lifted.data(), static_cast<int64_t>(row.lifted.size()));
        for (size_t e = 0; e < row.score.size(); ++e) {
            row.low = std::min(row.low, row.score[e]);
            row.high = std::max(row.high, row.score[e]);
            row.loses_digits = row.loses_digits || row.lifted[e] < cancellation_limit;
        }
    }

    void list_stale_rows(const std::vector<BatchSequence>& sequences) {
        constexpr double listed = -1;  // `high` of a row that is in the list: never below zero otherwise
        stale_.clear();
        for (const auto& [b, i] : sequences) {
            const BlockBatch& batch = data_.batch(b);
            for (int64_t t = batch.offsets[i] + 1; t < batch.offsets[i + 1]; ++t) {
                CachedRow& row = rows_[b][batch.row[t]];
                if (!row.stale || row.high < 0) continue;
                row.high = listed;
                stale_.emplace_back(b, batch.row[t]);
            }
        }
    }

    const BlockData& data_;
    const BlockWeights& weights_;
    int64_t Y_, S_;
    std::vector<std::vector<double>> node_;            // [batches][T][Y]
    std::vector<std::vector<CachedRow>> rows_;         // [batches][distinct rows]
    std::vector<std::vector<int32_t>> matrix_of_row_;  // [batches][distinct rows]; −1 for none
    std::vector<char> in_matrices_;                    // of attributes of steps
    Csr matrix_attributes_;                            // which make up each matrix
    std::vector<CachedMatrix> matrices_;
    bool matrices_changed_ = true;
    std::vector<std::pair<int32_t, int32_t>> stale_;  // batch, row
};

}  // namespace parsimon
