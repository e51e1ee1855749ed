// The memory of weights that exist only once an update has touched them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "learners/row_pool.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

struct WeightEntry {
    double value;   // ξ
    double drift;   // Σ over changes of ξ: change · (Σ of c before it); see WeightBlock::sum_of_scales
    double pulled;  // how much of its block's pull_on_entries was taken from it
    uint32_t column;
};

// Attribute → the entries of the columns that were touched, in memory that is reused.
class TouchedRows {
  public:
    struct Head {
        uint32_t at;
        uint32_t n : 20;
        uint32_t block : 12;
    };
    static constexpr uint32_t most_blocks = 1u << 12, most_columns = 1u << 20;

    TouchedRows(std::shared_ptr<const FeatureRows> features, const int32_t* block)
        : features_(std::move(features)), heads_(features_->n_attributes) {
        if (features_->width >= most_columns) throw std::length_error("online learning is for fewer than 1,024 labels");
        for (size_t a = 0; a < heads_.size(); ++a) heads_[a] = {0, 0, static_cast<uint32_t>(block[a])};
        if (features_->width == 1) single_.assign(heads_.size(), 0.0);
    }

    TouchedRows(TouchedRows&&) = default;
    TouchedRows(const TouchedRows&) = delete;

    const FeatureRows& features() const { return *features_; }
    int64_t n_attributes() const { return static_cast<int64_t>(heads_.size()); }
    int64_t n_entries() const { return n_entries_; }
    const Head& head(int64_t a) const { return heads_[a]; }
    WeightEntry* entries(const Head& head) { return chunks_[RowPool::chunk(head.at)].get() + RowPool::offset(head.at); }
    const WeightEntry* entries(const Head& head) const {
        return chunks_[RowPool::chunk(head.at)].get() + RowPool::offset(head.at);
    }

    // Where there is one column only, the numbers ξ of all attributes side by side, which is quicker to read.
    const double* single() const { return single_.data(); }
    bool has_single() const { return !single_.empty(); }
    void copy_single(int64_t a, double value) {
        if (!single_.empty()) single_[a] = value;
    }

    void prefetch_head(int64_t a) const { __builtin_prefetch(heads_.data() + a); }
    void prefetch_entries(int64_t a) const {
        if (heads_[a].n) __builtin_prefetch(entries(heads_[a]));
    }

    bool exists(int64_t a, uint32_t column) const { return features_->has(a, column); }

    // The entry of a column, made if need be (`fresh`); null if there is no such feature. Rows are sorted by column.
    WeightEntry* touch(int64_t a, uint32_t column, bool& fresh) {
        Head& head = heads_[a];
        const uint32_t n = head.n;
        fresh = false;
        WeightEntry* row = n ? entries(head) : nullptr;
        uint32_t k = column;  // its place in a row that has all columns
        if (n != features_->width)
            k = static_cast<uint32_t>(
                std::lower_bound(row, row + n, column, [](const WeightEntry& e, uint32_t c) { return e.column < c; })
                - row);
        if (k < n && row[k].column == column) return row + k;
        if (!exists(a, column)) return nullptr;
        fresh = true;
        const uint32_t room = capacity(n);
        if (n == room) {
            const uint32_t from = head.at;
            head.at = allocate(capacity(n + 1));
            WeightEntry* moved = entries(head);
            if (n) {
                std::copy(row, row + k, moved);
                std::copy(row + k, row + n, moved + k + 1);
                pool_.release(from, room);
            }
            row = moved;
        } else {
            std::copy_backward(row + k, row + n, row + n + 1);
        }
        head.n = n + 1;
        ++n_entries_;
        row[k] = {0, 0, 0, column};
        return row + k;
    }

    void drop(int64_t a) {
        Head& head = heads_[a];
        if (!head.n) return;
        pool_.release(head.at, capacity(head.n));
        n_entries_ -= head.n;
        head.n = 0;
        copy_single(a, 0.0);
    }

    // Keeps the entries that `keep` wants.
    template <class Keep>
    void filter(int64_t a, Keep&& keep) {
        Head& head = heads_[a];
        if (!head.n) return;
        WeightEntry* row = entries(head);
        uint32_t kept = 0;
        for (uint32_t k = 0; k < head.n; ++k)
            if (keep(row[k])) row[kept++] = row[k];
        if (kept == head.n) return;
        n_entries_ -= head.n - kept;
        const uint32_t before = capacity(head.n), after = capacity(kept), from = head.at;
        if (after != before) {
            if (kept) {
                Head moved = head;
                moved.at = allocate(after);
                std::copy(row, row + kept, entries(moved));
                head.at = moved.at;
            }
            pool_.release(from, before);
        }
        head.n = kept;
    }

    int64_t feature(int64_t a, uint32_t column) const { return features_->feature(a, column); }

  private:
    // Rows have room for 0, 2, 4, 8, … entries; for 1 where there is one column only.
    uint32_t capacity(uint32_t n) const { return n ? std::bit_ceil(std::max(n, features_->width > 1 ? 2u : 1u)) : 0; }

    uint32_t allocate(uint32_t room) {
        return pool_.allocate(room, [this] { chunks_.emplace_back(new WeightEntry[RowPool::chunk_size]); });
    }

    std::shared_ptr<const FeatureRows> features_;
    std::vector<Head> heads_;
    std::vector<double> single_;
    std::vector<std::unique_ptr<WeightEntry[]>> chunks_;
    RowPool pool_;
    int64_t n_entries_ = 0;
};

}  // namespace parsimon
