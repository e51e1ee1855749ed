// log Z and marginals of chains and trees, from their recursions. Included once per instruction set, inside a
// namespace, after chain_recursions_body.hpp and tree_recursions_body.hpp; see kernels.cpp.

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
    thread_local std::vector<double> pairs;
    pairs.assign(S, minus_infinity);
    for (int64_t i = 0; i < Y; ++i) {
        if (left[i] == minus_infinity) continue;
        table.column_of<Log>(row, kind, i, true, pairs.data());
        for (int64_t j = 0; j < S; j += 4) {
            const Lanes p = spread(left[i]) + load(pairs.data() + j) + load(right + j);
            if (any(~(p < spread(-708.0)))) store(sum + i * S + j, load(sum + i * S + j) + exponential(p));
        }
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

// Sums of pair marginals are taken as sequences are done, in a matrix for each kind and piece of work. With more kinds
// than this (or with single pairs) these matrices would be many and mostly empty: then α and right of all tokens are
// kept, and steps are gone through kind by kind and row by row afterwards.
constexpr int64_t few_kinds = 16;
// Pieces of work. Their sums are added up in order, so their number goes with the batch alone, whatever the number of
// threads.
constexpr int64_t most_pieces = 64, cells_in_piece = 8192;

// One look at a batch, in two stages: sequences, then sums of pairs. Scaled sums are tried first. Sequences that spread
// too far for them are done again in logs.
class MarginalPass {
  public:
    MarginalPass(const ChainShape& shape, const PartScores& scores, double* left, double* right, bool keep, int threads)
        : shape_(shape), scores_(scores), left_(left), right_(right),
          scaled_(PairTable::lift<Scaled>(shape, scores, true, threads)),
          at_once_(shape.n_kinds <= few_kinds && !shape.n_rows && !keep && !shape.parent), threads_(threads) {}

    // The first stage: log Z and node marginals; α and right of all tokens, or the sums of pairs. False: some sequence
    // has no output with a finite score.
    bool run(double* log_z, double* node_out) {
        std::atomic<bool> feasible{true};
        std::vector<InFlight> in_flight(std::max(threads_, 1));
        const int64_t cells = shape_.offsets[shape_.n_sequences] * shape_.n_labels;
        const auto cuts =
            balanced_cuts(shape_.offsets, shape_.n_sequences, std::min(most_pieces, 1 + cells / cells_in_piece));
        const auto n_pieces = static_cast<int64_t>(cuts.size()) - 1;
        in_logs_.assign(shape_.offsets[shape_.n_sequences], 0);
        if (at_once_) {
            number_steps();
            sums_.resize(n_pieces);
        }
        parallel_for(n_pieces, threads_, [&](int64_t piece, int worker) {
            for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i)
                if (!instance(i, in_flight[worker], log_z, node_out, at_once_ ? &sums_[piece] : nullptr))
                    feasible = false;
        });
        if (!log_table_) in_logs_.clear();
        return feasible;
    }

    // The second stage: pair marginals by kind, and those of single pairs by row.
    void sum_pairs(const PartSums& out) const {
        std::fill(out.pair, out.pair + shape_.n_kinds * shape_.n_labels * shape_.n_labels, 0.0);
        if (at_once_) sum_at_once(out.pair);
        else sum_by_kind(out.pair);
        if (shape_.n_rows) sum_by_row(out.single);
    }

    // What α and right are to be multiplied by, for a look at any pair later.
    void keep(ChainPosterior& kept) const {
        kept.matrices = scaled_.forward;
        kept.singles = scaled_.singles;
        kept.in_logs = in_logs_;
        if (!log_table_) return;
        kept.log_matrices = log_table_->forward;
        kept.log_singles = log_table_->singles;
    }

  private:
    // What one thread works with.
    struct InFlight {
        Lattice lattice;
        std::vector<double> right;  // [length][stride], where sums are taken at once
    };

    bool instance(int64_t i, InFlight& own, double* log_z, double* node_out, PairSums* sums_of_piece) {
        const int64_t S = scaled_.stride, at = shape_.offsets[i], length = shape_.offsets[i + 1] - at;
        if (length == 0) {
            log_z[i] = 0;
            return true;
        }
        if (at_once_ && static_cast<int64_t>(own.right.size()) < length * S) own.right.resize(length * S);
        double* right_of_instance = at_once_ ? own.right.data() : right_ + at * S;
        own.lattice.start(length, scaled_, at_once_ || shape_.parent ? nullptr : left_ + at * S);
        const PairTable* table = &scaled_;
        if (!marginals<Scaled>(i, scaled_, own.lattice, log_z, node_out, right_of_instance)) {
            table = &table_in_logs();
            std::fill_n(in_logs_.begin() + at, length, 1);
            if (!marginals<Log>(i, *table, own.lattice, log_z, node_out, right_of_instance)) return false;
        }
        if (sums_of_piece)
            add_steps(own.lattice, shape_.pair_kind + at, right_of_instance, *table, shape_.n_kinds, steps_,
                      table != &scaled_, *sums_of_piece);
        return true;
    }

    template <class Semiring>
    bool marginals(int64_t i, const PairTable& table, Lattice& lattice, double* log_z, double* node_out,
                   double* right_of_instance) {
        const int64_t Y = shape_.n_labels, at = shape_.offsets[i];
        const double weight = shape_.weight ? shape_.weight[i] : 1.0;
        if (shape_.parent)
            return forest_marginals<Semiring>(shape_, i, scores_.node, table, lattice, weight, log_z,
                                              {node_out, left_, right_});
        return sequence_marginals<Semiring>(scores_.node + at * Y, at, table, lattice, weight, log_z + i,
                                            node_out + at * Y, right_of_instance, {0, lattice.length - 1});
    }

    // Made when the first sequence needs it.
    const PairTable& table_in_logs() {
        const std::lock_guard<std::mutex> hold(lock_);
        if (!log_table_) log_table_ = PairTable::lift<Log>(shape_, scores_, true, 1);
        return *log_table_;
    }

    void number_steps() {
        int64_t longest = 0;
        for (int64_t i = 0; i < shape_.n_sequences; ++i)
            longest = std::max(longest, shape_.offsets[i + 1] - shape_.offsets[i]);
        steps_.resize(longest);
        std::iota(steps_.begin(), steps_.end(), 0);
    }

    bool logs_at(int64_t t) const { return !in_logs_.empty() && in_logs_[t]; }

    void sum_at_once(double* pair_out) const {
        const int64_t Y = shape_.n_labels, S = scaled_.stride;
        for (const PairSums& sum : sums_)
            for (int64_t k = 0; k < shape_.n_kinds; ++k)
                for (int64_t i = 0; i < Y; ++i)
                    for (int64_t j = 0; j < Y; ++j) {
                        const int64_t from = (k * Y + i) * S + j;
                        double& out = pair_out[(k * Y + i) * Y + j];
                        if (!sum.products.empty()) out += sum.products[from] * scaled_.forward[from];
                        if (!sum.exact.empty()) out += sum.exact[from];
                    }
    }

    // Steps of sequences done in logs are summed one by one; all others as products of α and right, which are
    // multiplied by the (shared) pair score once at the end. Single pairs differ from it.
    void sum_by_kind(double* pair_out) const {
        const int64_t Y = shape_.n_labels, S = scaled_.stride, lag = shape_.parent ? 0 : 1;
        std::vector<double> sums(shape_.n_pieces * Y * S, 0.0);
        parallel_for(shape_.n_pieces, threads_, [&](int64_t p, int) {
            double* sum = sums.data() + p * Y * S;
            const int32_t kind = shape_.piece_kind[p];
            const int32_t* steps = shape_.steps + shape_.piece_start[p];
            const int64_t n = shape_.piece_start[p + 1] - shape_.piece_start[p];
            std::vector<int32_t> plain;
            for (int64_t s = 0; s < n && !in_logs_.empty(); ++s)
                if (!in_logs_[steps[s]]) plain.push_back(steps[s]);
            if (in_logs_.empty()) add_outer(steps, n, left_, lag, right_, Y, S, sum);
            else add_outer(plain.data(), static_cast<int64_t>(plain.size()), left_, lag, right_, Y, S, sum);
            const double* lifted = scaled_.into(kind);
            for (int64_t i = 0; i < Y * S; ++i) sum[i] *= lifted[i];
            for (int64_t s = 0; s < n; ++s) {
                const int64_t t = steps[s];
                const int32_t row = shape_.row_of(t);
                const double *l = left_ + shape_.left_row(t) * S, *r = right_ + t * S;
                if (logs_at(t)) {
                    add_in_logs(l, r, *log_table_, row, kind, sum);
                } else if (row >= 0) {
                    for (int64_t e = shape_.single_start[row]; e < shape_.single_start[row + 1]; ++e) {
                        const int32_t x = first_of(shape_.single[e]), y = second_of(shape_.single[e]);
                        sum[x * S + y] += l[x] * r[y] * (scaled_.singles[e] - scaled_.base[e]);
                    }
                }
            }
        });
        for (int64_t p = 0; p < shape_.n_pieces; ++p) {
            double* out = pair_out + shape_.piece_kind[p] * Y * Y;
            for (int64_t i = 0; i < Y; ++i)
                for (int64_t j = 0; j < Y; ++j) out[i * Y + j] += sums[(p * Y + i) * S + j];
        }
    }

    void sum_by_row(double* single_out) const {
        const int64_t S = scaled_.stride;
        const auto cuts = balanced_cuts(shape_.single_start, shape_.n_rows, 256);
        parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads_, [&](int64_t piece, int) {
            std::vector<double> exact;
            for (int64_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
                const int64_t first = shape_.single_start[row], n = shape_.single_start[row + 1] - first;
                double* sum = single_out + first;
                const uint32_t* pair = shape_.single + first;
                std::fill(sum, sum + n, 0.0);
                exact.assign(in_logs_.empty() ? 0 : n, 0.0);
                for (int64_t s = shape_.row_start[row]; s < shape_.row_start[row + 1]; ++s) {
                    const int64_t t = shape_.row_steps[s];
                    const double *l = left_ + shape_.left_row(t) * S, *r = right_ + t * S;
                    if (logs_at(t))
                        for (int64_t e = 0; e < n; ++e)
                            exact[e] +=
                                std::exp(l[first_of(pair[e])] + log_table_->singles[first + e] + r[second_of(pair[e])]);
                    else
                        for (int64_t e = 0; e < n; ++e) sum[e] += l[first_of(pair[e])] * r[second_of(pair[e])];
                }
                for (int64_t e = 0; e < n; ++e)
                    sum[e] = sum[e] * scaled_.singles[first + e] + (exact.empty() ? 0.0 : exact[e]);
            }
        });
    }

    const ChainShape& shape_;
    const PartScores& scores_;
    double *left_, *right_;  // [T][stride]; unused where sums are taken at once
    const PairTable scaled_;
    std::optional<PairTable> log_table_;
    std::mutex lock_;
    std::vector<char> in_logs_;  // [T]; empty if no sequence is
    bool at_once_;
    int threads_;
    std::vector<int32_t> steps_;  // 0, 1, 2, …
    std::vector<PairSums> sums_;  // one a piece
};

inline bool chain_marginals(const ChainShape& shape, const PartScores& scores, double* log_z, const PartSums& out,
                            double* left, double* right, ChainPosterior* kept, int threads) {
    if (kept) {
        const int64_t n_tokens = shape.offsets[shape.n_sequences];
        kept->n_labels = shape.n_labels;
        kept->stride = padded(shape.n_labels);
        kept->left.resize(n_tokens * kept->stride);
        kept->right.resize(n_tokens * kept->stride);
        left = kept->left.data();
        right = kept->right.data();
    }
    MarginalPass pass(shape, scores, left, right, kept != nullptr, threads);
    if (!pass.run(log_z, out.node)) return false;
    pass.sum_pairs(out);
    if (kept) pass.keep(*kept);
    return true;
}
