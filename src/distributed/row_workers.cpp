#include "distributed/row_workers.hpp"

#include <exception>

namespace espalier {

namespace {

constexpr Index least_rows_of_chunk = Index(1) << 14;
// A thread reads a vector of this many rows in about the time that it takes to wake a worker.
constexpr Index least_shared_rows = Index(1) << 16;

Index rows_of_chunk(Index rows) {
    return std::max(least_rows_of_chunk, (rows + RowWorkers::most_chunks - 1) / RowWorkers::most_chunks);
}

} // namespace

int RowWorkers::num_chunks(Index rows) {
    Index const length = rows_of_chunk(rows);
    return static_cast<int>((rows + length - 1) / length);
}

void RowWorkers::run(int parts, FunctionRef<void(int)> body) const {
    WorkerTeam* team = nullptr;
    if (count_ > 1 && parts > 1) {
        try {
            WorkerTeam& found = team_();
            found.start();
            team = &found;
        } catch (std::exception const&) {
            // Without memory or threads the calling thread does all the work.
        }
    }
    int const workers = team ? std::min(team->size(), parts) : 1;
    auto const run_parts_of = [&](int worker) {
        int const end = static_cast<int>(static_cast<Index>(parts) * (worker + 1) / workers);
        for (int part = static_cast<int>(static_cast<Index>(parts) * worker / workers); part < end; ++part)
            body(part);
    };
    if (!team) return run_parts_of(0);
    // A reference to one object fits into a std::function without an allocation.
    team->for_each_worker([&run = std::as_const(run_parts_of), workers](WorkerId w) {
        if (w < workers) run(w);
    });
}

void RowWorkers::for_each_chunk(Index rows, FunctionRef<void(int, IndexRange)> body) const {
    Index const length = rows_of_chunk(rows);
    auto const run_chunk = [&](int chunk) {
        body(chunk, {chunk * length, std::min(rows, (chunk + 1) * length)});
    };
    int const chunks = num_chunks(rows);
    if (rows >= least_shared_rows) return run(chunks, run_chunk);
    for (int chunk = 0; chunk < chunks; ++chunk) run_chunk(chunk);
}

} // namespace espalier
