#include <algorithm>
#include <random>

#include "kernels/kernels.hpp"
#include "kernels/low_rank_quadratic.hpp"
#include "tests/check.hpp"

using namespace parsimon;

TEST("coordinate descent ends where the optimality conditions of g·d + ½ dᵀBd + Σ l1 |w + d| hold") {
    std::mt19937 random(60);
    std::uniform_real_distribution<double> number(-1, 1);
    const int64_t n = 12;
    for (const int64_t rank : {0, 1, 3, 4, 6, 8, 12, 20, 40, 44})
        for (const bool with_block : {false, true}) {
            std::vector<double> gradient(n), diagonal(n), curvature(n), columns(n * rank), w(n), l1(n);
            for (int64_t k = 0; k < n; ++k) {
                gradient[k] = 2 * number(random);
                diagonal[k] = 3 + number(random);
                w[k] = k % 3 ? 0.0 : number(random);
                l1[k] = k % 5 ? 0.4 : 0.0;
            }
            for (double& x : columns) x = (rank > 6 ? 0.1 : 0.4) * number(random);
            for (int64_t k = 0; k < n; ++k) {  // M is the unit matrix, so W M⁻¹ = W; B = diag D − W Wᵀ stays positive
                curvature[k] = diagonal[k];
                for (int64_t j = 0; j < rank; ++j) curvature[k] -= columns[k * rank + j] * columns[k * rank + j];
            }
            const std::vector<int64_t> block{1, 2, 5, 11};
            std::vector<double> matrix(16);
            for (int64_t i = 0; i < 4; ++i)
                for (int64_t j = 0; j <= i; ++j)
                    matrix[i * 4 + j] = matrix[j * 4 + i] = i == j ? diagonal[block[i]] : 0.5 * number(random);
            const LowRankQuadratic q{n,
                                     rank,
                                     gradient.data(),
                                     diagonal.data(),
                                     curvature.data(),
                                     columns.data(),
                                     columns.data(),
                                     with_block ? 4 : 0,
                                     block.data(),
                                     matrix.data()};
            for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
                std::vector<double> d(n, 0.0), moment(rank, 0.0);
                // Sweeps after the first pass over what stayed at zero, so whole sweeps are repeated.
                for (int round = 0; round < 100; ++round)
                    table->descend(q, w.data(), l1.data(), 3, d.data(), moment.data());
                for (int64_t j = 0; j < rank; ++j) {
                    double expected = 0;
                    for (int64_t k = 0; k < n; ++k) expected += columns[k * rank + j] * d[k];
                    CHECK_NEAR(moment[j], expected, 1e-12);
                }
                for (int64_t k = 0; k < n; ++k) {
                    double slope = gradient[k] + diagonal[k] * d[k];
                    const auto in = std::find(block.begin(), block.end(), k) - block.begin();
                    for (int64_t j = 0; with_block && in < 4 && j < 4; ++j)
                        if (j != in) slope += matrix[in * 4 + j] * d[block[j]];
                    for (int64_t j = 0; j < rank; ++j) slope -= columns[k * rank + j] * moment[j];
                    const double at = w[k] + d[k];
                    if (at == 0) CHECK(std::abs(slope) <= l1[k] + 1e-10);
                    else CHECK_NEAR(slope, at > 0 ? -l1[k] : l1[k], 1e-10);
                }
            }
        }
}
