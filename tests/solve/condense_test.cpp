// The two halves of a solve around a Schur complement, against dense elimination.
#include <gtest/gtest.h>

#include "solve/system.hpp"

namespace espalier {
namespace {

using namespace testing;

// The interior rows and the kept rows in the caller's order.
struct Rows {
    explicit Rows(BlockStructure const& structure) {
        for (Index i = 0; i < structure.n; ++i) {
            auto const column = static_cast<std::size_t>(structure.perm[i]);
            bool const is_kept = structure.cblk_of_col[column] >= structure.first_kept_cblk;
            (is_kept ? kept : interior).push_back(i);
        }
    }
    std::vector<Index> interior, kept;
};

template <class T> Dense<T> interior_block(Dense<T> const& a, Rows const& rows) {
    Dense<T> block(static_cast<Index>(rows.interior.size()));
    for (Index j = 0; j < block.cols; ++j)
        for (Index i = 0; i < block.cols; ++i) block(i, j) = a(rows.interior[i], rows.interior[j]);
    return block;
}

// b_s - A_si A_ii^-1 b_i.
template <class T> std::vector<T> condensed(Dense<T> const& a, Rows const& rows, std::span<T const> b) {
    std::vector<T> y;
    for (Index const i : rows.interior) y.push_back(b[i]);
    DenseLu<T>(interior_block(a, rows)).solve(y.data(), MatrixOp::none);
    std::vector<T> result;
    for (Index const s : rows.kept) {
        T sum = b[s];
        for (std::size_t i = 0; i < y.size(); ++i) sum -= a(s, rows.interior[i]) * y[i];
        result.push_back(sum);
    }
    return result;
}

template <class T> std::vector<T> pick(std::span<T const> x, std::vector<Index> const& rows) {
    std::vector<T> result;
    for (Index const i : rows) result.push_back(x[i]);
    return result;
}

// The structure is factorized as a whole; then its last cblks are declared kept. The elimination of the other
// cblks does not depend on them.
template <class T> void check_condense_and_expand(Factorization kind, int workers) {
    Index const n = 90;
    auto const a = random_system<T>(kind, n, 21);
    Factorized<T> f(a, kind, workers);
    auto& structure = f.structure;
    structure.first_kept_cblk = structure.num_cblks() - 3;
    ASSERT_EQ(f.plan.partition.branches.back().first, structure.num_cblks() - 1); // no branch has both kinds
    Rows const rows(structure);
    ASSERT_GT(rows.kept.size(), 10U);
    for (MatrixOp const op : all_ops)
        for (Index const nrhs : {1, 3, 65}) {
            auto const dense = to_dense(a, op);
            auto const solution = random_vector<T>(n * nrhs, 2);
            auto const b = product(dense, solution);
            auto x = b;
            condense<T>(f.factor, f.plan, f.view(x), f.team, {op, nullptr});
            auto const column = [&](std::vector<T> const& block, Index j) {
                return std::span<T const>(block).subspan(static_cast<std::size_t>(j * n),
                                                         static_cast<std::size_t>(n));
            };
            for (Index j = 0; j < nrhs; j += 32)
                EXPECT_LE(difference(pick(column(x, j), rows.kept), condensed(dense, rows, column(b, j))),
                          1e-10)
                    << to_string(kind) << ", op " << to_string(op) << ", column " << j << " of " << nrhs;
            for (Index j = 0; j < nrhs; ++j)
                for (Index const s : rows.kept)
                    x[static_cast<std::size_t>(j * n + s)] = solution[static_cast<std::size_t>(j * n + s)];
            expand<T>(f.factor, f.plan, f.view(x), f.team, {op, nullptr});
            EXPECT_LE(difference(x, solution), 1e-8)
                << to_string(kind) << ", op " << to_string(op) << ", " << nrhs << " columns";
        }
}

TEST(Condense, EliminatesTheInteriorAndExpandSolvesForIt) {
    for (Factorization const kind : all_factorizations)
        for (int const workers : {1, 3}) {
            check_condense_and_expand<double>(kind, workers);
            check_condense_and_expand<std::complex<double>>(kind, workers);
        }
}

TEST(Condense, IsHalfASolveWhenNothingIsKept) {
    auto const a = random_system<std::complex<double>>(Factorization::ldlh, 90, 4);
    Factorized<std::complex<double>> f(a, Factorization::ldlh, 2);
    for (MatrixOp const op : all_ops) {
        auto whole = random_vector<std::complex<double>>(90 * 2, 6);
        auto halves = whole;
        solve<std::complex<double>>(f.factor, f.plan, f.view(whole), f.team, {op, nullptr});
        condense<std::complex<double>>(f.factor, f.plan, f.view(halves), f.team, {op, nullptr});
        expand<std::complex<double>>(f.factor, f.plan, f.view(halves), f.team, {op, nullptr});
        EXPECT_EQ(halves, whole);
    }
}

TEST(Condense, ChangesNothingWhenEverythingIsKept) {
    auto const a = random_system<double>(Factorization::lu, 60, 4);
    Factorized<double> f(a, Factorization::lu, 2);
    f.structure.first_kept_cblk = 0;
    auto const b = random_vector<double>(60 * 2, 6);
    auto x = b;
    condense<double>(f.factor, f.plan, f.view(x), f.team);
    EXPECT_EQ(x, b);
    expand<double>(f.factor, f.plan, f.view(x), f.team);
    EXPECT_EQ(x, b);
}

} // namespace
} // namespace espalier
