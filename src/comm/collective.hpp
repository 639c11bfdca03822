// Collective operations. Every rank calls the same functions in the same order, from one thread, while no
// exchange is active. With one process they are trivial. Sizes are 64-bit. A failure of the message-passing
// library is an Error{internal} with the call and the text of the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// The outcome of a step of all ranks. It is equal on every rank.
struct Outcome {
    Status status = Status::ok;
    int rank = -1;       ///< The rank that failed; -1 if none did.
    std::string message; ///< The message of its error, with the rank if there are several processes.
    std::string what;    ///< The message without the rank.

    [[nodiscard]] bool ok() const { return status == Status::ok; }
    /// Throws the error unless ok(). The message names the process unless it is process 0.
    void raise() const {
        if (!ok()) throw Error(status, rank == 0 ? what : message);
    }
};

/// Returns success if no rank passes an error, otherwise the error of the lowest rank that does.
Outcome agree(Communicator const& comm, std::optional<Error> const& mine);

/// Returns the error `mine` of rank `failing` on all ranks, which know that this rank has failed.
Outcome share_error(Communicator const& comm, int failing, std::optional<Error> const& mine);

namespace detail {
/// Refers to a step. Unlike std::function, it takes no memory and so cannot fail.
class StepRef {
  public:
    template <class Step> explicit StepRef(Step& step)
        : step_(&step), call_([](void const* of) { (*static_cast<Step const*>(of))(); }) {}
    void operator()() const { call_(step_); }

  private:
    void const* step_;
    void (*call_)(void const*);
};
std::optional<Error> error_of(StepRef const& step);
void all_succeed(Communicator const& comm, StepRef const& step);
} // namespace detail

/// Calls `step`. Returns its exception as an Error, if it throws.
template <class Step> std::optional<Error> error_of(Step&& step) {
    return detail::error_of(detail::StepRef(step));
}

/// Calls `step` on every rank and returns its result. If it fails on some ranks, throws the error of the
/// lowest of them on all ranks. With one process this is a plain call.
template <class Step> auto all_succeed(Communicator const& comm, Step&& step) {
    using Result = std::invoke_result_t<Step&>;
    if constexpr (std::is_void_v<Result>) {
        detail::all_succeed(comm, detail::StepRef(step));
    } else {
        std::optional<Result> result;
        auto const keep = [&] { result.emplace(step()); };
        detail::all_succeed(comm, detail::StepRef(keep));
        return std::move(*result);
    }
}

/// Collective: constructs an object on every rank with a collective constructor. All ranks allocate its
/// memory first, so that no rank waits in the constructor for a rank without memory.
template <class Made, class... Arguments>
std::unique_ptr<Made> make_together(Communicator const& comm, Arguments&&... arguments) {
    static_assert(alignof(Made) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    struct Release {
        void operator()(void* memory) const { ::operator delete(memory); }
    };
    using Memory = std::unique_ptr<void, Release>;
    Memory memory = all_succeed(comm, [] { return Memory(::operator new(sizeof(Made))); });
    std::unique_ptr<Made> made(::new (memory.get()) Made(std::forward<Arguments>(arguments)...));
    (void)memory.release();
    return made;
}

/// Bytes that this process has sent to others so far: those of messages, of blocks of a collective operation
/// for each receiver, and of the numbers of a reduction once. It is 0 with one process.
std::uint64_t bytes_sent(Communicator const& comm);

/// A barrier: returns when all ranks have called it.
void barrier(Communicator const& comm);

/// Copies the root's bytes to every rank. The spans have the same size on all ranks.
void broadcast(Communicator const& comm, std::span<std::byte> bytes, int root);

/// Return the sum, maximum or minimum over all ranks, on every rank.
double sum(Communicator const& comm, double mine);
double max(Communicator const& comm, double mine);
double min(Communicator const& comm, double mine);
std::int64_t sum(Communicator const& comm, std::int64_t mine);
std::int64_t max(Communicator const& comm, std::int64_t mine);
std::int64_t min(Communicator const& comm, std::int64_t mine);

/// Reduces each entry in place. The lengths are equal on all ranks.
void sum(Communicator const& comm, std::span<double> values);
void max(Communicator const& comm, std::span<double> values);
void min(Communicator const& comm, std::span<double> values);
void sum(Communicator const& comm, std::span<std::int64_t> values);
void max(Communicator const& comm, std::span<std::int64_t> values);
void min(Communicator const& comm, std::span<std::int64_t> values);

/// A communicator of the first `count` processes, at least 1. On other ranks it has the calling process only.
Communicator first(Communicator const& comm, int count);

/// Returns the numbers of all ranks, by rank, on every rank.
std::vector<std::int64_t> all_gather(Communicator const& comm, std::int64_t mine);

/// Returns the blocks of all ranks, by rank, on the root, and nothing elsewhere. Blocks may differ in size
/// and be empty. Error{out_of_memory} on every rank if the root lacks the memory.
std::vector<std::vector<std::byte>> gather(Communicator const& comm, std::span<std::byte const> mine,
                                           int root);

/// Returns blocks[r] of the root on rank r. On other ranks `blocks` is ignored. Error{out_of_memory} on every
/// rank if one lacks the memory; Error{internal} unless the root has one block for each rank.
std::vector<std::byte> scatter(Communicator const& comm, std::vector<std::vector<std::byte>> const& blocks,
                               int root);

/// Gathers blocks of known sizes to allocated memory, without further messages. On the root, into[r] receives
/// the block of rank r. On other ranks `into` is empty.
void gather(Communicator const& comm, std::span<std::byte const> mine,
            std::span<std::span<std::byte> const> into, int root);
/// Scatters blocks of known sizes. On the root, from[r] is sent to rank r, whose `mine` has the same size. On
/// other ranks `from` is empty.
void scatter(Communicator const& comm, std::span<std::span<std::byte const> const> from,
             std::span<std::byte> mine, int root);

namespace detail {
/// Returns the numbers of all ranks. Other collective operations overwrite them.
std::span<std::int64_t const> gather_sizes(Communicator const& comm, std::int64_t& mine);
void exchange_blocks(Communicator const& comm, std::span<std::span<std::byte const> const> from,
                     std::span<std::span<std::byte> const> into);
} // namespace detail

/// Sends blocks[r] to rank r, and returns the received blocks by rank. Blocks may differ in size and be
/// empty. Error{out_of_memory} on every rank if one lacks the memory; Error{internal} unless each rank has a
/// block for every rank.
template <class T>
std::vector<std::vector<T>> all_to_all(Communicator const& comm, std::vector<std::vector<T>> const& blocks) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    std::vector<std::int64_t> sizes, received_sizes;
    std::vector<std::span<std::byte const>> from;
    std::vector<std::span<std::byte>> into;
    all_succeed(comm, [&] {
        if (std::ssize(blocks) != comm.size())
            throw Error(Status::internal,
                        fmt::format("all_to_all got {} blocks; expected one for each of {} processes",
                                    blocks.size(), comm.size()));
        for (auto const& block : blocks) sizes.push_back(std::ssize(block));
        received_sizes.resize(sizes.size());
        for (std::size_t r = 0; r < sizes.size(); ++r) {
            from.push_back(std::as_bytes(std::span(sizes).subspan(r, 1)));
            into.push_back(std::as_writable_bytes(std::span(received_sizes).subspan(r, 1)));
        }
    });
    detail::exchange_blocks(comm, from, into);
    std::vector<std::vector<T>> result;
    all_succeed(comm, [&] {
        for (std::size_t r = 0; r < sizes.size(); ++r) {
            result.emplace_back(static_cast<std::size_t>(received_sizes[r]));
            from[r] = std::as_bytes(std::span(blocks[r]));
        }
        for (std::size_t r = 0; r < sizes.size(); ++r) into[r] = std::as_writable_bytes(std::span(result[r]));
    });
    detail::exchange_blocks(comm, from, into);
    return result;
}

/// Returns the concatenated values of all ranks on the root, and nothing elsewhere. Error{out_of_memory} on
/// every rank if the root lacks the memory.
template <class T> std::vector<T> gather_joined(Communicator const& comm, std::span<T const> mine, int root) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    std::int64_t own_size = std::ssize(mine);
    std::span<std::int64_t const> const sizes = detail::gather_sizes(comm, own_size);
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

/// Copies the value of the root to every rank. T is trivially copyable.
template <class T> void broadcast_value(Communicator const& comm, T& value, int root) {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast(comm, std::as_writable_bytes(std::span<T, 1>(&value, 1)), root);
}

namespace detail {
/// Replaces `container` by that of the root. Error{out_of_memory} on every rank if one lacks the memory.
template <class Container>
void broadcast_container(Communicator const& comm, Container& container, int root) {
    if (comm.size() == 1) return;
    auto count = static_cast<std::int64_t>(container.size());
    broadcast_value(comm, count, root);
    std::optional<Error> problem;
    try {
        container.resize(count);
    } catch (std::exception const&) {
        problem.emplace(Status::out_of_memory,
                        fmt::format("not enough memory for {} entries of {} bytes that another process sends",
                                    count, sizeof(typename Container::value_type)));
    }
    agree(comm, problem).raise();
    broadcast(comm, std::as_writable_bytes(std::span(container)), root);
}
} // namespace detail

/// Replaces `values` by the vector of the root. Error{out_of_memory} on every rank if one lacks the memory.
template <class T> void broadcast(Communicator const& comm, std::vector<T>& values, int root) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    detail::broadcast_container(comm, values, root);
}

/// Replaces `text` by the text of the root. Error{out_of_memory} on every rank if one lacks the memory.
inline void broadcast(Communicator const& comm, std::string& text, int root) {
    detail::broadcast_container(comm, text, root);
}

} // namespace espalier
