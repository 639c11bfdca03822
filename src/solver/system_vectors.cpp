#include "solver/system_vectors.hpp"

namespace espalier {

template <class T> void SystemVectors<T>::set_system(ScaledSystem<T> const& system) {
    if (context_.on_root([&] { return is_current_; })) return;
    permuted_ = context_.on_root([&] { return system.is_permuted(); });
    callers_rows_ = -1;
    if (is_in_place() && !system.is_scaled())
        scaling_ = {};
    else
        scaling_ = deal_scaling<T>(rows_, context_.is_root() ? &system : nullptr);
    is_current_ = true;
}

template <class T> void SystemVectors<T>::set_callers_rows(Index given) {
    if (is_in_place() || max(context_.comm(), std::int64_t{given != callers_rows_}) == 0) return;
    callers_rows_ = -1;
    row_exchange_.emplace(rows_, scaling_.callers_row, given);
    if (permuted_) column_exchange_.emplace(rows_, scaling_.callers_column, given);
    callers_rows_ = given;
}

template <class T> std::vector<Index> SystemVectors<T>::deal(std::vector<Index> const& of_row) {
    set_callers_rows(std::ssize(of_row));
    return to_owners<Index>(false, of_row, 1);
}

ESPALIER_INSTANTIATE_CLASS(SystemVectors)

} // namespace espalier
