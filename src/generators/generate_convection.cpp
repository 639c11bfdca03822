// Steady convection, diffusion and reaction of 5 coupled fields u on the n^3 interior nodes of the unit cube:
//     sum_d d/dx_d (M_d u) - D laplace(u) + R u,    M_d = v_d I + C_d,
// where v is a helical vortex, C_d dense and symmetric (as in symmetric hyperbolic systems such as linearized
// MHD), D dense and positive definite, and R dense and unsymmetric. Central differences with M_d at the faces
// between nodes make the convective part exactly skew-symmetric; diffusion and reaction are positive
// definite, so the matrix is nonsingular for every n.
#include "core/random.hpp"
#include "generators/generate.hpp"
#include "generators/stencil.hpp"

namespace espalier {
namespace {

constexpr int fields = 5;
using Block = BlockColumn<fields>::Block;
using Point = std::array<double, 3>;

/// Rotation around the vertical axis of the cube and flow along it, strongest in the middle, faster at the
/// top.
double velocity(int axis, Point const& r) {
    double const strength = 16 * r[0] * (1 - r[0]) * r[1] * (1 - r[1]) * (1 + r[2]);
    double const direction[3] = {-4 * (r[1] - 0.5), 4 * (r[0] - 0.5), 0.7};
    return strength * direction[axis];
}

struct Medium {
    std::array<Block, 3> coupling; ///< C_d: entries within 0.5, symmetric.
    Block diffusion;               ///< D = nu (diag(1, 1, 1, 0.3, 2) + 0.05), positive definite.
    Block reaction;                ///< R = 4 I + entries within 0.5: its symmetric part is positive definite.

    Medium() {
        constexpr double nu = 0.02;
        constexpr std::array<double, fields> relative{1, 1, 1, 0.3, 2};
        SplitMix64 random(5);
        for (int i = 0; i < fields; ++i)
            for (int j = 0; j < fields; ++j) {
                for (auto& c : coupling) c[i][j] = j < i ? c[j][i] : random.uniform(-0.5, 0.5);
                diffusion[i][j] = nu * ((i == j ? relative[i] : 0) + 0.05);
                reaction[i][j] = (i == j ? 4 : 0) + random.uniform(-0.5, 0.5);
            }
    }
};

} // namespace

CscMatrix<double> generate_convdiff3d(Index n) {
    Medium const medium;
    double const h = 1 / static_cast<double>(n + 1);
    auto const fill = [&](Index x, Index y, Index z, BlockColumn<fields>& column) {
        Point const node{h * static_cast<double>(x + 1), h * static_cast<double>(y + 1),
                         h * static_cast<double>(z + 1)};
        double const amplitude = 1 + node[0] * node[1];
        for (int i = 0; i < fields; ++i)
            for (int j = 0; j < fields; ++j)
                column.diagonal()[i][j] =
                    6 * medium.diffusion[i][j] / (h * h) + amplitude * medium.reaction[i][j];
        for (int axis = 0; axis < 3; ++axis)
            for (int const side : {-1, 1}) {
                // Row q = p + side: the flux through its face towards p is -side * M u(p) / 2h.
                Point face = node;
                face[axis] += side * h / 2;
                double const v = velocity(axis, face);
                auto& block = column.neighbor(axis, side);
                for (int i = 0; i < fields; ++i)
                    for (int j = 0; j < fields; ++j) {
                        double const flux = medium.coupling[axis][i][j] + (i == j ? v : 0);
                        block[i][j] = -medium.diffusion[i][j] / (h * h) - side * flux / (2 * h);
                    }
            }
    };
    return seven_point_blocks<fields>({n, n, n}, fill);
}

} // namespace espalier
