// The spellings of the enumerations in espalier/types.hpp.
#include "espalier/types.hpp"

namespace espalier {

char const* to_string(Status status) {
    switch (status) {
    case Status::ok:
        return "ok";
    case Status::internal:
        return "internal";
    case Status::usage:
        return "usage";
    case Status::bad_input:
        return "bad_input";
    case Status::io_error:
        return "io_error";
    case Status::singular:
        return "singular";
    case Status::not_positive_definite:
        return "not_positive_definite";
    case Status::inaccurate:
        return "inaccurate";
    case Status::out_of_memory:
        return "out_of_memory";
    case Status::unsupported:
        return "unsupported";
    case Status::cancelled:
        return "cancelled";
    }
    return "unknown";
}

char const* to_string(Scalar value) {
    switch (value) {
    case Scalar::s:
        return "s";
    case Scalar::d:
        return "d";
    case Scalar::c:
        return "c";
    case Scalar::z:
        return "z";
    }
    return "unknown";
}

char const* to_string(Symmetry value) {
    switch (value) {
    case Symmetry::general:
        return "general";
    case Symmetry::symmetric:
        return "symmetric";
    case Symmetry::hermitian:
        return "hermitian";
    }
    return "unknown";
}

char const* to_string(Factorization value) {
    switch (value) {
    case Factorization::automatic:
        return "auto";
    case Factorization::llh:
        return "llh";
    case Factorization::llt:
        return "llt";
    case Factorization::ldlt:
        return "ldlt";
    case Factorization::ldlh:
        return "ldlh";
    case Factorization::lu:
        return "lu";
    }
    return "unknown";
}

char const* to_string(OrderingMethod value) {
    switch (value) {
    case OrderingMethod::scotch:
        return "scotch";
    case OrderingMethod::metis:
        return "metis";
    case OrderingMethod::amd:
        return "amd";
    case OrderingMethod::natural:
        return "natural";
    case OrderingMethod::user:
        return "user";
    }
    return "unknown";
}

char const* to_string(SchedulePolicy value) {
    switch (value) {
    case SchedulePolicy::static_order:
        return "static";
    case SchedulePolicy::dynamic_tree:
        return "dynamic";
    case SchedulePolicy::places:
        return "places";
    case SchedulePolicy::nas:
        return "nas";
    }
    return "unknown";
}

char const* to_string(Allocation value) {
    switch (value) {
    case Allocation::global:
        return "global";
    case Allocation::local:
        return "local";
    case Allocation::interleave:
        return "interleave";
    }
    return "unknown";
}

char const* to_string(Splitting value) {
    return value == Splitting::one_d ? "1d" : "2d";
}

char const* to_string(RefineMethod value) {
    switch (value) {
    case RefineMethod::automatic:
        return "auto";
    case RefineMethod::none:
        return "none";
    case RefineMethod::ir:
        return "ir";
    case RefineMethod::cg:
        return "cg";
    case RefineMethod::gmres:
        return "gmres";
    case RefineMethod::bicgstab:
        return "bicgstab";
    }
    return "unknown";
}

char const* to_string(Toggle value) {
    switch (value) {
    case Toggle::automatic:
        return "auto";
    case Toggle::on:
        return "on";
    case Toggle::off:
        return "off";
    }
    return "unknown";
}

char const* to_string(PushInit value) {
    switch (value) {
    case PushInit::cyclicnuma:
        return "cyclicnuma";
    case PushInit::randnuma:
        return "randnuma";
    }
    return "unknown";
}

char const* to_string(PushStrategy value) {
    switch (value) {
    case PushStrategy::loc:
        return "pLoc";
    case PushStrategy::loc_num:
        return "pLocNum";
    case PushStrategy::numa_w:
        return "pNumaW";
    case PushStrategy::numa_wloc:
        return "pNumaWLoc";
    }
    return "unknown";
}

char const* to_string(SelectStrategy value) {
    switch (value) {
    case SelectStrategy::rand:
        return "sRand";
    case SelectStrategy::rand_numa:
        return "sRandNuma";
    case SelectStrategy::proc:
        return "sProc";
    case SelectStrategy::numa:
        return "sNuma";
    case SelectStrategy::proc_numa:
        return "sProcNuma";
    case SelectStrategy::numa_proc:
        return "sNumaProc";
    }
    return "unknown";
}

char const* to_string(MatrixOp value) {
    switch (value) {
    case MatrixOp::none:
        return "none";
    case MatrixOp::transpose:
        return "transpose";
    case MatrixOp::adjoint:
        return "adjoint";
    }
    return "unknown";
}

} // namespace espalier
