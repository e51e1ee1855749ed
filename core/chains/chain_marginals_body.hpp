// log Z, marginals and variances of chains and trees, from their recursions. Included once per instruction set, inside
// a namespace, after chain_recursions_body.hpp; see kernels.cpp.

// sum[i][j] += Σ over steps of left[t − lag][i] · right[t][j]: two rows of 4·W columns stay in registers. In chains the
// lag is 1; a tree has a left row for each node (see ChainShape::left_row).
template <int W>
void add_outer_columns(const int32_t* steps, int64_t n, const double* left, int64_t lag, const double* right, int64_t Y,
                       int64_t S, double* sum) {
    for (int64_t i = 0; i < Y; i += 2) {
        const int64_t second = i + 1 < Y ? i + 1 : i;
        Lanes a[W], b[W];
        for (int j = 0; j < W; ++j) a[j] = b[j] = spread(0.0);
        for (int64_t s = 0; s < n; ++s) {
            const double* l = left + (static_cast<int64_t>(steps[s]) - lag) * S;
            const double* r = right + static_cast<int64_t>(steps[s]) * S;
            const Lanes x = spread(l[i]), y = spread(l[second]);
            for (int j = 0; j < W; ++j) {
                const Lanes z = load(r + 4 * j);
                a[j] += x * z;
                b[j] += y * z;
            }
        }
        for (int j = 0; j < W; ++j) store(sum + i * S + 4 * j, load(sum + i * S + 4 * j) + a[j]);
        if (second != i)
            for (int j = 0; j < W; ++j) store(sum + second * S + 4 * j, load(sum + second * S + 4 * j) + b[j]);
    }
}

inline void add_outer(const int32_t* steps, int64_t n, const double* left, int64_t lag, const double* right, int64_t Y,
                      int64_t S, double* sum) {
    constexpr int64_t tile = 32;  // every row of the sum goes through the steps: few enough to stay in the cache
    if (S > 24 && n > tile) {
        for (int64_t first = 0; first < n; first += tile)
            add_outer(steps + first, std::min(tile, n - first), left, lag, right, Y, S, sum);
        return;
    }
    int64_t j = 0;
    for (; j + 24 <= S; j += 24) add_outer_columns<6>(steps, n, left, lag, right + j, Y, S, sum + j);
    switch (S - j) {
        case 20: add_outer_columns<5>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 16: add_outer_columns<4>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 12: add_outer_columns<3>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 8: add_outer_columns<2>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 4: add_outer_columns<1>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        default: break;
    }
}

// Pair marginals of a range of sequences, by kind: Σ of α ⊗ right, which is still to be multiplied by the pair score
// that all steps of a kind share, and sums of sequences that were done in logs, which are complete.
struct PairSums {
    std::vector<double> products, exact;  // [K][Y][stride]

    double* of(std::vector<double>& sums, int64_t kind, const PairTable& table, int64_t n_kinds) {
        const int64_t size = table.n_labels * table.stride;
        if (sums.empty()) sums.assign(n_kinds * size, 0.0);
        return sums.data() + kind * size;
    }
};

// sum[x][y] += P(x, y) at a step of a sequence done in logs; left and right are the step's own rows.
inline void add_in_logs(const double* left, const double* right, const PairTable& table, int32_t row, int32_t kind,
                        double* sum) {
    const int64_t Y = table.n_labels, S = table.stride;
    std::vector<double> pairs(Y);
    for (int64_t i = 0; i < Y; ++i) {
        table.column_of<Log>(row, kind, i, true, pairs.data());
        for (int64_t j = 0; j < Y; ++j) sum[i * S + j] += std::exp(left[i] + pairs[j] + right[j]);
    }
}

// The steps of one sequence, while its α and right are still in the cache. `steps` is 0, 1, 2, …
inline void add_steps(const Lattice& lattice, const int32_t* kind, const double* right, const PairTable& table,
                      int64_t n_kinds, const std::vector<int32_t>& steps, bool in_logs, PairSums& sums) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    for (int64_t t = 1; t < lattice.length;) {
        int64_t end = t + 1;
        while (end < lattice.length && kind[end] == kind[t]) ++end;
        if (kind[t] >= 0 && !in_logs)
            add_outer(steps.data() + t, end - t, lattice.alpha, 1, right, Y, S,
                      sums.of(sums.products, kind[t], table, n_kinds));
        if (kind[t] >= 0 && in_logs)
            for (int64_t u = t; u < end; ++u)
                add_in_logs(lattice.alpha + (u - 1) * S, right + u * S, table, -1, kind[u],
                            sums.of(sums.exact, kind[u], table, n_kinds));
        t = end;
    }
}

// Node marginals of one forest, and what those of pairs are made of; see tree_recursions_body.hpp.
struct ForestOut {
    double *node, *left, *right;  // [T][Y], [T][stride], [T][stride]
};
template <class Semiring>
bool forest_marginals(const ChainShape& shape, int64_t i, const double* scores, const PairTable& table,
                      Lattice& lattice, double weight, double* log_z, const ForestOut& out);

// One matrix a kind and piece of work is kept while there are few kinds (without observations there is one). With many
// kinds, or single pairs, α and right of all tokens are kept instead, and steps are gone through kind by kind and row
// by row afterwards.
constexpr int64_t few_kinds = 16;

struct MarginalPass {
    const ChainShape& shape;
    const PartScores& scores;
    double *left, *right;  // [T][stride]; unused where sums are taken at once
    const PairTable scaled;
    std::optional<PairTable> log_table;
    std::vector<char> in_logs;  // [T]
    bool at_once;
    int threads;

    MarginalPass(const ChainShape& chain, const PartScores& given, double* l, double* r, bool keep, int n_threads)
        : shape(chain), scores(given), left(l), right(r),
          scaled(PairTable::lift<Scaled>(chain, given, true, n_threads)),
          at_once(chain.n_kinds <= few_kinds && !chain.n_rows && !keep && !chain.parent), threads(n_threads) {}

    // log Z and node marginals; α and right, or the sums of pairs.
    bool run(double* log_z, double* node_out, std::vector<PairSums>& sums) {
        const int64_t S = scaled.stride;
        std::atomic<bool> feasible{true}, any_log{false};
        std::mutex lock;
        std::vector<Lattice> lattices(std::max(threads, 1));
        std::vector<int32_t> steps;
        if (at_once) {
            int64_t longest = 0;
            for (int64_t i = 0; i < shape.n_sequences; ++i)
                longest = std::max(longest, shape.offsets[i + 1] - shape.offsets[i]);
            steps.resize(longest);
            std::iota(steps.begin(), steps.end(), 0);
        }
        in_logs.assign(shape.offsets[shape.n_sequences], 0);
        const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, 64);
        const auto n_cuts = static_cast<int64_t>(cuts.size()) - 1;
        if (at_once) sums.resize(n_cuts);
        parallel_for(n_cuts, threads, [&](int64_t piece, int worker) {
            Lattice& lattice = lattices[worker];
            std::vector<double> own_right;
            for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
                const int64_t at = shape.offsets[i], length = shape.offsets[i + 1] - at;
                if (at_once && static_cast<int64_t>(own_right.size()) < length * S) own_right.resize(length * S);
                double* mine = at_once ? own_right.data() : right + at * S;
                lattice.start(length, scaled, at_once || shape.parent ? nullptr : left + at * S);
                if (lattice.length == 0) {
                    log_z[i] = 0;
                    continue;
                }
                const PairTable* table = &scaled;
                bool done = instance_marginals<Scaled>(i, scaled, lattice, log_z, node_out, mine);
                if (!done) {
                    {
                        const std::lock_guard<std::mutex> hold(lock);
                        if (!log_table) log_table = PairTable::lift<Log>(shape, scores, true, 1);
                    }
                    table = &*log_table;
                    std::fill_n(in_logs.begin() + at, length, 1);
                    any_log = true;
                    done = instance_marginals<Log>(i, *table, lattice, log_z, node_out, mine);
                }
                if (!done) feasible = false;
                else if (at_once)
                    add_steps(lattice, shape.pair_kind + at, mine, *table, shape.n_kinds, steps, table != &scaled,
                              sums[piece]);
            }
        });
        if (!any_log) in_logs.clear();
        return feasible;
    }

    template <class Semiring>
    bool instance_marginals(int64_t i, const PairTable& table, Lattice& lattice, double* log_z, double* node_out,
                            double* mine) {
        const int64_t Y = shape.n_labels, at = shape.offsets[i];
        const double weight = shape.weight ? shape.weight[i] : 1.0;
        if (shape.parent)
            return forest_marginals<Semiring>(shape, i, scores.node, table, lattice, weight, log_z,
                                              {node_out, left, right});
        return sequence_marginals<Semiring>(scores.node + at * Y, at, table, lattice, weight, log_z + i,
                                            node_out + at * Y, mine, {0, lattice.length - 1});
    }

    bool logs_at(int64_t t) const { return !in_logs.empty() && in_logs[t]; }

    void sum_at_once(std::vector<PairSums>& sums, double* pair_out) const {
        const int64_t Y = shape.n_labels, S = scaled.stride;
        for (PairSums& sum : sums)
            for (int64_t k = 0; k < shape.n_kinds; ++k)
                for (int64_t i = 0; i < Y; ++i)
                    for (int64_t j = 0; j < Y; ++j) {
                        const int64_t from = (k * Y + i) * S + j;
                        double& out = pair_out[(k * Y + i) * Y + j];
                        if (!sum.products.empty()) out += sum.products[from] * scaled.forward[from];
                        if (!sum.exact.empty()) out += sum.exact[from];
                    }
    }

    // Steps of sequences done in logs are summed one by one; all others as products of α and right, which are
    // multiplied by the (shared) pair score once at the end. Single pairs differ from it.
    void sum_by_kind(double* pair_out) const {
        const int64_t Y = shape.n_labels, S = scaled.stride, lag = shape.parent ? 0 : 1;
        std::vector<double> sums(shape.n_pieces * Y * S, 0.0);
        parallel_for(shape.n_pieces, threads, [&](int64_t p, int) {
            double* sum = sums.data() + p * Y * S;
            const int32_t kind = shape.piece_kind[p];
            const int32_t* steps = shape.steps + shape.piece_start[p];
            const int64_t n = shape.piece_start[p + 1] - shape.piece_start[p];
            std::vector<int32_t> plain;
            for (int64_t s = 0; s < n && !in_logs.empty(); ++s)
                if (!in_logs[steps[s]]) plain.push_back(steps[s]);
            if (in_logs.empty()) add_outer(steps, n, left, lag, right, Y, S, sum);
            else add_outer(plain.data(), static_cast<int64_t>(plain.size()), left, lag, right, Y, S, sum);
            const double* lifted = scaled.into(kind);
            for (int64_t i = 0; i < Y * S; ++i) sum[i] *= lifted[i];
            for (int64_t s = 0; s < n; ++s) {
                const int64_t t = steps[s];
                const int32_t row = shape.row_of(t);
                const double *l = left + shape.left_row(t) * S, *r = right + t * S;
                if (logs_at(t)) {
                    add_in_logs(l, r, *log_table, row, kind, sum);
                } else if (row >= 0) {
                    for (int64_t e = shape.single_start[row]; e < shape.single_start[row + 1]; ++e) {
                        const int32_t x = first_of(shape.single[e]), y = second_of(shape.single[e]);
                        sum[x * S + y] += l[x] * r[y] * (scaled.singles[e] - scaled.base[e]);
                    }
                }
            }
        });
        for (int64_t p = 0; p < shape.n_pieces; ++p) {
            double* out = pair_out + shape.piece_kind[p] * Y * Y;
            for (int64_t i = 0; i < Y; ++i)
                for (int64_t j = 0; j < Y; ++j) out[i * Y + j] += sums[(p * Y + i) * S + j];
        }
    }

    void sum_by_row(double* single_out) const {
        const int64_t S = scaled.stride;
        const auto cuts = balanced_cuts(shape.single_start, shape.n_rows, 256);
        parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
            std::vector<double> exact;
            for (int64_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
                const int64_t first = shape.single_start[row], n = shape.single_start[row + 1] - first;
                double* sum = single_out + first;
                const uint32_t* pair = shape.single + first;
                std::fill(sum, sum + n, 0.0);
                exact.assign(in_logs.empty() ? 0 : n, 0.0);
                for (int64_t s = shape.row_start[row]; s < shape.row_start[row + 1]; ++s) {
                    const int64_t t = shape.row_steps[s];
                    const double *l = left + shape.left_row(t) * S, *r = right + t * S;
                    if (logs_at(t))
                        for (int64_t e = 0; e < n; ++e)
                            exact[e] +=
                                std::exp(l[first_of(pair[e])] + log_table->singles[first + e] + r[second_of(pair[e])]);
                    else
                        for (int64_t e = 0; e < n; ++e) sum[e] += l[first_of(pair[e])] * r[second_of(pair[e])];
                }
                for (int64_t e = 0; e < n; ++e)
                    sum[e] = sum[e] * scaled.singles[first + e] + (exact.empty() ? 0.0 : exact[e]);
            }
        });
    }
};

inline bool chain_marginals(const ChainShape& shape, const PartScores& scores, double* log_z, const PartSums& out,
                            double* left, double* right, ChainPosterior* kept, int threads) {
    const int64_t Y = shape.n_labels, S = padded(Y), n_tokens = shape.offsets[shape.n_sequences];
    if (kept) {
        kept->n_labels = Y;
        kept->stride = S;
        kept->left.resize(n_tokens * S);
        kept->right.resize(n_tokens * S);
        left = kept->left.data();
        right = kept->right.data();
    }
    MarginalPass pass(shape, scores, left, right, kept != nullptr, threads);
    std::vector<PairSums> sums;
    if (!pass.run(log_z, out.node, sums)) return false;
    std::fill(out.pair, out.pair + shape.n_kinds * Y * Y, 0.0);
    if (pass.at_once) pass.sum_at_once(sums, out.pair);
    else pass.sum_by_kind(out.pair);
    if (shape.n_rows) pass.sum_by_row(out.single);
    if (kept) {
        kept->matrices = pass.scaled.forward;
        kept->singles = pass.scaled.singles;
        kept->in_logs = pass.in_logs;
        if (pass.log_table) {
            kept->log_matrices = pass.log_table->forward;
            kept->log_singles = pass.log_table->singles;
        }
    }
    return true;
}

// p(1 − p) with p(x, y) = p(x) p(y), for weighted marginals: w p (1 − p).
inline double pair_variance(const double* before, const double* here, int64_t x, int64_t y, double weight,
                            double inverse) {
    const double both = before[x] * here[y] * inverse * inverse;
    return weight * both * (1 - both);
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
            const double inverse = 1 / weight[t];
            for (int64_t x = 0; x < Y; ++x)
                for (int64_t y = 0; y < Y; ++y)
                    sum[x * Y + y] +=
                        pair_variance(marginals + shape.before(t, 0) * Y, marginals + t * Y, x, y, weight[t], inverse);
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
