// The handle of the C interface, and the one place where exceptions become statuses. Messages are stored in a
// buffer of fixed size, so that lack of memory can be reported.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c/c_session.hpp"
#include "core/error.hpp"
#include "espalier/report.hpp"

namespace espalier {

/// The report as the getters return it. The first getter creates it, and the next step drops it.
struct ReportSnapshot {
    bool made = false;
    std::vector<ReportField> fields;
    std::vector<std::vector<char const*>> texts; ///< Pointers to the strings of each field.
    std::string json;                            ///< Empty until it is requested.
};

} // namespace espalier

struct espalier_solver {
    static constexpr std::uint64_t living = 0x657370616C696572; // distinguishes a handle from other memory

    std::uint64_t mark = living;
    std::atomic<bool> busy{false};
    char message[1024] = {};
    std::unique_ptr<espalier::Session> session;
    std::unique_ptr<espalier::ProgressSink> progress;
    std::string option_text; // the last result of espalier_get_option
    espalier::ReportSnapshot report;

    ~espalier_solver() { mark = 0; }

    /// Stores the text, shortened to the buffer, and returns the status. Allocates nothing.
    espalier_status fail(espalier::Status status, std::string_view text) noexcept;
};

namespace espalier {

/// Allows one call of a handle at a time.
class BusyScope {
  public:
    explicit BusyScope(espalier_solver& solver)
        : solver_(solver), entered_(!solver.busy.exchange(true, std::memory_order_acquire)) {}
    BusyScope(BusyScope const&) = delete;
    BusyScope& operator=(BusyScope const&) = delete;
    ~BusyScope() {
        if (entered_) solver_.busy.store(false, std::memory_order_release);
    }
    [[nodiscard]] bool entered() const { return entered_; }

  private:
    espalier_solver& solver_;
    bool entered_;
};

/// Runs body(solver) and converts its exception to a status and a message. Keeps the snapshot of the report.
template <class Body> espalier_status guarded_reading(espalier_solver* solver, Body const& body) noexcept {
    if (!solver || solver->mark != espalier_solver::living) return ESPALIER_USAGE;
    BusyScope const scope(*solver);
    if (!scope.entered()) return ESPALIER_USAGE;
    solver->message[0] = '\0';
    try {
        body(*solver);
        return ESPALIER_OK;
    } catch (...) {
        Error const error = current_error();
        return solver->fail(error.status(), error.what());
    }
}

/// Does the same as guarded_reading(), and drops the snapshot of the report.
template <class Body> espalier_status guarded(espalier_solver* solver, Body const& body) noexcept {
    return guarded_reading(solver, [&](espalier_solver& self) {
        self.report = {};
        body(self);
    });
}

} // namespace espalier
