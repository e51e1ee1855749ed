// Φ of a parser: scores of arcs, and their gradients, of attributes that are expanded whenever they are needed (see
// arc_visitor.hpp) and never stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "dependency_trees/arc_dictionary.hpp"
#include "dependency_trees/arc_token_cells.hpp"
#include "dependency_trees/arc_visitor.hpp"
#include "dependency_trees/arcs.hpp"

namespace parsimon {

// Pieces with so few arcs that what a visitor keeps of them stays in the cache.
inline std::vector<int64_t> small_arc_pieces(const ArcSentences& sentences, int64_t first, int64_t last) {
    return arc_pieces(sentences, first, last, std::max<int64_t>(16, sentences.looked_at(first, last) >> 14));
}

// scores = Φ w of the sentences first … last − 1, laid end to end; −∞ for arcs that are not looked at.
inline void arc_scores(const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
                       const double* w, double* out, int threads) {
    const auto& arcs = sentences.arcs();
    std::fill(out, out + (arcs[last] - arcs[first]), sentences.all_arcs() ? 0.0 : no_tree);
    const auto cuts = small_arc_pieces(sentences, first, last);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        double* scores = out + arcs[cuts[piece]] - arcs[first];
        ArcVisitor visitor(dictionary, sentences);
        visitor.begin(cuts[piece], cuts[piece + 1]);
        for (const SeenArc& each : visitor.arcs()) scores[each.cell] = 0.0;
        ArcTokenCells tokens;
        tokens.resize(visitor.n_places());
        const auto add = [w](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
            for (int32_t j = 0; j < n; ++j) cells[hits[j].cell] += w[hits[j].attribute];
        };
        for (int32_t t = 0; t < dictionary.n_templates(); ++t) visitor.visit(t, scores, tokens, w, add);
        tokens.add_to_arcs(visitor.arcs(), scores);
    });
}

// out += Φᵀ parts. Threads share out the templates: each has a range of `out` of its own.
inline void arc_pullback(const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
                         const double* parts, double* out, int threads) {
    static constexpr int32_t together = 8;  // templates, for which what they share is found once
    const auto cuts = small_arc_pieces(sentences, first, last);
    const auto n_pieces = static_cast<int64_t>(cuts.size()) - 1;
    const auto& arcs = sentences.arcs();
    std::vector<ArcTokenCells> tokens(n_pieces);
    parallel_for(n_pieces, threads, [&](int64_t piece, int) {
        ArcVisitor visitor(dictionary, sentences);
        visitor.begin(cuts[piece], cuts[piece + 1]);
        tokens[piece].resize(visitor.n_places());
        tokens[piece].add_arcs(visitor.arcs(), parts + arcs[cuts[piece]] - arcs[first]);
    });
    const auto add = [out](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
        for (int32_t j = 0; j < n; ++j) out[hits[j].attribute] += cells[hits[j].cell];
    };
    const int64_t n_templates = dictionary.n_templates();
    parallel_for((n_templates + together - 1) / together, threads, [&](int64_t group, int) {
        ArcVisitor visitor(dictionary, sentences);
        const int64_t end = std::min(n_templates, (group + 1) * together);
        for (int64_t piece = 0; piece < n_pieces; ++piece) {
            visitor.begin(cuts[piece], cuts[piece + 1]);
            double* cells = const_cast<double*>(parts) + arcs[cuts[piece]] - arcs[first];
            for (int64_t t = group * together; t < end; ++t)
                visitor.visit(static_cast<int32_t>(t), cells, tokens[piece], out, add);
        }
    });
}

// The attributes of some arcs, each token's in the order of templates: start[n_tokens + 1] and attributes.
inline std::pair<std::vector<int64_t>, std::vector<int32_t>> arc_attributes(const ArcDictionary& dictionary,
                                                                            const ArcSentences& sentences,
                                                                            int64_t first, int64_t last,
                                                                            const int32_t* heads, int threads) {
    const auto& offsets = sentences.offsets();
    std::vector<int64_t> head_start{0};
    std::vector<int32_t> chosen;
    for (int64_t k = 0; k < offsets.back(); ++k) {
        const int32_t head = k < offsets[first] || k >= offsets[last] ? -1 : heads[k - offsets[first]];
        if (head >= 0) chosen.push_back(head);
        head_start.push_back(static_cast<int64_t>(chosen.size()));
    }
    const ArcSentences trees = sentences.only(std::move(head_start), std::move(chosen));
    const auto cuts = small_arc_pieces(trees, first, last);
    const auto n_pieces = static_cast<int64_t>(cuts.size()) - 1;
    std::vector<std::vector<ArcVisitor::Hit>> found(n_pieces);  // hits of tokens
    std::vector<int64_t> start(offsets[last] - offsets[first] + 1, 0);
    parallel_for(n_pieces, threads, [&](int64_t piece, int) {
        ArcVisitor visitor(dictionary, trees);
        visitor.begin(cuts[piece], cuts[piece + 1]);
        std::vector<int32_t> token_of(trees.arcs()[cuts[piece + 1]] - trees.arcs()[cuts[piece]]);
        auto arc = visitor.arcs().begin();  // one for every token that has a head
        for (int64_t k = offsets[cuts[piece]] - offsets[first]; k < offsets[cuts[piece + 1]] - offsets[first]; ++k)
            if (heads[k] >= 0) token_of[arc++->cell] = static_cast<int32_t>(k);
        const auto keep = [&](double*, const ArcVisitor::Hit* hits, int32_t n) {
            for (int32_t j = 0; j < n; ++j) {
                const int32_t token = token_of[hits[j].cell];
                found[piece].push_back({token, hits[j].attribute});
                ++start[token + 1];
            }
        };
        for (int32_t t = 0; t < dictionary.n_templates(); ++t) visitor.visit_arcs(t, nullptr, nullptr, keep);
    });
    for (size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
    std::vector<int32_t> index(start.back());
    std::vector<int64_t> at(start.begin(), start.end() - 1);
    for (const auto& hits : found)
        for (const ArcVisitor::Hit& hit : hits) index[at[hit.cell]++] = hit.attribute;
    return {std::move(start), std::move(index)};
}

}  // namespace parsimon
