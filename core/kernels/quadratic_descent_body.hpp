// Coordinate descent for min_d g·d + ½ dᵀBd + Σ l1 |w + d|, B = B₀ − W M⁻¹ Wᵀ. Included once per instruction set,
// inside a namespace; see kernels.cpp.
//
// moment = Wᵀ d is kept up to date, so a coordinate costs two passes over its `rank` numbers; and so is B₀ d within the
// block. Coordinates are visited in order. After the first sweep, those that stayed at zero are passed over.

// Where the minimum along a coordinate is, at this slope and curvature.
inline double coordinate_minimum(double now, double slope, double h, double l1) {
    const double target = h * now - slope;
    return target > l1 ? (target - l1) / h : target < -l1 ? (target + l1) / h : 0.0;
}

// B₀ d while coordinates change in order.
class FirstTimes {
  public:
    FirstTimes(const LowRankQuadratic& q, const double* d) : q_(q), in_block_(q.n_block) {
        for (int64_t i = 0; i < q.n_block; ++i)
            for (int64_t j = 0; j < q.n_block; ++j) in_block_[i] += q.matrix[i * q.n_block + j] * d[q.block[j]];
    }

    void begin_sweep() { next_ = 0; }
    // To be called for each coordinate of a sweep: the number that it has in the block, −1.
    int64_t number(int64_t k) { return next_ < q_.n_block && q_.block[next_] == k ? next_++ : -1; }
    double at(int64_t k, int64_t number, const double* d) const {
        return number < 0 ? q_.diagonal[k] * d[k] : in_block_[number];
    }
    void add(int64_t number, double step) {
        if (number < 0) return;
        const double* row = q_.matrix + number * q_.n_block;
        for (int64_t j = 0; j < q_.n_block; ++j) in_block_[j] += step * row[j];
    }

  private:
    const LowRankQuadratic& q_;
    std::vector<double> in_block_;
    int64_t next_ = 0;
};

// With a rank of 4·R, up to 40: the moment stays in registers.
template <int R>
void descend_in_registers(const LowRankQuadratic& q, const double* w, const double* l1, int sweeps, double* d,
                          double* moment) {
    Lanes m[R];
    FirstTimes first(q, d);
#pragma GCC unroll 16
    for (int j = 0; j < R; ++j) m[j] = load(moment + 4 * j);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        first.begin_sweep();
        for (int64_t k = 0; k < q.n; ++k) {
            const int64_t number = first.number(k);
            const double now = w[k] + d[k];
            if (sweep && now == 0) continue;
            const double* v = q.projected + k * 4 * R;
            Lanes even = spread(0.0), odd = spread(0.0);
#pragma GCC unroll 16
            for (int j = 0; j < R; ++j) (j % 2 ? odd : even) += load(v + 4 * j) * m[j];
            even += odd;
            const double low_rank = (even[0] + even[1]) + (even[2] + even[3]);
            const double slope = q.gradient[k] + first.at(k, number, d) - low_rank;
            const double next = coordinate_minimum(now, slope, q.curvature[k], l1[k]), step = next - now;
            if (step == 0) continue;
            d[k] = next - w[k];
            first.add(number, step);
            const double* column = q.columns + k * 4 * R;
#pragma GCC unroll 16
            for (int j = 0; j < R; ++j) m[j] += step * load(column + 4 * j);
        }
    }
#pragma GCC unroll 16
    for (int j = 0; j < R; ++j) store(moment + 4 * j, m[j]);
}

inline void descend_in_memory(const LowRankQuadratic& q, const double* w, const double* l1, int sweeps, double* d,
                              double* moment) {
    const int64_t r = q.rank;
    FirstTimes first(q, d);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        first.begin_sweep();
        for (int64_t k = 0; k < q.n; ++k) {
            const int64_t number = first.number(k);
            const double now = w[k] + d[k];
            if (sweep && now == 0) continue;
            const double slope = q.gradient[k] + first.at(k, number, d) - row_dot(q.projected + k * r, moment, r);
            const double next = coordinate_minimum(now, slope, q.curvature[k], l1[k]), step = next - now;
            if (step == 0) continue;
            d[k] = next - w[k];
            first.add(number, step);
            add_row(step, q.columns + k * r, r, moment);
        }
    }
}

inline void descend(const LowRankQuadratic& q, const double* w, const double* l1, int sweeps, double* d,
                    double* moment) {
    switch (q.rank % 4 ? 0 : q.rank / 4) {
        case 1: return descend_in_registers<1>(q, w, l1, sweeps, d, moment);
        case 2: return descend_in_registers<2>(q, w, l1, sweeps, d, moment);
        case 3: return descend_in_registers<3>(q, w, l1, sweeps, d, moment);
        case 4: return descend_in_registers<4>(q, w, l1, sweeps, d, moment);
        case 5: return descend_in_registers<5>(q, w, l1, sweeps, d, moment);
        case 6: return descend_in_registers<6>(q, w, l1, sweeps, d, moment);
        case 7: return descend_in_registers<7>(q, w, l1, sweeps, d, moment);
        case 8: return descend_in_registers<8>(q, w, l1, sweeps, d, moment);
        case 9: return descend_in_registers<9>(q, w, l1, sweeps, d, moment);
        case 10: return descend_in_registers<10>(q, w, l1, sweeps, d, moment);
        default: return descend_in_memory(q, w, l1, sweeps, d, moment);
    }
}
