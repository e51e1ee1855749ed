#include "tests/chains/random_chains.hpp"

using namespace parsimon;
using namespace check;

TEST("variances of parts: those of one label, and of a pair as if its labels were independent") {
    for (const bool weighted : {false, true}) {
        const Chains c(ragged, 3, 2, 1.0, 52, weighted, 3);
        const Marginals m = enumerated(c);
        std::vector<double> node(c.node.size()), pair(c.pair.size()), single(c.single.size());
        for (int64_t i = 0; i < c.n_sequences(); ++i)
            for (int64_t t = c.offsets[i]; t < c.offsets[i + 1]; ++t)
                for (int64_t y = 0; y < 3; ++y) {
                    const double weight = weighted ? c.weight[i] : 1.0;
                    if (weight == 0) continue;
                    const double p = m.node[t * 3 + y] / weight;
                    node[t * 3 + y] = weight * p * (1 - p);
                    for (int64_t x = 0; x < 3 && t > c.offsets[i]; ++x) {
                        const double both = p * m.node[(t - 1) * 3 + x] / weight;
                        c.add_pair(t, static_cast<int32_t>(x), static_cast<int32_t>(y), weight * both * (1 - both),
                                   pair, single);
                    }
                }
        for (const Kernels* table : {&baseline_kernels(), &kernels()})
            for (const int threads : {1, 2}) {
                std::vector<double> node_out(node.size(), 7.0), pair_out(pair.size(), 7.0),
                    single_out(single.size(), 7.0);
                table->chain_variances(c.shape(), m.node.data(), {node_out.data(), pair_out.data(), single_out.data()},
                                       threads);
                check_equal(node_out, node, 1e-12);
                check_equal(pair_out, pair, 1e-12);
                check_equal(single_out, single, 1e-12);
            }
    }
}
