// What the leader of an ensemble tells the others to do, in one broadcast.
#pragma once

#include <cstdint>

#include "solver/ensemble.hpp"

namespace espalier {

enum class OrderKind : std::int32_t {
    plan,
    assembly,
    factorize,
    sweep,
    pivots,
    restart_recording,
    trace,
    end
};

template <class T> struct Ensemble<T>::Order {
    OrderKind kind = OrderKind::end;
    bool is_narrow = false; ///< factorize, sweep, pivots: of the factors in Low.
    bool failed = false;    ///< end.
    FactorForm form{};
    Allocation allocation = Allocation::local;
    double pivot_threshold = 0;
    SweepPart part = SweepPart::whole;
    MatrixOp op = MatrixOp::none;
    Index columns = 0;
    Status status = Status::ok;
    std::uint64_t bytes = 0; ///< end: of what follows.
};

} // namespace espalier
