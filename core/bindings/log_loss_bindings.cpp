// What Python sees of the core's passes over chains with a log loss.
#include <memory>
#include <optional>

#include "bindings/binding_arrays.hpp"
#include "bindings/chain_batch.hpp"
#include "chains/log_loss_pass.hpp"
#include "maps/linear_map.hpp"

using namespace parsimon;

namespace {

using Given = std::tuple<const LinearMap*, const LinearMap*, const LinearMap*, const ChainBatch*, In<int32_t>>;

// A pass, and the objects of Python that its batches point to.
struct HeldPass {
    nb::object held;
    std::vector<Given> given;
    std::unique_ptr<LogLossPass> pass;

    explicit HeldPass(const nb::list& batches, int threads) : held(batches) {
        std::vector<LossBatch> made;
        for (const nb::handle each : batches) {
            given.push_back(nb::cast<Given>(each));
            const auto& [node, pair, single, chain, gold] = given.back();
            check(given.back());
            made.push_back({node, pair, single, chain->shape(), gold.data()});
        }
        parallel_for(static_cast<int64_t>(made.size()), threads, [&](int64_t b, int) {
            made[b].node->attributes();  // made under the lock
            made[b].pair->attributes();
            made[b].single->attributes();
            const FeatureRows& features = made[b].node->features();
            if (!features.all && &features != &made[0].node->features()) made[b].node->whole_attributes();
            if (!made[b].pair->features().all) made[b].pair->whole_attributes();
            if (!made[b].single->features().all) made[b].single->whole_attributes();
        });
        pass = std::make_unique<LogLossPass>(std::move(made));
    }

    // The features of tokens and of label pairs are those of the first batch; a batch fits its own chain.
    void check(const Given& batch) const {
        const auto& [node, pair, single, chain, gold] = batch;
        require(node && pair && single && chain, "a batch is three maps, a chain and labels");
        const int64_t n_labels = chain->n_labels, n_tokens = static_cast<int64_t>(chain->pair_kind.size());
        require(node->rows().size() == n_tokens && node->features().width == n_labels,
                "the map of tokens must have a row a token and a column a label");
        require(pair->rows().size() == chain->n_kinds && pair->features().width == n_labels * n_labels,
                "the map of label pairs must have a row a matrix and a column a pair");
        require(chain->single.empty()
                    || (single->rows().size() == static_cast<int64_t>(chain->single.size())
                        && single->features().width == 1 && single->features().size() == pair->features().size()),
                "the map of single pairs must have a row a pair and the features of pairs");
        require(node->features().size() == std::get<0>(given[0])->features().size()
                    && pair->features().size() == std::get<1>(given[0])->features().size()
                    && chain->n_labels == std::get<3>(given[0])->n_labels,
                "all batches must have the same features");
        chain->check_labels(gold);
    }
};

}  // namespace

void bind_log_loss(nb::module_& m) {
    nb::class_<HeldPass>(m, "LogLossPass")
        .def(
            "__init__",
            [](HeldPass* self, const nb::list& batches, Threads threads) { new (self) HeldPass(batches, threads); },
            "batches"_a, "threads"_a)
        // The loss of each batch, log Z of each sequence, the gradient; the curvature and the marginals of labels of
        // each batch, if they are wanted; and a batch that has a sequence without any output, or −1.
        .def(
            "evaluate",
            [](HeldPass& self, const In<double>& w, bool curvature, bool marginals, Threads threads) {
                const auto n = static_cast<size_t>(self.pass->n_features());
                require(w.size() == n, "there must be one weight a feature");
                std::vector<double> loss(self.given.size(), 0.0), gradient(n), bent(curvature ? n : 0), log_z;
                std::vector<std::vector<double>> of_labels;
                LossSums out{loss.data(), {}, {}, gradient.data(), curvature ? bent.data() : nullptr};
                size_t n_sequences = 0;
                for (const LossBatch& batch : self.pass->batches()) n_sequences += batch.shape.n_sequences;
                log_z.resize(n_sequences);
                double* at = log_z.data();
                for (const LossBatch& batch : self.pass->batches()) {
                    out.log_z.push_back(at);
                    at += batch.shape.n_sequences;
                    if (!marginals) continue;
                    of_labels.emplace_back(batch.n_tokens() * batch.shape.n_labels);
                    out.marginals.push_back(of_labels.back().data());
                }
                int64_t failed;
                {
                    nb::gil_scoped_release free;
                    failed = self.pass->evaluate(w.data(), out, threads);
                }
                nb::object bent_out = nb::none(), labels_out = nb::none();
                if (curvature) bent_out = nb::cast(to_numpy(std::move(bent)));
                if (marginals) {
                    nb::list list;
                    for (size_t b = 0; b < of_labels.size(); ++b) {
                        const LossBatch& batch = self.pass->batches()[b];
                        const auto T = static_cast<size_t>(batch.n_tokens()),
                                   Y = static_cast<size_t>(batch.shape.n_labels);
                        list.append(nb::cast(to_numpy(std::move(of_labels[b]), {T, Y})));
                    }
                    labels_out = list;
                }
                return nb::make_tuple(to_numpy(std::move(loss)), to_numpy(std::move(log_z)),
                                      to_numpy(std::move(gradient)), bent_out, labels_out, failed);
            },
            "w"_a, "curvature"_a, "marginals"_a, "threads"_a)
        // The diagonal of the Hessian, or nearly, from the marginals of labels.
        .def(
            "diagonal",
            [](HeldPass& self, const std::vector<In2<double>>& marginals, Threads threads) {
                const auto& batches = self.pass->batches();
                require(marginals.size() == batches.size(), "there must be marginals of every batch");
                std::vector<const double*> given;
                for (size_t b = 0; b < batches.size(); ++b) {
                    require(static_cast<int64_t>(marginals[b].shape(0)) == batches[b].n_tokens()
                                && static_cast<int64_t>(marginals[b].shape(1)) == batches[b].shape.n_labels,
                            "marginals must be tokens × labels");
                    given.push_back(marginals[b].data());
                }
                std::vector<double> out(self.pass->n_features());
                {
                    nb::gil_scoped_release free;
                    self.pass->diagonal(given, out.data(), threads);
                }
                return to_numpy(std::move(out));
            },
            "marginals"_a, "threads"_a);
}
