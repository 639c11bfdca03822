#include "distributed/overlapping_block.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "common/matrices.hpp"
#include "distributed/dealt.hpp"

namespace espalier {
namespace {

using Overlap = OverlappingBlock<double>::Overlap;
constexpr Index system_order = 40;

/// Whether (i, j) or (j, i) is an entry of sparse_matrix().
bool is_coupled(Index i, Index j) {
    return i == j || (i * 7 + j * 3) % 17 == 0 || (j * 7 + i * 3) % 17 == 0;
}

CscMatrix<double> sparse_matrix(Symmetry symmetry) {
    return matrix_of<double>(system_order, symmetry, [symmetry](Index i, Index j) {
        bool const is_stored =
            symmetry == Symmetry::general ? i == j || (i * 7 + j * 3) % 17 == 0 : is_coupled(i, j);
        return is_stored ? static_cast<double>(1 + i * system_order + j) : 0.0;
    });
}

TEST(OverlappingBlock, HasTheRowsOfItsProcessAndTheirNeighbors) {
    std::vector<Index> numbers(system_order);
    std::iota(numbers.begin(), numbers.end(), Index(0));
    for (auto const symmetry : {Symmetry::general, Symmetry::symmetric})
        test::with_dealt_rows(system_order, 4, 5, [&](DistributedRows const& rows) {
            auto const a = sparse_matrix(symmetry);
            OverlappingBlock<double> const block(rows, rows.comm().rank() == 0 ? &a : nullptr, 1, numbers);
            std::vector<Index> expected;
            for (Index i = 0; i < system_order; ++i)
                for (Index l = 0; l < rows.count(); ++l)
                    if (is_coupled(i, rows.number(l))) {
                        expected.push_back(i);
                        break;
                    }
            EXPECT_EQ(block.labels(), expected);
            auto const part = matrix_of<double>(std::ssize(expected), symmetry, [&](Index i, Index j) {
                Index const row = expected[i], column = expected[j];
                bool const is_stored =
                    symmetry != Symmetry::general || row == column || (row * 7 + column * 3) % 17 == 0;
                return is_stored && is_coupled(row, column)
                           ? static_cast<double>(1 + row * system_order + column)
                           : 0.0;
            });
            EXPECT_EQ(block.matrix().col_ptr, part.col_ptr);
            EXPECT_EQ(block.matrix().row_ind, part.row_ind);
            EXPECT_EQ(block.matrix().values, part.values);
        });
}

TEST(OverlappingBlock, TakesNewValues) {
    test::with_dealt_rows(system_order, 3, 2, [](DistributedRows const& rows) {
        auto a = sparse_matrix(Symmetry::general);
        bool const is_root = rows.comm().rank() == 0;
        OverlappingBlock<double> block(rows, is_root ? &a : nullptr, 1);
        auto expected = block.matrix().values;
        for (double& value : expected) value *= 2;
        for (double& value : a.values) value *= 2;
        block.set_values(is_root ? &a : nullptr);
        EXPECT_EQ(block.matrix().values, expected);
        EXPECT_TRUE(block.labels().empty());
    });
}

TEST(OverlappingBlock, ExchangesTheRowsOfTheOverlap) {
    std::vector<Index> numbers(system_order);
    std::iota(numbers.begin(), numbers.end(), Index(0));
    test::with_dealt_rows(system_order, 3, 8, [&](DistributedRows const& rows) {
        auto const a = sparse_matrix(Symmetry::general);
        OverlappingBlock<double> block(rows, rows.comm().rank() == 0 ? &a : nullptr, 1, numbers);
        Index const size = block.matrix().rows, count = rows.count();
        for (Index const columns : {1, 3, 2}) {
            std::vector<double> own(count * columns), extended(size * columns, -1);
            for (Index c = 0; c < columns; ++c)
                for (Index l = 0; l < count; ++l)
                    own[c * count + l] = static_cast<double>(100 * c + rows.number(l));
            block.extend(own, extended, columns, Overlap::exchanged);
            for (Index c = 0; c < columns; ++c)
                for (Index k = 0; k < size; ++k)
                    EXPECT_EQ(extended[c * size + k], static_cast<double>(100 * c + block.labels()[k]));
            std::vector<double> back(own.size(), -1);
            block.restrict_to_owners(extended, back, columns, Overlap::ignored);
            EXPECT_EQ(back, own);
            // Each block that has a row adds its number once.
            block.restrict_to_owners(extended, back, columns, Overlap::exchanged);
            double all = 0, added = 0;
            for (double const value : extended) all += value;
            for (double const value : back) added += value;
            EXPECT_EQ(sum(rows.comm(), all), sum(rows.comm(), added));
            block.extend(own, extended, columns, Overlap::ignored);
            double inside = 0, owned = 0;
            for (double const value : extended) inside += value;
            for (double const value : own) owned += value;
            EXPECT_EQ(inside, owned);
        }
    });
}

TEST(OverlappingBlock, KeepsGroupsOfRowsTogether) {
    auto const a = sparse_matrix(Symmetry::symmetric);
    std::vector<Index> labels(system_order / 4), reversed(system_order / 4);
    std::iota(labels.begin(), labels.end(), Index(0));
    std::iota(reversed.rbegin(), reversed.rend(), Index(0));
    for (auto const& positions : {std::vector<Index>{}, reversed}) {
        auto const parts = contiguous_parts<double>(a, 3, 4, positions);
        std::vector<Index> all;
        for (auto const& part : parts) {
            ASSERT_EQ(part.size() % 4, 0U);
            EXPECT_GE(part.size(), 8U); // about a third of the entries each
            for (std::size_t k = 0; k < part.size(); ++k) EXPECT_EQ(part[k] - part[k - k % 4], Index(k % 4));
            if (positions.empty())
                all.insert(all.end(), part.begin(), part.end());
            else
                all.insert(all.begin(), part.begin(), part.end());
        }
        for (Index i = 0; i < system_order; ++i) EXPECT_EQ(all[i], i);
        run_processes(3, [&](Communicator const& comm) {
            DistributedRows const rows(comm, parts[comm.rank()]);
            OverlappingBlock<double> const block(rows, comm.rank() == 0 ? &a : nullptr, 4, labels);
            EXPECT_EQ(block.matrix().rows, 4 * std::ssize(block.labels()));
        });
    }
}

} // namespace
} // namespace espalier
