// Which features have a large gradient: out of all, without a number for each. Included once per instruction set,
// inside a namespace, after chain_recursions_body.hpp; see kernels.cpp.
//
// The gradient of a feature (attribute, x, y) is Σ over the steps on which the attribute fires of P(x, y) − [gold is x,
// y] and only those above a threshold are wanted. P(x, y) is at most P(x) and at most P(y), so the pairs worth looking
// at are those seen in an output, and those of labels that have enough probability on both sides, summed over the
// steps. An attribute that fires once leaves a few of thousands.

// A step on which an attribute fires.
struct StepFiring {
    int32_t batch, step;
    double value;
};

class PairScreen {
  public:
    PairScreen(const std::vector<ScreenBatch>& batches, double threshold)
        : batches_(batches), features_(batches[0].steps->features()), Y_(batches[0].shape.n_labels), S_(padded(Y_)),
          threshold_(threshold), total_(Y_ * S_), outer_(Y_ * S_), sides_(2 * Y_), place_(batches.size(), -1) {}

    // Appends (feature, gradient) of one attribute; to be called with ascending attributes.
    void screen(int64_t a, std::vector<int64_t>& found, std::vector<double>& gradients) {
        collect(a);
        if (firings_.empty()) return;
        find_likely_labels();
        const auto n = static_cast<int64_t>(firings_.size());
        const auto pairs = static_cast<int64_t>(labels_[0].size() * labels_[1].size());
        const bool few = !valued_below_zero_ && pairs * 8 < Y_ * S_ && n < few_firings;
        if (few) screen_few_pairs(a, found, gradients);
        else screen_all_pairs(a, found, gradients);
    }

  private:
    static constexpr int64_t few_firings = 64;

    void collect(int64_t a) {
        firings_.clear();
        valued_below_zero_ = false;
        for (size_t b = 0; b < batches_.size(); ++b) {
            const ScreenBatch& batch = batches_[b];
            const AttributeRows& attributes = batch.steps->attributes();
            int64_t& p = place_[b];
            if (p < 0) p = attributes.place_from(a);
            while (p < attributes.size() && attributes.attribute[p] < a) ++p;
            if (p == attributes.size() || attributes.attribute[p] > a) continue;
            for (int64_t i = attributes.start[p]; i < attributes.start[p + 1]; ++i) {
                const double value = attributes.value.empty() ? 1.0 : attributes.value[i];
                valued_below_zero_ = valued_below_zero_ || value < 0;
                const int32_t r = attributes.index[i];
                for (int64_t s = batch.row_start[r]; s < batch.row_start[r + 1]; ++s)
                    firings_.push_back({static_cast<int32_t>(b), batch.row_steps[s], value});
            }
        }
    }

    // The labels on either side whose probabilities add up to the threshold.
    void find_likely_labels() {
        std::fill(sides_.begin(), sides_.end(), 0.0);
        for (const StepFiring& f : firings_)
            for (const ScreenTerm& term : batches_[f.batch].terms) {
                const double times = std::abs(f.value * term.sign);
                const double *here = term.node + f.step * Y_, *before = term.node + before_step(f) * Y_;
                for (int64_t y = 0; y < Y_; ++y) {
                    sides_[y] += times * before[y];
                    sides_[Y_ + y] += times * here[y];
                }
            }
        for (int side = 0; side < 2; ++side) {
            labels_[side].clear();
            for (int64_t y = 0; y < Y_; ++y)
                if (sides_[side * Y_ + y] > threshold_) labels_[side].push_back(static_cast<int32_t>(y));
        }
    }

    // Where the step of a firing comes from.
    int64_t before_step(const StepFiring& f) const { return batches_[f.batch].shape.before(f.step, 0); }

    // P(x, y) of a step, of one term.
    double probability(const ScreenBatch& batch, const ScreenTerm& term, int64_t t, int32_t x, int32_t y) const {
        const ChainPosterior& p = *term.posterior;
        const int32_t kind = batch.shape.pair_kind[t];
        const int64_t single = batch.shape.find(batch.shape.row_of(t), pair_of(x, y));
        const double left = p.left[batch.shape.left_row(t) * S_ + x], right = p.right[t * S_ + y];
        const bool logs = !p.in_logs.empty() && p.in_logs[t];
        const auto& matrices = logs ? p.log_matrices : p.matrices;
        const auto& singles = logs ? p.log_singles : p.singles;
        const double pair = single >= 0 ? singles[single]
                            : kind >= 0 ? matrices[(kind * Y_ + x) * S_ + y]
                            : logs      ? 0.0
                                        : 1.0;
        return logs ? std::exp(left + pair + right) : left * pair * right;
    }

    void screen_few_pairs(int64_t a, std::vector<int64_t>& found, std::vector<double>& gradients) {
        pairs_.clear();
        for (const int32_t x : labels_[0])
            for (const int32_t y : labels_[1]) pairs_.push_back(pair_of(x, y));
        for (const StepFiring& f : firings_)
            for (const ScreenOutput& output : batches_[f.batch].outputs)
                pairs_.push_back(pair_of(output.labels[before_step(f)], output.labels[f.step]));
        std::sort(pairs_.begin(), pairs_.end());
        pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
        for (const uint32_t pair : pairs_) {
            const int32_t x = first_of(pair), y = second_of(pair);
            double sum = 0;
            for (const StepFiring& f : firings_) {
                const ScreenBatch& batch = batches_[f.batch];
                for (const ScreenTerm& term : batch.terms)
                    sum += f.value * term.sign * probability(batch, term, f.step, x, y);
                for (const ScreenOutput& output : batch.outputs)
                    if (output.labels[before_step(f)] == x && output.labels[f.step] == y)
                        sum += f.value * output.times[f.step];
            }
            if (std::abs(sum) > threshold_) add_found(a, x * Y_ + y, sum, found, gradients);
        }
    }

    void screen_all_pairs(int64_t a, std::vector<int64_t>& found, std::vector<double>& gradients) {
        std::fill(total_.begin(), total_.end(), 0.0);
        for (size_t b = 0; b < batches_.size(); ++b)
            for (const ScreenTerm& term : batches_[b].terms) add_term(static_cast<int32_t>(b), term);
        for (const StepFiring& f : firings_)
            for (const ScreenOutput& output : batches_[f.batch].outputs)
                total_[output.labels[before_step(f)] * S_ + output.labels[f.step]] += f.value * output.times[f.step];
        if (features_.all) {
            for (int64_t x = 0; x < Y_; ++x)
                for (int64_t y = 0; y < Y_; ++y)
                    if (std::abs(total_[x * S_ + y]) > threshold_)
                        add_found(a, x * Y_ + y, total_[x * S_ + y], found, gradients);
            return;
        }
        for (int64_t k = features_.start[a]; k < features_.start[a + 1]; ++k) {
            const int64_t x = features_.column[k] / Y_, y = features_.column[k] % Y_;
            if (std::abs(total_[x * S_ + y]) <= threshold_) continue;
            found.push_back(k);
            gradients.push_back(total_[x * S_ + y]);
        }
    }

    // Steps with the same matrix and value together: Σ left ⊗ right, times the matrix, and corrected at single pairs.
    void add_term(int32_t b, const ScreenTerm& term) {
        const ScreenBatch& batch = batches_[b];
        const ChainPosterior& p = *term.posterior;
        ordered_.clear();
        for (const StepFiring& f : firings_) {
            if (f.batch != b) continue;
            if (!p.in_logs.empty() && p.in_logs[f.step]) {
                for (int32_t x = 0; x < Y_; ++x)
                    for (int32_t y = 0; y < Y_; ++y)
                        total_[x * S_ + y] += f.value * term.sign * probability(batch, term, f.step, x, y);
                continue;
            }
            ordered_.push_back(f);
        }
        std::stable_sort(ordered_.begin(), ordered_.end(), [&](const StepFiring& f, const StepFiring& g) {
            const int32_t i = batch.shape.pair_kind[f.step], j = batch.shape.pair_kind[g.step];
            return i != j ? i < j : f.value < g.value;
        });
        for (size_t first = 0; first < ordered_.size();) {
            const int32_t kind = batch.shape.pair_kind[ordered_[first].step];
            const double times = ordered_[first].value * term.sign;
            steps_.clear();
            size_t last = first;
            for (; last < ordered_.size() && batch.shape.pair_kind[ordered_[last].step] == kind
                   && ordered_[last].value == ordered_[first].value;
                 ++last)
                steps_.push_back(ordered_[last].step);
            std::fill(outer_.begin(), outer_.end(), 0.0);
            add_outer(steps_.data(), static_cast<int64_t>(steps_.size()), p.left.data(), batch.shape.parent ? 0 : 1,
                      p.right.data(), Y_, S_, outer_.data());
            const double* matrix = kind < 0 ? nullptr : p.matrices.data() + kind * Y_ * S_;
            for (int64_t i = 0; i < Y_ * S_; ++i) total_[i] += times * outer_[i] * (matrix ? matrix[i] : 1.0);
            for (const int32_t t : steps_) {
                const int32_t row = batch.shape.row_of(t);
                if (row < 0) continue;
                for (int64_t e = batch.shape.single_start[row]; e < batch.shape.single_start[row + 1]; ++e) {
                    const int32_t x = first_of(batch.shape.single[e]), y = second_of(batch.shape.single[e]);
                    const double base = matrix ? matrix[x * S_ + y] : 1.0;
                    total_[x * S_ + y] +=
                        times * p.left[batch.shape.left_row(t) * S_ + x] * p.right[t * S_ + y] * (p.singles[e] - base);
                }
            }
            first = last;
        }
    }

    void add_found(int64_t a, int64_t column, double gradient, std::vector<int64_t>& found,
                   std::vector<double>& gradients) const {
        const int64_t feature = features_.feature(a, column);
        if (feature < 0) return;
        found.push_back(feature);
        gradients.push_back(gradient);
    }

    const std::vector<ScreenBatch>& batches_;
    const FeatureRows& features_;
    int64_t Y_, S_;
    double threshold_;
    bool valued_below_zero_ = false;
    std::vector<StepFiring> firings_, ordered_;
    std::vector<int32_t> labels_[2], steps_;
    std::vector<uint32_t> pairs_;
    std::vector<double> total_, outer_, sides_;
    std::vector<int64_t> place_;  // of each batch, where it is in the list of attributes
};

// body(first, last, found, gradients) for pieces of all attributes; what is found is in their order.
template <class Body>
void over_attributes(const std::vector<int64_t>& cost, int threads, std::vector<int64_t>& features,
                     std::vector<double>& gradients, Body&& body) {
    const auto n = static_cast<int64_t>(cost.size()) - 1;
    const auto cuts = balanced_cuts(cost.data(), n, 128);
    const auto pieces = static_cast<int64_t>(cuts.size()) - 1;
    std::vector<std::vector<int64_t>> found(pieces);
    std::vector<std::vector<double>> values(pieces);
    parallel_for(pieces, threads,
                 [&](int64_t piece, int) { body(cuts[piece], cuts[piece + 1], found[piece], values[piece]); });
    size_t total = 0;
    for (const auto& each : found) total += each.size();
    features.reserve(total);
    gradients.reserve(total);
    for (int64_t p = 0; p < pieces; ++p) {
        features.insert(features.end(), found[p].begin(), found[p].end());
        gradients.insert(gradients.end(), values[p].begin(), values[p].end());
        found[p] = {};
        values[p] = {};
    }
}

inline void screen_pairs(const std::vector<ScreenBatch>& batches, double threshold, std::vector<int64_t>& features,
                         std::vector<double>& gradients, int threads) {
    if (batches.empty()) return;
    std::vector<int64_t> cost(batches[0].steps->features().n_attributes + 1, 1);
    cost[0] = 0;
    for (const ScreenBatch& batch : batches) {
        const AttributeRows& attributes = batch.steps->attributes();
        for (int64_t p = 0; p < attributes.size(); ++p)
            for (int64_t i = attributes.start[p]; i < attributes.start[p + 1]; ++i)
                cost[attributes.attribute[p] + 1] +=
                    batch.row_start[attributes.index[i] + 1] - batch.row_start[attributes.index[i]];
    }
    std::partial_sum(cost.begin(), cost.end(), cost.begin());
    over_attributes(cost, threads, features, gradients,
                    [&](int64_t first, int64_t last, std::vector<int64_t>& found, std::vector<double>& values) {
                        PairScreen screen(batches, threshold);
                        for (int64_t a = first; a < last; ++a) screen.screen(a, found, values);
                    });
}

// Gradients of all features of some attributes are summed batch by batch, so that each batch's marginals are gone
// through in the order of its attributes, and no attribute is asked for in batches where it never fires.
template <class Sum>
void sum_nodes(const std::vector<NodeScreenBatch>& batches, int64_t first, int64_t last, int64_t width, double* total) {
    std::vector<double> here(width);
    for (const NodeScreenBatch& batch : batches) {
        const AttributeRows& attributes = batch.map->attributes();
        for (int64_t p = attributes.place_from(first); p < attributes.size() && attributes.attribute[p] < last; ++p) {
            double* row = total + (attributes.attribute[p] - first) * width;
            const int64_t begin = attributes.start[p], end = attributes.start[p + 1];
            const auto value = [&](int64_t i) { return attributes.value.empty() ? 1.0 : attributes.value[i]; };
            Sum sum(width, here.data());
            for (int64_t i = begin; i < end; ++i) sum.add(value(i), batch.parts + attributes.index[i] * width);
            sum.put();
            for (int64_t c = 0; c < width; ++c) row[c] += here[c];
            for (const ScreenOutput& output : batch.outputs)
                for (int64_t i = begin; i < end; ++i)
                    row[output.labels[attributes.index[i]]] += value(i) * output.times[attributes.index[i]];
        }
    }
}

inline void screen_nodes(const std::vector<NodeScreenBatch>& batches, double threshold, std::vector<int64_t>& features,
                         std::vector<double>& gradients, int threads) {
    if (batches.empty()) return;
    const FeatureRows& rows = batches[0].map->features();
    const int64_t width = rows.width;
    const int64_t at_once = std::max<int64_t>(1, 16384 / width);  // attributes, whose sums stay in the cache
    std::vector<int64_t> cost(rows.n_attributes + 1, 1);
    cost[0] = 0;
    for (const NodeScreenBatch& batch : batches) {
        const AttributeRows& attributes = batch.map->attributes();
        for (int64_t p = 0; p < attributes.size(); ++p)
            cost[attributes.attribute[p] + 1] += attributes.start[p + 1] - attributes.start[p];
    }
    std::partial_sum(cost.begin(), cost.end(), cost.begin());
    with_row_sum(width, [&](auto type) {
        using Sum = typename decltype(type)::type;
        over_attributes(cost, threads, features, gradients,
                        [&](int64_t first, int64_t last, auto& found, auto& values) {
                            std::vector<double> total;
                            for (int64_t from = first; from < last; from += at_once) {
                                const int64_t to = std::min(last, from + at_once);
                                total.assign((to - from) * width, 0.0);
                                sum_nodes<Sum>(batches, from, to, width, total.data());
                                const int64_t begin = rows.all ? from * width : rows.start[from],
                                              end = rows.all ? to * width : rows.start[to];
                                int64_t a = from;
                                for (int64_t k = begin; k < end; ++k) {
                                    while (!rows.all && rows.start[a + 1] <= k) ++a;
                                    const double g = total[rows.all ? k - begin : (a - from) * width + rows.column[k]];
                                    if (std::abs(g) <= threshold) continue;
                                    found.push_back(k);
                                    values.push_back(g);
                                }
                            }
                        });
    });
}
