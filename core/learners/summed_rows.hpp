// The memory of sums of steps that exist only once an update has touched them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "learners/row_pool.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

// Attribute → the sums of the columns that were touched, ascending. A row that is full has all columns, each at its own
// place, and marks those that may be other than zero.
class SummedRows {
  public:
    SummedRows(std::shared_ptr<const FeatureRows> features, const bool* exempt)
        : features_(std::move(features)), heads_(features_->n_attributes) {
        if (features_->width >= most_columns) throw std::length_error("online learning is for fewer than 1,024 labels");
        for (size_t a = 0; a < heads_.size(); ++a) heads_[a] = {0, 0, 0, exempt[a], 0};
    }

    SummedRows(SummedRows&&) = default;
    SummedRows(const SummedRows&) = delete;

    const FeatureRows& features() const { return *features_; }
    int64_t n_attributes() const { return static_cast<int64_t>(heads_.size()); }
    int64_t n_sums() const { return n_sums_; }
    bool exempt(int64_t a) const { return heads_[a].exempt; }
    uint32_t firings(int64_t a) const { return heads_[a].firings; }
    void fires(int64_t a) { ++heads_[a].firings; }

    void prefetch_head(int64_t a) const { __builtin_prefetch(heads_.data() + a); }
    void prefetch_sums(int64_t a) const {
        if (!heads_[a].n) return;
        __builtin_prefetch(sums(heads_[a]));
        __builtin_prefetch(columns(heads_[a]));
    }

    // body(column, sum towards zero by u) for those that are not zero.
    template <class Body>
    void visit(int64_t a, double u, Body&& body) {
        const Head head = heads_[a];
        if (!head.n) return;
        const double* sum = sums(head);
        uint32_t* column = columns(head);
        if (!head.full) {
            for (uint32_t k = 0; k < head.n; ++k)
                if (std::abs(sum[k]) > u) body(column[k], sum[k] - std::copysign(u, sum[k]));
            return;
        }
        for (uint32_t word = 0; word < n_words(); ++word)
            for (uint32_t bits = column[word]; bits; bits &= bits - 1) {
                const uint32_t c = 32 * word + std::countr_zero(bits);
                if (std::abs(sum[c]) > u) body(c, sum[c] - std::copysign(u, sum[c]));
                else column[word] &= ~(bits & -bits);
            }
    }

    // body(column, sum) for all sums that exist; of a full row those that are not zero.
    template <class Body>
    void visit_sums(int64_t a, Body&& body) const {
        const Head& head = heads_[a];
        for (uint32_t k = 0; k < head.n; ++k)
            if (!head.full) body(columns(head)[k], sums(head)[k]);
            else if (sums(head)[k] != 0) body(k, sums(head)[k]);
    }

    // sum += times · value at the given columns (ascending), where |value| > least. (u is what sums are now pulled by.)
    void add(int64_t a, double times, const uint32_t* column, const double* value, size_t n, double least, double u) {
        Head& head = heads_[a];
        if (!head.full && features_->all && head.firings >= features_->width) fill(head, u);
        if (head.full) return add_to_full(head, times, column, value, n, least, u);
        fresh_.clear();
        double* sum = head.n ? sums(head) : nullptr;
        const uint32_t *own = head.n ? columns(head) : nullptr, *at = own, *end = own + head.n;
        for (size_t j = 0; j < n; ++j) {
            if (!(std::abs(value[j]) > least)) continue;
            const uint32_t c = column[j];
            while (at != end && *at < c) ++at;
            if (at != end && *at == c) sum[at - own] += times * value[j];
            else if (exists(a, c)) fresh_.emplace_back(c, times * value[j]);
        }
        if (fresh_.empty()) return;
        if (features_->all && 2 * (head.n + fresh_.size()) >= static_cast<size_t>(features_->width)) {
            fill(head, u);
            for (const auto& [c, by] : fresh_) add_to_full(head, 1.0, &c, &by, 1, 0.0, u);
            return;
        }
        insert(head);
    }

    bool exists(int64_t a, uint32_t column) const { return features_->has(a, column); }

    // All sums of penalised attributes times a factor.
    void scale(double factor) {
        for (Head& head : heads_)
            for (uint32_t k = 0; k < head.n && !head.exempt; ++k) sums(head)[k] *= factor;
    }

    int64_t feature(int64_t a, uint32_t column) const { return features_->feature(a, column); }

  private:
    struct Head {
        uint32_t at;
        uint32_t n : 21;
        uint32_t full : 1;
        uint32_t exempt : 1;
        uint32_t firings;  // how often the attribute occurs in the data
    };
    static constexpr uint32_t most_columns = RowPool::chunk_size;
    struct Chunk {
        std::unique_ptr<double[]> sums;
        std::unique_ptr<uint32_t[]> columns;
    };

    double* sums(const Head& head) const {
        return chunks_[RowPool::chunk(head.at)].sums.get() + RowPool::offset(head.at);
    }
    uint32_t* columns(const Head& head) const {
        return chunks_[RowPool::chunk(head.at)].columns.get() + RowPool::offset(head.at);
    }
    uint32_t n_words() const { return static_cast<uint32_t>((features_->width + 31) / 32); }

    void add_to_full(const Head& head, double times, const uint32_t* column, const double* value, size_t n,
                     double least, double u) {
        double* sum = sums(head);
        uint32_t* marks = columns(head);
        for (size_t j = 0; j < n; ++j) {
            if (!(std::abs(value[j]) > least)) continue;
            const uint32_t c = column[j];
            sum[c] += times * value[j];
            marks[c / 32] |= static_cast<uint32_t>(std::abs(sum[c]) > u) << (c % 32);
        }
    }

    // Makes room for all columns. That is done at once for attributes that fire at least as often as they have columns
    // (so memory stays in proportion to the data), and for others when half their columns exist.
    void fill(Head& head, double u) {
        const Head before = head;
        const auto width = static_cast<uint32_t>(features_->width);
        head.at = allocate(width);
        head.n = width;
        head.full = 1;
        std::fill_n(sums(head), width, 0.0);
        std::fill_n(columns(head), n_words(), 0u);
        n_sums_ += width - before.n;
        if (!before.n) return;
        for (uint32_t k = 0; k < before.n; ++k) {
            const uint32_t c = columns(before)[k];
            sums(head)[c] = sums(before)[k];
            columns(head)[c / 32] |= static_cast<uint32_t>(std::abs(sums(before)[k]) > u) << (c % 32);
        }
        pool_.release(before.at, room_for(before.n));
    }

    // Puts what is fresh into a row, from behind.
    void insert(Head& head) {
        const uint32_t n = head.n, more = static_cast<uint32_t>(fresh_.size());
        const Head before = head;
        if (room_for(n + more) != room_for(n)) head.at = allocate(room_for(n + more));
        head.n = n + more;
        n_sums_ += more;
        double* sum = sums(head);
        uint32_t* column = columns(head);
        const double* old_sum = n ? sums(before) : nullptr;
        const uint32_t* old_column = n ? columns(before) : nullptr;
        for (uint32_t to = n + more, k = n, j = more; to--;) {
            const bool old = !j || (k && old_column[k - 1] > fresh_[j - 1].first);
            k -= old;
            j -= !old;
            sum[to] = old ? old_sum[k] : fresh_[j].second;
            column[to] = old ? old_column[k] : fresh_[j].first;
        }
        if (n && head.at != before.at) pool_.release(before.at, room_for(n));
    }

    // Rows have room for 0, 2, 4, 8, … columns.
    static uint32_t room_for(uint32_t n) { return n ? std::bit_ceil(std::max(n, 2u)) : 0; }

    uint32_t allocate(uint32_t room) {
        return pool_.allocate(room, [this] {
            chunks_.push_back({std::unique_ptr<double[]>(new double[RowPool::chunk_size]),
                               std::unique_ptr<uint32_t[]>(new uint32_t[RowPool::chunk_size])});
        });
    }

    std::shared_ptr<const FeatureRows> features_;
    std::vector<Head> heads_;
    std::vector<Chunk> chunks_;
    RowPool pool_;
    int64_t n_sums_ = 0;
    std::vector<std::pair<uint32_t, double>> fresh_;
};

}  // namespace parsimon
