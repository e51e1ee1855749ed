#include "learners/group_descent.hpp"

#include <random>

#include "tests/check.hpp"

using namespace parsimon;

TEST("block coordinate descent ends where the optimality conditions of a model with groups hold") {
    std::mt19937 random(61);
    std::uniform_real_distribution<double> number(-1, 1);
    const int64_t n = 12;
    const std::vector<int64_t> start{0, 5, 9, 12}, member{0, 2, 4, 5, 11, 1, 3, 6, 7, 8, 9, 10};
    const std::vector<double> strength{1.5, 0.3, 0.0};
    for (const int64_t rank : {0, 2, 4, 6}) {
        std::vector<double> gradient(n), diagonal(n), pairs(n * (rank + 2)), w(n), l1(n);
        for (int64_t k = 0; k < n; ++k) {
            gradient[k] = 2 * number(random);
            diagonal[k] = 3 + number(random);
            w[k] = k % 3 ? 0.0 : number(random);
            l1[k] = k % 5 ? 0.1 : 0.0;
        }
        for (double& x : pairs) x = 0.2 * number(random);
        std::vector<double> middle(rank * rank, 0.0), inverse(rank * rank, 0.0);
        for (int64_t j = 0; j < rank; ++j) middle[j * rank + j] = 4, inverse[j * rank + j] = 0.25;
        const PairedQuadratic q{
            n, rank, rank + 2, gradient.data(), diagonal.data(), pairs.data(), middle.data(), inverse.data()};
        std::vector<double> one(n), two(n);
        for (const int threads : {1, 2}) {
            GroupDescent descent(q, {3, start.data(), member.data(), strength.data()}, w.data(), l1.data(), threads);
            descent.run(1e-12, 200);
            descent.put((threads == 1 ? one : two).data());
        }
        CHECK(one == two);
        auto W = [&](int64_t k, int64_t j) { return (j % 2 ? 1 : diagonal[k]) * pairs[k * (rank + 2) + j]; };
        std::vector<double> slope(n);
        for (int64_t k = 0; k < n; ++k) {
            slope[k] = gradient[k] + diagonal[k] * one[k];
            for (int64_t j = 0; j < rank; ++j)
                for (int64_t i = 0; i < n; ++i) slope[k] -= W(k, j) * 0.25 * W(i, j) * one[i];
        }
        for (int64_t m = 0; m < 3; ++m) {
            double square = 0, over = 0;
            for (int64_t i = start[m]; i < start[m + 1]; ++i) {
                const int64_t k = member[i];
                square += (w[k] + one[k]) * (w[k] + one[k]);
                over += std::pow(std::max(std::abs(slope[k]) - l1[k], 0.0), 2);
            }
            if (square == 0 && strength[m] > 0) {
                CHECK(std::sqrt(over) <= strength[m] + 1e-8);
                continue;
            }
            for (int64_t i = start[m]; i < start[m + 1]; ++i) {
                const int64_t k = member[i];
                const double x = w[k] + one[k], pull = square > 0 ? strength[m] * x / std::sqrt(square) : 0.0;
                if (x == 0) CHECK(std::abs(slope[k]) <= l1[k] + 1e-8);
                else CHECK_NEAR(slope[k] + pull, x > 0 ? -l1[k] : l1[k], 1e-8);
            }
        }
    }
}
