// The weights of an online learner: they exist only once an update has touched them, and until their block is dropped.
//
// Attributes are parted into blocks (the templates). A weight is c_b ξ: its block's scale times a number of its own, so
// that a whole block is scaled, and its norm is known, in constant time (Martins et al. 2011, §4, after Shalev-Shwartz
// et al. 2007). Penalties on many small groups (the row of an attribute, or each weight by itself) are applied late,
// when one of their features next fires: what was missed is the difference between two running sums (Carpenter 2008).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "learners/touched_rows.hpp"
#include "maps/csr.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

// The weights of one learner: attributes of tokens (part 0) and of steps (part 1), in shared blocks.
class OnlineWeights {
  public:
    struct Block {
        double scale = 1;            // c
        double squared_norm = 0;     // ‖ξ‖²
        double pull_on_rows = 0;     // running sums of what was to be taken from norms of rows and from single weights,
        double pull_on_entries = 0;  // as numbers ξ
        double sum_before = 0;       // Σ of c over the rounds before `since`
        int64_t since = 0;
        bool touched = false;  // whether it has had a weight

        // Σ of c over the rounds up to t: the sum over rounds of c ξ is ξ · this − drift, which makes averages of
        // weights as cheap as in an averaged perceptron though whole blocks are being scaled.
        double sum_of_scales(int64_t t) const { return sum_before + scale * static_cast<double>(t - since); }
        void rescale(double factor, int64_t t) {
            sum_before = sum_of_scales(t);
            since = t;
            scale *= factor;
        }
    };

    OnlineWeights(std::shared_ptr<const FeatureRows> node, std::shared_ptr<const FeatureRows> pair,
                  const int32_t* node_block, const int32_t* pair_block, int64_t n_blocks)
        : parts_{TouchedRows(std::move(node), node_block), TouchedRows(std::move(pair), pair_block)},
          blocks_(n_blocks) {}

    int64_t n_entries() const { return parts_[0].n_entries() + parts_[1].n_entries(); }
    int64_t n_blocks() const { return static_cast<int64_t>(blocks_.size()); }
    const std::vector<Block>& blocks() const { return blocks_; }
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
            if (i + 24 < last) part.prefetch_head(attribute(i + 24));
            if (i + 10 < last) part.prefetch_entries(attribute(i + 10));
            const int64_t a = attribute(i);
            if (late_) settle(p, a);
            const TouchedRows::Head& head = part.head(a);
            if (!head.n) continue;
            const double scale = blocks_[head.block].scale;
            const Entry* row = part.entries(head);
            for (uint32_t k = 0; k < head.n; ++k) body(i, row[k].column, scale * row[k].value);
        }
    }

    // For attributes with one column, all of one block: ξ of each, and the scale that goes with it. Null if penalties
    // are being put off, so that attributes must be visited one by one.
    const double* single(int p) const { return late_ || !parts_[p].has_single() ? nullptr : parts_[p].single(); }
    double scale_of(int32_t block) const { return blocks_[block].scale; }
    // Whether a block has had no weight since it was dropped, or ever.
    bool untouched(int32_t block) const { return !blocks_[block].touched; }

    // Smaller differences would only fill the memory with weights near zero.
    double least(int, int64_t, double) const { return 1e-7; }

    // weight += step · times · difference, at ascending columns.
    void change(int p, int64_t a, double step, double times, const uint32_t* column, const double* value, size_t n) {
        for (size_t j = 0; j < n; ++j) add(p, a, column[j], step * times * value[j]);
    }

    // weight += change.
    void add(int p, int64_t a, uint32_t column, double change) {
        if (late_) settle(p, a);
        bool fresh;
        Entry* entry = parts_[p].touch(a, column, fresh);
        if (!entry) return;
        Block& block = blocks_[parts_[p].head(a).block];
        if (fresh) entry->pulled = block.pull_on_entries;
        block.touched = true;
        if (fresh && parts_[p].head(a).n == 1 && rows_late_) pulled_[p][a] = block.pull_on_rows;
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
                if (blocks_[b].scale < smallest_scale) renew(b);
            }
        }
        if (!any) return;
        for (TouchedRows& part : parts_)
            for (int64_t a = 0; a < part.n_attributes(); ++a)
                if (part.head(a).n && factors[part.head(a).block] == 0) part.drop(a);
        for (size_t b = 0; b < blocks_.size(); ++b)
            if (factors[b] == 0) {
                blocks_[b] = Block();
                blocks_[b].since = round_;
            }
    }

    // ‖w_b‖₂ of each block, summed anew so that no rounding has crept in.
    std::vector<double> norms() {
        settle_all();
        std::vector<double> squares(blocks_.size(), 0.0);
        visit_all(
            [&](int, int64_t, const Block&, int32_t b, Entry& entry) { squares[b] += entry.value * entry.value; });
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
        settle_all();
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
        settle_all();
        std::vector<double> out;
        visit_all([&](int, int64_t, const Block& block, int32_t b, Entry& entry) {
            if (chosen[b]) out.push_back(block.scale * std::abs(entry.value));
        });
        return out;
    }

    // From every row's norm, or every single weight, of the given blocks takes that much, when it next fires.
    void pull_rows(double by, const char* chosen) {
        if (!rows_late_) {
            for (int p = 0; p < 2; ++p) pulled_[p].assign(parts_[p].n_attributes(), 0.0);
            rows_late_ = late_ = true;
        }
        for (size_t b = 0; b < blocks_.size(); ++b)
            if (chosen[b]) blocks_[b].pull_on_rows += by / blocks_[b].scale;
    }
    void pull_entries(double by, const char* chosen) {
        entries_late_ = late_ = true;
        for (size_t b = 0; b < blocks_.size(); ++b)
            if (chosen[b]) blocks_[b].pull_on_entries += by / blocks_[b].scale;
    }

    // Applies all that was put off, and frees what has become zero.
    void settle_all() {
        if (!late_) return;
        for (int p = 0; p < 2; ++p)
            for (int64_t a = 0; a < parts_[p].n_attributes(); ++a) {
                if (!parts_[p].head(a).n) continue;
                settle(p, a);
                parts_[p].filter(a, [](const Entry& entry) { return entry.value != 0; });
            }
    }

    // Averages are over the rounds from here on.
    void forget_average() {
        settle_all();
        visit_all([&](int, int64_t, const Block& block, int32_t, Entry& entry) {
            entry.drift = entry.value * block.sum_of_scales(round_);
        });
        averaged_from_ = round_;
    }

    // The weights that exist, by feature number (those of steps after those of tokens), or their averages over rounds.
    void collect(bool averaged, std::vector<int64_t>& features, std::vector<double>& values) {
        settle_all();
        features.reserve(n_entries());
        values.reserve(n_entries());
        averaged = averaged && round_ > averaged_from_;
        visit_all([&](int p, int64_t a, const Block& block, int32_t, Entry& entry) {
            double value = block.scale * entry.value;
            if (averaged)
                value = (entry.value * block.sum_of_scales(round_) - entry.drift)
                        / static_cast<double>(round_ - averaged_from_);
            features.push_back((p ? parts_[0].features().size() : 0) + parts_[p].feature(a, entry.column));
            values.push_back(value);
        });
    }

    // Replaces the weights that exist, in the order of `collect`, by others; zeros leave the memory.
    void replace(const double* values) {
        int64_t next = 0;
        visit_all([&](int p, int64_t a, Block& block, int32_t, Entry& entry) {
            set(p, a, entry, block, values[next++] / block.scale);
        });
        for (TouchedRows& part : parts_)
            for (int64_t a = 0; a < part.n_attributes(); ++a)
                part.filter(a, [](const Entry& entry) { return entry.value != 0; });
    }

    // All that rounds to come depend on, if nothing is being put off: the same rounds after `restore` give the same
    // bits.
    struct State {
        std::vector<int64_t> features;       // of the weights that exist, ascending
        std::vector<double> values, drifts;  // of their entries
        std::vector<double> blocks;   // a block: scale, squared norm, pulls on rows and entries, sum of scales before
        std::vector<int64_t> counts;  // a block: since, touched; then rounds, averaged from, rows late, entries late
        static constexpr size_t per_block = 5, counts_per_block = 2, further_counts = 4;
    };

    State state() {
        settle_all();
        State out;
        visit_all([&](int p, int64_t a, const Block&, int32_t, Entry& entry) {
            out.features.push_back((p ? parts_[0].features().size() : 0) + parts_[p].feature(a, entry.column));
            out.values.push_back(entry.value);
            out.drifts.push_back(entry.drift);
        });
        for (const Block& b : blocks_) {
            out.blocks.insert(out.blocks.end(),
                              {b.scale, b.squared_norm, b.pull_on_rows, b.pull_on_entries, b.sum_before});
            out.counts.insert(out.counts.end(), {b.since, b.touched});
        }
        out.counts.insert(out.counts.end(), {round_, averaged_from_, rows_late_, entries_late_});
        return out;
    }

    // Blocks and rounds of a state, for weights that have none yet; entries follow one by one.
    void restore(const State& state) {
        const double* blocks = state.blocks.data();
        const int64_t* counts = state.counts.data();
        for (Block& b : blocks_) {
            b = {blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], counts[0], counts[1] != 0};
            blocks += State::per_block;
            counts += State::counts_per_block;
        }
        round_ = counts[0];
        averaged_from_ = counts[1];
        rows_late_ = counts[2] != 0;
        entries_late_ = counts[3] != 0;
        late_ = rows_late_ || entries_late_;
        if (rows_late_)
            for (int p = 0; p < 2; ++p) pulled_[p].assign(parts_[p].n_attributes(), 0.0);
    }
    void restore_entry(const State& state, size_t i, int p, int64_t a, uint32_t column) {
        bool fresh;
        Entry* entry = parts_[p].touch(a, column, fresh);
        if (!entry) throw std::invalid_argument("no such feature");
        const Block& block = blocks_[parts_[p].head(a).block];
        *entry = {state.values[i], state.drifts[i], block.pull_on_entries, column};
        if (rows_late_) pulled_[p][a] = block.pull_on_rows;
        parts_[p].copy_single(a, state.values[i]);
    }

  private:
    void set(int p, int64_t a, Entry& entry, Block& block, double value) {
        entry.drift += (value - entry.value) * block.sum_of_scales(round_);
        block.squared_norm += value * value - entry.value * entry.value;
        entry.value = value;
        parts_[p].copy_single(a, value);
    }

    double row_norm(TouchedRows& part, const TouchedRows::Head& head) {
        const Entry* row = part.entries(head);
        double sum = 0;
        for (uint32_t k = 0; k < head.n; ++k) sum += row[k].value * row[k].value;
        return std::sqrt(sum);
    }

    // Applies to an attribute's row what was put off: soft thresholds of one and the same group add up.
    void settle(int p, int64_t a) {
        const auto& head = parts_[p].head(a);
        if (!head.n) return;
        Block& block = blocks_[head.block];
        Entry* row = parts_[p].entries(head);
        if (entries_late_)
            for (uint32_t k = 0; k < head.n; ++k) {
                const double by = block.pull_on_entries - row[k].pulled;
                if (by <= 0) continue;
                row[k].pulled = block.pull_on_entries;
                const double left = std::max(std::abs(row[k].value) - by, 0.0);
                set(p, a, row[k], block, std::copysign(left, row[k].value));
            }
        if (rows_late_) {
            const double by = block.pull_on_rows - pulled_[p][a];
            pulled_[p][a] = block.pull_on_rows;
            if (by <= 0) return;
            const double norm = row_norm(parts_[p], head);
            const double factor = norm > by ? 1 - by / norm : 0.0;
            for (uint32_t k = 0; k < head.n; ++k) set(p, a, row[k], block, factor * row[k].value);
        }
    }

    // A scale that has become small moves into the numbers ξ; sums over rounds keep their value. (They are differences
    // of products of ξ and sums of scales: with a much smaller scale than it once was, digits would be lost.)
    static constexpr double smallest_scale = 1e-4;

    void renew(size_t b) {
        settle_all();
        Block& block = blocks_[b];
        const double c = block.scale, sum = block.sum_of_scales(round_);
        visit_all([&](int p, int64_t a, const Block&, int32_t which, Entry& entry) {
            if (which != static_cast<int32_t>(b)) return;
            entry.drift -= entry.value * sum;
            entry.value *= c;
            entry.pulled *= c;
            parts_[p].copy_single(a, entry.value);
        });
        if (rows_late_)
            for (int p = 0; p < 2; ++p)
                for (int64_t a = 0; a < parts_[p].n_attributes(); ++a)
                    if (parts_[p].head(a).block == b) pulled_[p][a] *= c;
        block.squared_norm *= c * c;
        block.pull_on_entries *= c;
        block.pull_on_rows *= c;
        block.scale = 1;
        block.sum_before = 0;
        block.since = round_;
    }

    template <class Body>
    void visit_all(Body&& body) {
        for (int p = 0; p < 2; ++p)
            for (int64_t a = 0; a < parts_[p].n_attributes(); ++a) {
                const auto& head = parts_[p].head(a);
                if (!head.n) continue;
                Entry* row = parts_[p].entries(head);
                const auto b = static_cast<int32_t>(head.block);
                for (uint32_t k = 0; k < head.n; ++k) body(p, a, blocks_[b], b, row[k]);
            }
    }

    TouchedRows parts_[2];
    std::vector<Block> blocks_;
    std::vector<double> pulled_[2];  // how much of its block's pull on rows each attribute's row has felt
    int64_t round_ = 0, averaged_from_ = 0;
    bool rows_late_ = false, entries_late_ = false, late_ = false;
};

}  // namespace parsimon
