// The pseudo-likelihood (Besag 1975): Σ_v log p(x_v | all others), whose terms need no sum over outputs.
//
// Rows are outputs of one graph that count by their weights; states are kept variable by variable, so that loops over
// rows run through neighbouring numbers. For one edge, the derivative by the score of (a, b) is
//
//     Σ_r w_r {(p_u(a | r) − [x_ru = a]) [x_rv = b] + (p_v(b | r) − [x_rv = b]) [x_ru = a]}
//
// which is an inner product over rows of what is expected too much at one end with who is in which state at the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graphs/graph.hpp"
#include "kernels/kernels.hpp"

namespace parsimon {

struct StateRows {
    int64_t n;
    const int32_t* state;  // [variables][n]
    const double* weight;  // [n]
};

// Of every variable: −Σ_r w_r log p(x_rv | others). Of every node part: Σ_r w_r p, Σ_r w_r p (1 − p). Derivatives by
// part scores.
struct ConditionalSums {
    double *value, *mean, *variance, *node, *edge;
};

class Conditionals {
  public:
    Conditionals(const Graph& graph, const ScoredGraph& scored, const GraphScores& scores, const StateRows& rows,
                 const ConditionalSums& out)
        : graph_(graph), scored_(scored), scores_(scores), rows_(rows), out_(out), sum_(graph.node_at.back()) {
        std::fill_n(out.value, graph.n_nodes(), 0.0);
        for (double* each : {out.mean, out.variance, out.node}) std::fill_n(each, graph.node_at.back(), 0.0);
        std::fill_n(out.edge, graph.edge_at.back(), 0.0);
    }

    // Some rows at a time, so that what belongs to them stays in the cache.
    void run(int threads) {
        constexpr int64_t most = 512;
        room_ = std::min(most, rows_.n);
        excess_.resize(graph_.node_at.back() * room_);
        present_.resize(excess_.size());
        std::vector<std::vector<double>> work(std::max(threads, 1), std::vector<double>(2 * room_));
        std::vector<std::vector<double>> table(std::max(threads, 1),
                                               std::vector<double>(scored_.most_states * scored_.most_states));
        for (first_ = 0; first_ < rows_.n; first_ += room_) {
            count_ = std::min(room_, rows_.n - first_);
            parallel_for_pieces(graph_.n_nodes(), 4, threads,
                                [&](int64_t v, int worker) { add_node(v, work[worker].data()); });
            parallel_for_pieces(graph_.n_edges(), 256, threads, [&](int64_t e, int worker) {
                const int64_t u = graph_.first(e), v = graph_.second(e);
                add_edge(u, v, graph_.edge_at[e], graph_.arity[v], 1, table[worker].data());
                add_edge(v, u, graph_.edge_at[e], 1, graph_.arity[v], table[worker].data());
            });
        }
    }

  private:
    // Conditional probabilities of one variable in the rows at hand; those less the states there are stay in excess_.
    void add_node(int64_t v, double* work) {
        const int64_t K = graph_.arity[v], at = graph_.node_at[v];
        const int32_t* state = rows_.state + v * rows_.n + first_;
        const double* weight = rows_.weight + first_;
        double *mine = excess_.data() + at * room_, *present = present_.data() + at * room_, *high = work,
               *total = work + room_;
        log_weights(v, mine);
        std::copy_n(mine, count_, high);
        for (int64_t x = 1; x < K; ++x)
            for (int64_t r = 0; r < count_; ++r) high[r] = std::max(high[r], mine[x * room_ + r]);
        std::fill_n(total, count_, 0.0);
        double loss = 0;
        for (int64_t r = 0; r < count_; ++r) loss += weight[r] * (high[r] - mine[state[r] * room_ + r]);
        for (int64_t x = 0; x < K; ++x) {
            double* p = mine + x * room_;
            for (int64_t r = 0; r < count_; ++r) p[r] -= high[r];
            kernels().exponentials(p, count_);
            for (int64_t r = 0; r < count_; ++r) total[r] += p[r];
        }
        for (int64_t r = 0; r < count_; ++r) loss += weight[r] * std::log(total[r]);
        out_.value[v] += loss;
        for (int64_t x = 0; x < K; ++x) {
            double *excess = mine + x * room_, mean = 0, square = 0, sum = 0;
            for (int64_t r = 0; r < count_; ++r) {
                const double p = excess[r] / total[r];
                present[x * room_ + r] = state[r] == x;
                excess[r] = weight[r] * (p - present[x * room_ + r]);
                mean += weight[r] * p;
                square += weight[r] * p * (1 - p);
                sum += excess[r];
            }
            out_.mean[at + x] += mean;
            out_.variance[at + x] += square;
            out_.node[at + x] += sum_[at + x] = sum;
        }
    }

    // θ_v(x) + Σ over neighbours of θ(x, theirs), for every state and row.
    void log_weights(int64_t v, double* out) const {
        const int64_t K = graph_.arity[v], p = scored_.place[v];
        for (int64_t x = 0; x < K; ++x) {
            double* mine = out + x * room_;
            std::fill_n(mine, count_, scores_.node[graph_.node_at[v] + x]);
            for (int64_t s = scored_.start[p]; s < scored_.start[p + 1]; ++s) {
                const HalfEdge& half = scored_.half[s];
                const double* score = scores_.edge + half.scores + x * half.own;
                const int32_t* other = rows_.state + scored_.node[half.to] * rows_.n + first_;
                for (int64_t r = 0; r < count_; ++r) mine[r] += score[other[r] * half.other];
            }
        }
    }

    // What is too much of u, given the states of v. Over the states of either it adds up to something known (excesses
    // to zero, presence to one), so the last state of each needs no inner product.
    void add_edge(int64_t u, int64_t v, int64_t edge_at, int64_t own, int64_t other, double* table) {
        const int64_t Ku = graph_.arity[u], Kv = graph_.arity[v];
        const double *excess = excess_.data() + graph_.node_at[u] * room_,
                     *present = present_.data() + graph_.node_at[v] * room_;
        for (int64_t a = 0; a < Ku; ++a) {
            double left = sum_[graph_.node_at[u] + a];
            for (int64_t b = 0; b + 1 < Kv; ++b) {
                double sum = 0;
                if (a + 1 < Ku) sum = kernels().dot(excess + a * room_, present + b * room_, count_);
                else
                    for (int64_t c = 0; c < a; ++c) sum -= table[c * Kv + b];
                left -= table[a * Kv + b] = sum;
            }
            table[a * Kv + Kv - 1] = left;
        }
        for (int64_t a = 0; a < Ku; ++a)
            for (int64_t b = 0; b < Kv; ++b) out_.edge[edge_at + a * own + b * other] += table[a * Kv + b];
    }

    const Graph& graph_;
    const ScoredGraph& scored_;
    const GraphScores scores_;
    const StateRows rows_;
    const ConditionalSums out_;
    std::vector<double> sum_;               // [Σ K]: excesses summed over the rows at hand
    std::vector<double> excess_, present_;  // [Σ K][room]
    int64_t room_ = 0, first_ = 0, count_ = 0;
};

inline void graph_conditionals(const Graph& graph, const GraphScores& scores, const StateRows& rows,
                               const ConditionalSums& out, int threads) {
    const ScoredGraph scored(graph, scores.edge);
    Conditionals(graph, scored, scores, rows, out).run(threads);
}

}  // namespace parsimon
