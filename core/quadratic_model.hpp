// A quadratic model of the log loss around w, and coordinate descent on it with an L1 penalty:
//
//     min_d  g·d + c/2 Σ_rows n_r · u_rᵀ (diag p_r − p_r p_rᵀ) u_r + l2/2 ‖w+d‖² + l1 ‖w+d‖₁,   u = Φ d
//
// A row is a set of exclusive alternatives (the labels of a token) with marginals p_r and mass n_r; its block is
// the exact Hessian of the log loss in that row's scores. What is left out is how rows covary, for which the
// damping c ≥ 1 makes up. Rows that are all but certain have no curvature and are left out, which late in
// training is most of them: descent then costs far less than one gradient.
//
// Features are visited in order and one at a time: the same result for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "linear_map.hpp"

namespace parsimon {

class QuadraticModel {
  public:
    explicit QuadraticModel(int64_t width) : width_(width) { rows_.start.push_back(0); }

    // Takes the rows of a batch whose marginals leave something open: 1 − max p > certain.
    // marginals: [n_rows][width], each row summing to its mass.
    void add(const LinearMap& map, const double* marginals, double certain) {
        const Csr& rows = map.rows();
        valued_ = valued_ || !rows.value.empty();
        for (int64_t r = 0; r < rows.size(); ++r) {
            const double* mu = marginals + r * width_;
            double mass = 0, high = 0;
            for (int64_t c = 0; c < width_; ++c) {
                mass += mu[c];
                high = std::max(high, mu[c]);
            }
            if (!(mass > 0) || mass - high <= certain * mass) continue;
            mass_.push_back(static_cast<float>(mass));
            for (int64_t c = 0; c < width_; ++c) cells_.push_back({static_cast<float>(mu[c] / mass), 0.0f});
            for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
                rows_.index.push_back(rows.index[i]);
                if (!rows.value.empty()) rows_.value.push_back(rows.value[i]);
            }
            rows_.start.push_back(static_cast<int64_t>(rows_.index.size()));
        }
    }

    int64_t n_rows() const { return rows_.size(); }

    // Minimises over d, starting from d = 0, by at most `sweeps` passes; stops when the largest change of
    // the objective's slope met in a pass falls below `shrink` times that of the first. Returns the passes made.
    int descend(const FeatureRows& features, const double* w, const double* gradient, const double* l1, const double* l2,
                double damping, double ridge, int sweeps, double shrink, double* d) {
        if (columns_.start.empty()) columns_ = transpose(rows_, features.n_attributes);
        mean_.assign(rows_.size(), 0.0f);
        for (Cell& cell : cells_) cell.u = 0;
        if (curvature_.empty()) measure(features);
        std::fill(d, d + features.size(), 0.0);
        double first = 0;
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            double largest = 0;
            for (int64_t a = 0; a < features.n_attributes; ++a) {
                const int64_t begin = features.all ? a * width_ : features.start[a];
                const int64_t end = features.all ? begin + width_ : features.start[a + 1];
                for (int64_t k = begin; k < end; ++k) {
                    const int64_t c = features.all ? k - begin : features.column[k];
                    // A weight at zero that the first pass left there stays out of the later ones.
                    if (sweep && w[k] == 0 && d[k] == 0) continue;
                    const double h = damping * curvature_[k] + l2[k] + ridge;
                    const double now = w[k] + d[k];
                    const double slope = gradient[k] + (l2[k] + ridge) * d[k] + damping * response(a, c);
                    const double target = h * now - slope;
                    const double next = target > l1[k] ? (target - l1[k]) / h : target < -l1[k] ? (target + l1[k]) / h : 0.0;
                    const double step = std::clamp(next - now, -longest_step, longest_step);
                    if (step == 0) continue;
                    largest = std::max(largest, std::abs(step) * h);
                    d[k] += step;
                    if (now + step == 0) d[k] = -w[k];
                    move(a, c, step);
                }
            }
            if (sweep == 0) first = largest;
            if (largest <= shrink * first) return sweep + 1;
        }
        return sweeps;
    }

  private:
    static constexpr double longest_step = 5.0;  // in log-odds; where there is hardly any curvature

    struct Cell {
        float p, u;  // marginal, and Σ d over the features that fire
    };

    double value(int64_t i) const { return columns_.value.empty() ? 1.0 : columns_.value[i]; }

    // Σ_rows x n p_c (u_c − Σ p u): the slope in this feature that the moves so far have made.
    double response(int64_t a, int64_t c) const {
        double sum = 0;
        for (int64_t i = columns_.start[a]; i < columns_.start[a + 1]; ++i) {
            const int64_t r = columns_.index[i];
            const Cell& cell = cells_[r * width_ + c];
            sum += value(i) * mass_[r] * cell.p * (cell.u - mean_[r]);
        }
        return sum;
    }

    void move(int64_t a, int64_t c, double step) {
        for (int64_t i = columns_.start[a]; i < columns_.start[a + 1]; ++i) {
            const int64_t r = columns_.index[i];
            Cell& cell = cells_[r * width_ + c];
            const auto delta = static_cast<float>(step * value(i));
            cell.u += delta;
            mean_[r] += cell.p * delta;
        }
    }

    // The diagonal: Σ_rows x² n p (1 − p).
    void measure(const FeatureRows& features) {
        curvature_.assign(features.size(), 0.0);
        for (int64_t a = 0; a < features.n_attributes; ++a) {
            const int64_t begin = features.all ? a * width_ : features.start[a];
            const int64_t end = features.all ? begin + width_ : features.start[a + 1];
            for (int64_t i = columns_.start[a]; i < columns_.start[a + 1]; ++i) {
                const int64_t r = columns_.index[i];
                const double x = value(i);
                for (int64_t k = begin; k < end; ++k) {
                    const double p = cells_[r * width_ + (features.all ? k - begin : features.column[k])].p;
                    curvature_[k] += x * x * mass_[r] * p * (1 - p);
                }
            }
        }
    }

    int64_t width_;
    bool valued_ = false;
    Csr rows_, columns_;
    std::vector<float> mass_, mean_;
    std::vector<Cell> cells_;  // [row][width]
    std::vector<double> curvature_;
};

}  // namespace parsimon
