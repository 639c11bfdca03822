// The processes that a launcher started for one command. Process 0 runs the command as if it were alone; the
// others follow the solvers that it makes, one after the other, until it dismisses them.
#pragma once

#include <optional>
#include <string>

#include "core/scalar.hpp"
#include "espalier/communicator.hpp"
#include "espalier/espalier.hpp"
#include "io/matrix_market.hpp"
#include "mapping/machine_model.hpp"

namespace espalier::command {

/// Once, before anything else here.
void set_crew(Communicator const& world);
/// Of the command; 1 without a launcher.
[[nodiscard]] int crew_size();

/// Process 0: calls the others to a solver of this scalar on the first `processes` of them (none: all), made
/// at once with the result.
[[nodiscard]] Communicator call_crew(Scalar scalar, std::optional<int> processes = std::nullopt);

/// A solver of all processes. One at a time.
template <class T> Solver<T> crew_solver(Options options) {
    return Solver<T>(std::move(options), call_crew(scalar_of<T>));
}

/// Process 0: measures the network between it and the others, of which the slowest link counts. Nothing
/// without others.
[[nodiscard]] std::optional<Network> crew_network();

/// Process 0: what a file holds, of which each process reads its part and sends it here. Errors as
/// read_matrix() and read_dense().
[[nodiscard]] NamedMatrix crew_matrix(std::string const& path, int threads);
[[nodiscard]] AnyDense crew_dense(std::string const& path, int threads);

/// The others: returns the exit code when they are dismissed.
int follow_crew();
/// Process 0, last.
void dismiss_crew(int exit_code);

} // namespace espalier::command
