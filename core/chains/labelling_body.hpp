// Labels of sequences straight from what their templates see: scores, recursion and way back, a sequence at a time, so
// that nothing but labels (or marginals) leaves the cache. Included once per instruction set, inside a namespace, after
// chain_recursions_body.hpp, whose recursions it shares; see kernels.cpp.

// What one thread works with.
struct SeenSequence {
    std::vector<int32_t> codes;    // [inputs][places]
    std::vector<int32_t> records;  // [places]
    std::vector<double> scores;    // [margin + length + margin][stride]
    std::vector<double> alpha;     // [length][stride]
    std::vector<uint64_t> left;    // [length][words of bits]: labels that may be on a best path
    std::vector<double> packed, right;
    Lattice lattice;
};

inline void add_record(const TemplateWeights& weights, const TemplateWeights::Shape& shape, int32_t record, double* to) {
    for (const TemplateWeights::Entry *e = shape.begin(record), *end = shape.end(record); e < end; ++e)
        to[e->at] += e->weight;
    if (!shape.has_rows()) return;
    const int64_t S = weights.stride();
    for (const TemplateWeights::Row *r = shape.rows_begin(record), *end = shape.rows_end(record); r < end; ++r) {
        const double* row = weights.row(r->first);
        double* sum = to + r->at;
        for (int64_t y = 0; y < S; y += 4) store(sum + y, load(sum + y) + load(row + y));
    }
}

// The records of a shape at `n` places; code[k] are the codes of the k-th cell at the first place and on.
inline void find_records(const TemplateWeights::Shape& shape, const int32_t* const* code, int64_t n, int32_t* record) {
    const size_t arity = shape.cells.size();
    if (arity == 1) {
        for (int64_t p = 0; p < n; ++p) record[p] = shape.direct(code[0][p]);
        return;
    }
    for (int64_t p = 0; p < n; ++p) {
        uint64_t key = 0;
        bool known = true;
        for (size_t k = 0; k < arity; ++k) {
            key += shape.factor[k] * static_cast<uint64_t>(code[k][p]);
            known &= code[k][p] != 0;
        }
        if (shape.is_direct()) {
            record[p] = shape.direct(key);
            continue;
        }
        const uint64_t hash = shape.hash(key);
        record[p] = known && shape.maybe(hash) ? shape.find(key, hash) : 0;
    }
}

// Scores of one sequence; rows of `stride` numbers, which end in zeros.
inline double* seen_scores(const TemplateWeights& weights, const SeenTokens& seen, int64_t i, SeenSequence& own) {
    const int64_t S = weights.stride(), begin = seen.sequences.offsets[i];
    const int64_t length = seen.sequences.offsets[i + 1] - begin;
    const int64_t left = weights.left(), width = left + length + weights.right();
    const auto n_inputs = static_cast<int64_t>(seen.inputs.size());
    if (static_cast<int64_t>(own.codes.size()) < n_inputs * width) own.codes.resize(n_inputs * width);
    if (static_cast<int64_t>(own.records.size()) < width) own.records.resize(width);
    const int64_t n_scores = (length + 2 * weights.margin()) * S;
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
    double* scores = own.scores.data() + weights.margin() * S;
    for (int64_t t = 0; t < length; ++t) std::copy_n(weights.constant(), S, scores + t * S);
    thread_local std::vector<const int32_t*> code;
    for (const TemplateWeights::Shape& shape : weights.shapes()) {
        code.clear();
        for (const TemplateWeights::Cell& cell : shape.cells)
            code.push_back(own.codes.data() + cell.input * width + left + shape.lowest + cell.offset);
        const int64_t n = length + shape.highest - shape.lowest;
        find_records(shape, code.data(), n, own.records.data());
        double* to = scores + shape.lowest * S;
        for (int64_t p = 0; p < n; ++p)
            if (own.records[p]) add_record(weights, shape, own.records[p], to + p * S);
    }
    for (const int32_t j : weights.others())
        for (int64_t t = 0; t < length; ++t) {
            const int64_t attribute =
                weights.extractor().find(j, seen.inputs, seen.sequences, begin, length, t);
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

// What comparisons say of 64 numbers, a bit each; compare(j) compares the four from j on.
template <class Compare>
uint64_t bits_of(int64_t first, int64_t stride, Compare&& compare) {
    LaneBits found{0, 0, 0, 0}, bit{1, 2, 4, 8};
    for (int64_t j = first; j < std::min(first + 64, stride); j += 4) {
        found |= reinterpret_cast<LaneBits>(compare(j)) & bit;
        bit <<= 4;
    }
    return (found[0] | found[1]) | (found[2] | found[3]);
}

inline int64_t place_of_largest(const double* values, int64_t stride) {
    Lanes high = load(values);
    for (int64_t j = 4; j < stride; j += 4) high = larger(high, load(values + j));
    const Lanes largest = spread(std::max(std::max(high[0], high[1]), std::max(high[2], high[3])));
    for (int64_t first = 0;; first += 64) {
        const uint64_t bits = bits_of(first, stride, [&](int64_t j) { return load(values + j) == largest; });
        if (bits || first + 64 >= stride) return bits ? first + std::countr_zero(bits) : 0;
    }
}

// Viterbi over few labels: those that the best one of their token leaves in question (see LabelStep).
inline bool best_labels(const LabelStep& step, const double* scores, int64_t length, SeenSequence& own,
                        int32_t* labels) {
    const int64_t Y = step.n_labels, S = step.stride, words = (S + 63) / 64;
    if (static_cast<int64_t>(own.alpha.size()) < length * S) own.alpha.resize(length * S);
    if (static_cast<int64_t>(own.left.size()) < length * words) own.left.resize(length * words);
    double* alpha = own.alpha.data();
    std::copy_n(scores, Y, alpha);
    std::fill(alpha + Y, alpha + S, minus_infinity);
    for (int64_t t = 1; t < length; ++t, alpha += S) {
        uint64_t* left = own.left.data() + (t - 1) * words;
        double* next = alpha + S;
        for (int64_t j = 0; j < S; j += 4) store(next + j, spread(minus_infinity));
        const int64_t best = place_of_largest(alpha, S);
        const double limit = alpha[best] - LabelStep::rounding * (std::fabs(alpha[best]) + 1);
        const double* gap = step.gap.empty() ? nullptr : step.gap.data() + best * S;
        for (int64_t word = 0; word < words; ++word) {
            uint64_t bits = bits_of(word * 64, S, [&](int64_t j) {
                return gap ? load(alpha + j) + load(gap + j) > spread(limit) : load(alpha + j) > spread(minus_infinity);
            });
            if (best / 64 == word) bits |= uint64_t{1} << best % 64;
            left[word] = bits;
            for (; bits; bits &= bits - 1) {
                const int64_t x = word * 64 + std::countr_zero(bits);
                const double* into = step.into.data() + x * S;
                const Lanes before = spread(alpha[x]);
                for (int64_t j = 0; j < S; j += 4) store(next + j, larger(load(next + j), before + load(into + j)));
            }
        }
        for (int64_t j = 0; j < S; j += 4) store(next + j, load(next + j) + load(scores + t * S + j));
    }
    int64_t y = place_of_largest(alpha, S);
    if (!(alpha[y] > minus_infinity)) return false;
    for (int64_t t = length - 1;; --t) {
        labels[t] = static_cast<int32_t>(y);
        if (t == 0) return true;
        alpha -= S;
        int64_t from = -1;
        double highest = minus_infinity;
        for (int64_t word = 0; word < words; ++word)
            for (uint64_t bits = own.left[(t - 1) * words + word]; bits; bits &= bits - 1) {
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
