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
#include "maps/attribute_rows.hpp"
#include "maps/csr.hpp"
#include "maps/dense_columns.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

// Some features of a set, numbered anew, and their attributes, too.
struct FewerFeatures {
    std::shared_ptr<const FeatureRows> features;
    std::vector<int32_t> new_number;  // of every attribute, −1 for those without features

    // Feature i of the result is chosen[i] (ascending).
    FewerFeatures(const FeatureRows& all, const int64_t* chosen, int64_t n) : new_number(all.n_attributes, -1) {
        auto kept = std::make_shared<FeatureRows>();
        kept->width = all.width;
        kept->all = false;
        kept->start.push_back(0);
        kept->column.resize(n);
        int64_t attribute = -1;
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = chosen[i];
            if (k < 0 || k >= all.size() || (i && k <= chosen[i - 1]))
                throw std::invalid_argument("features must be ascending and within the map");
            int64_t a = attribute;
            if (all.all) a = k / all.width;
            else
                while (a < 0 || all.start[a + 1] <= k) ++a;
            if (a != attribute) {
                if (attribute >= 0) kept->start.push_back(i);
                attribute = a;
                new_number[a] = static_cast<int32_t>(kept->n_attributes++);
            }
            kept->column[i] = all.all ? static_cast<int32_t>(k % all.width) : all.column[k];
        }
        if (n) kept->start.push_back(n);
        features = std::move(kept);
    }
};

class LinearMap {
  public:
    LinearMap(Csr rows, std::shared_ptr<const FeatureRows> features, int threads = 1)
        : n_rows_(rows.size()), features_(std::move(features)) {
        if (!features_->all) whole_rows_first(rows, threads);
        rows_ = std::make_shared<Csr>(std::move(rows));
    }
    // Every attribute fires on every row, and a row is a single number: a feature is a column of numbers.
    explicit LinearMap(DenseColumns columns)
        : n_rows_(columns.n_rows), features_(single_columns(columns.n_columns)),
          dense_(std::make_shared<DenseColumns>(std::move(columns))) {}

    int64_t n_rows() const { return n_rows_; }
    int64_t n_entries() const { return dense_ ? n_rows_ * dense_->n_columns : rows_->entries(); }
    // The features as columns without gaps, if they are that.
    const DenseColumns* dense() const { return dense_.get(); }

    // Made when first needed if the map is dense, and very many numbers then.
    const Csr& rows() const {
        if (!rows_) rows_ = std::make_shared<Csr>(dense_->rows());
        return *rows_;
    }
    const FeatureRows& features() const { return *features_; }
    const std::shared_ptr<const FeatureRows>& shared_features() const { return features_; }

    // Within row r, attributes handled as whole rows come first and end here.
    int64_t whole_end(int64_t r) const { return features_->all ? rows().start[r + 1] : whole_end_[r]; }

    // Attributes handled as whole rows that occur in some row; not if all. Made when first needed.
    const WholeAttributes& whole_attributes() const {
        if (!whole_) whole_ = std::make_shared<WholeAttributes>(list_whole_attributes());
        return *whole_;
    }

    // The rows on which each attribute fires; made when first needed (never for prediction).
    const AttributeRows& attributes() const {
        if (!attributes_) {
            attributes_ = std::make_shared<AttributeRows>(attribute_rows(rows(), features_->n_attributes));
            if (features_->width == 1) everywhere_ = full_rows(*attributes_, n_rows_);
        }
        return *attributes_;
    }
    // Whether the attribute at a place of `attributes` fires on every row; only where rows are single numbers.
    bool everywhere(int64_t place) const { return !everywhere_.empty() && everywhere_[place]; }

    // The map of the given features only (ascending). Feature i of the result is features[i] of this map.
    LinearMap restrict(const int64_t* chosen, int64_t n, int threads = 1) const {
        return restrict(FewerFeatures(*features_, chosen, n), threads);
    }
    // The same; several maps of the same features share those that are left.
    LinearMap restrict(const FewerFeatures& fewer, int threads) const {
        if (dense_) return LinearMap(dense_->chosen(fewer.new_number, fewer.features->n_attributes, threads));
        return LinearMap(filter(fewer.new_number, threads), fewer.features, threads);
    }

    // The map of some rows, in the order given; of the same features.
    LinearMap take(const int64_t* chosen, int64_t n) const {
        if (dense_) return LinearMap(dense_->taken(chosen, n));
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
    static std::shared_ptr<const FeatureRows> single_columns(int64_t n) {
        auto features = std::make_shared<FeatureRows>();
        features->width = 1;
        features->n_attributes = n;
        return features;
    }

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
    }

    WholeAttributes list_whole_attributes() const {
        WholeAttributes out;
        std::vector<char> listed(features_->n_attributes, 0);
        for (int64_t r = 0; r < rows_->size(); ++r)
            for (int64_t i = rows_->start[r]; i < whole_end_[r]; ++i) {
                if (listed[rows_->index[i]]) continue;
                listed[rows_->index[i]] = 1;
                out.attribute.push_back(rows_->index[i]);
            }
        return out;
    }

    int64_t n_rows_;
    std::vector<int64_t> whole_end_;
    mutable std::shared_ptr<const Csr> rows_;
    std::shared_ptr<const FeatureRows> features_;
    std::shared_ptr<const DenseColumns> dense_;
    mutable std::shared_ptr<const AttributeRows> attributes_;
    mutable std::vector<char> everywhere_;
    mutable std::shared_ptr<const WholeAttributes> whole_;
};

}  // namespace parsimon
