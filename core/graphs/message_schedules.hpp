// The order in which belief propagation renews messages. A sweep renews as many as there are.
//
// A schedule says whether one sweep is exact on a tree (`exact_on_trees`) and whether it can use threads within one
// component (`split`). sweep(damping, tol) returns the largest change of a message.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/priority_queue.hpp"
#include "base/threads.hpp"
#include "graphs/graph.hpp"
#include "graphs/message_passing.hpp"

namespace parsimon {

// Variable after variable: towards the root of a breadth-first forest, then away from it. A tree needs one sweep.
template <class Passing>
class SequentialSchedule {
  public:
    static constexpr bool exact_on_trees = true, split = false;

    SequentialSchedule(Passing& passing, const Component& component, int)
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
    MessageRoom room_;
};

// All at once, from those of the sweep before.
template <class Passing>
class FloodingSchedule {
  public:
    static constexpr bool exact_on_trees = false, split = true;

    FloodingSchedule(Passing& passing, const Component& component, int threads)
        : passing_(passing), component_(component), threads_(threads), base_(passing.scored().in[component.first]),
          next_(passing.scored().in[component.last] - base_), change_(component.last - component.first),
          room_(std::max(threads, 1), MessageRoom(passing.scored().most_states)) {}

    double sweep(double damping, double) {
        const ScoredGraph& scored = passing_.scored();
        parallel_for_pieces(component_.last - component_.first, 16, threads_, [&](int64_t i, int worker) {
            MessageRoom& room = room_[worker];
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
    std::vector<MessageRoom> room_;
};

// Whichever would change most comes first (Elidan, McGraw & Koller 2006).
template <class Passing>
class ResidualSchedule {
  public:
    static constexpr bool exact_on_trees = false, split = false;

    ResidualSchedule(Passing& passing, const Component& component, int)
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
    MessageRoom room_;
    PriorityQueue queue_;
};

}  // namespace parsimon
