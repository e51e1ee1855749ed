#include <cmath>
#include <random>

#include "graphs/belief_propagation.hpp"
#include "graphs/gibbs.hpp"
#include "graphs/pseudo_likelihood.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

struct Case {
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
Case make_case(unsigned seed, bool loops) {
    std::mt19937 random(seed);
    std::normal_distribution<double> number(0, 1);
    std::vector<int32_t> ends{0, 2, 1, 2, 2, 3, 5, 6, 6, 7};
    if (loops) ends.insert(ends.end(), {5, 7});
    const int64_t n_edges = static_cast<int64_t>(ends.size()) / 2;
    Case out{Graph({2, 3, 2, 1, 4, 2, 2, 3}, ends, {0, 5, 8}, {0, 3, n_edges}), {}, {}};
    for (int64_t i = 0; i < out.graph.node_at.back(); ++i) out.node.push_back(number(random));
    for (int64_t i = 0; i < out.graph.edge_at.back(); ++i) out.edge.push_back(number(random));
    return out;
}

// visit(states) for every output of both instances together.
template <class Visit>
void each_output(const Graph& graph, Visit&& visit) {
    std::vector<int32_t> state(graph.n_nodes(), 0);
    while (true) {
        visit(state);
        int64_t v = 0;
        for (; v < graph.n_nodes() && ++state[v] == graph.arity[v]; ++v) state[v] = 0;
        if (v == graph.n_nodes()) return;
    }
}

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
    const Case c = make_case(1, false);
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
        Case c = make_case(2, loops);
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
    Case c = make_case(3, true);
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

TEST("a queue gives the largest, whatever changes") {
    std::mt19937 random(4);
    std::vector<double> priority(50);
    for (double& p : priority) p = static_cast<double>(random() % 20);
    PriorityQueue queue(priority);
    for (int i = 0; i < 500; ++i) {
        const auto top = std::max_element(priority.begin(), priority.end()) - priority.begin();
        CHECK(queue.top() == top);
        const auto item = static_cast<int64_t>(random() % 50);
        queue.change(item, priority[item] = static_cast<double>(random() % 20));
    }
}

TEST("the pseudo-likelihood of rows is that of outputs with one variable changed, and its gradient is exact") {
    Case c = make_case(5, true);
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

TEST("Gibbs sampling draws states as often as they should come, for any number of threads") {
    const Case c = make_case(7, true);
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
