// Task graphs of triangular solves on grids, and the checks that every coarse graph has to pass.
#pragma once

#include <gtest/gtest.h>

#include <set>

#include "coarsen/aggregation.hpp"
#include "runtime/support.hpp"

namespace espalier {

/// Cell (x, y, z) is task x + nx (y + ny z) and precedes its neighbors in positive directions.
inline TaskGraph grid_tasks(TaskId nx, TaskId ny, TaskId nz = 1) {
    std::vector<Edge> edges;
    for (TaskId z = 0; z < nz; ++z)
        for (TaskId y = 0; y < ny; ++y)
            for (TaskId x = 0; x < nx; ++x) {
                TaskId const cell = x + nx * (y + ny * z);
                if (x + 1 < nx) edges.emplace_back(cell, cell + 1);
                if (y + 1 < ny) edges.emplace_back(cell, cell + nx);
                if (z + 1 < nz) edges.emplace_back(cell, cell + nx * ny);
            }
    return graph_of(nx * ny * nz, edges);
}

/// Each task is a part of exactly one aggregate, parts ascend, and the edges of the coarse graph are those of
/// the fine one: each once, between different aggregates, and towards higher numbers, so there is no cycle.
inline void expect_coarse(TaskGraph const& fine, CoarseGraph const& coarse) {
    TaskId const n = fine.num_tasks(), aggregates = coarse.graph.num_tasks();
    ASSERT_EQ(std::ssize(coarse.aggregate_of), n);
    ASSERT_EQ(std::ssize(coarse.part_ptr), aggregates + 1);
    TaskId parts = 0;
    double cost = 0, fine_cost = 0;
    for (TaskId a = 0; a < aggregates; ++a) {
        TaskId previous = -1;
        ASSERT_FALSE(coarse.parts_of(a).empty());
        for (TaskId const part : coarse.parts_of(a)) {
            ASSERT_EQ(coarse.aggregate_of[part], a);
            ASSERT_GT(part, previous);
            previous = part;
            ++parts;
        }
        cost += coarse.graph.cost[a];
    }
    EXPECT_EQ(parts, n);
    std::set<Edge> expected, found;
    for (TaskId task = 0; task < n; ++task) {
        fine_cost += cost_of(fine, task);
        for (TaskId const next : fine.successors_of(task))
            if (coarse.aggregate_of[task] != coarse.aggregate_of[next])
                expected.emplace(coarse.aggregate_of[task], coarse.aggregate_of[next]);
    }
    EXPECT_NEAR(cost, fine_cost, 1e-9 * fine_cost);
    std::vector<std::int32_t> predecessors(aggregates, 0);
    for (TaskId a = 0; a < aggregates; ++a)
        for (TaskId const next : coarse.graph.successors_of(a)) {
            ASSERT_GT(next, a);
            EXPECT_TRUE(found.emplace(a, next).second) << "repeated edge";
            ++predecessors[next];
        }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(predecessors, coarse.graph.num_predecessors);
}

} // namespace espalier
