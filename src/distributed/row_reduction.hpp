// Reductions of numbers that each process computes from its rows. The processes also agree on errors in a
// reduction. Every step between two messages that may fail (for lack of memory, or because the call was
// cancelled) runs inside a reduction, so that no process waits for one that failed.
#pragma once

#include <bit>
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
        fill(numbers.back(), [&] { local(values); });
        if (comm_.size() > 1) espalier::sum(comm_, numbers);
        raise_if(numbers.back() != 0);
        return values;
    }

    /// Collective. As sum(), but returns maxima of numbers that are not negative. A NaN counts as the
    /// largest.
    template <class Local> std::span<double const> max(Index count, Local&& local) {
        std::span<double> const numbers = zeros(count);
        fill(numbers.back(), [&] { local(numbers.first(count)); });
        if (comm_.size() > 1) {
            // The bit patterns of numbers that are not negative have the same order as the numbers, and those
            // of a NaN are larger.
            for (Index k = 0; k <= count; ++k)
                bits_[k] = std::bit_cast<std::int64_t>(numbers[k]) & std::numeric_limits<std::int64_t>::max();
            espalier::max(comm_, std::span(bits_).first(count + 1));
            for (Index k = 0; k <= count; ++k) numbers[k] = std::bit_cast<double>(bits_[k]);
        }
        raise_if(numbers.back() != 0);
        return numbers.first(count);
    }

    /// Collective. Runs a step without a reduction.
    template <class Step> void all_succeed(Step&& step) { espalier::all_succeed(comm_, step); }

  private:
    // `count` numbers and a flag that is set if a process failed.
    std::span<double> zeros(Index count) {
        if (count > ready_) { // on all processes or on none, also after a failure of one
            espalier::all_succeed(comm_, [&] {
                numbers_.resize(count / 2 + 1);
                bits_.resize(count + 1);
            });
            ready_ = count;
        }
        std::span<double> const numbers(reinterpret_cast<double*>(numbers_.data()), count + 1);
        std::fill(numbers.begin(), numbers.end(), 0.0);
        return numbers;
    }
    template <class Step> void fill(double& failed, Step&& step) {
        if (comm_.size() == 1) return step();
        problem_ = error_of(step);
        failed = problem_ ? 1 : 0;
    }
    void raise_if(bool failed) {
        if (failed) agree(comm_, problem_).raise();
    }

    Communicator comm_;
    std::vector<std::complex<double>> numbers_;
    std::vector<std::int64_t> bits_;
    Index ready_ = -1; // the largest count for which all processes have memory
    std::optional<Error> problem_;
};

} // namespace espalier
