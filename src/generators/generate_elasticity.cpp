// Linear elasticity on the unit cube with n^3 trilinear bricks: Young's modulus is 1, and 10 in eight
// spherical inclusions; Poisson's ratio is 0.3. The face x = 0 is clamped and its nodes are removed, which
// leaves n (n + 1)^2 nodes with 3 displacements each; the other faces are free. The unit of length is a
// brick.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "generators/generate.hpp"
#include "generators/stencil.hpp"

namespace espalier {
namespace {

/// The 24 x 24 stiffness matrix of a unit brick of modulus 1. The bits of c are the coordinates of corner c
/// (x lowest); displacement d of corner c is unknown 3 c + d.
using BrickStiffness = std::array<std::array<double, 24>, 24>;

using Gradients = std::array<std::array<double, 3>, 8>; ///< Gradients of the 8 shape functions at a point.

Gradients shape_gradients(std::array<double, 3> const& point) {
    Gradients gradients;
    for (unsigned corner = 0; corner < 8; ++corner) {
        std::array<double, 3> factor, slope;
        for (unsigned d = 0; d < 3; ++d) {
            bool const far = corner >> d & 1u;
            factor[d] = far ? point[d] : 1 - point[d];
            slope[d] = far ? 1 : -1;
        }
        gradients[corner] = {slope[0] * factor[1] * factor[2], factor[0] * slope[1] * factor[2],
                             factor[0] * factor[1] * slope[2]};
    }
    return gradients;
}

// The energy of an isotropic solid couples displacement i of corner a with displacement j of corner b by
//     lambda g_a[i] g_b[j] + mu g_a[j] g_b[i] + mu delta_ij (g_a . g_b),
// integrated by 2 x 2 x 2 Gauss points, each of weight 1/8 (exact here: the integrand is quadratic in each
// coordinate).
BrickStiffness brick_stiffness() {
    constexpr double young = 1, poisson = 0.3;
    constexpr double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    constexpr double mu = young / (2 * (1 + poisson));
    constexpr double weight = 1.0 / 8;
    double const offset = 0.5 / std::sqrt(3.0);
    BrickStiffness stiffness{};
    for (unsigned gauss = 0; gauss < 8; ++gauss) {
        std::array<double, 3> point;
        for (unsigned d = 0; d < 3; ++d) point[d] = (gauss >> d & 1u) ? 0.5 + offset : 0.5 - offset;
        auto const g = shape_gradients(point);
        for (unsigned a = 0; a < 8; ++a)
            for (unsigned b = 0; b < 8; ++b) {
                double const dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
                for (unsigned i = 0; i < 3; ++i)
                    for (unsigned j = 0; j < 3; ++j)
                        stiffness[3 * a + i][3 * b + j] +=
                            weight * (lambda * g[a][i] * g[b][j] + mu * (g[a][j] * g[b][i] + (i == j) * dot));
            }
    }
    return stiffness;
}

/// Young's modulus of each brick: 10 inside eight spheres of radius 0.15 whose centers have coordinates 1/4
/// or 3/4.
std::vector<double> brick_moduli(Index n) {
    auto const from_center = [n](Index i) {
        double const x = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
        return x < 0.5 ? x - 0.25 : x - 0.75;
    };
    std::vector<double> moduli;
    moduli.reserve(n * n * n);
    Grid{n, n, n}.for_each_cell([&](Index ix, Index iy, Index iz) {
        double const x = from_center(ix), y = from_center(iy), z = from_center(iz);
        moduli.push_back(x * x + y * y + z * z < 0.15 * 0.15 ? 10 : 1);
    });
    return moduli;
}

struct Node {
    Index x, y, z; ///< 0 .. n, clamped at x = 0.
};

class ElasticityAssembly {
  public:
    explicit ElasticityAssembly(Index n)
        : n_(n), free_nodes_{n, n + 1, n + 1}, bricks_{n, n, n}, moduli_(brick_moduli(n)) {}

    CscMatrix<double> assemble() {
        matrix_.rows = matrix_.cols = 3 * free_nodes_.cells();
        matrix_.symmetry = Symmetry::symmetric;
        matrix_.col_ptr.reserve(matrix_.cols + 1);
        auto const bound = 42 * matrix_.cols; // lower triangle of 27 blocks: (27 * 3 + 3) / 2
        matrix_.row_ind.reserve(bound);
        matrix_.values.reserve(bound);
        free_nodes_.for_each_cell([&](Index x, Index y, Index z) { append_columns({x + 1, y, z}); });
        return std::move(matrix_);
    }

  private:
    using Block = std::array<std::array<double, 3>, 3>;
    struct Neighbor {
        Index number;
        Block block;
    };

    [[nodiscard]] Index number_of(Node q) const { return free_nodes_.cell(q.x - 1, q.y, q.z); }
    [[nodiscard]] bool is_free(Node q) const {
        return q.x >= 1 && q.x <= n_ && q.y >= 0 && q.y <= n_ && q.z >= 0 && q.z <= n_;
    }

    /// The block A(q, p), a sum over the bricks with both nodes as corners.
    [[nodiscard]] Block couple(Node q, Node p) const {
        Block block{};
        for (unsigned corner = 0; corner < 8; ++corner) { // p is this corner of the brick
            Node const brick{p.x - (corner & 1u), p.y - (corner >> 1 & 1u), p.z - (corner >> 2)};
            if (brick.x < 0 || brick.y < 0 || brick.z < 0 || brick.x >= n_ || brick.y >= n_ || brick.z >= n_)
                continue;
            Node const at{q.x - brick.x, q.y - brick.y, q.z - brick.z};
            if (at.x < 0 || at.y < 0 || at.z < 0 || at.x > 1 || at.y > 1 || at.z > 1) continue;
            auto const other = static_cast<unsigned>(at.x + 2 * at.y + 4 * at.z);
            double const modulus = moduli_[bricks_.cell(brick.x, brick.y, brick.z)];
            for (unsigned i = 0; i < 3; ++i)
                for (unsigned j = 0; j < 3; ++j)
                    block[i][j] += modulus * stiffness_[3 * other + i][3 * corner + j];
        }
        return block;
    }

    /// Appends the three columns of node p with the rows of the nodes from p on.
    void append_columns(Node p) {
        std::array<Neighbor, 14> neighbors;
        int count = 0;
        for (int step = 13; step < 27; ++step) { // 13 is p itself; x runs fastest
            Node const q{p.x + step % 3 - 1, p.y + step / 3 % 3 - 1, p.z + step / 9 - 1};
            if (is_free(q)) neighbors[count++] = {number_of(q), couple(q, p)};
        }
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < count; ++k)
                for (int i = k == 0 ? j : 0; i < 3; ++i) {
                    matrix_.row_ind.push_back(3 * neighbors[k].number + i);
                    matrix_.values.push_back(neighbors[k].block[i][j]);
                }
            matrix_.col_ptr.push_back(std::ssize(matrix_.row_ind));
        }
    }

    Index n_;
    Grid free_nodes_, bricks_;
    std::vector<double> moduli_;
    BrickStiffness stiffness_ = brick_stiffness();
    CscMatrix<double> matrix_;
};

} // namespace

CscMatrix<double> generate_elast3d(Index n) {
    return ElasticityAssembly(n).assemble();
}

} // namespace espalier
