#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "dependency_trees/arborescences.hpp"
#include "dependency_trees/k_best_trees.hpp"
#include "tests/check.hpp"
#include "tests/dependency_trees/all_trees.hpp"

using namespace parsimon;
using namespace check;

TEST("the k best trees with labels are those of enumeration, each once") {
    const int32_t n = 3, n_labels = 2, k = 40;
    for (const TreeKind kind : kinds) {
        const auto part = random_scores(n, 1.0, 0.2, 7), more = random_scores(n, 1.0, 0.2, 8);
        std::vector<double> both(2 * part.size()), all;
        for (size_t a = 0; a < part.size(); ++a) {
            both[2 * a] = part[a];
            both[2 * a + 1] = more[a];
        }
        each_tree(n, kind, [&](const auto& head) {
            for (int labels = 0; labels < 8; ++labels) {
                double sum = 0;
                for (int32_t m = 1; m <= n; ++m) sum += both[2 * arc_at(n, head[m - 1], m) + (labels >> (m - 1) & 1)];
                if (sum > no_tree) all.push_back(sum);
            }
        });
        std::sort(all.rbegin(), all.rend());
        all.resize(k, no_tree);
        std::vector<double> values(k);
        std::vector<int32_t> choices(k * n);
        TreeOracles(kind).best_trees(both.data(), n, n_labels, k, values.data(), 1, choices.data(), n);
        for (int32_t r = 0; r < k; ++r) CHECK_NEAR(values[r], all[r], 1e-12);
        for (int32_t r = 0; r < k && values[r] > no_tree; ++r)
            for (int32_t q = 0; q < r; ++q) CHECK(!std::equal(&choices[r * n], &choices[r * n] + n, &choices[q * n]));
    }
}
