// Discrete variables, and pairs of them that are scored together: a batch of graphs as one disjoint union.
//
// Part scores are flat. Those of nodes go variable by variable, K_v numbers each; those of edges go edge by edge, K_u ×
// K_v numbers each, the states of the first end being the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/threads.hpp"

namespace parsimon {

struct Graph {
    std::vector<int32_t> arity;                   // [n]: K_v, how many states a variable has
    std::vector<int32_t> ends;                    // [E][2]: u < v
    std::vector<int64_t> node_start, edge_start;  // [instances + 1]: the variables and the edges of each instance
    std::vector<int64_t> node_at, edge_at;        // [n + 1], [E + 1]: where the parts of each start

    Graph(std::vector<int32_t> arities, std::vector<int32_t> edges, std::vector<int64_t> nodes_of,
          std::vector<int64_t> edges_of)
        : arity(std::move(arities)), ends(std::move(edges)), node_start(std::move(nodes_of)),
          edge_start(std::move(edges_of)), node_at(arity.size() + 1), edge_at(ends.size() / 2 + 1) {
        for (int64_t v = 0; v < n_nodes(); ++v) node_at[v + 1] = node_at[v] + arity[v];
        for (int64_t e = 0; e < n_edges(); ++e)
            edge_at[e + 1] = edge_at[e] + static_cast<int64_t>(arity[first(e)]) * arity[second(e)];
    }

    int64_t n_nodes() const { return static_cast<int64_t>(arity.size()); }
    int64_t n_edges() const { return static_cast<int64_t>(ends.size()) / 2; }
    int64_t n_instances() const { return static_cast<int64_t>(node_start.size()) - 1; }
    int32_t first(int64_t e) const { return ends[2 * e]; }
    int32_t second(int64_t e) const { return ends[2 * e + 1]; }
};

// A number for every part.
struct GraphScores {
    const double *node, *edge;
};

// An edge seen from one of its ends.
struct HalfEdge {
    int32_t to;  // the place of the variable at the other end
    int32_t edge;
    int64_t scores;  // where the edge's scores start; that of own state x and the other's y is at x · own + y · other
    int32_t own, other;
    int64_t out;  // where the message to the other end is kept
};

// Variables that hang together through edges that score, at places next to each other.
struct Component {
    int64_t first, last;  // places
    bool tree;
};

// The edges that have a score other than zero, from both ends. An edge without one says nothing: its ends are
// independent given all the others (Zhu, Lao & Xing 2010, §5.3).
//
// Variables have places: those of a component are next to each other, in breadth-first order, so that in a tree every
// variable comes after its parent. Half-edges and messages are laid out by the place of the variable they come in at.
struct ScoredGraph {
    std::vector<int32_t> node, place;  // [n]: the variable at a place, and the other way round
    std::vector<int64_t> start;        // [n + 1]: the half-edges of a place
    std::vector<HalfEdge> half;
    std::vector<int64_t> in;            // [n + 1]: where the messages into a place start; K numbers for each half-edge
    std::vector<int64_t> half_of;       // [E]: the half-edge at the first end; −1 for an edge that does not score
    std::vector<Component> components;  // those with an edge
    int32_t most_states = 1;

    ScoredGraph(const Graph& graph, const double* edge_scores) {
        std::vector<int32_t> edges;
        for (int64_t e = 0; e < graph.n_edges(); ++e)
            if (std::any_of(edge_scores + graph.edge_at[e], edge_scores + graph.edge_at[e + 1],
                            [](double s) { return s != 0; }))
                edges.push_back(static_cast<int32_t>(e));
        find_places(graph, edges);
        lay_out(graph, edges);
        for (const int32_t K : graph.arity) most_states = std::max(most_states, K);
    }

    int64_t n_halves() const { return static_cast<int64_t>(half.size()); }
    int64_t message_size() const { return in.back(); }
    int64_t degree(int64_t place) const { return start[place + 1] - start[place]; }

    // Where the message into a place along its half-edge s is kept.
    int64_t into(int64_t at, int64_t s, int64_t states) const { return in[at] + (s - start[at]) * states; }

  private:
    // Breadth first from the lowest variable that has no place yet.
    void find_places(const Graph& graph, const std::vector<int32_t>& edges) {
        const int64_t n = graph.n_nodes();
        std::vector<int64_t> at(n + 1, 0);
        for (const int32_t e : edges) ++at[graph.first(e) + 1], ++at[graph.second(e) + 1];
        std::partial_sum(at.begin(), at.end(), at.begin());
        std::vector<int32_t> neighbour(2 * edges.size());
        std::vector<int64_t> next(at.begin(), at.end() - 1);
        for (const int32_t e : edges) {
            neighbour[next[graph.first(e)]++] = graph.second(e);
            neighbour[next[graph.second(e)]++] = graph.first(e);
        }
        place.assign(n, -1);
        node.reserve(n);
        const auto put = [&](int32_t v) {
            place[v] = static_cast<int32_t>(node.size());
            node.push_back(v);
        };
        for (int32_t root = 0; root < n; ++root) {
            if (place[root] >= 0) continue;
            const int64_t first = static_cast<int64_t>(node.size());
            int64_t halves = 0;
            put(root);
            for (int64_t p = first; p < static_cast<int64_t>(node.size()); ++p) {
                const int32_t v = node[p];
                halves += at[v + 1] - at[v];
                for (int64_t i = at[v]; i < at[v + 1]; ++i)
                    if (place[neighbour[i]] < 0) put(neighbour[i]);
            }
            const int64_t last = static_cast<int64_t>(node.size());
            if (halves) components.push_back({first, last, halves == 2 * (last - first - 1)});
        }
    }

    void lay_out(const Graph& graph, const std::vector<int32_t>& edges) {
        const int64_t n = graph.n_nodes();
        start.assign(n + 1, 0);
        for (const int32_t e : edges) ++start[place[graph.first(e)] + 1], ++start[place[graph.second(e)] + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        in.assign(n + 1, 0);
        for (int64_t p = 0; p < n; ++p) in[p + 1] = in[p] + degree(p) * graph.arity[node[p]];
        half.resize(start.back());
        half_of.assign(graph.n_edges(), -1);
        std::vector<int64_t> next(start.begin(), start.end() - 1);
        for (const int32_t e : edges) {
            const int32_t u = graph.first(e), v = graph.second(e), Ku = graph.arity[u], Kv = graph.arity[v];
            const int32_t p = place[u], q = place[v];
            const int64_t at_u = next[p]++, at_v = next[q]++;
            half[at_u] = {q, e, graph.edge_at[e], Kv, 1, into(q, at_v, Kv)};
            half[at_v] = {p, e, graph.edge_at[e], 1, Kv, into(p, at_u, Ku)};
            half_of[e] = at_u;
        }
    }
};

}  // namespace parsimon
