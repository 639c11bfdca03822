// A random system and random options. Everything follows from the seed of the case.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "common/kkt.hpp"
#include "common/matrices.hpp"
#include "espalier/espalier.hpp"
#include "refine/dense.hpp"

namespace espalier::fuzz {

using test::Dense;

class Draws {
  public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}
    bool chance(double probability) { return uniform(0, 1) < probability; }
    double uniform(double low, double high) {
        return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
    }
    Index between(Index low, Index high) {
        return low + static_cast<Index>(engine_() % std::uint64_t(high - low + 1));
    }
    template <class V> V one_of(std::initializer_list<V> values) {
        return values.begin()[between(0, std::ssize(values) - 1)];
    }
    unsigned seed() { return static_cast<unsigned>(engine_() >> 33); }

  private:
    std::mt19937_64 engine_;
};

enum class Values { uniform, small_integers, ones, decades };

template <class T> T real_value(double value) {
    return T(static_cast<Real<T>>(value));
}

template <class T> T draw_value(Draws& draws, Values values) {
    auto const part = [&]() -> double {
        switch (values) {
        case Values::uniform:
            return draws.uniform(-1, 1);
        case Values::small_integers:
            return static_cast<double>(draws.between(-3, 3));
        case Values::ones:
            return 1;
        case Values::decades:
            return draws.one_of({-1.0, 1.0}) * std::pow(10, draws.uniform(-5, 0));
        }
        return 0;
    };
    double const re = part();
    if constexpr (is_complex<T>)
        return T(static_cast<Real<T>>(re), static_cast<Real<T>>(values == Values::ones ? 0 : part()));
    else
        return static_cast<T>(re);
}

inline bool is_definite(Factorization kind) {
    return kind == Factorization::llh || kind == Factorization::llt;
}

/// The symmetry of a matrix for `kind`.
template <class T> Symmetry draw_symmetry(Draws& draws, Factorization kind) {
    switch (kind) {
    case Factorization::lu:
        return draws.chance(0.8) ? Symmetry::general : Symmetry::symmetric;
    case Factorization::llh:
    case Factorization::ldlh:
        return is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
    case Factorization::automatic:
        return is_complex<T> && draws.chance(0.4) ? Symmetry::hermitian
                                                  : draws.one_of({Symmetry::general, Symmetry::symmetric});
    default:
        return Symmetry::symmetric;
    }
}

/// Random matrices of one pattern.
template <class T> class RandomMatrix {
  public:
    RandomMatrix(Draws& draws, Factorization kind) : draws_(draws), symmetry_(draw_symmetry<T>(draws, kind)) {
        bool const is_real = !is_complex<T> || symmetry_ == Symmetry::hermitian;
        definite_ = is_definite(kind) ||
                    (kind == Factorization::automatic && symmetry_ != Symmetry::general && draws.chance(0.3));
        a_ = definite_ && (is_real || kind == Factorization::llt) ? definite() : indefinite();
        rescale(draws.chance(0.4));
    }

    [[nodiscard]] CscMatrix<T> const& matrix() const { return a_; }
    [[nodiscard]] std::string const& family() const { return family_; }

    /// Other values in the same pattern.
    void change() {
        double const how = draws_.uniform(0, 1);
        if (how < 0.4 && !definite_) { // new values
            auto const values = draws_.one_of({Values::uniform, Values::small_integers, Values::decades});
            for (Index j = 0; j < a_.cols; ++j)
                for (Offset p : a_.entries_of(j)) {
                    a_.values[p] = draw_value<T>(draws_, values);
                    if (a_.row_ind[p] == j && symmetry_ == Symmetry::hermitian)
                        a_.values[p] = T(real_part(a_.values[p]));
                }
            return;
        }
        if (how < 0.6) return rescale(true);
        if (how < 0.7 && !definite_) return weaken_diagonal();
        for (Index j = 0; j < a_.cols; ++j) // a shift
            for (Offset p : a_.entries_of(j))
                if (a_.row_ind[p] == j)
                    a_.values[p] += real_value<T>(std::exp2(static_cast<double>(draws_.between(-30, 2))));
    }

  private:
    CscMatrix<T> sparse(Dense<T>& dense) {
        Index const n = dense.cols;
        for (Index j = 0; j < n; ++j) {
            if (symmetry_ == Symmetry::hermitian) dense(j, j) = T(real_part(dense(j, j)));
            for (Index i = 0; i < j && symmetry_ != Symmetry::general; ++i)
                dense(i, j) = conj_if(symmetry_ == Symmetry::hermitian, dense(j, i));
        }
        return test::to_sparse(dense, symmetry_);
    }

    // A weakly or strongly dominant diagonal, a graph Laplacian that is singular but for a shift, or B B^H.
    CscMatrix<T> definite() {
        Index const n = order();
        Dense<T> a(n);
        family_ = draws_.one_of({"dominant", "laplacian", "gram"});
        if (family_ == "gram" && is_complex<T> && symmetry_ == Symmetry::symmetric) family_ = "dominant";
        if (family_ == "gram") {
            Dense<T> const b = random_dense(n);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i)
                    for (Index k = 0; k < n; ++k) a(i, j) += b(i, k) * conj(b(j, k));
        } else {
            a = random_dense(n);
            for (Index j = 0; j < n; ++j) a(j, j) = T(0);
            if (family_ == "laplacian")
                for (T& value : a.values) value = value == T(0) ? T(0) : T(-1);
            (void)sparse(a); // symmetric
            for (Index j = 0; j < n; ++j) {
                double sum = 0;
                for (Index i = 0; i < n; ++i)
                    if (i != j) sum += static_cast<double>(std::abs(a(i, j)));
                a(j, j) =
                    real_value<T>(family_ == "laplacian" ? sum : (1 + draws_.uniform(0.01, 1)) * sum + 0.01);
            }
        }
        if (family_ != "dominant" && draws_.chance(0.8)) shift(a);
        return sparse(a);
    }

    CscMatrix<T> indefinite() {
        family_ = draws_.one_of({"random", "random", "kkt", "network", "shifted laplacian", "low rank",
                                 "twin rows", "anti-diagonal", "cycle"});
        Index const n = order();
        if (family_ == "cycle") return growing_cycle(n);
        if (family_ == "kkt" && n >= 8) return kkt_system<T>(symmetry_, n - n / 3, n / 3, draws_.seed());
        if (family_ == "shifted laplacian") {
            auto const c = matrix_of<T>(n, symmetry_, [&](Index i, Index j) {
                return i == j ? T(static_cast<Real<T>>((i > 0) + (i + 1 < n)))
                              : T(static_cast<Real<T>>(std::abs(i - j) == 1 ? -1 : 0));
            });
            Dense<T> a = test::to_dense(c);
            if (draws_.chance(0.8)) shift(a);
            return sparse(a);
        }
        if (family_ == "low rank") { // B S B^H with small integers, exactly; S has zeros or small entries
            Dense<T> b = random_dense(n, Values::small_integers), c = b, a(n);
            if (symmetry_ == Symmetry::general) c = random_dense(n, Values::small_integers);
            for (Index k = 0; k < n; ++k) b(k, k) += T(1), c(k, k) = b(k, k);
            double const small =
                draws_.chance(0.5) ? 0 : std::exp2(-static_cast<double>(draws_.between(1, 40)));
            for (Index k = 0; k < n; ++k) {
                T const s = real_value<T>(k < n - 1 - n / 8 ? draws_.one_of({-1.0, 1.0}) : small);
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < n; ++i)
                        a(i, j) += b(i, k) * s * conj_if(symmetry_ == Symmetry::hermitian, c(j, k));
            }
            return sparse(a);
        }
        Dense<T> a =
            random_dense(n, family_ == "network"
                                ? Values::ones
                                : draws_.one_of({Values::uniform, Values::small_integers, Values::decades}));
        if (family_ == "network")
            for (Index j = 0; j < n; ++j) a(j, j) = T(1);
        if (family_ == "anti-diagonal")
            for (Index j = 0; j < n; ++j) {
                a(j, j) = draws_.chance(0.3) ? a(j, j) * real_value<T>(1e-3) : T(0);
                if (a(n - 1 - j, j) == T(0)) a(n - 1 - j, j) = T(1);
            }
        if (family_ == "twin rows" && n >= 2) { // two rows (and columns) that differ by little or nothing
            (void)sparse(a);
            Index const i = draws_.between(0, n - 1), k = draws_.between(0, n - 1);
            if (i != k) {
                for (Index j = 0; j < n; ++j) a(i, j) = a(k, j);
                if (symmetry_ != Symmetry::general) {
                    for (Index j = 0; j < n; ++j)
                        a(j, i) = conj_if(symmetry_ == Symmetry::hermitian, a(i, j));
                    a(i, i) = a(k, i) = a(i, k) = a(k, k);
                }
                if (draws_.chance(0.7))
                    a(i, i) += real_value<T>(std::exp2(-static_cast<double>(draws_.between(1, 45))));
            }
        }
        return sparse(a);
    }

    // Entries grow by a factor of about 2 in each step of an elimination without interchanges.
    CscMatrix<T> growing_cycle(Index n) {
        Dense<T> a(n);
        bool const has_noise = draws_.chance(0.5);
        for (Index j = 0; j < n; ++j) {
            double const noise = has_noise ? draws_.uniform(0.9, 1.1) : 1;
            a(j, j) += real_value<T>(2 * noise);
            a((j + 1) % n, j) += real_value<T>(4 / noise);
        }
        return sparse(a);
    }

    // Makes some entries of the diagonal smaller, so that the pivots of the last values become poor.
    void weaken_diagonal() {
        double const share = draws_.uniform(0.1, 1);
        auto const scale = real_value<T>(std::exp2(-static_cast<double>(draws_.between(1, 40))));
        for (Index j = 0; j < a_.cols; ++j)
            for (Offset p : a_.entries_of(j))
                if (a_.row_ind[p] == j && draws_.chance(share)) a_.values[p] *= scale;
    }

    Index order() {
        return draws_.chance(0.1) ? draws_.between(1, 4) : draws_.between(5, draws_.chance(0.2) ? 60 : 30);
    }

    Dense<T> random_dense(Index n, Values values = Values::uniform) {
        Dense<T> a(n);
        double const density = draws_.chance(0.15) ? 1 : draws_.uniform(1, 5) / static_cast<double>(n);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i)
                if (draws_.chance(i == j ? 0.8 : density)) a(i, j) = draw_value<T>(draws_, values);
        if (density < 1) // a cycle, so that most are structurally nonsingular
            for (Index j = 0; j < n; ++j)
                if (a((j + 1) % n, j) == T(0)) a((j + 1) % n, j) = draw_value<T>(draws_, values);
        return a;
    }

    void shift(Dense<T>& a) {
        T const value =
            real_value<T>(std::exp2(-static_cast<double>(draws_.between(0, sizeof(Real<T>) == 8 ? 50 : 22))));
        for (Index j = 0; j < a.cols; ++j) a(j, j) += value;
    }

    // D A D, or D A E if the matrix is general, with powers of two: exact but for underflow, which float
    // would have.
    void rescale(bool really) {
        if (!really) return;
        Index const most = draws_.between(1, sizeof(Real<T>) == 8 ? 30 : 8);
        std::vector<Real<T>> row(a_.cols), column(a_.cols);
        for (auto& scale : row)
            scale = static_cast<Real<T>>(std::exp2(static_cast<double>(draws_.between(-most, most))));
        for (auto& scale : column)
            scale = static_cast<Real<T>>(std::exp2(static_cast<double>(draws_.between(-most, most))));
        if (symmetry_ != Symmetry::general) column = row;
        scale_values(a_, [&](Index i, Index j) { return row[i] * column[j]; });
    }

    Draws& draws_;
    Symmetry symmetry_;
    bool definite_ = false;
    std::string family_;
    CscMatrix<T> a_;
};

template <class T> Options draw_options(Draws& draws, Factorization kind) {
    Options o;
    o.factorization = kind;
    o.bind_threads = false;
    o.calibration = Toggle::off;
    o.threads = static_cast<int>(draws.chance(0.7) ? 1 : draws.between(2, 3));
    o.comm_threads = static_cast<int>(draws.between(0, 1));
    o.pivoting = draws.one_of({Pivoting::static_pivots, Pivoting::automatic, Pivoting::delayed});
    if (draws.chance(0.3)) o.pivot_tolerance = draws.one_of({0.5, 0.1, 0.001});
    auto const toggle = [&] {
        return draws.chance(0.6) ? Toggle::automatic : draws.one_of({Toggle::on, Toggle::off});
    };
    o.matching = toggle();
    o.scaling = toggle();
    o.supernodes = toggle();
    o.ordering = draws.one_of({OrderingMethod::automatic, OrderingMethod::scotch, OrderingMethod::metis,
                               OrderingMethod::amd, OrderingMethod::natural, OrderingMethod::dissection});
    o.max_block_width = draws.one_of<Index>({0, 1, 2, 4, 8});
    if (o.max_block_width == 1) {
        o.min_block_width = 1;
        o.amalgamation_fill = 0;
    }
    o.schedule = draws.one_of({SchedulePolicy::static_order, SchedulePolicy::dynamic_tree,
                               SchedulePolicy::places, SchedulePolicy::nas});
    o.splitting = draws.chance(0.7) ? Splitting::one_d : draws.one_of({Splitting::two_d, Splitting::dynamic});
    if (o.pivoting != Pivoting::static_pivots && o.splitting == Splitting::two_d)
        o.splitting = Splitting::dynamic;
    o.split_width = 4;
    o.split_rows = 8;
    o.split_seconds = 0;
    bool const has_cg = is_definite(kind) || kind == Factorization::ldlh;
    o.refine =
        draws.chance(0.5)
            ? RefineMethod::automatic
            : draws.one_of({RefineMethod::ir, RefineMethod::gmres, RefineMethod::bicgstab,
                            has_cg && kind != Factorization::llt ? RefineMethod::cg : RefineMethod::ir});
    o.mixed_precision = draws.chance(0.15);
    o.condition = draws.chance(0.6);
    return o;
}

} // namespace espalier::fuzz
