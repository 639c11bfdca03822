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

char const* to_string(Status value) {
    return spelled(value);
}
char const* to_string(Symmetry value) {
    return spelled(value);
}
char const* to_string(Factorization value) {
    return spelled(value);
}
char const* to_string(OrderingMethod value) {
    return spelled(value);
}
char const* to_string(SchedulePolicy value) {
    return spelled(value);
}
char const* to_string(Allocation value) {
    return spelled(value);
}
char const* to_string(Splitting value) {
    return spelled(value);
}
char const* to_string(RefineMethod value) {
    return spelled(value);
}
char const* to_string(Toggle value) {
    return spelled(value);
}
char const* to_string(PushInit value) {
    return spelled(value);
}
char const* to_string(PushStrategy value) {
    return spelled(value);
}
char const* to_string(SelectStrategy value) {
    return spelled(value);
}
char const* to_string(MatrixOp value) {
    return spelled(value);
}

} // namespace espalier
