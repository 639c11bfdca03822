// Helpers of the tests of this module: small random systems, their factors, and products with the dense
// matrix.
#pragma once

#include <cmath>
#include <set>
#include <span>

#include "factor/pivots.hpp"
#include "factor/support.hpp"
#include "refine/dense.hpp"
#include "solve/solve.hpp"

namespace espalier::testing {

/// A random matrix for a factorization `kind`: a chain, so that the tree is deep, and four more entries in
/// each column. If the factorization chooses pivots, the diagonal does not dominate.
template <class T> CscMatrix<T> random_system(Factorization kind, Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<Index> row(0, n - 1);
    bool const hermitian = is_complex<T> && (kind == Factorization::llh || kind == Factorization::ldlh);
    bool const general = kind == Factorization::lu;
    bool const definite = kind == Factorization::llh || kind == Factorization::llt;
    CscMatrix<T> a;
    a.rows = a.cols = n;
    a.symmetry = general ? Symmetry::general : hermitian ? Symmetry::hermitian : Symmetry::symmetric;
    for (Index j = 0; j < n; ++j) {
        std::set<Index> rows{j};
        if (j + 1 < n) rows.insert(j + 1);
        for (int i = 0; i < 4; ++i)
            if (Index const r = row(random); general || r > j) rows.insert(r);
        for (Index const r : rows) {
            T value = random_scalar<T>(random);
            if (r == j) value = definite ? T(20) + value : T(3) / T(2) * value;
            if (r == j && hermitian) value = T(real_part(value));
            a.row_ind.push_back(r);
            a.values.push_back(value);
        }
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    return a;
}

template <class T> std::vector<T> product(Dense<T> const& a, std::vector<T> const& x) {
    std::vector<T> y(x.size(), T(0));
    for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(a.cols))
        for (Index j = 0; j < a.cols; ++j) add_scaled(a.rows, x[first + j], &a(0, j), y.data() + first);
    return y;
}

/// Options that delay columns.
template <class T> FactorizeOptions delaying() {
    FactorizeOptions options;
    options.pivot_threshold = 100 * static_cast<double>(epsilon<T>);
    options.delays.emplace();
    return options;
}

/// A factorized matrix. The tree is cut as if for many workers, so that all parts of a solve have work for
/// each number of `workers`.
template <class T> struct Factorized : System<T> {
    Factorized(CscMatrix<T> const& a, Factorization factorization, int workers, int cut_for = 5,
               FactorizeOptions const& options = {})
        : System<T>(a, factorization, workers) {
        FactorPlan& cut = this->plan =
            make_factor_plan(this->structure, CostModel{}, threads(cut_for), options_of_plan());
        for (TaskGraph* const graph : {&cut.factor.graph, &cut.solve.graph})
            for (WorkerId& home : graph->home) home %= workers;
        for (WorkerId& owner : cut.owner_of_cblk) owner %= workers;
        cut.factor_schedule = list_schedule(cut.factor.graph, workers);
        cut.solve_candidates.clear();
        for (WorkerId const home : cut.solve.graph.home) cut.solve_candidates.push_back({home, home + 1});
        stats = this->factorize(options);
    }

    FactorizeStats stats;

    static MachineModel threads(int count) {
        MachineModel machine;
        machine.threads = count;
        return machine;
    }
    /// Rows are divided into groups even in small panels.
    static ScheduleOptions options_of_plan() {
        ScheduleOptions options;
        options.sweep_entries = 24;
        return options;
    }

    MatrixView<T> view(std::vector<T>& x) const {
        Index const n = this->structure.n;
        return {x.data(), n, std::ssize(x) / n, n};
    }
};

/// A determinant in double precision, also of a real matrix.
using LogDeterminant = Determinant<std::complex<double>>;

/// Computes the determinant by dense elimination in double precision.
template <class T> LogDeterminant dense_determinant(CscMatrix<T> const& a) {
    auto reference = to_dense<std::complex<double>>(a);
    LogDeterminant determinant;
    for (auto const pivot : eliminate(reference, a.cols)) {
        determinant.phase *= pivot / std::abs(pivot);
        determinant.log_modulus += std::log(std::abs(pivot));
    }
    return determinant;
}

/// The sum of the norms of the columns of F^-1 A - I, for factors of F = A + E. By Hadamard's inequality it
/// bounds the error of log(det(F)), up to terms of second order. `x` contains rows of F^-1 A, and `i` the
/// same rows of I. `sum` adds over processes.
template <class T, class Sum>
double determinant_error(std::vector<T> const& x, std::vector<T> const& i, Index n, Sum const& sum) {
    std::vector<double> squares(n);
    Index const rows = std::ssize(x) / n;
    for (Index k = 0; k < std::ssize(x); ++k)
        squares[k / rows] += static_cast<double>(std::norm(x[k] - i[k]));
    sum(std::span(squares));
    double norms = 0;
    for (double const square : squares) norms += std::sqrt(square);
    return norms;
}

/// `error` is the result of determinant_error(). Returns false, and expects nothing, if the error may change
/// a sign.
template <class T> bool expect_close_determinants(LogDeterminant const& found, LogDeterminant const& expected,
                                                  double error, std::string const& what) {
    if (!(error < 0.25)) return false;
    double const tolerance = 2 * error; // for terms of second order and errors of the solve
    EXPECT_NEAR(found.log_modulus, expected.log_modulus, tolerance) << what;
    EXPECT_NEAR(std::abs(found.phase - expected.phase), 0, is_complex<T> ? tolerance : 1e-12) << what;
    return true;
}

/// The columns of the unit matrix.
template <class T> std::vector<T> unit_vectors(Index n) {
    std::vector<T> all(static_cast<std::size_t>(n * n), T(0));
    for (Index j = 0; j < n; ++j) all[j * n + j] = T(1);
    return all;
}

inline constexpr Factorization all_factorizations[] = {
    Factorization::llh, Factorization::llt, Factorization::ldlt, Factorization::ldlh, Factorization::lu};

} // namespace espalier::testing
