// What all processes of a communicator do together. Every rank calls the same functions in the same order,
// each by one thread, with no exchange under way; with one process all are trivial. Sizes are 64-bit. A
// failure of the message-passing library is Error{internal} with the call and its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// How a step ended that all ranks took; the same on every rank.
struct Outcome {
    Status status = Status::ok;
    int rank = -1;       ///< The failing rank; -1 when none failed.
    std::string message; ///< Of its error; names the rank when there are several.

    [[nodiscard]] bool ok() const { return status == Status::ok; }
    /// Throws it as an Error, unless ok().
    void raise() const {
        if (!ok()) throw Error(status, message);
    }
};

/// Success if no rank brings an error, else the error of the lowest rank that does.
Outcome agree(Communicator const& comm, std::optional<Error> const& mine);

/// What `step` throws, as an Error.
std::optional<Error> error_of(std::function<void()> const& step);

/// Calls `step` on every rank, and throws the same error on all when it has failed on one. With one process
/// just a call.
void all_succeed(Communicator const& comm, std::function<void()> const& step);

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
        container.resize(static_cast<std::size_t>(count));
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
