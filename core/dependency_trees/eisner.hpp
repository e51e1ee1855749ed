// Projective trees, whose arcs do not cross: the chart of Eisner (1996) in O(n³), for the best tree and, with sums of
// exponentials in place of maxima, for log Z and marginals.
//
// Tokens are 0 … n − 1 in here. A half tree hangs on one end of a span: `right[i][j]` covers i … j with i its head,
// `left[i][j]` with j its head; `join[i][j]` are two halves that face each other, one hanging on i, one on j, to be
// joined by an arc. The root stands before all tokens and its arcs never are below another, so it needs two vectors:
// `hung[j]` are the first j tokens hanging on the root, `hanging[r]` the same with r the last one on it and nothing
// right of r. With a single root there is nothing left of r but what hangs on r.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "dependency_trees/arcs.hpp"
#include "kernels/kernels.hpp"

namespace parsimon {

// A matrix of spans held twice, by rows and by columns, so that every loop runs over neighbours in memory.
struct SpanMatrix {
    int64_t n = 0;
    std::vector<double> rows, columns;

    void resize(int64_t size) {
        n = size;
        rows.resize(n * n);
        columns.resize(n * n);
    }
    void clear() {
        std::fill(rows.begin(), rows.end(), 0.0);
        std::fill(columns.begin(), columns.end(), 0.0);
    }
    void set(int64_t i, int64_t j, double value) { rows[i * n + j] = columns[j * n + i] = value; }
    double operator()(int64_t i, int64_t j) const { return rows[i * n + j]; }
    // What both copies got: for sums that are spread into whichever is at hand.
    double sum(int64_t i, int64_t j) const { return rows[i * n + j] + columns[j * n + i]; }
    double* row(int64_t i, int64_t j) { return rows.data() + i * n + j; }
    double* column(int64_t i, int64_t j) { return columns.data() + j * n + i; }
};

struct Spans {
    SpanMatrix right, left, arc_right, arc_left;  // halves, and joined halves with the arc between their ends
    std::vector<double> hung, hanging;            // [n + 1], [n]

    void resize(int64_t n) {
        for (SpanMatrix* each : {&right, &left, &arc_right, &arc_left}) each->resize(n);
        hung.resize(n + 1);
        hanging.resize(n);
    }
    void clear() {
        for (SpanMatrix* each : {&right, &left, &arc_right, &arc_left}) each->clear();
        std::fill(hung.begin(), hung.end(), 0.0);
        std::fill(hanging.begin(), hanging.end(), 0.0);
    }
};

// What a chart computes. `combine` is over k of a[k] with b[k]; `shares` are the parts of a sum that its terms make up.
struct BestSpans {
    static constexpr double one = 0.0;
    static double times(double a, double b) { return a + b; }

    // max_k a[k] + b[k], four at a time.
    static double combine(const double* a, const double* b, int64_t n, double*) {
        double best[4] = {no_tree, no_tree, no_tree, no_tree};
        int64_t k = 0;
        for (; k + 4 <= n; k += 4)
            for (int64_t lane = 0; lane < 4; ++lane) best[lane] = std::max(best[lane], a[k + lane] + b[k + lane]);
        for (; k < n; ++k) best[0] = std::max(best[0], a[k] + b[k]);
        return std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
    }
};

// Sums of products of weights; what is too small for a double is lost.
struct SummedSpans {
    static constexpr double one = 1.0;
    static double times(double a, double b) { return a * b; }
    static double log(double sum) { return std::log(sum); }

    static double combine(const double* a, const double* b, int64_t n, double*) {
        double sum[4] = {0, 0, 0, 0};
        int64_t k = 0;
        for (; k + 4 <= n; k += 4)
            for (int64_t lane = 0; lane < 4; ++lane) sum[lane] += a[k + lane] * b[k + lane];
        for (; k < n; ++k) sum[0] += a[k] * b[k];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    static void shares(const double* a, const double* b, int64_t n, double sum, double probability, double* share) {
        const double each = sum > 1e-300 ? probability / sum : 0.0;
        for (int64_t k = 0; k < n; ++k) share[k] = each * (a[k] * b[k]);
    }
};

// The same sums in logarithms, for any range of scores.
struct LogSpans {
    static constexpr double one = 0.0;
    static double times(double a, double b) { return a + b; }
    static double log(double sum) { return sum; }

    static double combine(const double* a, const double* b, int64_t n, double* space) {
        const double high = BestSpans::combine(a, b, n, space);
        if (n == 1 || !(high > no_tree)) return high;
        for (int64_t k = 0; k < n; ++k) space[k] = a[k] + b[k] - high;
        kernels().exponentials(space, n);
        double sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += space[k];
        return high + std::log(sum);
    }
    static void shares(const double* a, const double* b, int64_t n, double sum, double probability, double* share) {
        for (int64_t k = 0; k < n; ++k) share[k] = a[k] + b[k] - sum;
        kernels().exponentials(share, n);
        for (int64_t k = 0; k < n; ++k) share[k] *= probability;
    }
};

class Eisner {
  public:
    // The score of the best projective tree; head[m − 1] is the head of token m. −∞ when there is none.
    double best(const double* score, int32_t n, bool single_root, int32_t* head) {
        if (!are_scores(score, n)) return not_numbers;
        arc_.assign(score, score + arc_at(n, 0, n + 1));
        fill<BestSpans>(n, single_root);
        if (!(inside_.hung[n] > no_tree)) return no_tree;
        read_heads(n, single_root, head);
        return tree_score(score, n, head);
    }

    // log Z; marginals of arcs, n × (n + 1), which may take the place of the scores.
    double log_partition(const double* score, int32_t n, bool single_root, double* marginal) {
        if (!are_scores(score, n)) return not_numbers;
        const double shift = shift_scores(score, n);
        if (n <= most_summed) {
            arc_ = shifted_;
            kernels().exponentials(arc_.data(), static_cast<int64_t>(arc_.size()));
            fill<SummedSpans>(n, single_root);
            if (inside_.hung[n] > least_sum(n)) return shift + spread_all<SummedSpans>(n, single_root, marginal);
        }
        arc_ = shifted_;
        fill<LogSpans>(n, single_root);
        if (!(inside_.hung[n] > no_tree)) return no_tree;
        return shift + spread_all<LogSpans>(n, single_root, marginal);
    }

  private:
    static constexpr int32_t most_summed = 300;  // tokens; sums stay below 6.75^n

    // From which Z on sums of doubles will do. Weights are 1 at most and there are fewer than 6.75^n trees, so an
    // entry of the chart that is taken for zero, being below 1e-300 (e^−690), is used with probability
    // e^−690 6.75^n / Z at most; with the n³ terms there are, e^−50 is little enough.
    static double least_sum(int32_t n) { return std::exp(1.91 * n + 3 * std::log(n + 1.0) + 50.0 - 690.0); }

    static int64_t which(const double* a, const double* b, int64_t n) {
        int64_t best = 0;
        for (int64_t k = 1; k < n; ++k)
            if (a[k] + b[k] > a[best] + b[best]) best = k;
        return best;
    }

    // The best arc into every token scores 0; what was taken off, in all.
    double shift_scores(const double* score, int32_t n) {
        shifted_.assign(score, score + arc_at(n, 0, n + 1));
        double sum = 0;
        for (int32_t m = 1; m <= n; ++m) {
            double* row = shifted_.data() + arc_at(n, 0, m);
            row[m] = no_tree;
            const double high = *std::max_element(row, row + n + 1);
            if (!(high > no_tree)) continue;
            for (int32_t h = 0; h <= n; ++h) row[h] -= high;
            sum += high;
        }
        return sum;
    }

    template <class Algebra>
    void fill(int32_t n, bool single_root) {
        inside_.resize(n);
        join_.resize(static_cast<int64_t>(n) * n);
        rooted_.resize(n);
        share_.resize(n + 1);
        auto& [right, left, arc_right, arc_left, hung, hanging] = inside_;
        const auto combine = [&](const double* a, const double* b, int64_t k) {
            return Algebra::combine(a, b, k, share_.data());
        };
        for (int64_t i = 0; i < n; ++i) {
            right.set(i, i, Algebra::one);
            left.set(i, i, Algebra::one);
        }
        for (int32_t width = 1; width < n; ++width)
            for (int32_t i = 0, j = width; j < n; ++i, ++j) {
                const double join = join_[static_cast<int64_t>(i) * n + j] =
                    combine(right.row(i, i), left.column(i + 1, j), width);
                arc_right.set(i, j, Algebra::times(join, arc_[arc_at(n, i + 1, j + 1)]));
                arc_left.set(i, j, Algebra::times(join, arc_[arc_at(n, j + 1, i + 1)]));
                right.set(i, j, combine(arc_right.row(i, i + 1), right.column(i + 1, j), width));
                left.set(i, j, combine(left.row(i, i), arc_left.column(i, j), width));
            }
        hung[0] = Algebra::one;
        for (int32_t r = 0; r < n; ++r) {
            rooted_[r] = combine(hung.data(), left.column(0, r), single_root ? 1 : r + 1);
            hanging[r] = Algebra::times(rooted_[r], arc_[arc_at(n, 0, r + 1)]);
            hung[r + 1] = combine(hanging.data(), right.column(0, r), r + 1);
        }
    }

    // Looks again for what each maximum was attained by, from the whole sentence down.
    void read_heads(int32_t n, bool single_root, int32_t* head) {
        auto& [right, left, arc_right, arc_left, hung, hanging] = inside_;
        todo_.clear();
        for (int32_t j = n; j > 0;) {
            const auto r = static_cast<int32_t>(which(hanging.data(), right.column(0, j - 1), j));
            const auto k = static_cast<int32_t>(which(hung.data(), left.column(0, r), single_root ? 1 : r + 1));
            head[r] = 0;
            todo_.push_back({r, j - 1, true});
            todo_.push_back({k, r, false});
            j = k;
        }
        while (!todo_.empty()) {
            const auto [i, j, to_right] = todo_.back();
            todo_.pop_back();
            if (i == j) continue;
            int32_t first = i, last = j;  // of the two halves joined by an arc
            if (to_right) {
                last = i + 1 + static_cast<int32_t>(which(arc_right.row(i, i + 1), right.column(i + 1, j), j - i));
                head[last] = i + 1;
                todo_.push_back({last, j, true});
            } else {
                first = i + static_cast<int32_t>(which(left.row(i, i), arc_left.column(i, j), j - i));
                head[first] = j + 1;
                todo_.push_back({i, first, false});
            }
            const auto cut =
                first
                + static_cast<int32_t>(which(right.row(first, first), left.column(first + 1, last), last - first));
            todo_.push_back({first, cut, true});
            todo_.push_back({cut + 1, last, false});
        }
    }

    // The probability of what a sum stands for goes to its terms by their shares.
    template <class Algebra>
    void spread(double probability, double sum, const double* a, const double* b, double* to_a, double* to_b,
                int64_t n) {
        if (!(probability > 0)) return;
        double* share = share_.data();
        Algebra::shares(a, b, n, sum, probability, share);
        for (int64_t k = 0; k < n; ++k) to_a[k] += share[k];
        for (int64_t k = 0; k < n; ++k) to_b[k] += share[k];
    }

    // The outside pass, as the derivative of log Z by every entry of the chart: the probability that a tree uses it.
    // Returns log Z.
    template <class Algebra>
    double spread_all(int32_t n, bool single_root, double* marginal) {
        outside_.resize(n);
        outside_.clear();
        auto& [right, left, arc_right, arc_left, hung, hanging] = inside_;
        Spans& to = outside_;
        to.hung[n] = 1.0;
        for (int32_t r = n - 1; r >= 0; --r) {
            spread<Algebra>(to.hung[r + 1], hung[r + 1], hanging.data(), right.column(0, r), to.hanging.data(),
                            to.right.column(0, r), r + 1);
            spread<Algebra>(to.hanging[r], rooted_[r], hung.data(), left.column(0, r), to.hung.data(),
                            to.left.column(0, r), single_root ? 1 : r + 1);
            marginal[arc_at(n, 0, r + 1)] = to.hanging[r];
            marginal[arc_at(n, r + 1, r + 1)] = 0.0;
        }
        for (int32_t width = n - 1; width > 0; --width)
            for (int32_t i = 0, j = width; j < n; ++i, ++j) {
                spread<Algebra>(to.right.sum(i, j), right(i, j), arc_right.row(i, i + 1), right.column(i + 1, j),
                                to.arc_right.row(i, i + 1), to.right.column(i + 1, j), width);
                spread<Algebra>(to.left.sum(i, j), left(i, j), left.row(i, i), arc_left.column(i, j), to.left.row(i, i),
                                to.arc_left.column(i, j), width);
                const double along = to.arc_right.sum(i, j), against = to.arc_left.sum(i, j);
                marginal[arc_at(n, i + 1, j + 1)] = along;
                marginal[arc_at(n, j + 1, i + 1)] = against;
                spread<Algebra>(along + against, join_[static_cast<int64_t>(i) * n + j], right.row(i, i),
                                left.column(i + 1, j), to.right.row(i, i), to.left.column(i + 1, j), width);
            }
        return Algebra::log(hung[n]);
    }

    struct Half {
        int32_t i, j;
        bool to_right;
    };

    Spans inside_, outside_;
    std::vector<double> join_;    // [n][n]
    std::vector<double> rooted_;  // [n]: `hanging` without its arc
    std::vector<double> shifted_, arc_, share_;
    std::vector<Half> todo_;
};

}  // namespace parsimon
