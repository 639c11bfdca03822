// An analysis without a solver, for tests of the phases.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.hpp"
#include "machine/machine_file.hpp"

namespace espalier {

/// The environment of an analysis for `processes` with `threads` each on this machine. Keeps the notes for
/// the user.
struct AnalysisEnvironment {
    explicit AnalysisEnvironment(int processes = 1, int threads = 1)
        : context{processes,
                  [=] { return machine_model(Topology::detect(), processes, threads); },
                  std::make_shared<Interrupt>(),
                  background,
                  nullptr,
                  [this](std::string note) { notes.push_back(std::move(note)); },
                  0,
                  1,
                  nullptr} {}

    std::vector<std::string> notes;
    Background background;
    AnalysisContext context;
};

template <class T>
Analysis<T> analyzed(CscMatrix<T> const& a, Options const& options = {}, int processes = 1) {
    AnalysisEnvironment environment(processes);
    return analyze(a, options, environment.context);
}

} // namespace espalier
