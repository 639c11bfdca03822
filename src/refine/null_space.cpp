#include "refine/null_space.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/random.hpp"
#include "kernels/blas.hpp"
#include "matrix/norms.hpp"
#include "refine/tall_block.hpp"

namespace espalier {

namespace {

constexpr Index dense_order = 32; // up to this order, all singular values are computed at once
constexpr int most_steps = 12;    // steps with a block of the same size
// Small but nonzero values do not make the block grow beyond this size.
constexpr Index largest_cautious_block = 64;

// An orthonormal block V of vectors that A makes small, sorted by ascending |A v|.
template <class T> class SmallVectors {
  public:
    SmallVectors(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse,
                 NullSpaceOptions const& options)
        : a_(a), rows_(a.rows()), apply_inverse_(apply_inverse), options_(options), m_(rows_.count()) {
        v_.rows = m_;
    }

    [[nodiscard]] Index size() const { return v_.cols; }
    /// The norms |A v|, ascending.
    [[nodiscard]] std::vector<double> const& values() const { return values_; }
    [[nodiscard]] Index null_vectors(double bound) const {
        return std::upper_bound(values_.begin(), values_.end(), bound) - values_.begin();
    }
    DenseMatrix<T> take(Index vectors) {
        v_.cols = vectors;
        v_.values.resize(v_.rows * vectors);
        return std::move(v_);
    }

    // Grows to `columns` vectors by adding random ones.
    void grow(Index columns) {
        rows_.reduction().all_succeed([&] {
            require_memory(columns);
            v_.values.resize(m_ * columns);
            for (; v_.cols < columns; ++v_.cols)
                for (Index l = 0; l < m_; ++l)
                    v_.column(v_.cols)[l] = random_scalar(v_.cols * rows_.order() + rows_.number(l));
        });
    }

    // Iterates until all vectors are null vectors, or the first vector that is not one has converged.
    void iterate(double bound) {
        step();
        for (int step = 0; step < most_steps; ++step) {
            Index const before = null_vectors(bound);
            std::vector<double> values_before;
            rows_.reduction().all_succeed([&] { values_before = values_; });
            improve();
            Index const now = null_vectors(bound);
            if (now == size()) return;
            if (now == before && values_[now] > 0.9 * values_before[now]) return;
        }
    }

    // Computes all singular vectors of A at once.
    void compute_all() {
        DenseMatrix<T> identity;
        rows_.reduction().all_succeed([&] {
            require_memory(rows_.order());
            identity = dense<T>(m_, rows_.order());
            for (Index l = 0; l < m_; ++l) identity.column(rows_.number(l))[l] = T(1);
        });
        project(identity, rows_.order());
    }

  private:
    // V := A~^-1 A~^-H V, then computes its values |A v|.
    void step() {
        DenseMatrix<T> space;
        rows_.reduction().all_succeed([&] { space = v_; });
        invert_twice(space, 0);
        project(space, size());
    }

    // V := the best vectors of the joint space of V, A~^-1 A~^-H V and A~^-1 A V. No value grows.
    void improve() {
        DenseMatrix<T> space;
        rows_.reduction().all_succeed([&] {
            check(options_.interrupt);
            space = dense<T>(m_, 3 * size());
            std::copy(v_.values.begin(), v_.values.end(), space.values.begin());
            std::copy(v_.values.begin(), v_.values.end(), space.column(size()));
        });
        invert_twice(space, size());
        a_.multiply(MatrixOp::none, T(1), v_.values, T(0), part(space, 2 * size()), size());
        invert(space, 2 * size(), MatrixOp::none);
        orthonormalize<T>(rows_, view(space));
        project(space, size());
    }

    // Orthonormalizes after each solve, which may scale null vectors by 1 / epsilon.
    void invert_twice(DenseMatrix<T>& block, Index first) {
        for (MatrixOp const op : {MatrixOp::adjoint, MatrixOp::none}) {
            invert(block, first, op);
            orthonormalize<T>(rows_, view(block, first, size()));
        }
    }

    // Returns a view of as many columns as V has, starting at `first`.
    std::span<T> part(DenseMatrix<T>& block, Index first) const {
        return std::span(block.values).subspan(first * m_, v_.values.size());
    }

    void invert(DenseMatrix<T>& block, Index first, MatrixOp op) {
        apply_inverse_(part(block, first), size(), op);
        rows_.reduction().all_succeed([&] {
            check(options_.interrupt);
            if (!all_finite<T>(part(block, first)))
                throw Error(Status::singular,
                            "the factors overflow, so no null space can be computed with them");
        });
    }

    // Rayleigh-Ritz: V := the `keep` vectors in the space of S that A makes smallest.
    void project(DenseMatrix<T>& s, Index keep) {
        DenseMatrix<T> image, right;
        rows_.reduction().all_succeed([&] {
            check(options_.interrupt);
            image = dense<T>(m_, s.cols);
            right = dense<T>(s.cols, s.cols);
        });
        a_.multiply(MatrixOp::none, T(1), s.values, T(0), std::span<T>(image.values), s.cols);
        auto const sigma = singular_values<T>(rows_, view(image), view(right));
        rows_.reduction().all_succeed([&] {
            values_.assign(sigma.rbegin(), sigma.rbegin() + keep);
            // The last rows of `right` are the adjoints of the vectors to keep.
            auto adjoints = dense<T>(s.cols, keep);
            for (Index j = 0; j < keep; ++j)
                for (Index i = 0; i < s.cols; ++i)
                    adjoints.column(j)[i] = conj(right.column(i)[s.cols - 1 - j]);
            v_ = dense<T>(m_, keep);
            gemm<T>(Op::none, Op::none, T(1), view(s), view(adjoints), T(0), view(v_));
        });
    }

    // The blocks are V, the search space, its image, and with several processes a copy of one of these.
    void require_memory(Index columns) const {
        Index const blocks = rows_.is_alone() ? 8 : 11;
        double const bytes = static_cast<double>(blocks * sizeof(T)) * static_cast<double>(columns) *
                             static_cast<double>(rows_.largest_share());
        if (options_.max_bytes > 0 && bytes > static_cast<double>(options_.max_bytes))
            throw Error(
                Status::out_of_memory,
                fmt::format(
                    "a null space of this dimension needs blocks of {} vectors, {:.0f} bytes, and the "
                    "limit is {} bytes; allow more memory",
                    columns, bytes, options_.max_bytes));
    }

    static T random_scalar(Index k) {
        auto const part = [&](Index at) {
            return static_cast<Real<T>>(SplitMix64::uniform_at(3, at, -1, 1));
        };
        if constexpr (is_complex<T>)
            return T(part(2 * k), part(2 * k + 1));
        else
            return part(k);
    }

    DistributedMatrix<T> const& a_;
    DistributedRows const& rows_;
    ApplyInverse<T> const& apply_inverse_;
    NullSpaceOptions const& options_;
    Index m_; // local rows
    DenseMatrix<T> v_;
    std::vector<double> values_;
};

} // namespace

template <class T> NullSpaceResult<T> null_space(DistributedMatrix<T> const& a,
                                                 ApplyInverse<T> const& apply_inverse,
                                                 NullSpaceOptions const& options) {
    Index const n = a.order();
    double const norm = std::sqrt(a.one_norm()) * std::sqrt(a.infinity_norm());
    if (!std::isfinite(norm))
        throw Error(Status::bad_input, "the matrix has NaN or infinite entries, so it has no null space");
    double const tolerance =
        options.tolerance > 0 ? options.tolerance : static_cast<double>(n) * static_cast<double>(epsilon<T>);
    double const bound = tolerance * norm;

    SmallVectors<T> vectors(a, apply_inverse, options);
    Index block = std::clamp<Index>(options.first_block, 1, std::max<Index>(n, 1));
    // A block with fewer vectors than replaced pivots may converge to values that are small but not zero. It
    // then grows up to a limit.
    double const suspicious = 10 * std::sqrt(static_cast<double>(epsilon<T>)) * norm;
    Index const most_columns = std::max(largest_cautious_block, 4 * block);
    bool converged = false;
    while (n > dense_order && norm > 0 && 3 * block < n && !converged) {
        vectors.grow(block);
        vectors.iterate(bound);
        converged = vectors.null_vectors(bound) < block &&
                    (vectors.values().back() > suspicious || block >= most_columns);
        block *= 2;
    }
    if (!converged && n > 0) vectors.compute_all();

    NullSpaceResult<T> result;
    a.rows().reduction().all_succeed([&] {
        for (double const value : vectors.values())
            result.singular_values.push_back(norm > 0 ? value / norm : 0);
        result.basis = vectors.take(vectors.null_vectors(bound));
    });
    return result;
}

ESPALIER_INSTANTIATE_FUNCTION(null_space)

} // namespace espalier
