// Products with rows of W = [D S, Y], whose columns are in the order s, y, s, y, … (see low_rank_quadratic.hpp).
// Included once per instruction set, inside a namespace; see kernels.cpp.
//
// A row is read as it is remembered; what belongs to its s is multiplied by D on the way. Even lanes are of s, odd
// ones of y.

// out_i = g_k + D_k (x_i − w_k) − W_k · p for features k = member_i.
inline void paired_slopes(const PairedQuadratic& q, const int64_t* member, int64_t n, const double* p, const double* w,
                          const double* x, double* out) {
    const int64_t whole = q.rank / 4 * 4;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t k = member[i];
        const double* row = q.pairs + k * q.stride;
        Lanes sum = spread(0.0);
        for (int64_t j = 0; j < whole; j += 4) sum += load(row + j) * load(p + j);
        double of_s = sum[0] + sum[2], of_y = sum[1] + sum[3];
        if (whole < q.rank) of_s += row[whole] * p[whole], of_y += row[whole + 1] * p[whole + 1];
        out[i] = q.gradient[k] + q.diagonal[k] * (x[i] - w[k] - of_s) - of_y;
    }
}

// out += Σ_i step_i W_k.
inline void paired_moments(const PairedQuadratic& q, const int64_t* member, int64_t n, const double* step,
                           double* out) {
    const int64_t whole = q.rank / 4 * 4;
    for (int64_t i = 0; i < n; ++i) {
        if (step[i] == 0) continue;
        const int64_t k = member[i];
        const double *row = q.pairs + k * q.stride, of_s = step[i] * q.diagonal[k];
        const Lanes times{of_s, step[i], of_s, step[i]};
        for (int64_t j = 0; j < whole; j += 4) store(out + j, load(out + j) + times * load(row + j));
        if (whole < q.rank) out[whole] += of_s * row[whole], out[whole + 1] += step[i] * row[whole + 1];
    }
}

// out += Σ_i scale_i v vᵀ with v = (W_k, x_i, slope_i): row j up to the four columns that j is in. Rows have a length
// that four divides.
inline void paired_products(const PairedQuadratic& q, const int64_t* member, int64_t n, const double* scale,
                            const double* x, const double* slope, double* out) {
    const int64_t width = q.rank + 2, padded = (width + 3) / 4 * 4;
    std::vector<double> both(padded, 0.0);
    double* row = both.data();
    for (int64_t i = 0; i < n; ++i) {
        if (scale[i] == 0) continue;
        const int64_t k = member[i];
        const double *pair = q.pairs + k * q.stride, d = q.diagonal[k];
        for (int64_t j = 0; j < q.rank; j += 2) row[j] = d * pair[j], row[j + 1] = pair[j + 1];
        row[q.rank] = x[i], row[q.rank + 1] = slope[i];
        for (int64_t j = 0; j < width; ++j) {
            const Lanes times = spread(scale[i] * row[j]);
            double* to = out + j * padded;
            for (int64_t c = 0; c <= j; c += 4) store(to + c, load(to + c) + times * load(row + c));
        }
    }
}
