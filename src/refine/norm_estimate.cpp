#include "refine/norm_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "refine/vectors.hpp"

namespace espalier {

namespace {

constexpr int most_rounds = 6;
constexpr std::uint64_t seed = 1;

// A row and its size in the current block.
struct Candidate {
    double height = 0;
    Index number = -1; // -1: none
    Index local = -1;  // index at its owner
    int owner = 0;
};

// The state of the algorithm for one matrix. start() fills its columns of the block. After the product with
// B, take_product() reads them and make_signs() prepares the product with B^H, which choose() reads.
template <class T> class NormEstimate {
  public:
    NormEstimate(DistributedRows const& rows, Index width)
        : rows_(&rows), m_(rows.count()), width_(width), drawn_(rows.order() * std::max<Index>(width - 2, 0)),
          heights_(m_), order_(m_) {
        units_.reserve(width);
        tried_.reserve(most_rounds * width);
    }

    [[nodiscard]] double norm() const { return norm_; }
    [[nodiscard]] bool is_exact() const { return width_ == rows_->order(); }

    void start(std::span<T> run) const {
        std::ranges::fill(run, T(0));
        auto const n = static_cast<Real<T>>(rows_->order());
        for (Index c = 0; c < std::ssize(units_); ++c)
            if (units_[c].owner == rows_->comm().rank()) run[c * m_ + units_[c].local] = T(1);
        for (Index l = 0; l < m_ && units_.empty(); ++l) {
            Index const i = rows_->number(l);
            if (is_exact()) {
                run[i * m_ + l] = T(1);
                continue;
            }
            // The start vectors have 1-norm one. They are all ones; alternating signs with growing weights
            // (Higham 1988), against unlucky cancellation; and random signs.
            Real<T> const weight = 1 + static_cast<Real<T>>(i) / (n - 1);
            run[l] = T(1 / n);
            if (width_ > 1) run[m_ + l] = T((i % 2 ? -weight : weight) * 2 / (3 * n));
            for (Index c = 2; c < width_; ++c) run[c * m_ + l] = random_sign(i * (width_ - 2) + c - 2) / n;
        }
    }

    // Reads the 1-norms of the columns. Returns false if no improvement is expected.
    bool take_product(std::span<double const> norms) {
        bool improved = false;
        for (Index c = 0; c < width_; ++c) {
            if (!std::isfinite(norms[c])) {
                norm_ = infinity;
                return false;
            }
            if (norms[c] <= norm_) continue;
            norm_ = norms[c];
            improved = true;
            if (!units_.empty()) best_ = units_[c];
        }
        return !(is_exact() || ++rounds_ == most_rounds || !(improved || rounds_ < 2));
    }

    void make_signs(std::span<T> run) const {
        for (T& value : run) value = value == T(0) ? T(1) : value / std::abs(value);
    }
    // The local part of the inner product of two columns of signs.
    [[nodiscard]] Wide<T> product(std::span<T const> run, Index c, Index earlier) const {
        Wide<T> sum(0);
        for (Index l = 0; l < m_; ++l) sum += Wide<T>(conj(run[earlier * m_ + l]) * run[c * m_ + l]);
        return sum;
    }
    // Replaces a column of signs that is parallel to an earlier one. `products` are the products of column c
    // with the columns before it.
    void replace_if_parallel(std::span<T> run, Index c, std::span<Wide<T> const> products) {
        auto const n = static_cast<double>(rows_->order());
        if (std::ranges::none_of(products, [&](auto value) { return std::abs(value) >= n * (1 - 1e-5); }))
            return;
        for (Index l = 0; l < m_; ++l) run[c * m_ + l] = random_sign(drawn_ + rows_->number(l));
        drawn_ += rows_->order();
    }

    // The length of a message with the candidates of all processes and the height of the best unit vector.
    [[nodiscard]] Index message_size() const { return rows_->comm().size() * (1 + 3 * width_) + 1; }
    // Writes the largest rows of B^H S on this process to its part of `message`.
    void send_candidates(std::span<T const> run, std::span<double> message) {
        std::ranges::fill(heights_, Real<T>(0));
        for (Index c = 0; c < width_; ++c)
            for (Index l = 0; l < m_; ++l) {
                Real<T> const size = std::abs(run[c * m_ + l]);
                heights_[l] = std::isnan(size) ? static_cast<Real<T>>(infinity) : std::max(heights_[l], size);
            }
        int const rank = rows_->comm().rank();
        if (best_.number >= 0 && best_.owner == rank)
            message.back() = static_cast<double>(heights_[best_.local]);
        double* to = message.data() + rank * (1 + 3 * width_);
        if (m_ > 0) *to = static_cast<double>(std::ranges::max(heights_));
        for (Candidate const& tried : tried_)
            if (tried.owner == rank) heights_[tried.local] = -1;
        std::iota(order_.begin(), order_.end(), Index(0));
        auto const middle = order_.begin() + std::min(width_, m_);
        std::ranges::partial_sort(order_, middle, [&](Index i, Index j) {
            return heights_[i] > heights_[j] ||
                   (heights_[i] == heights_[j] && rows_->number(i) < rows_->number(j));
        });
        for (auto l = order_.begin(); l != middle && heights_[*l] >= 0; ++l) {
            *++to = static_cast<double>(heights_[*l]);
            *++to = static_cast<double>(rows_->number(*l));
            *++to = static_cast<double>(*l + 1);
        }
    }
    // Selects the unit vectors of the largest rows of all processes. Returns false if all have been tried, or
    // if a row is not finite.
    bool choose(std::span<double const> message) {
        double highest = 0;
        units_.clear();
        for (int owner = 0; owner < rows_->comm().size(); ++owner) {
            double const* from = message.data() + owner * (1 + 3 * width_);
            highest = std::max(highest, *from++);
            for (Index k = 0; k < width_; ++k, from += 3)
                if (from[2] > 0)
                    insert({from[0], static_cast<Index>(from[1]), static_cast<Index>(from[2]) - 1, owner});
        }
        if (!std::isfinite(highest)) {
            norm_ = infinity;
            return false;
        }
        if (best_.number >= 0 && highest <= message.back()) return false;
        if (std::ssize(units_) < width_) return false;
        tried_.insert(tried_.end(), units_.begin(), units_.end());
        return true;
    }

  private:
    [[nodiscard]] static T random_sign(Index k) { return SplitMix64::at(seed, k) >> 63 ? T(-1) : T(1); }

    // Keeps the `width` largest rows, sorted.
    void insert(Candidate const& candidate) {
        auto const place = std::ranges::find_if(units_, [&](Candidate const& other) {
            return candidate.height > other.height ||
                   (candidate.height == other.height && candidate.number < other.number);
        });
        if (place == units_.end() && std::ssize(units_) == width_) return;
        if (std::ssize(units_) < width_) {
            units_.insert(place, candidate);
            return;
        }
        std::move_backward(place, units_.end() - 1, units_.end());
        *place = candidate;
    }

    DistributedRows const* rows_;
    Index m_;
    Index width_;
    Index drawn_; // number of random signs drawn
    double norm_ = 0;
    int rounds_ = 0;
    Candidate best_;
    std::vector<Candidate> units_; // unit vectors of the next block; empty in the first round
    std::vector<Candidate> tried_;
    std::vector<Real<T>> heights_;
    std::vector<Index> order_;
};

// The matrices that still advance, and the block of their columns, matrix by matrix.
template <class T> class NormEstimates {
  public:
    NormEstimates(DistributedRows const& rows, Index count, Index width, Interrupt* interrupt)
        : reduction_(rows.reduction()), interrupt_(interrupt), m_(rows.count()),
          columns_(rows.order() <= exact_norm_up_to ? rows.order() : std::min(width, rows.order())) {
        reduction_.all_succeed([&] {
            result_.resize(count);
            for (Index k = 0; k < count; ++k) estimates_.emplace_back(rows, columns_);
            block_.resize(m_ * columns_ * count);
            active_.resize(count);
        });
        std::iota(active_.begin(), active_.end(), Index(0));
    }

    std::vector<double> run(BlockProduct<T> const& multiply, BlockProduct<T> const& multiply_adjoint) {
        while (num_active() > 0) {
            for (Index place = 0; place < num_active(); ++place) estimate(place).start(run_at(place));
            multiply(used(), columns_, active_);
            take_products();
            if (num_active() == 0) break;
            for (Index place = 0; place < num_active(); ++place) estimate(place).make_signs(run_at(place));
            replace_parallel_signs();
            multiply_adjoint(used(), columns_, active_);
            choose_units();
        }
        std::ranges::transform(estimates_, result_.begin(), &NormEstimate<T>::norm);
        return std::move(result_);
    }

  private:
    [[nodiscard]] Index num_active() const { return std::ssize(active_); }
    [[nodiscard]] NormEstimate<T>& estimate(Index place) { return estimates_[active_[place]]; }
    // The columns of an active matrix.
    [[nodiscard]] std::span<T> run_at(Index place) {
        return std::span(block_).subspan(place * m_ * columns_, m_ * columns_);
    }
    [[nodiscard]] std::span<T> used() { return std::span(block_).first(num_active() * m_ * columns_); }

    // Keeps the active matrices, and their columns, for which continues(place) holds.
    template <class Continues> void keep(Continues const& continues) {
        Index left = 0;
        for (Index place = 0; place < num_active(); ++place) {
            if (!continues(place)) continue;
            if (left != place) std::ranges::copy(run_at(place), run_at(left).begin());
            active_[left++] = active_[place];
        }
        active_.resize(left);
    }

    void take_products() {
        auto const norms =
            reduction_.template sum<double>(columns_ * num_active(), [&](std::span<double> sums) {
                check(interrupt_);
                for (Index c = 0; c < std::ssize(sums); ++c)
                    sums[c] = local_one_norm<T>(std::span(block_).subspan(c * m_, m_));
            });
        keep([&](Index place) {
            return estimate(place).take_product(norms.subspan(place * columns_, columns_));
        });
    }

    // Replaces columns of signs that are parallel to earlier ones of the same matrix.
    void replace_parallel_signs() {
        Index const pairs = columns_ * (columns_ - 1) / 2;
        auto const products =
            reduction_.template sum<Wide<T>>(pairs * num_active(), [&](std::span<Wide<T>> sums) {
                for (Index place = 0, k = 0; place < num_active(); ++place)
                    for (Index c = 1; c < columns_; ++c)
                        for (Index earlier = 0; earlier < c; ++earlier)
                            sums[k++] = estimate(place).product(run_at(place), c, earlier);
            });
        for (Index place = 0; place < num_active(); ++place)
            for (Index c = 1; c < columns_; ++c)
                estimate(place).replace_if_parallel(run_at(place), c,
                                                    products.subspan(place * pairs + c * (c - 1) / 2, c));
    }

    void choose_units() {
        Index const size = estimate(0).message_size();
        auto const message =
            reduction_.template sum<double>(size * num_active(), [&](std::span<double> numbers) {
                check(interrupt_);
                for (Index place = 0; place < num_active(); ++place)
                    estimate(place).send_candidates(run_at(place), numbers.subspan(place * size, size));
            });
        keep([&](Index place) { return estimate(place).choose(message.subspan(place * size, size)); });
    }

    RowReduction& reduction_;
    Interrupt* interrupt_;
    Index m_;       // rows of this process
    Index columns_; // of each matrix
    std::vector<NormEstimate<T>> estimates_;
    std::vector<T> block_;
    std::vector<Index> active_;
    std::vector<double> result_;
};

} // namespace

template <class T> std::vector<double> estimate_one_norms(DistributedRows const& rows, Index count,
                                                          Index width, BlockProduct<T> const& multiply,
                                                          BlockProduct<T> const& multiply_adjoint,
                                                          Interrupt* interrupt) {
    return NormEstimates<T>(rows, count, width, interrupt).run(multiply, multiply_adjoint);
}

ESPALIER_INSTANTIATE_FUNCTION(estimate_one_norms)

} // namespace espalier
