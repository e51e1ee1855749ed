// Who is whose parent in a batch of trees, and what follows from it.
#pragma once

#include <cstdint>
#include <vector>

namespace parsimon {

// Nodes are numbered within the batch. All is empty for chains; see ChainShape for what is what.
struct Forest {
    std::vector<int32_t> parent, order, children;
    std::vector<int64_t> child_start;
    // Labels that some kinds of nodes cannot have; both empty if all can have all.
    std::vector<int32_t> node_kind;
    std::vector<double> bars;

    // The nodes from `first` to before `last`, which are one instance, numbered from 0. The bars are left where they
    // are.
    void take(const Forest& all, int64_t first, int64_t last) {
        const auto local = [first](int64_t t) { return static_cast<int32_t>(t < 0 ? -1 : t - first); };
        parent.clear();
        order.clear();
        children.clear();
        child_start.assign(1, 0);
        node_kind.clear();
        if (all.parent.empty()) return;
        for (int64_t t = first; t < last; ++t) {
            parent.push_back(local(all.parent[t]));
            order.push_back(local(all.order[t]));
            for (int64_t c = all.child_start[t]; c < all.child_start[t + 1]; ++c)
                children.push_back(local(all.children[c]));
            child_start.push_back(static_cast<int64_t>(children.size()));
            if (!all.node_kind.empty()) node_kind.push_back(all.node_kind[t]);
        }
    }
};

}  // namespace parsimon
