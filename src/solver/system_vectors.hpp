// Converts vectors of op(A) x = b between the layout of the caller and that of the owners of rows of the
// working system B = P R A C. In the layout of the caller each process has consecutive rows, in the order of
// the processes, or process 0 has all rows. An owner has the rows that its part of the factors works on.
// Every process of a group has one of these, and all make the same calls.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "distributed/local_scaling.hpp"
#include "distributed/row_exchange.hpp"
#include "scaling/scaled_system.hpp"
#include "solver/process_context.hpp"

namespace espalier {

template <class T> class SystemVectors {
  public:
    /// `rows` are the owned rows. `context` must outlive this.
    SystemVectors(ProcessContext const& context, DistributedRows rows)
        : context_(context), rows_(std::move(rows)) {}

    [[nodiscard]] DistributedRows const& rows() const { return rows_; }
    [[nodiscard]] LocalScaling const& scaling() const { return scaling_; }

    /// On process 0: states that P, R or C have changed since set_system().
    void invalidate_system() { is_current_ = false; }
    /// Collective: sets P, R and C, which process 0 has, if they have changed.
    void set_system(ScaledSystem<T> const& system);
    /// Collective: sets the number of rows of this process in the layout of the caller.
    void set_callers_rows(Index given);

    /// Whether both layouts are the same, so that vectors need not be copied.
    [[nodiscard]] bool is_in_place() const { return rows_.is_alone() && !permuted_; }

    /// Collective: converts right-hand sides, or solutions, of op(A) X = B to owned rows, without scaling.
    [[nodiscard]] std::vector<T> right_hand_sides(std::span<T const> b, Index columns, MatrixOp op) {
        return to_owners<T>(op == MatrixOp::none, b, columns);
    }
    [[nodiscard]] std::vector<T> solutions(std::span<T const> x, Index columns, MatrixOp op) {
        return to_owners<T>(op != MatrixOp::none, x, columns);
    }
    /// Collective: converts solutions from owned rows to the layout of the caller.
    void return_solutions(std::span<T const> own, std::span<T> x, Index columns, MatrixOp op) {
        if (is_in_place())
            std::copy(own.begin(), own.end(), x.begin());
        else
            exchange(op != MatrixOp::none).to_caller(own, x, columns);
    }
    /// Collective: distributes the numbers that process 0 has for each row of A to the owners of the columns
    /// of B.
    [[nodiscard]] std::vector<Index> deal(std::vector<Index> const& of_row);

  private:
    RowExchange& exchange(bool of_rows) { return of_rows || !permuted_ ? *row_exchange_ : *column_exchange_; }
    template <class X> std::vector<X> to_owners(bool of_rows, std::span<X const> given, Index columns) {
        if (is_in_place()) return {given.begin(), given.end()};
        auto own = context_.on_all([&] { return std::vector<X>(rows_.count() * columns); });
        exchange(of_rows).to_owners(given, std::span<X>(own), columns);
        return own;
    }

    ProcessContext const& context_;
    DistributedRows rows_;
    LocalScaling scaling_;
    bool is_current_ = false; // valid on process 0
    bool permuted_ = false;
    Index callers_rows_ = -1;
    std::optional<RowExchange> row_exchange_,
        column_exchange_; ///< The exchanges for callers_rows_. The second one is used if permuted_.
};

} // namespace espalier
