// Second-order chains: their recursions are those of chains whose labels are pairs of tags, with another product for a
// step; log Z and marginals. Included once per instruction set, inside a namespace, after chain_recursions_body.hpp;
// see kernels.cpp.

// The scores of triples lifted into a semiring: for every tag b, a matrix from the pairs that end with b to those that
// begin with b, rows padded; and its transpose. Stands where chain_recursions_body.hpp has a PairTable; the labels are
// slots (see TagPairs). There are always pairs that cannot follow each other, so α is watched.
struct TripleTable {
    const SecondOrderShape* shape;
    int64_t n_labels, stride;               // slots
    std::vector<double> forward, backward;  // [K][cells]
    std::vector<double> shift;              // [K]: what was subtracted before exp
    double spread = 0;
    static constexpr bool forbidden = true;

    const double* into(int64_t t, int64_t b) const { return forward.data() + cell(t, b, shape->pairs.forward); }
    const double* from(int64_t t, int64_t b) const { return backward.data() + cell(t, b, shape->pairs.backward); }
    double shift_at(int64_t t) const { return shift[shape->kind[t]]; }

    template <class Semiring>
    static TripleTable lift(const SecondOrderShape& shape, const double* scores, bool both) {
        const TagPairs& pairs = shape.pairs;
        TripleTable table{&shape, pairs.n_slots, pairs.n_slots, {}, {}, {}};
        table.forward.assign(shape.n_kinds * pairs.forward.back(), Semiring::zero);
        if (both) table.backward.assign(shape.n_kinds * pairs.backward.back(), Semiring::zero);
        table.shift.assign(shape.n_kinds, 0.0);
        for (int64_t k = 0; k < shape.n_kinds; ++k) {
            const double* triple = scores + k * pairs.n_triples;
            double high = minus_infinity, low = -minus_infinity;
            for (int64_t r = 0; r < pairs.n_triples; ++r) {
                high = std::max(high, triple[r]);
                if (triple[r] > minus_infinity) low = std::min(low, triple[r]);
            }
            if (high == minus_infinity) high = low = 0;
            table.spread = std::max(table.spread, high - low);
            if (Semiring::scaled) table.shift[k] = high;
            for (int64_t b = 0; b < pairs.n_tags; ++b)
                for (int64_t i = 0; i < pairs.n_into(b); ++i)
                    for (int64_t j = 0; j < pairs.n_after(b); ++j) {
                        const double score = triple[pairs.triple_start[pairs.pairs_into(b)[i]] + j];
                        const double lifted = Semiring::lift(score, high);
                        table.forward[k * pairs.forward.back() + pairs.forward[b] + i * padded(pairs.n_after(b)) + j] =
                            lifted;
                        if (both)
                            table.backward[k * pairs.backward.back() + pairs.backward[b] + j * padded(pairs.n_into(b))
                                           + i] = lifted;
                    }
        }
        return table;
    }

    // out(b, c) = ⊕_a left(a, b) ⊗ triple(a, b, c) or, on the way back, out(a, b) = ⊕_c triple(a, b, c) ⊗ left(b, c).
    template <class Semiring>
    void step(const double* left, int64_t t, bool back, double* out) const {
        const TagPairs& pairs = shape->pairs;
        thread_local std::vector<double> some;
        some.resize(padded(pairs.n_slots));
        std::fill(out, out + stride, Semiring::zero);
        for (const int32_t b : pairs.by_size) {
            const int64_t n = pairs.n_into(b), m = pairs.n_after(b);
            const int32_t* into_b = pairs.slots_into(b);
            if (back) {
                product<Semiring>(left + pairs.block[b], from(t, b), m, padded(n), some.data());
                for (int64_t i = 0; i < n; ++i) out[into_b[i]] = some[i];
            } else {
                for (int64_t i = 0; i < n; ++i) some[i] = left[into_b[i]];
                product<Semiring>(some.data(), into(t, b), n, padded(m), out + pairs.block[b]);
            }
        }
    }

  private:
    int64_t cell(int64_t t, int64_t b, const std::vector<int64_t>& start) const {
        return shape->kind[t] * start.back() + start[b];
    }
};

// Whether scaled sums have all but lost a pair that token t can have. Before it none was lost, so those that the token
// before can have are those with a share.
inline bool loses_a_label(const TripleTable& table, Lattice& lattice, int64_t number, int64_t t) {
    const int64_t S = lattice.stride;
    const double *node = lattice.node.data() + t * S, *alpha = lattice.alpha + t * S;
    const TagPairs& pairs = table.shape->pairs;
    for (int64_t at = 0; at < S; at += 4) {
        if (!any((load(node + at) > spread(0.0)) & ~(load(alpha + at) > spread(smallest_share)))) continue;
        for (int64_t s = at; s < at + 4; ++s) {
            if (!(node[s] > 0) || alpha[s] > smallest_share) continue;
            if (t == 0) return true;
            const int64_t b = pairs.before[pairs.pair_at[s]], m = padded(pairs.n_after(b));
            const double* before = alpha - S;
            for (int64_t i = 0; i < pairs.n_into(b); ++i)
                if (before[pairs.slot[pairs.pairs_into(b)[i]]] > 0
                    && table.into(number, b)[i * m + s - pairs.block[b]] > 0)
                    return true;
        }
    }
    return false;
}

// The scores of the pairs of one sequence.
struct SlotScores {
    const SecondOrderShape& shape;
    const double* node;  // [T][width], of the whole batch
    int64_t sequence;
};

// They in slots, lifted: those of tags once a tag. What cannot be at a token is zero.
template <class Semiring>
bool lift_nodes(const SlotScores& scores, double limit, Lattice& lattice, double& shifts) {
    const SecondOrderShape& shape = scores.shape;
    const TagPairs& pairs = shape.pairs;
    const int64_t S = pairs.n_slots, W = shape.width(), Y = pairs.n_tags, P = pairs.n_pairs;
    const int64_t n_first = std::upper_bound(pairs.before.begin(), pairs.before.end(), -1) - pairs.before.begin();
    const double* row = scores.node + shape.offsets[scores.sequence] * W;
    thread_local std::vector<double> tags, both;
    tags.resize(padded(Y));
    both.resize(S);
    for (int64_t t = 0; t < lattice.length; ++t, row += W) {
        double* node = lattice.node.data() + t * S;
        const int64_t first = t ? n_first : 0, last = t ? P : n_first;
        if (shape.scores_pairs) {
            const double* of_pairs = row + shape.first_pair_column();
            std::fill(both.begin(), both.end(), minus_infinity);
            for (int64_t p = first; p < last; ++p)
                both[pairs.slot[p]] = of_pairs[p] + (shape.scores_tags ? row[pairs.tag[p]] : 0.0);
            if (!lift_node<Semiring>(both.data(), nullptr, limit, S, S, node, shifts)) return false;
        } else {
            if (!lift_node<Semiring>(row, nullptr, limit, Y, padded(Y), tags.data(), shifts)) return false;
            std::fill(node, node + S, Semiring::zero);
            for (int64_t p = first; p < last; ++p) node[pairs.slot[p]] = tags[pairs.tag[p]];
        }
    }
    return true;
}

// Marginals of triples of a range of sequences: Σ of α ⊗ right, still to be multiplied by the triples' own numbers; and
// those of sequences done in logs, which are complete. As the forward matrices of a TripleTable.
struct TripleSums {
    std::vector<double> products, exact;  // [K][cells]

    static double* of(std::vector<double>& sums, const SecondOrderShape& shape, int64_t kind) {
        const int64_t cells = shape.pairs.forward.back();
        if (sums.empty()) sums.assign(shape.n_kinds * cells, 0.0);
        return sums.data() + kind * cells;
    }
};

// sum(a, b, c) += Σ over n tokens of left(a, b) right(b, c), tokens one after another; n is at most `together`.
constexpr int64_t together = 4;
inline void add_triples(const TagPairs& pairs, const double* left, const double* right, int64_t n, double* sum) {
    const int64_t S = pairs.n_slots;
    for (const int32_t b : pairs.by_size) {
        const int64_t m = padded(pairs.n_after(b));
        double* cells = sum + pairs.forward[b];
        const double* r = right + pairs.block[b];
        const int32_t* slots = pairs.slots_into(b);
        for (int64_t i = 0; i < pairs.n_into(b); ++i, cells += m) {
            const double* l = left + slots[i];
            if (n == together) {
                const Lanes a = spread(l[0]), c = spread(l[S]), d = spread(l[2 * S]), e = spread(l[3 * S]);
                for (int64_t j = 0; j < m; j += 4)
                    store(cells + j, load(cells + j)
                                         + ((a * load(r + j) + c * load(r + S + j))
                                            + (d * load(r + 2 * S + j) + e * load(r + 3 * S + j))));
            } else {
                for (int64_t k = 0; k < n; ++k) {
                    const Lanes a = spread(l[k * S]);
                    for (int64_t j = 0; j < m; j += 4) store(cells + j, load(cells + j) + a * load(r + k * S + j));
                }
            }
        }
    }
}

// The same of one token of a sequence done in logs, with the triples' own scores.
inline void add_triples_in_logs(const TripleTable& table, const double* left, const double* right, int64_t t,
                                double* sum) {
    const TagPairs& pairs = table.shape->pairs;
    for (int64_t b = 0; b < pairs.n_tags; ++b) {
        const int64_t m = padded(pairs.n_after(b));
        double* cells = sum + pairs.forward[b];
        const double* scores = table.into(t, b);
        for (int64_t i = 0; i < pairs.n_into(b); ++i, cells += m, scores += m) {
            const double l = left[pairs.slot[pairs.pairs_into(b)[i]]];
            if (l == minus_infinity) continue;
            for (int64_t j = 0; j < pairs.n_after(b); ++j)
                cells[j] += std::exp(l + scores[j] + right[pairs.block[b] + j]);
        }
    }
}

// The marginals of one batch: sequences in a fixed number of pieces, whose sums over triples are added up in order.
class SecondOrderPass {
  public:
    SecondOrderPass(const SecondOrderShape& shape, const SecondOrderScores& scores)
        : shape_(shape), scores_(scores), scaled_(TripleTable::lift<Scaled>(shape, scores.triple, true)) {}

    // False: some sequence has no output with a finite score.
    bool run(double* log_z, const SecondOrderSums& out, int threads) {
        const int64_t most = shape_.n_kinds <= few_kinds ? most_pieces : 1;  // each has sums of every kind
        const auto cuts = balanced_cuts(shape_.offsets, shape_.n_sequences, most);
        const auto n_pieces = static_cast<int64_t>(cuts.size()) - 1;
        std::vector<TripleSums> sums(n_pieces);
        std::vector<InFlight> in_flight(std::max(threads, 1));
        std::atomic<bool> feasible{true};
        parallel_for(n_pieces, threads, [&](int64_t piece, int worker) {
            for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i)
                if (!sequence(i, in_flight[worker], log_z + i, out.node, sums[piece])) feasible = false;
        });
        add_up(sums, out.triple);
        return feasible;
    }

  private:
    // What one thread works with.
    struct InFlight {
        Lattice lattice;
        std::vector<double> marginals, right;  // [length][slots]
    };

    bool sequence(int64_t i, InFlight& own, double* log_z, double* node_out, TripleSums& sums) {
        const int64_t length = shape_.offsets[i + 1] - shape_.offsets[i], S = shape_.pairs.n_slots;
        *log_z = 0;
        if (length == 0) return true;
        own.marginals.resize(length * S);
        own.right.resize(length * S);
        own.lattice.start(length, scaled_);
        if (marginals<Scaled>(i, scaled_, own, log_z)) {
            add_scaled(i, own, sums);
        } else {
            const TripleTable& logs = table_in_logs();
            if (!marginals<Log>(i, logs, own, log_z)) return false;
            for (int64_t t = 1; t < length; ++t) {
                const int64_t token = shape_.offsets[i] + t;
                add_triples_in_logs(logs, own.lattice.alpha + (t - 1) * S, own.right.data() + t * S, token,
                                    TripleSums::of(sums.exact, shape_, shape_.kind[token]));
            }
        }
        write(i, own.marginals.data(), node_out);
        return true;
    }

    template <class Semiring>
    bool marginals(int64_t i, const TripleTable& table, InFlight& own, double* log_z) {
        return sequence_marginals<Semiring>(SlotScores{shape_, scores_.node, i}, shape_.offsets[i], table, own.lattice,
                                            shape_.weight_of(i), log_z, own.marginals.data(), own.right.data(),
                                            {0, own.lattice.length - 1});
    }

    void add_scaled(int64_t i, const InFlight& own, TripleSums& sums) {
        const int64_t S = shape_.pairs.n_slots, length = own.lattice.length;
        const int32_t* kind = shape_.kind + shape_.offsets[i];
        for (int64_t t = 1, end; t < length; t = end) {
            for (end = t + 1; end < length && end < t + together && kind[end] == kind[t];) ++end;
            add_triples(shape_.pairs, own.lattice.alpha + (t - 1) * S, own.right.data() + t * S, end - t,
                        TripleSums::of(sums.products, shape_, kind[t]));
        }
    }

    // Marginals in slots as those of the columns that have scores.
    void write(int64_t i, const double* marginals, double* node_out) const {
        const TagPairs& pairs = shape_.pairs;
        const int64_t W = shape_.width(), S = pairs.n_slots;
        for (int64_t t = shape_.offsets[i]; t < shape_.offsets[i + 1]; ++t, marginals += S) {
            double *row = node_out + t * W, *of_pairs = row + shape_.first_pair_column();
            for (int64_t c = 0; c < pairs.n_tags && shape_.scores_tags; ++c) {
                double sum = 0;
                const int32_t* into = pairs.slots_into(c);
                for (int64_t k = 0; k < pairs.n_into(c); ++k) sum += marginals[into[k]];
                row[c] = sum;
            }
            if (shape_.scores_pairs)
                for (int64_t p = 0; p < pairs.n_pairs; ++p) of_pairs[p] = marginals[pairs.slot[p]];
        }
    }

    void add_up(const std::vector<TripleSums>& sums, double* out) const {
        const TagPairs& pairs = shape_.pairs;
        std::fill(out, out + shape_.n_kinds * pairs.n_triples, 0.0);
        for (const TripleSums& sum : sums)
            for (int64_t k = 0; k < shape_.n_kinds; ++k)
                for (int64_t b = 0; b < pairs.n_tags; ++b)
                    for (int64_t i = 0; i < pairs.n_into(b); ++i) {
                        const int64_t at = k * pairs.forward.back() + pairs.forward[b] + i * padded(pairs.n_after(b));
                        double* to = out + k * pairs.n_triples + pairs.triple_start[pairs.pairs_into(b)[i]];
                        for (int64_t j = 0; j < pairs.n_after(b); ++j) {
                            if (!sum.products.empty()) to[j] += sum.products[at + j] * scaled_.forward[at + j];
                            if (!sum.exact.empty()) to[j] += sum.exact[at + j];
                        }
                    }
    }

    // Made when the first sequence needs it.
    const TripleTable& table_in_logs() {
        const std::lock_guard<std::mutex> hold(lock_);
        if (!logs_) logs_ = TripleTable::lift<Log>(shape_, scores_.triple, true);
        return *logs_;
    }

    const SecondOrderShape& shape_;
    const SecondOrderScores& scores_;
    const TripleTable scaled_;
    std::optional<TripleTable> logs_;
    std::mutex lock_;
};

inline bool second_order_marginals(const SecondOrderShape& shape, const SecondOrderScores& scores, double* log_z,
                                   const SecondOrderSums& out, int threads) {
    return SecondOrderPass(shape, scores).run(log_z, out, threads);
}

// From (weighted) marginals of tokens, the variances of parts, w p (1 − p): p(a, b, c) is taken as
// p(a, b) p(b, c) / p(b) and, where only tags have marginals, p(a, b) as p(a) p(b).
inline void second_order_variances(const SecondOrderShape& shape, const double* marginals, const SecondOrderSums& out,
                                   int threads) {
    const TagPairs& pairs = shape.pairs;
    const int64_t W = shape.width(), cut = shape.first_pair_column();
    const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, shape.n_kinds <= few_kinds ? most_pieces : 1);
    const auto n_pieces = static_cast<int64_t>(cuts.size()) - 1;
    const int64_t size = shape.n_kinds * pairs.n_triples;
    std::vector<std::vector<double>> sums(n_pieces);
    parallel_for(n_pieces, threads, [&](int64_t piece, int) {
        sums[piece].assign(size, 0.0);
        std::vector<double> tags[2], both[2];  // of the token before and of this one: p(b), p(a, b)
        for (auto* each : {&tags[0], &tags[1]}) each->resize(pairs.n_tags);
        for (auto* each : {&both[0], &both[1]}) each->resize(pairs.n_pairs);
        for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
            const double w = shape.weight_of(i), inverse = w > 0 ? 1 / w : 0.0;
            for (int64_t t = shape.offsets[i]; t < shape.offsets[i + 1]; ++t) {
                const double* m = marginals + t * W;
                for (int64_t c = 0; c < W; ++c) out.node[t * W + c] = w > 0 ? m[c] * (1 - m[c] * inverse) : 0.0;
                if (!(w > 0)) continue;
                tags[0].swap(tags[1]);
                both[0].swap(both[1]);
                const bool begins = t == shape.offsets[i];
                std::fill(tags[1].begin(), tags[1].end(), 0.0);
                for (int64_t p = 0; p < pairs.n_pairs; ++p) {
                    if (!shape.scores_tags) tags[1][pairs.tag[p]] += m[cut + p] * inverse;
                    else tags[1][pairs.tag[p]] = m[pairs.tag[p]] * inverse;
                }
                for (int64_t p = 0; p < pairs.n_pairs; ++p) {
                    const int32_t a = pairs.before[p];
                    if (shape.scores_pairs) both[1][p] = m[cut + p] * inverse;
                    else if ((a < 0) != begins) both[1][p] = 0;
                    else both[1][p] = (begins ? 1.0 : tags[0][a]) * tags[1][pairs.tag[p]];
                }
                if (begins) continue;
                double* sum = sums[piece].data() + shape.kind[t] * pairs.n_triples;
                for (int64_t p = 0; p < pairs.n_pairs; ++p) {
                    const int64_t b = pairs.tag[p];
                    if (!(tags[0][b] > 0)) continue;
                    const double left = both[0][p] / tags[0][b];
                    for (int64_t q = pairs.first[b]; q < pairs.last[b]; ++q) {
                        const double all = left * both[1][q];
                        sum[pairs.triple_start[p] + q - pairs.first[b]] += w * all * (1 - all);
                    }
                }
            }
        }
    });
    std::fill(out.triple, out.triple + size, 0.0);
    for (const auto& sum : sums)
        for (int64_t r = 0; r < size; ++r) out.triple[r] += sum[r];
}
