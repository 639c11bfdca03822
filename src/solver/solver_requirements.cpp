// A call of espalier::Solver checks its requirements here, for example that the matrix is factorized. Each
// requirement has its own error.
#include <fmt/format.h>

#include "core/counted.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

namespace {

template <class... Parts>
void demand(bool holds, Status status, fmt::format_string<Parts...> message, Parts&&... parts) {
    if (!holds) throw Error(status, fmt::format(message, std::forward<Parts>(parts)...));
}

} // namespace

template <class T> void Solver<T>::State::require(char const* what, std::initializer_list<Need> needs) const {
    bool const may_have_delayed = supernodal_ && supernodal_->may_have_delayed();
    for (Need const need : needs) switch (need) {
        case Need::factors:
            demand(
                factorized_, Status::usage,
                "{} was called before factorize, or after a failed call or a change of threads or topology",
                what);
            break;
        case Need::all_eliminated:
            require(what, {Need::factors});
            demand(system_->kept == 0, Status::usage,
                   "{} needs all unknowns eliminated, but the option schur keeps {} of them; use condense "
                   "and expand",
                   what, system_->kept);
            break;
        case Need::schur:
            require(what, {Need::factors});
            demand(system_->kept > 0, Status::usage,
                   "{} needs a Schur complement, but the option schur is empty", what);
            break;
        case Need::complete:
            demand(!system_ || !system_->is_incomplete, Status::usage,
                   "{} needs complete factors, but the method is ilu; use method direct", what);
            break;
        case Need::supernodes:
            demand(!system_ || !system_->is_simplicial, Status::usage,
                   "{} needs a factorization with supernodes; set supernodes to on", what);
            break;
        case Need::own_factors:
            require(what, {Need::all_eliminated, Need::complete});
            demand(context_.is_alone(), Status::unsupported, "{} needs a single process", what);
            demand(!factor_.is_narrow(), Status::unsupported,
                   "{} needs factors in full precision; set mixed_precision to false", what);
            break;
        case Need::known_pivots: {
            // The signs and sizes of replaced pivots are lost. If the matrix is singular, they are zeros.
            Index const replaced = report.factor.pivots_replaced;
            demand(replaced == 0 ||
                       (may_have_delayed && refiner_->verdict().singularity.lacks_unique_solutions),
                   Status::inaccurate, "{} is not known, because {} replaced{}", what,
                   counted(replaced, "pivot was", "pivots were"),
                   may_have_delayed ? ", and it is not certain that the matrix is singular; factorize with "
                                      "matching and scaling on"
                   : system_->is_simplicial ? "; set supernodes to on"
                                            : "; factorize with pivoting delayed or auto");
            require(what, {Need::no_growth});
            break;
        }
        case Need::no_growth: {
            // An error of 1e-5 changes a determinant by about 1e-3 if 100 columns are perturbed. With delayed
            // columns no better factors are available, so an error of 0.1 is accepted, at which the signs of
            // the pivots are still right.
            double const most = may_have_delayed ? 0.1 : 1e-5;
            double const error = refiner_->verdict().errors.forward;
            demand(!refiner_->verdict().has_growth() || error <= most, Status::inaccurate,
                   "{} is not known, because solutions with these factors have an error of {:.1e}; factorize "
                   "with pivoting delayed or auto, or with matching on",
                   what, error);
            break;
        }
        }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Solver<T>::State::require(char const*, std::initializer_list<Need>) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
