// Loopy belief propagation on discrete variables (Pearl 1988; Kschischang, Frey & Loeliger 2001): sums or maxima over
// states are passed along edges until they no longer change. On a tree the answers are exact.
//
//     m_{u→v}(y) = ⊕_x [θ_u(x) + θ_uv(x, y) + Σ_{t ≠ v} m_{t→u}(x)]        ⊕: log Σ exp, or max
//
// Messages are logarithms and have the maximum 0, so scores of any size do no harm; −∞ is a state that cannot be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "graphs/graph.hpp"

namespace parsimon {

constexpr double impossible = -std::numeric_limits<double>::infinity();

// log Σ exp: marginals. K is the number of terms if it is known beforehand, or 0.
struct SumProduct {
    template <int K, class Term>
    static double over(int64_t n, Term&& term) {
        if constexpr (K == 2) {
            const double a = term(0), b = term(1), high = std::max(a, b);
            return high > impossible ? high + std::log(1 + std::exp(std::min(a, b) - high)) : a + b;
        }
        double high = impossible, sum = 0;
        for (int64_t x = 0; x < n; ++x) high = std::max(high, term(x));
        if (high == impossible) return high;
        for (int64_t x = 0; x < n; ++x) sum += std::exp(term(x) - high);
        return high + std::log(sum);
    }
};

// The best outputs.
struct MaxProduct {
    template <int K, class Term>
    static double over(int64_t n, Term&& term) {
        double high = term(0);
        for (int64_t x = 1; x < n; ++x) high = std::max(high, term(x));
        return high;
    }
};

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

// The messages, and how one variable passes on what it has heard. K: the states of every variable, or 0 if they differ.
template <class Product, int K>
class Propagation {
  public:
    Propagation(const Graph& graph, const ScoredGraph& scored, const GraphScores& scores)
        : graph_(graph), scored_(scored), scores_(scores), message_(scored.message_size(), 0.0) {}

    const ScoredGraph& scored() const { return scored_; }
    std::vector<double>& messages() { return message_; }
    int64_t states(int64_t place) const { return K ? K : graph_.arity[scored_.node[place]]; }

    // θ_v plus all that comes in.
    void gather(int64_t place, double* total) const {
        const int64_t n = states(place);
        const double* own = scores_.node + graph_.node_at[scored_.node[place]];
        for (int64_t x = 0; x < n; ++x) total[x] = own[x];
        const double *in = message_.data() + scored_.in[place], *end = message_.data() + scored_.in[place + 1];
        for (; in != end; in += n)
            for (int64_t x = 0; x < n; ++x) total[x] += in[x];
    }

    // The same without what came along half-edge s.
    void cavity(int64_t place, int64_t s, const double* total, double* out) const {
        const int64_t n = states(place);
        const double* in = message_.data() + scored_.into(place, s, n);
        for (int64_t x = 0; x < n; ++x) out[x] = in[x] > impossible ? total[x] - in[x] : without(place, s, x);
    }

    // The message that goes out along half-edge s, from the cavity there. Returns how much it differs from the one
    // before.
    double send(int64_t s, int64_t n, const double* cavity, double damping, double* out) const {
        const HalfEdge& half = scored_.half[s];
        const double *score = scores_.edge + half.scores, *old = message_.data() + half.out;
        const int64_t m = states(half.to);
        double high = impossible, change = 0;
        for (int64_t y = 0; y < m; ++y) {
            out[y] = Product::template over<K>(
                n, [&](int64_t x) { return cavity[x] + score[x * half.own + y * half.other]; });
            high = std::max(high, out[y]);
        }
        for (int64_t y = 0; y < m; ++y) {
            if (high > impossible) out[y] -= high;
            if (out[y] == old[y]) continue;
            change = std::max(change, std::abs(out[y] - old[y]));
            if (damping > 0) out[y] = (1 - damping) * out[y] + damping * old[y];
        }
        return change;
    }

  private:
    double without(int64_t place, int64_t s, int64_t x) const {
        const int64_t n = states(place);
        double sum = scores_.node[graph_.node_at[scored_.node[place]] + x];
        for (int64_t t = scored_.start[place]; t < scored_.start[place + 1]; ++t)
            if (t != s) sum += message_[scored_.into(place, t, n) + x];
        return sum;
    }

    const Graph& graph_;
    const ScoredGraph& scored_;
    const GraphScores scores_;
    std::vector<double> message_;
};

// Room for the numbers of one variable, twice, and for a message.
struct PropagationRoom {
    std::vector<double> total, cavity, message;
    explicit PropagationRoom(int64_t states) : total(states), cavity(states), message(states) {}
};

// --- Schedules: which messages are renewed in what order. A sweep renews as many as there are.
// ---------------------------

// Variable after variable: towards the root of a breadth-first forest, then away from it. A tree needs one sweep.
template <class Passing>
class Sequential {
  public:
    static constexpr bool exact_on_trees = true, split = false;

    Sequential(Passing& passing, const Component& component, int)
        : passing_(passing), component_(component), room_(passing.scored().most_states) {}

    double sweep(double damping, double) {
        double change = 0;
        for (int64_t p = component_.last; p-- > component_.first;)
            change = std::max(change, pass(p, damping, [p](int64_t to) { return to < p; }));
        for (int64_t p = component_.first; p < component_.last; ++p)
            change = std::max(change, pass(p, damping, [p](int64_t to) { return to > p; }));
        return change;
    }

  private:
    template <class Wanted>
    double pass(int64_t p, double damping, Wanted&& wanted) {
        const ScoredGraph& scored = passing_.scored();
        const int64_t n = passing_.states(p);
        double change = 0;
        passing_.gather(p, room_.total.data());
        for (int64_t s = scored.start[p]; s < scored.start[p + 1]; ++s) {
            const HalfEdge& half = scored.half[s];
            if (!wanted(half.to)) continue;
            passing_.cavity(p, s, room_.total.data(), room_.cavity.data());
            change = std::max(change, passing_.send(s, n, room_.cavity.data(), damping, room_.message.data()));
            std::copy_n(room_.message.data(), passing_.states(half.to), passing_.messages().data() + half.out);
        }
        return change;
    }

    Passing& passing_;
    const Component component_;
    PropagationRoom room_;
};

// All at once, from those of the sweep before.
template <class Passing>
class Flooding {
  public:
    static constexpr bool exact_on_trees = false, split = true;

    Flooding(Passing& passing, const Component& component, int threads)
        : passing_(passing), component_(component), threads_(threads), base_(passing.scored().in[component.first]),
          next_(passing.scored().in[component.last] - base_), change_(component.last - component.first),
          room_(std::max(threads, 1), PropagationRoom(passing.scored().most_states)) {}

    double sweep(double damping, double) {
        const ScoredGraph& scored = passing_.scored();
        in_pieces(component_.last - component_.first, 16, threads_, [&](int64_t i, int worker) {
            PropagationRoom& room = room_[worker];
            const int64_t p = component_.first + i, n = passing_.states(p);
            passing_.gather(p, room.total.data());
            change_[i] = 0;
            for (int64_t s = scored.start[p]; s < scored.start[p + 1]; ++s) {
                passing_.cavity(p, s, room.total.data(), room.cavity.data());
                double* out = next_.data() + scored.half[s].out - base_;
                change_[i] = std::max(change_[i], passing_.send(s, n, room.cavity.data(), damping, out));
            }
        });
        std::copy(next_.begin(), next_.end(), passing_.messages().begin() + base_);
        return *std::max_element(change_.begin(), change_.end());
    }

  private:
    Passing& passing_;
    const Component component_;
    const int threads_;
    const int64_t base_;
    std::vector<double> next_, change_;
    std::vector<PropagationRoom> room_;
};

// Items by priority, the largest on top (the first of equals), which can be changed at any time.
class PriorityQueue {
  public:
    explicit PriorityQueue(std::vector<double> priority)
        : priority_(std::move(priority)), heap_(priority_.size()), at_(priority_.size()) {
        std::iota(heap_.begin(), heap_.end(), int64_t{0});
        at_ = heap_;
        for (int64_t i = size() / 2; i-- > 0;) sink(i);
    }

    int64_t size() const { return static_cast<int64_t>(heap_.size()); }
    int64_t top() const { return heap_[0]; }
    double priority(int64_t item) const { return priority_[item]; }

    void change(int64_t item, double priority) {
        priority_[item] = priority;
        rise(at_[item]);
        sink(at_[item]);
    }

  private:
    bool before(int64_t a, int64_t b) const {
        return priority_[a] > priority_[b] || (priority_[a] == priority_[b] && a < b);
    }
    void put(int64_t i, int64_t item) { heap_[i] = item, at_[item] = i; }
    void rise(int64_t i) {
        const int64_t item = heap_[i];
        for (int64_t up = (i - 1) / 2; i > 0 && before(item, heap_[up]); i = up, up = (i - 1) / 2) put(i, heap_[up]);
        put(i, item);
    }
    void sink(int64_t i) {
        const int64_t item = heap_[i];
        for (int64_t down = 2 * i + 1; down < size(); i = down, down = 2 * i + 1) {
            if (down + 1 < size() && before(heap_[down + 1], heap_[down])) ++down;
            if (!before(heap_[down], item)) break;
            put(i, heap_[down]);
        }
        put(i, item);
    }

    std::vector<double> priority_;
    std::vector<int64_t> heap_, at_;
};

// Whichever would change most comes first (Elidan, McGraw & Koller 2006).
template <class Passing>
class Residual {
  public:
    static constexpr bool exact_on_trees = false, split = false;

    Residual(Passing& passing, const Component& component, int)
        : passing_(passing), base_(passing.scored().in[component.first]),
          first_(passing.scored().start[component.first]), next_(passing.scored().in[component.last] - base_),
          room_(passing.scored().most_states), queue_(all_changes(component)) {}

    double sweep(double damping, double tol) {
        const ScoredGraph& scored = passing_.scored();
        for (int64_t i = 0; i < queue_.size(); ++i) {
            const int64_t s = queue_.top();
            if (queue_.priority(s) <= tol) break;
            const HalfEdge& half = scored.half[first_ + s];
            double *message = passing_.messages().data() + half.out, left = 0;
            const double* next = next_.data() + half.out - base_;
            for (int64_t y = 0; y < passing_.states(half.to); ++y) {
                if (message[y] == next[y]) continue;
                message[y] = damping > 0 ? (1 - damping) * next[y] + damping * message[y] : next[y];
                if (message[y] != next[y]) left = std::max(left, std::abs(next[y] - message[y]));
            }
            queue_.change(s, left);
            look(half.to, [&](int64_t t, double new_change) { queue_.change(t - first_, new_change); });
        }
        return queue_.priority(queue_.top());
    }

  private:
    // What the variable at a place would say now; found(half-edge, how much that differs from what it has said).
    template <class Found>
    void look(int64_t p, Found&& found) {
        const ScoredGraph& scored = passing_.scored();
        passing_.gather(p, room_.total.data());
        for (int64_t s = scored.start[p]; s < scored.start[p + 1]; ++s) {
            passing_.cavity(p, s, room_.total.data(), room_.cavity.data());
            found(s, passing_.send(s, passing_.states(p), room_.cavity.data(), 0.0,
                                   next_.data() + scored.half[s].out - base_));
        }
    }

    std::vector<double> all_changes(const Component& component) {
        std::vector<double> changes(passing_.scored().start[component.last] - first_);
        for (int64_t p = component.first; p < component.last; ++p)
            look(p, [&](int64_t s, double change) { changes[s - first_] = change; });
        return changes;
    }

    Passing& passing_;
    const int64_t base_, first_;
    std::vector<double> next_;
    PropagationRoom room_;
    PriorityQueue queue_;
};

// --- The whole
// -----------------------------------------------------------------------------------------------------------

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

// What was impossible need not be so any more.
template <class Passing>
void recall(const Graph& graph, Passing& passing, const Component& component, const KeptMessages& kept) {
    each_message(graph, passing, component, kept, [](double* message, const double* old, int64_t n) {
        for (int64_t x = 0; x < n; ++x) message[x] = std::isfinite(old[x]) ? old[x] : 0.0;
    });
}

// Messages that did not settle are no good to start from.
template <class Passing>
void remember(const Graph& graph, Passing& passing, const Component& component, const KeptMessages& kept,
              bool settled) {
    each_message(graph, passing, component, kept, [settled](const double* message, double* old, int64_t n) {
        for (int64_t x = 0; x < n; ++x) old[x] = settled ? message[x] : 0.0;
    });
}

// Sweeps over one component until messages stand still. Where they do not, every ten sweeps damping goes halfway to
// one.
template <template <class> class Schedule, class Passing>
void settle(Passing& passing, const Component& component, const PropagationSettings& settings, int threads,
            int32_t& sweeps, double& residual, double& damping) {
    constexpr int patience = 10;
    constexpr double most_damping = 0.9, too_little = 0.9;
    using Plan = Schedule<Passing>;
    const bool exact = Plan::exact_on_trees && component.tree;
    Plan plan(passing, component, threads);
    damping = exact ? 0.0 : settings.damping;
    double before = std::numeric_limits<double>::infinity();
    for (sweeps = 1;; ++sweeps) {
        residual = plan.sweep(damping, settings.tol);
        if (exact) residual = 0;
        if (residual <= settings.tol || sweeps >= settings.max_sweeps) return;
        if (sweeps % patience) continue;
        if (settings.adaptive && !(residual < too_little * before))
            damping = std::max(damping, std::min(most_damping, (1 + damping) / 2));
        before = residual;
    }
}

// Messages from those that were kept to those that no longer change, which are kept in turn. Components run side by
// side; large ones with threads of their own, if the schedule knows how to use them.
template <template <class> class Schedule, class Passing>
PropagationReport propagate(const Graph& graph, Passing& passing, const PropagationSettings& settings,
                            const KeptMessages& kept) {
    constexpr int64_t large = 1 << 13;
    const ScoredGraph& scored = passing.scored();
    const auto n = static_cast<int64_t>(scored.components.size());
    std::vector<int32_t> sweeps(n, 0);
    std::vector<double> residual(n, 0.0), damping(n, 0.0);
    const auto run = [&](int64_t c, int threads) {
        const Component& component = scored.components[c];
        recall(graph, passing, component, kept);
        settle<Schedule>(passing, component, settings, threads, sweeps[c], residual[c], damping[c]);
        remember(graph, passing, component, kept, residual[c] <= settings.tol);
    };
    const auto alone = [&](int64_t c) {
        const Component& component = scored.components[c];
        return Schedule<Passing>::split && scored.start[component.last] - scored.start[component.first] >= large;
    };
    for (int64_t c = 0; c < n; ++c)
        if (alone(c)) run(c, settings.threads);
    parallel_for(n, settings.threads, [&](int64_t c, int) {
        if (!alone(c)) run(c, 1);
    });
    PropagationReport report{std::vector<int32_t>(graph.n_instances(), 0),
                             std::vector<double>(graph.n_instances(), 0.0),
                             std::vector<double>(graph.n_instances(), 0.0)};
    for (int64_t c = 0; c < n; ++c) {
        const int32_t v = scored.node[scored.components[c].first];
        const int64_t i =
            std::upper_bound(graph.node_start.begin(), graph.node_start.end(), v) - graph.node_start.begin() - 1;
        report.sweeps[i] = std::max(report.sweeps[i], sweeps[c]);
        report.residual[i] = std::max(report.residual[i], residual[c]);
        report.damping[i] = std::max(report.damping[i], damping[c]);
    }
    return report;
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
    in_pieces(graph.n_nodes(), 64, threads, [&](int64_t v, int) {
        const int64_t at = graph.node_at[v], n = graph.arity[v];
        double* mine = total.data() + at;
        passing.gather(scored.place[v], mine);
        std::copy_n(mine, n, node + at);
        of_node[v] = normalise(node + at, n);
    });
    std::vector<PropagationRoom> rooms(std::max(threads, 1), PropagationRoom(scored.most_states));
    in_pieces(graph.n_edges(), 512, threads, [&](int64_t e, int worker) {
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
    std::vector<PropagationRoom> rooms(std::max(threads, 1), PropagationRoom(scored.most_states));
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
auto with_propagation(const Graph& graph, const ScoredGraph& scored, const GraphScores& scores, Body&& body) {
    if (std::all_of(graph.arity.begin(), graph.arity.end(), [](int32_t K) { return K == 2; })) {
        Propagation<Product, 2> passing(graph, scored, scores);
        return body(passing);
    }
    Propagation<Product, 0> passing(graph, scored, scores);
    return body(passing);
}

// Schedules by number.
template <class Passing>
PropagationReport propagate(int schedule, const Graph& graph, Passing& passing, const PropagationSettings& settings,
                            const KeptMessages& kept) {
    switch (schedule) {
        case 0: return propagate<Sequential>(graph, passing, settings, kept);
        case 1: return propagate<Flooding>(graph, passing, settings, kept);
        default: return propagate<Residual>(graph, passing, settings, kept);
    }
}

inline PropagationReport graph_marginals(const Graph& graph, const GraphScores& scores, int schedule,
                                         const PropagationSettings& settings, const KeptMessages& kept, double* log_z,
                                         double* node, double* edge) {
    const ScoredGraph scored(graph, scores.edge);
    return with_propagation<SumProduct>(graph, scored, scores, [&](auto& passing) {
        PropagationReport report = propagate(schedule, graph, passing, settings, kept);
        beliefs(graph, passing, scores, log_z, node, edge, settings.threads);
        return report;
    });
}

inline PropagationReport graph_argmax(const Graph& graph, const GraphScores& scores, int schedule,
                                      const PropagationSettings& settings, const KeptMessages& kept, int32_t* state) {
    const ScoredGraph scored(graph, scores.edge);
    return with_propagation<MaxProduct>(graph, scored, scores, [&](auto& passing) {
        PropagationReport report = propagate(schedule, graph, passing, settings, kept);
        decode(graph, passing, scores, state, settings.threads);
        return report;
    });
}

}  // namespace parsimon
