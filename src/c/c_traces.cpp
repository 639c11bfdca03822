// Predictions and traces in the C interface.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "c/c_arrays.hpp"
#include "c/c_handle.hpp"

namespace {

using namespace espalier;

// Null stands for an empty name.
std::string name_of(char const* matrix_name) {
    return matrix_name ? matrix_name : "";
}

void require_threads(int threads) {
    if (threads < 0) throw Error(Status::usage, fmt::format("threads = {}; expected at least 0", threads));
}

espalier_prediction summary(Prediction const& found) {
    espalier_prediction out{};
    out.processes = found.processes;
    out.threads = found.threads;
    out.comm_threads = found.comm_threads;
    out.factor_s = found.factor_s;
    out.solve_s = found.solve_s;
    out.critical_path_s = found.critical_path_s;
    out.work_s = found.work_s;
    out.idle_s = std::accumulate(found.idle_s.begin(), found.idle_s.end(), 0.0);
    out.communication_s = found.communication_s;
    out.efficiency = found.efficiency;
    out.message_bytes = found.message_bytes;
    out.messages = found.messages;
    out.tasks = found.tasks;
    for (ProcessPrediction const& process : found.process) {
        out.memory_bytes = std::max(out.memory_bytes, process.memory_bytes);
        out.total_memory_bytes += process.memory_bytes;
    }
    return out;
}

} // namespace

espalier_status espalier_predict(espalier_solver* solver, int processes, int threads,
                                 espalier_prediction* prediction) {
    return guarded(solver, [&](espalier_solver& self) {
        require_pointer(prediction, "prediction");
        require_threads(threads);
        constexpr std::size_t first = offsetof(espalier_prediction, tasks) + sizeof(std::int64_t);
        std::size_t const bytes = common_bytes(*prediction, first, "prediction");
        espalier_prediction found = summary(self.session->predict(processes, threads));
        found.struct_size = prediction->struct_size;
        std::memcpy(prediction, &found, bytes);
    });
}

espalier_status espalier_write_predicted_trace(espalier_solver* solver, char const* path, int processes,
                                               int threads, char const* matrix_name) {
    return guarded(solver, [&](espalier_solver& self) {
        require_threads(threads);
        self.session->write_predicted_trace(path_of(path), processes, threads, name_of(matrix_name));
    });
}

espalier_status espalier_write_trace(espalier_solver* solver, char const* path, char const* matrix_name) {
    return guarded(solver,
                   [&](espalier_solver& self) { self.session->write_trace(path, name_of(matrix_name)); });
}
