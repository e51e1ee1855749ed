// What Python sees of second-order chains: their oracles.
#include <optional>

#include "bindings/binding_arrays.hpp"
#include "chains/second_order_shape.hpp"
#include "kernels/kernels.hpp"

using namespace parsimon;

namespace {

// A second-order chain's shape, with the arrays it points to.
class SecondOrderBatch {
  public:
    SecondOrderBatch(const In<int64_t>& offsets, const In<int32_t>& kinds, const std::optional<In<double>>& weights,
                     const In<int32_t>& before, const In<int32_t>& tag, int32_t n_tags, int64_t n_kinds,
                     bool scores_tags, bool scores_pairs)
        : offsets_(checked_offsets(offsets, static_cast<int64_t>(kinds.size()))),
          kind_(kinds.data(), kinds.data() + kinds.size()), n_kinds_(n_kinds), scores_tags_(scores_tags),
          scores_pairs_(scores_pairs), pairs_(checked_pairs(before, tag, n_tags)) {
        require(offsets_.back() <= most_numbers, "there are too many tokens for one batch");
        require(n_kinds > 0 && n_kinds <= most_numbers, "the number of tables of triples is out of range");
        for (size_t i = 0; i + 1 < offsets_.size(); ++i)
            for (int64_t t = offsets_[i] + 1; t < offsets_[i + 1]; ++t)
                require(kind_[t] >= 0 && kind_[t] < n_kinds, "a step's table is out of range");
        if (!weights) return;
        require(weights->size() == offsets_.size() - 1, "there must be one weight a sequence");
        require_finite(*weights, "a sequence's weight is not finite");
        weight_.assign(weights->data(), weights->data() + weights->size());
    }

    SecondOrderShape shape() const {
        return {pairs_,          scores_tags_, scores_pairs_, n_sequences(),
                offsets_.data(), n_kinds_,     kind_.data(),  weight_.empty() ? nullptr : weight_.data()};
    }
    int64_t n_sequences() const { return static_cast<int64_t>(offsets_.size()) - 1; }
    size_t n_tokens() const { return kind_.size(); }
    const TagPairs& pairs() const { return pairs_; }

    template <class Node, class Triple>
    void check(const Node& node, const Triple& triple) const {
        require(node.shape(0) == n_tokens() && node.shape(1) == static_cast<size_t>(shape().width()),
                "node scores must be tokens × columns");
        require(triple.shape(0) == static_cast<size_t>(n_kinds_)
                    && triple.shape(1) == static_cast<size_t>(pairs_.n_triples),
                "scores of triples must be tables × triples");
    }
    void check_tags(const In<int32_t>& tags) const {
        require(tags.size() == n_tokens(), "there must be one tag a token");
        for (size_t t = 0; t < tags.size(); ++t)
            require(tags(t) >= 0 && tags(t) < pairs_.n_tags, "a tag is out of range");
    }

  private:
    static TagPairs checked_pairs(const In<int32_t>& before, const In<int32_t>& tag, int32_t n_tags) {
        require(n_tags > 0 && n_tags < most_labels, "there must be at least one tag and fewer than 65,536");
        require(before.size() == tag.size() && before.size() > 0, "there must be two tags a pair, and some pair");
        for (size_t p = 0; p < tag.size(); ++p) {
            require(before(p) >= -1 && before(p) < n_tags && tag(p) >= 0 && tag(p) < n_tags, "a tag is out of range");
            require(p == 0 || before(p - 1) < before(p) || (before(p - 1) == before(p) && tag(p - 1) < tag(p)),
                    "pairs of tags must ascend");
        }
        TagPairs pairs({before.data(), before.data() + before.size()}, {tag.data(), tag.data() + tag.size()}, n_tags);
        require(pairs.n_triples <= most_numbers, "there are too many triples of tags");
        return pairs;
    }

    std::vector<int64_t> offsets_;
    std::vector<int32_t> kind_;
    std::vector<double> weight_;
    int64_t n_kinds_;
    bool scores_tags_, scores_pairs_;
    TagPairs pairs_;
};

}  // namespace

void bind_second_order(nb::module_& m) {
    nb::class_<SecondOrderBatch>(m, "SecondOrderChain")
        .def(nb::init<const In<int64_t>&, const In<int32_t>&, const std::optional<In<double>>&, const In<int32_t>&,
                      const In<int32_t>&, int32_t, int64_t, bool, bool>(),
             "offsets"_a, "kind"_a, "weights"_a.none(), "before"_a, "tag"_a, "n_tags"_a, "n_kinds"_a, "scores_tags"_a,
             "scores_pairs"_a)
        .def_prop_ro("n_triples", [](const SecondOrderBatch& c) { return c.pairs().n_triples; })
        .def(
            "marginals",
            [](const SecondOrderBatch& c, const In2<double>& node, const In2<double>& triple, InOut<double> log_z,
               InOut2<double> node_out, InOut2<double> triple_out, Threads threads) {
                c.check(node, triple);
                c.check(node_out, triple_out);
                require(log_z.size() == static_cast<size_t>(c.n_sequences()),
                        "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                return kernels().second_order_marginals(c.shape(), {node.data(), triple.data()}, log_z.data(),
                                                        {node_out.data(), triple_out.data()}, threads);
            },
            "node"_a, "triple"_a, "log_z"_a.noconvert(), "node_out"_a.noconvert(), "triple_out"_a.noconvert(),
            "threads"_a)
        .def(
            "variances",
            [](const SecondOrderBatch& c, const In2<double>& marginals, InOut2<double> node_out,
               InOut2<double> triple_out, Threads threads) {
                c.check(marginals, triple_out);
                c.check(node_out, triple_out);
                nb::gil_scoped_release free;
                kernels().second_order_variances(c.shape(), marginals.data(), {node_out.data(), triple_out.data()},
                                                 threads);
            },
            "marginals"_a, "node_out"_a.noconvert(), "triple_out"_a.noconvert(), "threads"_a)
        .def(
            "score",
            [](const SecondOrderBatch& c, const In2<double>& node, const In2<double>& triple, const In<int32_t>& tags,
               InOut<double> out) {
                c.check(node, triple);
                c.check_tags(tags);
                require(out.size() == static_cast<size_t>(c.n_sequences()), "one score a sequence");
                nb::gil_scoped_release free;
                kernels().second_order_score(c.shape(), {node.data(), triple.data()}, tags.data(), out.data());
            },
            "node"_a, "triple"_a, "tags"_a, "out"_a.noconvert())
        .def(
            "add",
            [](const SecondOrderBatch& c, const In<int32_t>& tags, double times, InOut2<double> node,
               InOut2<double> triple) {
                c.check(node, triple);
                c.check_tags(tags);
                nb::gil_scoped_release free;
                return kernels().second_order_add(c.shape(), tags.data(), times, {node.data(), triple.data()});
            },
            "tags"_a, "times"_a, "node"_a.noconvert(), "triple"_a.noconvert())
        .def(
            "argmax",
            [](const SecondOrderBatch& c, const In2<double>& node, const In2<double>& triple, InOut<double> best,
               InOut<int32_t> tags, Threads threads) {
                c.check(node, triple);
                require(best.size() == static_cast<size_t>(c.n_sequences()) && tags.size() == c.n_tokens(),
                        "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                return kernels().second_order_argmax(c.shape(), {node.data(), triple.data()}, best.data(), tags.data(),
                                                     threads);
            },
            "node"_a, "triple"_a, "best"_a.noconvert(), "tags"_a.noconvert(), "threads"_a)
        .def(
            "kbest",
            [](const SecondOrderBatch& c, const In2<double>& node, const In2<double>& triple, InOut2<double> scores,
               InOut2<int32_t> tags, Threads threads) {
                c.check(node, triple);
                require(scores.shape(0) == tags.shape(0) && scores.shape(1) == static_cast<size_t>(c.n_sequences())
                            && tags.shape(1) == c.n_tokens(),
                        "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                kernels().second_order_kbest(c.shape(), {node.data(), triple.data()},
                                             static_cast<int32_t>(scores.shape(0)), scores.data(), tags.data(),
                                             threads);
            },
            "node"_a, "triple"_a, "scores"_a.noconvert(), "tags"_a.noconvert(), "threads"_a)
        .def(
            "sample",
            [](const SecondOrderBatch& c, const In2<double>& node, const In2<double>& triple, uint64_t seed,
               InOut2<int32_t> tags, Threads threads) {
                c.check(node, triple);
                require(tags.shape(1) == c.n_tokens(), "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                return kernels().second_order_sample(c.shape(), {node.data(), triple.data()}, seed,
                                                     static_cast<int32_t>(tags.shape(0)), tags.data(), threads);
            },
            "node"_a, "triple"_a, "seed"_a, "tags"_a.noconvert(), "threads"_a);
}
