// The numbers of the tasks and messages of one sweep in a trace, the same on all processes, and their
// dependencies. With B branches in the plan of all and P processes, from the first number on:
//
//     2 B p + t              task t of process p
//     2 B P + B g + b        the message with the sum of process g for branch b
//     3 B P + B g + b        the message with the solution of branch b for process g
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/factor_plan.hpp"
#include "trace/record.hpp"

namespace espalier {

class SweepNumbers {
  public:
    SweepNumbers() = default;
    /// `first` is the first of count(plan) numbers. The plan must outlive this.
    SweepNumbers(FactorPlan const& plan, std::int64_t first);
    [[nodiscard]] static std::int64_t count(FactorPlan const& plan);

    /// A task of this process. Branches are those of its plan.
    [[nodiscard]] std::int64_t task(TaskId task) const { return first_task_ + task; }
    [[nodiscard]] std::int64_t sum(std::int32_t contributor, BranchId branch) const {
        return first_message_ + branches_ * contributor + plan_->number_of(branch);
    }
    [[nodiscard]] std::int64_t solution(std::int32_t contributor, BranchId branch) const {
        return sum(processes_ + contributor, branch);
    }
    /// Dependencies of the tasks of this process on each other and on messages, and of messages on tasks.
    [[nodiscard]] std::vector<trace::Dependency> dependencies() const;

  private:
    FactorPlan const* plan_ = nullptr;
    std::int64_t branches_ = 0;
    std::int32_t processes_ = 1;
    std::int64_t first_task_ = 0;
    std::int64_t first_message_ = 0;
};

} // namespace espalier
