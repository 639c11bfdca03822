// The schedule that was predicted, as a trace like the one that its run would leave. In: structure, cost
// model, schedule. Out: the parts of a trace, with the containers, kinds, numbers and metadata of a recorded
// one, so that viewers show the two alike and trace::compare() finds what belongs together.
#pragma once

#include <map>
#include <string>

#include "mapping/cost_model.hpp"
#include "simulation/schedule.hpp"
#include "symbolic/block_structure.hpp"
#include "trace/trace.hpp"

namespace espalier {

/// Above this many states in all, those inside subtrees are left out: subtrees then show as a whole.
inline constexpr std::size_t most_predicted_states = 4'000'000;

/// Each task is a state of its worker; inside a subtree stand the panel and the updates of each of its cblks,
/// as the cost model has them. Idle time is filled in. Messages are links from the worker that did the last
/// update to the one that adds the sum, with the number of the message's task as tag; steals are links from
/// victim to thief. Task t of the schedule
/// is task t of the trace, and the graph's edges are its dependencies. Variables: ready tasks and memory
/// (panels and fan-in blocks) of each process. `metadata` is added to origin, processes and threads.
/// `model` is the one that the schedule was made with. O(n log n) in the tasks, linear in the bloks.
trace::TraceParts predicted_trace(BlockStructure const& structure, CostModel const& model,
                                  Schedule const& schedule, std::map<std::string, std::string> metadata = {},
                                  std::size_t most_states = most_predicted_states);

} // namespace espalier
