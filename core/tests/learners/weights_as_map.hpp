// Weights of online learners by feature number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "learners/online_weights.hpp"
#include "learners/summed_weights.hpp"
#include "tests/check.hpp"

namespace check {

using namespace parsimon;

inline std::shared_ptr<FeatureRows> all_columns(int64_t n_attributes, int64_t width) {
    auto rows = std::make_shared<FeatureRows>();
    rows->n_attributes = n_attributes;
    rows->width = width;
    return rows;
}

inline OnlineWeights in_blocks(const std::vector<int32_t>& block, int64_t width, int64_t n_blocks) {
    static const std::vector<int32_t> nobody;
    return {all_columns(static_cast<int64_t>(block.size()), width), all_columns(0, width), block.data(), nobody.data(),
            n_blocks};
}

inline std::map<int64_t, double> as_map(OnlineWeights& weights, bool averaged = false) {
    std::vector<int64_t> features;
    std::vector<double> values;
    weights.collect(averaged, features, values);
    std::map<int64_t, double> out;
    for (size_t i = 0; i < features.size(); ++i) out[features[i]] = values[i];
    return out;
}

inline std::map<int64_t, double> as_map(SummedWeights& weights) {
    std::vector<int64_t> features;
    std::vector<double> values;
    weights.collect(features, values);
    std::map<int64_t, double> out;
    for (size_t i = 0; i < features.size(); ++i) {
        CHECK(values[i] != 0 && (!i || features[i] > features[i - 1]));
        out[features[i]] = values[i];
    }
    return out;
}

}  // namespace check
