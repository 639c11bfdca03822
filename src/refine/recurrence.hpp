// Common parts of the methods with short recurrences. The residual of a column is updated by recurrence, and
// compared with the true residual before the method stops. The recurrence works on A d = r / |r| with x + |r|
// d the iterate, so that inner products of very large or small right-hand sides neither overflow nor vanish.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "refine/krylov.hpp"

namespace espalier {

/// One column.
template <class T> class Recurrence {
  public:
    Recurrence(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : column_(&column), r_(problem.n()), x_(problem.n()) {}

    [[nodiscard]] bool active() const { return active_; }
    /// Whether the recurrence has started and done no iteration yet.
    [[nodiscard]] bool is_fresh() const { return fresh_; }
    std::vector<T>& r() { return r_; }
    [[nodiscard]] KrylovColumn<T>& column() const { return *column_; }

    /// x += factor d, d in the scale of r.
    void add_to_x(T factor, std::span<T const> d) { add_scaled<T>(factor * scale_, d, x_); }

    /// Infinity norms of the local rows of r and x.
    [[nodiscard]] std::array<double, 2> norms() const {
        return {static_cast<double>(scale_) * infinity_norm<T>(std::span<T const>(r_)),
                infinity_norm<T>(std::span<T const>(x_))};
    }
    /// Accepts x and r of the next iteration with this backward error. Keeps the best x, and requests a
    /// restart if the error by recurrence is small enough.
    void finish_iteration(KrylovProblem<T> const& problem, double error) {
        fresh_ = false;
        column_->errors.push_back(error);
        if (error < best_) {
            best_ = error;
            std::ranges::copy(x_, column_->x.begin());
        }
        bool const last = static_cast<int>(column_->errors.size()) >= problem.max_iterations;
        if (!std::isfinite(error) || last)
            active_ = false;
        else
            begins_ = error <= problem.target;
    }

    /// Called on breakdown: requests a restart from the best x, unless the recurrence has just started there.
    /// Returns false.
    bool break_down() {
        if (fresh_)
            active_ = false;
        else
            begins_ = true;
        return false;
    }
    [[nodiscard]] bool begins() const { return active_ && begins_; }

    /// Restarts from the best x with its true residual `r` of 2-norm `length`, if there was progress.
    void begin(KrylovProblem<T> const& problem, std::span<T const> r, double error, Real<T> length) {
        std::ranges::copy(column_->x, x_.begin());
        best_ = error;
        scale_ = length;
        active_ = best_ > problem.target && best_ < 0.9 * error_at_begin_ && std::isfinite(scale_);
        error_at_begin_ = best_;
        fresh_ = true;
        begins_ = false;
        if (active_) std::ranges::transform(r, r_.begin(), [&](T value) { return value / scale_; });
    }

  private:
    KrylovColumn<T>* column_; // its x is the best so far
    std::vector<T> r_, x_;
    Real<T> scale_ = 0;
    double best_ = 0;
    double error_at_begin_ = infinity;
    bool active_ = true;
    bool fresh_ = true;
    bool begins_ = true;
};

/// Advances all columns, whose states are recurrences.
template <class T, class State> class LockStep : KrylovBlock<T, State> {
    using Base = KrylovBlock<T, State>;
    using Base::active_, Base::beginning_, Base::block_, Base::errors_, Base::image_, Base::lengths_,
        Base::problem_;

  public:
    LockStep(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) : Base(problem, columns) {
        begin();
    }

    [[nodiscard]] bool done() const { return active_.empty(); }
    [[nodiscard]] std::vector<State*> const& active() const { return active_; }

    /// Ends a step. `finished` are the states that have done an iteration.
    void finish(std::vector<State*> const& finished) {
        auto const count = std::ssize(finished);
        auto const norms = problem_.rows().reduction().max(2 * count, [&](std::span<double> largest) {
            check(problem_.interrupt);
            for (Index k = 0; k < count; ++k)
                std::ranges::copy(finished[k]->norms(), largest.begin() + 2 * k);
        });
        for (Index k = 0; k < count; ++k)
            finished[k]->finish_iteration(problem_, normwise_backward_error(problem_.matrix_norm,
                                                                            norms[2 * k], norms[2 * k + 1],
                                                                            finished[k]->column().b_norm));
        beginning_.clear();
        for (State* state : active_)
            if (state->begins()) beginning_.push_back(state);
        this->measure_best();
        begin();
    }

    /// Packs vector(state) of `which` states; then M^-1 and op(A) times that.
    template <class Vector> void pack(std::vector<State*> const& which, Vector vector) {
        for (Index c = 0; c < std::ssize(which); ++c) block_.put(c, vector(*which[c]));
    }
    void solve(Index columns) { problem_.solve(block_, columns); }
    void product(Index columns) { problem_.product(block_, image_, columns); }
    [[nodiscard]] std::span<T> block(Index c) { return block_.column(c); }
    [[nodiscard]] std::span<T> image(Index c) { return image_.column(c); }

  private:
    void begin() {
        auto const count = std::ssize(beginning_);
        if (count > 0)
            two_norms<T>(problem_.rows(), std::span(lengths_).first(count),
                         [&](Index c) { return image_.column(c); });
        for (Index c = 0; c < count; ++c)
            beginning_[c]->begin(problem_, image_.column(c), errors_[c], lengths_[c]);
        this->drop_inactive();
    }
};

} // namespace espalier
