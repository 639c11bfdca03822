#include "solvers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

namespace ma57 {

namespace {

// Sets the options in the environment variable ESPALIER_MA57_OPTIONS, such as "threads=4 ordering=metis".
// Prints mistakes to standard error, because MA57 has no way to report them.
void set_user_options(espalier_solver* solver) {
    char const* text = std::getenv("ESPALIER_MA57_OPTIONS");
    for (std::string_view rest = text ? text : ""; !rest.empty();) {
        std::size_t const end = std::min(rest.find(' '), rest.size());
        std::string const item(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (item.empty()) continue;
        std::size_t const equals = std::min(item.find('='), item.size() - 1);
        std::string const name = item.substr(0, equals), value = item.substr(equals + 1);
        if (espalier_set_option(solver, name.c_str(), value.c_str()) != ESPALIER_OK)
            std::fprintf(stderr, "espalier: ESPALIER_MA57_OPTIONS: %s\n", espalier_message(solver));
    }
}

bool is_finite(double value) {
    return std::isfinite(value);
}

} // namespace

Solver::Solver(Solver&& other) noexcept
    : analysis_(other.analysis_), number_(other.number_), solver_(std::exchange(other.solver_, nullptr)),
      tolerance_(other.tolerance_), stored_(other.stored_), operations_(other.operations_),
      careful_(other.careful_), factors_(std::move(other.factors_)) {}

Solver::~Solver() {
    espalier_destroy(&solver_);
}

bool Solver::succeeded(espalier_status status) {
    factors_.status = status;
    factors_.message = status == ESPALIER_OK ? ""
                       : solver_             ? espalier_message(solver_)
                                             : espalier_status_string(status);
    return status == ESPALIER_OK;
}

void Solver::create(System const& system) {
    if (!succeeded(espalier_create(&solver_, ESPALIER_DOUBLE))) return;
    // Systems of interior-point methods have weak diagonals in changing places. Rank-deficient ones are
    // factorized, too: the caller learns the rank and changes the system.
    espalier_set_factorization(solver_, ESPALIER_LDLT);
    espalier_set_matching(solver_, ESPALIER_ON);
    espalier_set_pivoting(solver_, ESPALIER_PIVOTING_AUTO);
    espalier_set_allow_singular(solver_, 1);
    if (system.entries < 5000)
        espalier_set_threads(solver_, 1); // Waking others would take longer than the work.
    if (system.ordering == 4) espalier_set_ordering(solver_, ESPALIER_ORDERING_METIS);
    if (system.ordering == 0 || system.ordering == 2 || system.ordering == 3)
        espalier_set_ordering(solver_, ESPALIER_ORDERING_AMD);
    if (system.positions) {
        std::vector<std::int64_t> const positions(system.positions, system.positions + system.n);
        succeeded(espalier_set_ordering_positions(solver_, system.n, positions.data(), 1));
    }
    set_user_options(solver_);
}

// Passes the entries of the lower triangle, or only their values.
bool Solver::pass(System const& system, bool pattern) {
    std::vector<int> rows, columns;
    std::vector<double> values;
    values.reserve(system.entries);
    for (int k = 0; k < system.entries; ++k) {
        auto const [column, row] = std::minmax(system.rows[k], system.columns[k]);
        if (column < 1 || row > system.n) continue;
        values.push_back(system.values[k]);
        if (!pattern) continue;
        rows.push_back(row);
        columns.push_back(column);
    }
    auto const count = static_cast<std::int64_t>(values.size());
    if (!pattern) return succeeded(espalier_set_values(solver_, count, values.data()));
    espalier_matrix matrix{};
    matrix.layout = ESPALIER_COO;
    matrix.symmetry = ESPALIER_SYMMETRIC;
    matrix.triangle = ESPALIER_LOWER;
    matrix.index_type = ESPALIER_INT32;
    matrix.base = 1;
    matrix.rows = matrix.cols = system.n;
    matrix.entries = count;
    matrix.pointers = rows.data();
    matrix.indices = columns.data();
    matrix.values = values.data();
    return succeeded(espalier_set_matrix(solver_, &matrix));
}

void Solver::read_results() {
    std::int64_t positive = 0, zero = 0;
    if (!succeeded(espalier_inertia(solver_, &positive, &factors_.negative, &zero))) return;
    factors_.rank = positive + factors_.negative;
    factors_.stored = stored_;
    factors_.operations = operations_;
}

bool Solver::analyze() {
    if (!succeeded(espalier_analyze(solver_))) return false;
    espalier_report_int(solver_, "analysis.nnz_factor", &stored_);
    espalier_report_real(solver_, "analysis.flops", &operations_);
    return true;
}

Factors const& Solver::factorize(System const& system, std::int64_t number, double tolerance) {
    factors_ = {};
    number_ = 0;
    // Infinite and undefined values have no factors. Interior-point methods recover if the rank is 0.
    if (!std::all_of(system.values, system.values + system.entries, is_finite)) return factors_;
    bool const first = !solver_;
    if (first) create(system);
    if (factors_.status != ESPALIER_OK || !pass(system, first)) return factors_;
    bool const fresh = first || tolerance > tolerance_;
    tolerance_ = tolerance;
    if (fresh && !analyze()) return factors_;
    // Only after failures: the pairs of the matching belong to the values of an earlier system.
    bool const found = finds_inertia(system) || (!fresh && analyze() && finds_inertia(system));
    if (factors_.status != ESPALIER_OK) return factors_;
    if (!found) factors_.rank = std::min<std::int64_t>(factors_.rank, system.n - 1);
    number_ = number;
    return factors_;
}

// Factorizes. True if the signs of the pivots are those of the eigenvalues of the matrix: no pivot was
// replaced. Systems that are regularized by small numbers have small pivots that are not zero. If pivots were
// replaced, smaller ones are accepted, and then the factors must pass a check.
bool Solver::finds_inertia(System const& system) {
    if (!careful_) {
        if (!succeeded(espalier_factorize(solver_))) return false;
        read_results();
        if (factors_.status != ESPALIER_OK || factors_.rank == system.n)
            return factors_.status == ESPALIER_OK;
        careful_ = true;
        espalier_set_pivot_threshold(solver_, 1e-14);
    }
    if (!succeeded(espalier_factorize(solver_))) return false;
    read_results();
    return factors_.status == ESPALIER_OK && factors_.rank == system.n && solves_random_system(system);
}

// The factors are those of A + E. The solution x of (A + E) x = b with random b is large in the directions of
// the smallest eigenvalues of A, which determine the inertia: E does not change their signs if its product
// with x is small against b.
bool Solver::solves_random_system(System const& system) {
    std::minstd_rand random(1);
    std::vector<double> b(system.n), x(system.n);
    for (double& value : b) value = random() % 2 == 0 ? 1 : -1;
    if (!succeeded(espalier_solve(solver_, ESPALIER_OP_NONE, 1, b.data(), system.n, x.data(), system.n)))
        return false;
    for (int k = 0; k < system.entries; ++k) {
        int const i = system.rows[k] - 1, j = system.columns[k] - 1;
        if (std::min(i, j) < 0 || std::max(i, j) >= system.n) continue;
        b[i] -= system.values[k] * x[j];
        if (i != j) b[j] -= system.values[k] * x[i];
    }
    double sum = 0;
    for (double const value : b) sum += value * value;
    return sum <= 1e-4 * system.n; // false for NaN, too
}

Factors const& Solver::solve(System const& system, std::int64_t number, int columns, double* x, int leading) {
    if (number_ != number && factorize(system, number, tolerance_).status != ESPALIER_OK) return factors_;
    bool finite = factors_.rank > 0;
    for (int j = 0; j < columns && finite; ++j)
        finite =
            std::all_of(x + j * std::int64_t{leading}, x + j * std::int64_t{leading} + system.n, is_finite);
    if (!finite) {
        for (int j = 0; j < columns; ++j) std::fill_n(x + j * std::int64_t{leading}, system.n, std::nan(""));
        return factors_;
    }
    espalier_status const status = espalier_drive(solver_, ESPALIER_OP_NONE, columns, x, leading, x, leading);
    bool const delivered = status == ESPALIER_INACCURATE || status == ESPALIER_SINGULAR;
    succeeded(delivered ? ESPALIER_OK : status);
    return factors_;
}

Solvers& Solvers::all() {
    static Solvers solvers;
    return solvers;
}

Solver Solvers::take(std::int64_t analysis) {
    std::lock_guard const lock(mutex_);
    auto const found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](Solver const& solver) { return solver.analysis() == analysis; });
    if (found == kept_.end()) return Solver(analysis);
    Solver solver(std::move(*found));
    kept_.erase(found);
    return solver;
}

void Solvers::put(Solver solver) {
    std::list<Solver> dropped; // destroyed without the lock
    std::lock_guard const lock(mutex_);
    kept_.push_back(std::move(solver));
    if (kept_.size() > 4 + std::thread::hardware_concurrency())
        dropped.splice(dropped.begin(), kept_, kept_.begin());
}

std::int64_t Solvers::next_number() {
    std::lock_guard const lock(mutex_);
    return ++last_number_;
}

} // namespace ma57
