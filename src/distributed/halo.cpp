#include "distributed/halo.hpp"

#include <utility>

namespace espalier {

Halo::Halo(Communicator comm, std::vector<std::vector<Index>> wanted) : comm_(std::move(comm)) {
    auto const requested = all_to_all(comm_, wanted);
    all_succeed(comm_, [&] {
        for (auto const& rows : wanted) remote_.begin.push_back(remote_.count() + std::ssize(rows));
        for (auto const& rows : requested) {
            shared_.begin.push_back(shared_.count() + std::ssize(rows));
            rows_.insert(rows_.end(), rows.begin(), rows.end());
        }
        from_.resize(comm_.size());
        into_.resize(comm_.size());
    });
}

void Halo::reserve(std::size_t bytes) {
    if (!is_needed() || bytes <= reserved_) return;
    all_succeed(comm_, [&] {
        message_.resize(remote_.count() * bytes);
        packed_.resize(shared_.count() * bytes);
    });
    reserved_ = bytes;
}

} // namespace espalier
