#include "distributed/row_exchange.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numeric>

#include "core/status_of.hpp"
#include "distributed/dealt.hpp"
#include "distributed/local_scaling.hpp"
#include "matrix/dense_reference.hpp"

namespace espalier {
namespace {

using Z = std::complex<double>;
constexpr Index num_rows = 29, num_columns = 2;

// The caller's rows on each process: evenly many, all on process 0, or all on the last.
std::vector<std::vector<Index>> distributions(int processes) {
    std::vector<std::vector<Index>> counts(3, std::vector<Index>(processes));
    for (Index i = 0; i < num_rows; ++i) ++counts[0][i % processes];
    counts[1].front() = counts[2].back() = num_rows;
    return counts;
}

TEST(RowExchange, BringsRowsToTheirOwnersAndBack) {
    auto const whole = test::random_vector<Z>(num_rows * num_columns, 1);
    std::vector<Index> callers(num_rows); // the caller's number of each row
    std::iota(callers.begin(), callers.end(), Index(0));
    std::shuffle(callers.begin(), callers.end(), std::mt19937_64(4));
    for (int processes = 1; processes <= 4; ++processes)
        for (auto const& counts : distributions(processes))
            test::with_dealt_rows(num_rows, processes, 3, [&](DistributedRows const& rows) {
                int const rank = rows.comm().rank();
                Index const first = std::accumulate(counts.begin(), counts.begin() + rank, Index(0));
                std::vector<Z> given;
                for (Index c = 0; c < num_columns; ++c)
                    given.insert(given.end(), whole.begin() + c * num_rows + first,
                                 whole.begin() + c * num_rows + first + counts[rank]);
                std::vector<Index> my_callers;
                for (Index l = 0; l < rows.count(); ++l) my_callers.push_back(callers[rows.number(l)]);
                RowExchange const exchange(rows, my_callers, counts[rank]);
                std::vector<Z> local(rows.count() * num_columns), back(given.size());
                exchange.to_owners<Z>(given, local, num_columns);
                for (Index c = 0; c < num_columns; ++c)
                    for (Index l = 0; l < rows.count(); ++l)
                        EXPECT_EQ(local[l + c * rows.count()], whole[my_callers[l] + c * num_rows]);
                exchange.to_caller<Z>(local, back, num_columns);
                EXPECT_EQ(back, given);
            });
}

TEST(RowExchange, RefusesRowsThatDoNotFit) {
    test::with_dealt_rows(num_rows, 3, 3, [&](DistributedRows const& rows) {
        std::vector<Index> numbers = rows.numbers();
        int const rank = rows.comm().rank();
        auto const make = [&](Index given) { return status_of([&] { RowExchange(rows, numbers, given); }); };
        EXPECT_EQ(make(rank == 0 ? num_rows - 1 : 0), Status::usage);
        EXPECT_EQ(make(rank == 0 ? num_rows + 1 : rank == 1 ? -1 : 0), Status::usage);
        EXPECT_EQ(make(rank == 0 ? num_rows : 0), Status::ok);
        if (rank == 2) numbers[0] = num_rows;
        EXPECT_EQ(make(rank == 0 ? num_rows : 0), Status::usage);
    });
}

TEST(LocalScaling, IsThatOfTheWholeSystem) {
    auto a = test::random_matrix<double>(num_rows, num_rows, Symmetry::general, 0.3, 2);
    for (Index j = 0; j < num_rows; ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p)
            a.values[p] *= std::ldexp(1.0, static_cast<int>(a.row_ind[p] % 7 - 3 * (j % 5)));
    ScaledSystem<double> const system(a, {.kind = Factorization::lu, .matching = Toggle::on});
    ASSERT_TRUE(system.is_scaled() && system.is_permuted());
    auto const b = test::random_vector<double>(num_rows * num_columns, 1);
    for (MatrixOp const op : {MatrixOp::none, MatrixOp::adjoint}) {
        auto b_working = b, x_working = b, x = b;
        system.to_working(b_working, num_columns, op);
        system.solution_to_working(x_working, num_columns, op);
        system.from_working(x, num_columns, op);
        for (int processes = 1; processes <= 3; ++processes)
            test::with_dealt_rows(num_rows, processes, 3, [&](DistributedRows const& rows) {
                bool const is_root = rows.comm().rank() == 0;
                auto const scaling = deal_scaling(rows, is_root ? &system : nullptr);
                Index const given = is_root ? num_rows : 0;
                RowExchange const of_rows(rows, scaling.callers_row, given);
                RowExchange const of_columns(rows, scaling.callers_column, given);
                auto const& for_b = op == MatrixOp::none ? of_rows : of_columns;
                auto const& for_x = op == MatrixOp::none ? of_columns : of_rows;
                auto const mine = is_root ? b : std::vector<double>();
                std::vector<double> local(rows.count() * num_columns);
                for_b.to_owners<double>(mine, local, num_columns);
                scaling.to_working<double>(local, num_columns, op);
                EXPECT_EQ(local, test::local_part(rows, b_working, num_columns));
                for_x.to_owners<double>(mine, local, num_columns);
                scaling.solution_to_working<double>(local, num_columns, op);
                EXPECT_EQ(local, test::local_part(rows, x_working, num_columns));
                local = test::local_part(rows, b, num_columns);
                scaling.from_working<double>(local, num_columns, op);
                std::vector<double> back(given * num_columns);
                for_x.to_caller<double>(local, back, num_columns);
                EXPECT_EQ(back, is_root ? x : std::vector<double>());
            });
    }
}

} // namespace
} // namespace espalier
