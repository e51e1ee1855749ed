// Φw and Φᵀμ. Included once per instruction set, inside a namespace; see kernels.cpp.
//
// Both directions gather: scores go through the rows and collect weights, the pullback goes through the
// attributes and collects marginals. So every output has one writer and one order of summation.

struct AllColumns {
    explicit AllColumns(const FeatureRows& f) : width(f.width) {}
    int64_t first(int64_t a) const { return a * width; }
    int64_t count(int64_t) const { return width; }
    void add_weights(double* out, int64_t a, double value, const double* w) const {
        const double* row = w + a * width;
        for (int64_t c = 0; c < width; ++c) out[c] += value * row[c];
    }
    void add_marginals(double* sum, int64_t, double value, const double* mu) const {
        for (int64_t c = 0; c < width; ++c) sum[c] += value * mu[c];
    }
    int64_t width;
};

struct ListedColumns {
    explicit ListedColumns(const FeatureRows& f) : start(f.start.data()), column(f.column.data()) {}
    int64_t first(int64_t a) const { return start[a]; }
    int64_t count(int64_t a) const { return start[a + 1] - start[a]; }
    void add_weights(double* out, int64_t a, double value, const double* w) const {
        for (int64_t k = start[a]; k < start[a + 1]; ++k) out[column[k]] += value * w[k];
    }
    void add_marginals(double* sum, int64_t a, double value, const double* mu) const {
        const int32_t* columns = column + start[a];
        const int64_t n = start[a + 1] - start[a];
        for (int64_t i = 0; i < n; ++i) sum[i] += value * mu[columns[i]];
    }
    const int64_t* start;
    const int32_t* column;
};

template <class Columns>
void scores_of(const LinearMap& map, const Columns& columns, const double* w, double* out, int threads) {
    const Csr& rows = map.rows();
    const int64_t width = map.features().width;
    const bool valued = !rows.value.empty();
    const auto cuts = balanced_cuts(rows.start.data(), rows.size(), 32);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        for (int64_t r = cuts[piece]; r < cuts[piece + 1]; ++r) {
            double* row = out + r * width;
            std::fill(row, row + width, 0.0);
            for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
                columns.add_weights(row, rows.index[i], valued ? rows.value[i] : 1.0, w);
        }
    });
}

template <class Columns>
void pullback_of(const LinearMap& map, const Columns& columns, const double* mu, double* out, int threads) {
    const Csr& attributes = map.attributes();
    const int64_t width = map.features().width;
    const bool valued = !attributes.value.empty();
    const auto cuts = balanced_cuts(attributes.start.data(), attributes.size(), 64);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        std::vector<double> sum(width);
        for (int64_t a = cuts[piece]; a < cuts[piece + 1]; ++a) {
            if (attributes.start[a] == attributes.start[a + 1]) continue;
            const int64_t n = columns.count(a);
            std::fill(sum.begin(), sum.begin() + n, 0.0);
            for (int64_t i = attributes.start[a]; i < attributes.start[a + 1]; ++i)
                columns.add_marginals(sum.data(), a, valued ? attributes.value[i] : 1.0,
                                      mu + attributes.index[i] * width);
            double* to = out + columns.first(a);
            for (int64_t c = 0; c < n; ++c) to[c] += sum[c];
        }
    });
}

inline void scores(const LinearMap& map, const double* w, double* out, int threads) {
    if (map.features().all) scores_of(map, AllColumns(map.features()), w, out, threads);
    else scores_of(map, ListedColumns(map.features()), w, out, threads);
}

inline void pullback(const LinearMap& map, const double* mu, double* out, int threads) {
    if (map.features().all) pullback_of(map, AllColumns(map.features()), mu, out, threads);
    else pullback_of(map, ListedColumns(map.features()), mu, out, threads);
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
