// Labels of sequences straight from what their templates see: scores, recursion and way back, a sequence at a time, so
// that nothing but labels (or marginals) leaves the cache. Included once per instruction set, inside a namespace, after
// chain_recursions_body.hpp, whose recursions it shares; see kernels.cpp.

// What one thread works with.
struct SeenSequence {
    std::vector<int32_t> codes;    // [inputs][places]
    std::vector<int32_t> records;  // [places]
    std::vector<uint64_t> keys;    // [places]
    std::vector<double> scores;    // [margin + length + margin][stride], from a multiple of 32 bytes on
    std::vector<double> alpha;     // [length][stride]
    std::vector<uint64_t> left;    // [length][words of bits]: labels that may be on a best path
    std::vector<double> packed, right;
    Lattice lattice;
};

inline void add_record(const TemplateWeights::Shape& shape, int32_t record, double* to) {
    for (const TemplateWeights::Entry *e = shape.begin(record), *end = shape.end(record); e < end; ++e)
        store(to + e->at, load(to + e->at) + load(e->weight));
}

// The records of a shape at `n` places; code[k] are the codes of the k-th cell at the first place and on.
inline void find_records(const TemplateWeights::Shape& shape, const int32_t* const* code, int64_t n,
                         std::vector<uint64_t>& keys, int32_t* record) {
    if (static_cast<int64_t>(keys.size()) < n) keys.resize(n);
    uint64_t* key = keys.data();
    for (int64_t p = 0; p < n; ++p) key[p] = static_cast<uint64_t>(code[0][p]);
    for (size_t k = 1; k < shape.cells.size(); ++k) {
        const uint64_t factor = shape.factor[k];
        for (int64_t p = 0; p < n; ++p) key[p] += factor * static_cast<uint64_t>(code[k][p]);
    }
    if (shape.is_direct()) {
        const int32_t* direct = shape.direct();
        for (int64_t p = 0; p < n; ++p) record[p] = direct[key[p]];
        return;
    }
    for (int64_t p = 0; p < n; ++p) {
        const uint64_t hash = shape.hash(key[p]);
        record[p] = shape.maybe(hash) ? shape.find(key[p], hash) : 0;
    }
}

// What all tokens have, and what there is in tables. Codes are those of each input at the first token and on.
inline void add_tables(const TemplateWeights& weights, const int32_t* codes, int64_t width, int64_t length,
                       double* scores) {
    const int64_t S = weights.stride();
    const auto& tables = weights.tables();
    with_row_sum(S, [&](auto type) {
        using Sum = typename decltype(type)::type;
        for (int64_t t = 0; t < length; ++t) {
            Sum sum(S, scores + t * S);
            sum.add(1.0, weights.constant());
            for (const TemplateWeights::Table& table : tables) {
                const int32_t* code = codes + table.input * width + t;
                const int64_t first = code[table.offset];
                const int64_t row = table.offset == table.other ? first : first * table.n_codes + code[table.other];
                sum.add(1.0, table.rows.data() + row * S);
            }
            sum.put();
        }
    });
}

// Scores of one sequence; rows of `stride` numbers, which end in zeros.
inline double* seen_scores(const TemplateWeights& weights, const SeenTokens& seen, int64_t i, SeenSequence& own) {
    const int64_t S = weights.stride(), begin = seen.sequences.offsets[i];
    const int64_t length = seen.sequences.offsets[i + 1] - begin;
    const int64_t left = weights.left(), width = left + length + weights.right();
    const auto n_inputs = static_cast<int64_t>(seen.inputs.size());
    if (static_cast<int64_t>(own.codes.size()) < n_inputs * width) own.codes.resize(n_inputs * width);
    if (static_cast<int64_t>(own.records.size()) < width) own.records.resize(width);
    const int64_t n_scores = (length + 2 * weights.margin()) * S + 4;
    if (static_cast<int64_t>(own.scores.size()) < n_scores) own.scores.resize(n_scores);
    for (int64_t v = 0; v < weights.extractor().n_inputs(); ++v) {
        if (!weights.is_seen(v)) continue;
        const Extractor::Input& input = seen.inputs[v];
        int32_t* codes = own.codes.data() + v * width + left;
        for (int64_t p = -left; p < 0; ++p) codes[p] = weights.code(v, seen.sequences.at(input, begin, length, p));
        for (int64_t p = 0; p < length; ++p) codes[p] = weights.code(v, input.ids[begin + p]);
        for (int64_t p = length; p < width - left; ++p)
            codes[p] = weights.code(v, seen.sequences.at(input, begin, length, p));
    }
    const auto place = reinterpret_cast<uintptr_t>(own.scores.data()) / sizeof(double);
    double* scores = own.scores.data() + (4 - place % 4) % 4 + weights.margin() * S;
    add_tables(weights, own.codes.data() + left, width, length, scores);
    thread_local std::vector<const int32_t*> code;
    for (const TemplateWeights::Shape& shape : weights.shapes()) {
        code.clear();
        for (const TemplateWeights::Cell& cell : shape.cells)
            code.push_back(own.codes.data() + cell.input * width + left + shape.lowest + cell.offset);
        const int64_t n = length + shape.highest - shape.lowest;
        find_records(shape, code.data(), n, own.keys, own.records.data());
        double* to = scores + shape.lowest * S;
        for (int64_t p = 0; p < n; ++p)
            if (own.records[p]) add_record(shape, own.records[p], to + p * S);
    }
    for (const int32_t j : weights.others())
        for (int64_t t = 0; t < length; ++t) {
            const int64_t attribute = weights.extractor().find(j, seen.inputs, seen.sequences, begin, length, t);
            if (attribute >= 0)
                weights.each_weight(attribute, [&](int64_t y, double weight) { scores[t * S + y] += weight; });
        }
    return scores;
}

// body(sequence, worker's memory) for all sequences; false if it was false for any.
template <class Body>
bool each_seen_sequence(const SeenTokens& seen, int threads, Body&& body) {
    std::vector<SeenSequence> own(std::max(threads, 1));
    std::atomic<bool> feasible{true};
    const auto cuts = balanced_cuts(seen.sequences.offsets, seen.sequences.n_sequences, 64);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int worker) {
        for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i)
            if (seen.sequences.offsets[i + 1] > seen.sequences.offsets[i] && !body(i, own[worker])) feasible = false;
    });
    return feasible;
}

// Scores of tokens × labels; overwrites.
inline void template_scores(const TemplateWeights& weights, const SeenTokens& seen, double* out, int threads) {
    const int64_t Y = weights.n_labels(), S = weights.stride();
    each_seen_sequence(seen, threads, [&](int64_t i, SeenSequence& own) {
        const double* scores = seen_scores(weights, seen, i, own);
        for (int64_t t = seen.sequences.offsets[i]; t < seen.sequences.offsets[i + 1]; ++t, scores += S)
            std::copy_n(scores, Y, out + t * Y);
        return true;
    });
}

// What is not possible scores −∞: labels that no sequence may begin or end with, and those other than a given one.
inline void forbid(const LabelStep& step, const int32_t* given, int64_t length, double* scores) {
    const int64_t Y = step.n_labels, S = step.stride;
    for (int64_t y = 0; y < Y; ++y) {
        scores[y] += step.first[y];
        scores[(length - 1) * S + y] += step.last[y];
    }
    for (int64_t t = 0; given && t < length; ++t)
        for (int64_t y = 0; given[t] >= 0 && y < Y; ++y)
            if (y != given[t]) scores[t * S + y] = minus_infinity;
}

// A row of α in registers: W vectors of four. With more labels than that, in memory, which need not be aligned.
template <int W>
struct AlphaRow {
    Lanes lanes[W];

    explicit AlphaRow(int64_t) {}
    static constexpr int64_t size() { return W; }
    Lanes at(int64_t j) const { return lanes[j]; }
    void put(int64_t j, Lanes four) { lanes[j] = four; }
};
struct LongAlphaRow {
    std::vector<double> values;

    explicit LongAlphaRow(int64_t stride) : values(stride) {}
    int64_t size() const { return static_cast<int64_t>(values.size()) / 4; }
    Lanes at(int64_t j) const { return load(values.data() + 4 * j); }
    void put(int64_t j, Lanes four) { store(values.data() + 4 * j, four); }
};

// Calls body(row type) with the right size for the stride.
template <class Body>
void with_alpha_row(int64_t stride, Body&& body) {
    switch (stride / 4) {
        case 1: body(std::type_identity<AlphaRow<1>>()); break;
        case 2: body(std::type_identity<AlphaRow<2>>()); break;
        case 3: body(std::type_identity<AlphaRow<3>>()); break;
        case 4: body(std::type_identity<AlphaRow<4>>()); break;
        case 5: body(std::type_identity<AlphaRow<5>>()); break;
        case 6: body(std::type_identity<AlphaRow<6>>()); break;
        case 7: body(std::type_identity<AlphaRow<7>>()); break;
        case 8: body(std::type_identity<AlphaRow<8>>()); break;
        default: body(std::type_identity<LongAlphaRow>());
    }
}

// What comparisons say of 64 numbers, a bit each; compare(j) compares the j-th four.
template <class Compare>
uint64_t bits_of(int64_t first, int64_t size, Compare&& compare) {
    LaneBits found{0, 0, 0, 0}, bit{1, 2, 4, 8};
    const int64_t end = std::min(first + 16, size);
#pragma GCC unroll 8
    for (int64_t j = first; j < end; ++j) {
        found |= reinterpret_cast<LaneBits>(compare(j)) & bit;
        bit <<= 4;
    }
    return (found[0] | found[1]) | (found[2] | found[3]);
}

template <class Row>
int64_t place_of_largest(const Row& row) {
    const int64_t size = row.size();
    Lanes high = row.at(0);
#pragma GCC unroll 8
    for (int64_t j = 1; j < size; ++j) high = larger(high, row.at(j));
    const Lanes largest = spread(std::max(std::max(high[0], high[1]), std::max(high[2], high[3])));
    for (int64_t first = 0; first < size; first += 16) {
        const uint64_t bits = bits_of(first, size, [&](int64_t j) { return row.at(j) == largest; });
        if (bits) return 4 * first + std::countr_zero(bits);
    }
    return 0;
}

// α of all tokens, and which labels of each may be on a best path to the next. What is left of the last is returned.
template <class Row>
int64_t best_forward(const LabelStep& step, const double* scores, int64_t length, double* alpha, uint64_t* left) {
    const int64_t S = step.stride, words = (S + 63) / 64;
    Row now(S), next(S);
    const int64_t size = now.size();
#pragma GCC unroll 8
    for (int64_t j = 0; j < size; ++j) now.put(j, load(scores + 4 * j) + load(step.padding.data() + 4 * j));
    for (int64_t t = 1;; ++t, alpha += S, left += words) {
#pragma GCC unroll 8
        for (int64_t j = 0; j < size; ++j) store(alpha + 4 * j, now.at(j));
        int64_t best = place_of_largest(now);
        if (best >= step.n_labels) best = 0;  // only where scores are no numbers
        if (t == length) return best;
        const double limit = alpha[best] - LabelStep::rounding * (std::fabs(alpha[best]) + 1);
        const double* gap = step.gap_of(best);
        const double* into = step.into.data() + best * S;
        const Lanes from_best = spread(alpha[best]);
#pragma GCC unroll 8
        for (int64_t j = 0; j < size; ++j) next.put(j, from_best + load(into + 4 * j));
        for (int64_t word = 0; word < words; ++word) {
            uint64_t bits =
                bits_of(word * 16, size, [&](int64_t j) { return now.at(j) + load(gap + 4 * j) > spread(limit); });
            const uint64_t own = best / 64 == word ? uint64_t{1} << best % 64 : 0;
            left[word] = bits | own;
            for (bits &= ~own; bits; bits &= bits - 1) {
                const int64_t x = word * 64 + std::countr_zero(bits);
                into = step.into.data() + x * S;
                const Lanes before = spread(alpha[x]);
#pragma GCC unroll 8
                for (int64_t j = 0; j < size; ++j) next.put(j, larger(next.at(j), before + load(into + 4 * j)));
            }
        }
#pragma GCC unroll 8
        for (int64_t j = 0; j < size; ++j) now.put(j, next.at(j) + load(scores + t * S + 4 * j));
    }
}

// Viterbi over few labels: those that the best one of their token leaves in question (see LabelStep).
inline bool best_labels(const LabelStep& step, const double* scores, int64_t length, SeenSequence& own,
                        int32_t* labels) {
    const int64_t S = step.stride, words = (S + 63) / 64;
    if (static_cast<int64_t>(own.alpha.size()) < length * S) own.alpha.resize(length * S);
    if (static_cast<int64_t>(own.left.size()) < length * words) own.left.resize(length * words);
    int64_t y = 0;
    with_alpha_row(S, [&](auto type) {
        using Row = typename decltype(type)::type;
        y = best_forward<Row>(step, scores, length, own.alpha.data(), own.left.data());
    });
    const double* alpha = own.alpha.data() + (length - 1) * S;
    if (!(alpha[y] > minus_infinity)) return false;
    for (int64_t t = length - 1;; --t) {
        labels[t] = static_cast<int32_t>(y);
        if (t == 0) return true;
        alpha -= S;
        const uint64_t* left = own.left.data() + (t - 1) * words;
        if (words == 1 && !(left[0] & (left[0] - 1))) {  // one label is left
            y = std::countr_zero(left[0]);
            continue;
        }
        int64_t from = -1;
        double highest = minus_infinity;
        for (int64_t word = 0; word < words; ++word)
            for (uint64_t bits = left[word]; bits; bits &= bits - 1) {
                const int64_t x = word * 64 + std::countr_zero(bits);
                const double score = alpha[x] + step.into[x * S + y];
                if (from < 0 || score > highest) from = x, highest = score;
            }
        y = from;
    }
}

// The best labels of every token. False: some sequence has none.
inline bool template_labels(const TemplateWeights& weights, const SeenTokens& seen, const LabelStep& step,
                            const int32_t* given, int32_t* labels, int threads) {
    return each_seen_sequence(seen, threads, [&](int64_t i, SeenSequence& own) {
        const int64_t at = seen.sequences.offsets[i], length = seen.sequences.offsets[i + 1] - at;
        double* scores = seen_scores(weights, seen, i, own);
        forbid(step, given ? given + at : nullptr, length, scores);
        return best_labels(step, scores, length, own, labels + at);
    });
}

// The one matrix that all steps have, as recursions want it.
struct SameSteps {
    const PairTable& table;
    int64_t n_labels, stride;
    double spread;
    bool forbidden;

    explicit SameSteps(const PairTable& lifted)
        : table(lifted), n_labels(lifted.n_labels), stride(lifted.stride), spread(lifted.spread),
          forbidden(lifted.forbidden) {}
    double shift_at(int64_t) const { return table.shift[0]; }
    bool possible(int64_t, int64_t x, int64_t y) const { return table.into(0)[x * stride + y] > 0; }
    template <class Semiring>
    void step(const double* left, int64_t, bool back, double* out) const {
        product<Semiring>(left, back ? table.from(0) : table.into(0), n_labels, stride, out);
    }
};

// Marginals of tokens × labels, and log Z of every sequence. False: some sequence has no output.
inline bool template_marginals(const TemplateWeights& weights, const SeenTokens& seen, const LabelStep& step,
                               const int32_t* given, double* out, double* log_z, int threads) {
    const int64_t Y = step.n_labels, S = step.stride, no_tokens = 0;
    ChainShape shape{};
    shape.offsets = &no_tokens;
    shape.n_labels = static_cast<int32_t>(Y);
    shape.n_kinds = 1;
    const PairTable scaled = PairTable::lift<Scaled>(shape, {nullptr, step.pair.data()}, true, 1);
    const PairTable in_logs = PairTable::lift<Log>(shape, {nullptr, step.pair.data()}, true, 1);
    for (int64_t i = 0; i < seen.sequences.n_sequences; ++i) log_z[i] = 0;  // of empty ones
    return each_seen_sequence(seen, threads, [&](int64_t i, SeenSequence& own) {
        const int64_t at = seen.sequences.offsets[i], length = seen.sequences.offsets[i + 1] - at;
        double* scores = seen_scores(weights, seen, i, own);
        forbid(step, given ? given + at : nullptr, length, scores);
        if (static_cast<int64_t>(own.right.size()) < length * S) {
            own.right.resize(length * S);
            own.packed.resize(length * Y);
        }
        for (int64_t t = 0; t < length; ++t) std::copy_n(scores + t * S, Y, own.packed.data() + t * Y);
        const SameSteps steps(scaled);
        const LabelWindow all{0, length - 1};
        own.lattice.start(length, steps);
        return sequence_marginals<Scaled>(own.packed.data(), 0, steps, own.lattice, 1.0, log_z + i, out + at * Y,
                                          own.right.data(), all)
               || sequence_marginals<Log>(own.packed.data(), 0, SameSteps(in_logs), own.lattice, 1.0, log_z + i,
                                          out + at * Y, own.right.data(), all);
    });
}
