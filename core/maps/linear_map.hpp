// Φ: the sparse linear map from weights to part scores, and its restriction to a set of features.
//
// A row is what can be scored as one (a token; a kind of label pair), with `width` scores (a label; a pair
// of labels). Attributes fire on rows, with a value. A feature is an attribute together with one of the
// width columns; features are numbered attribute by attribute:
//
//     score[row][c] = Σ_{a fires on row} value · w[feature(a, c)]
//
// Either every column makes a feature with every attribute (feature = a · width + c), or each attribute lists
// its columns (seen pairs, working sets, pruned models).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "maps/csr.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

class LinearMap {
  public:
    LinearMap(Csr rows, std::shared_ptr<const FeatureRows> features, int threads = 1) : features_(std::move(features)) {
        if (!features_->all) whole_rows_first(rows, threads);
        rows_ = std::make_shared<Csr>(std::move(rows));
    }

    const Csr& rows() const { return *rows_; }
    const FeatureRows& features() const { return *features_; }
    const std::shared_ptr<const FeatureRows>& shared_features() const { return features_; }

    // Within row r, attributes handled as whole rows come first and end here.
    int64_t whole_end(int64_t r) const { return features_->all ? rows_->start[r + 1] : whole_end_[r]; }

    // Attributes handled as whole rows that occur in some row, and the place of each attribute among them; not if all.
    const std::vector<int32_t>& whole_attributes() const { return whole_attributes_; }
    const std::vector<int32_t>& whole_place() const { return whole_place_; }

    // The rows on which each attribute fires; made when first needed (never for prediction).
    const Csr& attributes() const {
        if (!attributes_) {
            attributes_ = std::make_shared<Csr>(transpose(*rows_, features_->n_attributes));
            if (features_->width == 1) everywhere_ = full_rows(*attributes_, rows_->size());
        }
        return *attributes_;
    }
    // Whether an attribute fires on every row; only where rows are single numbers, and after `attributes`.
    bool everywhere(int64_t a) const { return !everywhere_.empty() && everywhere_[a]; }

    // The map of the given features only (ascending). Feature i of the result is features[i] of this map.
    LinearMap restrict(const int64_t* chosen, int64_t n, int threads = 1) const {
        auto kept = std::make_shared<FeatureRows>();
        kept->width = features_->width;
        kept->all = false;
        kept->start.push_back(0);
        kept->column.resize(n);
        std::vector<int32_t> new_number(features_->n_attributes, -1);
        int64_t attribute = -1;
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = chosen[i];
            if (k < 0 || k >= features_->size() || (i && k <= chosen[i - 1]))
                throw std::invalid_argument("features must be ascending and within the map");
            int64_t a = attribute;
            if (features_->all) a = k / features_->width;
            else
                while (a < 0 || features_->start[a + 1] <= k) ++a;
            if (a != attribute) {
                if (attribute >= 0) kept->start.push_back(i);
                attribute = a;
                new_number[a] = static_cast<int32_t>(kept->n_attributes++);
            }
            kept->column[i] = features_->all ? static_cast<int32_t>(k % features_->width) : features_->column[k];
        }
        if (n) kept->start.push_back(n);
        return LinearMap(filter(new_number, threads), std::move(kept), threads);
    }

    // The map of some rows, in the order given; of the same features.
    LinearMap take(const int64_t* chosen, int64_t n) const {
        Csr out;
        out.start.push_back(0);
        for (int64_t i = 0; i < n; ++i) {
            const int64_t first = rows_->start[chosen[i]], last = rows_->start[chosen[i] + 1];
            out.index.insert(out.index.end(), rows_->index.begin() + first, rows_->index.begin() + last);
            if (!rows_->value.empty())
                out.value.insert(out.value.end(), rows_->value.begin() + first, rows_->value.begin() + last);
            out.start.push_back(static_cast<int64_t>(out.index.size()));
        }
        return LinearMap(std::move(out), features_);
    }

    // The rows seen through a new numbering of attributes; −1 drops one.
    Csr filter(const std::vector<int32_t>& new_number, int threads) const {
        Csr out;
        out.start.assign(rows_->start.size(), 0);
        over_rows(rows_->size(), threads, [&](int64_t r) {
            for (int64_t i = rows_->start[r]; i < rows_->start[r + 1]; ++i)
                out.start[r + 1] += new_number[rows_->index[i]] >= 0;
        });
        std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
        out.index.resize(out.entries());
        const bool valued = !rows_->value.empty();
        if (valued) out.value.resize(out.entries());
        over_rows(rows_->size(), threads, [&](int64_t r) {
            int64_t to = out.start[r];
            for (int64_t i = rows_->start[r]; i < rows_->start[r + 1]; ++i) {
                const int32_t a = new_number[rows_->index[i]];
                if (a < 0) continue;
                out.index[to] = a;
                if (valued) out.value[to] = rows_->value[i];
                ++to;
            }
        });
        return out;
    }

  private:
    // body(row), for pieces of rows at a time.
    template <class Body>
    static void over_rows(int64_t n, int threads, Body&& body) {
        constexpr int64_t grain = 2048;
        parallel_for((n + grain - 1) / grain, threads, [&](int64_t piece, int) {
            for (int64_t r = piece * grain; r < std::min(n, (piece + 1) * grain); ++r) body(r);
        });
    }

    void whole_rows_first(Csr& rows, int threads) {
        std::vector<char> whole(features_->n_attributes);
        for (int64_t a = 0; a < features_->n_attributes; ++a) whole[a] = features_->whole_row(a);
        whole_end_.resize(rows.size());
        const bool valued = !rows.value.empty();
        over_rows(rows.size(), threads, [&](int64_t r) {
            thread_local std::vector<std::pair<int32_t, double>> later;
            const int64_t begin = rows.start[r], end = rows.start[r + 1];
            later.resize(std::max<size_t>(later.size(), end - begin));
            int64_t to = begin, n_later = 0;
            for (int64_t i = begin; i < end; ++i) {
                const int32_t a = rows.index[i];
                const bool first = whole[a];
                later[n_later] = {a, valued ? rows.value[i] : 1.0};
                rows.index[to] = a;
                if (valued) rows.value[to] = rows.value[i];
                to += first;
                n_later += !first;
            }
            whole_end_[r] = to;
            for (int64_t i = 0; i < n_later; ++i) {
                rows.index[to + i] = later[i].first;
                if (valued) rows.value[to + i] = later[i].second;
            }
        });
        list_whole_attributes(rows);
    }

    void list_whole_attributes(const Csr& rows) {
        whole_place_.assign(features_->n_attributes, -1);
        for (int64_t r = 0; r < rows.size(); ++r)
            for (int64_t i = rows.start[r]; i < whole_end_[r]; ++i) {
                int32_t& place = whole_place_[rows.index[i]];
                if (place >= 0) continue;
                place = static_cast<int32_t>(whole_attributes_.size());
                whole_attributes_.push_back(rows.index[i]);
            }
    }

    std::vector<int64_t> whole_end_;
    std::vector<int32_t> whole_attributes_, whole_place_;
    std::shared_ptr<const Csr> rows_;
    std::shared_ptr<const FeatureRows> features_;
    mutable std::shared_ptr<const Csr> attributes_;
    mutable std::vector<char> everywhere_;
};

}  // namespace parsimon
