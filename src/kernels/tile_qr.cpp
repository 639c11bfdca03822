#include "kernels/tile_qr.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "core/error.hpp"

extern "C" {
// Fortran passes the lengths of character arguments after the other arguments.
void dgeqrt_(int const* m, int const* n, int const* nb, double* a, int const* lda, double* t, int const* ldt,
             double* work, int* info);
void dgemqrt_(char const* side, char const* trans, int const* m, int const* n, int const* k, int const* nb,
              double const* v, int const* ldv, double const* t, int const* ldt, double* c, int const* ldc,
              double* work, int* info, std::size_t, std::size_t);
void dtpqrt_(int const* m, int const* n, int const* l, int const* nb, double* a, int const* lda, double* b,
             int const* ldb, double* t, int const* ldt, double* work, int* info);
void dtpmqrt_(char const* side, char const* trans, int const* m, int const* n, int const* k, int const* l,
              int const* nb, double const* v, int const* ldv, double const* t, int const* ldt, double* a,
              int const* lda, double* b, int const* ldb, double* work, int* info, std::size_t, std::size_t);
}

namespace espalier {

namespace {

// A pentagonal matrix of LAPACK without a triangle is a full matrix.
constexpr int no_triangle = 0;

int size(Index value) {
    return checked_cast<int>(value, "a LAPACK dimension");
}

// An inner block has at most as many columns as there are reflections.
int inner_block(MatrixView<double const> t, Index reflections) {
    return size(std::min(t.rows, reflections));
}

// Calls routine(info), which needs the workspace for `cols` columns.
template <class Routine> void run(char const* name, MatrixView<double const> t, Index cols,
                                  std::span<double const> work, Routine const& routine) {
    Index const wanted = tile_qr_workspace(t.rows, cols);
    if (std::ssize(work) < wanted)
        throw Error(Status::internal, fmt::format("{}: the workspace has {} entries; {} are needed", name,
                                                  work.size(), wanted));
    int info = 0;
    routine(&info);
    if (info != 0)
        throw Error(Status::internal, fmt::format("LAPACK routine {} failed with info = {}", name, info));
}

char const* letter(Op op) {
    return op == Op::none ? "N" : "T";
}

} // namespace

void geqrt(MatrixView<double> a, MatrixView<double> t, std::span<double> work) {
    int const m = size(a.rows), n = size(a.cols), nb = inner_block(t, a.cols), lda = size(a.ld),
              ldt = size(t.ld);
    run("geqrt", t, a.cols, work,
        [&](int* info) { dgeqrt_(&m, &n, &nb, a.data, &lda, t.data, &ldt, work.data(), info); });
}

void unmqr(Op op, MatrixView<double const> v, MatrixView<double const> t, MatrixView<double> c,
           std::span<double> work) {
    int const m = size(c.rows), n = size(c.cols), k = size(v.cols), nb = inner_block(t, v.cols),
              ldv = size(v.ld), ldt = size(t.ld), ldc = size(c.ld);
    run("gemqrt", t, c.cols, work, [&](int* info) {
        dgemqrt_("L", letter(op), &m, &n, &k, &nb, v.data, &ldv, t.data, &ldt, c.data, &ldc, work.data(),
                 info, 1, 1);
    });
}

void tsqrt(MatrixView<double> r, MatrixView<double> a, MatrixView<double> t, std::span<double> work) {
    int const m = size(a.rows), n = size(a.cols), nb = inner_block(t, a.cols), ldr = size(r.ld),
              lda = size(a.ld), ldt = size(t.ld);
    run("tpqrt", t, a.cols, work, [&](int* info) {
        dtpqrt_(&m, &n, &no_triangle, &nb, r.data, &ldr, a.data, &lda, t.data, &ldt, work.data(), info);
    });
}

void tsmqr(Op op, MatrixView<double const> v, MatrixView<double const> t, MatrixView<double> c1,
           MatrixView<double> c2, std::span<double> work) {
    int const m = size(c2.rows), n = size(c2.cols), k = size(v.cols), nb = inner_block(t, v.cols),
              ldv = size(v.ld), ldt = size(t.ld), ld1 = size(c1.ld), ld2 = size(c2.ld);
    run("tpmqrt", t, c2.cols, work, [&](int* info) {
        dtpmqrt_("L", letter(op), &m, &n, &k, &no_triangle, &nb, v.data, &ldv, t.data, &ldt, c1.data, &ld1,
                 c2.data, &ld2, work.data(), info, 1, 1);
    });
}

} // namespace espalier
