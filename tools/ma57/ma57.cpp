// The Fortran interface of MA57, a solver for sparse symmetric indefinite systems, on Espalier. Programs that
// load HSL at run time find the symbols ma57id_, ma57ad_, ma57bd_, ma57cd_ and ma57ed_ here: docs/programs.md
// says what is equal and what differs. Nothing of HSL is contained or needed. The meaning of the arguments is
// that of the public documentation of MA57.
//
// The arrays of the caller contain the system: KEEP the pattern, FACT the values, and IFACT the pattern
// again, because ma57cd_ gets only the last two. Numbers in KEEP and IFACT identify the analysis and the
// factorization.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "solvers.hpp"

#define MA57_API extern "C" __attribute__((visibility("default")))

namespace {

using ma57::Factors;
using ma57::Solver;
using ma57::Solvers;
using ma57::System;

constexpr int magic_keep = 0x4B35374D, magic_fact = 0x4635374D;
constexpr int head_size = 10; // integers before the pattern

// Numbers of the array INFO in the documentation, which count from 1.
enum Info {
    state = 0,
    detail = 1,
    out_of_range = 2,
    duplicates = 3,
    real_forecast = 8,
    integer_forecast = 9,
    entries_stored = 13,
    reals_stored = 14,
    integers_stored = 15,
    reals_needed = 16,
    integers_needed = 17,
    negative_pivots = 23,
    rank = 24
};
enum Icntl { error_stream = 0, print_level = 4, ordering = 5, pivoting = 6 };

int bounded(double value) {
    return static_cast<int>(std::min<double>(value, std::numeric_limits<int>::max()));
}

// The head of KEEP and IFACT.
struct Head {
    int magic;
    int n;
    int entries;
    int ordering;
    std::int64_t analysis;
    std::int64_t number;
    int ignored;   // entries out of range
    int has_order; // 1: the positions of the pivots follow the pattern
};
static_assert(sizeof(Head) == head_size * sizeof(int));

Head head_of(int const* array) {
    Head head;
    std::memcpy(&head, array, sizeof head);
    return head;
}

System system_of(Head const& head, int const* array, double const* values) {
    int const* rows = array + head_size;
    int const* columns = rows + head.entries;
    return {head.n,       head.entries, rows,
            columns,      values,       head.has_order ? columns + head.entries : nullptr,
            head.ordering};
}

std::int64_t integers_of(Head const& head) {
    return head_size + 2 * std::int64_t{head.entries} + (head.has_order ? head.n : 0);
}

// Stores an error, and prints it if the caller asked for that.
void fail(int* info, int const* icntl, int code, int value, char const* text) {
    info[state] = code;
    info[detail] = value;
    if (icntl && icntl[print_level] >= 1 && icntl[error_stream] >= 0)
        std::fprintf(stderr, "espalier: MA57: error %d: %s\n", code, text);
}

// Codes below -1000 are not those of MA57: -1000 minus the status of Espalier.
void fail(int* info, int const* icntl, Factors const& factors) {
    fail(info, icntl, -1000 - static_cast<int>(factors.status), 0, factors.message.c_str());
}

// No exception may reach a caller in Fortran or C.
template <class Body> void without_exceptions(int* info, int const* icntl, Body const& body) noexcept {
    try {
        body();
    } catch (std::bad_alloc const&) {
        fail(info, icntl, -1000 - ESPALIER_OUT_OF_MEMORY, 0, "out of memory");
    } catch (...) {
        fail(info, icntl, -1000 - ESPALIER_INTERNAL, 0, "internal error");
    }
}

// The number of entries at places where other entries are, too.
int count_duplicates(int n, int entries, int const* rows, int const* columns) {
    std::vector<std::pair<int, int>> places;
    for (int k = 0; k < entries; ++k) {
        auto const place = std::minmax(rows[k], columns[k]);
        if (place.first >= 1 && place.second <= n) places.push_back(place);
    }
    std::sort(places.begin(), places.end());
    auto const distinct = std::unique(places.begin(), places.end());
    return static_cast<int>(places.end() - distinct);
}

bool is_valid_order(int n, int const* positions, int* info, int const* icntl) {
    std::vector<char> seen(n, 0);
    for (int k = 0; k < n; ++k) {
        if (positions[k] < 1 || positions[k] > n || seen[positions[k] - 1]) {
            fail(info, icntl, -9, k + 1, "KEEP does not contain a permutation, but ICNTL(6) = 1");
            return false;
        }
        seen[positions[k] - 1] = 1;
    }
    return true;
}

} // namespace

/// Default values of the control parameters.
MA57_API void ma57id_(double* cntl, int* icntl) {
    double const reals[5] = {0.01, 1e-20, 0.5, 0.0, 0.0};
    std::copy_n(reals, 5, cntl);
    int const integers[16] = {6, 6, 6, -1, 2, 5, 1, 0, 10, 0, 16, 16, 10, 100, 1, 0};
    std::fill_n(std::copy_n(integers, 16, icntl), 4, 0);
}

/// Stores the pattern. The analysis itself needs values, and is done by the first factorization.
MA57_API void ma57ad_(int const* n, int const* ne, int const* irn, int const* jcn, int const* lkeep,
                      int* keep, int*, int const* icntl, int* info, double* rinfo) {
    std::fill_n(info, 40, 0);
    std::fill_n(rinfo, 20, 0.0);
    if (*n < 1) return fail(info, icntl, -1, *n, "N is below 1");
    if (*ne < 0) return fail(info, icntl, -2, *ne, "NE is negative");
    if (*lkeep < 5 * std::int64_t{*n} + *ne + std::max(*n, *ne) + 42)
        return fail(info, icntl, -15, *lkeep, "LKEEP is below 5 N + NE + max(N, NE) + 42");
    without_exceptions(info, icntl, [&] {
        Head head{magic_keep,          *n, *ne, icntl[ordering], Solvers::all().next_number(), 0, 0,
                  icntl[ordering] == 1};
        std::vector<int> positions;
        if (head.has_order) {
            if (!is_valid_order(*n, keep, info, icntl)) return;
            positions.assign(keep, keep + *n);
        }
        for (int k = 0; k < *ne; ++k)
            if (std::min(irn[k], jcn[k]) < 1 || std::max(irn[k], jcn[k]) > *n) ++head.ignored;
        int* next = std::copy_n(irn, *ne, keep + head_size);
        next = std::copy_n(jcn, *ne, next);
        std::copy(positions.begin(), positions.end(), next);
        std::memcpy(keep, &head, sizeof head);
        info[out_of_range] = head.ignored;
        info[duplicates] = count_duplicates(*n, *ne, irn, jcn);
        info[state] = (info[out_of_range] > 0 ? 1 : 0) + (info[duplicates] > 0 ? 2 : 0); // warnings
        info[real_forecast] = std::max(*ne, 1);
        info[integer_forecast] = bounded(static_cast<double>(integers_of(head)));
    });
}

/// Factorizes. A matrix with replaced pivots counts as rank deficient, because their signs are not known.
MA57_API void ma57bd_(int const* n, int const* ne, double const* a, double* fact, int const* lfact,
                      int* ifact, int const* lifact, int const*, int const* keep, int*, int const* icntl,
                      double const* cntl, int* info, double* rinfo) {
    std::fill_n(info, 40, 0);
    std::fill_n(rinfo, 20, 0.0);
    Head head = head_of(keep);
    if (head.magic != magic_keep || *n != head.n) return fail(info, icntl, -1, *n, "N is not that of MA57AD");
    if (*ne != head.entries) return fail(info, icntl, -2, *ne, "NE is not that of MA57AD");
    if (icntl[pivoting] < 1 || icntl[pivoting] > 4)
        return fail(info, icntl, -10, icntl[pivoting], "ICNTL(7) is not 1, 2, 3 or 4");
    info[reals_needed] = std::max(*ne, 1);
    info[integers_needed] = bounded(static_cast<double>(integers_of(head)));
    if (*lfact < info[reals_needed]) return fail(info, icntl, -3, *lfact, "LFACT is below INFO(17)");
    if (*lifact < integers_of(head)) return fail(info, icntl, -4, *lifact, "LIFACT is below INFO(18)");
    without_exceptions(info, icntl, [&] {
        std::copy_n(a, *ne, fact);
        std::copy_n(keep, integers_of(head), ifact);
        head.magic = magic_fact;
        head.number = Solvers::all().next_number();
        std::memcpy(ifact, &head, sizeof head);

        Solver solver = Solvers::all().take(head.analysis);
        Factors const factors = solver.factorize(system_of(head, ifact, fact), head.number, cntl[0]);
        Solvers::all().put(std::move(solver));
        if (factors.status != ESPALIER_OK) return fail(info, icntl, factors);
        info[out_of_range] = head.ignored;
        info[entries_stored] = info[reals_stored] = info[integers_stored] =
            bounded(static_cast<double>(factors.stored));
        info[negative_pivots] = bounded(static_cast<double>(factors.negative));
        info[rank] = bounded(static_cast<double>(factors.rank));
        rinfo[2] = rinfo[3] = factors.operations / 2;
        bool const indefinite = factors.negative > 0 && factors.negative < factors.rank;
        if (icntl[pivoting] == 2 && factors.rank < *n)
            return fail(info, icntl, -5, info[rank], "a pivot is zero, but ICNTL(7) = 2");
        if (icntl[pivoting] == 2 && indefinite)
            return fail(info, icntl, -6, 0, "pivots have different signs, but ICNTL(7) = 2");
        if (factors.rank < *n)
            info[state] = 4;
        else if (icntl[pivoting] == 3 && indefinite)
            info[state] = 5;
    });
}

/// Solves A X = B in place.
MA57_API void ma57cd_(int const* job, int const* n, double const* fact, int const*, int const* ifact,
                      int const*, int const* nrhs, double* rhs, int const* lrhs, double*, int const* lwork,
                      int*, int const* icntl, int* info) {
    std::fill_n(info, 40, 0);
    Head const head = head_of(ifact);
    if (head.magic != magic_fact || *n != head.n) return fail(info, icntl, -1, *n, "N is not that of MA57BD");
    if (*nrhs < 1) return fail(info, icntl, -16, *nrhs, "NRHS is below 1");
    if (*lrhs < *n) return fail(info, icntl, -11, *lrhs, "LRHS is below N");
    if (*lwork < *n * std::int64_t{*nrhs})
        return fail(info, icntl, -17, bounded(static_cast<double>(*n) * *nrhs), "LWORK is below N * NRHS");
    if (*job >= 2 && *job <= 4)
        return fail(info, icntl, -1000 - ESPALIER_UNSUPPORTED, *job,
                    "partial solves (JOB = 2, 3, 4) are not available");
    without_exceptions(info, icntl, [&] {
        Solver solver = Solvers::all().take(head.analysis);
        Factors const factors = solver.solve(system_of(head, ifact, fact), head.number, *nrhs, rhs, *lrhs);
        Solvers::all().put(std::move(solver));
        if (factors.status != ESPALIER_OK) fail(info, icntl, factors);
    });
}

/// Copies FACT (IC <= 0) or IFACT to a larger array.
MA57_API void ma57ed_(int const*, int const* ic, int const*, double const* fact, int const* lfact,
                      double* newfac, int const* lnew, int const* ifact, int const* lifact, int* newifc,
                      int const* linew, int* info) {
    info[state] = info[detail] = 0;
    if (*ic <= 0) {
        if (*lnew < *lfact) return fail(info, nullptr, -7, *lnew, "");
        std::copy_n(fact, *lfact, newfac);
    } else {
        if (*linew < *lifact) return fail(info, nullptr, -7, *linew, "");
        std::copy_n(ifact, *lifact, newifc);
    }
}
