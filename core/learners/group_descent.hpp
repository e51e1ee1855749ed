// Block coordinate descent on the quadratic model of a quasi-Newton method, with the norms of groups and an L1 norm:
//
//     min_x  g·(x − w) + ½ (x − w)ᵀ B (x − w) + Σ_k l1_k |x_k| + Σ_m λ_m ‖x_m‖,     B = diag D − W M⁻¹ Wᵀ.
//
// Sweeps over groups find out which are zero; a Newton step on the face that they leave finds its minimum.
//
// A group may have hundreds of thousands of members. Nothing of it is as large as members × rank: rows of W are read as
// the solver remembers them, and all that a group has to do with the others is moment = Wᵀ(x − w). Sums are taken over
// pieces of a fixed size and added up in order, so they do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/low_rank_quadratic.hpp"
#include "learners/active_groups.hpp"

namespace parsimon {

// A x = b by elimination with pivots, both overwritten. False if A is singular.
inline bool solve_in_place(std::vector<double>& a, std::vector<double>& b) {
    const auto n = static_cast<int64_t>(b.size());
    for (int64_t c = 0; c < n; ++c) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; ++r)
            if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
        if (!(std::abs(a[pivot * n + c]) > 0)) return false;
        if (pivot != c) {
            std::swap_ranges(&a[c * n], &a[c * n] + n, &a[pivot * n]);
            std::swap(b[c], b[pivot]);
        }
        for (int64_t r = c + 1; r < n; ++r) {
            const double factor = a[r * n + c] / a[c * n + c];
            if (factor == 0) continue;
            for (int64_t j = c; j < n; ++j) a[r * n + j] -= factor * a[c * n + j];
            b[r] -= factor * b[c];
        }
    }
    for (int64_t r = n; r-- > 0;) {
        for (int64_t j = r + 1; j < n; ++j) b[r] -= a[r * n + j] * b[j];
        b[r] /= a[r * n + r];
    }
    return true;
}

class GroupDescent {
  public:
    GroupDescent(const PairedQuadratic& q, const ActiveGroups& groups, const double* w, const double* l1, int threads)
        : q_(q), groups_(groups), w_(w), l1_(l1), threads_(threads), x_(size()), slope_(size()), step_(size()),
          scale_(size()), moment_(q.rank, 0.0), norm_(groups.n) {
        for (int64_t i = 0; i < size(); ++i) x_[i] = w_[groups_.member[i]];
    }

    // Until the slope that is left (in the norm of D⁻¹) is `tol` times what it was, or so many rounds are done.
    // Returns the number of rounds.
    int run(double tol, int rounds) {
        const double first = left();
        if (first == 0) return 0;
        for (int round = 1; round <= rounds; ++round) {
            for (int64_t m = 0; m < groups_.n; ++m) step(m);
            if (left() <= tol * first || !newton_step()) return round;
        }
        return rounds;
    }

    // d [n] at the members: x − w.
    void put(double* d) const {
        for (int64_t i = 0; i < size(); ++i) d[groups_.member[i]] = x_[i] - w_[groups_.member[i]];
    }

  private:
    static constexpr int64_t piece = 8192;
    static constexpr double shortest = 1e-3;  // share of a Newton step that is tried

    int64_t size() const { return groups_.n ? groups_.start[groups_.n] : 0; }
    int64_t first(int64_t m) const { return groups_.start[m]; }
    int64_t last(int64_t m) const { return groups_.start[m + 1]; }
    double diagonal(int64_t i) const { return q_.diagonal[groups_.member[i]]; }
    double l1(int64_t i) const { return l1_[groups_.member[i]]; }

    static double soft(double x, double threshold) {
        return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0;
    }

    // body(a, b, sums) adds what the entries from a to before b have to `width` sums.
    template <class Body>
    std::vector<double> sums(int64_t from, int64_t to, int64_t width, Body&& body) {
        const int64_t pieces = std::max<int64_t>((to - from + piece - 1) / piece, 1);
        std::vector<double> parts(pieces * width, 0.0);
        parallel_for(pieces, threads_, [&](int64_t p, int) {
            body(from + p * piece, std::min(to, from + (p + 1) * piece), parts.data() + p * width);
        });
        for (int64_t p = 1; p < pieces; ++p)
            for (int64_t j = 0; j < width; ++j) parts[j] += parts[p * width + j];
        parts.resize(width);
        return parts;
    }

    std::vector<double> times_inverse(const std::vector<double>& v) const {
        std::vector<double> out(v.size());
        for (size_t i = 0; i < v.size(); ++i)
            out[i] = std::inner_product(v.begin(), v.end(), q_.inverse + i * v.size(), 0.0);
        return out;
    }

    // vᵀ M⁻¹ v
    double low_rank(const std::vector<double>& v) const {
        const std::vector<double> inverse = times_inverse(v);
        return std::inner_product(v.begin(), v.end(), inverse.begin(), 0.0);
    }

    void slopes(int64_t a, int64_t b, const std::vector<double>& p, double* out) const {
        kernels().paired_slopes(q_, groups_.member + a, b - a, p.data(), w_, x_.data() + a, out + a);
    }

    std::vector<double> moments(int64_t from, int64_t to, const std::vector<double>& step) {
        return sums(from, to, q_.rank, [&](int64_t a, int64_t b, double* out) {
            kernels().paired_moments(q_, groups_.member + a, b - a, step.data() + a, out);
        });
    }

    // The minimum over one group in the metric's diagonal, min_x ½ Σ D_k x_k² − c·x + l1·|x| + λ‖x‖ with c = D x_now −
    // slope; then as much of the way there as the model falls for sure: τ promised + ½ τ² stepᵀB step.
    void step(int64_t m) {
        const int64_t from = first(m), to = last(m);
        const double strength = groups_.strength[m];
        const std::vector<double> p = times_inverse(moment_);
        const double size = std::sqrt(sums(from, to, 1, [&](int64_t a, int64_t b, double* sum) {
            slopes(a, b, p, slope_.data());
            for (int64_t i = a; i < b; ++i) {
                step_[i] = soft(diagonal(i) * x_[i] - slope_[i], l1(i));
                *sum += step_[i] * step_[i];
            }
        })[0]);
        const double norm = strength > 0 ? size > strength ? norm_of_minimum(from, to, strength) : 0.0 : 1.0;
        enum { along, bend, absolute, before, after, n_sums };
        const auto sum = sums(from, to, n_sums, [&](int64_t a, int64_t b, double* out) {
            for (int64_t i = a; i < b; ++i) {
                const double now = x_[i];
                const double next = norm > 0 ? step_[i] * norm / (diagonal(i) * norm + strength) : 0.0;
                step_[i] = next - now;
                out[along] += slope_[i] * step_[i];
                out[bend] += diagonal(i) * step_[i] * step_[i];
                out[absolute] += l1(i) * (std::abs(next) - std::abs(now));
                out[before] += now * now;
                out[after] += next * next;
            }
        });
        const double promised =
            sum[along] + sum[absolute] + strength * (std::sqrt(sum[after]) - std::sqrt(sum[before]));
        if (!(promised < 0)) return;
        std::vector<double> by = moments(from, to, step_);
        const double curved = sum[bend] - low_rank(by), share = curved > -promised ? -promised / curved : 1.0;
        for (int64_t i = from; i < to; ++i) x_[i] += share * step_[i];
        for (int64_t j = 0; j < q_.rank; ++j) moment_[j] += share * by[j];
    }

    // t = ‖x‖ at that minimum: x_k = a_k/(D_k + λ/t), so 1/‖(a_k/(D_k t + λ))_k‖ = 1. The left side is concave in t (a
    // power mean of linear functions), so Newton's method comes to the root from below without ever passing it.
    double norm_of_minimum(int64_t from, int64_t to, double strength) {
        double t = 0;
        for (int iteration = 0; iteration < 50; ++iteration) {
            const auto sum = sums(from, to, 2, [&](int64_t a, int64_t b, double* out) {
                for (int64_t i = a; i < b; ++i) {
                    const double below = diagonal(i) * t + strength, ratio = step_[i] / below;
                    out[0] += ratio * ratio;
                    out[1] += ratio * ratio * diagonal(i) / below;
                }
            });
            const double size = std::sqrt(sum[0]);
            const double by = (size - 1) * sum[0] / sum[1];
            if (!(by > 1e-12 * t)) break;
            t += by;
        }
        return t;
    }

    // What the slopes at x are short of optimal: Σ violation²/D. Leaves slopes and norms of groups behind.
    double left() {
        const std::vector<double> p = times_inverse(moment_);
        double total = 0;
        for (int64_t m = 0; m < groups_.n; ++m) {
            const double strength = groups_.strength[m];
            norm_[m] = std::sqrt(sums(first(m), last(m), 1, [&](int64_t a, int64_t b, double* out) {
                slopes(a, b, p, slope_.data());
                for (int64_t i = a; i < b; ++i) *out += x_[i] * x_[i];
            })[0]);
            const bool zero = strength > 0 && norm_[m] == 0;
            const double pull = norm_[m] > 0 ? strength / norm_[m] : 0.0;
            const auto sum = sums(first(m), last(m), 2, [&](int64_t a, int64_t b, double* out) {
                for (int64_t i = a; i < b; ++i) {
                    const double slope = slope_[i] + pull * x_[i];
                    const double over = x_[i] > 0 ? slope + l1(i) : x_[i] < 0 ? slope - l1(i) : soft(slope, l1(i));
                    out[0] += over * over / diagonal(i);
                    out[1] += over * over;
                }
            });
            const double share = !zero ? 1.0 : sum[1] > strength * strength ? 1 - strength / std::sqrt(sum[1]) : 0.0;
            total += share * share * sum[0];
        }
        return std::sqrt(total);
    }

    bool on_face(int64_t m, int64_t i) const {
        return x_[i] != 0 || (l1(i) == 0 && (norm_[m] > 0 || groups_.strength[m] == 0));
    }

    // The slope of the whole model at a weight on the face.
    double face_slope(int64_t m, int64_t i, double slope) const {
        const double pull = norm_[m] > 0 ? groups_.strength[m] / norm_[m] : 0.0;
        return slope + pull * x_[i] + (x_[i] > 0 ? l1(i) : x_[i] < 0 ? -l1(i) : 0.0);
    }

    // On the face the model is smooth, with the Hessian Q⁻¹ − W M⁻¹ Wᵀ, in which Q⁻¹ has a block for every group:
    //     P − λ/t u uᵀ,   P = diag(D + λ/t),   t = ‖x_m‖,   u = x_m/t.
    // With s = t/λ − u·P⁻¹u (Sherman & Morrison), Q a = P⁻¹a + P⁻¹u (u·P⁻¹a)/s; and by Woodbury's identity the step is
    //     −Q (slope + W q),   (M − Wᵀ Q W) q = Wᵀ Q slope.
    // It is halved until the model falls; weights with an L1 norm that would change sign become zero. False if no
    // step will do.
    bool newton_step() {
        const int64_t rank = q_.rank, width = rank + 2, padded = (width + 3) / 4 * 4, u = rank, g = rank + 1;
        std::vector<double> inner(q_.middle, q_.middle + rank * rank), right(rank, 0.0);
        std::vector<double> bound(groups_.n * (rank + 2), 0.0);  // of each group: WᵀP⁻¹u, u·P⁻¹slope and s
        for (int64_t m = 0; m < groups_.n; ++m) {
            const double strength = groups_.strength[m], norm = norm_[m], pull = norm > 0 ? strength / norm : 0.0;
            const auto product = sums(first(m), last(m), padded * padded, [&](int64_t a, int64_t b, double* out) {
                for (int64_t i = a; i < b; ++i) {
                    scale_[i] = on_face(m, i) ? 1 / (diagonal(i) + pull) : 0.0;
                    step_[i] = face_slope(m, i, slope_[i]);
                }
                kernels().paired_products(q_, groups_.member + a, b - a, scale_.data() + a, x_.data() + a,
                                          step_.data() + a, out);
            });
            auto at = [&](int64_t i, int64_t j) { return product[i * padded + j]; };
            double* of = bound.data() + m * (rank + 2);
            const bool held = norm > 0 && strength > 0;
            if (held) {
                for (int64_t j = 0; j < rank; ++j) of[j] = at(u, j) / norm;
                of[rank] = at(g, u) / norm;
                of[rank + 1] = 1 / pull - at(u, u) / (norm * norm);
            }
            for (int64_t i = 0; i < rank; ++i) {
                right[i] += at(g, i) + (held ? of[i] * of[rank] / of[rank + 1] : 0.0);
                for (int64_t j = 0; j < rank; ++j)
                    inner[i * rank + j] -=
                        at(std::max(i, j), std::min(i, j)) + (held ? of[i] * of[j] / of[rank + 1] : 0.0);
            }
        }
        if (!solve_in_place(inner, right)) return false;
        std::vector<double> p = times_inverse(moment_);
        for (int64_t j = 0; j < rank; ++j) p[j] -= right[j];
        for (int64_t m = 0; m < groups_.n; ++m) {
            const double* of = bound.data() + m * (rank + 2);
            const bool held = norm_[m] > 0 && groups_.strength[m] > 0;
            const double along =
                held ? (of[rank] + std::inner_product(of, of + rank, right.begin(), 0.0)) / of[rank + 1] / norm_[m]
                     : 0.0;
            sums(first(m), last(m), 0, [&](int64_t a, int64_t b, double*) {
                slopes(a, b, p, step_.data());
                for (int64_t i = a; i < b; ++i) step_[i] = -scale_[i] * (face_slope(m, i, step_[i]) + along * x_[i]);
            });
        }
        for (double share = 1; share > shortest; share /= 2)
            if (try_step(share)) return true;
        return false;
    }

    // Goes this share of a step if the model falls.
    bool try_step(double share) {
        double change = 0;
        for (int64_t m = 0; m < groups_.n; ++m) {
            enum { along, bend, absolute, after, n_sums };
            const auto sum = sums(first(m), last(m), n_sums, [&](int64_t a, int64_t b, double* out) {
                for (int64_t i = a; i < b; ++i) {
                    const double now = x_[i];
                    double next = now + share * step_[i];
                    if (l1(i) > 0 && next * now < 0) next = 0;
                    const double by = scale_[i] = next - now;
                    out[along] += slope_[i] * by;
                    out[bend] += diagonal(i) * by * by;
                    out[absolute] += l1(i) * (std::abs(next) - std::abs(now));
                    out[after] += next * next;
                }
            });
            change +=
                sum[along] + 0.5 * sum[bend] + sum[absolute] + groups_.strength[m] * (std::sqrt(sum[after]) - norm_[m]);
        }
        const std::vector<double> by = moments(0, size(), scale_);
        if (!(change - 0.5 * low_rank(by) < 0)) return false;
        for (int64_t i = 0; i < size(); ++i) x_[i] += scale_[i];
        for (int64_t j = 0; j < q_.rank; ++j) moment_[j] += by[j];
        return true;
    }

    const PairedQuadratic& q_;
    const ActiveGroups groups_;
    const double *w_, *l1_;
    int threads_;
    std::vector<double> x_, slope_, step_, scale_;  // by places in `member`
    std::vector<double> moment_, norm_;
};

}  // namespace parsimon
