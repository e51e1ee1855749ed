// The outputs of trees: the best labelling, the k best, draws. Included once per instruction set, inside a namespace,
// after tree_recursions_body.hpp and chain_decoding_body.hpp; see kernels.cpp.

// Labels of one forest from the roots down: pick(weights) chooses among the Y numbers of B at a root, and elsewhere of
// pair_t(label of the parent, ·) ⊗ B_t.
template <class Semiring, class Pick>
void choose_downwards(const ChainShape& shape, int64_t i, const PairTable& table, const Lattice& lattice, Pick&& pick,
                      int32_t* labels) {
    const int64_t Y = lattice.n_labels, S = lattice.stride, at = shape.offsets[i];
    std::vector<double> weights(Y);
    for (int64_t s = 0; s < lattice.length; ++s) {
        const int64_t t = shape.order[at + s], parent = shape.parent[t];
        const double* inside = lattice.node.data() + (t - at) * S;
        if (parent < 0) std::fill(weights.begin(), weights.end(), Semiring::one);
        else table.column_of<Semiring>(shape.row_of(t), shape.pair_kind[t], labels[parent], true, weights.data());
        for (int64_t y = 0; y < Y; ++y) weights[y] = Semiring::times(weights[y], inside[y]);
        labels[t] = pick(weights);
    }
}

// body(lattice, i) for every instance that has nodes and, under a semiring, an output; false if one has none.
template <class Semiring, class Empty, class Body>
bool over_forests(const ChainShape& shape, const PartScores& scores, const PairTable& table, int threads, Empty&& empty,
                  Body&& body) {
    std::vector<Lattice> lattices(std::max(threads, 1));
    std::atomic<bool> feasible{true};
    const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, 64);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int worker) {
        Lattice& lattice = lattices[worker];
        for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
            lattice.start(shape.offsets[i + 1] - shape.offsets[i], table);
            if (lattice.length == 0) {
                empty(i);
                continue;
            }
            upward_pass<Semiring>(shape, i, scores.node, table, lattice);
            if (!body(i, lattice)) feasible = false;
        }
    });
    return feasible;
}

inline bool tree_argmax(const ChainShape& shape, const PartScores& scores, double* best, int32_t* labels, int threads) {
    const PairTable table = PairTable::lift<Max>(shape, scores, true, threads);
    const auto largest = [](const std::vector<double>& weights) {
        return static_cast<int32_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
    };
    return over_forests<Max>(
        shape, scores, table, threads, [&](int64_t i) { best[i] = 0; },
        [&](int64_t i, Lattice& lattice) {
            best[i] = lattice.log_z;
            if (!(best[i] > minus_infinity)) return false;
            choose_downwards<Max>(shape, i, table, lattice, largest, labels);
            return true;
        });
}

inline bool tree_sample(const ChainShape& shape, const PartScores& scores, uint64_t seed, int32_t n_draws,
                        int32_t* labels, int threads) {
    const int64_t n_nodes = shape.offsets[shape.n_sequences];
    const PairTable table = PairTable::lift<Log>(shape, scores, true, threads);
    return over_forests<Log>(
        shape, scores, table, threads, [](int64_t) {},
        [&](int64_t i, Lattice& lattice) {
            if (!(lattice.log_z > minus_infinity)) return false;
            SplitMix random = SplitMix::stream(seed, i);
            std::vector<double> room(shape.n_labels);
            const auto draw = [&](const std::vector<double>& weights) {
                return draw_label(random, weights.data(), shape.n_labels, room.data());
            };
            for (int32_t d = 0; d < n_draws; ++d)
                choose_downwards<Log>(shape, i, table, lattice, draw, labels + d * n_nodes);
            return true;
        });
}

// The k best labellings of one forest. For every label of a node the k best labellings of what hangs on it are kept.
// They grow child by child: one of the k best so far is joined with one of the k best choices for the next child. All
// roots are children of one more node that has a single label, so a forest is a tree.
class ForestRanking {
  public:
    ForestRanking(const ChainShape& shape, const PartScores& scores, int64_t i, int32_t k)
        : shape_(shape), scores_(scores), at_(shape.offsets[i]), length_(shape.offsets[i + 1] - at_),
          Y_(shape.n_labels), k_(k), choices_(length_ * Y_ * k), joins_(length_ * Y_ * k),
          sums_((length_ + 1) * Y_ * k, minus_infinity) {
        for (int64_t t = at_; t < at_ + length_; ++t)
            for (int64_t y = 0; y < Y_; ++y) sums(t, y)[0] = node_score(shape, scores, t, y);
        sums(-1, 0)[0] = 0;
        for (int64_t s = length_ - 1; s >= 0; --s) join(shape.order[at_ + s]);
    }

    double score(int32_t rank) { return sums(-1, 0)[rank]; }

    // The labels of the labelling with this rank, from the top down: the children that were joined last are met first.
    void trace(int32_t rank, int32_t* labels) {
        std::vector<int32_t> at_rank(length_ + 1);
        at_rank[length_] = rank;
        for (int64_t s = 0; s < length_; ++s) {
            const int64_t t = shape_.order[at_ + s], parent = shape_.parent[t];
            const int64_t x = parent < 0 ? 0 : labels[parent];
            int32_t& of_parent = at_rank[parent < 0 ? length_ : parent - at_];
            const Join joined = joins_[place(t, x) + of_parent];
            const Choice choice = choices_[place(t, x) + joined.choice];
            of_parent = joined.before;
            labels[t] = choice.label;
            at_rank[t - at_] = choice.rank;
        }
    }

  private:
    // For one label of the parent: a label of this node, and the rank among the labellings with it.
    struct Choice {
        double score;
        int32_t label, rank;
    };
    struct Join {
        int32_t before, choice;
    };

    int64_t place(int64_t t, int64_t x) const { return ((t - at_) * Y_ + x) * k_; }
    double* sums(int64_t t, int64_t y) { return sums_.data() + ((t < 0 ? length_ : t - at_) * Y_ + y) * k_; }

    void join(int64_t t) {
        const int64_t parent = shape_.parent[t];
        for (int64_t x = 0; x < (parent < 0 ? 1 : Y_); ++x) {
            rank_choices(t, parent, x);
            join_choices(t, sums(parent, x), x);
        }
    }

    void rank_choices(int64_t t, int64_t parent, int64_t x) {
        candidates_.clear();
        for (int32_t y = 0; y < Y_; ++y) {
            const double step = parent < 0 ? 0.0 : pair_score(shape_, scores_, t, x, y);
            for (int32_t r = 0; r < k_; ++r)
                if (const double s = sums(t, y)[r] + step; s > minus_infinity) candidates_.push_back({s, y, r});
        }
        keep_best(candidates_, [](const Choice& a, const Choice& b) {
            return a.label != b.label ? a.label < b.label : a.rank < b.rank;
        });
        std::copy(candidates_.begin(), candidates_.end(), choices_.begin() + place(t, x));
    }

    void join_choices(int64_t t, double* sum, int64_t x) {
        joined_.clear();
        const auto n = static_cast<int32_t>(candidates_.size());
        // Of r · q labellings that are no worse, at most k are kept.
        for (int32_t r = 0; r < k_ && sum[r] > minus_infinity; ++r)
            for (int32_t q = 0; q < n && (r + 1) * (q + 1) <= k_; ++q)
                joined_.push_back({sum[r] + candidates_[q].score, r, q});
        keep_best(joined_, [](const Joined& a, const Joined& b) {
            return a.before != b.before ? a.before < b.before : a.choice < b.choice;
        });
        std::fill(sum, sum + k_, minus_infinity);
        for (size_t r = 0; r < joined_.size(); ++r) {
            sum[r] = joined_[r].score;
            joins_[place(t, x) + static_cast<int64_t>(r)] = {joined_[r].before, joined_[r].choice};
        }
    }

    struct Joined {
        double score;
        int32_t before, choice;
    };

    template <class Entry, class Earlier>
    void keep_best(std::vector<Entry>& entries, Earlier&& earlier) const {
        const size_t n = std::min<size_t>(k_, entries.size());
        std::partial_sort(
            entries.begin(), entries.begin() + static_cast<int64_t>(n), entries.end(),
            [&](const Entry& a, const Entry& b) { return a.score != b.score ? a.score > b.score : earlier(a, b); });
        entries.resize(n);
    }

    const ChainShape& shape_;
    const PartScores& scores_;
    int64_t at_, length_, Y_;
    int32_t k_;
    std::vector<Choice> choices_, candidates_;  // [T][label of the parent][k]
    std::vector<Join> joins_;                   // [T][label of the parent][k]
    std::vector<Joined> joined_;
    std::vector<double> sums_;  // [T + 1][Y][k]
};

inline void tree_kbest(const ChainShape& shape, const PartScores& parts, int32_t k, double* scores, int32_t* labels,
                       int threads) {
    const int64_t n_nodes = shape.offsets[shape.n_sequences];
    parallel_for(shape.n_sequences, threads, [&](int64_t i, int) {
        ForestRanking ranking(shape, parts, i, k);
        for (int32_t r = 0; r < k; ++r) {
            const double score = scores[r * shape.n_sequences + i] = ranking.score(r);
            int32_t* out = labels + r * n_nodes;
            if (score > minus_infinity) ranking.trace(r, out);
            else std::fill(out + shape.offsets[i], out + shape.offsets[i + 1], -1);
        }
    });
}
