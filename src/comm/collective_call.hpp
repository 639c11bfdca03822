// The protocol of a call that all processes of a group make together. At the beginning they agree on the name
// of the call and on the arguments of process 0. Then every process runs the same code, with two kinds of
// steps:
//
//     on_root(comm, step)       process 0 runs the step; its result, or its error, arrives on all processes
//     all_succeed(comm, step)   every process runs the step; the error of the lowest failing rank is thrown
//     on all
//
// Both catch all exceptions of a step, including std::bad_alloc, so that no process waits in a collective
// operation for one that has failed. All work between two collective operations belongs in such a step.
//
// A process either makes each call itself (begin) or follows process 0 (next): it receives the name of the
// next call, and runs the same code with empty arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/collective.hpp"
#include "core/pack.hpp"

namespace espalier {

namespace detail {
/// A packed result that fits is sent with its size, in one message.
struct PackedResult {
    std::size_t size = 0;
    std::byte start[4096] = {};
};

/// Process 0 runs the step, which writes to `sent`, and broadcasts `sent`. `has_failed` lies within `sent`.
void run_on_root(Communicator const& comm, StepRef const& step, bool& has_failed, std::span<std::byte> sent);
} // namespace detail

/// Collective: process 0 runs `step`, and all processes return its result or throw its error. The result is
/// trivially copyable, or of a type that core/pack.hpp can pack. Process 0 does not wait for the others
/// unless the result is packed. With one process this is a plain call.
template <class Step> auto on_root(Communicator const& comm, Step&& step) {
    using Result = std::invoke_result_t<Step&>;
    if constexpr (std::is_void_v<Result>) {
        (void)on_root(comm, [&] { return step(), true; });
    } else if constexpr (std::is_trivially_copyable_v<Result>) {
        struct {
            bool has_failed = false;
            Result value{};
        } sent;
        auto const keep = [&] { sent.value = step(); };
        detail::run_on_root(comm, detail::StepRef(keep), sent.has_failed,
                            std::as_writable_bytes(std::span(&sent, 1)));
        return sent.value;
    } else {
        if (comm.size() == 1) return step();
        Result result{};
        std::vector<std::byte> bytes;
        auto const packed = on_root(comm, [&] {
            result = step();
            Packer packer;
            packer(result);
            bytes = packer.take();
            detail::PackedResult whole{bytes.size()};
            if (bytes.size() <= sizeof whole.start) std::copy(bytes.begin(), bytes.end(), whole.start);
            return whole;
        });
        std::span<std::byte const> received(packed.start, std::min(packed.size, sizeof packed.start));
        if (packed.size > sizeof packed.start) {
            all_succeed(comm, [&] { bytes.resize(packed.size); });
            broadcast(comm, std::span(bytes), 0);
            received = bytes;
        }
        all_succeed(comm, [&] {
            if (comm.rank() == 0) return;
            Unpacker unpacker(received);
            unpacker(result);
        });
        return result;
    }
}

/// The name of a call, at most 39 characters, stored in the object.
class CallName {
  public:
    CallName() = default;
    CallName(std::string_view name) { name.copy(text_, sizeof text_ - 1); }
    CallName(char const* name) : CallName(std::string_view(name)) {}
    [[nodiscard]] std::string_view view() const { return text_; }

  private:
    char text_[40] = {};
};

/// The sequence of calls of the processes of a communicator. `Arguments` is small and trivially copyable.
template <class Arguments> class CollectiveCalls {
    static_assert(std::is_trivially_copyable_v<Arguments>);

  public:
    CollectiveCalls() = default;
    explicit CollectiveCalls(Communicator comm) : comm_(std::move(comm)) {}

    [[nodiscard]] Communicator const& comm() const { return comm_; }
    [[nodiscard]] bool is_root() const { return comm_.rank() == 0; }

    /// Collective: begins the call `name` and passes the arguments of process 0 to `adopt` on all processes.
    /// Throws an error of `adopt` on all of them, and Error{usage} if they make different calls.
    template <class Adopt> void begin(CallName const& name, Arguments const& arguments, Adopt&& adopt) const {
        if (comm_.size() == 1) return adopt(arguments);
        Announcement announced{name, arguments};
        broadcast_value(comm_, announced, 0);
        auto const take = [&] {
            if (name.view() == announced.name.view()) return adopt(announced.arguments);
            if (announced.name.view().empty())
                throw Error(Status::usage,
                            fmt::format("{} was called after process 0 had finished", name.view()));
            throw Error(Status::usage, fmt::format("{} was called while process 0 calls {}", name.view(),
                                                   announced.name.view()));
        };
        agree(comm_, error_of(take)).raise();
    }

    /// Called instead of begin() by a process that follows: waits for the next call of process 0, passes its
    /// arguments to `adopt`, and returns its name. After end(), returns an empty name.
    template <class Adopt> [[nodiscard]] CallName next(Adopt&& adopt) const {
        for (;;) {
            Announcement announced;
            broadcast_value(comm_, announced, 0);
            Outcome const adopted = agree(comm_, error_of([&] { adopt(announced.arguments); }));
            // A call that a process rejects is skipped. Process 0 reports it.
            if (adopted.ok() || announced.name.view().empty()) return announced.name;
        }
    }

    /// Called by process 0 at the end: makes next() return an empty name on processes that follow.
    void end(Arguments const& arguments = {}) const {
        if (comm_.size() == 1) return;
        Announcement announced{{}, arguments};
        broadcast_value(comm_, announced, 0);
        (void)agree(comm_, std::nullopt);
    }

  private:
    struct Announcement {
        CallName name;
        Arguments arguments{};
    };

    Communicator comm_;
};

} // namespace espalier
