// The best tree of all, crossing arcs or not: maximum spanning arborescence (Chu & Liu 1965, Edmonds 1967) in O(n²),
// by growing paths towards the root and contracting the cycles met (Tarjan 1977; Gabow, Galil, Spencer & Tarjan 1986).
#pragma once

#include <algorithm>
#include <vector>

#include "dependency_trees/arcs.hpp"

namespace parsimon {

class SpanningTree {
  public:
    // The score of the best tree; head[m − 1] is the head of token m. −∞ when there is no tree. `single_root`: only
    // one token may hang on the root.
    double best(const double* score, int32_t n, bool single_root, int32_t* head) {
        if (!are_scores(score, n)) return not_numbers;
        if (!grow(score, n, false)) return no_tree;
        read_heads(head);
        if (single_root && root_arcs(n, head) > 1) {
            grow(score, n, true);
            read_heads(head);
            if (root_arcs(n, head) > 1) return no_tree;
        }
        return tree_score(score, n, head);
    }

  private:
    // A node is the root (0), a token, or a contracted cycle (n + 1 …, in the order of contraction).
    struct Node {
        int32_t from, into;  // the best arc that enters it: token or root → token inside
        double score;        // its score, less those of the arcs that it would replace inside
        int32_t parent;      // the cycle it was contracted into, 0 for none
        int32_t row;         // where the scores of arcs into it are
        bool on_path, reached, settled;
    };

    // Chooses an arc into every node there ever is; false when some node cannot be entered.
    //
    // `root_last` enters from the root only where nothing else enters. That is the best tree under the scores
    // (number of arcs from the root, least first; score): pairs in lexicographic order, which no constant large
    // enough for all scores could imitate without rounding (Gabow & Tarjan 1984; Stanojević & Cohen 2021). The
    // first member of a pair never needs to be stored: arcs on cycles do not come from the root, so it is 1 in the
    // root's column and 0 elsewhere, contracted or not.
    bool grow(const double* score, int32_t n, bool root_last) {
        start(score, n);
        for (int32_t token = 1; token <= n; ++token) {
            if (node_[top_[token]].reached) continue;
            path_.clear();
            int32_t at = top_[token];
            while (true) {
                path_.push_back(at);
                node_[at].on_path = true;
                if (!enter(at, n, root_last)) return false;
                const int32_t before = top_[node_[at].from];
                if (node_[before].reached) break;
                at = node_[before].on_path ? contract(before, n) : before;
            }
            for (const int32_t each : path_) node_[each].reached = true;
        }
        return true;
    }

    void start(const double* score, int32_t n) {
        const int64_t stride = n + 1;
        into_score_.assign(score, score + n * stride);
        into_token_.resize(n * stride);
        node_.assign(n + 1, Node{0, 0, 0.0, 0, 0, false, false, false});
        top_.resize(n + 1);
        node_[0].reached = true;
        top_[0] = 0;
        for (int32_t m = 1; m <= n; ++m) {
            node_[m].row = m - 1;
            top_[m] = m;
            into_score_[arc_at(n, m, m)] = no_tree;
        }
    }

    // The best arc into a node from outside it; the first of equals.
    bool enter(int32_t at, int32_t n, bool root_last) {
        Node& node = node_[at];
        const double* row = into_score_.data() + static_cast<int64_t>(node.row) * (n + 1);
        int32_t from = root_last ? 1 : 0;
        for (int32_t u = from + 1; u <= n; ++u)
            if (row[u] > row[from]) from = u;
        if (!(row[from] > no_tree)) from = 0;
        node.from = from;
        node.into = at <= n ? at : into_token_[static_cast<int64_t>(node.row) * (n + 1) + from];
        node.score = row[from];
        return row[from] > no_tree;
    }

    // Makes one node of the end of the path, from `first` on, which is a cycle. To enter it at some node replaces
    // the arc of the cycle that enters there now.
    int32_t contract(int32_t first, int32_t n) {
        const auto made = static_cast<int32_t>(node_.size());
        node_.push_back({0, 0, 0.0, 0, node_[first].row, false, false, false});
        const int64_t stride = n + 1;
        double* row = into_score_.data() + node_[first].row * stride;
        int32_t* token = into_token_.data() + node_[first].row * stride;
        for (int64_t u = 0; u <= n; ++u) row[u] -= node_[first].score;
        if (first <= n) std::fill_n(token, stride, first);
        int32_t each;
        do {
            each = path_.back();
            path_.pop_back();
            node_[each].on_path = false;
            node_[each].parent = made;
            if (each != first) take_better(node_[each], each <= n ? each : 0, row, token, stride);
        } while (each != first);
        for (int32_t u = 1; u <= n; ++u)
            if (node_[top_[u]].parent == made) {
                top_[u] = made;
                row[u] = no_tree;
            }
        return made;
    }

    void take_better(const Node& other, int32_t only, double* row, int32_t* token, int64_t stride) const {
        const double* score = into_score_.data() + other.row * stride;
        const int32_t* into = into_token_.data() + other.row * stride;
        for (int64_t u = 0; u < stride; ++u) {
            const double replaced = score[u] - other.score;
            if (!(replaced > row[u])) continue;
            row[u] = replaced;
            token[u] = only ? only : into[u];
        }
    }

    // From the last cycle to the first: the arc into a node is the one into a token in it, and settles every cycle
    // around that token up to the node; the other nodes of those cycles keep their own arcs.
    void read_heads(int32_t* head) {
        for (auto at = static_cast<int32_t>(node_.size()) - 1; at > 0; --at) {
            if (node_[at].settled) continue;
            head[node_[at].into - 1] = node_[at].from;
            for (int32_t inside = node_[at].into; inside != at; inside = node_[inside].parent)
                node_[inside].settled = true;
        }
    }

    std::vector<double>
        into_score_;  // [n][n + 1]: the best arc from every token (or the root) into a node, −∞ from inside
    std::vector<int32_t> into_token_;  // [n][n + 1]: the token it enters; only for contracted nodes
    std::vector<Node> node_;
    std::vector<int32_t> top_;   // [n + 1]: the outermost node around each token
    std::vector<int32_t> path_;  // nodes, each the modifier of the one after it
};

}  // namespace parsimon
