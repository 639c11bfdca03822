// The distribution of the rows of vectors: each process owns some rows, in a local order. A block of vectors
// is stored by columns of count() entries.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "distributed/row_reduction.hpp"
#include "distributed/row_workers.hpp"
#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Copies are cheap and share buffers, so only one thread at a time may use them.
class DistributedRows {
  public:
    /// The calling process owns all rows 0 .. order - 1.
    explicit DistributedRows(Index order) : state_(new State{{}, order, order, order, {}}) {}
    /// Collective: local row l of the calling process is row numbers[l]. Each row has one owner.
    DistributedRows(Communicator comm, std::vector<Index> numbers) {
        auto const count = std::ssize(numbers);
        all_succeed(comm, [&] { state_.reset(new State{comm, 0, count, 0, std::move(numbers)}); });
        state_->order = sum(comm, std::int64_t{count});
        state_->largest_share = max(comm, std::int64_t{count});
    }

    [[nodiscard]] Communicator const& comm() const { return state_->comm; }
    [[nodiscard]] bool is_alone() const { return state_->comm.size() == 1; }
    /// Number of rows of all processes.
    [[nodiscard]] Index order() const { return state_->order; }
    /// Number of rows of this process.
    [[nodiscard]] Index count() const { return state_->count; }
    /// The largest count() of all processes.
    [[nodiscard]] Index largest_share() const { return state_->largest_share; }
    /// Global number of a local row.
    [[nodiscard]] Index number(Index local) const {
        return state_->numbers.empty() ? local : state_->numbers[local];
    }
    /// Empty if number(l) = l.
    [[nodiscard]] std::vector<Index> const& numbers() const { return state_->numbers; }
    [[nodiscard]] RowReduction& reduction() const { return state_->reduction; }
    /// The workers for loops over the local rows: the calling thread, unless use_workers() was called.
    [[nodiscard]] RowWorkers const& workers() const { return state_->workers; }
    void use_workers(RowWorkers workers) const { state_->workers = std::move(workers); }

  private:
    struct State {
        Communicator comm;
        Index order = 0, count = 0, largest_share = 0;
        std::vector<Index> numbers;
        RowReduction reduction{comm};
        RowWorkers workers{};
    };
    std::shared_ptr<State> state_;
};

} // namespace espalier
