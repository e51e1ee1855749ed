// Random sentences for templates of arcs, and templates of all kinds.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "dependency_trees/arc_templates.hpp"

namespace check {

using namespace parsimon;

// Three columns: two with one value a token, one with none to three.
inline ArcSentences random_sentences(std::mt19937& random, const std::vector<int64_t>& lengths) {
    std::vector<int64_t> offsets{0};
    for (const int64_t n : lengths) offsets.push_back(offsets.back() + n);
    std::vector<ArcColumn> columns(3);
    for (int c = 0; c < 2; ++c)
        for (int64_t k = 0; k < offsets.back(); ++k)
            columns[c].value.push_back(3 + static_cast<int32_t>(random() % (c ? 9 : 3)));
    columns[2].start.push_back(0);
    for (int64_t k = 0; k < offsets.back(); ++k) {
        for (int32_t v = 0; v < 3; ++v)
            if (random() % 2) columns[2].value.push_back(20 + v);
        columns[2].start.push_back(static_cast<int64_t>(columns[2].value.size()));
    }
    return {offsets, columns};
}

inline std::vector<ArcTemplate> some_templates() {
    std::vector<ArcTemplate> out;
    for (const bool direction : {false, true})
        for (const bool length : {false, true}) {
            out.push_back({{{{0, 0}}, {{0, 1}}}, -1, direction, length});
            out.push_back({{{{0, 0}, {1, 0}}, {}}, -1, direction, length});
            out.push_back({{{}, {{-2, 1}}}, -1, direction, length});
            out.push_back({{{{0, 2}}, {{0, 2}}}, -1, direction, length});
            out.push_back({{{}, {{0, 2}}}, 0, direction, length});
            out.push_back({{{{0, 0}}, {{0, 0}}}, 2, direction, length});
            out.push_back({{{}, {}}, 1, direction, length});
            out.push_back({{{}, {}}, -1, direction, length});
        }
    return out;
}

}  // namespace check
