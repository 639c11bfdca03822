#include "incomplete/incomplete_factor.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "incomplete/diagonal_elimination.hpp"
#include "incomplete/incomplete_structure.hpp"
#include "incomplete/row_factorization.hpp"
#include "incomplete/symmetric_rows.hpp"
#include "incomplete/transposed_factor.hpp"
#include "matrix/norms.hpp"
#include "rows/block_sizes.hpp"

namespace espalier {

namespace {

/// The first value of alpha [Lin, Moré 1999].
constexpr double first_shift = 1e-3;

void require_threshold(double threshold) {
    if (!(threshold >= 0))
        throw Error(Status::usage, fmt::format("the pivot threshold is {}; expected at least 0", threshold));
}

template <class T> Real<T> relative_threshold(PivotDemand const& pivots) {
    require_threshold(pivots.threshold);
    if (pivots.threshold > 0) return static_cast<Real<T>>(pivots.threshold);
    return pivots.positive ? 100 * epsilon<T> : std::sqrt(epsilon<T>);
}

/// No abs1() of an entry is larger. NaN if an entry is NaN.
template <class T> Real<T> bound_of_moduli(CscMatrix<T> const& a) {
    constexpr std::size_t parts = is_complex<T> ? 2 : 1; // real and imaginary ones
    std::span<Real<T> const> const numbers(reinterpret_cast<Real<T> const*>(a.values.data()),
                                           parts * a.values.size());
    return static_cast<Real<T>>(static_cast<double>(parts) * infinity_norm(numbers));
}

/// Copies the conjugates of the entries. Does nothing for real ones.
template <class T> void conjugate([[maybe_unused]] T const* from, [[maybe_unused]] T* to, Index count) {
    if constexpr (is_complex<T>) std::transform(from, from + count, to, [](T value) { return conj(value); });
}

} // namespace

template <class T> class IncompleteFactor<T>::Storage : public IncompleteStructure {
  public:
    Storage(CscMatrix<T> const& a, IncompleteOptions const& options, WorkerTeam& team, Interrupt* interrupt)
        : IncompleteStructure(a, {sizeof(T), is_complex<T>}, options, team, interrupt), symmetry_(a.symmetry),
          lower_(pattern_, order_, SweepDirection::forward, sizes_.block_size, allocation_, team),
          upper_(pattern_, order_, SweepDirection::backward, sizes_.block_size, allocation_, team,
                 !changes_only_pivots_) {
        end_storage();
        map_entries(a, options, interrupt);
        lower_.allocate_values(order_, sizes_.block_size, allocation_, team);
        upper_.allocate_values(order_, sizes_.block_size, allocation_, team);
        allocate_inverse();
        if (moves_pages()) place_written_pages();
        end_symbolic();
        sizes_.bytes += lower_.packed_bytes() + upper_.packed_bytes();
        if (symmetry_ == Symmetry::general)
            sizes_.transposed_bytes = TransposedFactor<T>::bytes(sizes_.nnz_factor / entries_of_block(),
                                                                 order_.num_rows(), sizes_.block_size);
    }

    [[nodiscard]] std::vector<std::uint64_t> node_bytes() const {
        return IncompleteStructure::node_bytes(lower_.bytes(), upper_.bytes());
    }

    IncompletePivots factorize(CscMatrix<T> const& a, PivotDemand const& pivots, Interrupt* interrupt) {
        PivotRule<T> rule{relative_threshold<T>(pivots), pivots.positive, 1};
        require_size(a.rows, a.stored());
        if (transposed_) transposed_->mark_old();
        double shift = 0;
        for (int restarts = 0; restarts < pivots.max_restarts; ++restarts) {
            rule.diagonal_factor = static_cast<Real<T>>(1 + shift);
            auto const replaced = factorize_by_rule(a, rule, true, interrupt);
            if (replaced) return {*replaced, shift, restarts};
            shift = shift > 0 ? 2 * shift : first_shift;
        }
        rule.diagonal_factor = 1;
        return {*factorize_by_rule(a, rule, false, interrupt), 0, pivots.max_restarts};
    }

    void solve(T const* b, T* x, Index nrhs, MatrixOp op) {
        MatrixOp const same = symmetry_ == Symmetry::symmetric   ? MatrixOp::transpose
                              : symmetry_ == Symmetry::hermitian ? MatrixOp::adjoint
                                                                 : MatrixOp::none;
        if (op == MatrixOp::none || op == same) return sweep_columns(factors(), b, x, nrhs);
        bool const is_adjoint = op == MatrixOp::adjoint;
        // op(L U) = conj(L U) if the matrix is symmetric or Hermitian, and conj((L U)^T) = (L U)^H.
        bool const conjugates = is_complex<T> && (same != MatrixOp::none || is_adjoint);
        if (conjugates) conjugate(b, x, nrhs * size_);
        T const* const from = conjugates ? x : b;
        if (same != MatrixOp::none || (!is_complex<T> && symmetry_ != Symmetry::general))
            sweep_columns(factors(), from, x, nrhs);
        else
            sweep_columns(transposed_factors(), from, x, nrhs);
        if (conjugates) conjugate(x, x, nrhs * size_);
    }

    void solve_in_order(T* x, TriangularPart part) { sweep<1>(part, factors(), {x, nullptr, nullptr}); }

  private:
    std::optional<Index> factorize_by_rule(CscMatrix<T> const& a, PivotRule<T> const& rule, bool stops,
                                           Interrupt* interrupt) {
        FactorArrays<T> const arrays{map_,
                                     order_,
                                     a.values.data(),
                                     lower_,
                                     upper_,
                                     inverse_.as<T>().data(),
                                     rule,
                                     changes_only_pivots_};
        auto const current_rows = this->current_rows();
        std::vector<std::unique_ptr<RowFactorizer>> rows;
        rows.reserve(order_.num_workers);
        bool const is_symmetric = symmetry_ != Symmetry::general && sizes_.block_size == 1;
        SymmetricMatrix<T> const matrix{
            a, source_rows(),
            is_symmetric && !rule.positive && order_.num_workers > 1 ? bound_of_moduli(a) : Real<T>(0)};
        for (WorkerId w = 0; w < order_.num_workers; ++w)
            if (is_symmetric)
                rows.push_back(
                    std::make_unique<SymmetricRowFactorization<T>>(arrays, matrix, current_rows[w]));
            else if (finds_only_pivots())
                rows.push_back(std::make_unique<DiagonalElimination<T>>(arrays));
            else
                rows.push_back(
                    with_block_size(sizes_.block_size, [&]<int B>() -> std::unique_ptr<RowFactorizer> {
                        return std::make_unique<RowFactorization<T, B>>(arrays, current_rows[w],
                                                                        longest_row_);
                    }));
        auto const replaced = factorize_rows(rows, stops, interrupt);
        if (std::exchange(has_new_pages_, false))
            for (auto const* const part : {&lower_, &upper_}) part->let_pages_be_joined();
        return replaced;
    }

    /// Chunks write rows of L and U and inverse diagonal blocks.
    void place_written_pages() {
        Index const entries = entries_of_block();
        place_pages(lower_.page_bytes(),
                    [&](TaskId chunk) { return std::as_writable_bytes(lower_.values_of(chunk, entries)); });
        place_pages(upper_.page_bytes(),
                    [&](TaskId chunk) { return std::as_writable_bytes(upper_.values_of(chunk, entries)); });
        populate(inverse_.bytes());
        place_pages(inverse_.page_bytes(), [&](TaskId chunk) { return inverse_of(chunk); });
    }

    /// Interleaved vectors. Unless they are null, the rows of a chunk are read from b before its first sweep,
    /// and written to x after its last one.
    struct SweepVectors {
        T* work;
        T const* b;
        T* x;
    };
    /// The rows of a triangular matrix.
    struct Triangle {
        RowStorage<T> const& rows;
        T const* inverse; ///< Inverse diagonal blocks by position; null if the diagonal is the identity.
    };
    /// The factors of L U, or those of (L U)^T = U^T L^T.
    struct Factors {
        Triangle lower, upper;
    };
    [[nodiscard]] Factors factors() const {
        return {{lower_, nullptr}, {upper_, inverse_.template as<T>().data()}};
    }

    /// Copies the factors on the first call after a factorization.
    Factors transposed_factors() {
        if (!transposed_) transposed_.emplace(order_, lower_, upper_, sizes_.block_size, allocation_, team_);
        transposed_->update(inverse_.as<T>().data());
        return {{transposed_->lower(), transposed_->inverse()}, {transposed_->upper(), nullptr}};
    }

    void sweep_columns(Factors const& factors, T const* b, T* x, Index nrhs) {
        Index r = 0;
        for (; r + interleaved <= nrhs; r += interleaved)
            sweep<interleaved>(TriangularPart::both, factors,
                               {workspace(interleaved), b + r * size_, x + r * size_});
        for (; r < nrhs; ++r)
            sweep<1>(TriangularPart::both, factors, {workspace(1), b + r * size_, x + r * size_});
    }

    using ChunkSweep = void (Storage::*)(Triangle const& triangle, SweepDirection direction,
                                         std::int32_t chunk, T* work) const;

    /// The sweep over a chunk on R interleaved vectors. Only this depends on the size of the blocks.
    template <int R> [[nodiscard]] ChunkSweep chunk_sweep() const {
        return with_block_size(sizes_.block_size,
                               []<int B>() -> ChunkSweep { return &Storage::template sweep_chunk<B, R>; });
    }

    template <int R> void sweep(TriangularPart part, Factors const& factors, SweepVectors const& vectors) {
        ChunkSweep const sweep_of_chunk = chunk_sweep<R>();
        std::int64_t const first_task = number_tasks(2 * order_.num_chunks());
        runs_->run(
            part,
            [&](std::int32_t chunk, WorkerId w) {
                auto const scope = recorded(w, trace::Kind::forward, first_task + chunk);
                if (T const* const b = vectors.b)
                    visit_entries<R>(chunk, vectors.work, b, [](T& entry, T const& given) { entry = given; });
                (this->*sweep_of_chunk)(factors.lower, SweepDirection::forward, chunk, vectors.work);
            },
            [&](std::int32_t chunk, WorkerId w) {
                auto const scope =
                    recorded(w, trace::Kind::backward, first_task + order_.num_chunks() + chunk);
                (this->*sweep_of_chunk)(factors.upper, SweepDirection::backward, chunk, vectors.work);
                if (T* const x = vectors.x)
                    visit_entries<R>(chunk, vectors.work, x,
                                     [](T const& entry, T& result) { result = entry; });
            });
    }

    template <int B, int R>
    void sweep_chunk(Triangle const& triangle, SweepDirection direction, std::int32_t chunk, T* work) const {
        bool const is_forward = direction == SweepDirection::forward;
        Index const step = is_forward ? 1 : -1;
        Index first = is_forward ? order_.chunk_ptr[chunk] : order_.chunk_ptr[chunk + 1] - 1;
        auto cursor = triangle.rows.cursor_at(chunk, B * B);
        for (SweepRun const run : triangle.rows.runs_of(chunk)) {
            SweepKernel<T, B, R>::run(work, triangle.inverse, first, step, run, cursor);
            first += step * run.num_rows;
        }
    }

    /// Calls visit(entry, the same entry in the vectors of the caller) for the entries of the rows of a
    /// chunk. The rows are far from each other for the caller, so no processor prefetches them.
    template <int R, class Entry, class Visit>
    void visit_entries(std::int32_t chunk, T* work, Entry* outside, Visit const& visit) const {
        constexpr Index ahead = 128;
        Index const end = order_.chunk_ptr[chunk + 1];
        BlockRow const* const source_row = source_rows().data();
        auto const visit_rows = [&](auto size) {
            for (Index p = order_.chunk_ptr[chunk]; p < end; ++p) {
                Entry* const later = outside + Index(source_row[std::min(p + ahead, end - 1)]) * size;
                for (int r = 0; r < R; ++r) __builtin_prefetch(later + r * size_, !std::is_const_v<Entry>);
                for (int k = 0; k < size; ++k)
                    for (int r = 0; r < R; ++r)
                        visit(work[(p * size + k) * R + r],
                              outside[Index(source_row[p]) * size + k + r * size_]);
            }
        };
        if (sizes_.block_size ==
            1) // most of the time for scalars is spent here, so this loop has a fixed size
            visit_rows(std::integral_constant<int, 1>());
        else
            visit_rows(sizes_.block_size);
    }

    /// Returns memory for `columns` vectors.
    T* workspace(Index columns) {
        return reinterpret_cast<T*>(IncompleteStructure::workspace(columns).data());
    }

    Symmetry symmetry_;
    RowStorage<T> lower_, upper_;
    bool has_new_pages_ = true;                     ///< Until the first factorization.
    std::optional<TransposedFactor<T>> transposed_; ///< Made when it is first needed.
};

template <class T>
IncompleteFactor<T>::IncompleteFactor(CscMatrix<T> const& a, IncompleteOptions const& options,
                                      WorkerTeam& team, Interrupt* interrupt)
    : storage_(std::make_unique<Storage>(a, options, team, interrupt)) {}
template <class T> IncompleteFactor<T>::~IncompleteFactor() = default;
template <class T> IncompleteFactor<T>::IncompleteFactor(IncompleteFactor&&) noexcept = default;

template <class T> std::vector<std::uint64_t> IncompleteFactor<T>::node_bytes() const {
    return storage_->node_bytes();
}
template <class T> IncompleteSizes const& IncompleteFactor<T>::sizes() const {
    return storage_->sizes();
}
template <class T> IncompletePivots
IncompleteFactor<T>::factorize(CscMatrix<T> const& a, PivotDemand const& pivots, Interrupt* interrupt) {
    return storage_->factorize(a, pivots, interrupt);
}
template <class T> void IncompleteFactor<T>::solve(T const* b, T* x, Index nrhs, MatrixOp op) const {
    storage_->solve(b, x, nrhs, op);
}
template <class T> std::vector<Index> IncompleteFactor<T>::row_of() const {
    return storage_->row_of();
}
template <class T> void IncompleteFactor<T>::solve_in_order(T* x, TriangularPart part) const {
    storage_->solve_in_order(x, part);
}

#define ESPALIER_INSTANTIATE(T) template class IncompleteFactor<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
