// The solvers behind the MA57 interface. MA57 keeps everything in arrays of its caller and has no call that
// frees a solver, so it is not known when a solver is no longer needed. Therefore the arrays of the caller
// contain the system itself, and a limited number of solvers is kept, those used last. A solver that was
// dropped is made again from the system when it is needed.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include <espalier/espalier.h>

namespace ma57 {

/// A symmetric system as the caller's arrays describe it: entries of either triangle, indices from 1. Entries
/// with an index out of range are ignored.
struct System {
    int n = 0;
    int entries = 0;
    int const* rows = nullptr;
    int const* columns = nullptr;
    double const* values = nullptr;
    /// Position of each unknown in the order of the pivots, from 1; may be null.
    int const* positions = nullptr;
    int ordering = 5; ///< ICNTL(6).
};

/// Result of a factorization.
struct Factors {
    espalier_status status = ESPALIER_OK; ///< Status of the last step.
    std::string message;                  ///< For another status than ESPALIER_OK.
    std::int64_t negative = 0;            ///< Negative pivots.
    std::int64_t rank = 0;                ///< Pivots that are not zero.
    std::int64_t stored = 0;              ///< Entries of the factor.
    double operations = 0;                ///< Floating-point operations.
};

/// One solver with its factors, for one thread at a time.
class Solver {
  public:
    explicit Solver(std::int64_t analysis) : analysis_(analysis) {}
    Solver(Solver&& other) noexcept;
    Solver& operator=(Solver&&) = delete;
    ~Solver();

    [[nodiscard]] std::int64_t analysis() const { return analysis_; }

    /// Factorizes the system with this number. The pattern is analyzed by the first call, and again by calls
    /// with a larger CNTL(1): callers increase it if solutions were not accurate enough.
    Factors const& factorize(System const& system, std::int64_t number, double tolerance);
    /// Solves in place, from factors of the system with this number, which are computed if they are not
    /// there. The solution is refined; one that stays inaccurate is stored all the same, because the caller
    /// checks it.
    Factors const& solve(System const& system, std::int64_t number, int columns, double* x, int leading);

  private:
    bool succeeded(espalier_status status);
    void create(System const& system);
    bool pass(System const& system, bool pattern);
    bool analyze();
    void read_results();
    bool finds_inertia(System const& system);
    bool solves_random_system(System const& system);

    std::int64_t analysis_;   // number of the pattern
    std::int64_t number_ = 0; // number of the factorized system; 0: none
    espalier_solver* solver_ = nullptr;
    double tolerance_ = 0;    // CNTL(1) of the last call
    std::int64_t stored_ = 0; // entries of the factor and operations, by the analysis
    double operations_ = 0;
    bool careful_ = false; // small pivots are accepted, and the factors are checked
    Factors factors_;
};

/// The solvers that are not in use at the moment.
class Solvers {
  public:
    static Solvers& all();
    /// The solver for this pattern, or a new one. The caller has it alone.
    Solver take(std::int64_t analysis);
    /// Keeps a solver for later calls. Drops the one that was not used for the longest time if there are too
    /// many.
    void put(Solver solver);
    /// A number that no other call returned.
    std::int64_t next_number();

  private:
    std::mutex mutex_;
    std::list<Solver> kept_; // in order of use
    std::int64_t last_number_ = 0;
};

} // namespace ma57
