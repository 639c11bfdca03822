#include "core/names.hpp"

#include <cstddef>

namespace espalier {

namespace {

template <class E> char const* spelled(E value) {
    auto const k = static_cast<std::size_t>(value);
    return k < spellings<E>.size() ? spellings<E>[k] : "unknown";
}

} // namespace

char const* to_string(Scalar value) {
    for (char const* const letter : spellings<Scalar>)
        if (*letter == static_cast<char>(value)) return letter;
    return "unknown";
}

#define ESPALIER_TO_STRING(E)                                                                                \
    char const* to_string(E value) {                                                                         \
        return spelled(value);                                                                               \
    }
ESPALIER_TO_STRING(Status)
ESPALIER_TO_STRING(Symmetry)
ESPALIER_TO_STRING(Factorization)
ESPALIER_TO_STRING(SolveMethod)
ESPALIER_TO_STRING(OrderingMethod)
ESPALIER_TO_STRING(SchedulePolicy)
ESPALIER_TO_STRING(Allocation)
ESPALIER_TO_STRING(Splitting)
ESPALIER_TO_STRING(RefineMethod)
ESPALIER_TO_STRING(Toggle)
ESPALIER_TO_STRING(PushInit)
ESPALIER_TO_STRING(PushStrategy)
ESPALIER_TO_STRING(SelectStrategy)
ESPALIER_TO_STRING(MatrixOp)
#undef ESPALIER_TO_STRING

} // namespace espalier
