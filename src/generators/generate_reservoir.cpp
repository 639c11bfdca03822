// One Newton step of implicit three-phase flow (water, oil, gas) through layered rock, similar to the tenth
// SPE comparative case (Christie and Blunt 2001). The unknowns are pressure p, water and gas saturation of
// each cell. The equation of a phase is its accumulation in a time step plus its fluxes through the faces,
//     F = T lambda(upstream saturation) (Phi_1 - Phi_2),    Phi = p + capillary pressure - density g z
// from cell 1 to cell 2, where z points down. The flux out of one cell enters the other, so in each column
// the fluxes of a phase sum to zero, and only the accumulation remains. Units: meter, day, bar, millidarcy,
// cP.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "generators/generate.hpp"
#include "generators/stencil.hpp"

namespace espalier {
namespace {

constexpr int phases = 3; // water, oil, gas; and unknowns: pressure, water, gas
constexpr double cell_size[3] = {10, 10, 2};
constexpr double days = 1;         // length of the time step
constexpr double darcy = 0.008527; // m^3/day from mD m bar/cP
constexpr double gravity = 0.0981; // bar per meter at density 1
constexpr double viscosity[phases] = {0.5, 3.0, 0.02};
constexpr double density[phases] = {1.0, 0.8, 0.1};
constexpr double compressibility[phases] = {4e-5, 1e-4, 4e-3}; // 1/bar
constexpr double rock_compressibility = 5e-5;
/// Derivative of the capillary pressure of a phase by the water and gas saturation, in bar.
constexpr double capillary_slope[phases][2] = {{-0.5, 0}, {0, 0}, {0, 0.4}};

struct Cell {
    double permeability, porosity, pressure;
    double saturation[phases];
};

/// log10 of the permeability up to a linear map: layers of four cells, long lenses in the layers, and noise
/// in each cell.
std::vector<double> raw_log_permeability(Grid const& grid) {
    SmoothNoise const lenses(11, 12, 6, 1.5), patches(12, 5, 4, 1);
    SplitMix64 grain(13);
    std::vector<double> result;
    result.reserve(grid.cells());
    grid.for_each_cell([&](Index ix, Index iy, Index iz) {
        auto const x = static_cast<double>(ix), y = static_cast<double>(iy), z = static_cast<double>(iz);
        double const layer = 2 * unit_interval(mix_bits(iz / 4 + 100)) - 1;
        double white = 0; // a sum of uniforms is nearly normal
        for (int i = 0; i < 4; ++i) white += grain.uniform(-0.3, 0.3);
        result.push_back(1.2 * layer + 1.5 * lenses(x, y, z) + 0.7 * patches(x, y, z) + white);
    });
    return result;
}

/// Permeabilities span 7.5 decades from 1e-4 to about 3000 mD, independent of the size of the grid.
std::vector<Cell> fill_reservoir(Grid const& grid) {
    constexpr double lowest = -4, decades = 7.5;
    auto const log_permeability = raw_log_permeability(grid);
    auto const [low, high] = std::minmax_element(log_permeability.begin(), log_permeability.end());
    double const origin = *low, range = *high > *low ? *high - *low : 1;
    SmoothNoise const porosity(21, 6, 6, 2), pressure(22, 8, 8, 4), water(23, 8, 8, 3), gas(24, 8, 8, 3);
    std::vector<Cell> cells;
    cells.reserve(grid.cells());
    grid.for_each_cell([&](Index ix, Index iy, Index iz) {
        auto const x = static_cast<double>(ix), y = static_cast<double>(iy), z = static_cast<double>(iz);
        Cell cell;
        cell.permeability =
            std::pow(10.0, lowest + decades * (log_permeability[cells.size()] - origin) / range);
        cell.porosity = 0.2 + 0.1 * porosity(x, y, z);
        cell.pressure = 250 - 50 * x / static_cast<double>(grid.nx) + 5 * pressure(x, y, z);
        double const sw = 0.35 + 0.2 * water(x, y, z), sg = 0.15 + 0.1 * gas(x, y, z);
        cell.saturation[0] = sw;
        cell.saturation[1] = 1 - sw - sg;
        cell.saturation[2] = sg;
        cells.push_back(cell);
    });
    return cells;
}

using PhaseBlock = BlockColumn<phases>::Block; ///< block[phase][unknown]

/// Harmonic mean of two half cells; the vertical permeability is 1/20 of the horizontal permeability.
double transmissibility(int axis, Cell const& a, Cell const& b) {
    double const area = cell_size[0] * cell_size[1] * cell_size[2] / cell_size[axis];
    double const ratio = a.permeability / (a.permeability + b.permeability);
    return (axis == 2 ? 0.05 : 1) * darcy * area / cell_size[axis] * 2 * ratio * b.permeability;
}

/// Capillary pressure of a phase, linear in the saturations.
double capillary(int phase, Cell const& cell) {
    return capillary_slope[phase][0] * cell.saturation[0] + capillary_slope[phase][1] * cell.saturation[2];
}

/// Derivative of the mobility saturation^2 / viscosity by the water or gas saturation; the rest of a cell is
/// oil.
double mobility_slope(int phase, int by_gas, Cell const& cell) {
    double const slope = 2 * cell.saturation[phase] / viscosity[phase];
    if (phase == 1) return -slope;
    return (phase == 2) == (by_gas == 1) ? slope : 0;
}

/// Derivatives of the flux from `self` to `other`, `side` steps up the axis, by the unknowns of `self`.
PhaseBlock flux_derivatives(int axis, int side, Cell const& self, Cell const& other) {
    PhaseBlock derivative{};
    double const conductance = transmissibility(axis, self, other);
    for (int phase = 0; phase < phases; ++phase) {
        double const weight = axis == 2 ? side * density[phase] * gravity * cell_size[2] : 0;
        // Exchanging the cells negates each difference exactly, so both cells use the same upstream cell.
        double const drop =
            (self.pressure - other.pressure) + (capillary(phase, self) - capillary(phase, other)) + weight;
        bool const from_self = drop > 0 || (drop == 0 && side > 0);
        double const s = (from_self ? self : other).saturation[phase];
        double const mobile = conductance * (s * s / viscosity[phase]);
        derivative[phase][0] = mobile;
        for (int by_gas = 0; by_gas < 2; ++by_gas)
            derivative[phase][1 + by_gas] =
                mobile * capillary_slope[phase][by_gas] +
                (from_self ? conductance * mobility_slope(phase, by_gas, self) * drop : 0);
    }
    return derivative;
}

/// Derivatives of the accumulation of each phase in a time step.
PhaseBlock accumulation(Cell const& cell) {
    double const pore = cell_size[0] * cell_size[1] * cell_size[2] * cell.porosity / days;
    PhaseBlock derivative{};
    for (int phase = 0; phase < phases; ++phase)
        derivative[phase][0] =
            pore * cell.saturation[phase] * (compressibility[phase] + rock_compressibility);
    derivative[0][1] = derivative[2][2] = pore;
    derivative[1][1] = derivative[1][2] = -pore;
    return derivative;
}

} // namespace

CscMatrix<double> generate_spe10like(Index nx, Index ny, Index nz) {
    Grid const grid{nx, ny, nz};
    auto const cells = fill_reservoir(grid);
    auto const fill = [&](Index x, Index y, Index z, BlockColumn<phases>& column) {
        Index const p = grid.cell(x, y, z);
        Index const position[3] = {x, y, z}, extent[3] = {nx, ny, nz}, step[3] = {1, nx, nx * ny};
        column.diagonal() = accumulation(cells[p]);
        for (int axis = 0; axis < 3; ++axis)
            for (int const side : {-1, 1}) {
                if (position[axis] + side < 0 || position[axis] + side >= extent[axis]) continue;
                auto const out = flux_derivatives(axis, side, cells[p], cells[p + side * step[axis]]);
                auto& block = column.neighbor(axis, side);
                for (int phase = 0; phase < phases; ++phase)
                    for (int unknown = 0; unknown < phases; ++unknown) {
                        column.diagonal()[phase][unknown] += out[phase][unknown];
                        block[phase][unknown] = -out[phase][unknown];
                    }
            }
    };
    return seven_point_blocks<phases>(grid, fill);
}

} // namespace espalier
