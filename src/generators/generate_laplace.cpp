// Laplacians of the unit square and cube by central differences without the division by h^2, so all entries
// are small integers.
#include "generators/generate.hpp"
#include "generators/stencil.hpp"

namespace espalier {
namespace {

CscMatrix<double> laplacian(Grid const& grid, double diagonal) {
    return seven_point_lower<double>(
        grid, Symmetry::symmetric, [&](Index, Index, Index) { return diagonal; },
        [](int, Index, Index, Index) { return -1.0; });
}

} // namespace

CscMatrix<double> generate_lap2d(Index n) {
    return laplacian({n, n, 1}, 4);
}

CscMatrix<double> generate_lap3d(Index n) {
    return laplacian({n, n, n}, 6);
}

} // namespace espalier
