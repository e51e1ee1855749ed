// Scores of label pairs lifted into a semiring: matrices, and single pairs where few have a score of their own.
// Included once per instruction set, inside a namespace, after semiring_body.hpp; see kernels.cpp.

// The single pairs of a step: lifted, and what the step has there without them (null: one).
struct SinglePairs {
    const uint32_t* pair;
    const double *lifted, *base;
    int64_t n;
    bool loses_digits;  // whether some pair leaves less than `cancellation_limit` of what there is without it
};

// Whole sums anew for some labels at the other end. base_column(target, column) has all pairs without the single ones.
template <class Semiring, class BaseColumn>
void sum_anew(std::vector<int32_t>& targets, const double* left, const SinglePairs& pairs, bool back, int64_t n_labels,
              double* out, BaseColumn&& base_column) {
    if (targets.empty()) return;
    thread_local std::vector<double> columns;
    thread_local std::vector<int32_t> place;  // of a target among the columns, −1 for the others
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    columns.resize(targets.size() * n_labels);
    place.assign(n_labels, -1);
    for (size_t k = 0; k < targets.size(); ++k) {
        place[targets[k]] = static_cast<int32_t>(k);
        base_column(targets[k], columns.data() + k * n_labels);
    }
    for (int64_t e = 0; e < pairs.n; ++e) {
        const int32_t x = first_of(pairs.pair[e]), y = second_of(pairs.pair[e]);
        const int64_t k = place[back ? x : y];
        if (k >= 0) columns[k * n_labels + (back ? y : x)] = pairs.lifted[e];
    }
    for (size_t k = 0; k < targets.size(); ++k)
        out[targets[k]] = sum_of_products<Semiring>(left, columns.data() + k * n_labels, n_labels);
}

// log(exp(a) + exp(b)), and log(exp(a) − exp(b)) for a > b.
inline double log_add(double a, double b) {
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low == minus_infinity ? high : high + std::log1p(std::exp(low - high));
}
inline double log_subtract(double a, double b) { return a + std::log1p(-std::exp(b - a)); }

// Corrects a product with the matrix at the targets of single pairs; where that would not be exact, sums are taken
// anew, from base_column (see `sum_anew`).
template <class Semiring, class BaseColumn>
void correct_singles(const double* left, const SinglePairs& pairs, bool back, int64_t n_labels, double* out,
                     BaseColumn&& base_column) {
    const auto base = [&](int64_t e) { return pairs.base ? pairs.base[e] : Semiring::one; };
    thread_local std::vector<int32_t> lost;  // targets
    lost.clear();
    for (int64_t e = 0; e < pairs.n; ++e) {
        const int32_t x = first_of(pairs.pair[e]), y = second_of(pairs.pair[e]);
        const int32_t source = back ? y : x, target = back ? x : y;
        if constexpr (Semiring::scaled) {
            out[target] += left[source] * (pairs.lifted[e] - base(e));
        } else if constexpr (Semiring::shifted) {
            if (pairs.lifted[e] > base(e))
                out[target] = log_add(out[target], left[source] + log_subtract(pairs.lifted[e], base(e)));
            else if (pairs.lifted[e] != base(e)) lost.push_back(target);
        } else {
            // A maximum that another pair attains stays what it is; one that this pair attained must be found anew.
            if (pairs.lifted[e] < base(e) && left[source] + base(e) >= out[target]) lost.push_back(target);
            else out[target] = std::max(out[target], left[source] + pairs.lifted[e]);
        }
    }
    // Where a pair takes away nearly all that the matrix has, digits would be lost.
    if (Semiring::scaled && pairs.loses_digits)
        for (int64_t e = 0; e < pairs.n; ++e)
            if (!(pairs.lifted[e] >= cancellation_limit * base(e)))
                lost.push_back(back ? first_of(pairs.pair[e]) : second_of(pairs.pair[e]));
    sum_anew<Semiring>(lost, left, pairs, back, n_labels, out, base_column);
}

// The scores of label pairs, lifted into a semiring: matrices with rows padded to the vector width, also transposed,
// so that both recursions run along rows; and single pairs, each with its matrix's share in it.
struct PairTable {
    const ChainShape* shape;
    int64_t n_labels, stride;
    std::vector<double> forward, backward;  // [K][Y][stride]
    std::vector<double> shift;              // [K]: what was subtracted before exp
    std::vector<double> singles, base;      // [E]: lifted, and what the matrix alone has at this place
    std::vector<char> loses_digits;         // [R]: whether some pair leaves less than this share of what the matrix has
    double spread = 0;
    bool forbidden = false;

    const double* into(int64_t kind) const { return forward.data() + kind * n_labels * stride; }
    const double* from(int64_t kind) const { return backward.data() + kind * n_labels * stride; }
    double shift_at(int64_t t) const { return shape->pair_kind[t] < 0 ? 0.0 : shift[shape->pair_kind[t]]; }

    // Whether a pair is not forbidden at the step into token t (in scaled sums).
    bool possible(int64_t t, int64_t x, int64_t y) const {
        const int32_t kind = shape->pair_kind[t];
        return kind < 0 || into(kind)[x * stride + y] > 0;
    }

    template <class Semiring>
    static PairTable lift(const ChainShape& shape, const PartScores& scores, bool both, int threads) {
        PairTable table;
        table.shape = &shape;
        const int64_t Y = table.n_labels = shape.n_labels;
        const int64_t S = table.stride = padded(Y);
        both = both || shape.n_rows;
        table.forward.assign(shape.n_kinds * Y * S, Semiring::zero);
        if (both) table.backward.assign(shape.n_kinds * Y * S, Semiring::zero);
        table.shift.assign(shape.n_kinds, 0.0);
        std::vector<double> spreads(shape.n_kinds, 0.0);
        std::vector<char> forbidden(shape.n_kinds, 0);
        parallel_for(shape.n_kinds, threads, [&](int64_t k, int) {
            const double* pair = scores.pair + k * Y * Y;
            double high = minus_infinity, low = -minus_infinity;
            for (int64_t i = 0; i < Y * Y; ++i) {
                high = std::max(high, pair[i]);
                if (pair[i] == minus_infinity) forbidden[k] = 1;
                else low = std::min(low, pair[i]);
            }
            if (high == minus_infinity) high = low = 0;
            spreads[k] = high - low;
            if (Semiring::scaled) table.shift[k] = high;
            double* to = table.forward.data() + k * Y * S;
            for (int64_t i = 0; i < Y; ++i)
                for (int64_t j = 0; j < Y; ++j) to[i * S + j] = Semiring::lift(pair[i * Y + j], high);
            if (both)
                for (int64_t i = 0; i < Y; ++i)
                    for (int64_t j = 0; j < Y; ++j) table.backward[k * Y * S + j * S + i] = to[i * S + j];
        });
        for (int64_t k = 0; k < shape.n_kinds; ++k) {
            table.spread = std::max(table.spread, spreads[k]);
            table.forbidden = table.forbidden || forbidden[k];
        }
        table.lift_singles<Semiring>(scores, threads);
        return table;
    }

    // out = left ⊗ matrix of a step (or, on the way back, its transpose).
    //
    // The product with the matrix that many steps share (or with none: then all its numbers are the same sum) is put
    // right where single pairs differ from it; so a step without a matrix costs Y + the number of its single pairs
    // (Lavergne et al. 2010, §4.1: M = exp(λ) − 1 is sparse).
    template <class Semiring>
    void step(const double* left, int64_t t, bool back, double* out) const {
        const int32_t kind = shape->pair_kind[t], row = shape->row_of(t);
        const int64_t Y = n_labels, S = stride;
        if (kind >= 0) {
            product<Semiring>(left, back ? from(kind) : into(kind), Y, S, out);
        } else {
            const double sum = total<Semiring>(left, Y, S);
            for (int64_t j = 0; j < S; ++j) out[j] = sum;
        }
        if (row < 0) return;
        const int64_t first = shape->single_start[row], n = shape->single_start[row + 1] - first;
        const SinglePairs pairs{shape->single + first, singles.data() + first, base.data() + first, n,
                                loses_digits[row] != 0};
        correct_singles<Semiring>(left, pairs, back, Y, out, [&](int64_t target, double* column) {
            column_of_matrix<Semiring>(kind, target, back, column);
        });
    }

    // The lifted pairs with y as their second label (or, on the way back, their first), without single pairs.
    template <class Semiring>
    void column_of_matrix(int32_t kind, int64_t y, bool back, double* out) const {
        if (kind >= 0 && (back || !backward.empty())) {
            const double* from_matrix = (back ? into(kind) : from(kind)) + y * stride;
            std::copy(from_matrix, from_matrix + n_labels, out);
        } else if (kind >= 0) {
            for (int64_t x = 0; x < n_labels; ++x) out[x] = into(kind)[x * stride + y];
        } else {
            std::fill(out, out + n_labels, Semiring::one);
        }
    }

    // The same with them.
    template <class Semiring>
    void column_of(int32_t row, int32_t kind, int64_t y, bool back, double* out) const {
        column_of_matrix<Semiring>(kind, y, back, out);
        if (row < 0) return;
        for (int64_t e = shape->single_start[row]; e < shape->single_start[row + 1]; ++e) {
            const int32_t first = first_of(shape->single[e]), second = second_of(shape->single[e]);
            if ((back ? first : second) == y) out[back ? second : first] = singles[e];
        }
    }

  private:
    template <class Semiring>
    void lift_singles(const PartScores& scores, int threads) {
        const int64_t n = shape->n_singles();
        loses_digits.assign(shape->n_rows, 0);
        if (!n) return;
        singles.resize(n);
        base.resize(n);
        constexpr int64_t grain = 256;
        const int64_t pieces = (shape->n_rows + grain - 1) / grain;
        std::vector<std::pair<double, double>> ranges(pieces, {0.0, 0.0});
        parallel_for(pieces, threads, [&](int64_t piece, int) {
            auto& [low, high] = ranges[piece];
            for (int64_t r = piece * grain; r < std::min(shape->n_rows, (piece + 1) * grain); ++r) {
                const int32_t kind = shape->row_kind[r];
                for (int64_t e = shape->single_start[r]; e < shape->single_start[r + 1]; ++e) {
                    const int32_t x = first_of(shape->single[e]), y = second_of(shape->single[e]);
                    const double score = scores.single[e];
                    base[e] = kind < 0 ? Semiring::one : into(kind)[x * stride + y];
                    singles[e] = Semiring::times(base[e], Semiring::lift(score, 0.0));
                    if (singles[e] < cancellation_limit * base[e]) loses_digits[r] = 1;
                    low = std::min(low, score);
                    high = std::max(high, score);
                }
            }
        });
        double low = 0, high = 0;
        for (const auto& [l, h] : ranges) {
            low = std::min(low, l);
            high = std::max(high, h);
        }
        spread += high - low;
    }
};
