#include <cmath>
#include <random>
#include <vector>

#include "learners/group_copies.hpp"
#include "tests/check.hpp"

using namespace parsimon;

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
