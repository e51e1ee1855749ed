#include <random>

#include "learners/coordinate_descent.hpp"
#include "learners/group_copies.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

void check_descent(int64_t rows, int64_t width, bool full) {
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
    const LinearMap map(x, features);
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
    CoordinateDescent descent(model, active.data(), static_cast<int64_t>(active.size()),
                              {2, start.data(), member.data(), strength.data()}, w.data(), delta.data(), margin.data());
    descent.run(1e-30, 10000);
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
}

TEST("copies of groups are what ADMM's updates of v and u make them, whatever the threads") {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> number(-1, 1);
    const int64_t n_features = 5, n_groups = 40;
    std::vector<int64_t> start{0};
    std::vector<int32_t> member;
    std::vector<double> strength;
    for (int64_t g = 0; g < n_groups; ++g) {
        for (uint32_t i = 0; i < random() % 5; ++i) member.push_back(static_cast<int32_t>(random() % n_features));
        start.push_back(static_cast<int64_t>(member.size()));
        strength.push_back(0.2 + std::abs(number(random)));
    }
    GroupCopies one(start, member, strength, n_features), two(start, member, strength, n_features);
    std::vector<double> v(member.size(), 0.0), a(member.size(), 0.0), w(n_features);
    const double alpha = 1.6;
    double rho = 0.7;
    for (int round = 0; round < 12; ++round) {
        for (double& x : w) x = number(random);
        if (round == 6) {
            rho *= 2;
            for (double& x : a) x /= 2;
            one.rescale(0.5);
            two.rescale(0.5);
        }
        std::vector<double> copies(n_features), multipliers(n_features), other(n_features), others(n_features),
            v_sum(n_features, 0.0), a_sum(n_features, 0.0);
        const auto norms = one.step(w.data(), rho, alpha, copies.data(), multipliers.data(), 1);
        two.step(w.data(), rho, alpha, other.data(), others.data(), 3);
        double apart = 0, value = 0;
        const std::vector<double> sizes = one.norms(rho);
        for (int64_t g = 0; g < n_groups; ++g) {
            std::vector<double> z;
            double square = 0, weights = 0, size = 0;
            for (int64_t i = start[g]; i < start[g + 1]; ++i) {
                z.push_back(alpha * w[member[i]] + (1 - alpha) * v[i] - a[i]);
                square += z.back() * z.back();
                weights += w[member[i]] * w[member[i]];
            }
            const double radius = strength[g] / rho,
                         kept = std::sqrt(square) > radius ? 1 - radius / std::sqrt(square) : 0.0;
            for (int64_t i = start[g]; i < start[g + 1]; ++i) {
                const double h = alpha * w[member[i]] + (1 - alpha) * v[i];
                v[i] = kept * z[i - start[g]];
                a[i] += v[i] - h;
                v_sum[member[i]] += v[i];
                a_sum[member[i]] += a[i];
                apart += (v[i] - w[member[i]]) * (v[i] - w[member[i]]);
                size += v[i] * v[i];
            }
            value += strength[g] * std::sqrt(weights);
            CHECK_NEAR(sizes[g], std::sqrt(size), 1e-12);
        }
        for (int64_t k = 0; k < n_features; ++k) {
            CHECK_NEAR(copies[k], v_sum[k], 1e-12);
            CHECK_NEAR(multipliers[k], a_sum[k], 1e-12);
            CHECK(copies[k] == other[k] && multipliers[k] == others[k]);
        }
        CHECK_NEAR(norms.apart, apart, 1e-12);
        CHECK_NEAR(norms.value, value, 1e-12);
        const std::vector<double> nothing(n_features, 0.0);
        CHECK(one.gauge(rho, nothing.data(), 1) <= 1 + 1e-12);  // multipliers stay in their balls
    }
}
