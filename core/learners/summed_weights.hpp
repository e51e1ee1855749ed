// Weights under a cumulative L1 penalty (Tsuruoka, Tsujii & Ananiadou 2009), of which only those exist that some update
// has touched.
//
// After t rounds with steps η every weight should have been pulled towards zero by u = Σ η ρ1/N, but no further than to
// zero. The paper (Figure 2) keeps, beside each weight w, the signed penalty q that it has had, and each time does
//
//     w > 0:  w ← max(0, w − (u + q))        w < 0:  w ← min(0, w + (u − q))        q ← q + what w has changed by
//
// Now w − q only changes by steps: it is their sum s. And whatever happens, −u ≤ q ≤ u. So if w > 0 before, the new w
// is max(0, s − u), where s > −u; if w < 0, it is min(0, s + u), where s < u; if w = 0, then |s| = |q| ≤ u. In every
// case
//
//     w = sign(s) max(|s| − u, 0)
//
// One number a weight is enough, and nothing need be done to weights whose features do not fire: their sum stays, and u
// is the same for all. (This makes it a method of dual averaging; compare McMahan 2011.)
//
// The L2 part shrinks all weights by 1 / (1 + η ρ2/N) a round: w is c times what is said above, with sums and u as
// multiples of 1/c at their time.
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

#include "maps/linear_map.hpp"

namespace parsimon {

// Attribute → the sums of the columns that were touched, ascending. A row that is full has all columns, each at its own
// place, and marks those that may be other than zero.
class SummedRows {
  public:
    SummedRows(std::shared_ptr<const FeatureRows> features, const bool* exempt)
        : features_(std::move(features)), heads_(features_->n_attributes), free_(22) {
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

    bool exists(int64_t a, uint32_t column) const {
        const FeatureRows& f = *features_;
        if (f.all) return true;
        return std::binary_search(f.column.begin() + f.start[a], f.column.begin() + f.start[a + 1],
                                  static_cast<int32_t>(column));
    }

    // All sums of penalised attributes times a factor.
    void scale(double factor) {
        for (Head& head : heads_)
            for (uint32_t k = 0; k < head.n && !head.exempt; ++k) sums(head)[k] *= factor;
    }

    // The number of a feature that exists.
    int64_t feature(int64_t a, uint32_t column) const {
        const FeatureRows& f = *features_;
        if (f.all) return a * f.width + column;
        const auto first = f.column.begin() + f.start[a], last = f.column.begin() + f.start[a + 1];
        return std::lower_bound(first, last, static_cast<int32_t>(column)) - f.column.begin();
    }

  private:
    struct Head {
        uint32_t at;
        uint32_t n : 21;
        uint32_t full : 1;
        uint32_t exempt : 1;
        uint32_t firings;  // how often the attribute occurs in the data
    };
    static constexpr uint32_t chunk_bits = 20, chunk_size = 1u << chunk_bits, most_columns = chunk_size;
    struct Chunk {
        std::unique_ptr<double[]> sums;
        std::unique_ptr<uint32_t[]> columns;
    };

    double* sums(const Head& head) const {
        return chunks_[head.at >> chunk_bits].sums.get() + (head.at & (chunk_size - 1));
    }
    uint32_t* columns(const Head& head) const {
        return chunks_[head.at >> chunk_bits].columns.get() + (head.at & (chunk_size - 1));
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
        head.at = take(width);
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
        give(before.at, room_for(before.n));
    }

    // Puts what is fresh into a row, from behind.
    void insert(Head& head) {
        const uint32_t n = head.n, more = static_cast<uint32_t>(fresh_.size());
        const Head before = head;
        if (room_for(n + more) != room_for(n)) head.at = take(room_for(n + more));
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
        if (n && head.at != before.at) give(before.at, room_for(n));
    }

    // Rows have room for 0, 2, 4, 8, … columns.
    static uint32_t room_for(uint32_t n) { return n ? std::bit_ceil(std::max(n, 2u)) : 0; }

    uint32_t take(uint32_t room) {
        if (std::has_single_bit(room)) {
            std::vector<uint32_t>& list = free_[std::bit_width(room) - 1];
            if (!list.empty()) {
                const uint32_t at = list.back();
                list.pop_back();
                return at;
            }
        }
        if (chunks_.empty() || next_ + room > chunk_size) {
            if (chunks_.size() >> (32 - chunk_bits)) throw std::length_error("too many weights for online learning");
            chunks_.push_back({std::unique_ptr<double[]>(new double[chunk_size]),
                               std::unique_ptr<uint32_t[]>(new uint32_t[chunk_size])});
            next_ = 0;
        }
        const auto at = static_cast<uint32_t>((chunks_.size() - 1) << chunk_bits) + next_;
        next_ += room;
        return at;
    }
    void give(uint32_t at, uint32_t room) { free_[std::bit_width(room) - 1].push_back(at); }

    std::shared_ptr<const FeatureRows> features_;
    std::vector<Head> heads_;
    std::vector<Chunk> chunks_;
    std::vector<std::vector<uint32_t>> free_;  // places by room (a power of two)
    uint32_t next_ = 0;                        // first unused place of the last chunk
    int64_t n_sums_ = 0;
    std::vector<std::pair<uint32_t, double>> fresh_;
};

// The weights of one learner: attributes of tokens (part 0) and of steps (part 1).
class SummedWeights {
  public:
    SummedWeights(std::shared_ptr<const FeatureRows> node, std::shared_ptr<const FeatureRows> pair,
                  const bool* node_exempt, const bool* pair_exempt)
        : parts_{SummedRows(std::move(node), node_exempt), SummedRows(std::move(pair), pair_exempt)} {}

    SummedRows& part(int p) { return parts_[p]; }
    int64_t n_entries() const { return parts_[0].n_sums() + parts_[1].n_sums(); }
    int64_t round() const { return round_; }

    // What the penalty is, shared out over the rounds of an epoch. Changes by less than this share of the L1 strength,
    // even if they came as often as the attribute fires, are left out.
    void set_penalty(double l1, double l2, double share) {
        const auto n = static_cast<double>(std::max<int64_t>(rounds_of_epoch_, 1));
        l1_ = l1 / n;
        l2_ = l2 / n;
        negligible_ = share * l1;
    }

    // What is known of an epoch: an attribute fires once more; so many more rounds.
    void fires(int p, int64_t a) { parts_[p].fires(a); }
    void add_rounds(int64_t n) { rounds_of_epoch_ += n; }

    template <class Body>
    void visit(int p, const Csr& rows, int64_t r, int64_t last, Body&& body) {
        SummedRows& part = parts_[p];
        const int32_t* index = rows.index.data();
        const bool valued = !rows.value.empty();
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
            if (i + 24 < last) part.prefetch_head(index[i + 24]);
            if (i + 10 < last) part.prefetch_sums(index[i + 10]);
            const bool exempt = part.exempt(index[i]);
            const double times = (exempt ? 1.0 : scale_) * (valued ? rows.value[i] : 1.0);
            part.visit(index[i], exempt ? 0.0 : pulled_,
                       [&](uint32_t column, double value) { body(column, times * value); });
        }
    }

    // The smallest difference that, times a number, is worth a change of this attribute's weights.
    double least(int p, int64_t a, double times) const {
        const SummedRows& part = parts_[p];
        if (l1_ == 0 || part.exempt(a)) return least_without_penalty;
        return negligible_ / (std::abs(times) * static_cast<double>(part.firings(a)));
    }

    // weight += step · times · difference.
    void change(int p, int64_t a, double step, double times, const uint32_t* column, const double* value, size_t n) {
        SummedRows& part = parts_[p];
        const bool exempt = part.exempt(a);
        part.add(a, step * times / (exempt ? 1.0 : scale_), column, value, n, least(p, a, times),
                 exempt ? 0.0 : pulled_);
    }
    void add(int p, int64_t a, uint32_t column, double by) {
        const bool exempt = parts_[p].exempt(a);
        parts_[p].add(a, 1 / (exempt ? 1.0 : scale_), &column, &by, 1, 0.0, exempt ? 0.0 : pulled_);
    }

    void next_round(double step) {
        ++round_;
        pulled_ += step * l1_ / scale_;
        scale_ /= 1 + step * l2_;
        if (scale_ < smallest_scale) renew();
    }

    // The weights that are not zero, by feature number (those of steps after those of tokens).
    void collect(std::vector<int64_t>& features, std::vector<double>& values) {
        for (int p = 0; p < 2; ++p) {
            const int64_t shift = p ? parts_[0].features().size() : 0;
            for (int64_t a = 0; a < parts_[p].n_attributes(); ++a) {
                const bool exempt = parts_[p].exempt(a);
                parts_[p].visit(a, exempt ? 0.0 : pulled_, [&](uint32_t column, double value) {
                    features.push_back(shift + parts_[p].feature(a, column));
                    values.push_back(exempt ? value : scale_ * value);
                });
            }
        }
    }

    // All that rounds to come depend on: the same rounds after `restore` give the same bits.
    struct State {
        std::vector<int64_t> features;  // of the sums that exist, ascending
        std::vector<double> sums;
        std::vector<double> penalty;  // u, c
        std::vector<int64_t> rounds;  // how many there were
    };

    State state() const {
        State out{{}, {}, {pulled_, scale_}, {round_}};
        for (int p = 0; p < 2; ++p) {
            const int64_t shift = p ? parts_[0].features().size() : 0;
            for (int64_t a = 0; a < parts_[p].n_attributes(); ++a)
                parts_[p].visit_sums(a, [&](uint32_t column, double sum) {
                    out.features.push_back(shift + parts_[p].feature(a, column));
                    out.sums.push_back(sum);
                });
        }
        return out;
    }

    // What a state has of the penalty and of rounds, for weights that have had none yet; sums follow one by one.
    void restore(const State& state) {
        pulled_ = state.penalty[0];
        scale_ = state.penalty[1];
        round_ = state.rounds[0];
    }
    void restore_entry(const State& state, size_t i, int p, int64_t a, uint32_t column) {
        constexpr double even_zero = -1;
        parts_[p].add(a, 1.0, &column, &state.sums[i], 1, even_zero, parts_[p].exempt(a) ? 0.0 : pulled_);
    }

  private:
    static constexpr double smallest_scale = 1e-4, least_without_penalty = 1e-7;

    void renew() {
        for (SummedRows& part : parts_) part.scale(scale_);
        pulled_ *= scale_;
        scale_ = 1;
    }

    SummedRows parts_[2];
    double l1_ = 0, l2_ = 0, negligible_ = 0;  // of a round
    double pulled_ = 0, scale_ = 1;            // u, c
    int64_t round_ = 0, rounds_of_epoch_ = 0;
};

}  // namespace parsimon
