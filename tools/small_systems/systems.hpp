// Small and irregular systems for comparisons: circuits with power nets, grids of resistors, distribution
// networks, chemical plants, optimality systems of quadratic programs and of control problems, and band
// matrices. The same for each run.
#pragma once

#include <string>

#include "espalier/matrix.hpp"

namespace espalier::small_systems {

/// The matrix of "kind:N", with N rows or a little more, or of a Matrix Market file. Symmetric ones are
/// stored as lower triangles.
CscMatrix<double> make_system(std::string const& name);

/// The same matrix with both triangles.
CscMatrix<double> with_both_triangles(CscMatrix<double> const& a);

} // namespace espalier::small_systems
