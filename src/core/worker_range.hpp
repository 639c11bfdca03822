// A range of workers: of candidates for a task or a column block, of those of a process or of a NUMA node.
#pragma once

namespace espalier {

/// The numbers first .. end - 1, never none. Processes are counted in the same way.
struct WorkerRange {
    int first = 0;
    int end = 1;
    [[nodiscard]] int count() const { return end - first; }
    [[nodiscard]] bool contains(int worker) const { return first <= worker && worker < end; }
    [[nodiscard]] bool contains(WorkerRange other) const { return first <= other.first && other.end <= end; }
    bool operator==(WorkerRange const&) const = default;
};

} // namespace espalier
