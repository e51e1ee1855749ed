// Φw and Φᵀμ. Included once per instruction set, inside a namespace; see kernels.cpp.
//
// Both directions gather: scores go through the rows and collect weights, the pullback goes through the
// attributes and collects marginals. So every output has one writer and one order of summation.
//
// An attribute with many columns is added as a whole row of `width` numbers, in vector registers; one with few
// is added column by column.

// A row of numbers in registers: L vectors of four and up to three single ones.
template <int L>
struct RowSum {
    Lanes lanes[L > 0 ? L : 1];
    double rest[3];
    int64_t n_rest;
    double* out;

    RowSum(int64_t width, double* to) : n_rest(width - 4 * L), out(to) {
#pragma GCC unroll 8
        for (int j = 0; j < L; ++j) lanes[j] = spread(0.0);
        for (int j = 0; j < 3; ++j) rest[j] = 0;
    }
    void add(double value, const double* row) {
#pragma GCC unroll 8
        for (int j = 0; j < L; ++j) lanes[j] += value * load(row + 4 * j);
        for (int64_t j = 0; j < n_rest; ++j) rest[j] += value * row[4 * L + j];
    }
    void put() const {
#pragma GCC unroll 8
        for (int j = 0; j < L; ++j) store(out + 4 * j, lanes[j]);
        for (int64_t j = 0; j < n_rest; ++j) out[4 * L + j] = rest[j];
    }
};

// Rows too wide for the registers are summed where they belong.
struct LongRowSum {
    int64_t width;
    double* out;

    LongRowSum(int64_t n, double* to) : width(n), out(to) { std::fill(out, out + width, 0.0); }
    void add(double value, const double* row) {
        for (int64_t c = 0; c < width; ++c) out[c] += value * row[c];
    }
    void put() const {}
};

// Calls body(sum type) with the right size for the width.
template <class Body>
void with_row_sum(int64_t width, Body&& body) {
    switch (width / 4) {
        case 0: body(std::type_identity<RowSum<0>>()); break;
        case 1: body(std::type_identity<RowSum<1>>()); break;
        case 2: body(std::type_identity<RowSum<2>>()); break;
        case 3: body(std::type_identity<RowSum<3>>()); break;
        case 4: body(std::type_identity<RowSum<4>>()); break;
        case 5: body(std::type_identity<RowSum<5>>()); break;
        case 6: body(std::type_identity<RowSum<6>>()); break;
        case 7: body(std::type_identity<RowSum<7>>()); break;
        case 8: body(std::type_identity<RowSum<8>>()); break;
        default: body(std::type_identity<LongRowSum>());
    }
}

inline void scores_from_rows(const LinearMap& map, const double* w, const WeightRows& whole, double* out, int threads) {
    const Csr& rows = map.rows();
    const FeatureRows& features = map.features();
    const int64_t width = features.width;
    const bool valued = !rows.value.empty();
    const auto cuts = balanced_cuts(rows.start.data(), rows.size(), threads > 1 ? 32 : 1);
    with_row_sum(width, [&](auto type) {
        using Sum = typename decltype(type)::type;
        parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
            for (int64_t r = cuts[piece]; r < cuts[piece + 1]; ++r) {
                double* to = out + r * width;
                Sum sum(width, to);
                const int64_t middle = map.whole_end(r), end = rows.start[r + 1];
                for (int64_t i = rows.start[r]; i < middle; ++i)
                    sum.add(valued ? rows.value[i] : 1.0, whole.row(rows.index[i], width));
                sum.put();
                for (int64_t i = middle; i < end; ++i) {
                    const int32_t a = rows.index[i];
                    const double value = valued ? rows.value[i] : 1.0;
                    for (int64_t k = features.start[a]; k < features.start[a + 1]; ++k)
                        to[features.column[k]] += value * w[k];
                }
            }
        });
    });
}

inline void scores(const LinearMap& map, const double* w, double* out, int threads) {
    const FeatureRows& features = map.features();
    if (map.dense()) return dense_scores(*map.dense(), w, out, threads);
    if (features.all) return scores_from_rows(map, w, {w, nullptr}, out, threads);
    const auto [rows, row_of] = map.whole_attributes().laid_out(features, w);
    scores_from_rows(map, w, {rows.data(), row_of.data()}, out, threads);
}

// Sixteen running sums keep the vector units busy; they are added up in a fixed order.
inline double dot(const double* a, const double* b, int64_t n) {
    constexpr int64_t lanes = 16;
    double sum[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (int64_t j = 0; j < lanes; ++j) sum[j] += a[i + j] * b[i + j];
    for (; i < n; ++i) sum[i % lanes] += a[i] * b[i];
    for (int64_t width = lanes / 2; width; width /= 2)
        for (int64_t j = 0; j < width; ++j) sum[j] += sum[j + width];
    return sum[0];
}

// Sums of `firings` rows, of which some columns are wanted: all columns side by side, or each by itself. In units of
// about one addition.
inline bool whole_rows_are_quicker(int64_t firings, int64_t n_columns, int64_t width) {
    const int64_t lanes = (width + 3) / 4;
    return firings * n_columns > firings * lanes + lanes + n_columns + 4;
}

inline void pullback(const LinearMap& map, const double* mu, double* out, bool squared, int threads) {
    if (map.dense()) return dense_pullback(*map.dense(), mu, out, squared, threads);
    const AttributeRows& attributes = map.attributes();
    const FeatureRows& features = map.features();
    const int64_t width = features.width;
    const bool valued = !attributes.value.empty();
    const auto value = [&](int64_t i) {
        if (!valued) return 1.0;
        return squared ? attributes.value[i] * attributes.value[i] : attributes.value[i];
    };
    const auto cuts = balanced_cuts(attributes.start.data(), attributes.size(), threads > 1 ? 64 : 1);
    with_row_sum(width, [&](auto type) {
        using Sum = typename decltype(type)::type;
        parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
            std::vector<double> total(width);
            for (int64_t p = cuts[piece]; p < cuts[piece + 1]; ++p) {
                const int64_t a = attributes.attribute[p];
                const int64_t begin = attributes.start[p], end = attributes.start[p + 1];
                if (map.everywhere(p) && !squared) {
                    if (!features.all && features.start[a] == features.start[a + 1]) continue;
                    out[features.all ? a : features.start[a]] += dot(attributes.value.data() + begin, mu, end - begin);
                    continue;
                }
                const int64_t n_columns = features.all ? width : features.start[a + 1] - features.start[a];
                if (features.all || whole_rows_are_quicker(end - begin, n_columns, width)) {
                    Sum sum(width, total.data());
                    for (int64_t i = begin; i < end; ++i) sum.add(value(i), mu + attributes.index[i] * width);
                    sum.put();
                    if (features.all)
                        for (int64_t c = 0; c < width; ++c) out[a * width + c] += total[c];
                    else
                        for (int64_t k = features.start[a]; k < features.start[a + 1]; ++k)
                            out[k] += total[features.column[k]];
                    continue;
                }
                for (int64_t k = features.start[a]; k < features.start[a + 1]; ++k) {
                    const double* column = mu + features.column[k];
                    double sum = 0;
                    for (int64_t i = begin; i < end; ++i) sum += value(i) * column[attributes.index[i] * width];
                    out[k] += sum;
                }
            }
        });
    });
}
