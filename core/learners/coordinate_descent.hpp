// Coordinate descent on a quadratic model of a loss of linear scores (newGLMNET: Yuan, Ho & Lin 2012; Friedman et al.
// 2010).
//
//     min_δ  g·δ + ½ Σ_{n,y} D[n][y] (Xδ)[n][y]²
//            + Σ_k l1_k |w_k + δ_k| + ½ q_k (w_k + δ_k − c_k)²  +  Σ_m λ_m ‖(w + δ)_m‖
//
// X is a sparse map whose rows are instances; D is the second derivative of the loss by each score; groups m have no
// feature in common. What is kept up to date is the margin Xδ, so a step on one feature costs as much as the attribute
// has entries. The features of a group go together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learners/active_groups.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

struct QuadraticModel {
    const LinearMap& map;
    const double* curvature;           // D [rows][width]
    const double* gradient;            // g [K]
    const double *l1, *pull, *centre;  // [K]
};

// Where a feature's attribute fires (its entries), its column, and how strongly it bends the model: Σ D x².
struct Coordinate {
    int64_t feature, begin, end;
    int32_t column;
    bool everywhere;
    double bend;
};

inline std::vector<Coordinate> coordinates(const QuadraticModel& model, const int64_t* active, int64_t n) {
    const FeatureRows& features = model.map.features();
    const AttributeRows& attributes = model.map.attributes();
    std::vector<Coordinate> out(n);
    int64_t a = 0;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t k = active[i];
        if (features.all) a = k / features.width;
        else
            while (features.start[a + 1] <= k) ++a;
        const auto column = static_cast<int32_t>(features.all ? k % features.width : features.column[k]);
        double bend = 1e-12;  // an attribute that never fires must not divide by zero
        const auto [begin, end] = attributes.entries_of(a);
        for (int64_t e = begin; e < end; ++e) {
            const double x = attributes.value.empty() ? 1.0 : attributes.value[e];
            bend += model.curvature[attributes.index[e] * features.width + column] * x * x;
        }
        const bool everywhere = end > begin && model.map.everywhere(attributes.place_from(a));
        out[i] = {k, begin, end, column, everywhere, bend + model.pull[k]};
    }
    return out;
}

// δ and the margin of a quadratic model while it is being minimised.
class CoordinateDescent {
  public:
    CoordinateDescent(const QuadraticModel& model, const int64_t* active, int64_t n, const ActiveGroups& groups,
                      const double* w, double* delta, double* margin)
        : model_(model), attributes_(model.map.attributes()), width_(model.map.features().width), w_(w), delta_(delta),
          margin_(margin), single_(coordinates(model, active, n)) {
        for (int64_t m = 0; m < groups.n; ++m) blocks_.push_back(block(groups, m));
    }

    // Sweeps until no step changes the model by more than `tol` times what the largest step of the first sweep did, or
    // `most` sweeps are done. Returns the number of sweeps.
    int run(double tol, int most) {
        double first = 0;
        for (int sweep = 1; sweep <= most; ++sweep) {
            double largest = 0;
            for (const Coordinate& c : single_) largest = std::max(largest, step(c));
            for (const Block& b : blocks_) largest = std::max(largest, step(b));
            if (sweep == 1) first = largest;
            if (largest <= tol * first && (sweep > 1 || largest == 0)) return sweep;
        }
        return most;
    }

  private:
    struct Block {
        std::vector<Coordinate> members;
        std::vector<double> bends;  // [s][s]: XᵀDX of the members, with the pull on the diagonal
        double strength, largest;   // and a bound on its largest eigenvalue
    };

    double value(int64_t e) const { return attributes_.value.empty() ? 1.0 : attributes_.value[e]; }

    // Σ value · curvature · margin over all rows: eight running sums, which are added up in a fixed order.
    double slope_everywhere(const double* value, int64_t n) const {
        constexpr int64_t lanes = 8;
        double sum[lanes] = {};
        int64_t i = 0;
        for (; i + lanes <= n; i += lanes)
            for (int64_t j = 0; j < lanes; ++j) sum[j] += value[i + j] * model_.curvature[i + j] * margin_[i + j];
        for (; i < n; ++i) sum[0] += value[i] * model_.curvature[i] * margin_[i];
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }

    double slope(const Coordinate& c) const {
        double sum = model_.gradient[c.feature]
                     + model_.pull[c.feature] * (w_[c.feature] + delta_[c.feature] - model_.centre[c.feature]);
        if (c.everywhere) return sum + slope_everywhere(attributes_.value.data() + c.begin, model_.map.rows().size());
        for (int64_t e = c.begin; e < c.end; ++e) {
            const int64_t at = attributes_.index[e] * width_ + c.column;
            sum += value(e) * model_.curvature[at] * margin_[at];
        }
        return sum;
    }

    void move(const Coordinate& c, double next) {
        const double by = next - (w_[c.feature] + delta_[c.feature]);
        if (by == 0) return;
        delta_[c.feature] = next - w_[c.feature];
        if (c.everywhere) {
            const double* value = attributes_.value.data() + c.begin;
            for (int64_t r = 0; r < model_.map.rows().size(); ++r) margin_[r] += value[r] * by;
            return;
        }
        for (int64_t e = c.begin; e < c.end; ++e) margin_[attributes_.index[e] * width_ + c.column] += value(e) * by;
    }

    static double soft(double x, double threshold) {
        return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0;
    }

    // The new weight minimises slope·s + bend/2 s² + l1 |w + δ + s|. Returns what the step changes, about: bend s².
    double step(const Coordinate& c) {
        const double now = w_[c.feature] + delta_[c.feature];
        const double next = soft(now - slope(c) / c.bend, model_.l1[c.feature] / c.bend);
        move(c, next);
        return c.bend * (next - now) * (next - now);
    }

    // The same for a group: proximal gradient steps on its own quadratic, which costs nothing of the data.
    double step(const Block& b) {
        constexpr int most = 20;
        const size_t s = b.members.size();
        std::vector<double> now(s), next(s), start_slope(s), trial(s);
        for (size_t i = 0; i < s; ++i) {
            now[i] = next[i] = w_[b.members[i].feature] + delta_[b.members[i].feature];
            start_slope[i] = slope(b.members[i]);
        }
        double first = 0;
        for (int round = 0; round < most; ++round) {
            double square = 0, moved = 0;
            for (size_t i = 0; i < s; ++i) {
                double at = start_slope[i];
                for (size_t j = 0; j < s; ++j) at += b.bends[i * s + j] * (next[j] - now[j]);
                trial[i] = soft(next[i] - at / b.largest, model_.l1[b.members[i].feature] / b.largest);
                square += trial[i] * trial[i];
            }
            const double size = std::sqrt(square),
                         kept = size > b.strength / b.largest ? 1 - b.strength / b.largest / size : 0.0;
            for (size_t i = 0; i < s; ++i) {
                const double to = kept * trial[i];
                moved = std::max(moved, std::abs(to - next[i]));
                next[i] = to;
            }
            if (round == 0) first = moved;
            if (moved <= 0.01 * first) break;
        }
        double change = 0;
        for (size_t i = 0; i < s; ++i) {
            change += b.members[i].bend * (next[i] - now[i]) * (next[i] - now[i]);
            move(b.members[i], next[i]);
        }
        return change;
    }

    Block block(const ActiveGroups& groups, int64_t m) {
        Block b;
        b.members = coordinates(model_, groups.member + groups.start[m], groups.start[m + 1] - groups.start[m]);
        b.strength = groups.strength[m];
        const size_t s = b.members.size();
        b.bends.assign(s * s, 0.0);
        scattered_.resize(model_.map.rows().size() * width_, 0.0);
        for (size_t i = 0; i < s; ++i) {
            const Coordinate& c = b.members[i];
            each(c, [&](int64_t e, int64_t at) { scattered_[at] = value(e) * model_.curvature[at]; });
            for (size_t j = 0; j < i; ++j) {
                double sum = 0;
                each(b.members[j], [&](int64_t e, int64_t at) { sum += value(e) * scattered_[at]; });
                b.bends[i * s + j] = b.bends[j * s + i] = sum;
            }
            each(c, [&](int64_t, int64_t at) { scattered_[at] = 0.0; });
            b.bends[i * s + i] = c.bend;
        }
        double trace = 0, rows = 0;  // either bounds the eigenvalues
        for (size_t i = 0; i < s; ++i) {
            double row = 0;
            for (size_t j = 0; j < s; ++j) row += std::abs(b.bends[i * s + j]);
            rows = std::max(rows, row);
            trace += b.bends[i * s + i];
        }
        b.largest = std::min(trace, rows);
        return b;
    }

    // body(entry, place in the margin) for the entries of a feature.
    template <class Body>
    void each(const Coordinate& c, Body&& body) const {
        for (int64_t e = c.begin; e < c.end; ++e) body(e, attributes_.index[e] * width_ + c.column);
    }

    const QuadraticModel& model_;
    const AttributeRows& attributes_;
    int64_t width_;
    const double* w_;
    double *delta_, *margin_;
    std::vector<Coordinate> single_;
    std::vector<Block> blocks_;
    std::vector<double> scattered_;  // [rows][width], zero between uses
};

}  // namespace parsimon
