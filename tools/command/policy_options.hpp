// The options that choose a scheduling policy and tell it what to do.
#pragma once

#include <string>

#include "runtime/policy_settings.hpp"

namespace CLI {
class App;
}

namespace espalier::command {

struct PolicyOptions {
    PolicySettings settings;
    std::string of_places; ///< The first option given that only `places` understands; empty: none.
};

/// --schedule, --push-init, --push, --select, --strict and --seed.
void add_policy_options(CLI::App& command, PolicyOptions& options);

/// Error{usage} for an option that the policy chosen does not have.
void check(PolicyOptions const& options);

} // namespace espalier::command
