// Level-of-fill patterns of incomplete factors.
#pragma once

#include <cstdint>

#include "core/interrupt.hpp"
#include "rows/row_pattern.hpp"

namespace espalier {

/// The memory that a factor may need, by the number of its blocks.
struct FillLimit {
    std::uint64_t bytes = 0;   ///< The message of an error names them; 0 for no limit.
    Offset blocks = 0;         ///< The most blocks for which they may suffice.
    bool is_available = false; ///< Whether they are the available memory, not Options::max_memory.
};

/// The pattern of the incomplete factors L + U with fill of levels up to `levels` >= 0. By the fill path
/// theorem, (i, j) is fill of level k if the shortest path from i to j in the graph of A through vertices
/// below both has k + 1 edges [Hysom, Pothen 2001]. The rows are independent and are searched on `threads`
/// threads; the result does not depend on their number. Error{cancelled} soon after the interrupt asks for
/// it, and Error{out_of_memory} soon after more blocks are found than the limit allows.
RowPattern fill_pattern(RowPattern a, Index levels, int threads = 1, Interrupt* interrupt = nullptr,
                        FillLimit const& limit = {});

} // namespace espalier
