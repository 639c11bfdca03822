#include "crew.hpp"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "comm/collective.hpp"
#include "comm/network_timing.hpp"
#include "core/scalar.hpp"
#include "distributed/read_parts.hpp"
#include "espalier/distributed.hpp"
#include "tools/command/solve/problem.hpp"

namespace espalier::command {

namespace {

Communicator world;

enum class Work : std::int32_t { solver, network, matrix, dense, none };

struct Call {
    Work work = Work::solver;
    Scalar scalar = Scalar::d;
    std::int32_t processes = 1;
    std::int32_t exit_code = 0;
    std::int32_t threads = 0;
};

void tell_others(Call call) {
    if (world.size() > 1 && world.rank() == 0) broadcast_value(world, call, 0);
}

NamedMatrix read_matrix_together(std::string path, int threads) {
    broadcast(world, path, 0);
    NamedMatrix named = read_matrix_parts(world, path, threads);
    named.matrix = std::visit([](auto const& part) -> AnyMatrix { return gather_columns(world, part); },
                              std::exchange(named.matrix, {}));
    return named;
}

AnyDense read_dense_together(std::string path, int threads) {
    broadcast(world, path, 0);
    return std::visit(
        []<class T>(DenseMatrix<T> const& part) -> AnyDense {
            Index const rows = sum(world, part.rows);
            std::vector<T> const none;
            return DenseMatrix<T>{rows, part.cols,
                                  part.cols > 0 ? gather_rows<T>(world, part.values, part.cols) : none};
        },
        read_dense_parts(world, path, threads));
}

} // namespace

void set_crew(Communicator const& processes) {
    world = processes;
}

int crew_size() {
    return world.size();
}

Communicator call_crew(Scalar scalar, std::optional<int> processes) {
    int const count = processes.value_or(world.size());
    tell_others({.scalar = scalar, .processes = count});
    return first(world, count);
}

std::optional<Network> crew_network() {
    if (world.size() == 1) return std::nullopt;
    tell_others({.work = Work::network});
    LinkTiming const worst = slowest(time_links(world));
    return Network{worst.latency, worst.bandwidth};
}

NamedMatrix crew_matrix(std::string const& path, int threads) {
    tell_others({.work = Work::matrix, .threads = threads});
    return read_matrix_together(path, threads);
}

AnyDense crew_dense(std::string const& path, int threads) {
    tell_others({.work = Work::dense, .threads = threads});
    return read_dense_together(path, threads);
}

int follow_crew() {
    for (;;) {
        Call call;
        broadcast_value(world, call, 0);
        if (call.work == Work::none) {
            world = {}; // MPI is about to be finalised
            return call.exit_code;
        }
        try {
            if (call.work == Work::network) time_links(world);
            if (call.work == Work::matrix) read_matrix_together({}, call.threads);
            if (call.work == Work::dense) read_dense_together({}, call.threads);
            if (call.work != Work::solver) continue;
            Communicator const part = first(world, call.processes);
            if (part.size() == 1) continue; // not needed this time
            with_scalar(call.scalar, [&part]<class T>(T) { Solver<T>::follow({}, part); });
        } catch (std::exception const&) { // process 0 tells
        }
    }
}

void dismiss_crew(int exit_code) {
    tell_others({.work = Work::none, .exit_code = exit_code});
    world = {}; // MPI is about to be finalised
}

} // namespace espalier::command
