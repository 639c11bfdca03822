#include "c/c_group.hpp"

#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "comm/collective.hpp"

namespace espalier {

namespace {

struct Opening {
    std::array<char, 40> call{};
    Standing standing;
};

} // namespace

SessionGroup::SessionGroup(Communicator comm, int scalar, bool follows) : comm_(std::move(comm)) {
    std::int64_t scalar_of_0 = scalar;
    broadcast_value(comm_, scalar_of_0, 0);
    std::int64_t const following = sum(comm_, std::int64_t{follows});
    all_call_ = following == 0;
    std::optional<Error> problem;
    if (follows && leads())
        problem.emplace(Status::usage, "process 0 leads, it cannot follow");
    else if (following != 0 && following != comm_.size() - 1)
        problem.emplace(Status::usage, "some of the other processes follow process 0, and some do not");
    else if (scalar != scalar_of_0)
        problem.emplace(Status::usage, "the solver of process 0 is for another scalar type");
    agree(comm_, problem).raise();
}

void SessionGroup::begin(char const* call, Standing& standing, std::function<void()> const& check) const {
    open(call, standing, leads() ? check : std::function<void()>());
}

void SessionGroup::begin_parts(char const* call, Standing& standing,
                               std::function<void()> const& check) const {
    open(call, standing, check);
}

void SessionGroup::open(char const* call, Standing& standing, std::function<void()> const& check) const {
    if (!shares()) return check();
    Opening opening;
    std::strncpy(opening.call.data(), call, opening.call.size() - 1);
    opening.standing = standing;
    std::string const mine = opening.call.data();
    broadcast_value(comm_, opening, 0);
    standing = opening.standing;
    std::optional<Error> problem;
    if (mine != opening.call.data())
        problem.emplace(Status::usage, mine + " was called while process 0 calls " + opening.call.data());
    else if (check)
        problem = error_of(check);
    agree(comm_, problem).raise();
}

void SessionGroup::check(std::function<void()> const& check) const {
    if (!shares()) return check();
    agree(comm_, leads() ? error_of(check) : std::nullopt).raise();
}

void SessionGroup::tell(Index& number) const {
    if (shares()) broadcast_value(comm_, number, 0);
}

void SessionGroup::tell(Standing& standing) const {
    if (shares()) broadcast_value(comm_, standing, 0);
}

} // namespace espalier
