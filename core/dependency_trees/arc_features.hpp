// Φ of a parser: scores of arcs, and their gradients, of attributes that are expanded whenever they are needed (see
// arc_visitor.hpp) and never stored.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/threads.hpp"
#include "dependency_trees/arc_dictionary.hpp"
#include "dependency_trees/arc_token_cells.hpp"
#include "dependency_trees/arc_visitor.hpp"

namespace parsimon {

// scores = Φ w of the sentences first … last − 1, laid end to end. Template after template over some sentences, so that
// a template's table and weights stay in the cache.
inline void arc_scores(const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
                       const double* w, double* out, int threads) {
    const auto& arcs = sentences.arcs();
    std::fill(out, out + (arcs[last] - arcs[first]), 0.0);
    const auto cuts =
        balanced_cuts(arcs.data() + first, last - first, std::max<int64_t>(16, (arcs[last] - arcs[first]) >> 14));
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        const int64_t begin = first + cuts[piece], end = first + cuts[piece + 1];
        ArcVisitor visitor(dictionary, sentences);
        ArcTokenCells tokens;
        tokens.resize(sentences, begin, end);
        const auto add = [w](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
            for (int32_t j = 0; j < n; ++j) cells[hits[j].cell] += w[hits[j].attribute];
        };
        for (int32_t t = 0; t < dictionary.n_templates(); ++t) {
            if (!dictionary.table(t).size()) continue;
            for (int64_t i = begin; i < end; ++i) {
                visitor.begin(i);
                visitor.visit(t, out + arcs[i] - arcs[first], tokens, w, add);
            }
        }
        for (int64_t i = begin; i < end; ++i) tokens.add_to_arcs(i, out + arcs[i] - arcs[first]);
    });
}

// out += Φᵀ parts. Threads over templates: each has a range of `out` of its own.
inline void arc_pullback(const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
                         const double* parts, double* out, int threads) {
    const auto& arcs = sentences.arcs();
    ArcTokenCells tokens;
    tokens.resize(sentences, first, last);
    parallel_for(last - first, threads,
                 [&](int64_t k, int) { tokens.add_arcs(first + k, parts + arcs[first + k] - arcs[first]); });
    parallel_for(dictionary.n_templates(), threads, [&](int64_t t, int) {
        if (!dictionary.table(static_cast<int32_t>(t)).size()) return;
        ArcVisitor visitor(dictionary, sentences);
        const auto add = [out](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
            for (int32_t j = 0; j < n; ++j) out[hits[j].attribute] += cells[hits[j].cell];
        };
        for (int64_t i = first; i < last; ++i) {
            visitor.begin(i);
            visitor.visit(static_cast<int32_t>(t), const_cast<double*>(parts) + arcs[i] - arcs[first], tokens, out,
                          add);
        }
    });
}

}  // namespace parsimon
