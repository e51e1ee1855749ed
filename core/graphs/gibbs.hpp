// Gibbs sampling (Geman & Geman 1984): variable after variable is drawn given the states of its neighbours.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "graphs/graph.hpp"

namespace parsimon {

struct GibbsSettings {
    uint64_t seed;
    int64_t chains;   // independent of each other, each with random numbers of its own: draws do not depend on threads
    int64_t burn_in;  // sweeps before a chain's first draw
    int64_t thin;     // sweeps from one draw to the next
    int threads;
};

// One chain of states, variable by variable; −1 for one that has none yet.
class GibbsChain {
  public:
    GibbsChain(const Graph& graph, const ScoredGraph& scored, const GraphScores& scores, std::vector<int32_t> state,
               SplitMix random)
        : graph_(graph), scored_(scored), scores_(scores), state_(std::move(state)), weight_(scored.most_states),
          random_(random) {}

    const std::vector<int32_t>& state() const { return state_; }

    // Draws every variable once. False: one of them has no possible state.
    bool sweep() {
        for (int64_t p = 0; p < graph_.n_nodes(); ++p)
            if (!draw(p)) return false;
        return true;
    }

  private:
    bool draw(int64_t p) {
        const int32_t v = scored_.node[p];
        const int64_t n = graph_.arity[v];
        std::copy_n(scores_.node + graph_.node_at[v], n, weight_.data());
        for (int64_t s = scored_.start[p]; s < scored_.start[p + 1]; ++s) {
            const HalfEdge& half = scored_.half[s];
            const int32_t other = state_[scored_.node[half.to]];
            if (other < 0) continue;
            const double* score = scores_.edge + half.scores + static_cast<int64_t>(other) * half.other;
            for (int64_t x = 0; x < n; ++x) weight_[x] += score[x * half.own];
        }
        const double high = *std::max_element(weight_.begin(), weight_.begin() + n);
        if (!(high > -std::numeric_limits<double>::infinity())) return false;
        double total = 0;
        for (int64_t x = 0; x < n; ++x) total += weight_[x] = std::exp(weight_[x] - high);
        double left = random_.uniform() * total;
        for (int32_t x = 0; x < n; ++x) {
            if (weight_[x] == 0) continue;
            state_[v] = x;
            if ((left -= weight_[x]) < 0) break;
        }
        return true;
    }

    const Graph& graph_;
    const ScoredGraph& scored_;
    const GraphScores scores_;
    std::vector<int32_t> state_;
    std::vector<double> weight_;
    SplitMix random_;
};

// Draws [n_draws][n] from p(y) ∝ exp(score), nearly: chain c gives the draws c, c + chains, …
inline bool graph_sample(const Graph& graph, const GraphScores& scores, const GibbsSettings& settings,
                         const int32_t* start, int64_t n_draws, int32_t* states) {
    const ScoredGraph scored(graph, scores.edge);
    std::atomic<bool> feasible{true};
    parallel_for(settings.chains, settings.threads, [&](int64_t c, int) {
        GibbsChain chain(graph, scored, scores, {start, start + graph.n_nodes()}, SplitMix::stream(settings.seed, c));
        int64_t sweeps = settings.burn_in;
        for (int64_t draw = c; draw < n_draws; draw += settings.chains, sweeps = settings.thin) {
            for (int64_t i = 0; i < sweeps; ++i)
                if (!chain.sweep()) {
                    feasible = false;
                    return;
                }
            std::copy(chain.state().begin(), chain.state().end(), states + draw * graph.n_nodes());
        }
    });
    return feasible;
}

}  // namespace parsimon
