// The simulated cases of a comparison. Schedule, placement, splitting and machine do not affect the analysis,
// so cases that differ only in these share one.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "espalier/espalier.hpp"
#include "espalier/simulation.hpp"
#include "record.hpp"
#include "tools/command/solve/problem.hpp"

namespace espalier::command {

namespace {

constexpr std::array<std::string_view, 18> of_simulation = {"threads",
                                                            "schedule",
                                                            "push-init",
                                                            "push",
                                                            "select",
                                                            "strict",
                                                            "seed",
                                                            "alloc",
                                                            "split",
                                                            "split-width",
                                                            "split-rows",
                                                            "split-idle",
                                                            "split-seconds",
                                                            "comm-threads",
                                                            "comm-own-core",
                                                            "max-block-width",
                                                            "min-block-width",
                                                            "subtrees-per-worker"};

bool decides_about_analysis(std::string_view name) {
    return std::find(of_simulation.begin(), of_simulation.end(), name) == of_simulation.end();
}

// A key that is equal for cases that share an analysis.
std::string analysis_key(Options const& options) {
    std::string key;
    for (std::string_view const name : option_names())
        if (decides_about_analysis(name)) key += get_option(options, name) + '\n';
    return key;
}

// The options of the analysis; options of the simulation have their defaults.
Options analysis_options(Options const& options) {
    Options result = options;
    for (std::string_view const name : option_names())
        if (!decides_about_analysis(name)) set_option(result, name, get_option(Options{}, name));
    result.supernodes = Toggle::on; // schedules concern only supernodes
    return result;
}

void fill(CompareRow& row, Prediction const& prediction, AnalysisReport const& analysis) {
    row.schedule = prediction.schedule;
    row.notes = prediction.notes;
    row.analysis_s = analysis.total_s;
    row.flops = analysis.flops;
    row.tasks = static_cast<double>(prediction.tasks);
    row.messages = static_cast<double>(prediction.messages);
    row.message_bytes = prediction.message_bytes;
    row.memory_bytes = 0;
    for (ProcessPrediction const& process : prediction.process)
        row.memory_bytes = std::max(row.memory_bytes, process.memory_bytes);
    row.idle_share = 1 - prediction.efficiency;
    row.runs = {{.factor_s = prediction.factor_s,
                 .steals = static_cast<double>(prediction.steals),
                 .solve_s = prediction.solve_s,
                 .local_share = prediction.local_share}};
}

template <class T> void simulate_as(CompareRecord& record, std::vector<CompareCase> const& cases,
                                    AnyMatrix&& any, ProgressSink& progress) {
    std::string const machine = record.asked.simulate == "here" ? "" : record.asked.simulate;
    CscMatrix<T> const matrix = take_as<T>(std::move(any), record.asked.run);
    std::map<std::string, std::vector<std::size_t>> cases_of_analysis;
    for (std::size_t k = 0; k < cases.size(); ++k)
        cases_of_analysis[analysis_key(cases[k].run.library)].push_back(k);
    ProgressScope const phase(&progress, "simulation",
                              static_cast<double>(cases.size() + cases_of_analysis.size()));
    for (auto const& [key, members] : cases_of_analysis) {
        CompareRow& first = record.rows[members.front()];
        std::optional<Solver<T>> solver;
        bool const analyzed = attempt(first, [&, k = members.front()] {
            solver.emplace(analysis_options(cases[k].run.library));
            solver->analyze(matrix);
        });
        progress.advance(1);
        for (std::size_t const k : members) {
            RunOptions const& run = cases[k].run;
            CompareRow& row = record.rows[k];
            if (!analyzed) row.status = first.status, row.message = first.message;
            if (analyzed)
                attempt(row, [&] {
                    Simulation const what =
                        simulation_of(run.library, machine, run.processes.value_or(1), run.library.threads);
                    fill(row, solver->simulate(what), solver->report().analysis);
                });
            progress.advance(1);
        }
    }
}

} // namespace

void simulate_cases(CompareRecord& record, std::vector<CompareCase> const& cases, AnyMatrix&& matrix,
                    ProgressSink& progress) {
    with_scalar(record.scalar,
                [&]<class T>(T) { simulate_as<T>(record, cases, std::move(matrix), progress); });
}

} // namespace espalier::command
