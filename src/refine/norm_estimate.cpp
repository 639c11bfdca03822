#include "refine/norm_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/random.hpp"

namespace espalier {

namespace {

constexpr int most_rounds = 6;
constexpr Index exact_up_to = 8; // rows

// One matrix's way through the algorithm: start() fills its run of the block, which then is multiplied by B
// and given to take_product(); that leaves signs, to be multiplied by B^H and given to choose().
template <class T> class NormEstimate {
  public:
    NormEstimate(std::size_t n, std::size_t width) : n_(n), width_(width), random_(1) {}

    [[nodiscard]] double norm() const { return norm_; }

    void start(std::span<T> run) {
        std::fill(run.begin(), run.end(), T(0));
        if (!units_.empty() || width_ == n_) {
            for (std::size_t c = 0; c < width_; ++c) run[c * n_ + (units_.empty() ? c : units_[c])] = T(1);
            return;
        }
        // All ones; alternating signs with growing weights (Higham 1988), against unlucky cancellation; and
        // random signs. Each of 1-norm one.
        auto const n = static_cast<Real<T>>(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            Real<T> const weight = 1 + static_cast<Real<T>>(i) / (n - 1);
            run[i] = T(1 / n);
            if (width_ > 1) run[n_ + i] = T((i % 2 ? -weight : weight) * 2 / (3 * n));
            for (std::size_t c = 2; c < width_; ++c) run[c * n_ + i] = random_sign() / n;
        }
    }

    // False when nothing better is to be expected.
    bool take_product(std::span<T> run) {
        bool improved = false;
        for (std::size_t c = 0; c < width_; ++c) {
            double sum = 0;
            for (T const value : run.subspan(c * n_, n_)) sum += static_cast<double>(std::abs(value));
            if (!std::isfinite(sum)) {
                norm_ = std::numeric_limits<double>::infinity();
                return false;
            }
            if (sum <= norm_) continue;
            norm_ = sum;
            improved = true;
            if (!units_.empty()) best_unit_ = units_[c];
        }
        if (width_ == n_ || ++rounds_ == most_rounds || !(improved || rounds_ < 2)) return false;
        for (std::size_t c = 0; c < width_; ++c) {
            auto const column = run.subspan(c * n_, n_);
            for (T& value : column) value = value == T(0) ? T(1) : value / std::abs(value);
            replace_if_parallel(run, c);
        }
        return true;
    }

    // The unit vectors of the rows of B^H S that are largest; false when they have all been tried.
    bool choose(std::span<T const> run) {
        std::vector<Real<T>> height(n_, Real<T>(0));
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t c = 0; c < width_; ++c)
                height[i] = std::max(height[i], std::abs(run[c * n_ + i])); // a NaN here shows in the norm
        auto const highest = *std::max_element(height.begin(), height.end());
        if (!units_.empty() && best_unit_ < n_ && highest <= height[best_unit_]) return false;
        if (n_ - tried_.size() < width_) return false;
        for (std::size_t const tried : tried_) height[tried] = -1;
        std::vector<std::size_t> order(n_);
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(width_) - 1, order.end(),
                         [&](std::size_t i, std::size_t j) {
                             return height[i] > height[j] || (height[i] == height[j] && i < j);
                         });
        order.resize(width_);
        units_ = order;
        tried_.insert(tried_.end(), order.begin(), order.end());
        return true;
    }

  private:
    T random_sign() { return random_.next() >> 63 ? T(-1) : T(1); }

    // A column of signs that only repeats an earlier one finds nothing new.
    void replace_if_parallel(std::span<T> run, std::size_t c) {
        for (std::size_t earlier = 0; earlier < c; ++earlier) {
            T product(0);
            for (std::size_t i = 0; i < n_; ++i) product += conj(run[earlier * n_ + i]) * run[c * n_ + i];
            if (std::abs(product) < static_cast<Real<T>>(n_) * (1 - Real<T>(1e-5))) continue;
            for (T& value : run.subspan(c * n_, n_)) value = random_sign();
            return;
        }
    }

    std::size_t n_;
    std::size_t width_;
    SplitMix64 random_; // of a fixed seed
    double norm_ = 0;
    int rounds_ = 0;
    std::size_t best_unit_ = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> units_; // of the next block; none yet in the first round
    std::vector<std::size_t> tried_;
};

} // namespace

template <class T> std::vector<double> estimate_one_norms(Index n, std::size_t count, Index width,
                                                          BlockProduct<T> const& multiply,
                                                          BlockProduct<T> const& multiply_adjoint,
                                                          Interrupt* interrupt) {
    auto const rows = static_cast<std::size_t>(n);
    auto const columns = static_cast<std::size_t>(n <= exact_up_to ? n : std::min(width, n));
    std::size_t const length = rows * columns;
    std::vector<NormEstimate<T>> estimates(count, NormEstimate<T>(rows, columns));
    std::vector<T> block(length * count);
    auto const run = [&](std::size_t place) { return std::span<T>(block).subspan(place * length, length); };
    std::vector<std::size_t> active(count);
    std::iota(active.begin(), active.end(), std::size_t(0));

    while (!active.empty()) {
        check(interrupt);
        for (std::size_t place = 0; place < active.size(); ++place)
            estimates[active[place]].start(run(place));
        multiply(std::span<T>(block).first(active.size() * length), active);
        std::vector<std::size_t> going_on;
        for (std::size_t place = 0; place < active.size(); ++place) {
            if (!estimates[active[place]].take_product(run(place))) continue;
            if (going_on.size() != place)
                std::copy_n(run(place).begin(), length, run(going_on.size()).begin());
            going_on.push_back(active[place]);
        }
        active.clear();
        if (going_on.empty()) break;
        check(interrupt);
        multiply_adjoint(std::span<T>(block).first(going_on.size() * length), going_on);
        for (std::size_t place = 0; place < going_on.size(); ++place)
            if (estimates[going_on[place]].choose(run(place))) active.push_back(going_on[place]);
    }
    std::vector<double> norms;
    for (auto const& estimate : estimates) norms.push_back(estimate.norm());
    return norms;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::vector<double> estimate_one_norms<T>(Index, std::size_t, Index, BlockProduct<T> const&,    \
                                                       BlockProduct<T> const&, Interrupt*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
