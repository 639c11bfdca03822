// Eigenvalues by LAPACK, as a reference.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

extern "C" void zheev_(char const* jobz, char const* uplo, int const* n, std::complex<double>* a,
                       int const* lda, double* w, std::complex<double>* work, int const* lwork, double* rwork,
                       int* info, std::size_t, std::size_t);

namespace espalier {

/// Ascending, of a Hermitian matrix of order n, stored by columns.
inline std::vector<double> eigenvalues(std::vector<std::complex<double>> a, int n) {
    int const size = 64 * (n + 1);
    int info = -1;
    std::vector<double> values(n), real_work(3 * n + 1);
    std::vector<std::complex<double>> work(size);
    zheev_("N", "L", &n, a.data(), &n, values.data(), work.data(), &size, real_work.data(), &info, 1, 1);
    EXPECT_EQ(info, 0);
    return values;
}

} // namespace espalier
