// What a trace calls the tasks and messages of one sweep, by the same numbers on all processes, and which of
// them has to wait for which. With B branches and P processes, from the first number on:
//
//     2 B p + t              task t of process p
//     2 B P + B g + b        the message in which process g gives what it has for branch b
//     3 B P + B g + b        the message in which it gets the solution of branch b
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/factor_plan.hpp"
#include "trace/record.hpp"

namespace espalier {

class SweepNumbers {
  public:
    SweepNumbers() = default;
    /// `first` of count(plan) numbers; the plan lives longer.
    SweepNumbers(FactorPlan const& plan, std::int64_t first);
    [[nodiscard]] static std::int64_t count(FactorPlan const& plan);

    /// Of this process.
    [[nodiscard]] std::int64_t task(TaskId task) const { return first_task_ + task; }
    [[nodiscard]] std::int64_t given(std::int32_t giver, BranchId branch) const {
        return first_message_ + branches_ * giver + branch;
    }
    [[nodiscard]] std::int64_t solution(std::int32_t giver, BranchId branch) const {
        return first_message_ + branches_ * (processes_ + giver) + branch;
    }
    /// Of the tasks of this process: on each other, of messages on them, and on messages.
    [[nodiscard]] std::vector<trace::Dependency> dependencies() const;

  private:
    FactorPlan const* plan_ = nullptr;
    std::int64_t branches_ = 0;
    std::int64_t processes_ = 1;
    std::int64_t first_task_ = 0;
    std::int64_t first_message_ = 0;
};

} // namespace espalier
