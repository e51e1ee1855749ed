// Coordinate descent for min_d g·d + ½ dᵀBd + Σ l1 |w + d|, B = diag D − W M⁻¹ Wᵀ. Included once per instruction set,
// inside a namespace; see kernels.cpp.
//
// moment = Wᵀ d is kept up to date, so a coordinate costs two passes over its `rank` numbers. Coordinates are
// visited in order. After the first sweep, those that stayed at zero are passed over.
inline void descend(const LowRankQuadratic& q, const double* w, const double* l1, int sweeps, double* d,
                    double* moment) {
    const int64_t r = q.rank, whole = r / 4 * 4;
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int64_t k = 0; k < q.n; ++k) {
            if (sweep && w[k] + d[k] == 0) continue;
            const double* v = q.projected + k * r;
            Lanes sum = spread(0.0);
            for (int64_t j = 0; j < whole; j += 4) sum += load(v + j) * load(moment + j);
            double low_rank = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            for (int64_t j = whole; j < r; ++j) low_rank += v[j] * moment[j];
            const double slope = q.gradient[k] + q.diagonal[k] * d[k] - low_rank;
            const double h = q.curvature[k], now = w[k] + d[k], target = h * now - slope;
            const double next = target > l1[k] ? (target - l1[k]) / h : target < -l1[k] ? (target + l1[k]) / h : 0.0;
            const double step = next - now;
            if (step == 0) continue;
            d[k] = next - w[k];
            const double* column = q.columns + k * r;
            for (int64_t j = 0; j < whole; j += 4) store(moment + j, load(moment + j) + step * load(column + j));
            for (int64_t j = whole; j < r; ++j) moment[j] += step * column[j];
        }
}
