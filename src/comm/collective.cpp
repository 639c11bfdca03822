#include "comm/collective.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "comm/collective_call.hpp"
#include "comm/transport.hpp"

namespace espalier {

namespace {

using Bytes = std::vector<std::byte>;

void count_sent(Communicator const& comm, std::uint64_t bytes) {
    transport_of(comm)->bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
}

template <class T> void reduce(Communicator const& comm, std::span<T> values, Reduction reduction) {
    if (comm.size() == 1) return;
    count_sent(comm, values.size_bytes());
    transport_of(comm)->reduce(values, reduction);
}

// Runs `prepare`, which allocates memory for `what`, on every rank, and throws on all ranks if it fails on
// one.
template <class Prepare> void prepare_on_all(Communicator const& comm, char const* what, Prepare&& prepare) {
    auto const named = [&] {
        try {
            prepare();
        } catch (std::exception const&) { // bad_alloc or length_error
            throw Error(Status::out_of_memory, fmt::format("not enough memory for {}", what));
        }
    };
    agree(comm, error_of(named)).raise();
}

} // namespace

std::optional<Error> detail::error_of(StepRef const& step) {
    try {
        step();
    } catch (...) {
        return current_error();
    }
    return std::nullopt;
}

void detail::all_succeed(Communicator const& comm, StepRef const& step) {
    if (comm.size() == 1) return step();
    agree(comm, error_of(step)).raise();
}

void detail::run_on_root(Communicator const& comm, StepRef const& step, bool& has_failed,
                         std::span<std::byte> sent) {
    if (comm.size() == 1) return step();
    auto const problem = comm.rank() == 0 ? error_of(step) : std::nullopt;
    has_failed = problem.has_value();
    broadcast(comm, sent, 0);
    if (has_failed) share_error(comm, 0, problem).raise();
}

Outcome agree(Communicator const& comm, std::optional<Error> const& mine) {
    int const size = comm.size();
    auto const failing = static_cast<int>(min(comm, std::int64_t{mine ? comm.rank() : size}));
    return failing == size ? Outcome() : share_error(comm, failing, mine);
}

Outcome share_error(Communicator const& comm, int failing, std::optional<Error> const& mine) {
    char const* const text = failing == comm.rank() ? mine->what() : "";
    std::int64_t facts[2] = {mine ? static_cast<std::int64_t>(mine->status()) : 0,
                             static_cast<std::int64_t>(std::strlen(text))};
    broadcast(comm, std::as_writable_bytes(std::span(facts)), failing);
    // If memory for the message is lacking, its rest is lost, but no rank waits for it, and the call does not
    // throw.
    std::string message;
    bool is_whole = true;
    char piece[256];
    for (std::size_t at = 0, left = static_cast<std::size_t>(facts[1]); left > 0;) {
        std::size_t const length = std::min(left, sizeof piece);
        if (failing == comm.rank()) std::memcpy(piece, text + at, length);
        broadcast(comm, std::as_writable_bytes(std::span(piece).first(length)), failing);
        try {
            if (is_whole) message.append(piece, length);
        } catch (std::exception const&) {
            is_whole = false;
        }
        at += length;
        left -= length;
    }
    Outcome outcome{static_cast<Status>(facts[0]), failing, {}, {}};
    try {
        outcome.message = comm.size() > 1 ? fmt::format("process {}: {}", failing, message) : message;
        outcome.what = std::move(message);
    } catch (std::bad_alloc const&) { // The status is the same as on the other ranks.
    }
    return outcome;
}

std::uint64_t bytes_sent(Communicator const& comm) {
    return comm.size() > 1 ? transport_of(comm)->bytes_sent.load(std::memory_order_relaxed) : 0;
}

void barrier(Communicator const& comm) {
    sum(comm, std::int64_t{0});
}

void broadcast(Communicator const& comm, std::span<std::byte> bytes, int root) {
    if (comm.size() == 1) return;
    if (comm.rank() == root) count_sent(comm, bytes.size() * (comm.size() - 1));
    transport_of(comm)->broadcast(bytes, root);
}

Communicator first(Communicator const& comm, int count) {
    if (count >= comm.size()) return comm;
    return all_succeed(comm, [&] { // the transport communicates before it allocates
        std::shared_ptr<Transport> part = transport_of(comm)->first(count);
        return part ? make_communicator(comm.rank(), count, std::move(part)) : Communicator();
    });
}

#define ESPALIER_REDUCTION(name, T)                                                                          \
    T name(Communicator const& comm, T mine) {                                                               \
        reduce(comm, std::span<T>(&mine, 1), Reduction::name);                                               \
        return mine;                                                                                         \
    }                                                                                                        \
    void name(Communicator const& comm, std::span<T> values) {                                               \
        reduce(comm, values, Reduction::name);                                                               \
    }
ESPALIER_REDUCTION(sum, double)
ESPALIER_REDUCTION(max, double)
ESPALIER_REDUCTION(min, double)
ESPALIER_REDUCTION(sum, std::int64_t)
ESPALIER_REDUCTION(max, std::int64_t)
ESPALIER_REDUCTION(min, std::int64_t)
#undef ESPALIER_REDUCTION

std::span<std::int64_t const> detail::gather_sizes(Communicator const& comm, std::int64_t& mine) {
    if (comm.size() == 1) return {&mine, 1};
    std::vector<std::int64_t>& all = transport_of(comm)->of_rank;
    std::fill(all.begin(), all.end(), 0);
    all[comm.rank()] = mine;
    sum(comm, all);
    return all;
}

std::vector<std::int64_t> all_gather(Communicator const& comm, std::int64_t mine) {
    std::vector<std::int64_t> all;
    auto const gathered = detail::gather_sizes(comm, mine);
    prepare_on_all(comm, "a number of each process", [&] { all.assign(gathered.begin(), gathered.end()); });
    return all;
}

std::vector<Bytes> gather(Communicator const& comm, std::span<std::byte const> mine, int root) {
    std::int64_t own_size = std::ssize(mine);
    auto const sizes = detail::gather_sizes(comm, own_size);
    std::vector<Bytes> blocks;
    std::vector<std::span<std::byte>> into;
    prepare_on_all(comm, "the blocks of all processes", [&] {
        if (comm.rank() != root) return;
        for (auto const size : sizes) into.emplace_back(blocks.emplace_back(static_cast<std::size_t>(size)));
    });
    gather(comm, mine, into, root);
    return blocks;
}

std::vector<std::byte> scatter(Communicator const& comm, std::vector<Bytes> const& blocks, int root) {
    bool const is_root = comm.rank() == root;
    auto const processes = static_cast<std::size_t>(comm.size());
    std::int64_t only = 0;
    std::span<std::int64_t> const sizes =
        processes == 1 ? std::span(&only, 1) : std::span(transport_of(comm)->of_rank);
    Bytes mine;
    std::vector<std::span<std::byte const>> from;
    if (is_root && blocks.size() == processes)
        std::ranges::transform(blocks, sizes.begin(), [](Bytes const& block) { return std::ssize(block); });
    else if (is_root)
        std::ranges::fill(sizes, -1); // tells all ranks that the argument is wrong
    broadcast(comm, std::as_writable_bytes(sizes), root);
    if (sizes.front() < 0)
        throw Error(
            Status::internal,
            fmt::format("scatter expects that the root has one block for each of {} processes", processes));
    prepare_on_all(comm, "a block from another process", [&] {
        mine.resize(sizes[comm.rank()]);
        if (is_root) from.assign(blocks.begin(), blocks.end());
    });
    scatter(comm, from, mine, root);
    return mine;
}

void gather(Communicator const& comm, std::span<std::byte const> mine,
            std::span<std::span<std::byte> const> into, int root) {
    if (comm.size() == 1) return detail::exchange_blocks(comm, {&mine, 1}, into);
    Transport& transport = *transport_of(comm);
    std::ranges::fill(transport.blocks_to, std::span<std::byte const>());
    std::ranges::fill(transport.blocks_from, std::span<std::byte>());
    transport.blocks_to[root] = mine;
    std::ranges::copy(into, transport.blocks_from.begin());
    detail::exchange_blocks(comm, transport.blocks_to, transport.blocks_from);
}

void scatter(Communicator const& comm, std::span<std::span<std::byte const> const> from,
             std::span<std::byte> mine, int root) {
    if (comm.size() == 1) return detail::exchange_blocks(comm, from, {&mine, 1});
    Transport& transport = *transport_of(comm);
    std::ranges::fill(transport.blocks_to, std::span<std::byte const>());
    std::ranges::fill(transport.blocks_from, std::span<std::byte>());
    std::ranges::copy(from, transport.blocks_to.begin());
    transport.blocks_from[root] = mine;
    detail::exchange_blocks(comm, transport.blocks_to, transport.blocks_from);
}

void detail::exchange_blocks(Communicator const& comm, std::span<std::span<std::byte const> const> from,
                             std::span<std::span<std::byte> const> into) {
    if (comm.size() > 1) {
        for (int r = 0; r < comm.size(); ++r)
            if (r != comm.rank()) count_sent(comm, from[r].size());
        transport_of(comm)->all_to_all(from, into);
    } else {
        std::copy(from[0].begin(), from[0].end(), into[0].begin());
    }
}

} // namespace espalier
