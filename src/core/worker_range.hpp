// A range of workers, such as the candidates of a task or the workers of a process or NUMA node.
#pragma once

namespace espalier {

/// The workers (or processes) first .. end - 1; never empty.
struct WorkerRange {
    int first = 0;
    int end = 1;
    [[nodiscard]] int count() const { return end - first; }
    [[nodiscard]] bool contains(int worker) const { return first <= worker && worker < end; }
    [[nodiscard]] bool contains(WorkerRange other) const { return first <= other.first && other.end <= end; }
    bool operator==(WorkerRange const&) const = default;
};

} // namespace espalier
