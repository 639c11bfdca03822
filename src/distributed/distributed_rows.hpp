// The rows of distributed vectors: each process has some of them, in an order of its own. A block of vectors
// is stored by columns, with count() entries in each.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "distributed/row_reduction.hpp"
#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Copies are cheap and share their buffers, so that one thread at a time may use them.
class DistributedRows {
  public:
    /// All rows 0 .. order - 1 on the calling process alone.
    explicit DistributedRows(Index order);
    /// Collective: local row l of the calling process is row numbers[l]. Each row has one owner.
    DistributedRows(Communicator comm, std::vector<Index> numbers);

    [[nodiscard]] Communicator const& comm() const { return state_->comm; }
    [[nodiscard]] bool is_alone() const { return state_->comm.size() == 1; }
    /// Number of rows of all processes.
    [[nodiscard]] Index order() const { return state_->order; }
    /// Number of rows of this process.
    [[nodiscard]] Index count() const { return state_->count; }
    /// The largest count() of all processes.
    [[nodiscard]] Index largest_share() const { return state_->largest_share; }
    /// Number of a local row among those of all processes.
    [[nodiscard]] Index number(Index local) const {
        return state_->numbers.empty() ? local : state_->numbers[local];
    }
    /// Empty where number(l) = l.
    [[nodiscard]] std::vector<Index> const& numbers() const { return state_->numbers; }
    [[nodiscard]] RowReduction& reduction() const { return state_->reduction; }

  private:
    struct State {
        Communicator comm;
        Index order = 0, count = 0, largest_share = 0;
        std::vector<Index> numbers;
        RowReduction reduction{comm};
    };
    std::shared_ptr<State> state_;
};

} // namespace espalier
