// Coordinate descent on a quadratic model of a loss of linear scores (newGLMNET: Yuan, Ho & Lin 2012; Friedman et al. 2010).
//
//     min_δ  g·δ + ½ Σ_{n,y} D[n][y] (Xδ)[n][y]²  +  Σ_k l1_k |w_k + δ_k| + ½ q_k (w_k + δ_k − c_k)²
//
// X is a sparse map whose rows are instances; D is the second derivative of the loss by each score. What is kept up to
// date is the margin Xδ, so a step on one feature costs as much as the attribute has entries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "linear_map.hpp"

namespace parsimon {

struct QuadraticModel {
    const LinearMap& map;
    const double* curvature;       // D [rows][width]
    const double* gradient;        // g [K]
    const double *l1, *pull, *centre;  // [K]
};

// Which attribute and column a feature is of, and how strongly it bends the model: Σ D x².
struct Coordinate {
    int64_t feature;
    int32_t attribute, column;
    double bend;
};

inline std::vector<Coordinate> coordinates(const QuadraticModel& model, const int64_t* active, int64_t n) {
    const FeatureRows& features = model.map.features();
    const Csr& attributes = model.map.attributes();
    std::vector<Coordinate> out(n);
    int64_t a = 0;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t k = active[i];
        if (features.all) a = k / features.width;
        else
            while (features.start[a + 1] <= k) ++a;
        const auto column = static_cast<int32_t>(features.all ? k % features.width : features.column[k]);
        double bend = 1e-12;  // an attribute that never fires must not divide by zero
        for (int64_t e = attributes.start[a]; e < attributes.start[a + 1]; ++e) {
            const double x = attributes.value.empty() ? 1.0 : attributes.value[e];
            bend += model.curvature[attributes.index[e] * features.width + column] * x * x;
        }
        out[i] = {k, static_cast<int32_t>(a), column, bend + model.pull[k]};
    }
    return out;
}

// Sweeps over the active features (ascending) until no step changes the model by more than `tol` times what the largest
// step of the first sweep did, or `most` sweeps are done; δ and the margin Xδ go on from what they are. Returns the
// number of sweeps.
inline int descend_coordinates(const QuadraticModel& model, const int64_t* active, int64_t n, const double* w, double tol, int most,
                               double* delta, double* margin) {
    const Csr& attributes = model.map.attributes();
    const int64_t width = model.map.features().width;
    const auto value = [&](int64_t e) { return attributes.value.empty() ? 1.0 : attributes.value[e]; };
    const std::vector<Coordinate> all = coordinates(model, active, n);
    double first_largest = 0;
    for (int sweep = 1; sweep <= most; ++sweep) {
        double largest = 0;
        for (const auto& [k, a, column, bend] : all) {
            const int64_t first = attributes.start[a], last = attributes.start[a + 1];
            double slope = model.gradient[k] + model.pull[k] * (w[k] + delta[k] - model.centre[k]);
            for (int64_t e = first; e < last; ++e) {
                const int64_t at = attributes.index[e] * width + column;
                slope += value(e) * model.curvature[at] * margin[at];
            }
            // The new weight minimises slope·s + bend/2 s² + l1 |w + δ + s|.
            const double now = w[k] + delta[k], goal = now - slope / bend, least = model.l1[k] / bend;
            const double next = goal > least ? goal - least : goal < -least ? goal + least : 0.0;
            const double step = next - now;
            if (step == 0) continue;
            delta[k] = next - w[k];
            for (int64_t e = first; e < last; ++e) margin[attributes.index[e] * width + column] += value(e) * step;
            largest = std::max(largest, bend * step * step);
        }
        if (sweep == 1) first_largest = largest;
        if (largest <= tol * first_largest && (sweep > 1 || largest == 0)) return sweep;
    }
    return most;
}

}  // namespace parsimon
