// The copies of weights that groups have in ADMM (Yogatama & Smith 2014): one number a member, one a group.
//
// Groups share weights: v = Mw has a copy of a weight for every group, and for every token, that it is in. With scaled
// multipliers a = u/ρ and r_g = λ_g/ρ, the updates of v and u for one group are
//
//     z = αw_g + (1 − α)v_g − a_g        (α: over-relaxation)
//     v_g ← z − P(z),   a_g ← −P(z)      P: the projection on the ball of radius r_g
//
// So v need not be stored: P(z) = z r/‖z‖ wherever v_g is not zero, and then v_g = −κ_g a_g with κ_g = ‖z‖/r_g − 1; it
// is zero, and so is κ_g, for all other groups.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/threads.hpp"

namespace parsimon {

class GroupCopies {
  public:
    // Sums over members, for residuals.
    struct Norms {
        double apart = 0;    // ‖v − Mw‖²
        double copies = 0;   // ‖v‖²
        double weights = 0;  // ‖Mw‖²
        double value = 0;    // Σ_g λ_g ‖w_g‖
    };

    GroupCopies(std::vector<int64_t> start, std::vector<int32_t> member, std::vector<double> strength,
                int64_t n_features)
        : start_(std::move(start)), member_(std::move(member)), strength_(std::move(strength)), n_features_(n_features),
          multiplier_(member_.size(), 0.0), ratio_(strength_.size(), 0.0) {
        // A fixed number of pieces, whatever the number of threads; few if adding up their sums would cost more than it
        // brings.
        const int64_t pieces = std::clamp<int64_t>(n_members() / (8 * std::max<int64_t>(n_features, 1)), 1, 16);
        cuts_ = balanced_cuts(start_.data(), n_groups(), pieces);
        sums_.resize((cuts_.size() - 1) * 2 * n_features_);
    }

    int64_t n_groups() const { return static_cast<int64_t>(strength_.size()); }
    int64_t n_members() const { return static_cast<int64_t>(member_.size()); }
    int64_t n_features() const { return n_features_; }

    // One update of v and u, given w. Adds up the copies and the multipliers of every weight: Mᵀv and Mᵀa.
    Norms step(const double* w, double rho, double relaxation, double* copies, double* multipliers, int threads) {
        const auto n_pieces = static_cast<int64_t>(cuts_.size()) - 1;
        std::vector<Norms> norms(n_pieces);
        parallel_for(n_pieces, threads, [&](int64_t p, int) {
            double *v = sums_.data() + 2 * p * n_features_, *a = v + n_features_;
            std::fill(v, v + 2 * n_features_, 0.0);
            for (int64_t g = cuts_[p]; g < cuts_[p + 1]; ++g) update(g, w, rho, relaxation, v, a, norms[p]);
        });
        return add_up(norms, copies, multipliers);
    }

    // u = ρa stays what it is when ρ changes, and so does v.
    void rescale(double factor) {
        for (double& a : multiplier_) a *= factor;
        for (double& ratio : ratio_) ratio /= factor;
    }

    // max_g ‖ρ a_g + e_g‖ / λ_g: by how much u + Me is outside the dual's balls.
    double gauge(double rho, const double* shift, int threads) const {
        const auto n_pieces = static_cast<int64_t>(cuts_.size()) - 1;
        std::vector<double> largest(n_pieces, 0.0);
        parallel_for(n_pieces, threads, [&](int64_t p, int) {
            for (int64_t g = cuts_[p]; g < cuts_[p + 1]; ++g) {
                double square = 0;
                for (int64_t i = start_[g]; i < start_[g + 1]; ++i) {
                    const double u = rho * multiplier_[i] + shift[member_[i]];
                    square += u * u;
                }
                largest[p] = std::max(largest[p], std::sqrt(square) / strength_[g]);
            }
        });
        return *std::max_element(largest.begin(), largest.end());
    }

    // ‖v_g‖ = κ_g r_g.
    std::vector<double> norms(double rho) const {
        std::vector<double> out(ratio_.size());
        for (size_t g = 0; g < out.size(); ++g) out[g] = ratio_[g] * strength_[g] / rho;
        return out;
    }

  private:
    void update(int64_t g, const double* w, double rho, double relaxation, double* v_sum, double* a_sum, Norms& norms) {
        const int64_t first = start_[g], last = start_[g + 1];
        const double radius = strength_[g] / rho, kept = (1 - relaxation) * -ratio_[g] - 1;  // (1 − α)v − a = kept · a
        double square = 0, weights = 0;
        for (int64_t i = first; i < last; ++i) {
            const double mine = w[member_[i]], z = relaxation * mine + kept * multiplier_[i];
            multiplier_[i] = z;  // for the moment
            square += z * z;
            weights += mine * mine;
        }
        if (square == 0 && weights == 0) {
            ratio_[g] = 0;
            return;
        }
        const double size = std::sqrt(square), share = size > radius ? radius / size : 1.0, rest = 1 - share;
        ratio_[g] = size > radius ? size / radius - 1 : 0.0;
        double apart = 0;
        for (int64_t i = first; i < last; ++i) {
            const int32_t k = member_[i];
            const double z = multiplier_[i], a = -share * z, v = rest * z;
            multiplier_[i] = a;
            a_sum[k] += a;
            v_sum[k] += v;
            apart += (v - w[k]) * (v - w[k]);
        }
        norms.apart += apart;
        norms.weights += weights;
        norms.value += strength_[g] * std::sqrt(weights);
        norms.copies += rest * rest * square;
    }

    Norms add_up(const std::vector<Norms>& norms, double* copies, double* multipliers) const {
        Norms total;
        std::fill(copies, copies + n_features_, 0.0);
        std::fill(multipliers, multipliers + n_features_, 0.0);
        for (size_t p = 0; p < norms.size(); ++p) {
            const double *v = sums_.data() + 2 * p * n_features_, *a = v + n_features_;
            for (int64_t k = 0; k < n_features_; ++k) {
                copies[k] += v[k];
                multipliers[k] += a[k];
            }
            total.apart += norms[p].apart;
            total.copies += norms[p].copies;
            total.weights += norms[p].weights;
            total.value += norms[p].value;
        }
        return total;
    }

    std::vector<int64_t> start_;    // [G + 1]
    std::vector<int32_t> member_;   // [N]
    std::vector<double> strength_;  // [G], above zero
    int64_t n_features_;
    std::vector<double> multiplier_;  // [N]: a
    std::vector<double> ratio_;       // [G]: κ
    std::vector<int64_t> cuts_;
    std::vector<double> sums_;  // [pieces][2][n_features]
};

}  // namespace parsimon
