#include "solver/factor_examiner.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/random.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/convert.hpp"

namespace espalier {

namespace {

// Entries that grow in the elimination come from small pivots, or end as large ones.
bool has_unusual_size(PivotRange const& pivots) {
    return !(pivots.smallest >= 1e-3 && pivots.largest <= 10);
}

} // namespace

template <class T> bool FactorExaminer<T>::is_suspicious(NumericFactor<T> const& factor,
                                                         Index pivots_replaced, double roundoff,
                                                         bool may_grow) const {
    if (pivots_replaced > 0) return true;
    PivotRange const pivots = factor.relative_pivots(working_, largest_suspicious_pivot(roundoff));
    if (pivots.smallest <= largest_suspicious_pivot(roundoff)) return true;
    return may_grow && has_unusual_size(pivots) &&
           !(errors_of_factors<T>(working_, inverse_).backward <= largest_stable_error * roundoff);
}

template <class T>
FactorVerdict<T> FactorExaminer<T>::examine(NumericFactor<T>& factor, Index pivots_replaced, bool may_grow,
                                            std::span<Index const> schur, CscMatrix<T> const& working) const {
    FactorVerdict<T> verdict{pivots_replaced};
    bool const is_whole = context_.on_root([&] { return schur.empty(); });
    auto const measured = [&] {
        return may_grow && is_whole ? errors_of_factors<T>(working_, inverse_) : FactorErrors{};
    };
    if (pivots_replaced == 0) {
        double const enough = largest_suspicious_pivot(static_cast<double>(epsilon<T>));
        PivotRange const pivots = factor.relative_pivots(working_, enough);
        if (has_unusual_size(pivots)) verdict.errors = measured();
        if (pivots.smallest > enough) return verdict;
    } else if (FactorErrors const errors = measured(); !(errors.backward <= useless_error)) {
        verdict.errors = errors;
    }
    verdict.singularity = is_whole
                              ? find_singularity<T>(working_, inverse_, pivots_replaced, context_.interrupt())
                              : singularity_of_interior(factor, schur, working, pivots_replaced);
    return verdict;
}

// condense() and expand() apply A_ii^-1 if the unknowns of the Schur complement are zero.
template <class T> Singularity FactorExaminer<T>::singularity_of_interior(NumericFactor<T>& factor,
                                                                          std::span<Index const> schur,
                                                                          CscMatrix<T> const& working,
                                                                          Index pivots_replaced) const {
    std::vector<Index> const number_in_interior = context_.on_all([&] {
        std::vector<Index> numbers;
        if (!context_.is_root()) return numbers;
        numbers.assign(working.cols, 0);
        for (Index const i : schur) numbers[i] = -1;
        Index next = 0;
        for (Index& number : numbers)
            if (number == 0) number = next++;
        return numbers;
    });
    std::vector<Index> const numbers = vectors_.deal(number_in_interior);
    CscMatrix<T> block = context_.on_all([] { return CscMatrix<T>(); });
    std::vector<Index> interior, own; // owned rows of the interior, and their numbers in it
    context_.on_all([&] {
        for (Index l = 0; l < std::ssize(numbers); ++l) {
            if (numbers[l] < 0) continue;
            interior.push_back(l);
            own.push_back(numbers[l]);
        }
        if (context_.is_root()) block = interior_block(working, schur);
    });
    Index const rows = std::ssize(numbers), interior_rows = std::ssize(interior);
    auto const apply = [&](std::span<T> x, Index columns, MatrixOp op) {
        auto whole = context_.on_all([&] { return std::vector<T>(rows * columns, T(0)); });
        auto const for_each = [&](auto const& visit) {
            for (Index j = 0; j < columns; ++j)
                for (Index k = 0; k < interior_rows; ++k)
                    visit(x[j * interior_rows + k], whole[j * rows + interior[k]]);
        };
        for_each([](T from, T& to) { to = from; });
        factor.condense(whole, columns, op);
        for (Index j = 0; j < columns; ++j)
            for (Index l = 0; l < rows; ++l)
                if (numbers[l] < 0) whole[j * rows + l] = T(0);
        factor.expand(whole, columns, op);
        for_each([](T& to, T from) { to = from; });
    };
    ApplyInverse<T> const inverse = std::cref(apply); // needs no memory
    auto const found_in = [&](DistributedMatrix<T> const& a) {
        return find_singularity<T>(a, inverse, pivots_replaced, context_.interrupt());
    };
    if (context_.is_alone()) return found_in(DistributedMatrix<T>(block));
    DistributedRows const rows_of_interior(context_.comm(), std::move(own));
    return found_in(DistributedMatrix<T>(rows_of_interior, context_.is_root() ? &block : nullptr));
}

// A random vector underestimates an error by more than a factor t with a probability of about 1/t; three
// vectors do so with a probability of about 1/t^3.
template <class T>
double FactorExaminer<T>::schur_error(NumericFactor<T>& factor, std::span<Index const> schur) const {
    constexpr Index columns = 3;
    Index const k = std::ssize(schur), n = working_.order();
    std::vector<T> v, whole_x, whole_b;
    context_.on_all([&] {
        for (Index i = 0; i < columns * k; ++i) { // small entries would hide errors of their columns
            double const entry = SplitMix64::uniform_at(3, i, -1, 1) / 2;
            v.push_back(T(static_cast<Real<T>>(entry < 0 ? entry - 0.5 : entry + 0.5)));
        }
        if (context_.is_root()) whole_x.resize(columns * n, T(0));
        whole_b = whole_x;
    });
    for (Index c = 0; c < columns; ++c) {
        std::span<T const> const part = std::span(v).subspan(c * k, k);
        std::vector<T> const product = factor.schur_product(schur, part);
        if (!context_.is_root()) continue;
        for (Index s = 0; s < k; ++s) {
            whole_x[c * n + schur[s]] = part[s];
            whole_b[c * n + schur[s]] = product[s];
        }
    }
    vectors_.set_callers_rows(context_.is_root() ? n : 0);
    std::vector<T> x = vectors_.solutions(whole_x, columns, MatrixOp::none);
    std::vector<T> const b = vectors_.right_hand_sides(whole_b, columns, MatrixOp::none);
    factor.expand(x, columns);
    return normwise_backward_error<T>(working_, x, b, columns, MatrixOp::none);
}

ESPALIER_INSTANTIATE_CLASS(FactorExaminer)

} // namespace espalier
