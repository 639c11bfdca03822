#include "factor/low_rank_update.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "matrix/norms.hpp"

namespace espalier {

namespace {

// The cblks that change, and the rows of W in them. The rows of path[i] start at row place[path[i]].
template <class T> struct Path {
    std::vector<CblkId> cblks;
    std::vector<Index> place; // by cblk; -1 if the cblk is not on the path
    std::vector<T> w;
    Index rows = 0;
    Index rank = 0;

    [[nodiscard]] T* at(BlockStructure const& structure, CblkId k, Index row, Index column) {
        return w.data() + column * rows + place[k] + row - structure.cblk(k).first_col;
    }
};

struct ChangedEntry {
    Index row = 0; // a row of the structure
    Offset position = 0;
};

// The nonzeros of a column of W, sorted by rows of the structure.
template <class T>
std::vector<ChangedEntry> entries_of(BlockStructure const& structure, CscMatrix<T> const& w, Index column) {
    std::vector<ChangedEntry> entries;
    for (Offset const p : w.entries_of(column))
        if (w.values[p] != T(0)) entries.push_back({structure.perm[w.row_ind[p]], p});
    std::ranges::sort(entries, {}, &ChangedEntry::row);
    return entries;
}

// Whether all these rows, of which the first is a column of cblk k, are in its panel.
bool are_in_panel(BlockStructure const& structure, CblkId k, std::vector<ChangedEntry> const& entries) {
    auto blok = structure.bloks_of(structure.cblk(k)).begin();
    auto const end = structure.bloks_of(structure.cblk(k)).end();
    for (ChangedEntry const& entry : entries) {
        while (blok != end && blok->end_row <= entry.row) ++blok;
        if (blok == end || blok->first_row > entry.row) return false;
    }
    return true;
}

// The path of all columns of W with their entries; empty if some entries are outside of the structure.
template <class T> std::optional<Path<T>> find_path(BlockStructure const& structure, CscMatrix<T> const& w) {
    Path<T> path;
    path.rank = w.cols;
    path.place.assign(structure.cblks.size(), -1);
    std::vector<std::vector<ChangedEntry>> columns;
    for (Index j = 0; j < w.cols; ++j) {
        auto const& entries = columns.emplace_back(entries_of(structure, w, j));
        if (entries.empty()) continue;
        CblkId k = structure.cblk_of_col[entries.front().row];
        if (!are_in_panel(structure, k, entries)) return std::nullopt;
        for (; k != no_cblk && path.place[k] < 0; k = structure.cblk(k).parent) {
            path.place[k] = 0;
            path.cblks.push_back(k);
        }
    }
    std::ranges::sort(path.cblks);
    for (CblkId const k : path.cblks)
        path.place[k] = std::exchange(path.rows, path.rows + structure.cblk(k).width());
    path.w.assign(path.rows * path.rank, T(0));
    for (Index j = 0; j < w.cols; ++j)
        for (ChangedEntry const& entry : columns[j])
            *path.at(structure, structure.cblk_of_col[entry.row], entry.row, j) = w.values[entry.position];
    return path;
}

// One run along a path, which stores new factors or only checks whether they exist.
template <class T> class LowRankRun {
  public:
    LowRankRun(Factor<T>& factor, Path<T> path, int sign, double largest, WorkerTeam& team,
               Interrupt* interrupt, bool stores)
        : factor_(factor), structure_(factor.structure()), path_(std::move(path)),
          has_d_(factor.form().has_d()), conjugate_(factor.form().conjugate()), stores_(stores),
          alpha_(path_.rank, T(static_cast<Real<T>>(sign))),
          largest_growth_(largest / std::sqrt(std::sqrt(static_cast<double>(epsilon<T>)))), team_(team),
          interrupt_(interrupt) {
        steps_.rank = path_.rank;
    }

    // Returns false if the pivots are poor.
    bool run() {
        for (CblkId const k : path_.cblks) {
            check(interrupt_);
            gather(k);
            if (!change_diagonal(k)) return false;
            change_below(k);
            if (has_d_ && grows(k)) return false;
            scatter(k);
        }
        return true;
    }

  private:
    [[nodiscard]] MatrixView<T> rows_of_w(Index first, Index count) {
        return MatrixView<T>{panel_.data(), panel_rows_, path_.rank, panel_rows_}.block(first, 0, count,
                                                                                        path_.rank);
    }

    // Collects the rows of W for cblk k, with its own rows in the order of its pivots.
    void gather(CblkId k) {
        Cblk const& c = factor_.cblk(k);
        panel_rows_ = c.stride;
        panel_.resize(panel_rows_ * path_.rank);
        steps_.resize(c.width());
        for (Index t = 0; t < path_.rank; ++t) {
            T* to = panel_.data() + t * panel_rows_;
            T const* const own = path_.at(structure_, k, c.first_col, t);
            for (Index i = 0; i < c.width(); ++i) *to++ = own[has_d_ ? factor_.perm(k)[i] : i];
            for (Blok const& blok : structure_.bloks_below(c))
                to =
                    std::copy_n(path_.at(structure_, blok.facing_cblk, blok.first_row, t), blok.height(), to);
        }
    }

    void scatter(CblkId k) {
        Cblk const& c = factor_.cblk(k);
        for (Index t = 0; t < path_.rank; ++t) {
            T const* from = panel_.data() + t * panel_rows_ + c.width();
            for (Blok const& blok : structure_.bloks_below(c)) {
                std::copy_n(from, blok.height(), path_.at(structure_, blok.facing_cblk, blok.first_row, t));
                from += blok.height();
            }
        }
    }

    bool change_diagonal(CblkId k) {
        MatrixView<T> const diagonal = factor_.diagonal(k);
        for (Index j = 0, next = 0; j < diagonal.cols; j = next) {
            bool const is_pair = has_d_ && std::as_const(factor_).off_diagonal(k)[j] != T(0);
            next = j + (is_pair ? 2 : 1);
            if (!(is_pair ? change_pair(k, j) : change_pivot(k, j))) return false;
            Index const rest = diagonal.cols - next;
            apply_low_rank<T>(steps_, j, next, diagonal.block(next, j, rest, next - j), rows_of_w(next, rest),
                              stores_);
        }
        return true;
    }

    // Computes the coefficients of column j, which has a 1x1 pivot. D has the squares of the diagonal of llh.
    bool change_pivot(CblkId k, Index j) {
        T& stored = factor_.diagonal(k)(j, j);
        T const old = conjugate_ || !has_d_ ? T(real_part(stored)) : stored;
        T d = has_d_ ? old : old * old;
        for (Index t = 0; t < path_.rank; ++t) {
            T const z = panel_[j + t * panel_rows_], z_op = conj_if(conjugate_, z);
            T const changed = d + alpha_[t] * z * z_op;
            if (!has_d_ && !(real_part(changed) > 0 && is_finite(changed))) reject(k, j);
            if (has_d_ && !(std::abs(changed) > factor_.pivot_threshold() && is_finite(changed)))
                return false;
            steps_.z[j * path_.rank + t] = z;
            steps_.y[j * path_.rank + t] = alpha_[t] * z_op / changed;
            alpha_[t] *= d / changed;
            d = changed;
        }
        if (!has_d_) {
            steps_.before[j] = 1 / real_part(old);
            steps_.after[j] = std::sqrt(real_part(d));
            d = T(steps_.after[j]);
        }
        if (stores_) stored = d;
        return true;
    }

    // Computes the coefficients of columns j and j + 1, which have the pivot [a b^op; b c].
    bool change_pair(CblkId k, Index j) {
        T& stored_a = factor_.diagonal(k)(j, j);
        T& stored_c = factor_.diagonal(k)(j + 1, j + 1);
        T& stored_b = factor_.off_diagonal(k)[j];
        auto const op = [&](T value) { return conj_if(conjugate_, value); };
        auto const real_if_hermitian = [&](T value) { return conjugate_ ? T(real_part(value)) : value; };
        T a = real_if_hermitian(stored_a), b = stored_b, c = real_if_hermitian(stored_c);
        T determinant = a * c - b * op(b);
        Index const rank = path_.rank;
        for (Index t = 0; t < rank; ++t) {
            T const z0 = panel_[j + t * panel_rows_], z1 = panel_[j + 1 + t * panel_rows_], alpha = alpha_[t];
            a += alpha * z0 * op(z0);
            b += alpha * z1 * op(z0);
            c += alpha * z1 * op(z1);
            T const changed = a * c - b * op(b);
            Real<T> const size = std::max({std::abs(a), std::abs(b), std::abs(c)});
            if (!(std::abs(changed) > size * factor_.pivot_threshold() && is_finite(changed))) return false;
            steps_.z[j * rank + t] = z0;
            steps_.z[(j + 1) * rank + t] = z1;
            steps_.y[j * rank + t] = alpha * (op(z0) * c - op(z1) * b) / changed;
            steps_.y[(j + 1) * rank + t] = alpha * (op(z1) * a - op(z0) * op(b)) / changed;
            alpha_[t] *= determinant / changed;
            determinant = changed;
        }
        steps_.starts_pair[j] = true;
        if (!stores_) return true;
        // A zero would turn the pair into two 1x1 pivots.
        if (b == T(0)) b = T(std::numeric_limits<Real<T>>::min());
        stored_a = a;
        stored_b = b;
        stored_c = c;
        return true;
    }

    // The workers share wide panels.
    void change_below(CblkId k) {
        MatrixView<T> const below = factor_.below(k);
        Index const width = below.cols;
        auto const change_rows = [&](Index first, Index end) {
            apply_low_rank<T>(steps_, 0, width, below.block(first, 0, end - first, width),
                              rows_of_w(width + first, end - first), stores_);
        };
        constexpr Index worth_sharing = 1 << 19;
        Index const workers = below.rows * width * path_.rank >= worth_sharing ? team_.size() : 1;
        if (workers == 1) return change_rows(0, below.rows);
        team_.for_each_worker([&](WorkerId worker) {
            change_rows(below.rows * worker / workers, below.rows * (worker + 1) / workers);
        });
    }

    // The changes alpha w w^H of the remaining matrix must not be much larger than the matrix itself.
    bool grows(CblkId k) {
        Index const width = factor_.cblk(k).width();
        for (Index t = 0; t < path_.rank; ++t) {
            std::span<T const> const rest(panel_.data() + t * panel_rows_ + width, panel_rows_ - width);
            double const size = infinity_norm(rest);
            if (!(size * size * modulus(alpha_[t]) <= largest_growth_)) return true;
        }
        return false;
    }

    [[noreturn]] void reject(CblkId k, Index j) const {
        throw Error(
            Status::not_positive_definite,
            fmt::format(
                "the changed matrix is not positive definite: {} meets a pivot that is not positive at "
                "row and column {} of the matrix (counted from 1)",
                to_string(factor_.form().kind), structure_.unknown_of(factor_.cblk(k).first_col + j) + 1));
    }

    Factor<T>& factor_;
    BlockStructure const& structure_;
    Path<T> path_;
    bool has_d_;
    bool conjugate_;
    bool stores_;
    std::vector<T> alpha_; // by column of W
    double largest_growth_;
    WorkerTeam& team_;
    Interrupt* interrupt_;
    LowRankSteps<T> steps_;
    std::vector<T> panel_; // the rows of W of one cblk
    Index panel_rows_ = 0;
};

} // namespace

template <class T> bool can_update_low_rank(Factor<T> const& factor) {
    FactorForm const form = factor.form();
    bool const is_symmetric_llt = form.kind == Factorization::llt && is_complex<T>;
    return !(form.has_upper() || is_symmetric_llt || factor.structure().is_part() || factor.has_delayed());
}

template <class T> LowRankResult update_low_rank(Factor<T>& factor, CscMatrix<T> const& w, int sign,
                                                 double largest, WorkerTeam& team, Interrupt* interrupt) {
    std::optional<Path<T>> path = find_path(factor.structure(), w);
    if (!path) return LowRankResult::outside_structure;
    auto const run = [&](Path<T> with, bool stores) {
        return LowRankRun<T>(factor, std::move(with), sign, largest, team, interrupt, stores).run();
    };
    double const size = max_abs(w);
    bool const overflows = size > 0.01 * std::sqrt(static_cast<double>(std::numeric_limits<Real<T>>::max()));
    bool const can_fail = sign < 0 || factor.form().has_d() || overflows;
    if (can_fail && !run(*path, false)) return LowRankResult::poor_pivots;
    run(std::move(*path), true);
    return LowRankResult::changed;
}

ESPALIER_INSTANTIATE_FUNCTION(can_update_low_rank)
ESPALIER_INSTANTIATE_FUNCTION(update_low_rank)

} // namespace espalier
