#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/kernels.hpp"
#include "tests/check.hpp"

using namespace parsimon;

TEST("exponentials and inner products") {
    std::mt19937 random(51);
    std::vector<double> x{0.0, -0.0, 1.0, -1.0, 700.0, -700.0, -708.5, -1e9, -std::numeric_limits<double>::infinity()};
    for (int i = 0; i < 2000; ++i) x.push_back(std::uniform_real_distribution<double>(-700, 700)(random));
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        std::vector<double> out = x;
        table->exponentials(out.data(), static_cast<int64_t>(out.size()));
        for (size_t i = 0; i < x.size(); ++i) {
            if (x[i] < -708) CHECK(out[i] == 0);
            else CHECK(std::abs(out[i] - std::exp(x[i])) <= 4e-16 * std::exp(x[i]));
        }
        for (const int64_t n : {0, 1, 15, 16, 17, 100}) {
            std::vector<double> a(n), b(n);
            std::iota(a.begin(), a.end(), 1.0);
            std::iota(b.begin(), b.end(), -3.0);
            CHECK(table->dot(a.data(), b.data(), n) == std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
        }
        CHECK(table->name != nullptr && table->name[0]);
    }
}
