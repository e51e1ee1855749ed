// Scores and gradients of templates that look at one end of an arc only (and its direction and length): they are looked
// up once a token, not once an arc. Scores gather in cells of tokens, which are added to the arcs in the end; gradients
// go the other way round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dependency_trees/arc_range.hpp"

namespace parsimon {

// A number for each place, as head and as modifier, and for what templates may see of the arcs there.
class ArcTokenCells {
  public:
    static constexpr int32_t width = 1 + 2 + ArcLengths::n + ArcLengths::n_codes;

    // Where the cells of a template are, among those of a place.
    static int32_t first(bool direction, bool length) {
        return direction ? (length ? 3 + ArcLengths::n : 1) : (length ? 3 : 0);
    }

    void resize(int64_t places) {
        for (auto& cells : cells_) cells.assign(places * width, 0.0);
    }
    double* of(int s) { return cells_[s].data(); }

    // Adds the cells of places to arcs, and the numbers of arcs to the cells.
    void add_to_arcs(std::span<const SeenArc> seen, double* arcs) {
        each(seen, [](double& cell, double& arc) { arc += cell; }, arcs);
    }
    void add_arcs(std::span<const SeenArc> seen, const double* arcs) {
        each(seen, [](double& cell, const double& arc) { cell += arc; }, arcs);
    }

  private:
    template <class Body, class Number>
    void each(std::span<const SeenArc> seen, Body&& body, Number* arcs) {
        for (const SeenArc& each : seen) {
            double *of_head = cells_[0].data() + static_cast<int64_t>(each.head) * width,
                   *of_modifier = cells_[1].data() + static_cast<int64_t>(each.modifier) * width;
            const int32_t code = each.code;
            const int32_t at[] = {0, 1 + code / ArcLengths::n, 3 + code % ArcLengths::n, 3 + ArcLengths::n + code};
            for (const int32_t k : at) {
                body(of_head[k], arcs[each.cell]);
                body(of_modifier[k], arcs[each.cell]);
            }
        }
    }

    std::vector<double> cells_[2];
};

}  // namespace parsimon
