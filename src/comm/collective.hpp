// What all processes of a communicator do together. Every rank calls the same functions in the same order,
// each by one thread, with no exchange under way; with one process all are trivial. Sizes are 64-bit. A
// failure of the message-passing library is Error{internal} with the call and its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// How a step ended that all ranks took; the same on every rank.
struct Outcome {
    Status status = Status::ok;
    int rank = -1;       ///< The failing rank; -1 when none failed.
    std::string message; ///< Of its error; names the rank when there are several.
    std::string what;    ///< The same without the rank.

    [[nodiscard]] bool ok() const { return status == Status::ok; }
    /// Throws it as an Error, unless ok(). Names the process unless it is process 0, which speaks for all.
    void raise() const {
        if (!ok()) throw Error(status, rank == 0 ? what : message);
    }
};

/// Success if no rank brings an error, else the error of the lowest rank that does.
Outcome agree(Communicator const& comm, std::optional<Error> const& mine);

/// What `step` throws, as an Error.
template <class Step> std::optional<Error> error_of(Step&& step) {
    try {
        step();
    } catch (...) {
        return current_error();
    }
    return std::nullopt;
}

/// Calls `step` on every rank and returns what it returns on this one; if it fails on a rank, throws the
/// error of the lowest such rank on all. With one process just a call.
template <class Step> auto all_succeed(Communicator const& comm, Step&& step) {
    using Result = std::invoke_result_t<Step&>;
    if (comm.size() == 1) return step();
    if constexpr (std::is_void_v<Result>) {
        agree(comm, error_of(step)).raise();
    } else {
        std::optional<Result> result;
        agree(comm, error_of([&] { result.emplace(step()); })).raise();
        return std::move(*result);
    }
}

/// Bytes that this process has sent to others so far: those of messages, of blocks of a collective operation
/// for each receiver, and of the numbers of a reduction once. With one process 0.
std::uint64_t bytes_sent(Communicator const& comm);

/// Returns when all ranks have called it.
void barrier(Communicator const& comm);

/// The root's bytes on every rank; all ranks know their number.
void broadcast(Communicator const& comm, std::span<std::byte> bytes, int root);

/// Sums, maxima and minima over the ranks, on every rank.
double sum(Communicator const& comm, double mine);
double max(Communicator const& comm, double mine);
double min(Communicator const& comm, double mine);
std::int64_t sum(Communicator const& comm, std::int64_t mine);
std::int64_t max(Communicator const& comm, std::int64_t mine);
std::int64_t min(Communicator const& comm, std::int64_t mine);

/// The same entry by entry, in place; the lengths agree.
void sum(Communicator const& comm, std::span<double> values);
void max(Communicator const& comm, std::span<double> values);
void min(Communicator const& comm, std::span<double> values);
void sum(Communicator const& comm, std::span<std::int64_t> values);
void max(Communicator const& comm, std::span<std::int64_t> values);
void min(Communicator const& comm, std::span<std::int64_t> values);

/// The first `count` processes, 1 or more, as a group of their own; elsewhere the calling process alone.
Communicator first(Communicator const& comm, int count);

/// Every rank's number, on every rank, by rank.
std::vector<std::int64_t> all_gather(Communicator const& comm, std::int64_t mine);

/// On the root: every rank's block, by rank; elsewhere nothing. Blocks may differ in size and be empty. When
/// the root lacks the memory, Error{out_of_memory} on every rank.
std::vector<std::vector<std::byte>> gather(Communicator const& comm, std::span<std::byte const> mine,
                                           int root);

/// Rank r gets blocks[r] of the root; elsewhere `blocks` is not looked at. When a rank lacks the memory,
/// Error{out_of_memory} on every rank; Error{internal} when the root has not one block a rank.
std::vector<std::byte> scatter(Communicator const& comm, std::vector<std::vector<std::byte>> const& blocks,
                               int root);

/// The same where all know the sizes and have the memory, at the price of the messages alone. On the root,
/// into[r] receives what rank r has; elsewhere `into` is empty.
void gather(Communicator const& comm, std::span<std::byte const> mine,
            std::span<std::span<std::byte> const> into, int root);
/// On the root, from[r] goes to rank r, whose `mine` has its size; elsewhere `from` is empty.
void scatter(Communicator const& comm, std::span<std::span<std::byte const> const> from,
             std::span<std::byte> mine, int root);

namespace detail {
/// What other ranks will send: sizes[r] goes to rank r.
std::vector<std::int64_t> exchange_sizes(Communicator const& comm, std::span<std::int64_t const> sizes);
void exchange_blocks(Communicator const& comm, std::span<std::span<std::byte const> const> from,
                     std::span<std::span<std::byte> const> into);
} // namespace detail

/// Rank r gets blocks[r] of every rank, by rank. One block a rank; they may differ in size and be empty. When
/// a rank lacks the memory, Error{out_of_memory} on every rank.
template <class T>
std::vector<std::vector<T>> all_to_all(Communicator const& comm, std::vector<std::vector<T>> const& blocks) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    std::vector<std::int64_t> sizes;
    all_succeed(comm, [&] {
        for (auto const& block : blocks) sizes.push_back(static_cast<std::int64_t>(block.size()));
    });
    sizes = detail::exchange_sizes(comm, sizes);
    std::vector<std::vector<T>> result;
    std::vector<std::span<std::byte const>> from;
    std::vector<std::span<std::byte>> into;
    all_succeed(comm, [&] {
        for (auto const& block : blocks) from.push_back(std::as_bytes(std::span(block)));
        for (auto const size : sizes) result.emplace_back(static_cast<std::size_t>(size));
        for (auto& block : result) into.push_back(std::as_writable_bytes(std::span(block)));
    });
    detail::exchange_blocks(comm, from, into);
    return result;
}

/// On the root: the values of all ranks behind each other, by rank; elsewhere nothing. Error{out_of_memory}
/// on every rank when the root lacks the memory.
template <class T> std::vector<T> gather_joined(Communicator const& comm, std::span<T const> mine, int root) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    std::vector<std::int64_t> const sizes = all_gather(comm, static_cast<std::int64_t>(mine.size()));
    std::vector<T> whole;
    std::vector<std::span<std::byte>> into;
    all_succeed(comm, [&] {
        if (comm.rank() != root) return;
        whole.resize(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
        std::span<T> rest(whole);
        for (auto const size : sizes) {
            into.push_back(std::as_writable_bytes(rest.first(size)));
            rest = rest.subspan(size);
        }
    });
    gather(comm, std::as_bytes(mine), into, root);
    return whole;
}

/// A value that is its bytes.
template <class T> void broadcast_value(Communicator const& comm, T& value, int root) {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast(comm, std::as_writable_bytes(std::span<T, 1>(&value, 1)), root);
}

namespace detail {
/// Sizes `container` like the root's and fills it. When a rank lacks the memory, all say so.
template <class Container>
void broadcast_container(Communicator const& comm, Container& container, int root) {
    if (comm.size() == 1) return;
    auto count = static_cast<std::int64_t>(container.size());
    broadcast_value(comm, count, root);
    std::optional<Error> problem;
    try {
        container.resize(count);
    } catch (std::exception const&) {
        problem.emplace(Status::out_of_memory, "no memory for " + std::to_string(count) + " entries of " +
                                                   std::to_string(sizeof(typename Container::value_type)) +
                                                   " bytes that another process sends");
    }
    agree(comm, problem).raise();
    broadcast(comm, std::as_writable_bytes(std::span(container)), root);
}
} // namespace detail

/// The root's vector on every rank. When a rank lacks the memory, Error{out_of_memory} on every rank.
template <class T> void broadcast(Communicator const& comm, std::vector<T>& values, int root) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    detail::broadcast_container(comm, values, root);
}

/// The root's text on every rank. Errors as above.
inline void broadcast(Communicator const& comm, std::string& text, int root) {
    detail::broadcast_container(comm, text, root);
}

} // namespace espalier
