// Products with columns of a matrix without gaps. Included once per instruction set, inside a namespace, after
// lanes_body.hpp; see kernels.cpp.
//
// Four columns are worked on at a time, so that what they are multiplied by is read once for all of them. Each column
// has sums of its own, so it does not matter to the result which ones are together.

template <int K>
void dots_of(const double* const* column, int64_t n, const double* v, double* out) {
    Lanes first[K], second[K];
#pragma GCC unroll 4
    for (int j = 0; j < K; ++j) first[j] = second[j] = spread(0.0);
    int64_t r = 0;
    for (; r + 8 <= n; r += 8) {
        const Lanes a = load(v + r), b = load(v + r + 4);
#pragma GCC unroll 4
        for (int j = 0; j < K; ++j) {
            first[j] += load(column[j] + r) * a;
            second[j] += load(column[j] + r + 4) * b;
        }
    }
    for (int j = 0; j < K; ++j) {
        const Lanes both = first[j] + second[j];
        double sum = (both[0] + both[1]) + (both[2] + both[3]);
        for (int64_t i = r; i < n; ++i) sum += column[j][i] * v[i];
        out[j] = sum;
    }
}

// out[j] = column j · v
inline void column_dots(const double* const* columns, int64_t n_columns, int64_t n, const double* v, double* out) {
    int64_t j = 0;
    for (; j + 4 <= n_columns; j += 4) dots_of<4>(columns + j, n, v, out + j);
    for (; j < n_columns; ++j) dots_of<1>(columns + j, n, v, out + j);
}

template <int K>
void add_of(const double* const* column, const double* by, int64_t n, double* out) {
    int64_t r = 0;
    for (; r + 4 <= n; r += 4) {
        Lanes sum = load(out + r);
#pragma GCC unroll 4
        for (int j = 0; j < K; ++j) sum += by[j] * load(column[j] + r);
        store(out + r, sum);
    }
    for (; r < n; ++r)
        for (int j = 0; j < K; ++j) out[r] += by[j] * column[j][r];
}

// out += Σ_j by[j] · column j
inline void add_columns(const double* const* columns, const double* by, int64_t n_columns, int64_t n, double* out) {
    int64_t j = 0;
    for (; j + 4 <= n_columns; j += 4) add_of<4>(columns + j, by + j, n, out);
    for (; j < n_columns; ++j) add_of<1>(columns + j, by + j, n, out);
}

// out = a ∘ b
inline void multiply(const double* a, const double* b, int64_t n, double* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
}

// Φw: rows are parted into pieces, columns whose weight is zero are left out.
inline void dense_scores(const DenseColumns& x, const double* w, double* out, int threads) {
    constexpr int64_t piece = 4096;
    std::vector<int64_t> used;
    std::vector<double> by;
    for (int64_t c = 0; c < x.n_columns; ++c)
        if (w[c] != 0) {
            used.push_back(c);
            by.push_back(w[c]);
        }
    parallel_for((x.n_rows + piece - 1) / piece, threads, [&](int64_t p, int) {
        const int64_t from = p * piece, n = std::min(piece, x.n_rows - from);
        std::vector<const double*> columns;
        for (const int64_t c : used) columns.push_back(x.column(c) + from);
        std::fill(out + from, out + from + n, 0.0);
        add_columns(columns.data(), by.data(), static_cast<int64_t>(by.size()), n, out + from);
    });
}

// out += Φᵀ mu, or (Φ∘Φ)ᵀ mu.
inline void dense_pullback(const DenseColumns& x, const double* mu, double* out, bool squared, int threads) {
    constexpr int64_t piece = 64;
    parallel_for((x.n_columns + piece - 1) / piece, threads, [&](int64_t p, int) {
        const int64_t from = p * piece, n = std::min(piece, x.n_columns - from);
        const double* columns[piece];
        double sum[piece];
        std::vector<double> scaled(squared ? x.n_rows : 0);
        for (int64_t j = 0; j < n; ++j) columns[j] = x.column(from + j);
        if (!squared) column_dots(columns, n, x.n_rows, mu, sum);
        for (int64_t j = 0; squared && j < n; ++j) {
            multiply(columns[j], mu, x.n_rows, scaled.data());
            column_dots(columns + j, 1, x.n_rows, scaled.data(), sum + j);
        }
        for (int64_t j = 0; j < n; ++j) out[from + j] += sum[j];
    });
}
