// Nested dissection of lattices by layers of points.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "ordering/job_pool.hpp"
#include "ordering/lattice.hpp"
#include "ordering/region.hpp"

namespace espalier {

namespace {

constexpr std::size_t leaf_points = 150;
constexpr double largest_share = 0.7; // largest share of the weight in a part

using Step = std::array<int, 3>;

// Layers of points with the same height, normal * point.
struct Direction {
    Step normal{};
    int lowest = 0; // height in the lattice

    // The layers from height h on that separate the points above them from those below; index h - lowest.
    std::vector<int> thickness;
};

// The points at points[first .. last), ascending, which get these positions too.
struct LatticePart {
    std::size_t first = 0, last = 0;
};

// The orders of the leaves seen last. Many leaves of a lattice are alike.
class LeafOrders {
  public:
    std::vector<Index> const& of(Region const& leaf) {
        for (Known const& known : known_)
            if (is_same(known.leaf, leaf)) return known.position;
        if (known_.size() < most_known) known_.emplace_back();
        Known& known = known_[next_++ % known_.size()];
        known.position = order_leaf(leaf);
        known.leaf = leaf;
        return known.position;
    }

  private:
    static constexpr std::size_t most_known = 64;
    struct Known {
        Region leaf;
        std::vector<Index> position;
    };

    // Apart from the numbers in the whole graph.
    static bool is_same(Region const& a, Region const& b) {
        return a.num_interior == b.num_interior && a.ptr == b.ptr && a.interior_end == b.interior_end &&
               a.adj == b.adj && a.weight == b.weight;
    }

    std::vector<Known> known_;
    std::size_t next_ = 0;
};

// A separator: the layers from `height` to before `height` + `thickness`.
struct LayerCut {
    Direction const* direction = nullptr; // null if no cut divides the part
    int height = 0, thickness = 0;
    double price = std::numeric_limits<double>::infinity();
};

// The weight of the separator, and more for an imbalance, whose square is the share by which it adds to the
// work in the parts. The factors are the best of several for squares and cubes.
double price_of(std::int64_t below, std::int64_t within, std::int64_t above) {
    double const imbalance = static_cast<double>(below - above) / static_cast<double>(below + above);
    return static_cast<double>(within) * (1 + 1.5 * imbalance * imbalance) + 1e-3 * std::abs(imbalance);
}

class LatticeDissection {
  public:
    LatticeDissection(Graph const& graph, Lattice const& lattice, Interrupt* interrupt)
        : graph_(graph), interrupt_(interrupt), points_(graph.num_vertices), coordinates_(graph.num_vertices),
          perm_(graph.num_vertices) {
        std::iota(points_.begin(), points_.end(), 0);
        set_coordinates(lattice);
        set_directions(lattice);
    }

    std::vector<Index> run(int threads) {
        grain_ = std::max<std::size_t>(1000, points_.size() / 64);
        pool_.add({.last = points_.size()});
        // Only the smaller part of a cut becomes a job.
        pool_.run(
            points_.size() > 2 * grain_ ? threads : 1, [this] { return LayerSpace(points_.size()); },
            [this](LatticePart const& part, LayerSpace& space) { dissect(part, space); });
        return std::move(perm_);
    }

  private:
    // The workspace of a thread.
    struct LayerSpace {
        explicit LayerSpace(std::size_t points) : local(points, -1) {}
        std::vector<Index> local;
        std::vector<std::int32_t> upper, separator;
        std::vector<std::int64_t> weight; // of the layers below each layer
        LeafOrders leaves;
    };

    void set_coordinates(Lattice const& lattice) {
        Step at{};
        for (Step& point : coordinates_) {
            point = at;
            lattice.advance(at);
        }
    }

    void set_directions(Lattice const& lattice) {
        Step const unit = units(lattice);
        for (int k = 14; k < 27; ++k) {
            Direction direction{
                {(k % 3 - 1) * unit[0], (k / 3 % 3 - 1) * unit[1], (k / 9 - 1) * unit[2]}, 0, {}};
            bool is_flat = false;
            for (int d = 0; d < 3; ++d) is_flat |= direction.normal[d] != 0 && lattice.size[d] == 1;
            if (is_flat) continue;
            set_thickness(direction, lattice);
            if (std::ranges::max(direction.thickness) > 0) directions_.push_back(std::move(direction));
        }
        // Layers along the axes come first, so that they win over oblique ones of the same price.
        std::ranges::stable_sort(directions_, std::greater(), [](Direction const& direction) {
            return std::ranges::count(direction.normal, 0);
        });
    }

    // The heights of steps of one point along the axes. If the longest steps along x and y are 1 and 2 at all
    // points, layers of 2 x + y are to this lattice what layers of x + y are to one with equal steps.
    static Step units(Lattice const& lattice) {
        if (!lattice.steps_from.empty()) return {1, 1, 1};
        Step longest{1, 1, 1};
        for (Step const& step : lattice.steps)
            for (int d = 0; d < 3; ++d) longest[d] = std::max(longest[d], std::abs(step[d]));
        Step unit{};
        for (int d = 0; d < 3; ++d) unit[d] = std::ranges::max(longest) / longest[d];
        return unit;
    }

    void set_thickness(Direction& direction, Lattice const& lattice) const {
        int highest = 0;
        for (int d = 0; d < 3; ++d) {
            int const end = direction.normal[d] * (lattice.size[d] - 1);
            direction.lowest += std::min(end, 0);
            highest += std::max(end, 0);
        }
        auto& thickness = direction.thickness;
        thickness.assign(highest - direction.lowest + 1, 0);
        std::vector<int> rise; // of each step
        for (Step const& step : lattice.steps) rise.push_back(height(direction.normal, step));
        if (lattice.steps_from.empty()) {
            auto const [lowest_rise, highest_rise] = std::ranges::minmax(rise);
            std::ranges::fill(thickness, std::max(-lowest_rise, highest_rise));
            return;
        }
        // First the longest edge upwards from each layer, then the layers that the edges from below reach. In
        // finite elements of order two, for example, no edge crosses the layers between elements.
        std::vector<StepSet> in_layer(thickness.size());
        for (std::size_t v = 0; v < coordinates_.size(); ++v)
            in_layer[height(direction.normal, coordinates_[v]) - direction.lowest] |= lattice.steps_from[v];
        for (int h = 0; h < std::ssize(in_layer); ++h)
            for (std::size_t k = 0; k < rise.size(); ++k) {
                if (!in_layer[h][k]) continue;
                int& longest = thickness[std::min(h, h + rise[k])];
                longest = std::max(longest, std::abs(rise[k]));
            }
        int reached = 0;
        for (int& layers : thickness) {
            int const longest = std::exchange(layers, reached);
            reached = std::max(reached - 1, longest);
        }
    }

    static int height(Step const& normal, Step const& point) {
        return normal[0] * point[0] + normal[1] * point[1] + normal[2] * point[2];
    }

    void dissect(LatticePart part, LayerSpace& space) {
        check(interrupt_);
        std::span const points(points_.data() + part.first, points_.data() + part.last);
        LayerCut cut;
        if (points.size() > leaf_points) cut = best_cut(points, space);
        if (cut.direction == nullptr) return number_leaf(points, part.first, space);
        auto const [lower, upper] = split(points, cut, space);
        std::size_t position = part.first + lower + upper;
        for (std::int32_t const v : points.subspan(lower + upper)) perm_[v] = static_cast<Index>(position++);
        LatticePart const below{part.first, part.first + lower};
        if (lower > grain_)
            pool_.add(below);
        else
            dissect(below, space);
        dissect({below.last, below.last + upper}, space);
    }

    [[nodiscard]] LayerCut best_cut(std::span<std::int32_t const> points, LayerSpace& space) const {
        LayerCut best;
        for (Direction const& direction : directions_) cheapest_layers(points, direction, space, best);
        return best;
    }

    void cheapest_layers(std::span<std::int32_t const> points, Direction const& direction, LayerSpace& space,
                         LayerCut& best) const {
        int lowest = std::numeric_limits<int>::max(), highest = std::numeric_limits<int>::min();
        for (std::int32_t const v : points) {
            int const h = height(direction.normal, coordinates_[v]);
            lowest = std::min(lowest, h);
            highest = std::max(highest, h);
        }
        auto& weight = space.weight;
        weight.assign(highest - lowest + 2, 0);
        for (std::int32_t const v : points)
            weight[height(direction.normal, coordinates_[v]) - lowest + 1] += graph_.weight_of(v);
        std::partial_sum(weight.begin(), weight.end(), weight.begin());
        std::int64_t const total = weight.back();
        auto const limit = static_cast<std::int64_t>(largest_share * static_cast<double>(total));
        for (int k = 0; lowest + k <= highest; ++k) {
            int const thickness = direction.thickness[lowest + k - direction.lowest];
            if (lowest + k + thickness > highest) continue;
            std::int64_t const below = weight[k], above = total - weight[k + thickness];
            if (below > 0 && above > 0 && std::max(below, above) <= limit)
                if (double const price = price_of(below, total - below - above, above); price < best.price)
                    best = {&direction, lowest + k, thickness, price};
        }
    }

    // Puts the points in the order below, above, separator. Returns the numbers of the first two.
    std::pair<std::size_t, std::size_t> split(std::span<std::int32_t> points, LayerCut const& cut,
                                              LayerSpace& space) const {
        space.upper.clear();
        space.separator.clear();
        std::size_t lower = 0;
        for (std::int32_t const v : points) {
            int const h = height(cut.direction->normal, coordinates_[v]) - cut.height;
            if (h < 0)
                points[lower++] = v;
            else if (h < cut.thickness)
                space.separator.push_back(v);
            else
                space.upper.push_back(v);
        }
        std::ranges::copy(space.upper, points.begin() + lower);
        std::ranges::copy(space.separator, points.begin() + lower + space.upper.size());
        return {lower, space.upper.size()};
    }

    void number_leaf(std::span<std::int32_t const> points, std::size_t first, LayerSpace& space) {
        auto const& position = space.leaves.of(region_of(graph_, points, space.local));
        for (std::size_t k = 0; k < points.size(); ++k)
            perm_[points[k]] = static_cast<Index>(first) + position[k];
    }

    Graph const& graph_;
    Interrupt* interrupt_;  // may be null
    std::size_t grain_ = 0; // parts with at most this many points stay on their thread
    std::vector<std::int32_t> points_;
    std::vector<Step> coordinates_;
    std::vector<Direction> directions_;
    std::vector<Index> perm_; // jobs write disjoint entries of this and of points_
    JobPool<LatticePart> pool_;
};

} // namespace

std::vector<Index> order_lattice(Graph const& graph, Lattice const& lattice, int threads,
                                 Interrupt* interrupt) {
    return LatticeDissection(graph, lattice, interrupt).run(threads);
}

} // namespace espalier
