// The protocol of a call that all processes of a group make together. The call begins with an agreement on
// its name and on the arguments of process 0; after that every process runs the same code, which moves on in
// two kinds of steps:
//
//     on_root(comm, step)       process 0 runs the step; its result, or its error, arrives on all processes
//     all_succeed(comm, step)   every process runs the step; the error of the lowest failing rank is thrown
//     on all
//
// Both catch everything that a step throws, std::bad_alloc included, so that no process waits in a collective
// operation for one that has failed. Work between two collective operations belongs into one of them.
//
// A process either makes each call itself (begin) or follows (next): it learns which call comes next, and
// runs the same code with empty input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/collective.hpp"
#include "core/pack.hpp"

namespace espalier {

/// Collective: process 0 runs `step`, and all processes return its result or throw its error. The result is a
/// value that is its bytes, or one that core/pack.hpp can pack. With one process just a call.
template <class Step> auto on_root(Communicator const& comm, Step&& step) {
    using Result = std::invoke_result_t<Step&>;
    if (comm.size() == 1) return step();
    auto const run = [&](auto const& body) {
        agree(comm, comm.rank() == 0 ? error_of(body) : std::nullopt).raise();
    };
    if constexpr (std::is_void_v<Result>) {
        run(step);
    } else {
        Result result{};
        if constexpr (std::is_trivially_copyable_v<Result>) {
            run([&] { result = step(); });
            broadcast_value(comm, result, 0);
        } else {
            std::vector<std::byte> bytes;
            run([&] {
                result = step();
                Packer packer;
                packer(result);
                bytes = packer.take();
            });
            broadcast(comm, bytes, 0);
            all_succeed(comm, [&] {
                if (comm.rank() == 0) return;
                Unpacker unpacker(bytes);
                unpacker(result);
            });
        }
        return result;
    }
}

/// The calls that the processes of `comm` make, one after the other. `Arguments` are small and plain.
template <class Arguments> class CollectiveCalls {
    static_assert(std::is_trivially_copyable_v<Arguments>);

  public:
    CollectiveCalls() = default;
    explicit CollectiveCalls(Communicator comm) : comm_(std::move(comm)) {}

    [[nodiscard]] Communicator const& comm() const { return comm_; }
    [[nodiscard]] bool is_root() const { return comm_.rank() == 0; }

    /// Collective: the call `name` (at most 39 characters) begins, and `arguments` become those of process 0.
    /// Error{usage} on all processes if they are in different calls. With one process this does nothing.
    void begin(std::string_view name, Arguments& arguments) const {
        if (comm_.size() == 1) return;
        Announcement announced(name, arguments);
        broadcast_value(comm_, announced, 0);
        std::optional<Error> mismatch;
        if (name != announced.name)
            mismatch.emplace(Status::usage,
                             announced.name[0] == '\0'
                                 ? std::string(name) + " was called after process 0 had finished"
                                 : std::string(name) + " was called while process 0 calls " + announced.name);
        agree(comm_, mismatch).raise();
        arguments = announced.arguments;
    }

    /// A process that follows, in place of begin(): waits for the next call of process 0. Returns its name
    /// and its arguments; an empty name after end().
    [[nodiscard]] std::string next(Arguments& arguments) const {
        for (;;) {
            Announcement announced;
            broadcast_value(comm_, announced, 0);
            arguments = announced.arguments;
            // A call that another process refuses does not take place.
            if (agree(comm_, std::nullopt).ok()) return announced.name;
        }
    }

    /// Process 0, last: processes that follow return from next().
    void end(Arguments const& arguments = {}) const {
        if (comm_.size() == 1) return;
        Announcement announced({}, arguments);
        broadcast_value(comm_, announced, 0);
        (void)agree(comm_, std::nullopt);
    }

  private:
    struct Announcement {
        Announcement() = default;
        Announcement(std::string_view call, Arguments const& given) : arguments(given) {
            call.copy(name, sizeof name - 1);
        }
        char name[40] = {};
        Arguments arguments{};
    };

    Communicator comm_;
};

} // namespace espalier
