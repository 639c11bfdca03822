#include "espalier/communicator.hpp"

#include <utility>

#include "comm/transport.hpp"

namespace espalier {

Transport* transport_of(Communicator const& comm) {
    return comm.transport_.get();
}

Communicator make_communicator(int rank, int size, std::shared_ptr<Transport> transport) {
    Communicator comm;
    comm.rank_ = rank;
    comm.size_ = size;
    transport->of_rank.resize(static_cast<std::size_t>(size));
    transport->blocks_to.resize(static_cast<std::size_t>(size));
    transport->blocks_from.resize(static_cast<std::size_t>(size));
    comm.transport_ = std::move(transport);
    return comm;
}

} // namespace espalier
