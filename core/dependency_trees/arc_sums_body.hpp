// Sums of weights of arcs (arc_weights.hpp). Included once per instruction set, inside a namespace; see kernels.cpp.

// Memory is asked for all that is looked up before any of it is looked at, for waiting is what costs most.
inline void add_arc_sums(const ArcWeights& weights, const ArcLookups& wanted) {
    uint64_t* key = wanted.key;
    int32_t *arc = wanted.arc, *cell = wanted.cell;
    int64_t left = 0, found = 0;
    const KeyFilter& filter = weights.filter();
    for (int64_t j = 0; j < wanted.n; ++j) {
        const uint64_t k = key[j];
        const bool maybe = filter.maybe(k);
        key[left] = k;
        arc[left] = arc[j];
        left += maybe;
    }
    for (int64_t j = 0; j < left; ++j) weights.prefetch(key[j]);
    for (int64_t j = 0; j < left; ++j) {
        const int32_t at = weights.find(key[j], wanted.code[arc[j]]);
        cell[found] = at;
        arc[found] = arc[j];
        found += at >= 0;
    }
    if (wanted.set) {
        for (int64_t j = 0; j < found; ++j) weights.prefetch_members(cell[j]);
        for (int64_t j = 0; j < found; ++j) wanted.sum[arc[j]] += weights.sum(cell[j], wanted.set[arc[j]]);
    } else {
        for (int64_t j = 0; j < found; ++j) weights.prefetch_sum(cell[j]);
        for (int64_t j = 0; j < found; ++j) wanted.sum[arc[j]] += weights.sum(cell[j]);
    }
}

// The same for what is asked of a token alone: for all codes (as bits) of its arcs. Sums are n_codes a token.
inline void add_token_sums(const ArcWeights& weights, uint64_t key, uint32_t codes, double* sums) {
    if (!weights.filter().maybe(key)) return;
    weights.each_code(key, codes, [&](int32_t code, int32_t cell) { sums[code] += weights.sum(cell); });
}
