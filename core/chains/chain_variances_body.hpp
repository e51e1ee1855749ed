// Variances of the parts of chains and trees, from node marginals. Included once per instruction set, inside a
// namespace; see kernels.cpp.

// p(1 − p) with p(x, y) = p(x) p(y), for weighted marginals: w p (1 − p).
inline double pair_variance(const double* before, const double* here, int64_t x, int64_t y, double weight,
                            double inverse) {
    const double both = before[x] * here[y] * inverse * inverse;
    return weight * both * (1 - both);
}

// sum[x][y] += the variance of every pair of labels at a step.
inline void add_pair_variances(const double* before, const double* here, int64_t Y, double weight, double inverse,
                               double* sum) {
    for (int64_t x = 0; x < Y; ++x) {
        const double first = before[x] * inverse * inverse;
        double* row = sum + x * Y;
        int64_t y = 0;
        for (; y + 4 <= Y; y += 4) {
            const Lanes both = spread(first) * load(here + y);
            store(row + y, load(row + y) + spread(weight) * both * (spread(1.0) - both));
        }
        for (; y < Y; ++y) row[y] += weight * (first * here[y]) * (1 - first * here[y]);
    }
}

inline void chain_variances(const ChainShape& shape, const double* marginals, const PartSums& out, int threads) {
    const int64_t Y = shape.n_labels, n_tokens = shape.offsets[shape.n_sequences];
    std::vector<double> weight(n_tokens, 1.0), sums(shape.n_pieces * Y * Y, 0.0);
    if (shape.weight)
        for (int64_t i = 0; i < shape.n_sequences; ++i)
            std::fill(weight.begin() + shape.offsets[i], weight.begin() + shape.offsets[i + 1], shape.weight[i]);
    constexpr int64_t grain = 1024;
    parallel_for((n_tokens + grain - 1) / grain, threads, [&](int64_t piece, int) {
        for (int64_t t = piece * grain; t < std::min(n_tokens, (piece + 1) * grain); ++t) {
            const double inverse = weight[t] > 0 ? 1 / weight[t] : 0.0;
            for (int64_t y = 0; y < Y; ++y) {
                const double m = marginals[t * Y + y];
                out.node[t * Y + y] = weight[t] > 0 ? m * (1 - m * inverse) : 0.0;
            }
        }
    });
    parallel_for(shape.n_pieces, threads, [&](int64_t p, int) {
        double* sum = sums.data() + p * Y * Y;
        for (int64_t s = shape.piece_start[p]; s < shape.piece_start[p + 1]; ++s) {
            const int64_t t = shape.steps[s];
            if (!(weight[t] > 0)) continue;
            const double *before = marginals + shape.before(t, 0) * Y, *here = marginals + t * Y;
            add_pair_variances(before, here, Y, weight[t], 1 / weight[t], sum);
        }
    });
    std::fill(out.pair, out.pair + shape.n_kinds * Y * Y, 0.0);
    for (int64_t p = 0; p < shape.n_pieces; ++p)
        for (int64_t i = 0; i < Y * Y; ++i) out.pair[shape.piece_kind[p] * Y * Y + i] += sums[p * Y * Y + i];
    if (!shape.n_rows) return;
    const auto cuts = balanced_cuts(shape.single_start, shape.n_rows, 256);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        for (int64_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
            const int64_t first = shape.single_start[row], last = shape.single_start[row + 1];
            std::fill(out.single + first, out.single + last, 0.0);
            for (int64_t s = shape.row_start[row]; s < shape.row_start[row + 1]; ++s) {
                const int64_t t = shape.row_steps[s];
                if (!(weight[t] > 0)) continue;
                const double inverse = 1 / weight[t];
                for (int64_t e = first; e < last; ++e)
                    out.single[e] +=
                        pair_variance(marginals + shape.before(t, 0) * Y, marginals + t * Y, first_of(shape.single[e]),
                                      second_of(shape.single[e]), weight[t], inverse);
            }
        }
    });
}
