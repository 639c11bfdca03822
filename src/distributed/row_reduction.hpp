// Reductions of numbers that each process computes from its rows. The processes also agree on errors in a
// reduction. Every step between two messages that may fail (for lack of memory, or because the call was
// cancelled) runs inside a reduction, so that no process waits for one that failed.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/collective.hpp"

namespace espalier {

class RowReduction {
  public:
    explicit RowReduction(Communicator const& comm) : comm_(comm) {}

    /// Collective. Calls `local(values)` with `count` zeros, which it replaces by the contribution of this
    /// process, and returns the sums over all processes. W is double or std::complex<double>. The result is
    /// valid until the next reduction. An exception of `local` on one process is thrown on all.
    template <class W, class Local> std::span<W const> sum(Index count, Local&& local) {
        constexpr Index parts = sizeof(W) / sizeof(double);
        std::span<double> const numbers = zeros(parts * count);
        std::span<W> const values(reinterpret_cast<W*>(numbers.data()), count);
        auto const step = [&] { local(values); };
        sum_numbers(numbers, detail::StepRef(step));
        return values;
    }

    /// Collective. As sum(), but returns maxima of numbers that are not negative. A NaN counts as the
    /// largest.
    template <class Local> std::span<double const> max(Index count, Local&& local) {
        std::span<double> const numbers = zeros(count);
        auto const step = [&] { local(numbers.first(count)); };
        max_numbers(numbers, detail::StepRef(step));
        return numbers.first(count);
    }

    /// Collective. Runs a step without a reduction.
    template <class Step> void all_succeed(Step&& step) { espalier::all_succeed(comm_, step); }

  private:
    // `count` numbers and a flag that is set if a process failed.
    std::span<double> zeros(Index count);
    // The step replaces all numbers but the last.
    void sum_numbers(std::span<double> numbers, detail::StepRef const& step);
    void max_numbers(std::span<double> numbers, detail::StepRef const& step);
    void fill(double& failed, detail::StepRef const& step);

    Communicator comm_;
    std::vector<std::complex<double>> numbers_;
    std::vector<std::int64_t> bits_;
    Index ready_ = -1; // the largest count for which all processes have memory
    std::optional<Error> problem_;
};

} // namespace espalier
