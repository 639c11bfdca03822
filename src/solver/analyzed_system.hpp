// Properties of the analyzed system. All processes have them.
#pragma once

#include "espalier/matrix.hpp"

namespace espalier {

struct AnalyzedSystem {
    Index order = 0;
    Index kept = 0; ///< The number of unknowns of a Schur complement.
    bool allow_singular = false;
    bool chooses = false; ///< Whether the factorization was chosen automatically.
    bool is_incomplete = false;
    bool is_simplicial = false; ///< Whether the factorization has no supernodes.
};

} // namespace espalier
