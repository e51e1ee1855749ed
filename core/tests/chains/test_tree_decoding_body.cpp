// The best outputs of trees, and draws, against the enumeration of all outputs, in both builds of the kernels.
#include <vector>

#include "tests/chains/random_trees.hpp"

using namespace parsimon;
using namespace check;

namespace {

void check_best(const RandomTree& tree) {
    constexpr int32_t k = 4;
    const auto n = static_cast<int64_t>(tree.parent.size());
    const auto outputs = tree.outputs();
    if (outputs.empty()) return;
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        const ChainShape shape = tree.shape();
        std::vector<double> ranked(k);
        std::vector<int32_t> labels(n), lists(k * n);
        double best;
        CHECK(table->tree_argmax(shape, tree.scores(), &best, labels.data(), 1));
        CHECK_NEAR(best, outputs[0].first, 1e-11);
        CHECK_NEAR(tree.score(labels), best, 1e-11);
        table->tree_kbest(shape, tree.scores(), k, ranked.data(), lists.data(), 1);
        for (int32_t r = 0; r < k; ++r) {
            const bool exists = r < static_cast<int32_t>(outputs.size());
            CHECK_NEAR(ranked[r], exists ? outputs[r].first : -infinity, 1e-11);
            if (exists) CHECK_NEAR(tree.score({lists.begin() + r * n, lists.begin() + (r + 1) * n}), ranked[r], 1e-11);
        }
        CHECK(table->tree_sample(shape, tree.scores(), 5, 1, labels.data(), 1));
        CHECK(tree.score(labels) > -infinity);
    }
}

}  // namespace

TEST("the best outputs of trees are those of enumeration") {
    for (uint32_t seed = 0; seed < 12; ++seed)
        check_best({1 + seed % 6, 2 + static_cast<int32_t>(seed % 3), 3.0, seed});
}

TEST("the best outputs of trees with large scores, and with forbidden pairs") {
    for (uint32_t seed = 0; seed < 8; ++seed) {
        check_best({5, 3, 400.0, seed});
        check_best({5, 3, 3.0, seed, 0.3});
    }
}
