// What a caller can choose. Names and defaults only; results are in report.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "espalier/types.hpp"

namespace espalier {

class ProgressSink;

struct Options {
    Factorization factorization = Factorization::automatic;

    OrderingMethod ordering = OrderingMethod::scotch;
    std::string ordering_file; ///< For OrderingMethod::user: one new position per row, see the user guide.

    int threads = 0;          ///< Worker threads; 0 for the cores this process may use.
    bool bind_threads = true; ///< Bind workers to cores.
    SchedulePolicy schedule = SchedulePolicy::static_order;
    Allocation allocation = Allocation::local;
    Splitting splitting = Splitting::one_d;

    Index max_block_width = 256; ///< Wider supernodes are split into column blocks ...
    Index min_block_width = 128; ///< ... of at least this width.
    double amalgamation_fill =
        0.15; ///< Zeros that amalgamation may store, relative to the entries of the factor.

    /// Pivots below pivot_threshold * max|A| are replaced; negative for the default, sqrt(epsilon).
    double pivot_threshold = -1;

    RefineMethod refine = RefineMethod::automatic;
    int max_refine_iterations = 0; ///< 0 for the default of the method.
    /// Normwise backward error asked for; 0 for the default (1e-12 in double, 1e-5 in single precision).
    double tolerance = 0;

    std::uint64_t max_memory = 0; ///< Bytes the factorization may use; 0 for no limit.

    ProgressSink* progress = nullptr; ///< Told of long phases; may be null.
    std::function<void(std::string_view)>
        log; ///< One line at a time: choices made and fallbacks; may be empty.
};

} // namespace espalier
