#include "distributed/row_reduction.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace espalier {

std::span<double> RowReduction::zeros(Index count) {
    if (count > ready_) { // on all processes or on none, also after a failure of one
        all_succeed([&] {
            numbers_.resize(count / 2 + 1);
            bits_.resize(count + 1);
        });
        ready_ = count;
    }
    std::span<double> const numbers(reinterpret_cast<double*>(numbers_.data()), count + 1);
    std::fill(numbers.begin(), numbers.end(), 0.0);
    return numbers;
}

void RowReduction::fill(double& failed, detail::StepRef const& step) {
    if (comm_.size() == 1) return step();
    problem_ = error_of(step);
    failed = problem_ ? 1 : 0;
}

void RowReduction::sum_numbers(std::span<double> numbers, detail::StepRef const& step) {
    fill(numbers.back(), step);
    if (comm_.size() > 1) espalier::sum(comm_, numbers);
    if (numbers.back() != 0) agree(comm_, problem_).raise();
}

void RowReduction::max_numbers(std::span<double> numbers, detail::StepRef const& step) {
    fill(numbers.back(), step);
    if (comm_.size() > 1) {
        // The bit patterns of numbers that are not negative have the same order as the numbers, and those of
        // a NaN are larger.
        std::span<std::int64_t> const bits(bits_.data(), numbers.size());
        for (std::size_t k = 0; k < numbers.size(); ++k)
            bits[k] = std::bit_cast<std::int64_t>(numbers[k]) & std::numeric_limits<std::int64_t>::max();
        espalier::max(comm_, bits);
        for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = std::bit_cast<double>(bits[k]);
    }
    if (numbers.back() != 0) agree(comm_, problem_).raise();
}

} // namespace espalier
