// Multiplies the factors and compares the product with the matrix.
//
// With G_k = [P_k^T L11; L21] of cblk k:   A = sum_k G_k G_k^H          (llh, llt)
//                                          A = sum_k G_k D_k G_k^H      (ldlt, ldlh)
//                                          A = sum_k G_k [U11 U12]      (lu)

#include <cmath>
#include <limits>

#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;

// The rows (in the permuted matrix) of the panel of cblk k. Those of the diagonal block are permuted by P_k.
template <class T> std::vector<Index> panel_rows(Factor<T> const& f, CblkId k) {
    BlockStructure const& s = f.structure();
    std::vector<Index> rows;
    for (BlokId b = f.cblk(k).first_blok; b < f.cblk(k).end_blok; ++b)
        for (Index r = s.bloks[b].first_row; r < s.bloks[b].end_row; ++r) rows.push_back(r);
    if (f.form().has_d() || f.form().has_upper())
        for (Index i = 0; i < f.cblk(k).width(); ++i) rows[i] = f.cblk(k).first_col + f.perm(k)[i];
    return rows;
}

template <class T> void add_cblk(Factor<T> const& f, CblkId k, Dense<T>& sum) {
    FactorForm const form = f.form();
    bool const unit = form.has_d() || form.has_upper();
    Index const w = f.cblk(k).width();
    auto const rows = panel_rows(f, k);
    auto const lower = f.lower(k);
    auto l = [&](std::size_t i, Index p) {
        if (static_cast<Index>(i) < p) return T(0);
        return unit && static_cast<Index>(i) == p ? T(1) : lower(static_cast<Index>(i), p);
    };
    auto d = [&](Index p, Index q) {
        if (p == q) return lower(p, p);
        if (p == q + 1) return f.off_diagonal(k)[q];
        if (q == p + 1) return conj_if(form.conjugate(), f.off_diagonal(k)[p]);
        return T(0);
    };
    // The columns of U correspond to the rows of the panel, except for the local permutation.
    auto u = [&](Index p, std::size_t j) {
        if (static_cast<Index>(j) < w)
            return static_cast<Index>(j) < p ? T(0) : lower(p, static_cast<Index>(j));
        return f.upper(k)(static_cast<Index>(j) - w, p);
    };
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < rows.size(); ++j) {
            Index column = rows[j];
            if (form.has_upper() && static_cast<Index>(j) < w)
                column = f.cblk(k).first_col + static_cast<Index>(j);
            T value(0);
            for (Index p = 0; p < w; ++p) {
                if (form.has_upper())
                    value += l(i, p) * u(p, j);
                else if (!form.has_d())
                    value += l(i, p) * conj_if(form.conjugate(), l(j, p));
                else
                    for (Index q = std::max<Index>(0, p - 1); q < std::min(w, p + 2); ++q)
                        value += l(i, p) * d(p, q) * conj_if(form.conjugate(), l(j, q));
            }
            sum(rows[i], column) += value;
        }
}

template <class T> void expect_factors_of(CscMatrix<T> const& a, Factorization kind, int workers) {
    System<T> system(a, kind, workers);
    system.factorize();
    Dense<T> const expected = dense(a, system.structure.inverse); // the permuted matrix
    double const tolerance = 200 * static_cast<double>(epsilon<T>) * largest(expected);
    Dense<T> sum(a.cols);
    for (CblkId k = 0; k < system.structure.num_cblks(); ++k) add_cblk(system.factor, k, sum);
    for (std::size_t i = 0; i < sum.values.size(); ++i)
        ASSERT_LE(std::abs(sum.values[i] - expected.values[i]), tolerance)
            << to_string(kind) << ", " << workers << " workers, entry "
            << i % static_cast<std::size_t>(sum.cols) << ", " << i / static_cast<std::size_t>(sum.cols);
}

TEST(Factors, MultiplyToTheMatrixForEveryFactorization) {
    for (int const workers : {1, 3}) {
        expect_factors_of(real("elast3d:3"), Factorization::llh, workers);
        expect_factors_of(real("lap3d:5"), Factorization::llt, workers);
        expect_factors_of(real("lap3d:5"), Factorization::ldlt, workers);
        expect_factors_of(real("lap2d:7"), Factorization::lu, workers);
        expect_factors_of(real("convdiff3d:3"), Factorization::lu, workers);
        expect_factors_of(convert<float>(real("elast3d:2")), Factorization::ldlh, workers);
        expect_factors_of(complex("hermitian3d:5"), Factorization::llh, workers);
        expect_factors_of(complex("hermitian3d:5"), Factorization::ldlh, workers);
        expect_factors_of(complex("helmholtz3d:5"), Factorization::llt, workers);
        expect_factors_of(complex("helmholtz3d:5"), Factorization::ldlt, workers);
        expect_factors_of(complex("helmholtz3d:5"), Factorization::lu, workers);
    }
}

template <class T> std::vector<T> coefficients(Factor<T> const& factor) {
    std::vector<T> all;
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        auto const bytes = factor.panel(k);
        auto const* const panel = reinterpret_cast<T const*>(bytes.data());
        all.insert(all.end(), panel, panel + bytes.size() / sizeof(T));
    }
    return all;
}

// In the second factorization, tasks assemble their subtrees over the factors of the first.
template <class T> void expect_same_factors_again(CscMatrix<T> const& a, Factorization kind, int workers) {
    System<T> system(a, kind, workers);
    auto const has_panels_below = [](Branch const& branch) { return branch.first < branch.root; };
    ASSERT_TRUE(std::ranges::any_of(system.plan.partition.branches, has_panels_below));
    system.factorize();
    std::vector<T> const first = coefficients(system.factor);
    for (T& value : system.matrix.values) value *= Real<T>(2);
    system.factorize();
    EXPECT_NE(coefficients(system.factor), first);
    for (T& value : system.matrix.values) value /= Real<T>(2);
    system.factorize();
    EXPECT_EQ(coefficients(system.factor), first) << to_string(kind) << ", " << workers << " workers";
}

TEST(Factors, HaveTheSameBitsInARepeatedFactorization) {
    for (int const workers : {1, 3}) {
        expect_same_factors_again(real("lap3d:9"), Factorization::llh, workers);
        expect_same_factors_again(real("lap3d:9"), Factorization::ldlt, workers);
        expect_same_factors_again(real("convdiff3d:5"), Factorization::lu, workers);
        expect_same_factors_again(complex("hermitian3d:8"), Factorization::ldlh, workers);
    }
}

#if defined(__x86_64__)
// A chain with ones on the diagonal, whose last unknown is also connected to the first. The entries of the
// last row of L are powers of the entries next to the diagonal.
template <class T> CscMatrix<T> decaying_chain() {
    Index const n = 60;
    T const next = std::is_same_v<T, float> ? T(1e-5) : T(1e-45);
    CscMatrix<T> a{n, n, Symmetry::symmetric, {0}, {}, {}};
    auto const add = [&](Index i, T value) {
        a.row_ind.push_back(i);
        a.values.push_back(value);
    };
    for (Index j = 0; j < n; ++j) {
        add(j, 1);
        if (j < n - 1) add(j + 1, next);
        if (j == 0) add(n - 1, T(0.5));
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    return a;
}

template <class T>
void expect_denormals(Factorization kind, FactorizeOptions const& options, bool are_expected) {
    for (int const workers : {1, 2}) {
        System<T> system(decaying_chain<T>(), kind, workers, {}, narrow_cblks(), Topology::detect(),
                         OrderingMethod::natural);
        system.factorize(options);
        auto const found = std::ranges::count_if(
            coefficients(system.factor), [](T value) { return std::fpclassify(value) == FP_SUBNORMAL; });
        EXPECT_EQ(found > 0, are_expected) << to_string(kind) << ", " << workers << " workers";
    }
}

TEST(Factors, HaveNoDenormalNumbersIfAllPivotsAreMuchLarger) {
    for (Factorization const kind : {Factorization::lu, Factorization::ldlt})
        for (double const threshold : {0.0, 1e-8}) {
            expect_denormals<float>(kind, {.pivot_threshold = threshold}, threshold == 0);
            expect_denormals<double>(kind, {.pivot_threshold = threshold}, threshold == 0);
        }
    for (double const least : {0.0, 1.0}) {
        expect_denormals<float>(Factorization::llh, {.least_diagonal = least}, least == 0);
        expect_denormals<double>(Factorization::llh, {.least_diagonal = least}, least == 0);
    }
    // The inverses of very large pivots may be denormal.
    expect_denormals<float>(Factorization::lu, {.pivot_threshold = 1e9}, true);
    double volatile smallest = std::numeric_limits<double>::min();
    EXPECT_GT(smallest * 0.5, 0) << "after the factorization, this thread has denormal numbers again";
}
#endif

} // namespace
} // namespace espalier
