// Creates and frees handles of the C interface, and returns messages, the version and the names of statuses.
#include "c/c_handle.hpp"

#include <cstring>
#include <new>

#include "comm/fortran_handle.hpp"

namespace {

#define ESPALIER_QUOTED(number) #number
#define ESPALIER_DOTTED(major, minor, patch)                                                                 \
    ESPALIER_QUOTED(major) "." ESPALIER_QUOTED(minor) "." ESPALIER_QUOTED(patch)
constexpr std::string_view version =
    ESPALIER_DOTTED(ESPALIER_VERSION_MAJOR, ESPALIER_VERSION_MINOR, ESPALIER_VERSION_PATCH);
static_assert(version == ESPALIER_VERSION_TEXT, "espalier.h and the build disagree about the version");

// The enumerations of the C interface have the values of those of the library.
static_assert(ESPALIER_CANCELLED == static_cast<int>(espalier::Status::cancelled));
static_assert(ESPALIER_HERMITIAN == static_cast<int>(espalier::Symmetry::hermitian));
static_assert(ESPALIER_LU == static_cast<int>(espalier::Factorization::lu));
static_assert(ESPALIER_METHOD_AUTO == static_cast<int>(espalier::SolveMethod::automatic));
static_assert(ESPALIER_PIVOTING_AUTO == static_cast<int>(espalier::Pivoting::automatic));
static_assert(ESPALIER_RUNTIME_OPENMP == static_cast<int>(espalier::TaskRuntime::openmp));
static_assert(ESPALIER_ORDERING_DISSECTION == static_cast<int>(espalier::OrderingMethod::dissection));
static_assert(ESPALIER_SCHEDULE_AUTO == static_cast<int>(espalier::SchedulePolicy::automatic));
static_assert(ESPALIER_ALLOC_INTERLEAVE == static_cast<int>(espalier::Allocation::interleave));
static_assert(ESPALIER_SPLIT_DYNAMIC == static_cast<int>(espalier::Splitting::dynamic));
static_assert(ESPALIER_REFINE_BICGSTAB == static_cast<int>(espalier::RefineMethod::bicgstab));
static_assert(ESPALIER_OFF == static_cast<int>(espalier::Toggle::off));
static_assert(ESPALIER_OP_ADJOINT == static_cast<int>(espalier::MatrixOp::adjoint));

} // namespace

espalier_status espalier_solver::fail(espalier::Status status, std::string_view text) noexcept {
    std::string_view const cut = text.size() < sizeof message ? "" : "...";
    std::size_t const kept = std::min(text.size(), sizeof message - 1 - cut.size());
    std::memcpy(message, text.data(), kept);
    std::memcpy(message + kept, cut.data(), cut.size());
    message[kept + cut.size()] = '\0';
    return static_cast<espalier_status>(status);
}

void espalier_version(int* major, int* minor, int* patch) {
    if (major) *major = ESPALIER_VERSION_MAJOR;
    if (minor) *minor = ESPALIER_VERSION_MINOR;
    if (patch) *patch = ESPALIER_VERSION_PATCH;
}

char const* espalier_version_string(void) {
    return version.data();
}

char const* espalier_status_string(espalier_status status) {
    return espalier::to_string(static_cast<espalier::Status>(status));
}

char const* espalier_message(espalier_solver const* solver) {
    if (!solver) return "the solver is null";
    if (solver->mark != espalier_solver::living) return "this is not a solver";
    if (solver->busy.load(std::memory_order_acquire)) return "the solver is busy with another call";
    return solver->message;
}

// The number may not fit a char.
static espalier::Scalar scalar_of(espalier_scalar scalar) {
    return static_cast<espalier::Scalar>(scalar == static_cast<char>(scalar) ? scalar : 0);
}

// Creates a handle with the session that `make` returns.
template <class Make> static espalier_status create(espalier_solver** solver, Make const& make) {
    if (!solver) return ESPALIER_USAGE;
    *solver = nullptr;
    std::unique_ptr<espalier_solver> made(new (std::nothrow) espalier_solver);
    if (!made) return ESPALIER_OUT_OF_MEMORY;
    espalier_status const status =
        espalier::guarded(made.get(), [&](espalier_solver& self) { self.session = make(); });
    if (status == ESPALIER_OK) *solver = made.release();
    return status;
}

espalier_status espalier_create(espalier_solver** solver, espalier_scalar scalar) {
    return create(solver, [&] { return espalier::make_session(scalar_of(scalar)); });
}

espalier_status espalier_create_mpi(espalier_solver** solver, espalier_scalar scalar, void const* mpi_comm) {
    return create(solver, [&] {
        return espalier::make_session(scalar_of(scalar), espalier::Communicator::from_mpi(mpi_comm));
    });
}

espalier_status espalier_create_mpi_fortran(espalier_solver** solver, espalier_scalar scalar, int mpi_comm) {
    return create(solver, [&] {
        return espalier::make_session(scalar_of(scalar), espalier::communicator_of_fortran(mpi_comm));
    });
}

// Without a handle, a message cannot be stored.
template <class Find> static espalier_status follow(espalier_scalar scalar, Find const& find) {
    espalier_solver unused;
    return espalier::guarded(&unused,
                             [&](espalier_solver&) { espalier::follow_session(scalar_of(scalar), find()); });
}

espalier_status espalier_follow_mpi(espalier_scalar scalar, void const* mpi_comm) {
    return follow(scalar, [&] { return espalier::Communicator::from_mpi(mpi_comm); });
}

espalier_status espalier_follow_mpi_fortran(espalier_scalar scalar, int mpi_comm) {
    return follow(scalar, [&] { return espalier::communicator_of_fortran(mpi_comm); });
}

espalier_status espalier_get_processes(espalier_solver* solver, int* rank, int* processes) {
    return espalier::guarded_reading(solver, [&](espalier_solver& self) {
        if (rank) *rank = self.session->comm().rank();
        if (processes) *processes = self.session->comm().size();
    });
}

void espalier_destroy(espalier_solver** solver) {
    if (!solver || !*solver || (*solver)->mark != espalier_solver::living) return;
    if ((*solver)->busy.load(std::memory_order_acquire))
        return; // called by a callback; the call that runs it still needs the handle
    delete *solver;
    *solver = nullptr;
}

espalier_status espalier_get_scalar(espalier_solver* solver, espalier_scalar* scalar) {
    return espalier::guarded(solver, [&](espalier_solver& self) {
        espalier::require_pointer(scalar, "scalar");
        *scalar = static_cast<espalier_scalar>(self.session->scalar());
    });
}
