// The sizes of residuals, in one pass over the entries of the matrix.
#include <algorithm>
#include <type_traits>

#include "distributed/matrix_part.hpp"
#include "distributed/residual_block.hpp"
#include "matrix/norms.hpp"

namespace espalier {

namespace {

// The bytes of a row in the passes of residual_size().
template <class T> std::size_t bytes_of_residual_row(bool is_unscaled) {
    bool const has_factors = is_unscaled || !has_lanes<ProductSizeAndNorm<T>>;
    return has_factors ? sizeof(RowOfPass<ProductSizeAndScaledNorm<T>>)
                       : sizeof(RowOfPass<ProductSizeAndNorm<T>>);
}

// Whether residual_sizes() of one process takes several columns in one pass.
template <class T> bool takes_blocks(Index columns) {
    return has_blocks<T> && columns > columns_of_block;
}

constexpr Index most_columns_of_blocks = 64; // that are taken together

// The number of blocks of columns that workers take at the same time. Each needs memory for its rows. Many
// columns need less of it than half of the memory of their solutions and right-hand sides.
template <class T> int blocks_at_once(Index columns, int workers) {
    Index const blocks = (columns + columns_of_block - 1) / columns_of_block;
    Index const most = std::max<Index>(2, columns * 2 * sizeof(T) / (2 * sizeof(BlockRow<T>)));
    return static_cast<int>(std::min({Index{workers}, blocks, most}));
}

} // namespace

template <class T> template <class Sums>
auto DistributedMatrix<T>::entry_of_pass(MatrixOp op, std::span<T const> x, Index i) const {
    auto const& factor = inner(op);
    return make_entry<Sums>(times_factor(factor, i, x[i]), factor.empty() ? 1.0 : factor[i]);
}

template <class T> std::uint64_t DistributedMatrix<T>::residual_bytes(Index rows, Offset stored, int workers,
                                                                      bool is_unscaled, Index columns) {
    std::size_t const of_columns =
        takes_blocks<T>(columns) ? sizeof(BlockRow<T>) * blocks_at_once<T>(columns, workers) : 0;
    return static_cast<std::uint64_t>(rows) *
           std::max(bytes_of_residual_row<T>(is_unscaled) * parts_of_pass(stored, workers), of_columns);
}

template <class T> std::uint64_t DistributedMatrix<T>::residual_bytes(Index columns) const {
    return residual_bytes(local().rows, local().stored(), rows().workers().count(), is_unscaled_,
                          rows().is_alone() ? columns : 1);
}

template <class T> void DistributedMatrix<T>::prepare_residuals() const {
    if (!rows().is_alone()) return;
    RowWorkers const& workers = rows().workers();
    part_->reserve(rows(), 0, bytes_of_residual_row<T>(is_unscaled_), 1,
                   parts_of_pass(local().stored(), workers.count()));
    touch_rows(part_->y, workers);
}

// Calls finish(part, range, rows) for the sums of ranges of rows. Products start with -b, which rounds less
// than subtracting b at the end. Sizes start with 0, or with |b| if rows have lanes.
template <class T> template <class Sums, class Finish>
void DistributedMatrix<T>::sum_rows(MatrixOp op, std::span<T const> x, std::span<T const> b,
                                    Finish const& finish) const {
    part_->reserve(rows(), 0, sizeof(RowOfPass<Sums>), 1,
                   parts_of_pass(local().stored(), rows().workers().count()));
    Pass<Sums, T> const pass(local(), part_->y.template as<RowOfPass<Sums>>(), rows().workers(),
                             is_mirrored());
    auto const& factor = outer(op);
    auto const begin = [&](IndexRange range, RowOfPass<Sums>* rows) {
        for (Index i = range.first; i < range.last; ++i) {
            __builtin_prefetch(rows + i + 64, 1);
            rows[i].x = entry_of_pass<Sums>(op, x, i);
            rows[i].sums.start(-divided_by_factor(factor, i, b[i]));
            if constexpr (has_lanes<Sums>) rows[i].sums.size = std::abs(rows[i].sums.product);
        }
    };
    pass.run(op, begin, finish);
}

// Calls add(i, sums) for the sums of each local row and those of other processes.
template <class T> template <class Sums, class Add>
void DistributedMatrix<T>::accumulate_sums(MatrixOp op, std::span<T const> x, Add const& add) const {
    using Entry = typename Sums::Entry;
    using Row = RowOfPass<Sums>;
    accumulate<Entry, Row>(
        op, 1, [&](Index i, Index) { return entry_of_pass<Sums>(op, x, i); },
        [&](Entry const* from, Row* to) {
            auto const begin = [&](IndexRange range, Row* rows) {
                for (Index i = range.first; i < range.last; ++i) rows[i] = {Sums{}, from[i]};
            };
            Pass<Sums, T>(local(), to, rows().workers(), false)
                .run(op, begin, [](int, IndexRange, Row const*) {});
        },
        [&](Index i, Index, Row const& row) { add(i, row.sums); },
        parts_of_pass(local().stored(), rows().workers().count()));
}

// The largest values of the local rows.
template <class T> template <class Sums>
auto DistributedMatrix<T>::largest_of_rows(MatrixOp op, std::span<T const> x, std::span<T const> b) const {
    constexpr bool finds_norm = !std::is_same_v<Sums, ProductAndSize<T>>;
    auto const& factor = outer(op);
    auto const norm_of_row = [&](Index i, Sums const& sums) {
        if constexpr (finds_norm)
            return times_factor(factor, i, sums.norm);
        else
            return 0.0;
    };
    // `residual` and `size` are those before unscaled().
    auto const take = [&](Largest& largest, Index i, T residual, Real<T> size, double norm) {
        double const b_i = modulus(b[i]);
        // Rounded like the residual, so that both underflow together.
        auto const b_of_system = static_cast<Real<T>>(divided_by_factor(factor, i, b_i));
        double const x_i = modulus(x[i]);
        largest.take(modulus(residual), static_cast<double>(size) + static_cast<double>(b_of_system),
                     times_factor(inner(op), i, x_i), factor.empty() ? 1 : factor[i], norm, x_i, b_i);
    };
    if (rows().is_alone()) {
        Largest of_part[2];
        sum_rows<Sums>(op, x, b, [&](int part, IndexRange range, RowOfPass<Sums> const* sums) {
            if constexpr (has_lanes<Sums>) {
                run_lanes<TakeLanes<RowOfPass<Sums>>>(sums, range, factor.empty() ? nullptr : factor.data(),
                                                      x.data(), b.data(), of_part[part]);
                return;
            }
            Largest largest = of_part[part]; // a copy that nothing else refers to
            for (Index i = range.first; i < range.last; ++i)
                take(largest, i, sums[i].sums.product, sums[i].sums.size, norm_of_row(i, sums[i].sums));
            of_part[part] = largest;
        });
        of_part[0].take(of_part[1]);
        return of_part[0];
    }
    struct Row {
        T product{};
        Real<T> size{};
        double norm = 0;
    };
    std::vector<Row> sum;
    rows().reduction().all_succeed([&] { sum.resize(rows().count()); });
    accumulate_sums<Sums>(op, x, [&](Index i, Sums const& sums) {
        sum[i].product += sums.product;
        sum[i].size += sums.size;
        sum[i].norm += norm_of_row(i, sums);
    });
    Largest own;
    for (Index i = 0; i < std::ssize(sum); ++i)
        take(own, i, sum[i].product - divided_by_factor(factor, i, b[i]), sum[i].size, sum[i].norm);
    return own;
}

template <class T> ResidualSize DistributedMatrix<T>::residual_size(std::span<T const> x,
                                                                    std::span<T const> b, MatrixOp op) const {
    require_block("x", x.size(), 1);
    require_block("b", b.size(), 1);
    std::optional<double>& norm = norm_[op == MatrixOp::none ? 0 : 1];
    Largest own;
    if constexpr (has_lanes<ProductSizeAndNorm<T>>) // the norm costs nothing
        own = is_unscaled_ && !norm ? largest_of_rows<ProductSizeAndScaledNorm<T>>(op, x, b)
                                    : largest_of_rows<ProductSizeAndNorm<T>>(op, x, b);
    else if constexpr (has_complex_lanes<ProductSizeAndScaledNorm<T>>)
        own = largest_of_rows<ProductSizeAndScaledNorm<T>>(op, x, b);
    else
        own = norm ? largest_of_rows<ProductAndSize<T>>(op, x, b)
                   : largest_of_rows<ProductSizeAndScaledNorm<T>>(op, x, b);
    return size_of(own, op);
}

// The size of a residual from the largest values in the rows of each process, and the norm of the matrix if
// it was not known.
template <class T> ResidualSize DistributedMatrix<T>::size_of(Largest const& own, MatrixOp op) const {
    auto const found = rows().reduction().max(8, [&](std::span<double> largest) {
        double const values[] = {own.residual,    own.componentwise, own.residual_before,
                                 own.size_before, own.norm,          own.x,
                                 own.b,           own.x_before};
        std::ranges::copy(values, largest.begin());
    });
    int const k = op == MatrixOp::none ? 0 : 1;
    if (!norm_[k]) norm_[k] = found[4];
    // If b and the products are zero in the scaled system, but b is not, they have underflowed.
    if (found[3] == 0 && found[6] > 0) return {found[6], 1, 1, found[5], found[6]};
    double const scale_before = std::max(found[3], scaled_norm_[k].value_or(0) * found[7]);
    return {found[0], found[1], relative_error(found[2], scale_before), found[5], found[6]};
}

// The blocks do not find the norm of the matrix. The last block may begin with columns before its own.
template <class T> void DistributedMatrix<T>::residual_sizes(std::span<T const> x, std::span<T const> b,
                                                             MatrixOp op,
                                                             std::span<ResidualSize> sizes) const {
    Index const columns = std::ssize(sizes), m = rows().count();
    require_block("x", x.size(), columns);
    require_block("b", b.size(), columns);
    bool const in_blocks = rows().is_alone() && takes_blocks<T>(columns);
    bool const knows_norm = norm_[op == MatrixOp::none ? 0 : 1].has_value();
    Index const alone = in_blocks ? (knows_norm ? 0 : 1) : columns;
    for (Index c = 0; c < alone; ++c) sizes[c] = residual_size(x.subspan(c * m, m), b.subspan(c * m, m), op);
    for (Index c = alone; c < columns; c += most_columns_of_blocks)
        take_blocks(x, b, op, sizes, {c, std::min(c + most_columns_of_blocks, columns)});
}

// Sets the sizes of some columns. Each worker takes whole blocks, with rows of its own.
template <class T> void DistributedMatrix<T>::take_blocks([[maybe_unused]] std::span<T const> x,
                                                          [[maybe_unused]] std::span<T const> b,
                                                          [[maybe_unused]] MatrixOp op,
                                                          [[maybe_unused]] std::span<ResidualSize> sizes,
                                                          [[maybe_unused]] IndexRange range) const {
    if constexpr (has_blocks<T>) {
        Index const columns = std::ssize(sizes), m = rows().count();
        int const at_once = blocks_at_once<T>(columns, rows().workers().count());
        part_->reserve(rows(), 0, sizeof(BlockRow<T>), 1, at_once);
        auto const data = [](std::vector<double> const& all) { return all.empty() ? nullptr : all.data(); };
        Largest largest[most_columns_of_blocks];
        rows().workers().run(at_once, [&](int worker) {
            static RowWorkers const this_thread;
            BlockRow<T>* const own_rows = part_->y.template as<BlockRow<T>>() + worker * m;
            for (Index c = range.first + worker * columns_of_block; c < range.last;
                 c += at_once * columns_of_block) {
                Index const begin = std::min(c, columns - columns_of_block);
                BlockOfColumns<T> const block{x.data() + begin * m, b.data() + begin * m, m, data(inner(op)),
                                              data(outer(op))};
                Largest of_block[columns_of_block];
                Pass<BlockSums<T>, T>(local(), own_rows, this_thread, is_mirrored())
                    .run(
                        op,
                        [&](IndexRange some, BlockRow<T>* to) {
                            run_lanes<BeginBlock<T>>(block, some, to, of_block);
                        },
                        [&](int, IndexRange some, BlockRow<T> const* from) {
                            run_lanes<TakeBlock<T>>(block, some, from, of_block);
                        });
                std::copy(of_block + (c - begin), of_block + columns_of_block, largest + (c - range.first));
            }
        });
        for (Index const c : range) sizes[c] = size_of(largest[c - range.first], op);
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::uint64_t DistributedMatrix<T>::residual_bytes(Index, Offset, int, bool, Index);            \
    template std::uint64_t DistributedMatrix<T>::residual_bytes(Index) const;                                \
    template void DistributedMatrix<T>::prepare_residuals() const;                                           \
    template ResidualSize DistributedMatrix<T>::residual_size(std::span<T const>, std::span<T const>,        \
                                                              MatrixOp) const;                               \
    template void DistributedMatrix<T>::residual_sizes(std::span<T const>, std::span<T const>, MatrixOp,     \
                                                       std::span<ResidualSize>) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
