// Scores and gradients of templates that look at one end of an arc only (and its direction and length): they are looked
// up once a token, not once an arc. Scores gather in cells of tokens, which are added to the arcs in the end; gradients
// go the other way round.
#pragma once

#include <cstdint>
#include <vector>

#include "dependency_trees/arc_templates.hpp"
#include "dependency_trees/arcs.hpp"

namespace parsimon {

// A number for each token, as head and as modifier, and for what templates may see of the arcs there.
class ArcTokenCells {
  public:
    static constexpr int32_t width = 1 + 2 + ArcLengths::n + ArcLengths::n_codes;

    // Where the cells of a template are, among those of a token.
    static int32_t place(bool direction, bool length) {
        return direction ? (length ? 3 + ArcLengths::n : 1) : (length ? 3 : 0);
    }

    void resize(const ArcSentences& sentences, int64_t first, int64_t last) {
        sentences_ = &sentences;
        first_ = first;
        const int64_t tokens = sentences.offsets()[last] - sentences.offsets()[first] + (last - first);
        for (auto& cells : cells_) cells.assign(tokens * width, 0.0);
    }
    double* of(int s, int64_t i) {
        return cells_[s].data() + (sentences_->offsets()[i] - sentences_->offsets()[first_] + (i - first_)) * width;
    }

    // Adds the cells of a sentence's tokens to its arcs, and the numbers of arcs to the cells.
    void add_to_arcs(int64_t i, double* arcs) {
        each(i, [](double& cell, double& arc) { arc += cell; }, arcs);
    }
    void add_arcs(int64_t i, const double* arcs) {
        each(i, [](double& cell, const double& arc) { cell += arc; }, arcs);
    }

  private:
    template <class Body, class Number>
    void each(int64_t i, Body&& body, Number* arcs) {
        const int32_t n = sentences_->length(i);
        double *of_head = of(0, i), *of_modifier = of(1, i);
        for (int32_t m = 1; m <= n; ++m)
            for (int32_t h = 0; h <= n; ++h) {
                if (h == m) continue;
                Number& arc = arcs[arc_at(n, h, m)];
                const int32_t code = ArcLengths::code(h, m);
                const int32_t at[] = {0, 1 + code / ArcLengths::n, 3 + code % ArcLengths::n, 3 + ArcLengths::n + code};
                for (const int32_t k : at) {
                    body(of_head[h * width + k], arc);
                    body(of_modifier[m * width + k], arc);
                }
            }
    }

    const ArcSentences* sentences_ = nullptr;
    int64_t first_ = 0;
    std::vector<double> cells_[2];
};

}  // namespace parsimon
