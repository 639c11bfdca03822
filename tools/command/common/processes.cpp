#include "tools/command/common/processes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "comm/collective_call.hpp"
#include "comm/network_timing.hpp"
#include "distributed/read_parts.hpp"
#include "espalier/distributed.hpp"
#include "tools/command/solve/problem.hpp"

namespace espalier::command {

namespace {

struct Arguments {
    Scalar scalar = Scalar::d;
    std::int32_t count = 1;
    std::int32_t exit_code = 0;
    std::int32_t threads = 0;
};

CollectiveCalls<Arguments> calls;

// Process 0: begins a call, which all other processes follow.
void begin(CallName const& name, Arguments const& arguments) {
    calls.begin(name, arguments, [](Arguments const&) {});
}

NamedMatrix gather_matrix(std::string path, int threads) {
    broadcast(calls.comm(), path, 0);
    NamedMatrix named = read_matrix_parts(calls.comm(), path, threads);
    named.matrix =
        std::visit([](auto const& part) -> AnyMatrix { return gather_columns(calls.comm(), part); },
                   std::exchange(named.matrix, {}));
    return named;
}

AnyDense gather_dense(std::string path, int threads) {
    broadcast(calls.comm(), path, 0);
    return std::visit(
        []<class T>(DenseMatrix<T> const& part) -> AnyDense {
            Index const rows = sum(calls.comm(), part.rows);
            std::vector<T> const none;
            return DenseMatrix<T>{
                rows, part.cols, part.cols > 0 ? gather_rows<T>(calls.comm(), part.values, part.cols) : none};
        },
        read_dense_parts(calls.comm(), path, threads));
}

// Returns the first `count` processes, for a solver. `options` gets the topology of process 0. All other
// options that matter to a process that follows are adopted from the solver of process 0.
Communicator join_solver(Options& options, int count) {
    broadcast(calls.comm(), options.topology, 0);
    return first(calls.comm(), count);
}

void take_part(std::string_view call, Arguments const& arguments) {
    if (call == "network") time_links(calls.comm());
    if (call == "matrix") gather_matrix({}, arguments.threads);
    if (call == "dense") gather_dense({}, arguments.threads);
    if (call != "solver") return;
    Options options;
    Communicator const part = join_solver(options, arguments.count);
    if (part.size() > 1)
        with_scalar(arguments.scalar, [&]<class T>(T) { Solver<T>::follow(std::move(options), part); });
}

} // namespace

void set_processes(Communicator const& world) {
    calls = CollectiveCalls<Arguments>(world);
}

int num_processes() {
    return calls.comm().size();
}

Communicator processes_for_solver(Scalar scalar, Options const& options, std::optional<int> count) {
    Options own; // nothing may fail on process 0 alone after the call has begun
    own.topology = options.topology;
    Arguments const arguments{.scalar = scalar, .count = count.value_or(num_processes())};
    begin("solver", arguments);
    return join_solver(own, arguments.count);
}

std::optional<Network> measure_network() {
    if (num_processes() == 1) return std::nullopt;
    begin("network", {});
    LinkTiming const worst = slowest(time_links(calls.comm()));
    return Network{worst.latency, worst.bandwidth};
}

NamedMatrix read_matrix_by_parts(std::string const& path, int threads) {
    std::string own = path; // as in processes_for_solver()
    begin("matrix", {.threads = threads});
    return gather_matrix(std::move(own), threads);
}

AnyDense read_dense_by_parts(std::string const& path, int threads) {
    std::string own = path;
    begin("dense", {.threads = threads});
    return gather_dense(std::move(own), threads);
}

int follow_process_0() {
    Arguments arguments;
    auto const adopt = [&](Arguments const& of_0) { arguments = of_0; };
    for (CallName call; !(call = calls.next(adopt)).view().empty();) {
        try {
            take_part(call.view(), arguments);
        } catch (std::exception const&) { // process 0 reports it
        }
    }
    calls = {}; // before MPI is finalized
    return arguments.exit_code;
}

void end_processes(int exit_code) {
    calls.end({.exit_code = exit_code});
    calls = {}; // before MPI is finalized
}

} // namespace espalier::command
