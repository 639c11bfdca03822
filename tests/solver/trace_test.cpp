// Traces and predictions through the C++ interface.
#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include "io/reading.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"
#include "tools/traces/paje_read.hpp"
#include "tools/traces/statistics.hpp"

namespace espalier {
namespace {

Options recording(int threads) {
    Options options;
    options.threads = threads;
    options.record_trace = true;
    options.calibration = Toggle::off;
    return options;
}

class SolverTrace : public ::testing::Test {
  protected:
    reading::TemporaryDirectory const folder;
};

TEST_F(SolverTrace, HoldsEveryStepOfEveryWorker) {
    CscMatrix<double> const matrix = generated<double>("lap3d:8");
    Solver<double> solver(recording(2));
    solver.analyze(matrix);
    solver.factorize(matrix);
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1.0);
    solve_and_refine(solver, matrix, b);
    solver.write_trace(folder.file("run.paje"), "lap3d:8");

    trace::Trace const run = trace::read_paje(folder.file("run.paje"));
    EXPECT_EQ(run.about("matrix"), "lap3d:8");
    EXPECT_EQ(run.about("origin"), "measured");
    EXPECT_EQ(run.at(trace::Place::thread).size(), 2u);
    EXPECT_EQ(run.dropped_events(), 0);
    for (char const* const name :
         {"ordering", "symbolic", "mapping", "assembly", "factorization", "solve", "refinement"})
        EXPECT_TRUE(trace::phase(run, name).has_value()) << name;
    auto const factorization = trace::phase(run, "factorization");
    ASSERT_TRUE(factorization);
    trace::ThreadTimes const times = trace::statistics(run, *factorization).total();
    EXPECT_GT(times.busy, 0);
    EXPECT_EQ(times.busy + times.idle + times.overhead + times.communication + times.unrecorded,
              2 * (factorization->end - factorization->begin));
    EXPECT_FALSE(run.dependencies().empty());

    EXPECT_THROW(solver.write_trace(folder.file("empty.paje")), Error);
    EXPECT_FALSE(std::filesystem::exists(folder.file("empty.paje")));
    solver.factorize(matrix); // records that were written are not written again
    // a failed write keeps the records
    EXPECT_THROW(solver.write_trace(folder.file("nowhere/again.paje")), Error);
    solver.write_trace(folder.file("again.paje"));
    trace::Trace const again = trace::read_paje(folder.file("again.paje"));
    EXPECT_FALSE(trace::phase(again, "ordering").has_value());
    EXPECT_TRUE(trace::phase(again, "factorization").has_value());
}

TEST_F(SolverTrace, RecordingChangesNoNumber) {
    CscMatrix<double> const matrix = generated<double>("lap3d:8");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1.0);
    std::vector<double> solutions[2];
    for (bool const record : {false, true}) {
        Options options = recording(2);
        options.record_trace = record;
        auto solver = factorized(matrix, options);
        solutions[record] = solver.solve(b);
    }
    EXPECT_EQ(solutions[0], solutions[1]);
}

TEST_F(SolverTrace, PredictionsOfAnotherMachineAddUp) {
    CscMatrix<double> const matrix = generated<double>("lap3d:8");
    Options options = recording(2);
    options.topology = "numa:2 core:2";
    Solver<double> solver(options);
    EXPECT_THROW(static_cast<void>(solver.predict(1)), Error); // analyze was not called yet
    solver.analyze(matrix);
    EXPECT_THROW(static_cast<void>(solver.predict(0)), Error);
    EXPECT_THROW(static_cast<void>(solver.predict(1 << 11, 1 << 10)), Error);

    Prediction const one = solver.predict(1, 2);
    EXPECT_DOUBLE_EQ(one.factor_s, solver.report().analysis.predicted_factor_s);
    EXPECT_DOUBLE_EQ(one.solve_s, solver.report().analysis.predicted_solve_s);
    EXPECT_GT(one.solve_s, 0);
    EXPECT_EQ(one.messages, 0);
    Prediction const all = solver.write_predicted_trace(folder.file("predicted.paje.gz"), 3, 0, "lap3d:8");
    EXPECT_EQ(all.threads, 4); // the number of the topology
    EXPECT_EQ(all.process.size(), 3u);
    ASSERT_EQ(all.idle_s.size(), 12u);
    double const idle = std::accumulate(all.idle_s.begin(), all.idle_s.end(), 0.0);
    double busy = 0;
    Index cblks = 0;
    std::int64_t sent = 0, received = 0;
    for (ProcessPrediction const& process : all.process) {
        busy += process.busy_s;
        cblks += process.cblks;
        sent += process.messages_sent;
        received += process.messages_received;
    }
    EXPECT_NEAR(busy, all.work_s, 1e-9 * all.work_s);
    // Communication threads have no cores of their own.
    EXPECT_GT(all.communication_s, 0);
    EXPECT_NEAR(busy + idle + all.communication_s, 12 * all.factor_s, 1e-9 * 12 * all.factor_s);
    EXPECT_EQ(cblks, solver.report().analysis.cblks);
    EXPECT_EQ(sent, all.messages);
    EXPECT_EQ(received, all.messages);
    EXPECT_LE(all.critical_path_s, all.factor_s * (1 + 1e-12));

    trace::Trace const written = trace::read_paje(folder.file("predicted.paje.gz"));
    EXPECT_EQ(written.about("origin"), "predicted");
    EXPECT_EQ(written.at(trace::Place::thread).size(), 12u + 3u); // one communication thread of each process
    EXPECT_EQ(written.at(trace::Place::node).size(), 6u);
}

} // namespace
} // namespace espalier
