// A small trace with known numbers: two threads of one process, two messages, and a phase.
#pragma once

#include <string>

#include "io/reading.hpp"
#include "trace/paje.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

// Times in ns. Thread 3: factor 0 in [1000, 3000), idle [3000, 4500), update 2 in [4500, 7250).
// Thread 4: factor 1 in [1000, 5000), nothing, update 3 in [5500, 6500).
inline TraceParts sample_parts() {
    TraceParts parts;
    parts.metadata = {{"matrix", "lap2d:3"}, {"origin", "measured"}};
    parts.containers = {{"machine", Place::machine, -1},
                        {"P0", Place::process, 0},
                        {"N0", Place::node, 1},
                        {"T0", Place::thread, 2},
                        {"T1", Place::thread, 2}};
    parts.kinds = {{"idle", Category::idle, {0, 0, 0}},
                   {"factor", Category::work, {0, 114, 178}},
                   {"update", Category::work, {230, 159, 0}},
                   {"solve", Category::work, {255, 170, 187}}};
    parts.states = {{5500, 6500, 3, 8, 4, 2, 0, false},    {1000, 3000, 0, 4, 3, 1, 2, false},
                    {3000, 4500, -1, -1, 3, 0, -1, false}, {4500, 7250, 2, 5, 3, 2, 0, false},
                    {1000, 5000, 1, 7, 4, 1, 1, false},    {1000, 7250, -1, -1, 1, 3, -1, false}};
    parts.links = {{5000, 5250, 800, 17, 4, 3, 0, LinkKind::message},
                   {4500, 4500, 0, 2, 4, 3, 1, LinkKind::steal}};
    parts.variables = {{"memory", "bytes", Place::process}, {"ready tasks", "", Place::node}};
    parts.samples = {{1000, 4096, 1, 0}, {4500, 2.5, 2, 1}};
    parts.dependencies = {{0, 2}, {1, 2}, {1, 3}};
    return parts;
}

/// A trace in the Paje format, which has every part of it.
inline std::string text_of(Trace const& trace) {
    std::string text;
    write_paje(trace, [&](std::string_view piece) { text += piece; });
    return text;
}

} // namespace espalier::trace
