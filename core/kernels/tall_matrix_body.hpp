// Products with tall matrices: very many rows of a few numbers each, as quasi-Newton methods keep them. Included once
// per instruction set, inside a namespace, after outer_sums_body.hpp; see kernels.cpp.
//
// Rows are worked on in blocks of fixed size and sums over blocks are added up in order, so that results are the same
// for any number of threads.
constexpr int64_t tall_block = 1024;

// body(first row, last row, sum of the block) and the sums of all blocks; `sum` has `size` numbers.
template <class Body>
void sum_over_blocks(int64_t n, int64_t size, double* sum, int threads, Body&& body) {
    const int64_t blocks = (n + tall_block - 1) / tall_block;
    std::vector<double> sums(blocks * size, 0.0);
    parallel_for(blocks, threads, [&](int64_t b, int) {
        body(b * tall_block, std::min(n, (b + 1) * tall_block), sums.data() + b * size);
    });
    std::fill(sum, sum + size, 0.0);
    for (int64_t b = 0; b < blocks; ++b)
        for (int64_t i = 0; i < size; ++i) sum[i] += sums[b * size + i];
}

// to[0 … r) += times · row
inline void add_row(double times, const double* row, int64_t r, double* to) {
    int64_t j = 0;
    for (; j + 4 <= r; j += 4) store(to + j, load(to + j) + times * load(row + j));
    for (; j < r; ++j) to[j] += times * row[j];
}

inline double row_dot(const double* a, const double* b, int64_t r) {
    Lanes first = spread(0.0), second = spread(0.0);
    int64_t j = 0;
    for (; j + 8 <= r; j += 8) {
        first += load(a + j) * load(b + j);
        second += load(a + j + 4) * load(b + j + 4);
    }
    for (; j + 4 <= r; j += 4) first += load(a + j) * load(b + j);
    first += second;
    double sum = (first[0] + first[1]) + (first[2] + first[3]);
    for (; j < r; ++j) sum += a[j] * b[j];
    return sum;
}

// out = A z
inline void tall_times(const TallMatrix& a, const double* z, double* out, int threads) {
    const int64_t r = a.width;
    parallel_for((a.n + tall_block - 1) / tall_block, threads, [&](int64_t b, int) {
        for (int64_t k = b * tall_block; k < std::min(a.n, (b + 1) * tall_block); ++k)
            out[k] = row_dot(a.rows + k * r, z, r);
    });
}

// out = Aᵀ x
inline void tall_transposed_times(const TallMatrix& a, const double* x, double* out, int threads) {
    const int64_t r = a.width;
    sum_over_blocks(a.n, r, out, threads, [&](int64_t first, int64_t last, double* sum) {
        for (int64_t k = first; k < last; ++k)
            if (x[k] != 0) add_row(x[k], a.rows + k * r, r, sum);
    });
}

// out = Aᵀ diag(weight) A; rows of weight zero are passed over.
inline void tall_gram(const TallMatrix& a, const double* weight, double* out, int threads) {
    const int64_t r = a.width, S = padded(r);
    std::vector<double> wide(r * S);
    sum_over_blocks(a.n, r * S, wide.data(), threads, [&](int64_t first, int64_t last, double* sum) {
        std::vector<double> left((last - first) * S, 0.0), right((last - first) * S, 0.0);
        std::vector<int32_t> steps;
        for (int64_t k = first; k < last; ++k) {
            if (weight[k] == 0) continue;
            const auto at = static_cast<int64_t>(steps.size());
            steps.push_back(static_cast<int32_t>(at));
            for (int64_t j = 0; j < r; ++j) {
                right[at * S + j] = a.rows[k * r + j];
                left[at * S + j] = weight[k] * a.rows[k * r + j];
            }
        }
        add_outer(steps.data(), static_cast<int64_t>(steps.size()), left.data(), 0, right.data(), r, S, sum);
    });
    for (int64_t i = 0; i < r; ++i)
        for (int64_t j = 0; j < r; ++j) out[i * r + j] = wide[i * S + j];
}

// Puts s and y into columns 2·slot and 2·slot + 1 of A, and takes the products of s, y and (with a diagonal D) D s with
// all columns: out [3][width].
inline void take_pair(double* rows, int64_t n, int64_t width, int64_t slot, const double* s, const double* y,
                      const double* diagonal, double* out, int threads) {
    sum_over_blocks(n, 3 * width, out, threads, [&](int64_t first, int64_t last, double* sum) {
        for (int64_t k = first; k < last; ++k) {
            double* row = rows + k * width;
            row[2 * slot] = s[k];
            row[2 * slot + 1] = y[k];
            add_row(y[k], row, width, sum + width);
            if (s[k] == 0) continue;
            add_row(s[k], row, width, sum);
            if (diagonal) add_row(s[k] * diagonal[k], row, width, sum + 2 * width);
        }
    });
}

// W and W M⁻¹ of the chosen features from the pairs (s, y, s, y, …) of all, W = [D S, Y], and the diagonal of
// D − W M⁻¹ Wᵀ, which is kept above a share of D. `inverse` is M⁻¹ [rank][rank]; rank is a multiple of 4 that is not
// below `used`, the number of columns that are in use.
inline void quadratic_rows(const TallMatrix& pairs, const int64_t* chosen, int64_t used, const double* inverse,
                           double least, const LowRankRows& out, int threads) {
    const int64_t r = out.rank;
    parallel_for((out.n + tall_block - 1) / tall_block, threads, [&](int64_t b, int) {
        for (int64_t k = b * tall_block; k < std::min(out.n, (b + 1) * tall_block); ++k) {
            const double *from = pairs.rows + chosen[k] * pairs.width, D = out.diagonal[k];
            double* w = out.columns + k * r;
            for (int64_t j = 0; j + 1 < used; j += 2) {
                w[j] = D * from[j];
                w[j + 1] = from[j + 1];
            }
            for (int64_t j = used; j < r; ++j) w[j] = 0;
            double* v = out.projected + k * r;
            product<Scaled>(w, inverse, used, r, v);
            out.curvature[k] = std::max(D - row_dot(w, v, r), least * D);
        }
    });
}

// The steepest one-sided slope of smooth + l1·|w| (Andrew & Gao 2007, eq. 4). `l1` has a number for
// every weight.
inline void pseudo_gradient(const double* w, const double* gradient, const double* l1, int64_t n, double* out) {
    for (int64_t k = 0; k < n; ++k) {
        const double g = gradient[k], down = g - l1[k], up = g + l1[k];
        const double at_zero = down > 0 ? down : up < 0 ? up : 0.0;
        const double p = w[k] > 0 ? up : w[k] < 0 ? down : at_zero;
        out[k] = p;
    }
}
