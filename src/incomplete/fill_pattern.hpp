// Level-of-fill patterns of incomplete factors.
#pragma once

#include "core/interrupt.hpp"
#include "incomplete/row_pattern.hpp"

namespace espalier {

/// The pattern of the incomplete factors L + U with fill of levels up to `levels` >= 0. By the fill path
/// theorem, (i, j) is fill of level k if the shortest path from i to j in the graph of A through vertices
/// below both has k + 1 edges [Hysom, Pothen 2001]. The rows are independent and are searched on `threads`
/// threads; the result does not depend on their number. Error{cancelled} soon after the interrupt asks for
/// it.
RowPattern fill_pattern(RowPattern a, Index levels, int threads = 1, Interrupt* interrupt = nullptr);

} // namespace espalier
