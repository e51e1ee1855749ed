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
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "learners/row_pool.hpp"
#include "learners/summed_rows.hpp"
#include "maps/csr.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

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
            if (i + heads_ahead < last) part.prefetch_head(index[i + heads_ahead]);
            if (i + entries_ahead < last) part.prefetch_sums(index[i + entries_ahead]);
            const bool exempt = part.exempt(index[i]);
            const double times = (exempt ? 1.0 : scale_) * (valued ? rows.value[i] : 1.0);
            part.visit(index[i], exempt ? 0.0 : pulled_,
                       [&](uint32_t column, double value) { body(column, times * value); });
        }
    }

    // The smallest difference that, times a number, is worth a change of this attribute's weights.
    double smallest_change(int p, int64_t a, double times) const {
        const SummedRows& part = parts_[p];
        if (l1_ == 0 || part.exempt(a)) return negligible_difference;
        return negligible_ / (std::abs(times) * static_cast<double>(part.firings(a)));
    }

    // weight += step · times · difference.
    void change(int p, int64_t a, double step, double times, const uint32_t* column, const double* value, size_t n) {
        SummedRows& part = parts_[p];
        const bool exempt = part.exempt(a);
        part.add(a, step * times / (exempt ? 1.0 : scale_), column, value, n, smallest_change(p, a, times),
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
        if (scale_ < smallest_scale) absorb_scale();
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

    // Penalty and rounds of a state, for weights that have none yet. Sums follow one by one (restore_entry).
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
    // A scale that has become smaller moves into the sums: they and u are multiples of 1/c, and would grow without end.
    static constexpr double smallest_scale = 1e-4;

    void absorb_scale() {
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
