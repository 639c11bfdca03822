#include "distributed/distributed_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/buffer.hpp"
#include "distributed/deal.hpp"
#include "distributed/halo.hpp"
#include "distributed/parallel_product.hpp"
#include "distributed/residual_block.hpp"
#include "matrix/entries.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"
#include "runtime/first_touch.hpp"
#include "runtime/workspace.hpp"
#include "scaling/scaled_value.hpp"

namespace espalier {

namespace {

// A sum of products and its rounding error.
template <class R> struct CompensatedSum {
    R value = 0;
    R lost = 0;

    void add(R term, R term_lost) {
        R const sum = value + term;
        R const part = sum - value;
        lost += ((value - (sum - part)) + (term - part)) + term_lost;
        value = sum;
    }
    void add_product(R a, R b) {
        R const product = a * b;
        add(product, std::fma(a, b, -product));
    }
};

// An entry of a residual.
template <class T> struct AccurateEntry {
    CompensatedSum<T> sum;
    void subtract(T a, T x) { sum.add_product(-a, x); }
    void add(AccurateEntry const& other) { sum.add(other.sum.value, other.sum.lost); }
    void add(T value) { sum.add(value, 0); }
    [[nodiscard]] T result() const { return sum.value + sum.lost; }
};
template <class R> struct AccurateEntry<std::complex<R>> {
    CompensatedSum<R> re, im;
    void subtract(std::complex<R> a, std::complex<R> x) {
        re.add_product(-a.real(), x.real());
        re.add_product(a.imag(), x.imag());
        im.add_product(-a.real(), x.imag());
        im.add_product(-a.imag(), x.real());
    }
    void add(AccurateEntry const& other) {
        re.add(other.re.value, other.re.lost);
        im.add(other.im.value, other.im.lost);
    }
    void add(std::complex<R> value) {
        re.add(value.real(), 0);
        im.add(value.imag(), 0);
    }
    [[nodiscard]] std::complex<R> result() const { return {re.value + re.lost, im.value + im.lost}; }
};

// The pattern of the columns of a process. Remote rows are numbered after the local rows, in the order of
// their owners.
struct LocalPattern {
    std::vector<Offset> col_ptr{0};
    std::vector<Index> row_ind;
    std::vector<std::vector<Index>> wanted; // local numbers of remote rows at their owners
};

// Creates the patterns of all processes, one at a time, from the whole matrix.
class PatternDealer {
  public:
    PatternDealer(Owners const& owners, Index n) : owners_(owners), owner_(n), place_(n), number_(n) {
        for (int r = 0; r + 1 < std::ssize(owners.begin); ++r) {
            auto const rows = owners.rows_of(r);
            for (Index l = 0; l < std::ssize(rows); ++l) {
                owner_[rows[l]] = r;
                place_[rows[l]] = l;
            }
        }
    }

    LocalPattern pattern_of(int r, std::span<Offset const> col_ptr, std::span<Index const> row_ind) {
        auto const columns = owners_.rows_of(r);
        LocalPattern pattern;
        for (Index const j : columns)
            pattern.col_ptr.push_back(pattern.col_ptr.back() + col_ptr[j + 1] - col_ptr[j]);
        pattern.row_ind.reserve(pattern.col_ptr.back());
        for (Index const j : columns)
            pattern.row_ind.insert(pattern.row_ind.end(), row_ind.begin() + col_ptr[j],
                                   row_ind.begin() + col_ptr[j + 1]);
        std::vector<Index> remote;
        for (Index const i : pattern.row_ind)
            if (owner_[i] != r) remote.push_back(i);
        std::sort(remote.begin(), remote.end(), [&](Index i, Index j) {
            return owner_[i] != owner_[j] ? owner_[i] < owner_[j] : place_[i] < place_[j];
        });
        remote.erase(std::unique(remote.begin(), remote.end()), remote.end());
        pattern.wanted.resize(owners_.begin.size() - 1);
        for (Index h = 0; h < std::ssize(remote); ++h) {
            number_[remote[h]] = std::ssize(columns) + h;
            pattern.wanted[owner_[remote[h]]].push_back(place_[remote[h]]);
        }
        for (Index& i : pattern.row_ind) i = owner_[i] == r ? place_[i] : number_[i];
        return pattern;
    }

  private:
    Owners const& owners_;
    std::vector<int> owner_;
    std::vector<Index> place_;  // at the owner
    std::vector<Index> number_; // number of each remote row on the process whose pattern is created
};

// The bytes of a row in the passes of residual_size().
template <class T> std::size_t bytes_of_residual_row(bool is_unscaled) {
    bool const has_factors = is_unscaled || !has_lanes<ProductSizeAndNorm<T>>;
    return has_factors ? sizeof(RowOfPass<ProductSizeAndScaledNorm<T>>)
                       : sizeof(RowOfPass<ProductSizeAndNorm<T>>);
}

// Whether residual_sizes() of one process takes several columns in one pass.
template <class T> bool takes_blocks(Index columns) {
    return std::is_same_v<T, double> && columns > columns_of_block;
}

constexpr Index most_columns_of_blocks = 64; // that are taken together

// The number of blocks of columns that workers take at the same time. Each needs memory for its rows. Many
// columns need less of it than half of the memory of their solutions and right-hand sides.
int blocks_at_once(Index columns, int workers) {
    Index const blocks = (columns + columns_of_block - 1) / columns_of_block;
    Index const most = std::max<Index>(2, columns * 2 * sizeof(double) / (2 * sizeof(BlockRow)));
    return static_cast<int>(std::min({Index{workers}, blocks, most}));
}

// Returns value times the factor of row i. Without factors these are ones.
template <class V> ESPALIER_INLINE V scaled(std::vector<double> const& factors, Index i, V value) {
    return factors.empty() ? value : scaled_value(value, factors[i]);
}

// Returns value divided by the factor of row i, a power of two.
template <class V> ESPALIER_INLINE V scaled_back(std::vector<double> const& factors, Index i, V value) {
    return factors.empty() ? value : scaled_value(value, 1 / factors[i]);
}

} // namespace

template <class T> struct DistributedMatrix<T>::Part {
    CscMatrix<T> own;
    CscMatrix<T> const* entries = &own;
    Halo halo;
    std::optional<Owners> owners;              // if there are several processes
    std::optional<ParallelProduct<T>> product; // once one was needed

    // Workspace: one column of x and y with their remote rows, the remote rows of all columns, and one column
    // of sums. Sizes are bytes for each row.
    Buffer x, imported, exported, sums;
    Workspace y;
    std::size_t reserved[3] = {};

    void reserve(DistributedRows const& rows, std::size_t x_bytes, std::size_t y_bytes, Index columns,
                 int copies) {
        std::size_t const wanted[3] = {x_bytes, y_bytes * copies, std::max(x_bytes, y_bytes) * columns};
        if (std::equal(wanted, wanted + 3, reserved, std::less_equal<>())) return;
        rows.reduction().all_succeed([&] {
            x.grow(wanted[0] * entries->rows);
            y.grow(wanted[1] * entries->rows);
            imported.grow(wanted[2] * halo.size());
            exported.grow(wanted[2] * halo.size());
        });
        halo.reserve(wanted[2]);
        for (int k = 0; k < 3; ++k) reserved[k] = std::max(reserved[k], wanted[k]);
    }
};

template <class T> DistributedMatrix<T>::DistributedMatrix(CscMatrix<T> const& whole)
    : DistributedMatrix(DistributedRows(whole.cols), &whole) {}

template <class T> DistributedMatrix<T>::DistributedMatrix(DistributedRows rows, CscMatrix<T> const* whole)
    : rows_(std::move(rows)) {
    Communicator const& comm = rows_.comm();
    all_succeed(comm, [&] {
        part_ = std::make_shared<Part>();
        if (!whole || (whole->rows == order() && whole->cols == order())) return;
        throw Error(Status::usage, fmt::format("the matrix is {} x {}; a square matrix of order {} is needed",
                                               whole->rows, whole->cols, order()));
    });
    if (rows_.is_alone()) {
        part_->entries = whole;
        return;
    }
    Owners const& owners = part_->owners.emplace(rows_);
    std::optional<PatternDealer> dealer;
    CscMatrix<T>& own = part_->own;
    std::vector<std::vector<Index>> wanted;
    auto const bytes = deal_out(comm, [&](Packer& packer, int r) {
        if (!dealer) dealer.emplace(owners, order());
        LocalPattern const pattern = dealer->pattern_of(r, whole->col_ptr, whole->row_ind);
        packer(whole->symmetry, pattern.col_ptr, pattern.row_ind, pattern.wanted);
    });
    all_succeed(comm, [&] {
        Unpacker{bytes}(own.symmetry, own.col_ptr, own.row_ind, wanted);
        own.cols = own.rows = rows_.count();
        for (auto const& of_process : wanted) own.rows += std::ssize(of_process);
        own.values.resize(own.row_ind.size());
    });
    part_->halo = Halo(comm, std::move(wanted));
    deal_values(whole);
}
template <class T> void DistributedMatrix<T>::set_values(CscMatrix<T> const* whole) {
    for (auto& norm : norm_) norm.reset();
    if (rows().is_alone()) {
        part_->entries = whole;
        return;
    }
    deal_values(whole);
}

// A column of a process has the entries of the column of the whole matrix in the same order.
template <class T> void DistributedMatrix<T>::deal_values(CscMatrix<T> const* whole) {
    auto const bytes = deal_out(rows().comm(), [&](Packer& packer, int r) {
        std::vector<T> values;
        for (Index const j : part_->owners->rows_of(r))
            values.insert(values.end(), whole->values.begin() + whole->col_ptr[j],
                          whole->values.begin() + whole->col_ptr[j + 1]);
        packer(values);
    });
    rows().reduction().all_succeed([&] { Unpacker{bytes}(part_->own.values); });
}

template <class T> DistributedMatrix<T> DistributedMatrix<T>::unscaled(std::span<double const> r,
                                                                       std::span<double const> c) const {
    auto const invert = [](std::span<double const> scales, std::vector<double>& factors) {
        factors.resize(scales.size());
        std::transform(scales.begin(), scales.end(), factors.begin(), [](double scale) { return 1 / scale; });
    };
    return all_succeed(rows().comm(), [&] {
        DistributedMatrix result = *this;
        for (int k = 0; k < 2; ++k) result.scaled_norm_[k] = std::exchange(result.norm_[k], {});
        result.is_unscaled_ = true;
        invert(r, result.r_);
        invert(c, result.c_);
        return result;
    });
}

template <class T> DistributedMatrix<T> DistributedMatrix<T>::times(Real<T> factor) const {
    DistributedMatrix result = *this;
    for (auto& norm : result.norm_) norm.reset();
    for (auto& norm : result.scaled_norm_) norm.reset();
    rows().reduction().all_succeed([&] {
        auto part = std::make_shared<Part>();
        part->own = local();
        part->halo = part_->halo;
        for (T& value : part->own.values) value *= factor;
        result.part_ = std::move(part);
    });
    return result;
}

template <class T> CscMatrix<T> const& DistributedMatrix<T>::local() const {
    return *part_->entries;
}

template <class T> Symmetry DistributedMatrix<T>::symmetry() const {
    return local().symmetry;
}

template <class T> Index DistributedMatrix<T>::halo_size() const {
    return part_->halo.size();
}

template <class T>
void DistributedMatrix<T>::require_block(char const* what, std::size_t size, Index columns) const {
    require_block_size(what, size, rows().count(), columns);
}

// Does the following for each of `columns` columns. Collects the values of `x` at the local rows and, if
// op(A) reads them, at the remote rows. Calls kernel(x, y), which adds to zeros at local and remote rows.
// Then calls add(row, column, y) for local rows and for the contributions of other processes. `copies` is the
// number of such y for which there is memory; the kernel may use the copies after the first for any purpose.
template <class T> template <class X, class Y, class Value, class Kernel, class Add>
void DistributedMatrix<T>::accumulate(MatrixOp op, Index columns, Value const& value, Kernel const& kernel,
                                      Add const& add, int copies) const {
    Part& part = *part_;
    Index const m = rows().count(), h = part.halo.size();
    part.reserve(rows(), sizeof(X), sizeof(Y), columns, copies);
    bool const imports = is_mirrored() || op != MatrixOp::none;
    bool const exports = is_mirrored() || op == MatrixOp::none;
    X* const x = part.x.template as<X>();
    Y* const y = part.y.template as<Y>();
    X* const imported = part.imported.template as<X>();
    Y* const exported = part.exported.template as<Y>();
    if (imports && part.halo.is_needed()) part.halo.import_values(imported, columns, value);
    for (Index c = 0; c < columns; ++c) {
        for (Index i = 0; i < m; ++i) x[i] = value(i, c);
        if (imports) std::copy_n(imported + c * h, h, x + m);
        std::fill_n(y, m + h, Y());
        kernel(x, y);
        for (Index i = 0; i < m; ++i) add(i, c, y[i]);
        if (exports) std::copy_n(y + m, h, exported + c * h);
    }
    if (exports && part.halo.is_needed()) part.halo.export_values(exported, columns, add);
}

// Returns the product in parts; null if the matrix is small or if there is no memory for the parts.
template <class T> ParallelProduct<T>* DistributedMatrix<T>::product_in_parts() const {
    if (local().stored() < least_parallel_entries) return nullptr;
    std::optional<ParallelProduct<T>>& product = part_->product;
    try {
        if (!product) product.emplace(local());
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
    return &*product;
}

template <class T> void DistributedMatrix<T>::multiply(MatrixOp op, T alpha, std::span<T const> x, T beta,
                                                       std::span<T> y, Index columns) const {
    CscMatrix<T> const& a = local();
    ParallelProduct<T>* const in_parts = product_in_parts();
    bool const is_direct = rows().is_alone() && r_.empty() && c_.empty();
    if (is_direct && !in_parts) return espalier::multiply(op, alpha, a, x, beta, y, columns);
    require_block("x", x.size(), columns);
    require_block("y", y.size(), columns);
    Index const m = rows().count();
    if (is_direct) {
        for (Index c = 0; c < columns; ++c)
            in_parts->run(op, alpha, a, x.data() + c * m, beta, y.data() + c * m, rows().workers());
        return;
    }
    scale_block(beta, y);
    accumulate<T, T>(
        op, columns, [&](Index i, Index c) { return scaled(inner(op), i, x[i + c * m]); },
        [&](T const* from, T* to) {
            if (in_parts)
                in_parts->run(op, alpha, a, from, T(1), to, rows().workers());
            else
                add_product(op, alpha, a, {0, a.cols}, from, to);
        },
        [&](Index i, Index c, T value) { y[i + c * m] += scaled(outer(op), i, value); });
}

template <class T> void DistributedMatrix<T>::residual(std::span<T const> x, std::span<T const> b,
                                                       std::span<T> r, Index columns, MatrixOp op) const {
    require_block("b", b.size(), columns);
    require_block("r", r.size(), columns);
    if (r.data() != b.data()) std::copy(b.begin(), b.end(), r.begin());
    multiply(op, T(-1), x, T(1), r, columns);
}

template <class T> void DistributedMatrix<T>::abs_product(std::span<T const> x, std::span<Real<T>> w,
                                                          Index columns, MatrixOp op) const {
    require_block("x", x.size(), columns);
    require_block("w", w.size(), columns);
    std::fill(w.begin(), w.end(), Real<T>(0));
    Index const m = rows().count();
    accumulate<Real<T>, Real<T>>(
        op, columns, [&](Index i, Index c) { return std::abs(scaled(inner(op), i, x[i + c * m])); },
        [&](Real<T> const* from, Real<T>* to) {
            for_each_entry(op, local(),
                           [&](Index i, Index j, T value) { to[i] += std::abs(value) * from[j]; });
        },
        [&](Index i, Index c, Real<T> value) { w[i + c * m] += scaled(outer(op), i, value); });
}

template <class T> template <class Sums>
auto DistributedMatrix<T>::entry_of_pass(MatrixOp op, std::span<T const> x, Index i) const {
    T const value = scaled(inner(op), i, x[i]);
    if constexpr (std::is_same_v<typename Sums::Entry, T>)
        return value;
    else
        return typename Sums::Entry{value, inner(op).empty() ? 1.0 : inner(op)[i]};
}

template <class T> std::uint64_t DistributedMatrix<T>::residual_bytes(Index rows, Offset stored, int workers,
                                                                      bool is_unscaled, Index columns) {
    std::size_t const of_columns =
        takes_blocks<T>(columns) ? sizeof(BlockRow) * blocks_at_once(columns, workers) : 0;
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
    std::span<std::byte> const all = part_->y.take_untouched();
    if (all.empty()) return;
    workers.run(workers.count(), [&](int worker) { touch_part_of(all, worker, workers.count()); });
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
            rows[i].sums.start(-scaled_back(factor, i, b[i]));
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
            return scaled(factor, i, sums.norm);
        else
            return 0.0;
    };
    // `residual` and `size` are those before unscaled().
    auto const take = [&](Largest& largest, Index i, T residual, Real<T> size, double norm) {
        double const b_i = modulus(b[i]);
        largest.take(modulus(residual), static_cast<double>(size) + scaled_back(factor, i, b_i),
                     factor.empty() ? 1 : factor[i], norm, modulus(x[i]), b_i);
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
        take(own, i, sum[i].product - scaled_back(factor, i, b[i]), sum[i].size, sum[i].norm);
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
    double const scale_before = std::max(found[3], scaled_norm_[k].value_or(0) * found[7]);
    return {found[0], found[1], relative_error(found[2], scale_before), found[5], found[6]};
}

// The blocks do not find the norm of the matrix. The last block may begin with columns before its own.
template <class T>
void DistributedMatrix<T>::residual_sizes(std::span<T const> x, std::span<T const> b, MatrixOp op,
                                          std::span<ResidualSize> sizes) const {
    Index const columns = std::ssize(sizes), m = rows().count();
    require_block("x", x.size(), columns);
    require_block("b", b.size(), columns);
    bool const in_blocks = rows().is_alone() && takes_blocks<T>(columns);
    bool const knows_norm = norm_[op == MatrixOp::none ? 0 : 1].has_value();
    Index const alone = in_blocks ? (knows_norm ? 0 : 1) : columns;
    for (Index c = 0; c < alone; ++c)
        sizes[c] = residual_size(x.subspan(c * m, m), b.subspan(c * m, m), op);
    for (Index c = alone; c < columns; c += most_columns_of_blocks)
        take_blocks(x, b, op, sizes, {c, std::min(c + most_columns_of_blocks, columns)});
}

// Sets the sizes of some columns. Each worker takes whole blocks, with rows of its own.
template <class T>
void DistributedMatrix<T>::take_blocks([[maybe_unused]] std::span<T const> x,
                                       [[maybe_unused]] std::span<T const> b, [[maybe_unused]] MatrixOp op,
                                       [[maybe_unused]] std::span<ResidualSize> sizes,
                                       [[maybe_unused]] IndexRange range) const {
    if constexpr (std::is_same_v<T, double>) {
        Index const columns = std::ssize(sizes), m = rows().count();
        int const at_once = blocks_at_once(columns, rows().workers().count());
        part_->reserve(rows(), 0, sizeof(BlockRow), 1, at_once);
        auto const data = [](std::vector<double> const& all) { return all.empty() ? nullptr : all.data(); };
        Largest largest[most_columns_of_blocks];
        rows().workers().run(at_once, [&](int worker) {
            static RowWorkers const this_thread;
            BlockRow* const own_rows = part_->y.template as<BlockRow>() + worker * m;
            for (Index c = range.first + worker * columns_of_block; c < range.last;
                 c += at_once * columns_of_block) {
                Index const begin = std::min(c, columns - columns_of_block);
                BlockOfColumns const block{x.data() + begin * m, b.data() + begin * m, m, data(inner(op)),
                                           data(outer(op))};
                Largest of_block[columns_of_block];
                Pass<BlockSums, double>(local(), own_rows, this_thread, is_mirrored())
                    .run(
                        op, [&](IndexRange some, BlockRow* to) { run_lanes<BeginBlock>(block, some, to); },
                        [&](int, IndexRange some, BlockRow const* from) {
                            run_lanes<TakeBlock>(block, some, from, of_block);
                        });
                std::copy(of_block + (c - begin), of_block + columns_of_block, largest + (c - range.first));
            }
        });
        for (Index const c : range) sizes[c] = size_of(largest[c - range.first], op);
    }
}

template <class T> void DistributedMatrix<T>::accurate_residual(std::initializer_list<std::span<T const>> x,
                                                                std::span<T const> b, std::span<T> r,
                                                                MatrixOp op) const {
    using Entry = AccurateEntry<T>;
    require_block("b", b.size(), 1);
    require_block("r", r.size(), 1);
    Index const m = rows().count();
    rows().reduction().all_succeed([&] { part_->sums.grow(m * sizeof(Entry)); });
    std::span<Entry> const entries(part_->sums.template as<Entry>(), m);
    // b - R A C x = R (R^-1 b - A C x)
    auto const& factor = outer(op);
    for (Index i = 0; i < m; ++i) {
        entries[i] = Entry();
        entries[i].add(scaled_back(factor, i, b[i]));
    }
    for (std::span<T const> const summand : x) {
        require_block("x", summand.size(), 1);
        accumulate<T, Entry>(
            op, 1, [&](Index i, Index) { return scaled(inner(op), i, summand[i]); },
            [&](T const* from, Entry* to) {
                for_each_entry(op, local(),
                               [&](Index i, Index j, T value) { to[i].subtract(value, from[j]); });
            },
            [&](Index i, Index, Entry const& value) { entries[i].add(value); });
    }
    for (Index i = 0; i < m; ++i) r[i] = scaled(factor, i, entries[i].result());
}

template <class T> double DistributedMatrix<T>::infinity_norm(MatrixOp op) const {
    std::optional<double>& known = norm_[op == MatrixOp::none ? 0 : 1];
    if (!known) known = compute_infinity_norm(op);
    return *known;
}

template <class T> double DistributedMatrix<T>::compute_infinity_norm(MatrixOp op) const {
    std::vector<double> sums;
    rows().reduction().all_succeed([&] { sums.resize(rows().count()); });
    accumulate<double, double>(
        op, 1, [&](Index i, Index) { return scaled(inner(op), i, 1.0); },
        [&](double const* weights, double* to) {
            for_each_entry(op, local(),
                           [&](Index i, Index j, T value) { to[i] += modulus(value) * weights[j]; });
        },
        [&](Index i, Index, double value) { sums[i] += scaled(outer(op), i, value); });
    return rows().reduction().max(1, [&](std::span<double> largest) {
        largest[0] = espalier::infinity_norm<double>(std::span<double const>(sums));
    })[0];
}

template <class T> double DistributedMatrix<T>::max_abs() const {
    std::span<T const> const values = local().values;
    auto const of_part = [&](IndexRange part) {
        return espalier::infinity_norm(values.subspan(part.first, part.size()));
    };
    return rows().reduction().max(1, [&](std::span<double> largest) {
        largest[0] = rows().workers().template reduce<double>(std::ssize(values), of_part, larger);
    })[0];
}

template <class T> bool DistributedMatrix<T>::is_finite() const {
    return rows().reduction().max(
               1, [&](std::span<double> found) { found[0] = all_finite<T>(local().values) ? 0 : 1; })[0] == 0;
}

template <class T> Index DistributedMatrix<T>::most_entries_in_a_row(MatrixOp op) const {
    std::vector<Index> counts;
    rows().reduction().all_succeed([&] { counts.resize(rows().count()); });
    accumulate<char, Index>(
        op, 1, [](Index, Index) { return char(); },
        [&](char const*, Index* to) { for_each_entry(op, local(), [&](Index i, Index, T) { ++to[i]; }); },
        [&](Index i, Index, Index value) { counts[i] += value; });
    return max(rows().comm(), counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end()));
}

template <class T> std::vector<double> DistributedMatrix<T>::diagonal_moduli() const {
    std::vector<double> moduli(rows().count());
    for_each_entry(local(), [&](Index i, Index j, Offset p) {
        if (i == j) moduli[i] = modulus(local().values[p]);
    });
    return moduli;
}

ESPALIER_INSTANTIATE_CLASS(DistributedMatrix)

} // namespace espalier
