// Kernel times as functions of the kernels' sizes: the unit of mapping and simulation.
//
// The time of a kernel is a sum of terms: a count that follows from the sizes (calls, entries read, flops)
// times the seconds of one unit. The seconds come from a calibration (calibration.hpp) or from the model that
// the library ships with. There is one model for each scalar and each family of kernels.
//
//   panel of w columns, r rows below       update by a group of bloks: rows x cols x depth
//     diagonal block (potrf, sytrf, getrf)   product (gemm), into the target or into a buffer
//     solve below it (trsm)                  the buffer added to the target run by run (scatter-add)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "symbolic/block_structure.hpp"

namespace espalier {

/// Families of kernels with different costs of panels and updates.
enum class KernelKind : std::uint8_t { cholesky, ldl, lu };
/// llh and llt; ldlt and ldlh; lu.
KernelKind kernel_kind(Factorization kind);
char const* to_string(KernelKind kind);

/// The terms of a panel's time.
enum class PanelTerm : std::uint8_t {
    call,           ///< 1
    column,         ///< w
    diagonal_entry, ///< w^2
    diagonal_flop,  ///< w^3 / 3, twice that for lu
    solve_entry,    ///< r w, twice for lu
    solve_flop,     ///< r w^2, twice for lu, ...
    solve_strided,  ///< ... or these where columns collide in the cache.
    count
};

/// The terms of an update's time; all but the first two count twice for lu, which updates L and U. `cold` is
/// not 0 in a task of its own. In a subtree, each panel updates others right after it was computed.
enum class UpdateTerm : std::uint8_t {
    call,        ///< 1
    run,         ///< Runs of rows that have to be found in the target.
    left,        ///< rows depth: entries of the left factor ...
    right,       ///< depth cols: ... and of the right one.
    target,      ///< Entries of the product.
    flop,        ///< 2 target depth, ...
    strided,     ///< ... or these where columns of an operand collide in the cache.
    scatter_run, ///< Columns of runs that go through the buffer, ...
    scatter,     ///< ... and their entries.
    cold,        ///< Entries of the left factor that are not in a cache.
    count
};

template <class Term> inline constexpr std::size_t num_terms = static_cast<std::size_t>(Term::count);
/// In the order of the enumeration, as the stored model spells them.
inline constexpr std::array<std::string_view, num_terms<PanelTerm>> panel_term_names = {
    "call", "column", "diagonal_entry", "diagonal_flop", "solve_entry", "solve_flop", "solve_strided"};
inline constexpr std::array<std::string_view, num_terms<UpdateTerm>> update_term_names = {
    "call", "run", "left", "right", "target", "flop", "strided", "scatter_run", "scatter", "cold"};

/// A number for each term: how many units of it, or the seconds that one takes.
template <class Term> struct PerTerm {
    std::array<double, num_terms<Term>> value{};

    double& operator[](Term term) { return value[static_cast<std::size_t>(term)]; }
    double operator[](Term term) const { return value[static_cast<std::size_t>(term)]; }
    bool operator==(PerTerm const&) const = default;
    PerTerm& operator+=(PerTerm const& other) {
        for (std::size_t t = 0; t < value.size(); ++t) value[t] += other.value[t];
        return *this;
    }
};

/// The sum of counts times seconds per unit.
template <class Term> double seconds_of(PerTerm<Term> const& counts, PerTerm<Term> const& unit_seconds) {
    double sum = 0;
    for (std::size_t t = 0; t < counts.value.size(); ++t) sum += counts.value[t] * unit_seconds.value[t];
    return sum;
}

/// The update of a cblk by a group of bloks that face it.
struct UpdateShape {
    Index rows = 0;   ///< From the group's first row to the end of the panel.
    Index cols = 0;   ///< Rows of the group itself: columns of the target.
    Index depth = 0;  ///< Columns of the source.
    Index stride = 0; ///< Rows of its panel.
    BlokId bloks = 1; ///< Bloks of the group.
    BlokId runs = 1;  ///< Bloks from its first one to the end of the panel.
    /// Whether `rows` include those of the group itself; a part of an update may be all below them.
    bool with_group = true;
    bool is_cold = false; ///< The source was computed long ago, so that it is read from memory.
};

/// The update by the group that begins with blok `first` of `source`.
UpdateShape update_shape(BlockStructure const& structure, Cblk const& source, BlokId first);
/// The part of `whole` due to the bloks [begin, end) of the source; end <= source.end_blok.
UpdateShape part_of_update(BlockStructure const& structure, Cblk const& source, BlokId first,
                           UpdateShape const& whole, BlokId begin, BlokId end);

/// The kind of the kernels and the size of their scalars.
struct KernelSet {
    KernelKind kind = KernelKind::cholesky;
    std::uint32_t scalar_bytes = sizeof(double);
};

PerTerm<PanelTerm> panel_counts(KernelSet kernels, Index width, Index rows_below);
PerTerm<UpdateTerm> update_counts(KernelSet kernels, UpdateShape const& shape);

/// The block sizes of update kernels (factor/update.cpp). A symmetric update is computed in strips of this
/// many columns, each of which begins at its own first row.
inline constexpr Index strip_width = 128;
/// Runs of at least this many rows are updated in place, shorter ones by way of a buffer.
inline constexpr Index direct_run_height = 32;

/// The parts of CostModel::sweep that are not bound by bandwidth, in seconds.
struct SweepSeconds {
    double cblk = 4e-7;   ///< Calls of kernels for a cblk.
    double column = 4e-9; ///< Right-hand side and solution of an unknown, in another order.
    double row = 2e-9;    ///< A row below the diagonal block: it is added to a sum, and read again.
};
inline constexpr SweepSeconds sweep_seconds;

/// Times are in seconds. The default is default_cost_model(Scalar::d, KernelKind::cholesky).
struct CostModel {
    KernelSet kernels;
    PerTerm<PanelTerm> panel_seconds{{1e-7, 2.5e-8, 8e-10, 6e-12, 8.5e-10, 7.5e-12, 1.6e-11}};
    PerTerm<UpdateTerm> update_seconds{{5e-8, 3.6e-8, 0, 0, 5e-11, 8.9e-12, 1.75e-11, 4.2e-9, 2.5e-10, 0}};
    double bandwidth = 12e9;      ///< Bytes per second that a thread can read and write.
    double read_bandwidth = 12e9; ///< Bytes per second that a thread can read while all threads read.
    /// The factor by which all times grow while all threads work: they share caches, memory and power.
    double contention = 1;
    double threads_per_core = 1; ///< More than 1 if threads take turns on the cores.

    /// Diagonal block of the cblk and the triangular solve below it.
    [[nodiscard]] double panel(Cblk const& cblk) const { return panel(cblk.width(), cblk.rows_below()); }
    [[nodiscard]] double panel(Index width, Index rows_below) const;
    /// An update: a product subtracted from its target.
    [[nodiscard]] double update(UpdateShape const& shape) const;
    /// The addition of `rows` x `cols` received coefficients to a panel.
    [[nodiscard]] double add(Index rows, Index cols) const;
    /// Half a solve of one right-hand side with the panel of an eliminated cblk: the time of reading its L,
    /// or its U, from memory, and of its calls and rows.
    [[nodiscard]] double sweep(Cblk const& cblk) const;
};

/// The model that the library ships with: rounded times of a 2.6 GHz Zen 5 core with AVX-512 in double
/// precision; times for other scalars follow from bytes and flops.
CostModel default_cost_model(Scalar scalar, KernelKind kind);

/// For each cblk the seconds of its panel and of its updates of other cblks. Kept cblks are not eliminated
/// and cost nothing. Linear in the bloks.
std::vector<double> cblk_costs(BlockStructure const& structure, CostModel const& model);

} // namespace espalier
