#include "refine/accurate_residual.hpp"

#include <cmath>
#include <vector>

namespace espalier {

namespace {

// A sum of products, and what rounding has taken from it.
template <class R> struct Sum {
    R value = 0;
    R lost = 0;

    void add_product(R a, R b) {
        R const product = a * b;
        R const product_lost = std::fma(a, b, -product);
        R const sum = value + product;
        R const part = sum - value;
        lost += ((value - (sum - part)) + (product - part)) + product_lost;
        value = sum;
    }
};

// The sum for one entry of the residual.
template <class T> struct Entry {
    Sum<T> sum;
    void start(T b) { sum.value = b; }
    void subtract(T a, T x) { sum.add_product(-a, x); }
    [[nodiscard]] T result() const { return sum.value + sum.lost; }
};
template <class R> struct Entry<std::complex<R>> {
    Sum<R> re, im;
    void start(std::complex<R> b) {
        re.value = b.real();
        im.value = b.imag();
    }
    void subtract(std::complex<R> a, std::complex<R> x) {
        re.add_product(-a.real(), x.real());
        re.add_product(a.imag(), x.imag());
        im.add_product(-a.real(), x.imag());
        im.add_product(-a.imag(), x.real());
    }
    [[nodiscard]] std::complex<R> result() const { return {re.value + re.lost, im.value + im.lost}; }
};

// Entries -= op(A) x.
template <class T> void subtract_product(CscMatrix<T> const& a, std::span<T const> x, MatrixOp op,
                                         std::vector<Entry<T>>& entries) {
    bool const mirrored = a.symmetry != Symmetry::general;
    bool const as_stored = mirrored || op == MatrixOp::none; // row i receives a(i, j) x(j) ...
    bool const turned = mirrored || op != MatrixOp::none;    // ... and row j what stands at (j, i) of op(A)
    bool const hermitian = a.symmetry == Symmetry::hermitian;
    bool const conjugate_stored = hermitian ? op == MatrixOp::transpose : op == MatrixOp::adjoint;
    bool const conjugate_turned = conjugate_stored != hermitian;
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Index const i = a.row_ind[k];
            T const value = a.values[k];
            if (as_stored) entries[i].subtract(conj_if(conjugate_stored, value), x[j]);
            if (turned && !(mirrored && i == j)) entries[j].subtract(conj_if(conjugate_turned, value), x[i]);
        }
}

} // namespace

template <class T> void accurate_residual(CscMatrix<T> const& a, std::span<T const> x, std::span<T const> d,
                                          std::span<T const> b, std::span<T> r, MatrixOp op) {
    std::vector<Entry<T>> entries(r.size());
    for (std::size_t i = 0; i < r.size(); ++i) entries[i].start(b[i]);
    subtract_product(a, x, op, entries);
    if (!d.empty()) subtract_product(a, d, op, entries);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = entries[i].result();
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void accurate_residual<T>(CscMatrix<T> const&, std::span<T const>, std::span<T const>,          \
                                       std::span<T const>, std::span<T>, MatrixOp);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
