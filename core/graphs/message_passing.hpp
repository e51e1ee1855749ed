// The messages of belief propagation: how a variable sums up what it has heard and passes it on.
//
//     m_{u→v}(y) = ⊕_x [θ_u(x) + θ_uv(x, y) + Σ_{t ≠ v} m_{t→u}(x)]        ⊕: log Σ exp, or max
//
// Messages are logarithms and have the maximum 0, so scores of any size do no harm; −∞ is an impossible state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "graphs/graph.hpp"

namespace parsimon {

constexpr double impossible = -std::numeric_limits<double>::infinity();

// log Σ exp: marginals. K is the number of terms if it is known beforehand, or 0.
struct SumProduct {
    template <int K, class Term>
    static double over(int64_t n, Term&& term) {
        if constexpr (K == 2) {
            const double a = term(0), b = term(1), high = std::max(a, b);
            return high > impossible ? high + std::log(1 + std::exp(std::min(a, b) - high)) : a + b;
        }
        double high = impossible, sum = 0;
        for (int64_t x = 0; x < n; ++x) high = std::max(high, term(x));
        if (high == impossible) return high;
        for (int64_t x = 0; x < n; ++x) sum += std::exp(term(x) - high);
        return high + std::log(sum);
    }
};

// The best outputs.
struct MaxProduct {
    template <int K, class Term>
    static double over(int64_t n, Term&& term) {
        double high = term(0);
        for (int64_t x = 1; x < n; ++x) high = std::max(high, term(x));
        return high;
    }
};

// The messages, and how one variable passes on what it has heard. K: the states of every variable, or 0 if they differ.
template <class Product, int K>
class MessagePassing {
  public:
    MessagePassing(const Graph& graph, const ScoredGraph& scored, const GraphScores& scores)
        : graph_(graph), scored_(scored), scores_(scores), message_(scored.message_size(), 0.0) {}

    const ScoredGraph& scored() const { return scored_; }
    std::vector<double>& messages() { return message_; }
    int64_t states(int64_t place) const { return K ? K : graph_.arity[scored_.node[place]]; }

    // θ_v plus all that comes in.
    void gather(int64_t place, double* total) const {
        const int64_t n = states(place);
        const double* own = scores_.node + graph_.node_at[scored_.node[place]];
        for (int64_t x = 0; x < n; ++x) total[x] = own[x];
        const double *in = message_.data() + scored_.in[place], *end = message_.data() + scored_.in[place + 1];
        for (; in != end; in += n)
            for (int64_t x = 0; x < n; ++x) total[x] += in[x];
    }

    // The same without what came along half-edge s.
    void cavity(int64_t place, int64_t s, const double* total, double* out) const {
        const int64_t n = states(place);
        const double* in = message_.data() + scored_.into(place, s, n);
        for (int64_t x = 0; x < n; ++x) out[x] = in[x] > impossible ? total[x] - in[x] : without(place, s, x);
    }

    // The message that goes out along half-edge s, from the cavity there. Returns how much it differs from the one
    // before.
    double send(int64_t s, int64_t n, const double* cavity, double damping, double* out) const {
        const HalfEdge& half = scored_.half[s];
        const double *score = scores_.edge + half.scores, *old = message_.data() + half.out;
        const int64_t m = states(half.to);
        double high = impossible, change = 0;
        for (int64_t y = 0; y < m; ++y) {
            out[y] = Product::template over<K>(
                n, [&](int64_t x) { return cavity[x] + score[x * half.own + y * half.other]; });
            high = std::max(high, out[y]);
        }
        for (int64_t y = 0; y < m; ++y) {
            if (high > impossible) out[y] -= high;
            if (out[y] == old[y]) continue;
            change = std::max(change, std::abs(out[y] - old[y]));
            if (damping > 0) out[y] = (1 - damping) * out[y] + damping * old[y];
        }
        return change;
    }

  private:
    double without(int64_t place, int64_t s, int64_t x) const {
        const int64_t n = states(place);
        double sum = scores_.node[graph_.node_at[scored_.node[place]] + x];
        for (int64_t t = scored_.start[place]; t < scored_.start[place + 1]; ++t)
            if (t != s) sum += message_[scored_.into(place, t, n) + x];
        return sum;
    }

    const Graph& graph_;
    const ScoredGraph& scored_;
    const GraphScores scores_;
    std::vector<double> message_;
};

// Room for the numbers of one variable, twice, and for a message.
struct MessageRoom {
    std::vector<double> total, cavity, message;
    explicit MessageRoom(int64_t states) : total(states), cavity(states), message(states) {}
};

}  // namespace parsimon
