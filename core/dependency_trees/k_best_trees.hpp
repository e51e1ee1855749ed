// The k best trees, by parts of the space of all trees that never overlap (Murty 1968, Lawler 1972; for trees Camerini,
// Fratta & Maffioli 1980): when the best tree of a part has been taken, what remains of the part are, for every token
// that was free, the trees that agree with it on the tokens before and differ there. Any finder of best trees will do.
#pragma once

#include <algorithm>
#include <queue>
#include <vector>

#include "dependency_trees/arcs.hpp"

namespace parsimon {

// Arcs may have labels: a choice for a token is head · n_labels + label.
template <class Finder>
class BestTrees {
  public:
    // values[r · value_stride], choices[r · choice_stride + m − 1] for r < k; −∞ and −1 where there are fewer trees.
    // `part` is n × (n + 1) × n_labels.
    void find(Finder& finder, const double* part, int32_t n, int32_t n_labels, bool single_root, int32_t k,
              double* values, int64_t value_stride, int32_t* choices, int64_t choice_stride) {
        part_ = part;
        n_ = n;
        n_labels_ = n_labels;
        single_root_ = single_root;
        choose_labels();
        found_.clear();
        queue_ = {};
        add(finder, {}, 0, {});
        for (int32_t r = 0; r < k; ++r) {
            double& value = values[r * value_stride];
            int32_t* choice = choices + r * choice_stride;
            if (queue_.empty()) {
                value = r == 0 ? first_value_ : no_tree;
                std::fill_n(choice, n, -1);
                continue;
            }
            const Found best = std::move(found_[queue_.top().second]);
            queue_.pop();
            value = best.value;
            std::copy(best.choice.begin(), best.choice.end(), choice);
            if (r + 1 < k) split(finder, best);
        }
    }

  private:
    // The best tree of a part: trees with these choices for the first `fixed` tokens, and for the next one none of
    // those that are `barred`.
    struct Found {
        double value;
        std::vector<int32_t> choice;
        int32_t fixed;
        std::vector<int32_t> barred;
    };
    // A larger value first, then who was found first.
    struct Worse {
        bool operator()(const std::pair<double, int64_t>& a, const std::pair<double, int64_t>& b) const {
            return a.first != b.first ? a.first < b.first : a.second > b.second;
        }
    };

    const double* parts_of(int32_t h, int32_t m) const { return part_ + arc_at(n_, h, m) * n_labels_; }

    void choose_labels() {
        arc_.resize(arc_at(n_, 0, n_ + 1));
        label_.resize(arc_.size());
        for (size_t a = 0; a < arc_.size(); ++a) {
            const double* part = part_ + a * n_labels_;
            label_[a] = static_cast<int32_t>(std::max_element(part, part + n_labels_) - part);
            arc_[a] = part[label_[a]];
        }
    }

    void split(Finder& finder, const Found& best) {
        for (int32_t m = best.fixed; m < n_; ++m) {
            std::vector<int32_t> barred = m == best.fixed ? best.barred : std::vector<int32_t>{};
            barred.push_back(best.choice[m]);
            add(finder, best.choice, m, std::move(barred));
        }
    }

    void add(Finder& finder, const std::vector<int32_t>& agreed, int32_t fixed, std::vector<int32_t> barred) {
        score_ = arc_;
        for (int32_t m = 1; m <= fixed; ++m) {
            double* row = score_.data() + arc_at(n_, 0, m);
            const int32_t h = agreed[m - 1] / n_labels_;
            std::fill_n(row, n_ + 1, no_tree);
            row[h] = parts_of(h, m)[agreed[m - 1] % n_labels_];
        }
        for (const int32_t choice : barred) {
            const int32_t h = choice / n_labels_, label = free_label(h, fixed + 1, barred);
            score_[arc_at(n_, h, fixed + 1)] = label < 0 ? no_tree : parts_of(h, fixed + 1)[label];
        }
        Found found{0.0, std::vector<int32_t>(n_), fixed, std::move(barred)};
        found.value = finder.best(score_.data(), n_, single_root_, found.choice.data());
        if (found_.empty()) first_value_ = found.value;
        if (!(found.value > no_tree)) return;
        for (int32_t m = 1; m <= n_; ++m) {
            const int32_t h = found.choice[m - 1];
            int32_t label = label_[arc_at(n_, h, m)];
            if (m <= fixed) label = agreed[m - 1] % n_labels_;
            else if (m == fixed + 1) label = free_label(h, m, found.barred);
            found.choice[m - 1] = h * n_labels_ + label;
        }
        queue_.push({found.value, static_cast<int64_t>(found_.size())});
        found_.push_back(std::move(found));
    }

    // The best label of an arc that is not barred, −1 if all are.
    int32_t free_label(int32_t h, int32_t m, const std::vector<int32_t>& barred) const {
        const double* part = parts_of(h, m);
        int32_t best = -1;
        for (int32_t label = 0; label < n_labels_; ++label) {
            if (best >= 0 && !(part[label] > part[best])) continue;
            if (std::find(barred.begin(), barred.end(), h * n_labels_ + label) == barred.end()) best = label;
        }
        return best;
    }

    const double* part_ = nullptr;
    int32_t n_ = 0, n_labels_ = 1;
    bool single_root_ = false;
    double first_value_ = no_tree;  // −∞ or not a number when there is no first
    std::vector<double> arc_, score_;
    std::vector<int32_t> label_;
    std::vector<Found> found_;
    std::priority_queue<std::pair<double, int64_t>, std::vector<std::pair<double, int64_t>>, Worse> queue_;
};

}  // namespace parsimon
