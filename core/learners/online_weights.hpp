// The weights of an online learner: they exist only once an update has touched them, and until their block is dropped.
//
// Attributes are divided into blocks (the templates; see weight_block.hpp), which are scaled as wholes.
//
// Penalties on many small groups (the row of an attribute, or single weights) are applied lazily: a group is only
// brought up to date when one of its features next fires. What it has missed is the difference between two running
// sums, that of its block and its own (Carpenter 2008). To take an amount from the norm of a group, or from |w|, is
// called a pull.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "learners/row_pool.hpp"
#include "learners/touched_rows.hpp"
#include "learners/weight_block.hpp"
#include "maps/csr.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

// The weights of one learner: attributes of tokens (part 0) and of steps (part 1), in shared blocks.
class OnlineWeights {
  public:
    OnlineWeights(std::shared_ptr<const FeatureRows> node, std::shared_ptr<const FeatureRows> pair,
                  const int32_t* node_block, const int32_t* pair_block, int64_t n_blocks)
        : parts_{TouchedRows(std::move(node), node_block), TouchedRows(std::move(pair), pair_block)},
          blocks_(n_blocks) {}

    int64_t n_entries() const { return parts_[0].n_entries() + parts_[1].n_entries(); }
    int64_t n_blocks() const { return static_cast<int64_t>(blocks_.size()); }
    TouchedRows& part(int p) { return parts_[p]; }
    int64_t round() const { return round_; }
    void next_round(double = 0) { ++round_; }

    // body(column, weight) for the attributes that fire on a row; `last` is as far as entries may be looked ahead.
    template <class Body>
    void visit(int p, const Csr& rows, int64_t r, int64_t last, Body&& body) {
        const int32_t* index = rows.index.data();
        const auto attribute = [index](int64_t i) { return index[i]; };
        if (rows.value.empty()) {
            visit_each(p, attribute, rows.start[r], rows.start[r + 1], last,
                       [&](int64_t, uint32_t column, double weight) { body(column, weight); });
        } else {
            const double* value = rows.value.data();
            visit_each(p, attribute, rows.start[r], rows.start[r + 1], last,
                       [&](int64_t i, uint32_t column, double weight) { body(column, value[i] * weight); });
        }
    }

    // body(i, column, weight) for attribute(i), i = first … end − 1.
    template <class Attribute, class Body>
    void visit_each(int p, Attribute&& attribute, int64_t first, int64_t end, int64_t last, Body&& body) {
        TouchedRows& part = parts_[p];
        for (int64_t i = first; i < end; ++i) {
            if (i + heads_ahead < last) part.prefetch_head(attribute(i + heads_ahead));
            if (i + entries_ahead < last) part.prefetch_entries(attribute(i + entries_ahead));
            const int64_t a = attribute(i);
            if (any_pulled_) apply_pulls(p, a);
            const TouchedRows::Head& head = part.head(a);
            if (!head.n) continue;
            const double scale = blocks_[head.block].scale;
            const WeightEntry* row = part.entries(head);
            for (uint32_t k = 0; k < head.n; ++k) body(i, row[k].column, scale * row[k].value);
        }
    }

    // For attributes with one column, all of one block: ξ of each, and the scale that goes with it. Null if penalties
    // are being put off, so that attributes must be visited one by one.
    const double* single(int p) const { return any_pulled_ || !parts_[p].has_single() ? nullptr : parts_[p].single(); }
    double scale_of(int32_t block) const { return blocks_[block].scale; }
    // Whether a block has had no weight since it was dropped, or ever.
    bool untouched(int32_t block) const { return !blocks_[block].touched; }

    // The smallest difference that is worth a change.
    double smallest_change(int, int64_t, double) const { return negligible_difference; }

    // weight += step · times · difference, at ascending columns.
    void change(int p, int64_t a, double step, double times, const uint32_t* column, const double* value, size_t n) {
        for (size_t j = 0; j < n; ++j) add(p, a, column[j], step * times * value[j]);
    }

    // weight += change.
    void add(int p, int64_t a, uint32_t column, double change) {
        if (any_pulled_) apply_pulls(p, a);
        bool fresh;
        WeightEntry* entry = parts_[p].touch(a, column, fresh);
        if (!entry) return;
        WeightBlock& block = blocks_[parts_[p].head(a).block];
        if (fresh) entry->pulled = block.pull_on_entries;
        block.touched = true;
        if (fresh && parts_[p].head(a).n == 1 && rows_pulled_) row_pulled_[p][a] = block.pull_on_rows;
        set(p, a, *entry, block, entry->value + change / block.scale);
    }

    // Multiplies the weights of each block by a factor; a block times zero leaves the memory.
    void scale(const double* factors) {
        bool any = false;
        for (size_t b = 0; b < blocks_.size(); ++b) {
            if (factors[b] == 0) {
                any = any || blocks_[b].squared_norm > 0;
            } else if (factors[b] != 1) {
                blocks_[b].rescale(factors[b], round_);
                if (blocks_[b].scale < smallest_scale) absorb_scale(b);
            }
        }
        if (!any) return;
        for (TouchedRows& part : parts_)
            for (int64_t a = 0; a < part.n_attributes(); ++a)
                if (part.head(a).n && factors[part.head(a).block] == 0) part.drop(a);
        for (size_t b = 0; b < blocks_.size(); ++b)
            if (factors[b] == 0) {
                blocks_[b] = WeightBlock();
                blocks_[b].since = round_;
            }
    }

    // ‖w_b‖₂ of each block, summed anew so that no rounding has crept in.
    std::vector<double> norms() {
        apply_all_pulls();
        std::vector<double> squares(blocks_.size(), 0.0);
        visit_all([&](int, int64_t, const WeightBlock&, int32_t b, WeightEntry& entry) {
            squares[b] += entry.value * entry.value;
        });
        for (size_t b = 0; b < blocks_.size(); ++b) {
            blocks_[b].squared_norm = squares[b];
            squares[b] = blocks_[b].scale * std::sqrt(squares[b]);
        }
        return squares;
    }
    // The same from the running sums: no look at any weight.
    std::vector<double> running_norms() const {
        std::vector<double> out(blocks_.size());
        for (size_t b = 0; b < out.size(); ++b)
            out[b] = blocks_[b].scale * std::sqrt(std::max(blocks_[b].squared_norm, 0.0));
        return out;
    }

    // ‖w‖₂ of the rows of attributes in the given blocks, and |w| of their single weights; those that are not zero.
    std::vector<double> row_norms(const char* chosen) {
        apply_all_pulls();
        std::vector<double> out;
        for (TouchedRows& part : parts_)
            for (int64_t a = 0; a < part.n_attributes(); ++a) {
                const auto& head = part.head(a);
                if (!head.n || !chosen[head.block]) continue;
                out.push_back(blocks_[head.block].scale * row_norm(part, head));
            }
        return out;
    }
    std::vector<double> magnitudes(const char* chosen) {
        apply_all_pulls();
        std::vector<double> out;
        visit_all([&](int, int64_t, const WeightBlock& block, int32_t b, WeightEntry& entry) {
            if (chosen[b]) out.push_back(block.scale * std::abs(entry.value));
        });
        return out;
    }

    // Takes an amount from the norm of every row, or from every single |w|, of the given blocks, when it next fires.
    void pull_rows(double by, const char* chosen) {
        if (!rows_pulled_) {
            for (int p = 0; p < 2; ++p) row_pulled_[p].assign(parts_[p].n_attributes(), 0.0);
            rows_pulled_ = any_pulled_ = true;
        }
        for (size_t b = 0; b < blocks_.size(); ++b)
            if (chosen[b]) blocks_[b].pull_on_rows += by / blocks_[b].scale;
    }
    void pull_entries(double by, const char* chosen) {
        entries_pulled_ = any_pulled_ = true;
        for (size_t b = 0; b < blocks_.size(); ++b)
            if (chosen[b]) blocks_[b].pull_on_entries += by / blocks_[b].scale;
    }

    // Drops every row whose norm, or every single weight whose |w|, is at most a limit, in the given blocks.
    void drop_rows(double limit, const char* chosen) {
        drop(chosen, [&](int p, const TouchedRows::Head& head, const WeightEntry&) {
            return blocks_[head.block].scale * row_norm(parts_[p], head) <= limit;
        });
    }
    void drop_entries(double limit, const char* chosen) {
        drop(chosen, [&](int, const TouchedRows::Head& head, const WeightEntry& entry) {
            return blocks_[head.block].scale * std::abs(entry.value) <= limit;
        });
    }

    // Applies all pulls that are still to come, and frees what has become zero.
    void apply_all_pulls() {
        if (!any_pulled_) return;
        for (int p = 0; p < 2; ++p)
            for (int64_t a = 0; a < parts_[p].n_attributes(); ++a) {
                if (!parts_[p].head(a).n) continue;
                apply_pulls(p, a);
                parts_[p].filter(a, [](const WeightEntry& entry) { return entry.value != 0; });
            }
    }

    // Averages are over the rounds from here on.
    void forget_average() {
        apply_all_pulls();
        visit_all([&](int, int64_t, const WeightBlock& block, int32_t, WeightEntry& entry) {
            entry.drift = entry.value * block.sum_of_scales(round_);
        });
        averaged_from_ = round_;
    }

    // The weights that exist, by feature number (those of steps after those of tokens), or their averages over rounds.
    void collect(bool averaged, std::vector<int64_t>& features, std::vector<double>& values) {
        apply_all_pulls();
        features.reserve(n_entries());
        values.reserve(n_entries());
        averaged = averaged && round_ > averaged_from_;
        visit_all([&](int p, int64_t a, const WeightBlock& block, int32_t, WeightEntry& entry) {
            double value = block.scale * entry.value;
            if (averaged)
                value = (entry.value * block.sum_of_scales(round_) - entry.drift)
                        / static_cast<double>(round_ - averaged_from_);
            features.push_back(feature(p, a, entry.column));
            values.push_back(value);
        });
    }

    // Replaces the weights that exist, in the order of `collect`, by others; zeros leave the memory.
    void replace(const double* values) {
        int64_t next = 0;
        visit_all([&](int p, int64_t a, WeightBlock& block, int32_t, WeightEntry& entry) {
            set(p, a, entry, block, values[next++] / block.scale);
        });
        for (TouchedRows& part : parts_)
            for (int64_t a = 0; a < part.n_attributes(); ++a)
                part.filter(a, [](const WeightEntry& entry) { return entry.value != 0; });
    }

    // All that later rounds depend on, as flat arrays: the same rounds after `restore` give the same bits. Nothing is
    // left to be pulled.
    struct State {
        std::vector<int64_t> features;       // of the weights that exist, ascending
        std::vector<double> values, drifts;  // of their entries
        std::vector<double> blocks;          // WeightBlock::n_numbers a block
        std::vector<int64_t> counts;         // WeightBlock::n_counts a block; then those of the learner
        static constexpr size_t per_block = WeightBlock::n_numbers, counts_per_block = WeightBlock::n_counts;
        static constexpr size_t further_counts = 4;  // rounds, averaged from, whether rows and entries are pulled
    };

    State state() {
        apply_all_pulls();
        State out;
        visit_all([&](int p, int64_t a, const WeightBlock&, int32_t, WeightEntry& entry) {
            out.features.push_back(feature(p, a, entry.column));
            out.values.push_back(entry.value);
            out.drifts.push_back(entry.drift);
        });
        for (const WeightBlock& block : blocks_) block.save(out.blocks, out.counts);
        out.counts.insert(out.counts.end(), {round_, averaged_from_, rows_pulled_, entries_pulled_});
        return out;
    }

    // Blocks and rounds of a state, for weights that have none yet. Entries follow one by one (restore_entry).
    void restore(const State& state) {
        const double* numbers = state.blocks.data();
        const int64_t* counts = state.counts.data();
        for (WeightBlock& block : blocks_) {
            block = WeightBlock::saved(numbers, counts);
            numbers += State::per_block;
            counts += State::counts_per_block;
        }
        round_ = counts[0];
        averaged_from_ = counts[1];
        rows_pulled_ = counts[2] != 0;
        entries_pulled_ = counts[3] != 0;
        any_pulled_ = rows_pulled_ || entries_pulled_;
        if (rows_pulled_)
            for (int p = 0; p < 2; ++p) row_pulled_[p].assign(parts_[p].n_attributes(), 0.0);
    }
    void restore_entry(const State& state, size_t i, int p, int64_t a, uint32_t column) {
        bool fresh;
        WeightEntry* entry = parts_[p].touch(a, column, fresh);
        if (!entry) throw std::invalid_argument("no such feature");
        const WeightBlock& block = blocks_[parts_[p].head(a).block];
        *entry = {state.values[i], state.drifts[i], block.pull_on_entries, column};
        if (rows_pulled_) row_pulled_[p][a] = block.pull_on_rows;
        parts_[p].copy_single(a, state.values[i]);
    }

  private:
    // Numbers of features of steps come after those of tokens.
    int64_t feature(int p, int64_t a, uint32_t column) const {
        return (p ? parts_[0].features().size() : 0) + parts_[p].feature(a, column);
    }

    void set(int p, int64_t a, WeightEntry& entry, WeightBlock& block, double value) {
        entry.drift += (value - entry.value) * block.sum_of_scales(round_);
        block.squared_norm += value * value - entry.value * entry.value;
        entry.value = value;
        parts_[p].copy_single(a, value);
    }

    // Drops the weights of the given blocks that are small enough, as each looks before any weight of its row goes.
    template <class IsSmall>
    void drop(const char* chosen, IsSmall&& is_small) {
        apply_all_pulls();
        std::vector<char> small;
        for (int p = 0; p < 2; ++p)
            for (int64_t a = 0; a < parts_[p].n_attributes(); ++a) {
                const auto& head = parts_[p].head(a);
                if (!head.n || !chosen[head.block]) continue;
                WeightEntry* row = parts_[p].entries(head);
                small.assign(head.n, 0);
                for (uint32_t k = 0; k < head.n; ++k) small[k] = is_small(p, head, row[k]);
                for (uint32_t k = 0; k < head.n; ++k)
                    if (small[k]) set(p, a, row[k], blocks_[head.block], 0.0);
                parts_[p].filter(a, [](const WeightEntry& entry) { return entry.value != 0; });
            }
    }

    double row_norm(TouchedRows& part, const TouchedRows::Head& head) {
        const WeightEntry* row = part.entries(head);
        double sum = 0;
        for (uint32_t k = 0; k < head.n; ++k) sum += row[k].value * row[k].value;
        return std::sqrt(sum);
    }

    // Brings an attribute's row up to date. Soft thresholds of one and the same group add up, so one is enough.
    void apply_pulls(int p, int64_t a) {
        const auto& head = parts_[p].head(a);
        if (!head.n) return;
        WeightBlock& block = blocks_[head.block];
        WeightEntry* row = parts_[p].entries(head);
        if (entries_pulled_) pull_entries_of(p, a, row, head.n, block);
        if (rows_pulled_) pull_row(p, a, row, head.n, block);
    }

    void pull_entries_of(int p, int64_t a, WeightEntry* row, uint32_t n, WeightBlock& block) {
        for (uint32_t k = 0; k < n; ++k) {
            const double by = block.pull_on_entries - row[k].pulled;
            if (by <= 0) continue;
            row[k].pulled = block.pull_on_entries;
            const double left = std::max(std::abs(row[k].value) - by, 0.0);
            set(p, a, row[k], block, std::copysign(left, row[k].value));
        }
    }

    void pull_row(int p, int64_t a, WeightEntry* row, uint32_t n, WeightBlock& block) {
        const double by = block.pull_on_rows - row_pulled_[p][a];
        row_pulled_[p][a] = block.pull_on_rows;
        if (by <= 0) return;
        const double norm = row_norm(parts_[p], parts_[p].head(a));
        const double factor = norm > by ? 1 - by / norm : 0.0;
        for (uint32_t k = 0; k < n; ++k) set(p, a, row[k], block, factor * row[k].value);
    }

    // A scale that has become small moves into the numbers ξ; sums over rounds keep their value. (They are differences
    // of products of ξ and sums of scales: with a much smaller scale than it once was, digits would be lost.)
    static constexpr double smallest_scale = 1e-4;

    void absorb_scale(size_t b) {
        apply_all_pulls();
        WeightBlock& block = blocks_[b];
        const double c = block.scale, sum = block.sum_of_scales(round_);
        visit_all([&](int p, int64_t a, const WeightBlock&, int32_t which, WeightEntry& entry) {
            if (which != static_cast<int32_t>(b)) return;
            entry.drift -= entry.value * sum;
            entry.value *= c;
            entry.pulled *= c;
            parts_[p].copy_single(a, entry.value);
        });
        if (rows_pulled_)
            for (int p = 0; p < 2; ++p)
                for (int64_t a = 0; a < parts_[p].n_attributes(); ++a)
                    if (parts_[p].head(a).block == b) row_pulled_[p][a] *= c;
        block.absorb_scale(round_);
    }

    template <class Body>
    void visit_all(Body&& body) {
        for (int p = 0; p < 2; ++p)
            for (int64_t a = 0; a < parts_[p].n_attributes(); ++a) {
                const auto& head = parts_[p].head(a);
                if (!head.n) continue;
                WeightEntry* row = parts_[p].entries(head);
                const auto b = static_cast<int32_t>(head.block);
                for (uint32_t k = 0; k < head.n; ++k) body(p, a, blocks_[b], b, row[k]);
            }
    }

    TouchedRows parts_[2];
    std::vector<WeightBlock> blocks_;
    std::vector<double> row_pulled_[2];  // how much of its block's pull_on_rows was taken from each attribute's row
    int64_t round_ = 0, averaged_from_ = 0;
    bool rows_pulled_ = false, entries_pulled_ = false, any_pulled_ = false;
};

}  // namespace parsimon
