// The dual of a max-margin Markov network, over the outputs that have been met: cutting planes, and how much each
// counts.
//
// For min_w ½ Σ_k w_k²/s_k + Σ_i c_i max_y [cost_i(y) − w·Δf_i(y)], with Δf_i(y) = f(gold) − f(y), the dual is
//
//     max_α Σ α_i(y) cost_i(y) − ½ Σ_k w_k²/s_k,    w = s ∘ Σ α_i(y) Δf_i(y),    α_i ≥ 0, Σ_y α_i(y) = c_i.
//
// Gold is an output too, with Δf = 0 and no cost; it has what the other planes of an instance leave of c_i.
//
// Block-coordinate Frank–Wolfe (Lacoste-Julien et al. 2013) with pairwise steps over cached planes (Osokin et al.
// 2016): in one instance, mass goes from the worst plane a that has any to the best one b, as far as the dual grows:
//
//     γ = min(α_a, (h_b − h_a) / ‖Δf_b − Δf_a‖²_s),    h(y) = cost(y) − w·Δf(y).
//
// Steps in one instance at a time are slow where all instances share a feature with large values: what one gains, the
// next all but takes back. So sweeps are what conjugate gradients are preconditioned with: from where the last sweeps
// began, `advance` goes on in the direction they took, made conjugate to the direction before.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace parsimon {

class Planes {
  public:
    Planes(std::vector<double> scale, std::vector<double> mass) : scale_(std::move(scale)), w_(scale_.size(), 0.0) {
        for (const double c : mass) instances_.push_back({{}, c, c, {c, 0.0}});
    }

    int64_t n_instances() const { return static_cast<int64_t>(instances_.size()); }
    int64_t n_features() const { return static_cast<int64_t>(scale_.size()); }
    const std::vector<double>& weights() const { return w_; }

    // Notes an output of an instance, unless it is known.
    void add(int64_t i, double cost, std::vector<int32_t> index, std::vector<double> value) {
        if (index.empty() && cost <= 0) return;
        std::vector<Plane>& planes = instances_[i].planes;
        for (const Plane& known : planes)
            if (known.index == index && known.value == value && known.cost >= cost) return;
        planes.push_back({std::move(index), std::move(value), {}, cost, 0.0, 0.0, 0.0, 0, {}});
        for (Plane& known : planes) {
            planes.back().products.push_back(product(planes.back(), known));
            if (&known != &planes.back()) known.products.push_back(planes.back().products.back());
        }
    }

    // At most so many pairwise steps for each of the given instances, in that order. Returns the sum of their gaps
    // before.
    double sweep(const int64_t* order, int64_t n, int most) {
        double gap = 0;
        for (int64_t i = 0; i < n; ++i) gap += pairwise_steps(instances_[order[i]], most);
        return gap;
    }

    // Remembers where the masses are; the next `advance` starts from here.
    void mark() {
        for (Instance& instance : instances_) {
            instance.way.mark = instance.gold;
            for (Plane& plane : instance.planes) plane.way.mark = plane.mass;
        }
    }

    // Goes on in the direction from the mark to the present masses, as far as the dual grows.
    void advance() {
        std::vector<double> moved = along([](const Way& way, double mass) { return mass - way.mark; });
        const std::vector<double> before = along([](const Way& way, double) { return way.direction; });
        const double curved = inner(before, before), beta = curved > 0 ? -inner(moved, before) / curved : 0.0;
        each_mass([&](Way& way, double mass) { way.direction = mass - way.mark + beta * way.direction; });
        for (size_t k = 0; k < moved.size(); ++k) moved[k] += beta * before[k];
        double step = best_step(moved);
        if (step > 0) {
            keep_inside(step);
            moved = along([](const Way& way, double) { return way.direction; });
            step = std::min(best_step(moved), 1.0);
        }
        if (!(step > 0)) {
            each_mass([](Way& way, double) { way.direction = 0; });
            return;
        }
        move_along(step);
        for (size_t k = 0; k < w_.size(); ++k) w_[k] += step * moved[k];
    }

    // Drops the planes that had no mass for more than `idle` sweeps.
    void prune(int idle) {
        for (Instance& instance : instances_) {
            std::vector<char> kept;
            bool moving = false;  // whether the last direction, in which masses add up, loses a part
            for (const Plane& plane : instance.planes) {
                kept.push_back(plane.mass > 0 || plane.idle <= idle);
                moving = moving || (!kept.back() && plane.way.direction != 0);
            }
            if (moving) {
                instance.way.direction = 0;
                for (Plane& plane : instance.planes) plane.way.direction = 0;
            }
            const auto forget = [&kept](auto& of_planes) {
                size_t to = 0;
                for (size_t j = 0; j < kept.size(); ++j)
                    if (kept[j]) {
                        if (to != j) of_planes[to] = std::move(of_planes[j]);
                        ++to;
                    }
                of_planes.resize(to);
            };
            forget(instance.planes);
            for (Plane& plane : instance.planes) forget(plane.products);
        }
    }

    // Another penalty, the same distributions over outputs. Weights whose scale is zero are zero.
    void rescale(std::vector<double> scale) {
        scale_ = std::move(scale);
        for (Instance& instance : instances_)
            for (size_t j = 0; j < instance.planes.size(); ++j)
                for (size_t k = 0; k <= j; ++k)
                    instance.planes[j].products[k] = instance.planes[k].products[j] =
                        product(instance.planes[j], instance.planes[k]);
        refresh();
    }

    // w anew, without the rounding of all steps so far.
    void refresh() {
        std::fill(w_.begin(), w_.end(), 0.0);
        for (const Instance& instance : instances_)
            for (const Plane& plane : instance.planes)
                if (plane.mass > 0)
                    for (size_t j = 0; j < plane.index.size(); ++j) w_[plane.index[j]] += plane.mass * plane.value[j];
        for (size_t k = 0; k < w_.size(); ++k) w_[k] *= scale_[k];
    }

    // Σ α cost − ½ Σ w²/s.
    double dual() const {
        double value = 0;
        for (const Instance& instance : instances_)
            for (const Plane& plane : instance.planes) value += plane.mass * plane.cost;
        for (size_t k = 0; k < w_.size(); ++k)
            if (scale_[k] > 0) value -= 0.5 * w_[k] * w_[k] / scale_[k];
        return value;
    }

    // body(instance, cost, index, value) for every plane that has mass.
    template <class Body>
    void each_support(Body&& body) const {
        for (int64_t i = 0; i < n_instances(); ++i)
            for (const Plane& plane : instances_[i].planes)
                if (plane.mass > 0) body(i, plane.cost, plane.index, plane.value);
    }

    int64_t n_planes() const {
        return count([](const Plane&) { return true; });
    }
    int64_t n_support() const {
        return count([](const Plane& plane) { return plane.mass > 0; });
    }

  private:
    // How a mass moves from one `advance` to the next.
    struct Way {
        double mark = 0, direction = 0;
    };
    struct Plane {
        std::vector<int32_t> index;
        std::vector<double> value;
        std::vector<double> products;  // with every plane of the instance, itself included
        double cost, mass, mass_before, height;
        int idle;
        Way way;
    };
    struct Instance {
        std::vector<Plane> planes;
        double total, gold;  // c_i, and gold's share of it
        Way way;             // gold's
    };

    template <class Body>
    void each_mass(Body&& body) {
        for (Instance& instance : instances_) {
            body(instance.way, instance.gold);
            for (Plane& plane : instance.planes) body(plane.way, plane.mass);
        }
    }

    // What w changes by when every plane's mass changes by change(way, mass).
    template <class Change>
    std::vector<double> along(Change&& change) const {
        std::vector<double> moved(w_.size(), 0.0);
        for (const Instance& instance : instances_)
            for (const Plane& plane : instance.planes)
                if (const double by = change(plane.way, plane.mass))
                    for (size_t j = 0; j < plane.index.size(); ++j) moved[plane.index[j]] += by * plane.value[j];
        for (size_t k = 0; k < moved.size(); ++k) moved[k] *= scale_[k];
        return moved;
    }

    double inner(const std::vector<double>& a, const std::vector<double>& b) const {
        double sum = 0;
        for (size_t k = 0; k < a.size(); ++k)
            if (scale_[k] > 0) sum += a[k] * b[k] / scale_[k];
        return sum;
    }

    // How far the dual grows in the direction of all ways, which changes w by `moved`.
    double best_step(const std::vector<double>& moved) const {
        double slope = -inner(w_, moved);
        for (const Instance& instance : instances_)
            for (const Plane& plane : instance.planes) slope += plane.way.direction * plane.cost;
        const double curved = inner(moved, moved);
        if (!(slope > 0)) return 0;
        return curved > 0 ? slope / curved : std::numeric_limits<double>::infinity();
    }

    // Directions become steps: that long, but in each instance no longer than until some mass is zero or has all of it.
    void keep_inside(double step) {
        for (Instance& instance : instances_) {
            double most = step, sum = 0, size = 0;
            for (const Plane& plane : instance.planes) {
                sum += plane.way.direction;
                size = std::max(size, std::abs(plane.way.direction));
            }
            // What one plane gets another gives, or gold, but for rounding.
            instance.way.direction = std::abs(sum) > 1e-12 * size ? -sum : 0.0;
            const auto bound = [&](double mass, double direction) {
                if (direction < 0) most = std::min(most, mass / -direction);
                if (direction > 0) most = std::min(most, std::max(instance.total - mass, 0.0) / direction);
            };
            bound(instance.gold, instance.way.direction);
            for (const Plane& plane : instance.planes) bound(plane.mass, plane.way.direction);
            if (!(most < std::numeric_limits<double>::infinity())) most = 0;
            instance.way.direction *= most;
            for (Plane& plane : instance.planes) plane.way.direction *= most;
        }
    }

    // Masses move along their ways, and add up to what their instance has, without the rounding of that.
    void move_along(double step) {
        for (Instance& instance : instances_) {
            double sum = instance.gold = std::max(instance.gold + step * instance.way.direction, 0.0);
            for (Plane& plane : instance.planes)
                sum += plane.mass = std::max(plane.mass + step * plane.way.direction, 0.0);
            if (!(sum > 0) || sum == instance.total) continue;
            instance.gold *= instance.total / sum;
            for (Plane& plane : instance.planes) plane.mass *= instance.total / sum;
        }
    }

    template <class Wanted>
    int64_t count(Wanted&& wanted) const {
        int64_t n = 0;
        for (const Instance& instance : instances_)
            n += std::count_if(instance.planes.begin(), instance.planes.end(), wanted);
        return n;
    }

    double pairwise_steps(Instance& instance, int most) {
        double gap = 0;
        for (Plane& plane : instance.planes) {
            plane.height = plane.cost - dot_weights(plane);
            plane.mass_before = plane.mass;
        }
        for (int step = 0; step < most; ++step) {
            int best = gold, worst = gold;
            double high = 0, low = instance.gold > 0 ? 0.0 : std::numeric_limits<double>::infinity(), mean = 0;
            for (int j = 0; j < static_cast<int>(instance.planes.size()); ++j) {
                const Plane& plane = instance.planes[j];
                mean += plane.mass * plane.height;
                if (plane.height > high) high = plane.height, best = j;
                if (plane.mass > 0 && plane.height < low) low = plane.height, worst = j;
            }
            if (!step) {
                gap = instance.total * high - mean;
                for (int j = 0; j < static_cast<int>(instance.planes.size()); ++j) {
                    Plane& plane = instance.planes[j];
                    plane.idle = plane.mass > 0 || j == best ? 0 : plane.idle + 1;
                }
            }
            if (best == worst || !(high - low > 1e-14 * (1 + high))) break;
            move(instance, worst, best, high - low);
        }
        for (const Plane& plane : instance.planes)
            if (plane.mass != plane.mass_before) add_to_weights(plane, plane.mass - plane.mass_before);
        return gap;
    }

    // Mass from one plane to another. Heights follow; w does later.
    void move(Instance& instance, int from, int to, double gain) {
        const auto product = [&](int a, int b) {
            return a == gold || b == gold ? 0.0 : instance.planes[a].products[b];
        };
        const double square = product(from, from) + product(to, to) - 2 * product(from, to);
        double& giver = from == gold ? instance.gold : instance.planes[from].mass;
        double& taker = to == gold ? instance.gold : instance.planes[to].mass;
        const bool all = !(gain < giver * square);
        const double mass = all ? giver : gain / square;
        giver = all ? 0.0 : giver - mass;
        taker += mass;
        for (int j = 0; j < static_cast<int>(instance.planes.size()); ++j)
            instance.planes[j].height -= mass * (product(j, to) - product(j, from));
    }

    void add_to_weights(const Plane& plane, double mass) {
        for (size_t j = 0; j < plane.index.size(); ++j)
            w_[plane.index[j]] += mass * scale_[plane.index[j]] * plane.value[j];
    }

    double dot_weights(const Plane& plane) const {
        double sum = 0;
        for (size_t j = 0; j < plane.index.size(); ++j) sum += w_[plane.index[j]] * plane.value[j];
        return sum;
    }

    double product(const Plane& a, const Plane& b) const {
        double sum = 0;
        for (size_t i = 0, j = 0; i < a.index.size() && j < b.index.size();) {
            if (a.index[i] == b.index[j]) {
                sum += scale_[a.index[i]] * a.value[i] * b.value[j];
                ++i, ++j;
            } else (a.index[i] < b.index[j] ? i : j) += 1;
        }
        return sum;
    }

    static constexpr int gold = -1;
    std::vector<double> scale_, w_;
    std::vector<Instance> instances_;
};

}  // namespace parsimon
