#include "distributed/deal.hpp"

#include <algorithm>
#include <utility>

namespace espalier {

std::vector<std::byte> deal_out(Communicator const& comm, FunctionRef<void(Packer&, int)> pack) {
    constexpr std::size_t few = std::size_t{1} << 24;
    std::vector<std::byte> mine;
    for (int first = 0; first < comm.size();) {
        std::vector<std::vector<std::byte>> blocks;
        int const end = on_root(comm, [&] {
            blocks.resize(comm.size());
            int r = first;
            for (std::size_t total = 0; r < comm.size() && (r == first || total < few); ++r) {
                Packer packer;
                pack(packer, r);
                blocks[r] = packer.take();
                total += blocks[r].size();
            }
            return r;
        });
        auto received = scatter(comm, blocks, 0);
        if (first <= comm.rank() && comm.rank() < end) mine = std::move(received);
        first = end;
    }
    return mine;
}

Owners::Owners(DistributedRows const& all) {
    auto const counts = all_gather(all.comm(), all.count());
    std::vector<Index> numbers;
    all_succeed(all.comm(), [&] {
        for (Index l = 0; l < all.count(); ++l) numbers.push_back(all.number(l));
        begin.assign(1, 0);
        for (auto const count : counts) begin.push_back(begin.back() + count);
    });
    rows = gather_joined<Index>(all.comm(), numbers, 0);
}

RowPlaces::RowPlaces(Owners const& owners) : owner(owners.rows.size()), place(owners.rows.size()) {
    for (int r = 0; r + 1 < std::ssize(owners.begin); ++r) {
        auto const rows = owners.rows_of(r);
        for (Index l = 0; l < std::ssize(rows); ++l) {
            owner[rows[l]] = r;
            place[rows[l]] = l;
        }
    }
}

void RowPlaces::sort(std::span<Index> numbers) const {
    std::ranges::sort(numbers, {}, [&](Index i) { return std::pair(owner[i], place[i]); });
}

} // namespace espalier
