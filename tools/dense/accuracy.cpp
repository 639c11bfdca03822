#include "tools/dense/accuracy.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "core/mix_bits.hpp"
#include "kernels/tile_qr.hpp"

namespace espalier {

namespace {

// Two vectors, as errors in one may cancel.
class Vectors {
  public:
    static constexpr Index count = 2;
    explicit Vectors(TileGrid const& grid) : grid_(grid), values_(count * grid.n) {}

    /// The rows of tile row i.
    [[nodiscard]] MatrixView<double> rows(std::int32_t i) {
        return all().block(grid_.first(i), 0, grid_.size(i), count);
    }
    [[nodiscard]] MatrixView<double> all() { return {values_.data(), grid_.n, count, grid_.n}; }
    [[nodiscard]] double norm() const {
        double sum = 0;
        for (double const value : values_) sum += value * value;
        return std::sqrt(sum / count);
    }
    Vectors& operator-=(Vectors const& other) {
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] -= other.values_[i];
        return *this;
    }

  private:
    TileGrid grid_;
    std::vector<double> values_;
};

Vectors random_signs(TileGrid const& grid) {
    Vectors x(grid);
    for (Index v = 0; v < Vectors::count; ++v)
        for (Index i = 0; i < grid.n; ++i) x.all()(i, v) = hash_bits(i * Vectors::count + v) >> 63 ? 1 : -1;
    return x;
}

// A X, and the Frobenius norm of A.
std::pair<Vectors, double> times_original(TiledMatrix const& matrix, Vectors& x) {
    Vectors y(matrix.grid());
    Index const n = matrix.grid().n;
    auto const from = x.all(), to = y.all();
    double squares = 0;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            double const a = matrix.entry(i, j);
            squares += a * a;
            for (Index v = 0; v < Vectors::count; ++v) to(i, v) += a * from(j, v);
        }
    return {std::move(y), std::sqrt(squares)};
}

// A triangle of a diagonal tile, with zeros in the other triangle.
std::vector<double> triangle(MatrixView<double const> tile, Uplo uplo) {
    std::vector<double> copy(tile.rows * tile.cols, 0.0);
    for (Index j = 0; j < tile.cols; ++j)
        for (Index i = 0; i < tile.rows; ++i)
            if (uplo == Uplo::lower ? i >= j : i <= j) copy[i + j * tile.rows] = tile(i, j);
    return copy;
}

// Y = op(L) X or Y = op(R) X for the triangle of tiles that holds L or R.
Vectors times_triangle(TiledMatrix const& factors, Uplo uplo, Op op, Vectors& x) {
    Vectors y(factors.grid());
    std::int32_t const count = factors.grid().count();
    for (std::int32_t i = 0; i < count; ++i) {
        auto const diagonal = triangle(factors.tile(i, i), uplo);
        Index const size = factors.grid().size(i);
        gemm<double>(op, Op::none, 1.0, {diagonal.data(), size, size, size}, x.rows(i), 1.0, y.rows(i));
        for (std::int32_t j = 0; j < count; ++j) {
            if (uplo == Uplo::lower ? j >= i : j <= i) continue;
            std::int32_t const from = op == Op::none ? j : i, to = op == Op::none ? i : j;
            gemm<double>(op, Op::none, 1.0, factors.tile(i, j), x.rows(from), 1.0, y.rows(to));
        }
    }
    return y;
}

// X := Q X applies the reflections from the last to the first; X := Q^T X from the first to the last.
void apply_q(TiledMatrix const& factors, Op op, Vectors& x) {
    std::int32_t const count = factors.grid().count();
    std::vector<double> work(tile_qr_workspace(TiledMatrix::inner_block, Vectors::count));
    auto const step = [&](std::int32_t k, std::int32_t i) {
        if (i == k)
            unmqr(op, factors.tile(k, k), factors.triangles(k, k), x.rows(k), work);
        else
            tsmqr(op, factors.tile(i, k), factors.triangles(i, k), x.rows(k), x.rows(i), work);
    };
    if (op == Op::none)
        for (std::int32_t k = count - 1; k >= 0; --k)
            for (std::int32_t i = count - 1; i >= k; --i) step(k, i);
    else
        for (std::int32_t k = 0; k < count; ++k)
            for (std::int32_t i = k; i < count; ++i) step(k, i);
}

} // namespace

DenseAccuracy measure_accuracy(TiledMatrix const& factors) {
    DenseAccuracy accuracy;
    auto x = random_signs(factors.grid());
    auto [residual, norm] = times_original(factors, x);
    if (factors.kind() == DenseKind::cholesky) {
        auto y = times_triangle(factors, Uplo::lower, Op::transpose, x);
        residual -= times_triangle(factors, Uplo::lower, Op::none, y);
    } else {
        auto y = times_triangle(factors, Uplo::upper, Op::none, x);
        apply_q(factors, Op::none, y);
        residual -= y;
        auto z = x;
        apply_q(factors, Op::none, z);
        apply_q(factors, Op::transpose, z);
        z -= x;
        accuracy.orthogonality = z.norm() / std::sqrt(static_cast<double>(factors.grid().n));
    }
    accuracy.backward_error = residual.norm() / norm;
    return accuracy;
}

} // namespace espalier
