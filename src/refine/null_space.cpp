#include "refine/null_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/random.hpp"
#include "kernels/blas.hpp"
#include "kernels/lapack.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"
#include "refine/vectors.hpp"

namespace espalier {

namespace {

constexpr Index dense_order = 32; // up to which the singular values of all of A are as cheap
constexpr int most_steps = 12;    // for a block
constexpr Index roomy_block = 64; // which need not grow for being suspicious

template <class T> MatrixView<T> view(DenseMatrix<T>& a, Index first = 0, Index columns = -1) {
    return {a.values.data() + first * a.rows, a.rows, columns < 0 ? a.cols - first : columns,
            std::max<Index>(a.rows, 1)};
}

template <class T> DenseMatrix<T> dense(Index rows, Index cols) {
    return {rows, cols, std::vector<T>(static_cast<std::size_t>(rows * cols))};
}

// An orthonormal block V of vectors that A makes small, in the order of |A v|, ascending.
template <class T> class SmallVectors {
  public:
    SmallVectors(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse, NullSpaceOptions const& options)
        : a_(a), apply_inverse_(apply_inverse), options_(options), random_(3), v_(dense<T>(a.cols, 0)) {}

    [[nodiscard]] Index size() const { return v_.cols; }
    /// |A v|, ascending.
    [[nodiscard]] std::vector<double> const& values() const { return values_; }
    [[nodiscard]] Index null_vectors(double bound) const {
        return std::upper_bound(values_.begin(), values_.end(), bound) - values_.begin();
    }
    DenseMatrix<T> take(Index vectors) {
        v_.cols = vectors;
        v_.values.resize(static_cast<std::size_t>(v_.rows * vectors));
        return std::move(v_);
    }

    // To `columns` vectors, the new ones random.
    void grow(Index columns) {
        require_memory(columns);
        std::size_t const before = v_.values.size();
        v_.cols = columns;
        v_.values.resize(static_cast<std::size_t>(v_.rows * columns));
        for (std::size_t i = before; i < v_.values.size(); ++i) v_.values[i] = random_scalar();
    }

    // Steps until all vectors are null or the first that is not has settled.
    void settle(double bound) {
        turn();
        for (int step = 0; step < most_steps; ++step) {
            Index const before = null_vectors(bound);
            std::vector<double> const values_before = values_;
            improve();
            Index const now = null_vectors(bound);
            if (now == size()) return;
            auto const first = static_cast<std::size_t>(now); // that is not null
            if (now == before && values_[first] > 0.9 * values_before[first]) return;
        }
    }

    // All singular vectors of A at once.
    void take_all() {
        require_memory(a_.cols);
        auto identity = dense<T>(a_.cols, a_.cols);
        for (Index j = 0; j < a_.cols; ++j) identity.column(j)[j] = T(1);
        project(identity, a_.cols);
    }

  private:
    // V := A~^-1 A~^-H V, and the values that belong to it.
    void turn() {
        auto space = v_;
        invert_twice(space, 0);
        project(space, size());
    }

    // V := the best of V, A~^-1 A~^-H V and A~^-1 A V together: no value grows.
    void improve() {
        auto space = dense<T>(a_.cols, 3 * size());
        std::copy(v_.values.begin(), v_.values.end(), space.values.begin());
        std::copy(v_.values.begin(), v_.values.end(), space.column(size()));
        invert_twice(space, size());
        multiply<T>(MatrixOp::none, T(1), a_, v_.values, T(0), part(space, 2 * size()), size());
        invert(space, 2 * size(), MatrixOp::none);
        orthonormalize<T>(view(space));
        check(options_.interrupt);
        project(space, size());
    }

    // Orthonormal, as on the way: a solve may stretch the null vectors by 1 / epsilon.
    void invert_twice(DenseMatrix<T>& block, Index first) {
        for (MatrixOp const op : {MatrixOp::adjoint, MatrixOp::none}) {
            invert(block, first, op);
            orthonormalize<T>(view(block, first, size()));
        }
    }

    // As many columns as V has, from the first.
    std::span<T> part(DenseMatrix<T>& block, Index first) const {
        return std::span<T>(block.values)
            .subspan(static_cast<std::size_t>(first * a_.cols), v_.values.size());
    }

    void invert(DenseMatrix<T>& block, Index first, MatrixOp op) {
        check(options_.interrupt);
        apply_inverse_(part(block, first), size(), op);
        if (!all_finite<T>(part(block, first)))
            throw Error(Status::singular, "the factors overflow: no null space can be found with them");
    }

    // Rayleigh and Ritz: V := the `keep` vectors of the space of S that A makes smallest.
    void project(DenseMatrix<T> const& s, Index keep) {
        auto image = dense<T>(a_.rows, s.cols);
        multiply<T>(MatrixOp::none, T(1), a_, s.values, T(0), std::span<T>(image.values), s.cols);
        auto right = dense<T>(s.cols, s.cols);
        auto const sigma = singular_values<T>(view(image), view(right));
        values_.assign(sigma.rbegin(), sigma.rbegin() + keep);
        // The rows of `right`, from below, are the adjoints of what is wanted.
        auto turned = dense<T>(s.cols, keep);
        for (Index j = 0; j < keep; ++j)
            for (Index i = 0; i < s.cols; ++i) turned.column(j)[i] = conj(right.column(i)[s.cols - 1 - j]);
        v_ = dense<T>(a_.cols, keep);
        MatrixView<T const> const space{s.values.data(), s.rows, s.cols, std::max<Index>(s.rows, 1)};
        gemm<T>(Op::none, Op::none, T(1), space, view(turned), T(0), view(v_));
    }

    // V, the space it is chosen from, its image and the little that LAPACK needs.
    void require_memory(Index columns) const {
        double const bytes = 8.0 * static_cast<double>(columns) * static_cast<double>(a_.cols) *
                             static_cast<double>(sizeof(T));
        if (options_.max_bytes > 0 && bytes > static_cast<double>(options_.max_bytes))
            throw Error(Status::out_of_memory,
                        "a null space of this dimension needs blocks of " + std::to_string(columns) +
                            " vectors, " + std::to_string(static_cast<std::uint64_t>(bytes)) +
                            " bytes, and the limit is " + std::to_string(options_.max_bytes) + " bytes");
    }

    T random_scalar() {
        auto const re = static_cast<Real<T>>(random_.uniform(-1, 1));
        if constexpr (is_complex<T>)
            return T(re, static_cast<Real<T>>(random_.uniform(-1, 1)));
        else
            return re;
    }

    CscMatrix<T> const& a_;
    ApplyInverse<T> const& apply_inverse_;
    NullSpaceOptions const& options_;
    SplitMix64 random_; // of a fixed seed
    DenseMatrix<T> v_;
    std::vector<double> values_;
};

} // namespace

template <class T> NullSpaceResult<T> null_space(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse,
                                                 NullSpaceOptions const& options) {
    if (a.rows != a.cols) throw Error(Status::usage, "the null space of a square matrix only can be found");
    Index const n = a.cols;
    double const norm = std::sqrt(one_norm(a)) * std::sqrt(infinity_norm(a));
    if (!std::isfinite(norm))
        throw Error(Status::bad_input, "the matrix is not finite: it has no null space");
    double const tolerance =
        options.tolerance > 0 ? options.tolerance : static_cast<double>(n) * static_cast<double>(epsilon<T>);
    double const bound = tolerance * norm;

    SmallVectors<T> vectors(a, apply_inverse, options);
    Index block = std::clamp<Index>(options.first_block, 1, std::max<Index>(n, 1));
    // Null vectors come in numbers below those of the replaced pivots, and until the block has as many
    // vectors it may settle on values that are small but not zero: then it grows too, if not for ever.
    double const suspicious = 10 * std::sqrt(static_cast<double>(epsilon<T>)) * norm;
    Index const roomy = std::max(roomy_block, 4 * block);
    bool settled = false;
    while (n > dense_order && norm > 0 && 3 * block < n && !settled) {
        vectors.grow(block);
        vectors.settle(bound);
        settled =
            vectors.null_vectors(bound) < block && (vectors.values().back() > suspicious || block >= roomy);
        block *= 2;
    }
    if (!settled && n > 0) vectors.take_all();

    NullSpaceResult<T> result;
    for (double const value : vectors.values()) result.singular_values.push_back(norm > 0 ? value / norm : 0);
    result.basis = vectors.take(vectors.null_vectors(bound));
    return result;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template NullSpaceResult<T> null_space<T>(CscMatrix<T> const&, ApplyInverse<T> const&,                   \
                                              NullSpaceOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
