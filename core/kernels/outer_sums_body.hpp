// Sums of outer products over steps. Included once per instruction set, inside a namespace, after lanes_body.hpp; see
// kernels.cpp.

// sum[i][j] += Σ over steps of left[t − lag][i] · right[t][j]: two rows of 4·W columns stay in registers. In chains the
// lag is 1; a tree has a left row for each node (see ChainShape::left_row).
template <int W>
void add_outer_columns(const int32_t* steps, int64_t n, const double* left, int64_t lag, const double* right, int64_t Y,
                       int64_t S, double* sum) {
    for (int64_t i = 0; i < Y; i += 2) {
        const int64_t second = i + 1 < Y ? i + 1 : i;
        Lanes a[W], b[W];
        for (int j = 0; j < W; ++j) a[j] = b[j] = spread(0.0);
        for (int64_t s = 0; s < n; ++s) {
            const double* l = left + (static_cast<int64_t>(steps[s]) - lag) * S;
            const double* r = right + static_cast<int64_t>(steps[s]) * S;
            const Lanes x = spread(l[i]), y = spread(l[second]);
            for (int j = 0; j < W; ++j) {
                const Lanes z = load(r + 4 * j);
                a[j] += x * z;
                b[j] += y * z;
            }
        }
        for (int j = 0; j < W; ++j) store(sum + i * S + 4 * j, load(sum + i * S + 4 * j) + a[j]);
        if (second != i)
            for (int j = 0; j < W; ++j) store(sum + second * S + 4 * j, load(sum + second * S + 4 * j) + b[j]);
    }
}

inline void add_outer(const int32_t* steps, int64_t n, const double* left, int64_t lag, const double* right, int64_t Y,
                      int64_t S, double* sum) {
    constexpr int64_t tile = 32;  // every row of the sum goes through the steps: few enough to stay in the cache
    if (S > 24 && n > tile) {
        for (int64_t first = 0; first < n; first += tile)
            add_outer(steps + first, std::min(tile, n - first), left, lag, right, Y, S, sum);
        return;
    }
    int64_t j = 0;
    for (; j + 24 <= S; j += 24) add_outer_columns<6>(steps, n, left, lag, right + j, Y, S, sum + j);
    switch (S - j) {
        case 20: add_outer_columns<5>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 16: add_outer_columns<4>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 12: add_outer_columns<3>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 8: add_outer_columns<2>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 4: add_outer_columns<1>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        default: break;
    }
}
