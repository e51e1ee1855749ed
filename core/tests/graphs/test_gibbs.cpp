#include <cmath>
#include <random>
#include <vector>

#include "graphs/gibbs.hpp"
#include "tests/check.hpp"
#include "tests/graphs/random_graphs.hpp"

using namespace parsimon;
using namespace check;

TEST("Gibbs sampling draws states as often as they should come, for any number of threads") {
    const ScoredCase c = make_case(7, true);
    double total = 0;
    std::vector<double> node(c.node.size(), 0.0), share(c.node.size(), 0.0);
    each_output(c.graph, [&](const std::vector<int32_t>& state) {
        const double weight = std::exp(c.score(state));
        total += weight;
        for (int64_t v = 0; v < c.graph.n_nodes(); ++v) node[c.graph.node_at[v] + state[v]] += weight;
    });
    const int64_t n = 4000;
    const std::vector<int32_t> start(c.graph.n_nodes(), -1);
    std::vector<int32_t> draws(n * c.graph.n_nodes()), again(draws.size());
    CHECK(graph_sample(c.graph, c.scores(), {3, 5, 20, 2, 1}, start.data(), n, draws.data()));
    CHECK(graph_sample(c.graph, c.scores(), {3, 5, 20, 2, 3}, start.data(), n, again.data()));
    CHECK(draws == again);
    for (int64_t r = 0; r < n; ++r)
        for (int64_t v = 0; v < c.graph.n_nodes(); ++v)
            share[c.graph.node_at[v] + draws[r * c.graph.n_nodes() + v]] += 1.0 / n;
    for (size_t i = 0; i < node.size(); ++i) CHECK(std::abs(share[i] - node[i] / total) < 0.05);
}
