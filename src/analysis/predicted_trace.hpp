// Converts a predicted schedule to a trace. Input: structure, cost model, schedule. Output: a trace with the
// containers, kinds, task numbers and metadata of a recorded one, so that viewers show both in the same way
// and trace::compare() matches their tasks.
#pragma once

#include <map>
#include <string>

#include "mapping/cost_model.hpp"
#include "simulation/schedule.hpp"
#include "symbolic/block_structure.hpp"
#include "trace/trace.hpp"

namespace espalier {

/// If there are more states than this, the states inside subtrees are omitted.
inline constexpr std::size_t most_predicted_states = 4'000'000;

/// The factorization begins at time 0, and the sweeps of a solve with one right-hand side follow it. Each
/// task is a state of its worker. A subtree contains states for the panel and the updates of each of its
/// cblks, with the times of the cost model. Idle time is filled in. Messages are links from the worker of the
/// last update to the worker that adds the sum, and in the solve from the sender to the receiver, with the
/// number of the message task as tag. Steals are links from the victim to the thief. Task t of the
/// factorization is task t of the trace, the tasks of the solve follow, and the edges of both graphs are its
/// dependencies. The variables are the number of ready tasks and the memory (panels and fan-in blocks) of
/// each process. `metadata` is added to origin, processes and threads. `model` is the cost model of the
/// schedule. The time is O(n log n) in the tasks and linear in the bloks.
trace::TraceParts predicted_trace(BlockStructure const& structure, CostModel const& model,
                                  Schedule const& schedule, std::map<std::string, std::string> metadata = {},
                                  std::size_t most_states = most_predicted_states);

} // namespace espalier
