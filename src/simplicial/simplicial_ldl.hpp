// L D L^T, L D L^H or L L^H of a symmetric or Hermitian matrix without supernodes, for small systems. Input:
// an LdlPlan and the values; output: the factors
//
//     P S A S P^T = L D L^op,    D with the pivot blocks of the plan,
//
// with powers of two in S. Rows of L are computed one block after the other by solves with the rows before
// them (Davis 2005, LDL). All pivots are planned, so a factorization may fail. It measures the growth of
// the entries; if they grow too much, the caller factorizes in another way. For llh all pivots are single and
// must be positive; S^-1 L D^(1/2) is the Cholesky factor of P A P^T.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/espalier.hpp"
#include "simplicial/ldl_plan.hpp"

namespace espalier {

template <class T> class SimplicialLdl {
  public:
    /// Drops the factors. `plan` must outlive their use; for llh it has no pairs. `kind`: ldlt, ldlh or llh.
    void set_plan(LdlPlan const& plan, Factorization kind);
    void clear();
    /// Changes between ldlt and ldlh.
    void set_kind(Factorization kind) { kind_ = kind; }
    [[nodiscard]] Factorization kind() const { return kind_; }

    /// Factorizes a matrix with the pattern of the plan. Returns false, without factors, if a pivot is zero
    /// or an entry of |L| |D| |L^op| is more than `most_growth` times the largest entry of S A S. Keeps S if
    /// it can. Allocates nothing after the first call. Error{cancelled}, and for llh
    /// Error{not_positive_definite}.
    [[nodiscard]] bool factorize(CscMatrix<T> const& a, Interrupt* interrupt);

    [[nodiscard]] bool has_factors() const { return has_factors_; }
    /// Whether the last factorization used the scales of the one before.
    [[nodiscard]] bool kept_scales() const { return kept_scales_; }

    /// x := op(A)^-1 x for `columns` vectors of n entries. Allocates nothing after the first call with as
    /// many columns.
    void solve(std::span<T> x, Index columns, MatrixOp op);
    /// Solves with one factor of explicit_factors(), in its order: with L D, or L for llh (forward), or with
    /// L^op.
    void solve_half(std::span<T> x, Index columns, bool forward);

    /// Whether the pivots are real; inertia() is undefined otherwise.
    [[nodiscard]] bool has_signs() const { return !is_complex<T> || kind_ != Factorization::ldlt; }
    [[nodiscard]] Inertia inertia() const { return inertia_; }
    /// The smallest modulus of an eigenvalue of a pivot block, relative to the largest entry of S A S.
    [[nodiscard]] double smallest_pivot() const { return smallest_pivot_; }
    /// det A = phase * exp(log_modulus).
    [[nodiscard]] Determinant<T> determinant() const;
    /// A(p, p) = L D L^op, or L L^H for llh, without scales, with all entries of the structure, and zeros of
    /// L inside of blocks.
    [[nodiscard]] Factors<T> explicit_factors() const;

    /// A bound for which backward errors stay within a small multiple of those without growth.
    static constexpr double most_growth = 1000;

  private:
    /// A pivot of one row, or the first diagonal entry of a block of two rows.
    struct Pivot {
        T a, inverse_a;
    };
    enum class PairKind : std::int8_t { both, first_then_second, second_then_first };
    /// The rest of a block [a, conj(b); b, c] of two rows. It is factorized with the larger diagonal entry
    /// first, unless b is much larger than both. inverse_a, inverse_c and `factor` are entries of the
    /// inverse, or of a factorization with diagonal pivots.
    struct Pair {
        T b, c, inverse_c, factor;
        PairKind kind;
    };

    void set_scales(CscMatrix<T> const& a);
    bool run(CscMatrix<T> const& a, Interrupt* interrupt);
    template <int rows, bool hermitian> bool eliminate_block(std::int32_t k, CscMatrix<T> const& a);
    template <int rows, int columns, bool hermitian>
    void eliminate_with(std::int32_t j, T (&d)[2][2], Real<T> (&growth)[2]);
    bool set_pivot(std::int32_t k, T a);
    bool set_pair(std::int32_t k, T const (&d)[2][2]);
    void count_sign(T value) { ++(real_part(value) > 0 ? inertia_.positive : inertia_.negative); }
    /// The rest of pivot block k, which has two rows. Each block of two rows before it has one more row than
    /// its number tells.
    [[nodiscard]] Pair const& pair(std::int32_t k) const { return pair_[plan_->first[k] - k]; }
    [[nodiscard]] bool is_cholesky() const { return kind_ == Factorization::llh; }
    [[nodiscard]] bool conjugates() const { return is_complex<T> && kind_ != Factorization::ldlt; }
    /// The square root of the pivot of row i in the order of elimination, for llh.
    [[nodiscard]] Real<T> root(Index i) const { return std::sqrt(real_part(pivot_[i].a)); }
    static void divide(Pivot const& pivot, Pair const& rest, bool hermitian, T& x, T& y);
    template <int W> void solve_group(T* x);
    template <int W> void forward(T* work) const;
    void divide_by_d(T* x) const;
    template <int W, bool hermitian, bool divides> void backward(T* work) const;

    LdlPlan const* plan_ = nullptr;
    Factorization kind_ = Factorization::ldlt;
    bool has_factors_ = false, kept_scales_ = false;
    std::vector<Real<T>> scale_;       ///< S by row of A.
    std::vector<T> lower_;             ///< By block; the entries of a row are consecutive.
    std::vector<Pivot> pivot_;         ///< D by block,
    std::vector<Pair> pair_;           ///< and by block of two rows.
    std::vector<std::int32_t> filled_; ///< By block: the rows of L below it that are complete.
    std::vector<T> row_;               ///< Two rows that are eliminated; zero in between.
    std::vector<T> work_;              ///< Workspace of solves.
    Real<T> largest_ = 0, most_ = 0;   ///< The largest entry of S A S, and of |L| |D| |L^op|.
    double smallest_pivot_ = infinity;
    Inertia inertia_;
};

} // namespace espalier
