// The processes that a launcher started for one command. Process 0 runs the command; the others wait for the
// calls that it announces (comm/collective_call.hpp) and take part in them.
#pragma once

#include <optional>
#include <string>

#include "core/scalar.hpp"
#include "espalier/communicator.hpp"
#include "espalier/espalier.hpp"
#include "io/matrix_market.hpp"
#include "mapping/machine_model.hpp"

namespace espalier::command {

/// Sets the processes of the command. Call it once, before every other function of this file.
void set_processes(Communicator const& world);
/// The number of processes of the command; 1 without a launcher.
[[nodiscard]] int num_processes();

/// Process 0: returns the first `count` processes (all if there is no count). The other processes among them
/// create a solver of this scalar type on the topology of `options`, so process 0 must create its solver with
/// these options and the result at once. There is one solver at a time.
[[nodiscard]] Communicator processes_for_solver(Scalar scalar, Options const& options,
                                                std::optional<int> count = std::nullopt);

/// Process 0: creates a solver of all processes. There is one solver at a time.
template <class T> Solver<T> solver_of_all(Options options) {
    Communicator processes = processes_for_solver(scalar_of<T>, options);
    return Solver<T>(std::move(options), std::move(processes));
}

/// Process 0: the slowest link between it and the other processes, measured; nothing with one process.
[[nodiscard]] std::optional<Network> measure_network();

/// Process 0: reads a file of which each process reads its part and sends it here. Errors as read_matrix()
/// and read_dense().
[[nodiscard]] NamedMatrix read_matrix_by_parts(std::string const& path, int threads);
[[nodiscard]] AnyDense read_dense_by_parts(std::string const& path, int threads);

/// Processes other than 0: take part in the calls of process 0 until it ends. Returns the exit code of
/// process 0.
int follow_process_0();
/// Process 0, last: ends the other processes with this exit code.
void end_processes(int exit_code);

} // namespace espalier::command
