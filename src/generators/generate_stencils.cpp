// 7-point stencils with one unknown per node: Laplacians of the unit square and cube by central differences
// without the division by h^2, so all entries are small integers; the Helmholtz equation (complex symmetric);
// and a charged particle in a magnetic field (Hermitian).
#include <algorithm>
#include <numbers>

#include "core/random.hpp"
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

using Complex = std::complex<double>;

// -laplace(u) - k^2 (1 + i damping) u with h = 1, k = 2 pi / 10 times a slowness between 0.8 and 1.2. Damping
// is 0.001 inside and grows quadratically over the outer 8 nodes (a sponge). At a face, du/dn = i k u halfway
// between a node and its ghost gives the ghost the value (1 + i k/2) / (1 - i k/2) times that of the node.
// Both make the imaginary part of the diagonal negative, and all other entries are real, so the matrix is
// nonsingular.
CscMatrix<Complex> generate_helmholtz3d(Index n) {
    constexpr double k_mean = 2 * std::numbers::pi / 10;
    constexpr double sponge_width = 8, sponge_damping = 0.2, bulk_damping = 1e-3;
    double const feature = std::max(4.0, static_cast<double>(n) / 6);
    SmoothNoise const slowness(7, feature, feature, feature);
    auto const diagonal = [&](Index x, Index y, Index z) {
        double const k = k_mean * (1 + 0.2 * slowness(static_cast<double>(x), static_cast<double>(y),
                                                      static_cast<double>(z)));
        Index depth = n; // nodes between this one and the nearest face
        int faces = 0;
        for (Index const c : {x, y, z}) {
            depth = std::min({depth, c, n - 1 - c});
            faces += (c == 0) + (c == n - 1);
        }
        double const layer = std::max(0.0, 1 - static_cast<double>(depth) / sponge_width);
        Complex const ghost = Complex(1, k / 2) / Complex(1, -k / 2);
        return 6.0 - k * k * Complex(1, bulk_damping + sponge_damping * layer * layer) -
               static_cast<double>(faces) * ghost;
    };
    return seven_point_lower<Complex>({n, n, n}, Symmetry::symmetric, diagonal,
                                      [](int, Index, Index, Index) { return Complex(-1); });
}

// The Laplacian with Peierls phases: hopping p -> q = p + e has the entry -exp(i theta), where theta is the
// line integral of the vector potential B x r / 2 of a uniform field, tilted so that every direction has
// phases. The off-diagonal moduli of a row sum to at most 6 and the diagonal is larger, so the matrix is
// positive definite.
CscMatrix<Complex> generate_hermitian3d(Index n) {
    constexpr double shift = 0.01;
    constexpr double flux = 2 * std::numbers::pi;
    constexpr double bx = 0.03 * flux, by = 0.05 * flux, bz = 0.10 * flux; // through one square of the grid
    auto const hopping = [](int axis, Index ix, Index iy, Index iz) {
        auto const x = static_cast<double>(ix), y = static_cast<double>(iy), z = static_cast<double>(iz);
        // A component of the potential does not depend on its own coordinate.
        double const theta = axis == 0   ? (by * z - bz * y) / 2
                             : axis == 1 ? (bz * x - bx * z) / 2
                                         : (bx * y - by * x) / 2;
        return -std::polar(1.0, theta);
    };
    return seven_point_lower<Complex>(
        {n, n, n}, Symmetry::hermitian, [](Index, Index, Index) { return Complex(6 + shift); }, hopping);
}

} // namespace espalier
