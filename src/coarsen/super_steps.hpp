// Aggregations into steps of one task per core, for comparison with Taggre: the tasks of a step do not depend
// on each other, and a run synchronizes all cores between two steps. Both follow the ideas of the papers;
// the code is our own.
#pragma once

#include "coarsen/aggregation.hpp"
#include "core/interrupt.hpp"

namespace espalier {

/// HDagg (Zarebavani, Cheshmi, Liu, Strout, Mehri Dehnavi 2022, "HDagg: hybrid aggregation of loop-carried
/// dependence iterations in sparse matrix computations"). In the graph without edges that a path of two other
/// edges implies, a task joins its only successor, which makes small trees. Then consecutive depths of trees
/// form one step as long as its connected components fill the cores evenly. At most `cores` aggregates in
/// each step. Error{usage} if cores < 1; Error{cancelled} soon after the interrupt asks for it.
[[nodiscard]] Aggregation aggregate_hdagg(TaskGraph const& graph, Index cores,
                                          Interrupt* interrupt = nullptr);

/// GrowLocal (Böhnlein, Papp, Steiner, Matzoros, Yzelman 2025, "Efficient parallel scheduling for sparse
/// triangular solvers"). Each core in turn takes the tasks with the lowest numbers that it can run without
/// waiting for another core. A step grows as long as the cores gain from it. At most `cores` aggregates in
/// each step. Error{usage} if cores < 1; Error{cancelled} soon after the interrupt asks for it.
[[nodiscard]] Aggregation aggregate_grow_local(TaskGraph const& graph, Index cores,
                                               Interrupt* interrupt = nullptr);

} // namespace espalier
