// The inverse of a permutation that is known to be valid (ordering/permutation.hpp checks those of
// libraries).
#pragma once

#include <iterator>
#include <ranges>
#include <vector>

namespace espalier {

/// The position of each of the numbers 0 .. n - 1 among the n entries of `order`.
template <std::ranges::random_access_range Order>
std::vector<std::ranges::range_value_t<Order>> inverse_permutation(Order const& order) {
    using Number = std::ranges::range_value_t<Order>;
    std::vector<Number> position(std::size(order));
    for (Number k = 0; k < std::ssize(order); ++k) position[order[k]] = k;
    return position;
}

} // namespace espalier
