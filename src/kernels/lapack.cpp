// Declarations of the Fortran routines, and calls with the workspace that they request.
#include "kernels/lapack.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "core/error.hpp"

extern "C" {
// Fortran passes the lengths of character arguments after the other arguments.
#define ESPALIER_DECLARE(letter, T, orgqr_name)                                                              \
    void letter##geqrf_(int const*, int const*, T*, int const*, T*, T*, int const*, int*);                   \
    void orgqr_name(int const*, int const*, int const*, T*, int const*, T const*, T*, int const*, int*);
ESPALIER_DECLARE(s, float, sorgqr_)
ESPALIER_DECLARE(d, double, dorgqr_)
ESPALIER_DECLARE(c, std::complex<float>, cungqr_)
ESPALIER_DECLARE(z, std::complex<double>, zungqr_)
#undef ESPALIER_DECLARE

#define ESPALIER_DECLARE(letter, T)                                                                          \
    void letter##gesvd_(char const*, char const*, int const*, int const*, T*, int const*, T*, T*,            \
                        int const*, T*, int const*, T*, int const*, int*, std::size_t, std::size_t);
ESPALIER_DECLARE(s, float)
ESPALIER_DECLARE(d, double)
#undef ESPALIER_DECLARE
#define ESPALIER_DECLARE(letter, R)                                                                          \
    void letter##gesvd_(char const*, char const*, int const*, int const*, std::complex<R>*, int const*, R*,  \
                        std::complex<R>*, int const*, std::complex<R>*, int const*, std::complex<R>*,        \
                        int const*, R*, int*, std::size_t, std::size_t);
ESPALIER_DECLARE(c, float)
ESPALIER_DECLARE(z, double)
#undef ESPALIER_DECLARE
}

namespace espalier {

namespace {

template <class T> struct LapackRoutines;
#define ESPALIER_ROUTINES(T, letter, orgqr_name)                                                             \
    template <> struct LapackRoutines<T> {                                                                   \
        static constexpr auto geqrf = &letter##geqrf_;                                                       \
        static constexpr auto orgqr = &orgqr_name;                                                           \
        static constexpr auto gesvd = &letter##gesvd_;                                                       \
    };
ESPALIER_ROUTINES(float, s, sorgqr_)
ESPALIER_ROUTINES(double, d, dorgqr_)
ESPALIER_ROUTINES(std::complex<float>, c, cungqr_)
ESPALIER_ROUTINES(std::complex<double>, z, zungqr_)
#undef ESPALIER_ROUTINES

int lapack_size(Index value) {
    return checked_cast<int>(value, "a LAPACK dimension");
}

// Calls routine(work, size, info) twice: to query the workspace size, and with that workspace.
template <class T, class Routine> void with_workspace(char const* name, Routine routine) {
    T wanted(0);
    int size = -1, info = 0;
    routine(&wanted, &size, &info);
    if (info == 0) {
        // In single precision a size above 2^24 may be rounded down.
        double const roomy = static_cast<double>(real_part(wanted)) * (1 + 2e-7) + 1;
        size = lapack_size(static_cast<Index>(roomy));
        std::vector<T> work(size);
        routine(work.data(), &size, &info);
    }
    if (info != 0)
        throw Error(Status::internal, fmt::format("LAPACK routine {} failed with info = {}", name, info));
}

// Replaces A by R and the reflectors of its QR factorization. Returns their scalar factors.
template <class T> std::vector<T> factorize_qr(MatrixView<T> a) {
    int const m = lapack_size(a.rows), n = lapack_size(a.cols), ld = lapack_size(a.ld);
    std::vector<T> factors(std::min(m, n));
    with_workspace<T>("geqrf", [&](T* work, int const* size, int* info) {
        LapackRoutines<T>::geqrf(&m, &n, a.data, &ld, factors.data(), work, size, info);
    });
    return factors;
}

} // namespace

template <class T> void orthonormalize(MatrixView<T> a) {
    if (a.cols == 0) return;
    auto const factors = factorize_qr(a);
    int const m = lapack_size(a.rows), n = lapack_size(a.cols), ld = lapack_size(a.ld);
    with_workspace<T>("orgqr", [&](T* work, int const* size, int* info) {
        LapackRoutines<T>::orgqr(&m, &n, &n, a.data, &ld, factors.data(), work, size, info);
    });
}

template <class T> std::vector<Real<T>> singular_values(MatrixView<T> a, MatrixView<T> right) {
    Index const smaller = std::min(a.rows, a.cols);
    std::vector<Real<T>> values(smaller);
    if (smaller == 0) return values;
    // A tall matrix Q R has the singular values and the right singular vectors of R.
    bool const is_tall = a.rows > a.cols;
    if (is_tall) factorize_qr(a);
    // In complex arithmetic, kernels of OpenBLAS 0.3.21 read up to a column past the end of a matrix. Each of
    // the two copies is therefore followed by other memory.
    std::vector<T> memory(smaller * a.cols + a.cols * a.cols + a.cols);
    MatrixView<T> const copy{memory.data(), smaller, a.cols, smaller};
    MatrixView<T> const vectors{memory.data() + smaller * a.cols, a.cols, a.cols, a.cols};
    for (Index j = 0; j < a.cols; ++j) std::copy_n(a.column(j), is_tall ? j + 1 : smaller, copy.column(j));
    int const m = lapack_size(smaller), n = lapack_size(a.cols), one = 1;
    std::vector<Real<T>> rwork(is_complex<T> ? 5 * smaller : 0);
    with_workspace<T>("gesvd", [&](T* work, int const* size, int* info) {
        if constexpr (is_complex<T>)
            LapackRoutines<T>::gesvd("N", "A", &m, &n, copy.data, &m, values.data(), nullptr, &one,
                                     vectors.data, &n, work, size, rwork.data(), info, 1, 1);
        else
            LapackRoutines<T>::gesvd("N", "A", &m, &n, copy.data, &m, values.data(), nullptr, &one,
                                     vectors.data, &n, work, size, info, 1, 1);
    });
    for (Index j = 0; j < a.cols; ++j) std::copy_n(vectors.column(j), a.cols, right.column(j));
    return values;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void orthonormalize<T>(MatrixView<T>);                                                          \
    template std::vector<Real<T>> singular_values<T>(MatrixView<T>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
