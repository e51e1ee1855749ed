// The chain's outputs: scores of labellings, the best, the k best, draws. Included once per instruction set, inside a
// namespace, after chain_recursions_body.hpp, whose recursions they share; see kernels.cpp.

// The score of a pair of labels at the step into token t.
inline double pair_score(const ChainShape& shape, const PartScores& scores, int64_t t, int64_t x, int64_t y) {
    const int64_t Y = shape.n_labels, kind = shape.pair_kind[t];
    const int64_t single = shape.find(shape.row_of(t), pair_of(static_cast<uint32_t>(x), static_cast<uint32_t>(y)));
    return (kind < 0 ? 0.0 : scores.pair[(kind * Y + x) * Y + y]) + (single < 0 ? 0.0 : scores.single[single]);
}

inline double node_score(const ChainShape& shape, const PartScores& scores, int64_t t, int64_t y) {
    const double* bars = shape.bars_of(t);
    return scores.node[t * shape.n_labels + y] + (bars ? bars[y] : 0.0);
}

inline void chain_score(const ChainShape& shape, const PartScores& scores, const int32_t* labels, double* out,
                        int threads) {
    const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, 16);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
            double sum = 0;
            for (int64_t t = shape.offsets[i]; t < shape.offsets[i + 1]; ++t) {
                const int64_t before = shape.before(t, shape.offsets[i]);
                sum += node_score(shape, scores, t, labels[t]);
                if (before >= 0) sum += pair_score(shape, scores, t, labels[before], labels[t]);
            }
            out[i] = sum;
        }
    });
}

inline void chain_add(const ChainShape& shape, const int32_t* labels, double times, const PartSums& parts) {
    const int64_t Y = shape.n_labels;
    for (int64_t i = 0; i < shape.n_sequences; ++i) {
        const double each = shape.weight ? times * shape.weight[i] : times;
        for (int64_t t = shape.offsets[i]; t < shape.offsets[i + 1]; ++t) {
            parts.node[t * Y + labels[t]] += each;
            const int64_t before = shape.before(t, shape.offsets[i]), kind = shape.pair_kind[t];
            if (before < 0) continue;
            if (kind >= 0) parts.pair[(kind * Y + labels[before]) * Y + labels[t]] += each;
            const int64_t single = shape.find(shape.row_of(t), pair_of(labels[before], labels[t]));
            if (single >= 0) parts.single[single] += each;
        }
    }
}

// Viterbi. No back-pointers are stored: on the way back each predecessor is searched for again, Y operations a token.
inline bool chain_argmax(const ChainShape& shape, const PartScores& scores, double* best, int32_t* labels,
                         int threads) {
    const int64_t Y = shape.n_labels;
    const PairTable table = PairTable::lift<Max>(shape, scores, false, threads);
    const int64_t S = table.stride;
    std::vector<Lattice> lattices(std::max(threads, 1));
    std::atomic<bool> feasible{true};
    const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, 64);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int worker) {
        Lattice& lattice = lattices[worker];
        std::vector<double> into(Y);
        for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
            const int64_t at = shape.offsets[i];
            lattice.start(shape.offsets[i + 1] - at, table);
            if (lattice.length == 0) {
                best[i] = 0;
                continue;
            }
            forward<Max>(scores.node + at * Y, at, table, lattice, lattice.length);
            best[i] = lattice.log_z;
            if (!(best[i] > minus_infinity)) {
                feasible = false;
                continue;
            }
            const double* alpha = lattice.alpha + (lattice.length - 1) * S;
            int32_t y = static_cast<int32_t>(std::max_element(alpha, alpha + Y) - alpha);
            labels[at + lattice.length - 1] = y;
            for (int64_t t = lattice.length - 1; t > 0; --t) {
                alpha -= S;
                table.column_of<Max>(shape.row_of(at + t), shape.pair_kind[at + t], y, false, into.data());
                int32_t from = 0;
                for (int32_t x = 1; x < Y; ++x)
                    if (alpha[x] + into[x] > alpha[from] + into[from]) from = x;
                labels[at + t - 1] = y = from;
            }
        }
    });
    return feasible;
}

// The k best outputs (list Viterbi): every label keeps the k best paths to it.
inline void chain_kbest(const ChainShape& shape, const PartScores& parts, int32_t k, double* scores, int32_t* labels,
                        int threads) {
    const int64_t Y = shape.n_labels, n_tokens = shape.offsets[shape.n_sequences];
    struct Path {
        double score;
        int32_t label, rank;  // of the predecessor
    };
    const auto better = [](const Path& a, const Path& b) {
        if (a.score != b.score) return a.score > b.score;
        return a.label != b.label ? a.label < b.label : a.rank < b.rank;
    };
    const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, 64);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        std::vector<Path> paths, candidates;
        for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
            const int64_t at = shape.offsets[i], length = shape.offsets[i + 1] - at;
            if (length == 0) {
                for (int32_t r = 0; r < k; ++r) scores[r * shape.n_sequences + i] = r ? minus_infinity : 0.0;
                continue;
            }
            paths.assign(length * Y * k, Path{minus_infinity, 0, 0});  // [T][Y][k]
            for (int64_t y = 0; y < Y; ++y) paths[y * k].score = parts.node[at * Y + y];
            for (int64_t t = 1; t < length; ++t) {
                for (int64_t y = 0; y < Y; ++y) {
                    candidates.clear();
                    for (int32_t x = 0; x < Y; ++x) {
                        const double into = pair_score(shape, parts, at + t, x, y);
                        for (int32_t r = 0; r < k; ++r) {
                            const double s = paths[((t - 1) * Y + x) * k + r].score + into;
                            if (s > minus_infinity) candidates.push_back({s, x, r});
                        }
                    }
                    const size_t kept = std::min<size_t>(k, candidates.size());
                    std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(), better);
                    for (size_t r = 0; r < kept; ++r) {
                        paths[(t * Y + y) * k + r] = candidates[r];
                        paths[(t * Y + y) * k + r].score += parts.node[(at + t) * Y + y];
                    }
                }
            }
            candidates.clear();
            for (int32_t y = 0; y < Y; ++y)
                for (int32_t r = 0; r < k; ++r) {
                    const double s = paths[((length - 1) * Y + y) * k + r].score;
                    if (s > minus_infinity) candidates.push_back({s, y, r});
                }
            const size_t kept = std::min<size_t>(k, candidates.size());
            std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(), better);
            for (int32_t r = 0; r < k; ++r) {
                if (static_cast<size_t>(r) >= kept) {
                    scores[r * shape.n_sequences + i] = minus_infinity;
                    std::fill_n(labels + r * n_tokens + at, length, -1);
                    continue;
                }
                scores[r * shape.n_sequences + i] = candidates[r].score;
                int32_t y = candidates[r].label, rank = candidates[r].rank;
                for (int64_t t = length - 1; t >= 0; --t) {
                    labels[r * n_tokens + at + t] = y;
                    const Path path = paths[(t * Y + y) * k + rank];
                    y = path.label;
                    rank = path.rank;
                }
            }
        }
    });
}

// A label, drawn in proportion to weights with this sum.
inline int32_t draw_weighted(SplitMix& random, const double* weight, double total, int64_t Y) {
    double left = random.uniform() * total;
    int32_t last = 0;
    for (int32_t y = 0; y < Y; ++y) {
        if (weight[y] == 0) continue;
        last = y;
        if ((left -= weight[y]) < 0) break;
    }
    return last;
}

// A label, drawn with a probability that goes with exp(log_weight); `weight` is room for Y numbers.
inline int32_t draw_label(SplitMix& random, const double* log_weight, int64_t Y, double* weight) {
    const double high = *std::max_element(log_weight, log_weight + Y);
    double total = 0;
    for (int64_t y = 0; y < Y; ++y) total += weight[y] = std::exp(log_weight[y] - high);
    return draw_weighted(random, weight, total, Y);
}

// Forward filtering, backward sampling of one sequence: y_T ~ α_T, then y_{t−1} ~ α_{t−1}(·) pair_t(·, y_t). The first
// draw's labels begin at `labels`, the others follow `apart` numbers later each. False: scaled sums will not do, or
// there is no output.
template <class Semiring>
bool draw_sequence(const ChainShape& shape, const PartScores& scores, int64_t at, const PairTable& table,
                   Lattice& lattice, SplitMix random, int32_t n_draws, int32_t* labels, int64_t apart) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    if (!forward<Semiring>(scores.node + at * Y, at, table, lattice, lattice.length)) return false;
    if (!(lattice.log_z > minus_infinity)) return false;
    std::vector<double> weight(S), into(S, Semiring::zero);
    const auto draw = [&](const double* values) {
        if constexpr (Semiring::scaled) return draw_weighted(random, values, sum_of(values, S), Y);
        else return draw_label(random, values, Y, weight.data());
    };
    for (int32_t d = 0; d < n_draws; ++d) {
        int32_t* out = labels + d * apart;
        const double* alpha = lattice.alpha + (lattice.length - 1) * S;
        int32_t y = out[lattice.length - 1] = draw(alpha);
        for (int64_t t = lattice.length - 1; t > 0; --t) {
            alpha -= S;
            table.column_of<Semiring>(shape.row_of(at + t), shape.pair_kind[at + t], y, false, into.data());
            for (int64_t x = 0; x < Y; ++x) into[x] = Semiring::times(into[x], alpha[x]);
            y = out[t - 1] = draw(into.data());
        }
    }
    return true;
}

// Draws of all sequences, in scaled sums where these will do, else in logs.
inline bool chain_sample(const ChainShape& shape, const PartScores& scores, uint64_t seed, int32_t n_draws,
                         int32_t* labels, int threads) {
    const int64_t n_tokens = shape.offsets[shape.n_sequences];
    const PairTable scaled = PairTable::lift<Scaled>(shape, scores, true, threads);
    std::optional<PairTable> in_logs;
    std::mutex lock;
    const auto table_in_logs = [&]() -> const PairTable& {
        const std::lock_guard<std::mutex> hold(lock);
        if (!in_logs) in_logs = PairTable::lift<Log>(shape, scores, false, 1);
        return *in_logs;
    };
    std::vector<Lattice> lattices(std::max(threads, 1));
    std::atomic<bool> feasible{true};
    parallel_for(shape.n_sequences, threads, [&](int64_t i, int worker) {
        Lattice& lattice = lattices[worker];
        const int64_t at = shape.offsets[i], length = shape.offsets[i + 1] - at;
        if (length == 0) return;
        const SplitMix random = SplitMix::stream(seed, i);  // of its own, so draws do not depend on threads
        lattice.start(length, scaled);
        if (draw_sequence<Scaled>(shape, scores, at, scaled, lattice, random, n_draws, labels + at, n_tokens)) return;
        const PairTable& table = table_in_logs();
        lattice.start(length, table);
        if (!draw_sequence<Log>(shape, scores, at, table, lattice, random, n_draws, labels + at, n_tokens))
            feasible = false;
    });
    return feasible;
}
