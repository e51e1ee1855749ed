// Products with tall matrices against sums written out, in both builds; and the same bits for any number of threads.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/low_rank_quadratic.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

std::vector<double> numbers(std::mt19937& random, int64_t n, bool zeros = false) {
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<double> out(n);
    for (double& x : out) x = zeros && random() % 3 == 0 ? 0.0 : number(random);
    return out;
}

}  // namespace

TEST("products with tall matrices are sums over rows, and the same for any number of threads") {
    std::mt19937 random(80);
    const int64_t n = 2500;
    for (const int64_t r : {0, 1, 2, 6, 8, 13, 40}) {
        const auto rows = numbers(random, n * r), x = numbers(random, n, true), z = numbers(random, r);
        const TallMatrix a{n, r, rows.data()};
        for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
            std::vector<double> first_times, first_sums, first_gram;
            for (const int threads : {1, 2, 4, 7}) {
                std::vector<double> times(n), sums(r), gram(r * r);
                table->tall_times(a, z.data(), times.data(), threads);
                table->tall_transposed_times(a, x.data(), sums.data(), threads);
                table->tall_gram(a, x.data(), gram.data(), threads);
                if (threads == 1) {
                    for (int64_t k = 0; k < n; k += 100) {
                        double expected = 0;
                        for (int64_t j = 0; j < r; ++j) expected += rows[k * r + j] * z[j];
                        CHECK_NEAR(times[k], expected, 1e-12);
                    }
                    for (int64_t i = 0; i < r; ++i) {
                        double expected = 0;
                        for (int64_t k = 0; k < n; ++k) expected += rows[k * r + i] * x[k];
                        CHECK_NEAR(sums[i], expected, 1e-11);
                        for (int64_t j = 0; j < r; j += 3) {
                            double both = 0;
                            for (int64_t k = 0; k < n; ++k) both += rows[k * r + i] * x[k] * rows[k * r + j];
                            CHECK_NEAR(gram[i * r + j], both, 1e-11);
                        }
                    }
                    first_times = times, first_sums = sums, first_gram = gram;
                }
                CHECK(times == first_times && sums == first_sums && gram == first_gram);
            }
        }
    }
}

TEST("a pair that is taken in is in its slot, and its products are with all columns, its own included") {
    std::mt19937 random(81);
    const int64_t n = 2100, width = 6;
    const auto before = numbers(random, n * width), s = numbers(random, n, true), y = numbers(random, n),
               D = numbers(random, n);
    for (const Kernels* table : {&baseline_kernels(), &kernels()})
        for (const bool with_diagonal : {false, true}) {
            std::vector<double> first;
            for (const int threads : {1, 3}) {
                std::vector<double> rows = before, out(3 * width);
                table->take_pair(rows.data(), n, width, 1, s.data(), y.data(), with_diagonal ? D.data() : nullptr,
                                 out.data(), threads);
                for (int64_t k = 0; k < n; ++k)
                    for (int64_t j = 0; j < width; ++j)
                        CHECK(rows[k * width + j] == (j == 2 ? s[k] : j == 3 ? y[k] : before[k * width + j]));
                for (int64_t j = 0; j < width; ++j) {
                    double sums[3] = {};
                    for (int64_t k = 0; k < n; ++k) {
                        sums[0] += s[k] * rows[k * width + j];
                        sums[1] += y[k] * rows[k * width + j];
                        if (with_diagonal) sums[2] += s[k] * D[k] * rows[k * width + j];
                    }
                    for (int v = 0; v < 3; ++v) CHECK_NEAR(out[v * width + j], sums[v], 1e-11);
                }
                if (threads == 1) first = out;
                CHECK(out == first);
            }
        }
}

TEST("rows of the quadratic model are those of the pairs, scaled, and times the inverse") {
    std::mt19937 random(82);
    const int64_t n_all = 3000, width = 10, used = 6, rank = 8;
    const auto pairs = numbers(random, n_all * width);
    auto inverse = numbers(random, rank * rank);
    std::vector<int64_t> chosen;
    for (int64_t k = 0; k < n_all; k += 2) chosen.push_back(k);
    const auto n = static_cast<int64_t>(chosen.size());
    auto diagonal = numbers(random, n);
    for (double& d : diagonal) d = 2 + d;
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        std::vector<double> first;
        for (const int threads : {1, 4}) {
            std::vector<double> W(n * rank), V(n * rank), curvature(n);
            table->quadratic_rows({n_all, width, pairs.data()}, chosen.data(), used, inverse.data(), 1e-3,
                                  {n, rank, diagonal.data(), W.data(), V.data(), curvature.data()}, threads);
            for (int64_t i = 0; i < n; ++i) {
                double low_rank = 0;
                for (int64_t j = 0; j < rank; ++j) {
                    const double from = j < used ? pairs[chosen[i] * width + j] : 0.0;
                    CHECK(W[i * rank + j] == (j % 2 || j >= used ? from : diagonal[i] * from));
                    double v = 0;
                    for (int64_t l = 0; l < rank; ++l) v += W[i * rank + l] * inverse[l * rank + j];
                    CHECK_NEAR(V[i * rank + j], v, 1e-12);
                    low_rank += W[i * rank + j] * v;
                }
                CHECK_NEAR(curvature[i], std::max(diagonal[i] - low_rank, 1e-3 * diagonal[i]), 1e-11);
            }
            if (threads == 1) first = V;
            CHECK(V == first);
        }
    }
}

TEST("a pseudo-gradient is the slope, or at zero the slope to the side on which the sum falls") {
    const std::vector<double> w{1, -1, 0, 0, 0}, g{0.5, 0.5, 3, -3, 0.5}, l1{1, 1, 1, 1, 1};
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        std::vector<double> out(5);
        table->pseudo_gradient(w.data(), g.data(), l1.data(), 5, out.data());
        CHECK(out == std::vector<double>({1.5, -0.5, 2, -2, 0}));
    }
}
