// What Python sees of graphs of discrete variables: belief propagation, Gibbs sampling, pseudo-likelihood.
#include "bindings/binding_arrays.hpp"
#include "graphs/belief_propagation.hpp"
#include "graphs/gibbs.hpp"
#include "graphs/pseudo_likelihood.hpp"

using namespace parsimon;

namespace {

template <class T>
std::vector<T> copied(const In<T>& array) {
    return {array.data(), array.data() + array.size()};
}

constexpr int64_t most_parts = int64_t{1} << 60;

Graph checked_graph(const In<int32_t>& arity, const In2<int32_t>& edges, const In<int64_t>& node_start,
                    const In<int64_t>& edge_start) {
    const auto n = static_cast<int64_t>(arity.size()), n_edges = static_cast<int64_t>(edges.shape(0));
    auto nodes_of = checked_offsets(node_start, n), edges_of = checked_offsets(edge_start, n_edges);
    require(nodes_of.size() == edges_of.size(), "instances must have variables and edges");
    require(edges.shape(1) == 2 && n_edges <= INT32_MAX && n < INT32_MAX, "an edge has two ends");
    for (int64_t v = 0; v < n; ++v) require(arity(v) >= 1, "a variable has at least one state");
    int64_t n_parts = 0;
    for (size_t i = 0; i + 1 < edges_of.size(); ++i)
        for (int64_t e = edges_of[i]; e < edges_of[i + 1]; ++e) {
            require(nodes_of[i] <= edges(e, 0) && edges(e, 0) < edges(e, 1) && edges(e, 1) < nodes_of[i + 1],
                    "an edge joins two variables of one instance, the lower first");
            n_parts += int64_t{arity(edges(e, 0))} * arity(edges(e, 1));
            require(n_parts <= most_parts, "there are too many pairs of states");
        }
    return Graph(copied(arity), {edges.data(), edges.data() + edges.size()}, std::move(nodes_of), std::move(edges_of));
}

void check_parts(const Graph& graph, size_t node, size_t edge) {
    require(static_cast<int64_t>(node) == graph.node_at.back() && static_cast<int64_t>(edge) == graph.edge_at.back(),
            "there must be one number a part");
}

GraphScores checked_scores(const Graph& graph, const In<double>& node, const In<double>& edge) {
    check_parts(graph, node.size(), edge.size());
    return {node.data(), edge.data()};
}

KeptMessages checked_messages(const Graph& graph, InOut<double>& messages, const In<int64_t>& message_at) {
    require(static_cast<int64_t>(message_at.size()) == graph.n_edges(), "messages must have a place for every edge");
    for (int64_t e = 0; e < graph.n_edges(); ++e) {
        const int64_t states = int64_t{graph.arity[graph.first(e)]} + graph.arity[graph.second(e)];
        require(message_at(e) >= 0 && message_at(e) <= static_cast<int64_t>(messages.size()) - states,
                "a message's place is out of range");
    }
    return {messages.data(), message_at.data()};
}

using Settings = std::tuple<int, double, int, double, bool>;  // schedule, tol, sweeps, damping, whether to raise it

PropagationSettings checked_settings(const Settings& given, int threads) {
    const auto& [schedule, tol, max_sweeps, damping, adaptive] = given;
    require(schedule >= 0 && schedule <= 2, "no such schedule");
    require(tol >= 0 && max_sweeps >= 1 && damping >= 0 && damping < 1, "settings are out of range");
    return {tol, max_sweeps, damping, adaptive, threads};
}

nb::tuple given_back(PropagationReport&& report) {
    return nb::make_tuple(to_numpy(std::move(report.sweeps)), to_numpy(std::move(report.residual)),
                          to_numpy(std::move(report.damping)));
}

}  // namespace

void bind_graphs(nb::module_& m) {
    nb::class_<Graph>(m, "Graph")
        .def(
            "__init__",
            [](Graph* self, const In<int32_t>& arity, const In2<int32_t>& edges, const In<int64_t>& node_start,
               const In<int64_t>& edge_start) {
                new (self) Graph(checked_graph(arity, edges, node_start, edge_start));
            },
            "arity"_a, "edges"_a, "node_start"_a, "edge_start"_a)
        .def(
            "marginals",
            [](const Graph& graph, const In<double>& node, const In<double>& edge, const Settings& settings,
               InOut<double> messages, const In<int64_t>& message_at, InOut<double> log_z, InOut<double> node_out,
               InOut<double> edge_out, Threads threads) {
                const GraphScores scores = checked_scores(graph, node, edge);
                const KeptMessages kept = checked_messages(graph, messages, message_at);
                const PropagationSettings how = checked_settings(settings, threads);
                check_parts(graph, node_out.size(), edge_out.size());
                require(static_cast<int64_t>(log_z.size()) == graph.n_instances(),
                        "there must be one log Z an instance");
                PropagationReport report;
                {
                    nb::gil_scoped_release free;
                    report = graph_marginals(graph, scores, std::get<0>(settings), how, kept, log_z.data(),
                                             node_out.data(), edge_out.data());
                }
                return given_back(std::move(report));
            },
            "node"_a, "edge"_a, "settings"_a, "messages"_a.noconvert(), "message_at"_a, "log_z"_a.noconvert(),
            "node_out"_a.noconvert(), "edge_out"_a.noconvert(), "threads"_a,
            "Sum-product belief propagation: sweeps, the largest change of a message and the damping, by instance.")
        .def(
            "argmax",
            [](const Graph& graph, const In<double>& node, const In<double>& edge, const Settings& settings,
               InOut<double> messages, const In<int64_t>& message_at, InOut<int32_t> states, Threads threads) {
                const GraphScores scores = checked_scores(graph, node, edge);
                const KeptMessages kept = checked_messages(graph, messages, message_at);
                const PropagationSettings how = checked_settings(settings, threads);
                require(static_cast<int64_t>(states.size()) == graph.n_nodes(), "there must be one state a variable");
                PropagationReport report;
                {
                    nb::gil_scoped_release free;
                    report = graph_argmax(graph, scores, std::get<0>(settings), how, kept, states.data());
                }
                return given_back(std::move(report));
            },
            "node"_a, "edge"_a, "settings"_a, "messages"_a.noconvert(), "message_at"_a, "states"_a.noconvert(),
            "threads"_a, "Max-product belief propagation, and states that fit together.")
        .def(
            "sample",
            [](const Graph& graph, const In<double>& node, const In<double>& edge, uint64_t seed, int64_t chains,
               int64_t burn_in, int64_t thin, const In<int32_t>& start, InOut2<int32_t> states, Threads threads) {
                const GraphScores scores = checked_scores(graph, node, edge);
                require(chains >= 1 && burn_in >= 1 && thin >= 1, "settings are out of range");
                require(static_cast<int64_t>(start.size()) == graph.n_nodes()
                            && static_cast<int64_t>(states.shape(1)) == graph.n_nodes(),
                        "there must be one state a variable");
                for (int64_t v = 0; v < graph.n_nodes(); ++v)
                    require(start(v) >= -1 && start(v) < graph.arity[v], "no such state");
                const auto n_draws = static_cast<int64_t>(states.shape(0));
                nb::gil_scoped_release free;
                return graph_sample(graph, scores, {seed, std::min(chains, n_draws), burn_in, thin, threads},
                                    start.data(), n_draws, states.data());
            },
            "node"_a, "edge"_a, "seed"_a, "chains"_a, "burn_in"_a, "thin"_a, "start"_a, "states"_a.noconvert(),
            "threads"_a, "Gibbs sampling; False if a variable had no possible state.")
        .def(
            "conditionals",
            [](const Graph& graph, const In<double>& node, const In<double>& edge, const In2<int32_t>& states,
               const In<double>& weights, InOut<double> value, InOut2<double> moments, InOut<double> node_out,
               InOut<double> edge_out, Threads threads) {
                const GraphScores scores = checked_scores(graph, node, edge);
                check_parts(graph, node_out.size(), edge_out.size());
                require(static_cast<int64_t>(value.size()) == graph.n_nodes() && moments.shape(0) == 2
                            && moments.shape(1) == node.size(),
                        "there must be one value a variable and two moments a part");
                const auto n = static_cast<int64_t>(states.shape(1));
                require(static_cast<int64_t>(states.shape(0)) == graph.n_nodes()
                            && static_cast<int64_t>(weights.size()) == n,
                        "there must be a state for every variable and row");
                for (int64_t v = 0; v < graph.n_nodes(); ++v)
                    for (int64_t r = 0; r < n; ++r)
                        require(states(v, r) >= 0 && states(v, r) < graph.arity[v], "no such state");
                nb::gil_scoped_release free;
                graph_conditionals(
                    graph, scores, {n, states.data(), weights.data()},
                    {value.data(), moments.data(), moments.data() + node.size(), node_out.data(), edge_out.data()},
                    threads);
            },
            "node"_a, "edge"_a, "states"_a, "weights"_a, "value"_a.noconvert(), "moments"_a.noconvert(),
            "node_out"_a.noconvert(), "edge_out"_a.noconvert(), "threads"_a,
            "Every variable given all others: minus log-probabilities of rows (variables × rows) and their derivatives "
            "by part scores.");
}
