// Loopy belief propagation on discrete variables (Pearl 1988; Kschischang, Frey & Loeliger 2001): sums or maxima over
// states are passed along edges until they no longer change. On a tree the answers are exact.
//
// Messages are in message_passing.hpp, the order in which they are renewed in message_schedules.hpp; here are the loop
// around them and what comes out: beliefs, log Z, states.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/threads.hpp"
#include "graphs/graph.hpp"
#include "graphs/message_passing.hpp"
#include "graphs/message_schedules.hpp"

namespace parsimon {

struct PropagationSettings {
    double tol;  // of the largest change of a message
    int max_sweeps;
    double damping;  // the share of the old message in the new one
    bool adaptive;   // more damping where changes do not get smaller
    int threads;
};

// How it went, instance by instance: sweeps, the largest change in the last of them, the damping in the end.
struct PropagationReport {
    std::vector<int32_t> sweeps;
    std::vector<double> residual, damping;
};

// Messages as they are kept between calls, edge by edge: that to the first end, then that to the second.
struct KeptMessages {
    double* message;
    const int64_t* at;  // [E]
};

// visit(message, the same as kept, how many numbers) for all messages of a component.
template <class Passing, class Visit>
void each_message(const Graph& graph, Passing& passing, const Component& component, const KeptMessages& kept,
                  Visit&& visit) {
    const ScoredGraph& scored = passing.scored();
    for (int64_t p = component.first; p < component.last; ++p) {
        const int32_t v = scored.node[p], n = graph.arity[v];
        for (int64_t s = scored.start[p]; s < scored.start[p + 1]; ++s) {
            const int32_t e = scored.half[s].edge;
            const int64_t at = kept.at[e] + (graph.first(e) == v ? 0 : graph.arity[graph.first(e)]);
            visit(passing.messages().data() + scored.into(p, s, n), kept.message + at, n);
        }
    }
}

// Begins with the kept messages. What was impossible with the last scores may be possible with these, so −∞ becomes 0.
template <class Passing>
void load_messages(const Graph& graph, Passing& passing, const Component& component, const KeptMessages& kept) {
    each_message(graph, passing, component, kept, [](double* message, const double* old, int64_t n) {
        for (int64_t x = 0; x < n; ++x) message[x] = std::isfinite(old[x]) ? old[x] : 0.0;
    });
}

// Keeps the messages for the next call; zeros in place of messages that did not settle, which are no good to start
// from.
template <class Passing>
void store_messages(const Graph& graph, Passing& passing, const Component& component, const KeptMessages& kept,
                    bool settled) {
    each_message(graph, passing, component, kept, [settled](const double* message, double* old, int64_t n) {
        for (int64_t x = 0; x < n; ++x) old[x] = settled ? message[x] : 0.0;
    });
}

// How it went in one component.
struct ComponentReport {
    int32_t sweeps = 0;
    double residual = 0, damping = 0;
};

// Every so many sweeps it is seen whether changes get smaller; one or two sweeps say little in a loop.
constexpr int sweeps_between_looks = 10;
// Changes that are not below this share of those before count as no progress: then damping goes halfway to one.
constexpr double progress = 0.9;
// With more damping than this, messages would hardly move, and a small change would no longer mean that they have
// settled.
constexpr double most_damping = 0.9;

// Sweeps over one component until messages no longer change.
template <template <class> class Schedule, class Passing>
ComponentReport sweep_until_settled(Passing& passing, const Component& component, const PropagationSettings& settings,
                                    int threads) {
    const bool exact = Schedule<Passing>::exact_on_trees && component.tree;
    Schedule<Passing> schedule(passing, component, threads);
    ComponentReport report;
    report.damping = exact ? 0.0 : settings.damping;
    double before = std::numeric_limits<double>::infinity();
    for (report.sweeps = 1;; ++report.sweeps) {
        report.residual = schedule.sweep(report.damping, settings.tol);
        if (exact) report.residual = 0;
        if (report.residual <= settings.tol || report.sweeps >= settings.max_sweeps) return report;
        if (report.sweeps % sweeps_between_looks) continue;
        if (settings.adaptive && !(report.residual < progress * before))
            report.damping = std::max(report.damping, std::min(most_damping, (1 + report.damping) / 2));
        before = report.residual;
    }
}

// The most that any component of an instance needed.
inline PropagationReport by_instance(const Graph& graph, const ScoredGraph& scored,
                                     const std::vector<ComponentReport>& components) {
    const auto n = static_cast<size_t>(graph.n_instances());
    PropagationReport report{std::vector<int32_t>(n, 0), std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
    for (size_t c = 0; c < components.size(); ++c) {
        const int32_t v = scored.node[scored.components[c].first];
        const auto i =
            std::upper_bound(graph.node_start.begin(), graph.node_start.end(), v) - graph.node_start.begin() - 1;
        report.sweeps[i] = std::max(report.sweeps[i], components[c].sweeps);
        report.residual[i] = std::max(report.residual[i], components[c].residual);
        report.damping[i] = std::max(report.damping[i], components[c].damping);
    }
    return report;
}

// Messages from those that were kept to those that no longer change, which are kept in turn. Components run side by
// side; large ones with threads of their own, if the schedule knows how to use them.
template <template <class> class Schedule, class Passing>
PropagationReport propagate(const Graph& graph, Passing& passing, const PropagationSettings& settings,
                            const KeptMessages& kept) {
    constexpr int64_t large = 1 << 13;  // half-edges from which threads of its own are worth their start
    const ScoredGraph& scored = passing.scored();
    const auto n = static_cast<int64_t>(scored.components.size());
    std::vector<ComponentReport> reports(n);
    const auto run = [&](int64_t c, int threads) {
        const Component& component = scored.components[c];
        load_messages(graph, passing, component, kept);
        reports[c] = sweep_until_settled<Schedule>(passing, component, settings, threads);
        store_messages(graph, passing, component, kept, reports[c].residual <= settings.tol);
    };
    const auto has_own_threads = [&](int64_t c) {
        const Component& component = scored.components[c];
        return Schedule<Passing>::split && scored.start[component.last] - scored.start[component.first] >= large;
    };
    for (int64_t c = 0; c < n; ++c)
        if (has_own_threads(c)) run(c, settings.threads);
    parallel_for(n, settings.threads, [&](int64_t c, int) {
        if (!has_own_threads(c)) run(c, 1);
    });
    return by_instance(graph, scored, reports);
}

// Logarithms of weights to probabilities. Returns log Σ exp.
inline double normalise(double* weight, int64_t n) {
    const double high = *std::max_element(weight, weight + n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += weight[i] = std::exp(weight[i] - high);
    for (int64_t i = 0; i < n; ++i) weight[i] /= sum;
    return high > impossible ? high + std::log(sum) : high;
}

// Beliefs of all parts, and the Bethe approximation of log Z (Yedidia, Freeman & Weiss 2005), instance by instance:
//
//     log Z = Σ_v (1 − d_v) log Z_v + Σ_e log Z_e
//
// with Z_v and Z_e what beliefs are divided by. At a fixed point its derivatives by messages are zero, so those by
// scores are the beliefs. Where an edge does not score, its belief is the product of its ends'.
template <class Passing>
void beliefs(const Graph& graph, const Passing& passing, const GraphScores& scores, double* log_z, double* node,
             double* edge, int threads) {
    const ScoredGraph& scored = passing.scored();
    std::vector<double> of_node(graph.n_nodes()), of_edge(graph.n_edges(), 0.0), total(graph.node_at.back());
    parallel_for_pieces(graph.n_nodes(), 64, threads, [&](int64_t v, int) {
        const int64_t at = graph.node_at[v], n = graph.arity[v];
        double* mine = total.data() + at;
        passing.gather(scored.place[v], mine);
        std::copy_n(mine, n, node + at);
        of_node[v] = normalise(node + at, n);
    });
    std::vector<MessageRoom> rooms(std::max(threads, 1), MessageRoom(scored.most_states));
    parallel_for_pieces(graph.n_edges(), 512, threads, [&](int64_t e, int worker) {
        const int64_t u = graph.first(e), v = graph.second(e), Ku = graph.arity[u], Kv = graph.arity[v],
                      s = scored.half_of[e];
        double* out = edge + graph.edge_at[e];
        if (s < 0) {
            const double *p = node + graph.node_at[u], *q = node + graph.node_at[v];
            for (int64_t x = 0; x < Ku; ++x)
                for (int64_t y = 0; y < Kv; ++y) out[x * Kv + y] = p[x] * q[y];
            return;
        }
        double *a = rooms[worker].cavity.data(), *b = rooms[worker].message.data();
        const int64_t at_v = scored.place[v], back = scored.start[at_v] + (scored.half[s].out - scored.in[at_v]) / Kv;
        passing.cavity(scored.place[u], s, total.data() + graph.node_at[u], a);
        passing.cavity(at_v, back, total.data() + graph.node_at[v], b);
        const double* score = scores.edge + graph.edge_at[e];
        for (int64_t x = 0; x < Ku; ++x)
            for (int64_t y = 0; y < Kv; ++y) out[x * Kv + y] = a[x] + b[y] + score[x * Kv + y];
        of_edge[e] = normalise(out, Ku * Kv);
    });
    for (int64_t i = 0; i < graph.n_instances(); ++i) {
        double sum = 0;
        for (int64_t v = graph.node_start[i]; v < graph.node_start[i + 1]; ++v) sum += of_node[v];
        for (int64_t e = graph.edge_start[i]; e < graph.edge_start[i + 1]; ++e)
            if (scored.half_of[e] >= 0) sum += of_edge[e] - of_node[graph.first(e)] - of_node[graph.second(e)];
        log_z[i] = sum;
    }
}

// States one by one, each the best given those already chosen around it and what the others say. In a tree variables
// come after their parents, so that the output is one of the best, whichever of equals is taken.
template <class Passing>
void decode(const Graph& graph, Passing& passing, const GraphScores& scores, int32_t* state, int threads) {
    const ScoredGraph& scored = passing.scored();
    const auto choose = [&](int64_t p, double* total) {
        const int32_t v = scored.node[p];
        const int64_t n = graph.arity[v];
        std::copy_n(scores.node + graph.node_at[v], n, total);
        for (int64_t s = scored.start[p]; s < scored.start[p + 1]; ++s) {
            const HalfEdge& half = scored.half[s];
            const double *score = scores.edge + half.scores, *in = passing.messages().data() + scored.into(p, s, n);
            const int64_t known = half.to < p ? state[scored.node[half.to]] * half.other : 0;
            for (int64_t x = 0; x < n; ++x) total[x] += half.to < p ? score[x * half.own + known] : in[x];
        }
        state[v] = static_cast<int32_t>(std::max_element(total, total + n) - total);
    };
    std::vector<MessageRoom> rooms(std::max(threads, 1), MessageRoom(scored.most_states));
    const auto n = static_cast<int64_t>(scored.components.size());
    parallel_for(n, threads, [&](int64_t c, int worker) {
        for (int64_t p = scored.components[c].first; p < scored.components[c].last; ++p)
            choose(p, rooms[worker].total.data());
    });
    for (int64_t p = 0; p < graph.n_nodes(); ++p)
        if (!scored.degree(p)) choose(p, rooms[0].total.data());
}

// body(propagation) with one for these variables.
template <class Product, class Body>
auto with_message_passing(const Graph& graph, const ScoredGraph& scored, const GraphScores& scores, Body&& body) {
    if (std::all_of(graph.arity.begin(), graph.arity.end(), [](int32_t K) { return K == 2; })) {
        MessagePassing<Product, 2> passing(graph, scored, scores);
        return body(passing);
    }
    MessagePassing<Product, 0> passing(graph, scored, scores);
    return body(passing);
}

// Schedules by number.
template <class Passing>
PropagationReport propagate(int schedule, const Graph& graph, Passing& passing, const PropagationSettings& settings,
                            const KeptMessages& kept) {
    switch (schedule) {
        case 0: return propagate<SequentialSchedule>(graph, passing, settings, kept);
        case 1: return propagate<FloodingSchedule>(graph, passing, settings, kept);
        default: return propagate<ResidualSchedule>(graph, passing, settings, kept);
    }
}

inline PropagationReport graph_marginals(const Graph& graph, const GraphScores& scores, int schedule,
                                         const PropagationSettings& settings, const KeptMessages& kept, double* log_z,
                                         double* node, double* edge) {
    const ScoredGraph scored(graph, scores.edge);
    return with_message_passing<SumProduct>(graph, scored, scores, [&](auto& passing) {
        PropagationReport report = propagate(schedule, graph, passing, settings, kept);
        beliefs(graph, passing, scores, log_z, node, edge, settings.threads);
        return report;
    });
}

inline PropagationReport graph_argmax(const Graph& graph, const GraphScores& scores, int schedule,
                                      const PropagationSettings& settings, const KeptMessages& kept, int32_t* state) {
    const ScoredGraph scored(graph, scores.edge);
    return with_message_passing<MaxProduct>(graph, scored, scores, [&](auto& passing) {
        PropagationReport report = propagate(schedule, graph, passing, settings, kept);
        decode(graph, passing, scores, state, settings.threads);
        return report;
    });
}

}  // namespace parsimon
