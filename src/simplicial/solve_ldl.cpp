// The solves of SimplicialLdl, its determinant, and its factors as sparse matrices.
#include "core/determinant_product.hpp"
#include "simplicial/column_groups.hpp"
#include "simplicial/simplicial_ldl.hpp"

namespace espalier {

template <class T> void SimplicialLdl<T>::solve(std::span<T> x, Index columns, MatrixOp op) {
    Index const n = plan_->order();
    std::size_t const needed = n * group_width(columns);
    if (work_.size() < needed) work_.resize(needed);
    // op(A) is A or conj(A), and conj(A) x = b is A conj(x) = conj(b).
    bool const conjugated = is_complex<T> && op == (conjugates() ? MatrixOp::transpose : MatrixOp::adjoint);
    auto const conjugate = [&] {
        if (conjugated)
            for (T& value : x) value = conj(value);
    };
    conjugate();
    for_each_group(x.data(), n, columns, [&]<int W>(T* group) { solve_group<W>(group); });
    conjugate();
}

// x := S P^T L^-op D^-1 L^-1 P S x
template <class T> template <int W> void SimplicialLdl<T>::solve_group(T* x) {
    Index const n = plan_->order();
    T* const work = work_.data();
    for (Index i = 0; i < n; ++i)
        for (int w = 0; w < W; ++w) work[i * W + w] = x[w * n + plan_->row[i]] * scale_[plan_->row[i]];
    forward<W>(work);
    if (conjugates())
        backward<W, true, true>(work);
    else
        backward<W, false, true>(work);
    for (Index i = 0; i < n; ++i)
        for (int w = 0; w < W; ++w) x[w * n + plan_->row[i]] = work[i * W + w] * scale_[plan_->row[i]];
}

template <class T> template <int W> void SimplicialLdl<T>::forward(T* work) const {
    auto const subtract = [&](std::int32_t k, auto width) {
        T x[width][W];
        for (int c = 0; c < width; ++c)
            for (int w = 0; w < W; ++w) x[c][w] = work[(Index{plan_->first[k]} + c) * W + w];
        T const* value = lower_.data() + plan_->value_ptr[k];
        for (std::int32_t p = plan_->row_ptr[k]; p < plan_->row_ptr[k + 1]; ++p, value += width) {
            T* const to = work + Index{plan_->rows[p]} * W;
            for (int w = 0; w < W; ++w)
                for (int c = 0; c < width; ++c) to[w] -= times(value[c], x[c][w]);
        }
    };
    for (std::int32_t k = 0; k < plan_->num_blocks(); ++k)
        if (plan_->width(k) == 1)
            subtract(k, std::integral_constant<int, 1>());
        else
            subtract(k, std::integral_constant<int, 2>());
}

template <class T> void SimplicialLdl<T>::divide_by_d(T* x) const {
    for (std::int32_t k = 0; k < plan_->num_blocks(); ++k) {
        T* const own = x + plan_->first[k];
        if (plan_->width(k) == 1)
            *own = times(*own, pivot_[k].inverse_a);
        else
            divide(pivot_[k], pair(k), conjugates(), own[0], own[1]);
    }
}

// x := L^-op x, or L^-op D^-1 x.
template <class T> template <int W, bool hermitian, bool divides>
void SimplicialLdl<T>::backward(T* work) const {
    auto const reduce = [&](std::int32_t k, auto width) {
        T* const own = work + Index{plan_->first[k]} * W;
        T x[width][W];
        for (int c = 0; c < width; ++c)
            for (int w = 0; w < W; ++w) x[c][w] = own[c * W + w];
        for (int w = 0; divides && w < W; ++w) {
            if constexpr (width == 1)
                x[0][w] = times(x[0][w], pivot_[k].inverse_a);
            else
                divide(pivot_[k], pair(k), hermitian, x[0][w], x[1][w]);
        }
        T const* value = lower_.data() + plan_->value_ptr[k];
        for (std::int32_t p = plan_->row_ptr[k]; p < plan_->row_ptr[k + 1]; ++p, value += width) {
            T const* const from = work + Index{plan_->rows[p]} * W;
            for (int c = 0; c < width; ++c)
                for (int w = 0; w < W; ++w) x[c][w] -= times(conj_if(hermitian, value[c]), from[w]);
        }
        for (int c = 0; c < width; ++c)
            for (int w = 0; w < W; ++w) own[c * W + w] = x[c][w];
    };
    for (std::int32_t k = plan_->num_blocks() - 1; k >= 0; --k)
        if (plan_->width(k) == 1)
            reduce(k, std::integral_constant<int, 1>());
        else
            reduce(k, std::integral_constant<int, 2>());
}

// In the order of the factors, (S^-1 L D S^-1)^-1 = S (L D)^-1 S and (S L^op S^-1)^-1 = S L^-op S^-1. For llh
// (S^-1 L D^(1/2))^-1 = D^(1/2) (L D)^-1 S and (D^(1/2) L^op S^-1)^-1 = S L^-op D^(-1/2).
template <class T> void SimplicialLdl<T>::solve_half(std::span<T> x, Index columns, bool is_forward) {
    Index const n = plan_->order();
    auto const scale = [&](Index i) { return scale_[plan_->row[i]]; };
    auto const inner = [&](Index i) { return is_cholesky() ? root(i) : scale(i); };
    for (T* column = x.data(); columns > 0; --columns, column += n) {
        for (Index i = 0; i < n; ++i) column[i] *= is_forward ? scale(i) : 1 / inner(i);
        if (is_forward) {
            forward<1>(column);
            divide_by_d(column);
        } else if (conjugates()) {
            backward<1, true, false>(column);
        } else {
            backward<1, false, false>(column);
        }
        for (Index i = 0; i < n; ++i) column[i] *= is_forward ? inner(i) : scale(i);
    }
}

template <class T> Determinant<T> SimplicialLdl<T>::determinant() const {
    DeterminantProduct product;
    for (std::int32_t k = 0; k < plan_->num_blocks(); ++k) {
        Pivot const& pivot = pivot_[k];
        bool const is_single = plan_->width(k) == 1;
        if (!is_single && pair(k).kind == PairKind::both) { // -b conj(b) (1 - (a / b) (c / conj(b)))
            T const b = pair(k).b, other = conj_if(conjugates(), b);
            product.multiply(b);
            product.multiply(other);
            product.multiply(times(pivot.a / b, pair(k).c / other) - T(1));
            continue;
        }
        product.multiply(T(1) / pivot.inverse_a);
        if (!is_single) product.multiply(T(1) / pair(k).inverse_c);
    }
    for (Real<T> const scale : scale_) product.multiply_modulus(static_cast<double>(scale), -2);
    return product.result<T>();
}

template <class T> Factors<T> SimplicialLdl<T>::explicit_factors() const {
    Factors<T> factors;
    CscMatrix<T>&lower = factors.lower, &diagonal = factors.diagonal;
    lower.rows = lower.cols = plan_->order();
    if (!is_cholesky()) diagonal.rows = diagonal.cols = plan_->order();
    auto const scale = [&](Index i) { return scale_[plan_->row[i]]; };
    auto const put = [](CscMatrix<T>& matrix, Index i, T value) {
        matrix.row_ind.push_back(i);
        matrix.values.push_back(value);
    };
    for (std::int32_t k = 0; k < plan_->num_blocks(); ++k) {
        Index const first = plan_->first[k];
        int const width = plan_->width(k);
        Pivot const& pivot = pivot_[k];
        for (int c = 0; c < width; ++c) {
            Index const j = first + c;
            Real<T> const column_scale = is_cholesky() ? root(j) : scale(j);
            put(lower, j, T(column_scale / scale(j)));
            if (width == 2 && c == 0) put(lower, first + 1, T(0));
            T const* value = lower_.data() + plan_->value_ptr[k] + c;
            for (std::int32_t p = plan_->row_ptr[k]; p < plan_->row_ptr[k + 1]; ++p, value += width)
                put(lower, plan_->rows[p], *value * (column_scale / scale(plan_->rows[p])));
            lower.col_ptr.push_back(std::ssize(lower.row_ind));
            if (is_cholesky()) continue;
            T const upper = c == 0 ? pivot.a : conj_if(conjugates(), pair(k).b);
            put(diagonal, first, upper / scale(first) / scale(j));
            if (width == 2)
                put(diagonal, first + 1, (c == 0 ? pair(k).b : pair(k).c) / scale(first + 1) / scale(j));
            diagonal.col_ptr.push_back(std::ssize(diagonal.row_ind));
        }
    }
    factors.row_permutation.assign(plan_->row.begin(), plan_->row.end());
    factors.column_permutation = factors.row_permutation;
    return factors;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void SimplicialLdl<T>::solve(std::span<T>, Index, MatrixOp);                                    \
    template void SimplicialLdl<T>::solve_half(std::span<T>, Index, bool);                                   \
    template Determinant<T> SimplicialLdl<T>::determinant() const;                                           \
    template Factors<T> SimplicialLdl<T>::explicit_factors() const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
