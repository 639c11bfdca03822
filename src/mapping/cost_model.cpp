#include "mapping/cost_model.hpp"

#include <cmath>

namespace espalier {

namespace {

// Uses the rule of kernels/product.cpp: columns that are a multiple of 1 KiB apart fall on few sets of the
// cache.
bool collides(KernelSet kernels, Index stride, Index cols) {
    return stride * static_cast<Index>(kernels.scalar_bytes) % 1024 == 0 && cols > 32;
}

double sides_of(KernelSet kernels) {
    return kernels.kind == KernelKind::lu ? 2 : 1;
}

// Entries of the lower trapezoid that the strips of a symmetric update compute.
double trapezoid(Index rows, Index cols) {
    Index const strips = cols / strip_width;
    Index const skipped = strip_width * strip_width * (strips * (strips - 1) / 2) +
                          strip_width * strips * (cols - strips * strip_width);
    return static_cast<double>(rows) * static_cast<double>(cols) - static_cast<double>(skipped);
}

// The part of all rows that lies in runs below the height for direct updates, if heights are distributed
// exponentially about their mean. Bloks with gaps between them go through the buffer as a whole.
double buffered_part(UpdateShape const& shape) {
    if (shape.bloks > 1 || shape.rows == 0) return 1;
    double const x = static_cast<double>(direct_run_height * shape.runs) / static_cast<double>(shape.rows);
    return 1 - (1 + x) * std::exp(-x);
}

} // namespace

KernelKind kernel_kind(Factorization kind) {
    if (kind == Factorization::lu) return KernelKind::lu;
    bool const has_d = kind == Factorization::ldlt || kind == Factorization::ldlh;
    return has_d ? KernelKind::ldl : KernelKind::cholesky;
}

char const* to_string(KernelKind kind) {
    constexpr std::array names{"cholesky", "ldl", "lu"};
    return names[static_cast<std::size_t>(kind)];
}

UpdateShape update_shape(BlockStructure const& structure, Cblk const& source, BlokId first) {
    auto const blok = [&](BlokId b) -> Blok const& { return structure.bloks[b]; };
    UpdateShape shape{
        source.stride - blok(first).panel_row, 0, source.width(), source.stride, 0, source.end_blok - first};
    for (BlokId b = first; b < source.end_blok && blok(b).facing_cblk == blok(first).facing_cblk; ++b) {
        shape.cols += blok(b).height();
        ++shape.bloks;
    }
    return shape;
}

UpdateShape part_of_update(BlockStructure const& structure, Cblk const& source, BlokId first,
                           UpdateShape const& whole, BlokId begin, BlokId end) {
    auto const row_of = [&](BlokId b) {
        return b < source.end_blok ? structure.bloks[b].panel_row : source.stride;
    };
    UpdateShape part = whole;
    part.rows = row_of(end) - row_of(begin);
    part.runs = end - begin;
    part.with_group = begin == first;
    return part;
}

PerTerm<PanelTerm> panel_counts(KernelSet kernels, Index width, Index rows_below) {
    double const sides = sides_of(kernels);
    double const w = static_cast<double>(width), r = static_cast<double>(rows_below);
    PerTerm<PanelTerm> counts;
    counts[PanelTerm::call] = 1;
    counts[PanelTerm::column] = w;
    counts[PanelTerm::diagonal_entry] = w * w;
    counts[PanelTerm::diagonal_flop] = sides * w * w * w / 3;
    counts[PanelTerm::solve_entry] = sides * r * w;
    bool const strided = collides(kernels, width + rows_below, width);
    counts[strided ? PanelTerm::solve_strided : PanelTerm::solve_flop] = sides * r * w * w;
    return counts;
}

PerTerm<UpdateTerm> update_counts(KernelSet kernels, UpdateShape const& shape) {
    bool const lu = kernels.kind == KernelKind::lu;
    double const sides = sides_of(kernels);
    double const rows = static_cast<double>(shape.rows), cols = static_cast<double>(shape.cols);
    double const depth = static_cast<double>(shape.depth);
    // lu: all rows on the side of L, those below the group on that of U.
    double const target = !shape.with_group ? sides * rows * cols
                          : lu              ? (2 * rows - cols) * cols
                                            : trapezoid(shape.rows, shape.cols);
    double const buffered = buffered_part(shape);
    // The right factor is the panel itself, or a copy L D of the group's rows, or the panel of U.
    Index const right_stride = kernels.kind == KernelKind::ldl ? shape.cols
                               : lu                            ? shape.stride - shape.depth
                                                               : shape.stride;
    bool const strided =
        collides(kernels, shape.stride, shape.depth) || collides(kernels, right_stride, shape.depth);
    PerTerm<UpdateTerm> counts;
    counts[UpdateTerm::call] = 1;
    counts[UpdateTerm::run] = static_cast<double>(shape.runs);
    counts[UpdateTerm::left] = sides * rows * depth;
    counts[UpdateTerm::right] = sides * depth * cols;
    counts[UpdateTerm::target] = target;
    counts[strided ? UpdateTerm::strided : UpdateTerm::flop] = 2 * target * depth;
    counts[UpdateTerm::scatter_run] = sides * buffered * cols * static_cast<double>(shape.runs);
    counts[UpdateTerm::scatter] = buffered * target;
    counts[UpdateTerm::cold] = shape.is_cold ? counts[UpdateTerm::left] : 0;
    return counts;
}

double CostModel::panel(Index width, Index rows_below) const {
    return contention * threads_per_core *
           seconds_of(panel_counts(kernels, width, rows_below), panel_seconds);
}

double CostModel::update(UpdateShape const& shape) const {
    return contention * threads_per_core * seconds_of(update_counts(kernels, shape), update_seconds);
}

double CostModel::add(Index rows, Index cols) const {
    double const bytes =
        sides_of(kernels) * static_cast<double>(rows) * static_cast<double>(cols) * kernels.scalar_bytes;
    double const alone = update_seconds[UpdateTerm::call] + 3 * bytes / bandwidth; // two reads and a write
    return contention * threads_per_core * alone;
}

double CostModel::sweep(Cblk const& cblk) const {
    double const w = static_cast<double>(cblk.width()), r = static_cast<double>(cblk.rows_below());
    double const entries = w * (w + 1) / 2 + r * w;
    double const calls = sweep_seconds.cblk + sweep_seconds.column * w + sweep_seconds.row * r;
    return threads_per_core * (contention * calls + entries * kernels.scalar_bytes / read_bandwidth);
}

CostModel default_cost_model(Scalar scalar, KernelKind kind) {
    bool const complex = scalar == Scalar::c || scalar == Scalar::z;
    bool const single = scalar == Scalar::s || scalar == Scalar::c;
    double const entry = (complex ? 2.0 : 1.0) / (single ? 2.0 : 1.0); // bytes, in those of a double
    double const flop = complex ? 2 * entry : entry;                   // 4 real products in a complex one
    CostModel model;
    model.kernels = {kind, static_cast<std::uint32_t>(entry * sizeof(double))};
    if (kind != KernelKind::cholesky) model.panel_seconds[PanelTerm::column] *= 2.5; // search for pivots
    using enum PanelTerm;
    for (PanelTerm const t : {diagonal_entry, solve_entry}) model.panel_seconds[t] *= entry;
    for (PanelTerm const t : {diagonal_flop, solve_flop, solve_strided}) model.panel_seconds[t] *= flop;
    using U = UpdateTerm;
    for (U const t : {U::left, U::right, U::target, U::scatter, U::cold}) model.update_seconds[t] *= entry;
    for (U const t : {U::flop, U::strided}) model.update_seconds[t] *= flop;
    return model;
}

std::vector<double> cblk_costs(BlockStructure const& structure, CostModel const& model) {
    std::vector<double> costs(structure.cblks.size(), 0.0);
    for (Index k = 0; k < structure.first_kept_cblk; ++k) {
        Cblk const& cblk = structure.cblks[k];
        double cost = model.panel(cblk);
        for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok;) {
            UpdateShape const shape = update_shape(structure, cblk, b);
            cost += model.update(shape);
            b += shape.bloks;
        }
        costs[k] = cost;
    }
    return costs;
}

} // namespace espalier
