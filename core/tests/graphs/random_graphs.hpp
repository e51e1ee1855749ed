// Small graphs with random scores, and all their outputs.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "graphs/graph.hpp"

namespace check {

using namespace parsimon;

struct ScoredCase {
    Graph graph;
    std::vector<double> node, edge;
    GraphScores scores() const { return {node.data(), edge.data()}; }
    double score(const std::vector<int32_t>& state) const {
        double sum = 0;
        for (int64_t v = 0; v < graph.n_nodes(); ++v) sum += node[graph.node_at[v] + state[v]];
        for (int64_t e = 0; e < graph.n_edges(); ++e)
            sum +=
                edge[graph.edge_at[e] + state[graph.first(e)] * graph.arity[graph.second(e)] + state[graph.second(e)]];
        return sum;
    }
};

// Two instances: a tree of mixed arities that has a variable to itself, and a triangle if `loops`.
inline ScoredCase make_case(unsigned seed, bool loops) {
    std::mt19937 random(seed);
    std::normal_distribution<double> number(0, 1);
    std::vector<int32_t> ends{0, 2, 1, 2, 2, 3, 5, 6, 6, 7};
    if (loops) ends.insert(ends.end(), {5, 7});
    const int64_t n_edges = static_cast<int64_t>(ends.size()) / 2;
    ScoredCase out{Graph({2, 3, 2, 1, 4, 2, 2, 3}, ends, {0, 5, 8}, {0, 3, n_edges}), {}, {}};
    for (int64_t i = 0; i < out.graph.node_at.back(); ++i) out.node.push_back(number(random));
    for (int64_t i = 0; i < out.graph.edge_at.back(); ++i) out.edge.push_back(number(random));
    return out;
}

// visit(states) for every output of both instances together.
template <class Visit>
inline void each_output(const Graph& graph, Visit&& visit) {
    std::vector<int32_t> state(graph.n_nodes(), 0);
    while (true) {
        visit(state);
        int64_t v = 0;
        for (; v < graph.n_nodes() && ++state[v] == graph.arity[v]; ++v) state[v] = 0;
        if (v == graph.n_nodes()) return;
    }
}

}  // namespace check
