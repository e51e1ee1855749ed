// The outputs of second-order chains, as tags: scores of taggings, the best, the k best, draws. Included once per
// instruction set, inside a namespace, after second_order_marginals_body.hpp; see kernels.cpp.

inline void second_order_score(const SecondOrderShape& shape, const SecondOrderScores& scores, const int32_t* tags,
                               double* out) {
    const int64_t W = shape.width(), R = shape.pairs.n_triples;
    for (int64_t i = 0; i < shape.n_sequences; ++i) {
        double sum = 0;
        const bool there = shape.each_part(i, tags, [&](int64_t t, int32_t pair, int64_t triple) {
            sum += shape.pair_score(scores.node + t * W, pair);
            if (triple >= 0) sum += scores.triple[shape.kind[t] * R + triple];
        });
        out[i] = there ? sum : minus_infinity;
    }
}

// False: some sequence has a pair of tags that is not there.
inline bool second_order_add(const SecondOrderShape& shape, const int32_t* tags, double times,
                             const SecondOrderSums& parts) {
    const TagPairs& pairs = shape.pairs;
    const int64_t W = shape.width();
    for (int64_t i = 0; i < shape.n_sequences; ++i) {
        const double each = times * shape.weight_of(i);
        const bool there = shape.each_part(i, tags, [&](int64_t t, int32_t pair, int64_t triple) {
            if (shape.scores_tags) parts.node[t * W + pairs.tag[pair]] += each;
            if (shape.scores_pairs) parts.node[t * W + shape.first_pair_column() + pair] += each;
            if (triple >= 0) parts.triple[shape.kind[t] * pairs.n_triples + triple] += each;
        });
        if (!there) return false;
    }
    return true;
}

// Viterbi. No back-pointers are stored: on the way back each predecessor is searched for again.
inline bool second_order_argmax(const SecondOrderShape& shape, const SecondOrderScores& scores, double* best,
                                int32_t* tags, int threads) {
    const TagPairs& pairs = shape.pairs;
    const TripleTable table = TripleTable::lift<Max>(shape, scores.triple, false);
    std::vector<Lattice> lattices(std::max(threads, 1));
    std::atomic<bool> feasible{true};
    const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, 64);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int worker) {
        Lattice& lattice = lattices[worker];
        for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
            const int64_t at = shape.offsets[i], length = shape.offsets[i + 1] - at, S = pairs.n_slots;
            best[i] = 0;
            if (length == 0) continue;
            lattice.start(length, table);
            forward<Max>(SlotScores{shape, scores.node, i}, at, table, lattice, length);
            best[i] = lattice.log_z;
            if (!(best[i] > minus_infinity)) {
                feasible = false;
                continue;
            }
            const double* alpha = lattice.alpha + (length - 1) * S;
            int32_t pair = pairs.pair_at[std::max_element(alpha, alpha + S) - alpha];
            tags[at + length - 1] = pairs.tag[pair];
            for (int64_t t = length - 1; t > 0; --t) {
                alpha -= S;
                const int32_t b = pairs.before[pair];
                const int32_t* into = pairs.pairs_into(b);
                const int64_t m = padded(pairs.n_after(b));
                const double* column = table.into(at + t, b) + pair - pairs.first[b];
                int64_t from = 0;
                for (int64_t k = 1; k < pairs.n_into(b); ++k)
                    if (alpha[pairs.slot[into[k]]] + column[k * m] > alpha[pairs.slot[into[from]]] + column[from * m])
                        from = k;
                pair = into[from];
                tags[at + t - 1] = pairs.tag[pair];
            }
        }
    });
    return feasible;
}

// The k best outputs (list Viterbi): every pair keeps the k best paths to it.
inline void second_order_kbest(const SecondOrderShape& shape, const SecondOrderScores& scores, int32_t k,
                               double* values, int32_t* tags, int threads) {
    const TagPairs& pairs = shape.pairs;
    const int64_t P = pairs.n_pairs, W = shape.width(), n_tokens = shape.offsets[shape.n_sequences];
    struct Path {
        double score;
        int32_t pair, rank;  // of the predecessor
    };
    const auto better = [](const Path& a, const Path& b) {
        if (a.score != b.score) return a.score > b.score;
        return a.pair != b.pair ? a.pair < b.pair : a.rank < b.rank;
    };
    parallel_for(shape.n_sequences, threads, [&](int64_t i, int) {
        const int64_t at = shape.offsets[i], length = shape.offsets[i + 1] - at;
        std::vector<Path> paths(length * P * k, Path{minus_infinity, 0, 0}), candidates;  // [T][P][k]
        const auto keep = [&] {
            const size_t kept = std::min<size_t>(k, candidates.size());
            std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(), better);
            candidates.resize(kept);
        };
        const auto collect = [&](int64_t t, int32_t p, double into) {
            for (int32_t r = 0; r < k; ++r) {
                const double s = paths[(t * P + p) * k + r].score + into;
                if (s > minus_infinity) candidates.push_back({s, p, r});
            }
        };
        for (int64_t t = 0; t < length; ++t)
            for (int32_t q = 0; q < P; ++q) {
                const int32_t b = pairs.before[q];
                if ((b < 0) != (t == 0)) continue;
                const double here = shape.pair_score(scores.node + (at + t) * W, q);
                Path* to = paths.data() + (t * P + q) * k;
                if (t == 0) {
                    to->score = here;
                    continue;
                }
                candidates.clear();
                const double* triple = scores.triple + shape.kind[at + t] * pairs.n_triples;
                for (int64_t n = 0; n < pairs.n_into(b); ++n) {
                    const int32_t p = pairs.pairs_into(b)[n];
                    collect(t - 1, p, triple[pairs.triple(p, q)] + here);
                }
                keep();
                std::copy(candidates.begin(), candidates.end(), to);
            }
        candidates.clear();
        if (length == 0) candidates.push_back({0.0, -1, 0});
        for (int32_t p = 0; p < P && length; ++p) collect(length - 1, p, 0.0);
        keep();
        for (int32_t r = 0; r < k; ++r) {
            const bool there = static_cast<size_t>(r) < candidates.size();
            values[r * shape.n_sequences + i] = there ? candidates[r].score : minus_infinity;
            Path path = there ? candidates[r] : Path{minus_infinity, -1, 0};
            for (int64_t t = length - 1; t >= 0; --t) {
                tags[r * n_tokens + at + t] = path.pair < 0 ? -1 : pairs.tag[path.pair];
                if (path.pair >= 0) path = paths[(t * P + path.pair) * k + path.rank];
            }
        }
    });
}

// Forward filtering, backward sampling.
inline bool second_order_sample(const SecondOrderShape& shape, const SecondOrderScores& scores, uint64_t seed,
                                int32_t n_draws, int32_t* tags, int threads) {
    const TagPairs& pairs = shape.pairs;
    const int64_t S = pairs.n_slots, n_tokens = shape.offsets[shape.n_sequences];
    const TripleTable table = TripleTable::lift<Log>(shape, scores.triple, false);
    std::vector<Lattice> lattices(std::max(threads, 1));
    std::atomic<bool> feasible{true};
    parallel_for(shape.n_sequences, threads, [&](int64_t i, int worker) {
        Lattice& lattice = lattices[worker];
        const int64_t at = shape.offsets[i], length = shape.offsets[i + 1] - at;
        if (length == 0) return;
        std::vector<double> weight(S), into_pair;
        lattice.start(length, table);
        forward<Log>(SlotScores{shape, scores.node, i}, at, table, lattice, length);
        if (!(lattice.log_z > minus_infinity)) {
            feasible = false;
            return;
        }
        SplitMix random = SplitMix::stream(seed, i);  // of its own, so draws do not depend on threads
        for (int32_t d = 0; d < n_draws; ++d) {
            int32_t* out = tags + d * n_tokens + at;
            const double* alpha = lattice.alpha + (length - 1) * S;
            int32_t pair = pairs.pair_at[draw_label(random, alpha, S, weight.data())];
            out[length - 1] = pairs.tag[pair];
            for (int64_t t = length - 1; t > 0; --t) {
                alpha -= S;
                const int32_t b = pairs.before[pair];
                const int64_t m = padded(pairs.n_after(b));
                const double* column = table.into(at + t, b) + pair - pairs.first[b];
                into_pair.resize(pairs.n_into(b));
                for (int64_t k = 0; k < pairs.n_into(b); ++k)
                    into_pair[k] = alpha[pairs.slot[pairs.pairs_into(b)[k]]] + column[k * m];
                pair = pairs.pairs_into(b)[draw_label(random, into_pair.data(), pairs.n_into(b), weight.data())];
                out[t - 1] = pairs.tag[pair];
            }
        }
    });
    return feasible;
}
