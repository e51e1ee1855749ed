// log Z and marginals over all trees, crossing arcs or not, in O(n³).
//
// By the matrix-tree theorem (Tutte 1984; Koo et al. 2007, McDonald & Satta 2007, Smith & Smith 2007) Z is the
// determinant of the Laplacian L of the arcs' weights, and marginals are differences of entries of its inverse. To do
// just that fails where it matters: if the best arcs go round in cycles and the way to the root is a thousand times
// less likely than rounding, nothing is left of L but the cycles. So tokens are eliminated one by one without ever
// subtracting (Grassmann, Taksar & Heyman 1985): a token k passes its weight on,
//
//     w(i→j) += w(i→k) w(k→j) / d_k        d_k = Σ w(i→k) over the root and the tokens i left        Z = Π d_k
//
// which is Gaussian elimination on L with the diagonal kept as the sum that it is. Sums, products and quotients of
// positive numbers lose a few bits at most, however badly L is conditioned (O'Cinneide 1993).
//
// Marginals come the same way, from the random walk that goes from each token to a head with probability w/d
// (Wilson 1996): the head of m is h with probability ∝ w(h→m) · P(from h, the root is met before m). When all tokens
// but m have been eliminated, and their rows are eliminated too (Gauss–Jordan), those probabilities are what is left in
// the root's column. To have each token be the last one for O(n³) in all, halves are eliminated: the tokens of one
// half have the elimination of the other half in common, and so on down.
//
// A single root is the limit of root weights ε·w for ε → 0, of which only the leading power of ε is kept: the root's
// column is in two parts, of order 1 and of order ε.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "dependency_trees/arcs.hpp"
#include "dependency_trees/wide_number.hpp"
#include "kernels/kernels.hpp"

namespace parsimon {

class MatrixTree {
  public:
    // log Z, −∞ when there is no tree; marginals of arcs, n × (n + 1), which may take the place of the scores.
    double log_partition(const double* score, int32_t n, bool single_root, double* marginal) {
        if (!are_scores(score, n)) return not_numbers;
        n_ = n;
        single_root_ = single_root;
        if (n == 0) return 0.0;
        shift_scores(score);
        found_.resize(arc_at(n, 0, n + 1));
        weigh<double>(double_, score, [](double* x, int64_t k) { kernels().exponentials(x, k); });
        if (!run(double_)) {
            weigh<WideNumber>(wide_, score, [](WideNumber*, int64_t) {});
            if (!run(wide_)) return no_tree;
        }
        std::copy(found_.begin(), found_.end(), marginal);
        return log_z_;
    }

  private:
    // Doubles will do while every d is well inside their range: what is rounded to zero is below 1e-308, so less than
    // 1e-178 of any d, and marginals are quotients of two: none is off by more than 1e-48, though those below that may
    // come out as zero. Wide numbers always do.
    static bool fits(double d) { return d > 1e-130 && d < 1e130; }
    static bool fits(WideNumber d) { return d > 0.0; }

    // When only the tokens [first, last) are left: weights of arcs from them into all tokens, and from the root. For
    // tokens that were eliminated, those are the probabilities of what a walk from there meets first.
    template <class Number>
    struct Remaining {
        std::vector<Number> weight;   // [n][stride], of which the first column is that of token `origin`
        std::vector<Number> root[2];  // [n]: of order 1, of order ε
        int32_t origin = 0, stride = 0, first = 0, last = 0;
        bool rooted = false;  // a token was eliminated that hangs on the single root, for it can on nothing else

        Number* row(int32_t j) { return weight.data() + static_cast<int64_t>(j) * stride; }
        Number& at(int32_t i, int32_t j) { return row(j)[i - origin]; }
    };
    template <class Number>
    using Levels = std::vector<Remaining<Number>>;

    // Of the tokens left at the level above, only [first, last) are to stay.
    struct Task {
        int32_t level, first, last;
    };

    // Scores are taken relative to the best into the same token; with a single root, arcs from the root are also
    // relative to the best of them: every tree has just one.
    void shift_scores(const double* score) {
        shift_.assign(n_, 0.0);
        root_shift_ = single_root_ ? no_tree : 0.0;
        for (int32_t m = 1; m <= n_; ++m) {
            double high = no_tree;
            for (int32_t h = single_root_ ? 1 : 0; h <= n_; ++h)
                if (h != m) high = std::max(high, score[arc_at(n_, h, m)]);
            if (high > no_tree) shift_[m - 1] = high;
            if (single_root_) root_shift_ = std::max(root_shift_, score[arc_at(n_, 0, m)] - shift_[m - 1]);
        }
        if (!(root_shift_ > no_tree)) root_shift_ = 0.0;
        log_shift_ = root_shift_;
        for (const double each : shift_) log_shift_ += each;
    }

    double shifted_score(const double* score, int32_t h, int32_t m) const {
        return score[arc_at(n_, h, m)] - shift_[m - 1] - (h == 0 ? root_shift_ : 0.0);
    }

    // Weights at level 0. A double is first the logarithm, then all of them are raised at once.
    template <class Number, class Raise>
    void weigh(Levels<Number>& levels, const double* score, Raise&& raise) {
        if (levels.empty()) levels.resize(1);
        Remaining<Number>& all = levels[0];
        all.origin = all.first = 0;
        all.stride = all.last = n_;
        all.rooted = false;
        all.weight.resize(static_cast<int64_t>(n_) * n_);
        const auto number = [](double log) {
            if constexpr (std::is_same_v<Number, WideNumber>) return WideNumber::exp_of(log);
            else return log;
        };
        auto& root = all.root[single_root_];
        root.resize(n_);
        all.root[!single_root_].assign(n_, Number(0.0));
        for (int32_t j = 0; j < n_; ++j) {
            Number* row = all.row(j);
            for (int32_t i = 0; i < n_; ++i) row[i] = number(i == j ? no_tree : shifted_score(score, i + 1, j + 1));
            root[j] = number(shifted_score(score, 0, j + 1));
        }
        raise(all.weight.data(), static_cast<int64_t>(n_) * n_);
        raise(root.data(), n_);
    }

    // Leaves every token as the last one in turn; false when there is no tree, or doubles are too small to tell.
    template <class Number>
    bool run(Levels<Number>& levels) {
        log_z_ = log_shift_;
        todo_.assign(1, {0, 0, n_});
        while (!todo_.empty()) {
            const auto [level, first, last] = todo_.back();
            todo_.pop_back();
            if (static_cast<int32_t>(levels.size()) <= level) levels.resize(level + 1);
            if (level > 0 && !reduce(levels[level - 1], levels[level], first, last)) return false;
            if (last - first == 1) {
                if (!find_marginals(levels[0], levels[level], first)) return false;
                continue;
            }
            const int32_t middle = first + (last - first) / 2;
            todo_.push_back({level + 1, middle, last});
            todo_.push_back({level + 1, first, middle});
        }
        return true;
    }

    static double log_of(double x) { return std::log(x); }
    static double log_of(WideNumber x) { return x.log(); }

    // Copies what is left above, and eliminates what is not to stay: tokens before it upwards, tokens after it
    // downwards, so that those left are always neighbours.
    template <class Number>
    bool reduce(Remaining<Number>& above, Remaining<Number>& here, int32_t first, int32_t last) {
        here.origin = above.first;
        here.stride = above.last - above.first;
        here.first = first;
        here.last = last;
        here.weight.resize(static_cast<int64_t>(n_) * here.stride);
        for (int32_t j = 0; j < n_; ++j) std::copy_n(&above.at(above.first, j), here.stride, here.row(j));
        here.root[0] = above.root[0];
        here.root[1] = above.root[1];
        here.rooted = above.rooted;
        bool fine = true;
        for (int32_t k = above.first; k < first && fine; ++k) fine = eliminate(here, k, k + 1, above.last);
        for (int32_t k = above.last - 1; k >= last && fine; --k) fine = eliminate(here, k, above.first, k);
        return fine;
    }

    // Token k passes its weight on to the tokens [from, to) and the root. Those eliminated until token 0 is the last
    // one make up Z.
    template <class Number>
    bool eliminate(Remaining<Number>& here, int32_t k, int32_t from, int32_t to) {
        Number* own = &here.at(from, k);
        Number *root = here.root[0].data(), *faint = here.root[1].data();
        const int32_t width = to - from;
        Number d = root[k];
        for (int32_t i = 0; i < width; ++i) d += own[i];
        if (fits(d)) {
            for (int32_t i = 0; i < width; ++i) own[i] /= d;
            root[k] /= d;
            faint[k] /= d;
        } else {  // only the root is left: of order ε, which may be once
            if (here.rooted || !fits(faint[k])) return false;
            here.rooted = true;
            d = faint[k];
            root[k] = Number(1.0);
            faint[k] = Number(0.0);
        }
        if (here.first == 0) log_z_ += log_of(d);
        for (int32_t j = 0; j < n_; ++j) {
            const Number passed = here.at(k, j);
            if (j == k || !(passed > 0.0)) continue;
            Number* row = &here.at(from, j);
            for (int32_t i = 0; i < width; ++i) row[i] += passed * own[i];
            root[j] += passed * root[k];
            faint[j] += passed * faint[k];
        }
        return true;
    }

    // Marginals of the arcs into m, when it is the only token left.
    template <class Number>
    bool find_marginals(Remaining<Number>& all, Remaining<Number>& here, int32_t m) {
        const int order = single_root_ && !here.rooted;
        const Number *weight = all.row(m), *met = here.root[order].data();  // by a walk, before it meets m
        const Number by_root = all.root[order][m];
        Number d = by_root;
        for (int32_t h = 0; h < n_; ++h)
            if (h != m) d += weight[h] * met[h];
        if (!fits(d)) return false;
        if (m == 0) log_z_ += log_of(d);
        double* out = found_.data() + arc_at(n_, 0, m + 1);
        out[0] = static_cast<double>(by_root / d);
        for (int32_t h = 0; h < n_; ++h) out[h + 1] = h == m ? 0.0 : static_cast<double>(weight[h] * met[h] / d);
        return true;
    }

    int32_t n_ = 0;
    bool single_root_ = false;
    std::vector<double> shift_;
    double root_shift_ = 0, log_shift_ = 0;
    double log_z_ = 0;
    std::vector<Task> todo_;
    std::vector<double> found_;  // marginals; the scores are needed until all are known
    Levels<double> double_;
    Levels<WideNumber> wide_;
};

}  // namespace parsimon
