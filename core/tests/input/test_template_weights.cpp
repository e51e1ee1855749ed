#include "input/template_weights.hpp"

#include <random>

#include "chains/label_step.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

// Random templates over three inputs, what they learn on random sequences, and random weights.
struct Model {
    std::mt19937 random;
    int32_t n_labels;
    std::vector<std::vector<int32_t>> ids;
    std::vector<int32_t> before{1, 2, 3, 4}, after{5, 6, 7, 8};
    std::vector<int64_t> offsets{0};
    Extractor extractor;
    FeatureRows features;
    std::vector<double> w;

    int32_t below(int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); }

    Extractor templates(int32_t n, int32_t n_strings) {
        std::vector<TemplateTest> tests;
        std::vector<int32_t> start{0}, skeleton, arity;
        for (int32_t j = 0; j < n; ++j) {
            const int32_t k = below(5);
            for (int32_t i = 0; i < k; ++i) {
                const bool absolute = below(12) == 0;
                tests.push_back({below(3), absolute ? below(2) * 2 - 1 : below(7) - 3, absolute});
            }
            start.push_back(static_cast<int32_t>(tests.size()));
            int32_t own = static_cast<int32_t>(arity.size());
            for (int32_t s = 0; s < static_cast<int32_t>(arity.size()); ++s)
                if (arity[s] == k && below(3) == 0) own = s;  // shares attributes
            if (own == static_cast<int32_t>(arity.size())) arity.push_back(k);
            skeleton.push_back(own);
        }
        (void)n_strings;
        return {tests, start, skeleton};
    }

    Model(unsigned seed, int32_t Y, int32_t n_strings, bool dense)
        : random(seed), n_labels(Y), ids(3), extractor(templates(12, n_strings)) {
        sequences(20, n_strings);
        std::vector<int32_t> table(offsets.back() * extractor.n_templates());
        extractor.learn(inputs(), seen(), table.data(), 1);
        features.width = Y;
        features.n_attributes = extractor.n_attributes();
        features.all = dense;
        features.start.push_back(0);
        for (int64_t a = 0; a < features.n_attributes && !dense; ++a) {
            for (int32_t y = 0; y < Y; ++y)
                if (below(5) == 0) features.column.push_back(y);
            features.start.push_back(static_cast<int64_t>(features.column.size()));
        }
        std::uniform_real_distribution<double> real(-2, 2);
        for (int64_t k = 0; k < features.size(); ++k) w.push_back(real(random));
    }

    // Some of the strings are unknown (−1), some were never seen.
    void sequences(int32_t n, int32_t n_strings) {
        offsets.assign(1, 0);
        for (auto& each : ids) each.clear();
        for (int32_t i = 0; i < n; ++i) {
            const int32_t length = below(7);
            offsets.push_back(offsets.back() + length);
            for (auto& each : ids)
                for (int32_t t = 0; t < length; ++t) each.push_back(below(n_strings));
        }
    }
    std::vector<Extractor::Input> inputs() const {
        std::vector<Extractor::Input> out;
        for (const auto& each : ids) out.push_back({each.data(), before.data(), after.data()});
        return out;
    }
    Extractor::Sequences seen() const {
        return {offsets.data(), static_cast<int64_t>(offsets.size()) - 1, static_cast<int32_t>(before.size()), 0};
    }

    // Attribute by attribute.
    std::vector<double> plain_scores() const {
        const Csr rows = extractor.apply(inputs(), seen(), 1);
        std::vector<double> out(rows.size() * n_labels, 0.0);
        for (int64_t t = 0; t < rows.size(); ++t)
            for (int64_t i = rows.start[t]; i < rows.start[t + 1]; ++i)
                for (int32_t y = 0; y < n_labels; ++y) {
                    const int64_t k = features.feature(rows.index[i], y);
                    if (k >= 0) out[t * n_labels + y] += w[k];
                }
        return out;
    }
};

double score_of(const std::vector<double>& scores, const std::vector<double>& pair, const std::vector<double>& first,
                const std::vector<double>& last, int64_t begin, int64_t end, const int32_t* labels, int32_t Y) {
    double sum = first[labels[begin]] + last[labels[end - 1]];
    for (int64_t t = begin; t < end; ++t) {
        sum += scores[t * Y + labels[t]];
        if (t > begin) sum += pair[labels[t - 1] * Y + labels[t]];
    }
    return sum;
}

}  // namespace

TEST("scores of templates are those of their attributes") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const int32_t Y = 1 + static_cast<int32_t>(seed % 9);
        Model model(seed, Y, seed % 2 ? 6 : 60, seed % 3 == 0);
        const TemplateWeights weights(model.extractor, model.features, model.w.data());
        for (int again = 0; again < 2; ++again) {
            const auto inputs = model.inputs();
            const auto sequences = model.seen();
            const std::vector<double> expected = model.plain_scores();
            for (const Kernels* kernel : {&kernels(), &baseline_kernels()})
                for (const int threads : {1, 3}) {
                    std::vector<double> out(expected.size(), -1.0);
                    kernel->template_scores(weights, {inputs, sequences}, out.data(), threads);
                    for (size_t i = 0; i < out.size(); ++i) {
                        CHECK_NEAR(out[i], expected[i], 1e-12);
                        CHECK(std::fabs(out[i]) <= weights.largest() + 1e-9);
                    }
                }
            model.sequences(15, 80);
            model.ids[0].assign(model.ids[0].size(), -1);
        }
    }
}

TEST("labels and marginals straight from templates are those of enumeration") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const int32_t Y = 1 + static_cast<int32_t>(seed % 4);
        Model model(seed, Y, 8, seed % 3 == 0);
        const TemplateWeights weights(model.extractor, model.features, model.w.data());
        std::uniform_real_distribution<double> real(-3, 3);
        std::vector<double> pair(Y * Y), first(Y, 0.0), last(Y, 0.0);
        for (double& each : pair)
            each = seed % 2 && model.below(5) == 0 ? -std::numeric_limits<double>::infinity() : real(model.random);
        if (seed % 4 == 3 && Y > 1) first[0] = last[Y - 1] = -std::numeric_limits<double>::infinity();
        const LabelStep step(Y, pair.data(), first.data(), last.data());
        const auto inputs = model.inputs();
        const auto sequences = model.seen();
        const std::vector<double> scores = model.plain_scores();
        const int64_t n_tokens = model.offsets.back();
        std::vector<int32_t> given(n_tokens, -1);
        for (int32_t& each : given)
            if (model.below(6) == 0) each = model.below(Y);
        for (const int32_t* fixed : {static_cast<const int32_t*>(nullptr), static_cast<const int32_t*>(given.data())})
            for (const Kernels* kernel : {&kernels(), &baseline_kernels()}) {
                std::vector<int32_t> labels(n_tokens, 0), tried(n_tokens, 0);
                std::vector<double> marginals(n_tokens * Y, -1.0), log_z(sequences.n_sequences, -1.0);
                bool possible = true;
                std::vector<double> expected(n_tokens * Y, 0.0), best(sequences.n_sequences, 0.0),
                    total(sequences.n_sequences, 0.0);
                for (int64_t i = 0; i < sequences.n_sequences; ++i) {
                    const int64_t begin = model.offsets[i], end = model.offsets[i + 1];
                    if (begin == end) continue;
                    best[i] = -std::numeric_limits<double>::infinity();
                    int64_t n = 1;
                    for (int64_t t = begin; t < end; ++t) n *= Y;
                    for (int64_t number = 0; number < n; ++number) {
                        int64_t rest = number;
                        bool fits = true;
                        for (int64_t t = begin; t < end; ++t, rest /= Y) {
                            tried[t] = static_cast<int32_t>(rest % Y);
                            fits = fits && (!fixed || fixed[t] < 0 || fixed[t] == tried[t]);
                        }
                        if (!fits) continue;
                        const double score = score_of(scores, pair, first, last, begin, end, tried.data(), Y);
                        best[i] = std::max(best[i], score);
                        total[i] += std::exp(score);
                        for (int64_t t = begin; t < end; ++t) expected[t * Y + tried[t]] += std::exp(score);
                    }
                    possible = possible && total[i] > 0;
                }
                CHECK(kernel->template_labels(weights, {inputs, sequences}, step, fixed, labels.data(), 2) == possible);
                CHECK(kernel->template_marginals(weights, {inputs, sequences}, step, fixed, marginals.data(),
                                                 log_z.data(), 2)
                      == possible);
                for (int64_t i = 0; i < sequences.n_sequences; ++i) {
                    const int64_t begin = model.offsets[i], end = model.offsets[i + 1];
                    if (begin == end || total[i] == 0) continue;
                    CHECK_NEAR(score_of(scores, pair, first, last, begin, end, labels.data(), Y), best[i], 1e-9);
                    CHECK_NEAR(log_z[i], std::log(total[i]), 1e-9);
                    for (int64_t e = begin * Y; e < end * Y; ++e)
                        CHECK_NEAR(marginals[e], expected[e] / total[i], 1e-9);
                }
            }
    }
}

TEST("many labels: those out of the question are not on the best path") {
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    for (const int32_t Y : {22, 64, 65, 130, 600}) {
        Model model(static_cast<unsigned>(Y), Y, 8, Y < 100);
        const TemplateWeights weights(model.extractor, model.features, model.w.data());
        std::vector<double> pair(Y * Y), ends(Y, 0.0);
        for (double& each : pair) each = std::round(normal(random) * 2);  // with ties
        const LabelStep step(Y, pair.data(), ends.data(), ends.data());
        const auto inputs = model.inputs();
        const auto sequences = model.seen();
        const std::vector<double> scores = model.plain_scores();
        std::vector<int32_t> labels(model.offsets.back(), 0);
        CHECK(kernels().template_labels(weights, {inputs, sequences}, step, nullptr, labels.data(), 1));
        for (int64_t i = 0; i < sequences.n_sequences; ++i) {
            const int64_t begin = model.offsets[i], end = model.offsets[i + 1];
            if (begin == end) continue;
            std::vector<double> alpha(scores.begin() + begin * Y, scores.begin() + (begin + 1) * Y), next(Y);
            for (int64_t t = begin + 1; t < end; ++t, alpha = next)
                for (int32_t y = 0; y < Y; ++y) {
                    next[y] = -1e300;
                    for (int32_t x = 0; x < Y; ++x) next[y] = std::max(next[y], alpha[x] + pair[x * Y + y]);
                    next[y] += scores[t * Y + y];
                }
            CHECK_NEAR(score_of(scores, pair, ends, ends, begin, end, labels.data(), Y),
                       *std::max_element(alpha.begin(), alpha.end()), 1e-9);
        }
    }
}
