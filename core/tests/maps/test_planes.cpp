#include <cmath>
#include <random>
#include <vector>

#include "maps/planes.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

struct Output {
    int64_t instance;
    double cost;
    std::vector<int32_t> index;
    std::vector<double> value;
};

std::vector<Output> random_outputs(int64_t n_instances, int32_t n_features) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<Output> outputs;
    for (int64_t i = 0; i < n_instances; ++i)
        for (int y = 0; y < 4; ++y) {
            Output output{i, 1.0 + y, {}, {}};
            for (int32_t k = 0; k < n_features; ++k)
                if (random() % 2) {
                    output.index.push_back(k);
                    output.value.push_back(number(random));
                }
            outputs.push_back(output);
        }
    return outputs;
}

}  // namespace

TEST("where all instances share a large feature, going on from sweeps gets further than sweeps alone") {
    const int64_t n = 5;
    const int32_t K = 6;
    double dual[2];
    for (const bool further : {false, true}) {
        std::mt19937 random(7);
        std::uniform_real_distribution<double> number(-1, 1);
        Planes planes(std::vector<double>(K, 1.0), std::vector<double>(n, 1.0));
        for (int64_t i = 0; i < n; ++i)
            for (int y = 0; y < 4; ++y) {
                std::vector<double> value{1000 * number(random)};
                for (int32_t k = 1; k < K; ++k) value.push_back(number(random));
                planes.add(i, 1.0 + y, {0, 1, 2, 3, 4, 5}, value);
            }
        std::vector<int64_t> order{0, 1, 2, 3, 4};
        double before = planes.dual();
        for (int sweep = 0; sweep < 40; ++sweep) {
            planes.mark();
            planes.sweep(order.data(), n, 20);
            if (!further) continue;
            planes.advance();
            CHECK(planes.dual() >= before - 1e-9);
            before = planes.dual();
        }
        dual[further] = planes.dual();
        const auto w = planes.weights();
        planes.refresh();  // the same from the masses, which therefore went along
        for (int32_t k = 0; k < K; ++k) CHECK(std::abs(planes.weights()[k] - w[k]) < 1e-9);
    }
    CHECK(dual[1] > dual[0]);
}

TEST("sweeps over planes close the gap between the margin problem and its dual") {
    const int64_t n = 5;
    const int32_t K = 6;
    const auto outputs = random_outputs(n, K);
    const std::vector<double> scale{0.5, 1, 2, 1, 0.3, 1}, mass{1, 2, 0.5, 1, 0};
    Planes planes(scale, mass);
    for (const Output& each : outputs) planes.add(each.instance, each.cost, each.index, each.value);
    CHECK(planes.n_planes() == 4 * n);
    planes.add(0, 1.0, outputs[0].index, outputs[0].value);  // known
    planes.add(0, 0.0, {}, {});                              // gold
    CHECK(planes.n_planes() == 4 * n);
    std::vector<int64_t> order{0, 1, 2, 3, 4};
    double gap = 1, before = planes.dual();
    for (int sweep = 0; sweep < 200 && gap > 1e-12; ++sweep) {
        gap = planes.sweep(order.data(), n, 20);
        CHECK(planes.dual() >= before - 1e-12);
        before = planes.dual();
    }
    planes.refresh();
    // The objective, from its definition.
    std::vector<double> highest(n, 0.0);
    for (const Output& each : outputs) {
        double height = each.cost;
        for (size_t j = 0; j < each.index.size(); ++j) height -= planes.weights()[each.index[j]] * each.value[j];
        highest[each.instance] = std::max(highest[each.instance], height);
    }
    double objective = 0;
    for (int64_t i = 0; i < n; ++i) objective += mass[i] * highest[i];
    for (int32_t k = 0; k < K; ++k) objective += 0.5 * planes.weights()[k] * planes.weights()[k] / scale[k];
    CHECK(std::abs(objective - planes.dual()) < 1e-9 * objective);

    // Planes without mass are forgotten; what is left has the same weights.
    const auto w = planes.weights();
    const int64_t support = planes.n_support();
    planes.prune(-1);
    CHECK(planes.n_planes() == support);
    planes.refresh();
    for (int32_t k = 0; k < K; ++k) CHECK(std::abs(planes.weights()[k] - w[k]) < 1e-12);

    // Another penalty: a weight whose scale is zero is zero, and sweeps go on.
    planes.rescale({0, 1, 1, 1, 1, 1});
    CHECK(planes.weights()[0] == 0);
    planes.sweep(order.data(), n, 20);
    CHECK(planes.weights()[0] == 0);
}
