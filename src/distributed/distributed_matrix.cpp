#include "distributed/distributed_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "distributed/matrix_part.hpp"
#include "matrix/entries.hpp"
#include "matrix/norms.hpp"

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
    PatternDealer(Owners const& owners, Index n) : owners_(owners), places_(owners), number_(n) {}

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
            if (places_.owner[i] != r) remote.push_back(i);
        places_.sort(remote);
        remote.erase(std::unique(remote.begin(), remote.end()), remote.end());
        pattern.wanted.resize(owners_.begin.size() - 1);
        for (Index h = 0; h < std::ssize(remote); ++h) {
            number_[remote[h]] = std::ssize(columns) + h;
            pattern.wanted[places_.owner[remote[h]]].push_back(places_.place[remote[h]]);
        }
        for (Index& i : pattern.row_ind) i = places_.owner[i] == r ? places_.place[i] : number_[i];
        return pattern;
    }

  private:
    Owners const& owners_;
    RowPlaces places_;
    std::vector<Index> number_; // number of each remote row on the process whose pattern is created
};

} // namespace

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

template <class T> Symmetry DistributedMatrix<T>::symmetry() const {
    return local().symmetry;
}

template <class T> Index DistributedMatrix<T>::halo_size() const {
    return part_->halo.size();
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
        op, columns, [&](Index i, Index c) { return times_factor(inner(op), i, x[i + c * m]); },
        [&](T const* from, T* to) {
            if (in_parts)
                in_parts->run(op, alpha, a, from, T(1), to, rows().workers());
            else
                add_product(op, alpha, a, {0, a.cols}, from, to);
        },
        [&](Index i, Index c, T value) { y[i + c * m] += times_factor(outer(op), i, value); });
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
    auto const size = [](T value) { return static_cast<Real<T>>(modulus(value)); };
    accumulate<Real<T>, Real<T>>(
        op, columns, [&](Index i, Index c) { return size(times_factor(inner(op), i, x[i + c * m])); },
        [&](Real<T> const* from, Real<T>* to) {
            for_each_entry(op, local(), [&](Index i, Index j, T value) { to[i] += size(value) * from[j]; });
        },
        [&](Index i, Index c, Real<T> value) { w[i + c * m] += times_factor(outer(op), i, value); });
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
        entries[i].add(divided_by_factor(factor, i, b[i]));
    }
    for (std::span<T const> const summand : x) {
        require_block("x", summand.size(), 1);
        accumulate<T, Entry>(
            op, 1, [&](Index i, Index) { return times_factor(inner(op), i, summand[i]); },
            [&](T const* from, Entry* to) {
                for_each_entry(op, local(),
                               [&](Index i, Index j, T value) { to[i].subtract(value, from[j]); });
            },
            [&](Index i, Index, Entry const& value) { entries[i].add(value); });
    }
    for (Index i = 0; i < m; ++i) r[i] = times_factor(factor, i, entries[i].result());
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
        op, 1, [&](Index i, Index) { return times_factor(inner(op), i, 1.0); },
        [&](double const* weights, double* to) {
            for_each_entry(op, local(),
                           [&](Index i, Index j, T value) { to[i] += modulus(value) * weights[j]; });
        },
        [&](Index i, Index, double value) { sums[i] += times_factor(outer(op), i, value); });
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
