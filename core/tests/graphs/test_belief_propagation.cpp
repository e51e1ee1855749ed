#include <cmath>
#include <random>
#include <vector>

#include "graphs/belief_propagation.hpp"
#include "tests/check.hpp"
#include "tests/graphs/random_graphs.hpp"

using namespace parsimon;
using namespace check;

namespace {

struct Kept {
    std::vector<double> message;
    std::vector<int64_t> at;
    explicit Kept(const Graph& graph) {
        for (int64_t e = 0; e < graph.n_edges(); ++e) {
            at.push_back(static_cast<int64_t>(message.size()));
            message.resize(message.size() + graph.arity[graph.first(e)] + graph.arity[graph.second(e)], 0.0);
        }
    }
    KeptMessages view() { return {message.data(), at.data()}; }
};

}  // namespace

TEST("every schedule of belief propagation sums over the outputs of a forest") {
    const ScoredCase c = make_case(1, false);
    double total = 0;
    std::vector<double> node(c.node.size(), 0.0), edge(c.edge.size(), 0.0);
    each_output(c.graph, [&](const std::vector<int32_t>& state) {
        const double weight = std::exp(c.score(state));
        total += weight;
        for (int64_t v = 0; v < c.graph.n_nodes(); ++v) node[c.graph.node_at[v] + state[v]] += weight;
        for (int64_t e = 0; e < c.graph.n_edges(); ++e)
            edge[c.graph.edge_at[e] + state[c.graph.first(e)] * c.graph.arity[c.graph.second(e)]
                 + state[c.graph.second(e)]] += weight;
    });
    for (int schedule = 0; schedule < 3; ++schedule) {
        Kept kept(c.graph);
        std::vector<double> log_z(2), of_node(node.size()), of_edge(edge.size());
        const PropagationReport report = graph_marginals(c.graph, c.scores(), schedule, {1e-12, 100, 0.1, true, 2},
                                                         kept.view(), log_z.data(), of_node.data(), of_edge.data());
        CHECK_NEAR(log_z[0] + log_z[1], std::log(total), 1e-10);
        for (size_t i = 0; i < node.size(); ++i) CHECK_NEAR(of_node[i], node[i] / total, 1e-10);
        for (size_t i = 0; i < edge.size(); ++i) CHECK_NEAR(of_edge[i], edge[i] / total, 1e-10);
        for (const double residual : report.residual) CHECK(residual <= 1e-12);
    }
}

TEST("max-product finds the best output of a forest, and a possible one in a loop with forbidden pairs") {
    for (const bool loops : {false, true}) {
        ScoredCase c = make_case(2, loops);
        if (loops) c.edge[c.graph.edge_at[5]] = c.edge[c.graph.edge_at[5] + 4] = impossible;
        double best = impossible;
        each_output(c.graph, [&](const std::vector<int32_t>& state) { best = std::max(best, c.score(state)); });
        for (int schedule = 0; schedule < 3; ++schedule) {
            Kept kept(c.graph);
            std::vector<int32_t> state(c.graph.n_nodes(), -1);
            graph_argmax(c.graph, c.scores(), schedule, {1e-12, 100, 0.0, true, 2}, kept.view(), state.data());
            const double found = c.score(state);
            if (loops) CHECK(found > impossible && found <= best);
            else CHECK_NEAR(found, best, 1e-12);
        }
    }
}

TEST("edges without scores take no part") {
    ScoredCase c = make_case(3, true);
    for (int64_t i = c.graph.edge_at[1]; i < c.graph.edge_at[2]; ++i) c.edge[i] = 0;
    const ScoredGraph scored(c.graph, c.edge.data());
    CHECK(scored.half_of[1] < 0 && scored.half_of[0] >= 0);
    CHECK(scored.n_halves() == 10);
    CHECK(scored.components.size() == 2);
    CHECK(scored.components[0].tree && !scored.components[1].tree);
    for (int64_t p = 0; p < c.graph.n_nodes(); ++p)
        for (int64_t s = scored.start[p]; s < scored.start[p + 1];
             ++s) {  // the half-edge at the other end leads back here
            const HalfEdge& half = scored.half[s];
            const int64_t K = c.graph.arity[scored.node[half.to]];
            const int64_t back = scored.start[half.to] + (half.out - scored.in[half.to]) / K;
            CHECK(scored.half[back].to == p && scored.half[back].edge == half.edge);
            CHECK(scored.half[back].out == scored.into(p, s, c.graph.arity[scored.node[p]]));
        }
}

TEST("a large component is the same for any number of threads") {
    std::mt19937 random(9);
    std::normal_distribution<double> number(0, 1);
    const int32_t n = 5000;  // a ring: 10,000 messages a sweep
    std::vector<int32_t> ends;
    for (int32_t v = 0; v + 1 < n; ++v) ends.insert(ends.end(), {v, v + 1});
    ends.insert(ends.end(), {0, n - 1});
    ScoredCase c{Graph(std::vector<int32_t>(n, 2), ends, {0, n}, {0, n}), {}, {}};
    for (int64_t i = 0; i < c.graph.node_at.back(); ++i) c.node.push_back(number(random));
    for (int64_t i = 0; i < c.graph.edge_at.back(); ++i) c.edge.push_back(0.3 * number(random));
    for (int schedule = 0; schedule < 2; ++schedule) {
        std::vector<double> node[2], edge[2];
        for (const int threads : {1, 4}) {
            const int at = threads > 1;
            Kept kept(c.graph);
            std::vector<double> log_z(1);
            node[at].resize(c.node.size());
            edge[at].resize(c.edge.size());
            graph_marginals(c.graph, c.scores(), schedule, {1e-6, 5, 0.0, false, threads}, kept.view(), log_z.data(),
                            node[at].data(), edge[at].data());
        }
        CHECK(node[0] == node[1] && edge[0] == edge[1]);
    }
}
