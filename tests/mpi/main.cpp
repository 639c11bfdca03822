// The test program of real processes. Every rank runs all tests. Rank 0 reports all of them, the others only
// failures. MPI is initialized and finalized here, as in a program of a user:
//
//     mpirun -n 3 test_mpi [--thread-level=funneled|serialized|multiple]

#include <cstdio>
#include <optional>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "espalier/mpi.hpp"
#include "espalier/types.hpp"

namespace {

class FailuresOnly : public testing::EmptyTestEventListener {
  public:
    explicit FailuresOnly(int rank) : rank_(rank) {}
    void OnTestPartResult(testing::TestPartResult const& result) override {
        if (!result.failed()) return;
        std::fprintf(stderr, "process %d: %s:%d: %s\n", rank_, result.file_name() ? result.file_name() : "?",
                     result.line_number(), result.message());
    }

  private:
    int rank_;
};

// There is no communication before MPI is initialized and after it is finalized.
bool is_refused_as_misuse() {
    bool const is_refused =
        espalier::status_of([] { espalier::communicator(MPI_COMM_WORLD); }) == espalier::Status::usage;
    if (!is_refused) std::fprintf(stderr, "a communicator was taken while MPI does not run\n");
    return is_refused;
}

int level_of(std::string const& argument) {
    if (argument == "--thread-level=funneled") return MPI_THREAD_FUNNELED;
    if (argument == "--thread-level=serialized") return MPI_THREAD_SERIALIZED;
    return MPI_THREAD_MULTIPLE;
}

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    bool right = is_refused_as_misuse();
    int given = 0;
    int rank = 0;
    MPI_Init_thread(&argc, &argv, level_of(argc > 1 ? argv[1] : ""), &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) {
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new FailuresOnly(rank));
    }
    std::optional<espalier::Communicator> outlives(espalier::communicator(MPI_COMM_WORLD));
    int const code = RUN_ALL_TESTS();
    MPI_Finalize();
    outlives.reset();
    right = is_refused_as_misuse() && right;
    return right ? code : 1;
}
