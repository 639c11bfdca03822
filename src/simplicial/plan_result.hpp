// The planners of factorizations without supernodes return a plan, or the reason why there is none.
#pragma once

#include <optional>
#include <utility>

namespace espalier {

/// Why there is no plan: such a factorization is impossible, or predicted to be slower than one with
/// supernodes.
enum class NoPlan { impossible, slower };

/// A plan, or the reason why there is none.
template <class Plan> class PlanResult {
  public:
    PlanResult(Plan plan) : plan_(std::move(plan)) {}
    PlanResult(NoPlan reason) : reason_(reason) {}

    explicit operator bool() const { return plan_.has_value(); }
    [[nodiscard]] bool is(NoPlan reason) const { return !plan_ && reason_ == reason; }
    Plan const& operator*() const { return *plan_; }
    Plan const* operator->() const { return &*plan_; }
    [[nodiscard]] std::optional<Plan> take() { return std::move(plan_); }

  private:
    std::optional<Plan> plan_;
    NoPlan reason_ = NoPlan::impossible;
};

} // namespace espalier
