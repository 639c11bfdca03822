#include "distributed/distributed_rows.hpp"

#include <utility>

namespace espalier {

DistributedRows::DistributedRows(Index order) : state_(new State{{}, order, order, order, {}}) {}

DistributedRows::DistributedRows(Communicator comm, std::vector<Index> numbers) {
    auto const count = std::ssize(numbers);
    all_succeed(comm, [&] { state_.reset(new State{comm, 0, count, 0, std::move(numbers)}); });
    state_->order = sum(comm, std::int64_t{count});
    state_->largest_share = max(comm, std::int64_t{count});
}

} // namespace espalier
