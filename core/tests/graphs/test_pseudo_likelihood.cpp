#include <cmath>
#include <random>
#include <vector>

#include "graphs/pseudo_likelihood.hpp"
#include "tests/check.hpp"
#include "tests/graphs/random_graphs.hpp"

using namespace parsimon;
using namespace check;

TEST("the pseudo-likelihood of rows is that of outputs with one variable changed, and its gradient is exact") {
    ScoredCase c = make_case(5, true);
    std::mt19937 random(6);
    const int64_t n = 700;  // more than is done at a time
    std::vector<int32_t> state(c.graph.n_nodes() * n);
    std::vector<double> weight(n);
    for (int64_t v = 0; v < c.graph.n_nodes(); ++v)
        for (int64_t r = 0; r < n; ++r) state[v * n + r] = static_cast<int32_t>(random() % c.graph.arity[v]);
    for (double& w : weight) w = static_cast<double>(random() % 100) / 7000;
    const auto loss = [&] {
        double sum = 0;
        for (int64_t r = 0; r < n; ++r) {
            std::vector<int32_t> row(c.graph.n_nodes());
            for (int64_t v = 0; v < c.graph.n_nodes(); ++v) row[v] = state[v * n + r];
            const double mine = c.score(row);
            for (int64_t v = 0; v < c.graph.n_nodes(); ++v) {
                std::vector<int32_t> other = row;
                double total = 0;
                for (other[v] = 0; other[v] < c.graph.arity[v]; ++other[v]) total += std::exp(c.score(other) - mine);
                sum += weight[r] * std::log(total);
            }
        }
        return sum;
    };
    std::vector<double> value(c.graph.n_nodes()), moments(2 * c.node.size()), node(c.node.size()), edge(c.edge.size());
    graph_conditionals(c.graph, c.scores(), {n, state.data(), weight.data()},
                       {value.data(), moments.data(), moments.data() + c.node.size(), node.data(), edge.data()}, 2);
    CHECK_NEAR(std::accumulate(value.begin(), value.end(), 0.0), loss(), 1e-10);
    const auto slope = [&](double& score) {
        const double before = score, step = 1e-5;
        score = before + step;
        const double up = loss();
        score = before - step;
        const double down = loss();
        score = before;
        return (up - down) / (2 * step);
    };
    for (size_t i = 0; i < node.size(); i += 5) CHECK_NEAR(node[i], slope(c.node[i]), 1e-7);
    for (size_t i = 0; i < edge.size(); i += 7) CHECK_NEAR(edge[i], slope(c.edge[i]), 1e-7);
}
