#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "learners/coordinate_descent.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

// The same map as columns without gaps, for which the values must be kept.
LinearMap by_columns(const LinearMap& map, std::vector<double>& values) {
    const Csr& rows = map.rows();
    values.assign(map.features().n_attributes * rows.size(), 0.0);
    for (int64_t r = 0; r < rows.size(); ++r)
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
            values[rows.index[i] * rows.size() + r] = rows.value[i];
    return LinearMap(DenseColumns{rows.size(), map.features().n_attributes,
                                  std::shared_ptr<const double>(std::shared_ptr<void>(), values.data())});
}

void check_descent(int64_t rows, int64_t width, bool full, bool dense = false) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(-1, 1);
    const int64_t n_attributes = 12 / width, K = n_attributes * width;
    Csr x;
    x.start.push_back(0);
    for (int64_t r = 0; r < rows; ++r) {
        for (int32_t a = 0; a < n_attributes - 1; ++a)  // the last attribute never fires
            if (full || random() % 2) {
                x.index.push_back(a);
                x.value.push_back(number(random));
            }
        x.start.push_back(static_cast<int64_t>(x.index.size()));
    }
    auto features = std::make_shared<FeatureRows>();
    features->width = width;
    features->n_attributes = n_attributes;
    const LinearMap sparse(x, features);
    std::vector<double> values;
    const LinearMap map = dense ? by_columns(sparse, values) : sparse;
    std::vector<double> curvature(rows * width), gradient(K), l1(K, 0.3), pull(K, 0.0), centre(K), w(K), delta(K, 0.0),
        margin(rows * width, 0.0);
    for (double& d : curvature) d = 0.2 + std::abs(number(random));
    for (double& g : gradient) g = number(random);
    for (int64_t k = 0; k < K; ++k) {
        w[k] = k % 3 ? 0.0 : number(random);
        centre[k] = number(random);
        pull[k] = k % 2 ? 0.5 : 0.1;
    }
    std::vector<int64_t> active(K);
    for (int64_t k = 0; k < K; ++k) active[k] = k;
    // Features 2 to 4 and 6 to 7 are groups; the others are by themselves.
    const std::vector<int64_t> start{0, 3, 5}, member{2, 3, 4, 6, 7};
    const std::vector<double> strength{0.4, 5.0};
    for (const int64_t k : member) std::erase(active, k);
    const QuadraticModel model{map, curvature.data(), gradient.data(), l1.data(), pull.data(), centre.data()};
    descend_coordinates(model, active.data(), static_cast<int64_t>(active.size()),
                        {2, start.data(), member.data(), strength.data()}, w.data(), delta.data(), margin.data(), 1e-30,
                        10000);
    std::vector<double> expected(rows * width, 0.0);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = x.start[r]; i < x.start[r + 1]; ++i)
            for (int64_t y = 0; y < width; ++y) expected[r * width + y] += x.value[i] * delta[x.index[i] * width + y];
    for (size_t i = 0; i < margin.size(); ++i) CHECK_NEAR(margin[i], expected[i], 1e-12);
    for (int64_t k = 0; k < K; ++k) {
        double slope = gradient[k] + pull[k] * (w[k] + delta[k] - centre[k]);
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t i = x.start[r]; i < x.start[r + 1]; ++i)
                if (x.index[i] == k / width)
                    slope += x.value[i] * curvature[r * width + k % width] * margin[r * width + k % width];
        const double at = w[k] + delta[k];
        const int group = k >= 2 && k <= 4 ? 0 : k == 6 || k == 7 ? 1 : -1;
        if (group == 1) CHECK(at == 0);  // it is too strong
        if (group == 0) {
            double square = 0;
            for (int64_t j = 2; j <= 4; ++j) square += (w[j] + delta[j]) * (w[j] + delta[j]);
            CHECK(square > 0);
            slope += strength[0] * at / std::sqrt(square);
        }
        if (group == 1 || at == 0) CHECK(group == 1 || std::abs(slope) <= l1[k] + 1e-7);
        else CHECK_NEAR(slope, at > 0 ? -l1[k] : l1[k], 1e-7);
    }
}

}  // namespace

TEST("coordinate descent ends where the optimality conditions of its quadratic model hold") {
    check_descent(9, 2, false);
    check_descent(9, 1, true);
    check_descent(21, 1, true);
    check_descent(21, 1, true, true);
    check_descent(9, 1, true, true);
}
