// One simulated run of an analyzed matrix, for `espalier simulate` and `espalier compare --simulate`.
#pragma once

#include "core/timer.hpp"
#include "espalier/espalier.hpp"
#include "espalier/simulation.hpp"

namespace espalier::command {

struct SimulatedRun {
    Prediction prediction;
    double simulate_s = 0; ///< Time of the simulation.
};

/// `solver` has analyzed the matrix. Errors as Solver::simulate.
template <class T> SimulatedRun simulate_once(Solver<T> const& solver, Simulation const& what) {
    Timer const timer;
    SimulatedRun run;
    run.prediction = solver.simulate(what);
    run.simulate_s = timer.seconds();
    return run;
}

} // namespace espalier::command
