// Coordinate descent on a quadratic model of a loss of linear scores (newGLMNET: Yuan, Ho & Lin 2012; Friedman et al.
// 2010).
//
//     min_δ  g·δ + ½ Σ_{n,y} D[n][y] (Xδ)[n][y]²
//            + Σ_k l1_k |w_k + δ_k| + ½ q_k (w_k + δ_k − c_k)²  +  Σ_m λ_m ‖(w + δ)_m‖
//
// X is a map whose rows are instances; D is the second derivative of the loss by each score; groups m have no feature
// in common. What is kept up to date is the margin Xδ, so a step on one feature costs as much as the attribute has
// entries. The features of a group go together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learners/active_groups.hpp"
#include "learners/quadratic_columns.hpp"

namespace parsimon {

// δ and the margin of a quadratic model while it is being minimised. `Columns` is one of
// learners/quadratic_columns.hpp.
template <class Columns>
class CoordinateDescent {
  public:
    CoordinateDescent(const QuadraticModel& model, const int64_t* active, int64_t n, const ActiveGroups& groups,
                      const double* w, double* delta, double* margin)
        : model_(model), columns_(model, margin), w_(w), delta_(delta), single_(columns_.columns(active, n)) {
        for (const Column& c : single_) bend_.push_back(bend(c));
        for (int64_t m = 0; m < groups.n; ++m) {
            const int64_t first = groups.start[m], size = groups.start[m + 1] - first;
            blocks_.push_back({columns_.columns(groups.member + first, size), {}, groups.strength[m], 0.0});
        }
    }

    // Sweeps until no step changes the model by more than `tol` times what the largest step of the first sweep did, or
    // `most` sweeps are done. Returns the number of sweeps.
    int run(double tol, int most) {
        double first = 0;
        for (int sweep = 1; sweep <= most; ++sweep) {
            double largest = 0;
            for (size_t i = 0; i < single_.size(); ++i) largest = std::max(largest, step(single_[i], bend_[i]));
            for (Block& b : blocks_) largest = std::max(largest, step(b));
            if (sweep == 1) first = largest;
            if (largest <= tol * first && (sweep > 1 || largest == 0)) return sweep;
        }
        return most;
    }

  private:
    using Column = typename Columns::Column;

    struct Block {
        std::vector<Column> members;
        std::vector<double> bends;  // [s][s]: XᵀDX of the members, with the pull on the diagonal; made when first used
        double strength, largest;   // and a bound on its largest eigenvalue
    };

    static double soft(double x, double threshold) {
        return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0;
    }

    // An attribute that never fires must not divide by zero.
    double bend(const Column& c) { return 1e-12 + columns_.bend(c) + model_.pull[c.feature]; }

    double at(const Column& c) const { return w_[c.feature] + delta_[c.feature]; }

    // Of all that is smooth.
    void slopes(const Column* columns, int64_t n, double* out) {
        columns_.slopes(columns, n, out);
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = columns[i].feature;
            out[i] += model_.gradient[k] + model_.pull[k] * (at(columns[i]) - model_.centre[k]);
        }
    }

    void move(const Column* columns, int64_t n, const double* next) {
        by_.resize(n);
        for (int64_t i = 0; i < n; ++i) {
            by_[i] = next[i] - at(columns[i]);
            if (by_[i] != 0) delta_[columns[i].feature] = next[i] - w_[columns[i].feature];
        }
        columns_.move(columns, n, by_.data());
    }

    // The new weight minimises slope·s + bend/2 s² + l1 |w + δ + s|. Returns what the step changes, about: bend s².
    double step(const Column& c, double bend) {
        double slope;
        slopes(&c, 1, &slope);
        const double now = at(c), next = soft(now - slope / bend, model_.l1[c.feature] / bend);
        move(&c, 1, &next);
        return bend * (next - now) * (next - now);
    }

    // The same for a group: proximal gradient steps on its own quadratic, which costs nothing of the data.
    double step(Block& b) {
        constexpr int most = 20;
        const size_t s = b.members.size();
        for (auto* each : {&now_, &next_, &slope_, &trial_}) each->resize(s);
        for (size_t i = 0; i < s; ++i) now_[i] = next_[i] = at(b.members[i]);
        slopes(b.members.data(), static_cast<int64_t>(s), slope_.data());
        if (stays_zero(b)) return 0;
        if (b.bends.empty()) bend_together(b);
        double first = 0;
        for (int round = 0; round < most; ++round) {
            const double moved = proximal_step(b);
            if (round == 0) first = moved;
            if (moved <= 0.01 * first) break;
        }
        double change = 0;
        for (size_t i = 0; i < s; ++i) change += b.bends[i * s + i] * (next_[i] - now_[i]) * (next_[i] - now_[i]);
        move(b.members.data(), static_cast<int64_t>(s), next_.data());
        return change;
    }

    // Whether a group that is zero has no slope to leave zero for.
    bool stays_zero(const Block& b) const {
        double square = 0;
        for (size_t i = 0; i < b.members.size(); ++i) {
            if (now_[i] != 0) return false;
            const double steep = soft(slope_[i], model_.l1[b.members[i].feature]);
            square += steep * steep;
        }
        return square <= b.strength * b.strength;
    }

    // next ← prox(next − slope there / L), L the bound on the largest eigenvalue. Returns how far it went.
    double proximal_step(const Block& b) {
        const size_t s = b.members.size();
        double square = 0, moved = 0;
        for (size_t i = 0; i < s; ++i) {
            double slope = slope_[i];
            for (size_t j = 0; j < s; ++j) slope += b.bends[i * s + j] * (next_[j] - now_[j]);
            trial_[i] = soft(next_[i] - slope / b.largest, model_.l1[b.members[i].feature] / b.largest);
            square += trial_[i] * trial_[i];
        }
        const double size = std::sqrt(square), least = b.strength / b.largest,
                     kept = size > least ? 1 - least / size : 0.0;
        for (size_t i = 0; i < s; ++i) {
            const double to = kept * trial_[i];
            moved = std::max(moved, std::abs(to - next_[i]));
            next_[i] = to;
        }
        return moved;
    }

    void bend_together(Block& b) {
        const size_t s = b.members.size();
        b.bends.assign(s * s, 0.0);
        columns_.bends(b.members.data(), static_cast<int64_t>(s), b.bends.data());
        double trace = 0, rows = 0;  // either bounds the eigenvalues
        for (size_t i = 0; i < s; ++i) {
            b.bends[i * s + i] = bend(b.members[i]);
            for (size_t j = 0; j < i; ++j) b.bends[j * s + i] = b.bends[i * s + j];
        }
        for (size_t i = 0; i < s; ++i) {
            double row = 0;
            for (size_t j = 0; j < s; ++j) row += std::abs(b.bends[i * s + j]);
            rows = std::max(rows, row);
            trace += b.bends[i * s + i];
        }
        b.largest = std::min(trace, rows);
    }

    const QuadraticModel& model_;
    Columns columns_;
    const double* w_;
    double* delta_;
    std::vector<Column> single_;
    std::vector<double> bend_;  // Σ D x² of each, with the pull
    std::vector<Block> blocks_;
    std::vector<double> now_, next_, slope_, trial_, by_;  // of one group
};

// With the columns that the map has; the number of sweeps.
inline int descend_coordinates(const QuadraticModel& model, const int64_t* active, int64_t n,
                               const ActiveGroups& groups, const double* w, double* delta, double* margin, double tol,
                               int most) {
    if (model.map.dense())
        return CoordinateDescent<FullColumns>(model, active, n, groups, w, delta, margin).run(tol, most);
    return CoordinateDescent<SparseColumns>(model, active, n, groups, w, delta, margin).run(tol, most);
}

}  // namespace parsimon
