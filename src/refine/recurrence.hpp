// What the methods of short recurrences share: a right-hand side whose residual is kept by recurrence and
// compared with the true one before it is believed. The recurrence works on A d = r / |r| with x + |r| d the
// iterate, so that inner products of very large or small right-hand sides neither overflow nor vanish.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix/norms.hpp"
#include "refine/krylov.hpp"

namespace espalier {

template <class T> class Recurrence {
  public:
    Recurrence(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : problem_(problem), column_(column), b_norm_(infinity_norm<T>(column.b)), r_(problem.n()),
          x_(column.x.begin(), column.x.end()) {
        residual<T>(problem.a, x_, column.b, r_, 1, problem.op);
        double const error = normwise_backward_error<T>(problem.matrix_norm, r_, x_, column.b, 1);
        if (!(error < worse_than_a_guess)) std::fill(column.x.begin(), column.x.end(), T(0));
        begin();
    }

    [[nodiscard]] bool active() const { return active_; }
    /// The recurrence has begun and has done no iteration yet.
    [[nodiscard]] bool is_fresh() const { return fresh_; }
    std::vector<T>& r() { return r_; }

    /// x += factor d, d in the scale of r.
    void add_to_x(T factor, std::span<T const> d) { add_scaled<T>(factor * scale_, d, x_); }

    /// To be called when x and r are those of the next iteration. Keeps the best x, and begins anew where the
    /// method believes that it has arrived.
    void finish_iteration() {
        fresh_ = false;
        double const r_norm = static_cast<double>(scale_) * infinity_norm<T>(std::span<T const>(r_));
        double const error = normwise_backward_error(problem_.matrix_norm, r_norm,
                                                     infinity_norm<T>(std::span<T const>(x_)), b_norm_);
        column_.errors.push_back(error);
        if (error < best_) {
            best_ = error;
            std::copy(x_.begin(), x_.end(), column_.x.begin());
        }
        bool const last = static_cast<int>(column_.errors.size()) >= problem_.max_iterations;
        if (!std::isfinite(error) || last)
            active_ = false;
        else if (error <= problem_.target)
            begin();
    }

    /// To be called when the recurrence cannot go on: begins anew from the best x, unless that is where it
    /// came from.
    void break_down() {
        if (fresh_)
            active_ = false;
        else
            begin();
    }

  private:
    // From the true residual of the best x; not again without progress.
    void begin() {
        std::copy(column_.x.begin(), column_.x.end(), x_.begin());
        residual<T>(problem_.a, x_, column_.b, r_, 1, problem_.op);
        best_ = normwise_backward_error<T>(problem_.matrix_norm, r_, x_, column_.b, 1);
        scale_ = norm2<T>(r_);
        active_ = best_ > problem_.target && best_ < 0.9 * error_at_begin_ && std::isfinite(scale_);
        error_at_begin_ = best_;
        fresh_ = true;
        if (active_)
            for (T& value : r_) value /= scale_;
    }

    KrylovProblem<T> const& problem_;
    KrylovColumn<T>& column_; // its x is the best so far
    double b_norm_;
    std::vector<T> r_, x_;
    Real<T> scale_ = 0;
    double best_ = 0;
    double error_at_begin_ = std::numeric_limits<double>::infinity();
    bool active_ = false;
    bool fresh_ = true;
};

/// The states of all columns, and those of them that have something to do.
template <class T, class State> class LockStep {
  public:
    LockStep(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns)
        : block_(problem.n(), columns.size()), image_(problem.n(), columns.size()), problem_(problem) {
        states_.reserve(columns.size());
        for (auto& column : columns) active_.push_back(&states_.emplace_back(problem, column));
        drop_those_done();
    }

    [[nodiscard]] bool done() const { return active_.empty(); }
    [[nodiscard]] std::vector<State*> const& active() const { return active_; }
    void drop_those_done() {
        std::erase_if(active_, [](State* state) { return !state->recurrence().active(); });
    }

    /// Packs vector(state) of `which` states; then M^-1 and, with `product`, op(A) times that.
    template <class Vector> void pack(std::vector<State*> const& which, Vector vector) {
        for (std::size_t c = 0; c < which.size(); ++c) block_.put(c, vector(*which[c]));
    }
    void solve(std::size_t columns) { problem_.solve(block_.first(columns)); }
    void product(std::size_t columns) { problem_.product(block_.first(columns), image_.first(columns)); }
    [[nodiscard]] std::span<T> block(std::size_t c) { return block_.column(c); }
    [[nodiscard]] std::span<T> image(std::size_t c) { return image_.column(c); }

  private:
    std::vector<State> states_;
    std::vector<State*> active_;
    PackedColumns<T> block_, image_;
    KrylovProblem<T> const& problem_;
};

} // namespace espalier
