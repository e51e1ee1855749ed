// Where the arcs of a sentence are. Tokens have the numbers 1 … n and the root is 0. Numbers for arcs (scores,
// marginals) are n × (n + 1), row by row of modifiers: the one of head → modifier is at (modifier − 1)(n + 1) + head.
// Those of a token as its own head are never looked at.
#pragma once

#include <cstdint>
#include <limits>

namespace parsimon {

constexpr double no_tree = -std::numeric_limits<double>::infinity();
constexpr double not_numbers = std::numeric_limits<double>::quiet_NaN();

inline int64_t arc_at(int32_t n, int32_t head, int32_t modifier) {
    return static_cast<int64_t>(modifier - 1) * (n + 1) + head;
}

// Whether all scores are numbers or −∞ (which forbids an arc).
inline bool are_scores(const double* score, int32_t n) {
    bool fine = true;
    for (int32_t m = 1; m <= n; ++m) {
        const double* row = score + arc_at(n, 0, m);
        for (int32_t h = 0; h < m; ++h) fine &= row[h] < std::numeric_limits<double>::infinity();
        for (int32_t h = m + 1; h <= n; ++h) fine &= row[h] < std::numeric_limits<double>::infinity();
    }
    return fine;
}

// Scores of arcs added up in the order of modifiers: every algorithm gives the same tree the same score, to the bit.
inline double tree_score(const double* score, int32_t n, const int32_t* head) {
    double sum = 0;
    for (int32_t m = 1; m <= n; ++m) sum += score[arc_at(n, head[m - 1], m)];
    return sum;
}

inline int32_t root_arcs(int32_t n, const int32_t* head) {
    int32_t count = 0;
    for (int32_t m = 0; m < n; ++m) count += head[m] == 0;
    return count;
}

}  // namespace parsimon
