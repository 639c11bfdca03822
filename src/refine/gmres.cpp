// GMRES on a block of right-hand sides, each with its own Arnoldi basis.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/buffer.hpp"
#include "kernels/blas.hpp"
#include "refine/krylov.hpp"

namespace espalier {

namespace {

// The Givens rotation [c s; -conj(s) c] that maps (f, g) to (r, 0).
template <class T> struct Rotation {
    Real<T> c = 1;
    T s = T(0);

    Rotation(T f, T g) {
        Real<T> const length = std::hypot(std::abs(f), std::abs(g));
        if (std::abs(f) == 0) {
            c = 0;
            s = length == 0 ? T(0) : conj(g) / length;
            return;
        }
        c = std::abs(f) / length;
        s = (f / std::abs(f)) * conj(g) / length;
    }
    void apply(T& f, T& g) const {
        T const upper = c * f + s * g;
        g = -conj(s) * f + c * g;
        f = upper;
    }
};

// One right-hand side. It runs cycles of at most m steps. A step orthogonalizes w = A M^-1 v for the last
// basis vector v against the basis (project, subtract_and_project, subtract_again) and appends it (extend).
// At the end of a cycle, combine() and correct() compute the iterate.
template <class T> class GmresColumn {
  public:
    GmresColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : problem_(&problem), column_(&column), residual_(problem.n()) {}

    [[nodiscard]] KrylovColumn<T>& column() { return *column_; }
    [[nodiscard]] bool active() const { return active_; }
    [[nodiscard]] bool cycle_is_over() const { return over_; }
    [[nodiscard]] std::span<T const> last_basis_vector() const { return basis_vector(steps_); }
    [[nodiscard]] std::span<T const> residual() const { return residual_; }
    [[nodiscard]] double error() const { return error_; }
    [[nodiscard]] Index basis_size() const { return steps_ + 1; }

    // Accepts x with this residual and backward error if it is better than the best so far.
    void start(std::span<T const> residual, double error) {
        copy_rows<T>(workers(), residual, residual_);
        error_ = error;
        active_ = std::isfinite(error_) && error_ > problem_->target;
    }

    // Allocates the memory for a cycle of an active column. The basis uses it as it grows.
    void reserve_cycle() {
        Index const left = problem_->max_iterations - std::ssize(column_->errors);
        longest_ = std::min<Index>(problem_->restart, left);
        if (longest_ <= 0) return;
        basis_.grow((longest_ + 1) * problem_->n() * static_cast<Index>(sizeof(T)));
        partial_.resize(RowWorkers::num_chunks(problem_->n()) * (longest_ + 2));
        hessenberg_.clear();
        hessenberg_.reserve((longest_ + 1) * (longest_ + 2));
        rotations_.clear();
        rotations_.reserve(longest_);
        rhs_.clear();
        rhs_.reserve(longest_ + 1);
        projection_.resize(longest_ + 2);
        sums_.resize(longest_ + 2);
        column_->errors.reserve(column_->errors.size() + longest_);
    }

    // Starts a cycle, given the 2-norm `beta` of the residual and the infinity norm of x.
    void begin_cycle(Real<T> beta, double x_norm) {
        beta_ = beta;
        active_ = longest_ > 0 && beta_ > 0 && std::isfinite(beta_);
        if (!active_) return;
        // A residual of this size meets the target, so the cycle can stop without computing x, because the
        // infinity norm is at most the 2-norm. |x| counts only if x is a meaningful iterate, because a very
        // large x would make any residual look small.
        double const size_of_x = error_ < largest_useful_error ? problem_->matrix_norm * x_norm : 0.0;
        wanted_ = static_cast<Real<T>>(problem_->target * (size_of_x + column_->b_norm));
        steps_ = 0;
        over_ = false;
        append(residual_, beta_);
        rhs_.assign(1, T(beta_));
    }

    // Computes the contribution of the local rows to h = V^H w.
    void project(std::span<T const> w, std::span<Wide<T>> h) {
        for_each_chunk([&](int chunk, IndexRange rows) {
            auto const sums = partial(chunk);
            std::ranges::fill(sums, T(0));
            add_projection(rows_of(w, rows), rows, sums);
        });
        add_partial(h);
    }
    // Sets h for the first pass.
    void take_first(std::span<Wide<T> const> h) {
        take(h);
        std::ranges::copy(projection_, sums_.begin());
    }
    // w -= V h, and computes the contribution of the local rows to V^H w and, as the last number, to |w|^2.
    // Reads the basis once.
    void subtract_and_project(std::span<T> w, std::span<Wide<T>> again) {
        for_each_chunk([&](int chunk, IndexRange rows) {
            constexpr Index rows_in_cache = 1024;
            auto const sums = partial(chunk);
            std::ranges::fill(sums, T(0));
            for (Index first = rows.first; first < rows.last; first += rows_in_cache) {
                IndexRange const part{first, std::min(first + rows_in_cache, rows.last)};
                auto const w_part = rows_of(w, part);
                subtract_combination(w_part, part);
                add_projection(w_part, part, sums);
                sums.back() += local_dot<T>(w_part, w_part);
            }
        });
        add_partial(again);
    }
    // Whether w has lost so much of its length in the first pass that rounding errors may spoil
    // orthogonality.
    [[nodiscard]] bool needs_second_pass(std::span<Wide<T> const> again) const {
        double lost = 0;
        for (T const value : std::span(projection_).first(basis_size())) lost += std::norm(Wide<T>(value));
        double const left = real_part(again.back());
        return !(left >= lost && std::isfinite(left));
    }
    // w -= V h with h = V^H w after the first pass.
    void subtract_again(std::span<T> w, std::span<Wide<T> const> h) {
        take(h);
        for (Index i = 0; i < basis_size(); ++i) sums_[i] += projection_[i];
        for_each_chunk([&](int, IndexRange rows) { subtract_combination(rows_of(w, rows), rows); });
    }

    // Adds basis vector steps + 1 and a column of the Hessenberg matrix, given w and its 2-norm.
    void extend(std::span<T const> w, Real<T> length) {
        over_ = true;
        if (!std::isfinite(length)) return; // the step is useless
        sums_[steps_ + 1] = T(length);
        rotate();
        ++steps_;
        column_->errors.push_back(error_ * static_cast<double>(std::abs(rhs_[steps_]) / beta_));
        if (!(length > 0)) return; // the space is exhausted
        append(w, length);
        over_ = std::abs(rhs_[steps_]) <= wanted_ || steps_ == longest_;
    }

    // Computes V y with R y = rhs. M^-1 is applied to it next.
    void combine(std::span<T> step) {
        std::span<T> const y = std::span(projection_).first(steps_);
        std::copy_n(rhs_.begin(), steps_, y.begin());
        for (Index i = steps_ - 1; i >= 0; --i) {
            for (Index j = i + 1; j < steps_; ++j) y[i] -= r(i, j) * y[j];
            y[i] = r(i, i) == T(0) ? T(0) : y[i] / r(i, i);
        }
        for_each_chunk([&](int, IndexRange rows) {
            auto const part = rows_of(step, rows);
            std::ranges::fill(part, T(0));
            if (steps_ > 0) gemv<T>(Op::none, T(1), basis(steps_, rows), y, T(0), part);
        });
    }

    // Accepts x with this residual and backward error if it is better. The column remains active if another
    // cycle is worthwhile.
    void correct(std::span<T const> x, std::span<T const> residual, double error) {
        active_ = false;
        if (steps_ == 0) return;
        column_->errors.back() = error;
        if (!(error < error_)) return;
        copy_rows<T>(workers(), x, column_->x);
        bool const stagnates = error > 0.9 * error_;
        start(residual, error);
        active_ = active_ && !stagnates;
    }

  private:
    void append(std::span<T const> w, Real<T> length) {
        T* const to = basis_.as<T>() + steps_ * problem_->n();
        for_each_chunk([&](int, IndexRange rows) {
            for (Index i = rows.first; i < rows.last; ++i) to[i] = w[i] / length;
        });
    }

    [[nodiscard]] RowWorkers const& workers() const { return problem_->workers(); }
    template <class Body> void for_each_chunk(Body const& body) const {
        workers().for_each_chunk(problem_->n(), body);
    }
    // The sums of a chunk of rows: one for each basis vector and another one.
    [[nodiscard]] std::span<T> partial(int chunk) {
        return std::span(partial_).subspan(chunk * (longest_ + 2), basis_size() + 1);
    }
    // Adds up the first sums of all chunks.
    void add_partial(std::span<Wide<T>> result) {
        std::ranges::fill(result, Wide<T>(0));
        for (int chunk = 0; chunk < RowWorkers::num_chunks(problem_->n()); ++chunk)
            for (Index i = 0; i < std::ssize(result); ++i) result[i] += Wide<T>(partial(chunk)[i]);
    }
    void take(std::span<Wide<T> const> h) {
        std::ranges::transform(h, projection_.begin(), [](Wide<T> value) { return static_cast<T>(value); });
    }
    // sums += V^H w for some rows.
    void add_projection(std::span<T const> w, IndexRange rows, std::span<T> sums) const {
        gemv<T>(Op::adjoint, T(1), basis(basis_size(), rows), w, T(1), sums.first(basis_size()));
    }
    // w -= V h for some rows.
    void subtract_combination(std::span<T> w, IndexRange rows) const {
        gemv<T>(Op::none, T(-1), basis(basis_size(), rows), std::span(projection_).first(basis_size()), T(1),
                w);
    }

    // Rotates the column of the Hessenberg matrix in sums_ to a column of R, and applies the rotation to the
    // right-hand side.
    void rotate() {
        for (Index i = 0; i < steps_; ++i) rotations_[i].apply(sums_[i], sums_[i + 1]);
        Rotation<T> const& rotation = rotations_.emplace_back(sums_[steps_], sums_[steps_ + 1]);
        rotation.apply(sums_[steps_], sums_[steps_ + 1]);
        hessenberg_.insert(hessenberg_.end(), sums_.begin(), sums_.begin() + longest_ + 1);
        rhs_.push_back(-conj(rotation.s) * rhs_[steps_]);
        rhs_[steps_] = rotation.c * rhs_[steps_];
    }

    [[nodiscard]] T r(Index i, Index j) const { return hessenberg_[i + j * (longest_ + 1)]; }
    [[nodiscard]] std::span<T const> basis_vector(Index k) const {
        return {basis_.as<T>() + k * problem_->n(), static_cast<std::size_t>(problem_->n())};
    }
    [[nodiscard]] MatrixView<T const> basis(Index vectors, IndexRange rows) const {
        return {basis_.as<T>() + rows.first, rows.size(), vectors, problem_->n()};
    }

    KrylovProblem<T> const* problem_;
    KrylovColumn<T>* column_;
    std::vector<T> residual_; // residual of column_->x
    double error_ = 0;        // normwise backward error of column_->x
    bool active_ = false;
    bool over_ = false;
    Index steps_ = 0; // steps of this cycle
    Index longest_ = 0;
    Real<T> beta_ = 0; // |residual| at the start of the cycle
    Real<T> wanted_ = 0;
    Buffer basis_;              // n x (steps + 1)
    std::vector<T> hessenberg_; // (longest + 1) x steps, upper triangle: R after the rotations
    std::vector<Rotation<T>> rotations_;
    std::vector<T> rhs_; // right-hand side of the least-squares problem; |rhs[steps]| is its residual
    std::vector<T> projection_, sums_; // V^H w of this step: from one pass, and in total
    std::vector<T> partial_;           // V^H w and |w|^2 of each chunk of rows
};

template <class T> class Gmres : KrylovBlock<T, GmresColumn<T>> {
    using Column = GmresColumn<T>;
    using Base = KrylovBlock<T, Column>;
    using Base::active_, Base::beginning_, Base::block_, Base::errors_, Base::image_, Base::lengths_,
        Base::problem_;

  public:
    Gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) : Base(problem, columns) {
        for (Index c = 0; c < std::ssize(active_); ++c) active_[c]->start(image_.column(c), errors_[c]);
        begin_cycles();
    }

    void run() {
        while (!active_.empty()) {
            auto const count = std::ssize(active_);
            for (Index c = 0; c < count; ++c)
                block_.put(problem_.workers(), c, active_[c]->last_basis_vector());
            problem_.solve(block_, count);
            problem_.product(block_, image_, count);
            orthogonalize();
            two_norms<T>(rows(), std::span(lengths_).first(count), [&](Index c) { return image_.column(c); });
            beginning_.clear();
            for (Index c = 0; c < count; ++c) {
                active_[c]->extend(image_.column(c), lengths_[c]);
                if (active_[c]->cycle_is_over()) beginning_.push_back(active_[c]);
            }
            if (!beginning_.empty()) end_cycles();
        }
    }

  private:
    [[nodiscard]] DistributedRows const& rows() const { return problem_.rows(); }

    // Runs the next cycle of the columns that begin and are still active.
    void begin_cycles() {
        auto const count = std::ssize(beginning_);
        rows().reduction().all_succeed([&] {
            for (Column* state : beginning_)
                if (state->active()) state->reserve_cycle();
        });
        two_norms<T>(rows(), std::span(lengths_).first(count),
                     [&](Index c) { return beginning_[c]->residual(); });
        auto const x_norms = rows().reduction().max(count, [&](std::span<double> largest) {
            for (Index c = 0; c < count; ++c)
                largest[c] = infinity_norm<T>(problem_.workers(), beginning_[c]->column().x);
        });
        for (Index c = 0; c < count; ++c)
            if (beginning_[c]->active()) beginning_[c]->begin_cycle(lengths_[c], x_norms[c]);
        this->drop_inactive();
    }

    // w := (I - V V^H) w for all columns.
    void orthogonalize() {
        Index total = 0;
        for (Column const* state : active_) total += state->basis_size() + 1;
        auto const for_each = [&](auto values, auto const& visit) {
            for (Index c = 0; c < std::ssize(active_); ++c) {
                Index const size = active_[c]->basis_size() + 1;
                visit(*active_[c], image_.column(c), values.first(size));
                values = values.subspan(size);
            }
        };
        auto& reduction = rows().reduction();
        auto const sum = [&](auto const& visit) {
            return reduction.template sum<Wide<T>>(total, [&](std::span<Wide<T>> values) {
                check(problem_.interrupt);
                for_each(values, visit);
            });
        };
        auto const first = sum([](Column& state, std::span<T> w, std::span<Wide<T>> h) {
            state.project(w, h.first(state.basis_size()));
        });
        for_each(first, [](Column& state, std::span<T>, std::span<Wide<T> const> h) {
            state.take_first(h.first(state.basis_size()));
        });
        auto const again = sum(
            [](Column& state, std::span<T> w, std::span<Wide<T>> h) { state.subtract_and_project(w, h); });
        for_each(again, [](Column& state, std::span<T> w, std::span<Wide<T> const> h) {
            if (state.needs_second_pass(h)) state.subtract_again(w, h.first(state.basis_size()));
        });
    }

    void end_cycles() {
        auto const count = std::ssize(beginning_);
        for (Index c = 0; c < count; ++c) beginning_[c]->combine(block_.column(c));
        problem_.solve(block_, count);
        for (Index c = 0; c < count; ++c)
            add_rows<T>(problem_.workers(), beginning_[c]->column().x, block_.column(c));
        this->measure();
        for (Index c = 0; c < count; ++c)
            beginning_[c]->correct(block_.column(c), image_.column(c), errors_[c]);
        begin_cycles();
    }
};

} // namespace

template <class T> void gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    Gmres<T>(problem, columns).run();
}

ESPALIER_INSTANTIATE_FUNCTION(gmres)

} // namespace espalier
