// One solver with one thread for each share of the systems.
#include "espalier/batch.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/hermitian_diagonal.hpp"
#include "core/run_threads.hpp"
#include "core/scalar.hpp"
#include "espalier/espalier.hpp"

namespace espalier {

namespace {

// Whether an error concerns one system of a batch only.
bool is_of_one_system(Status status) {
    return status == Status::singular || status == Status::not_positive_definite;
}

// Rethrows an error that concerns all of the batch, and names the system that caused it.
void require_of_one_system(Error const& error, Index k, int threads) {
    if (is_of_one_system(error.status())) return;
    if (error.status() == Status::out_of_memory && threads > 1)
        throw Error(error.status(),
                    fmt::format("{} (each of {} threads solves its systems alone; with fewer threads a "
                                "batch needs less memory)",
                                error.what(), threads));
    if (error.status() != Status::bad_input) throw;
    throw Error(error.status(), fmt::format("system {} (counted from 0): {}", k, error.what()));
}

template <class T> class Batch {
  public:
    Batch(CscMatrix<T> const& pattern, std::span<T const> values, std::span<T const> b, Index nrhs)
        : pattern_(pattern), values_(values), b_(b), nrhs_(nrhs), size_(checked_size()),
          real_entries_(diagonal_of_hermitian()) {}

    BatchSolution<T> run(Options options) {
        int const threads = threads_ =
            static_cast<int>(std::min<Index>(team_size(options.threads), std::max<Index>(1, size_)));
        std::function<bool()> const cancel = std::exchange(options.cancel, {});
        if (options.max_memory > 0) options.max_memory = share_of_memory(options.max_memory, threads);
        found_.x.assign(b_.size(), T(std::numeric_limits<Real<T>>::quiet_NaN()));
        found_.status.assign(size_, Status::singular);
        found_.backward_error.assign(size_, std::numeric_limits<double>::quiet_NaN());
        options.threads = 1;
        options.bind_threads = false;
        options.progress = nullptr;
        options.log = {};
        run_threads(threads, [&](int thread) {
            Options own = options;
            // The cancel function of the caller is called on the caller's thread only.
            own.cancel = [&, thread] {
                if (thread == 0 && cancel && cancel()) stops_ = true;
                return stops_.load();
            };
            solve_share(size_ * thread / threads, size_ * (thread + 1) / threads, std::move(own));
        });
        return std::move(found_);
    }

  private:
    // The part of the limit for the solver of each thread, besides the results and the matrices of the
    // threads.
    [[nodiscard]] std::uint64_t share_of_memory(std::uint64_t limit, int threads) const {
        auto const sharing = static_cast<std::uint64_t>(threads);
        std::uint64_t const matrix =
            static_cast<std::uint64_t>(pattern_.stored()) * (sizeof(T) + sizeof(Index)) +
            static_cast<std::uint64_t>(pattern_.cols) * sizeof(Offset);
        std::uint64_t const needed = b_.size_bytes() + sharing * matrix;
        if (needed >= limit)
            throw Error(
                Status::out_of_memory,
                fmt::format(
                    "the results of a batch and the matrices of {} threads need {} bytes, but the limit is "
                    "{} bytes",
                    threads, needed, limit));
        return (limit - needed) / sharing;
    }

    [[nodiscard]] Index checked_size() const {
        Index const stored = pattern_.stored(), rows = pattern_.cols * nrhs_;
        if (nrhs_ < 1 || rows == 0 || stored == 0)
            throw Error(Status::usage, "a batch needs a matrix with entries, and right-hand sides");
        auto const size = std::ssize(b_) / rows;
        if (std::ssize(b_) != size * rows || std::ssize(values_) != size * stored)
            throw Error(
                Status::usage,
                fmt::format(
                    "{} right-hand sides of {} entries need {} values, {} for each matrix; there are {} "
                    "entries and {} values",
                    size, rows, size * stored, stored, b_.size(), values_.size()));
        return size;
    }

    // The stored positions of the diagonal if the matrices are Hermitian. The analysis has not yet checked
    // the pattern.
    [[nodiscard]] std::vector<Offset> diagonal_of_hermitian() const {
        std::vector<Offset> found;
        if (pattern_.symmetry != Symmetry::hermitian || std::ssize(pattern_.col_ptr) != pattern_.cols + 1)
            return found;
        Index column = 0;
        for (Offset p = 0; p < std::ssize(pattern_.row_ind); ++p) {
            while (column < pattern_.cols && pattern_.col_ptr[column + 1] <= p) ++column;
            if (pattern_.row_ind[p] == column && p < std::ssize(pattern_.values)) found.push_back(p);
        }
        return found;
    }

    // The values of system k in `matrix`.
    [[nodiscard]] CscMatrix<T> const& system(CscMatrix<T>& matrix, Index k) const {
        std::ranges::copy(values_.subspan(k * pattern_.stored(), pattern_.stored()), matrix.values.begin());
        for (Offset const p : real_entries_)
            if (is_real_up_to_rounding(matrix.values[p])) matrix.values[p] = real_part(matrix.values[p]);
        return matrix;
    }

    void solve_share(Index first, Index end, Options options) {
        if (first == end) return;
        try {
            Solver<T> solver(std::move(options));
            CscMatrix<T> matrix = pattern_;
            if (!analyze_one(solver, matrix)) return;
            for (Index k = first; k < end; ++k) solve_one(solver, system(matrix, k), k);
        } catch (Error const& error) {
            // The error of another thread has stopped this one.
            if (error.status() == Status::cancelled && failed_) return;
            failed_ = stops_ = true;
            throw;
        } catch (...) {
            failed_ = stops_ = true;
            throw;
        }
    }

    // Each thread starts from the same system, so the results do not depend on the division of the batch.
    bool analyze_one(Solver<T>& solver, CscMatrix<T>& matrix) const {
        for (Index k = 0; k < size_; ++k) {
            try {
                solver.analyze(system(matrix, k));
                return true;
            } catch (Error const& error) {
                require_of_one_system(error, k, threads_);
            }
        }
        return false;
    }

    void solve_one(Solver<T>& solver, CscMatrix<T> const& matrix, Index k) {
        Index const rows = matrix.cols * nrhs_;
        auto const right = b_.subspan(k * rows, rows);
        try {
            solver.factorize(matrix);
            std::vector<T> x = solver.solve(right, nrhs_);
            RefineReport const report = solver.refine(matrix, right, x, nrhs_);
            std::ranges::copy(x, found_.x.begin() + k * rows);
            found_.status[k] = report.status;
            found_.backward_error[k] = report.backward_error;
        } catch (Error const& error) {
            require_of_one_system(error, k, threads_);
            found_.status[k] = error.status();
        }
    }

    CscMatrix<T> const& pattern_;
    std::span<T const> values_, b_;
    Index nrhs_, size_;
    std::vector<Offset> real_entries_; // up to rounding
    int threads_ = 1;
    std::atomic<bool> stops_{false};  // cancelled, or failed
    std::atomic<bool> failed_{false}; // with an exception that concerns the batch
    BatchSolution<T> found_;          // each thread writes the systems of its share
};

} // namespace

template <class T> BatchSolution<T> solve_batch(CscMatrix<T> const& pattern, std::span<T const> values,
                                                std::span<T const> b, Index nrhs, Options options) {
    if (!options.schur.empty())
        throw Error(Status::usage,
                    "the option schur must be empty for a batch, which computes complete solutions");
    return Batch<T>(pattern, values, b, nrhs).run(std::move(options));
}

ESPALIER_INSTANTIATE_FUNCTION(solve_batch)

} // namespace espalier
