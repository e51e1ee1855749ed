#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "maps/differences.hpp"
#include "tests/check.hpp"
#include "tests/maps/random_rows.hpp"

using namespace parsimon;

TEST("differences of features add up over parts, and what cancels is left out") {
    Csr rows;
    rows.start = {0, 2, 3};
    rows.index = {0, 1, 0};
    rows.value = {1.0, 2.0, 1.0};
    auto features = std::make_shared<FeatureRows>();
    features->width = 3;
    features->n_attributes = 2;
    const LinearMap map(rows, features);
    // One instance: row 0 from column 2 to 0, row 1 from column 0 to 2: attribute 0 cancels.
    const std::vector<int64_t> start{0, 2, 2};
    const std::vector<int32_t> row{0, 1}, plus{0, 2}, minus{2, 0};
    for (const int threads : {1, 3}) {
        const SparseVectors found =
            feature_differences(map, {2, start.data(), row.data(), plus.data(), minus.data()}, threads);
        CHECK((found.start == std::vector<int64_t>{0, 2, 2}));
        CHECK((found.index == std::vector<int32_t>{3, 5}));
        CHECK((found.value == std::vector<double>{2.0, -2.0}));
    }
}

TEST("differences of many instances are the same for any number of threads") {
    std::mt19937 random(7);
    auto features = std::make_shared<FeatureRows>();
    features->width = 4;
    features->n_attributes = 6;
    const int64_t n = 300;
    const LinearMap map(check::random_rows(random, n, 6, true), features);
    std::vector<int64_t> start{0};
    std::vector<int32_t> row, plus, minus;
    for (int32_t i = 0; i < n; ++i) {
        for (int part = 0; part < 3; ++part) {
            row.push_back((i + part) % n);
            plus.push_back(static_cast<int32_t>(random() % 4));
            minus.push_back(static_cast<int32_t>(random() % 4));
        }
        start.push_back(static_cast<int64_t>(row.size()));
    }
    const PartDifferences parts{n, start.data(), row.data(), plus.data(), minus.data()};
    const SparseVectors one = feature_differences(map, parts, 1), four = feature_differences(map, parts, 4);
    CHECK(one.start == four.start && one.index == four.index && one.value == four.value && one.start.back() > n);
}

TEST("outer products of an instance's vectors are those of their sum") {
    // Two instances over four features: (1, 0, 0, 2) times 3, and (0, −1, 5, 0) times 0.5.
    const std::vector<int64_t> start{0, 1, 2}, later{0, 1, 2};
    const std::vector<int32_t> index{0, 1}, after{1, 0};
    const std::vector<double> value{1.0, -1.0}, other{2.0, 5.0}, times{3.0, 0.5};
    std::vector<double> out(16, 1.0);
    add_outer_products({{0, start.data(), index.data(), value.data()}, {2, later.data(), after.data(), other.data()}},
                       2, times.data(), 4, out.data());
    CHECK((out == std::vector<double>{4, 1, 1, 7, 1, 1.5, -1.5, 1, 1, -1.5, 13.5, 1, 7, 1, 1, 13}));
}
