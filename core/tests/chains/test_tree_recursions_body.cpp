// log Z and marginals of trees against the enumeration of all outputs, in both builds of the kernels.
#include <cmath>
#include <vector>

#include "tests/chains/random_trees.hpp"

using namespace parsimon;
using namespace check;

namespace {

void check_marginals(const RandomTree& tree) {
    const auto n = static_cast<int64_t>(tree.parent.size());
    const int64_t Y = tree.n_labels;
    const auto outputs = tree.outputs();
    if (outputs.empty()) return;
    double z = 0;
    for (const auto& [s, y] : outputs) z += std::exp(s - outputs[0].first);
    const double log_z = outputs[0].first + std::log(z);
    std::vector<double> node(n * Y), pair(2 * Y * Y);
    for (const auto& [s, y] : outputs)
        for (int64_t t = 0; t < n; ++t) {
            node[t * Y + y[t]] += std::exp(s - log_z);
            if (tree.parent[t] >= 0) pair[(tree.kind[t] * Y + y[tree.parent[t]]) * Y + y[t]] += std::exp(s - log_z);
        }
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        std::vector<double> left(n * padded(Y)), right(n * padded(Y)), node_out(n * Y), pair_out(2 * Y * Y);
        double found;
        CHECK(table->chain_marginals(tree.shape(), tree.scores(), &found, {node_out.data(), pair_out.data()},
                                     left.data(), right.data(), nullptr, 2));
        CHECK_NEAR(found, log_z, 1e-11);
        for (size_t i = 0; i < node.size(); ++i) CHECK_NEAR(node_out[i], node[i], 1e-11);
        for (size_t i = 0; i < pair.size(); ++i) CHECK_NEAR(pair_out[i], pair[i], 1e-11);
    }
}

}  // namespace

TEST("marginals of trees are those of enumeration") {
    for (uint32_t seed = 0; seed < 12; ++seed)
        check_marginals({1 + seed % 6, 2 + static_cast<int32_t>(seed % 3), 3.0, seed});
}

TEST("marginals of trees with scores that need logarithms, and with forbidden pairs") {
    for (uint32_t seed = 0; seed < 8; ++seed) {
        check_marginals({5, 3, 400.0, seed});
        check_marginals({5, 3, 3.0, seed, 0.3});
    }
}

TEST("marginals of trees whose nodes lie far apart while pairs do not, and of nodes with many children") {
    for (uint32_t seed = 0; seed < 8; ++seed)
        for (const double pairs : {1.0, 40.0, 90.0}) {
            RandomTree tree{6, 3, 1.0, seed};
            for (double& x : tree.node) x *= 800;
            for (double& x : tree.pair) x *= pairs;
            check_marginals(tree);
        }
}
