// Finds options that the user has set and that have no effect with the chosen method or factorization.
#pragma once

#include <string>
#include <vector>

#include "espalier/options.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// A note for each group of options that have no effect on a factorization of this form.
std::vector<std::string> options_without_effect(Options const& options, FactorForm const& form);

/// A note with those options that only have an effect with supernodes, for a factorization by single columns.
std::vector<std::string> options_without_effect_on_columns(Options const& options, FactorForm const& form);

} // namespace espalier
