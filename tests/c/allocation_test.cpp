// Every allocation fails in turn. The k-th allocation fails, alone or with all later ones, for k = 0, 1, ...
// until a run makes fewer allocations. Each run must end with a status, and the handle must solve the system
// afterwards.
//
//     test_c_allocation new|malloc [approximate number for each setting]
//
// With "new", operator new fails, which is all that Espalier itself uses. With "malloc", the functions of the
// C library fail, too, as in the libraries that Espalier calls. docs/c.md describes two exceptions: hwloc
// crashes (so the handle is made before), and SCOTCH ends the process (so METIS and AMD order).
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/failing_new.hpp"

extern "C" {
#include "problems.h"
}

namespace {

#ifdef ESPALIER_SANITIZED // has a malloc of its own
constexpr bool replaces_malloc = false;
#else
constexpr bool replaces_malloc = true;
#endif
bool malloc_fails_too = false;
using failing_new::countdown, failing_new::fails, failing_new::hits, failing_new::keeps_failing;

} // namespace

#ifndef ESPALIER_SANITIZED
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

void* malloc(std::size_t size) noexcept {
    return malloc_fails_too && fails() ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
    return malloc_fails_too && fails() ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
    return malloc_fails_too && fails() ? nullptr : __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return malloc_fails_too && fails() ? nullptr : failing_new::__libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
    if (malloc_fails_too && fails()) return ENOMEM;
    *memory = failing_new::__libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
}
#endif

namespace {

int failures = 0;
char const* const trace_path = "c_allocation_test.paje";

struct Setting {
    char const* name;
    espalier_factorization kind;
    int threads;
    bool mixed;
    bool traced = false; // the run and a prediction are written as traces
};

class Run {
  public:
    Run(problem const& p, Setting const& setting) : problem_(p), setting_(setting), b_(p.n), x_(p.n) {
        for (int i = 0; i < p.n; ++i) b_[i] = 1 + i % 5;
    }

    /// Whether the k-th allocation was reached.
    bool fail_at(long k, bool from_then_on) {
        espalier_matrix const matrix = described(&problem_);
        espalier_solver* solver = nullptr;
        espalier_status status = ESPALIER_OK;
        hits = 0;
        keeps_failing = from_then_on;
        if (malloc_fails_too) {
            status = espalier_create(&solver, ESPALIER_DOUBLE);
            espalier_set_option(solver, "ordering", setting_.threads == 1 ? "amd" : "metis");
        }
        countdown = k;
        if (!solver) status = espalier_create(&solver, ESPALIER_DOUBLE);
        if (status == ESPALIER_OK) status = set_up(solver, matrix);
        if (status == ESPALIER_OK) status = solve(solver);
        countdown = -1;
        bool const reached = hits > 0;
        starved_ += status == ESPALIER_OUT_OF_MEMORY;
        if (status != ESPALIER_OK && !(reached && status == ESPALIER_OUT_OF_MEMORY))
            complain(k, from_then_on, solver, "ended", status);
        if (status == ESPALIER_OK && !is_solved()) complain(k, from_then_on, solver, "is wrong", status);
        if (solver && status != ESPALIER_OK && espalier_message(solver)[0] == '\0')
            complain(k, from_then_on, solver, "says nothing", status);

        // Once more, with the same handle if there is one.
        if (!solver) espalier_create(&solver, ESPALIER_DOUBLE);
        status = set_up(solver, matrix);
        if (status == ESPALIER_OK) status = solve(solver);
        if (status != ESPALIER_OK || !is_solved()) complain(k, from_then_on, solver, "afterwards", status);
        fail_refactorization(k, from_then_on, solver);
        espalier_destroy(&solver);
        return reached;
    }

    /// The number of factorizations of other values that failed.
    [[nodiscard]] long lost() const { return lost_; }
    /// The number of runs that ended for lack of memory.
    [[nodiscard]] long starved() const { return starved_; }

  private:
    espalier_status set_up(espalier_solver* solver, espalier_matrix const& matrix) const {
        espalier_status status = espalier_set_threads(solver, setting_.threads);
        if (status == ESPALIER_OK) status = espalier_set_bind_threads(solver, 0);
        if (status == ESPALIER_OK) status = espalier_set_factorization(solver, setting_.kind);
        if (status == ESPALIER_OK) status = espalier_set_mixed_precision(solver, setting_.mixed);
        if (status == ESPALIER_OK) status = espalier_set_record_trace(solver, setting_.traced);
        if (status == ESPALIER_OK) status = espalier_set_matrix(solver, &matrix);
        return status;
    }

    espalier_status solve(espalier_solver* solver) {
        std::fill(x_.begin(), x_.end(), 0.0);
        int64_t count = 0;
        espalier_status status = espalier_analyze(solver);
        if (status == ESPALIER_OK) status = espalier_factorize(solver);
        if (status == ESPALIER_OK)
            status =
                espalier_solve(solver, ESPALIER_OP_NONE, 1, b_.data(), problem_.n, x_.data(), problem_.n);
        if (status == ESPALIER_OK)
            status =
                espalier_refine(solver, ESPALIER_OP_NONE, 1, b_.data(), problem_.n, x_.data(), problem_.n);
        if (status == ESPALIER_OK) status = espalier_report_count(solver, &count);
        if (status == ESPALIER_OK && setting_.traced) status = write_traces(solver);
        return status;
    }

    // After a factorization that fails at any point, there are no factors.
    void fail_refactorization(long k, bool from_then_on, espalier_solver* solver) {
        std::vector<double> const values(problem_.value, problem_.value + problem_.entries);
        countdown = k;
        espalier_status const status = espalier_refactorize(solver, problem_.entries, values.data());
        countdown = -1;
        espalier_status const solved =
            espalier_solve(solver, ESPALIER_OP_NONE, 1, b_.data(), problem_.n, x_.data(), problem_.n);
        lost_ += status != ESPALIER_OK;
        if ((status != ESPALIER_OK && status != ESPALIER_OUT_OF_MEMORY) ||
            solved != (status == ESPALIER_OK ? ESPALIER_OK : ESPALIER_USAGE))
            complain(k, from_then_on, solver, "factorized again", status);
    }

    static espalier_status write_traces(espalier_solver* solver) {
        espalier_prediction prediction{};
        espalier_status status = espalier_predict(solver, 2, 2, &prediction);
        if (status == ESPALIER_OK) status = espalier_write_predicted_trace(solver, trace_path, 2, 2, nullptr);
        if (status == ESPALIER_OK) status = espalier_write_trace(solver, trace_path, "grid");
        return status;
    }

    [[nodiscard]] bool is_solved() const { return residual(&problem_, 0, x_.data(), b_.data()) < 1e-9; }

    void complain(long k, bool from, espalier_solver* solver, char const* what,
                  espalier_status status) const {
        ++failures;
        std::fprintf(stderr, "%s, allocation %ld%s: %s: %s: %s\n", setting_.name, k, from ? " and later" : "",
                     what, espalier_status_string(status), espalier_message(solver));
    }

    problem const& problem_;
    Setting setting_;
    std::vector<double> b_;
    std::vector<double> x_;
    long starved_ = 0, lost_ = 0;
};

// All allocations, or about `most` of them, from all parts of a run.
void sweep(problem const& p, Setting const& setting, long most) {
    Run run(p, setting);
    long total = 0;
    for (long step = 1 << 20; step > 0; step /= 2) // the number of allocations
        if (run.fail_at(total + step, false)) total += step;
    long tried = 0;
    for (bool const from : {false, true})
        for (long k = 0; k <= total; k += 1 + total / most, ++tried) run.fail_at(k, from);
    std::printf("%s: %ld allocations, %ld tried, %ld ended for want of memory\n", setting.name, total + 1,
                tried, run.starved());
    if (run.lost() == 0 || run.starved() < tried / 2) { // nearly all allocations are needed
        ++failures;
        std::fprintf(stderr, "%s: hardly any allocation failed\n", setting.name);
    }
}

} // namespace

int main(int argc, char** argv) {
    malloc_fails_too = argc > 1 && std::string_view(argv[1]) == "malloc";
    if (malloc_fails_too && !replaces_malloc) return 77;
    long const most = argc > 2 ? std::atol(argv[2]) : 50;
    problem symmetric = laplacian(17, 0);
    problem general = convection(17, 0.3);
    problem indefinite = saddle(300);
    Setting const llh{"llh, 1 thread", ESPALIER_LLH, 1, false},
        llh2{"llh, 2 threads", ESPALIER_LLH, 2, false}, lu{"lu, 1 thread", ESPALIER_LU, 1, false},
        lu2{"lu, 2 threads", ESPALIER_LU, 2, false}, ldlt{"ldlt, 1 thread", ESPALIER_LDLT, 1, false},
        ldlt2{"ldlt, 2 threads", ESPALIER_LDLT, 2, false},
        mixed{"llh mixed, 2 threads", ESPALIER_LLH, 2, true},
        traced{"llh traced, 2 threads", ESPALIER_LLH, 2, false, true};
    for (Setting const& setting : {llh, llh2, mixed}) sweep(symmetric, setting, most);
    sweep(symmetric, traced, most / 2);
    for (Setting const& setting : {lu, lu2}) sweep(general, setting, most);
    for (Setting const& setting : {ldlt, ldlt2}) sweep(indefinite, setting, most);
    std::remove(trace_path);
    free_problem(&symmetric);
    free_problem(&general);
    free_problem(&indefinite);
    if (failures) std::fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
