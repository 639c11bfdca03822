// The processes that share a handle of the C interface. Process 0 alone looks at what a caller gives; how
// that ended, all learn before they go on. With one process, and when the others follow, there is nobody to
// tell.
#pragma once

#include <functional>

#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// What a handle holds, as process 0 knows it.
struct Standing {
    bool has_matrix = false;
    bool analyzed = false;   ///< This pattern.
    bool factorized = false; ///< These values.
    bool doubtful = false;   ///< Whether the factors are still there, after a refinement that failed.
    Index order = 0;         ///< Of the matrix.
    Offset stored = 0;       ///< Entries that are kept of it.
    double tolerance = 0;    ///< In force.
};

class SessionGroup {
  public:
    /// One process.
    SessionGroup() = default;
    /// Collective. Error{usage} on all unless the others give the scalar of process 0 (as a number) and
    /// either all of them follow or none does.
    SessionGroup(Communicator comm, int scalar, bool follows);

    [[nodiscard]] Communicator const& comm() const { return comm_; }
    [[nodiscard]] bool leads() const { return comm_.rank() == 0; }

    /// Collective: a call of the interface begins. Process 0 runs `check`, which may throw, and all have what
    /// it throws; `standing` becomes that of process 0 before. Error{usage} on all when they are in different
    /// calls.
    void begin(char const* call, Standing& standing, std::function<void()> const& check) const;
    /// The same where all processes give a part: each runs `check`, with the standing of process 0.
    void begin_parts(char const* call, Standing& standing, std::function<void()> const& check) const;
    /// Those that call: all, or process 0 alone while the others follow it.
    [[nodiscard]] Communicator callers() const { return shares() ? comm_ : Communicator(); }
    /// Collective: process 0 runs `check` later in the call, and all have what it throws.
    void check(std::function<void()> const& check) const;
    /// Collective: process 0's number on all.
    void tell(Index& number) const;
    /// Collective: process 0's standing on all.
    void tell(Standing& standing) const;

  private:
    void open(char const* call, Standing& standing, std::function<void()> const& check) const;
    [[nodiscard]] bool shares() const { return comm_.size() > 1 && all_call_; }

    Communicator comm_;
    bool all_call_ = true; // and do not follow
};

} // namespace espalier
