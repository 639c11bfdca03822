// What stands behind the C interface's handle, and the one place where exceptions become statuses. Messages
// are kept in a fixed buffer, so that being out of memory can be told without memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c/c_session.hpp"
#include "espalier/report.hpp"

namespace espalier {

/// The report as the getters hand it out: made when first asked for, thrown away by the next step.
struct ReportSnapshot {
    bool made = false;
    std::vector<ReportField> fields;
    std::vector<std::vector<char const*>> texts; ///< Of each field, the pointers to its strings.
    std::string json;
};

} // namespace espalier

struct espalier_solver {
    static constexpr std::uint64_t living = 0x657370616C696572; // tells a handle from other memory

    std::uint64_t mark = living;
    std::atomic<bool> busy{false};
    char message[1024] = {};
    std::unique_ptr<espalier::Session> session;
    std::unique_ptr<espalier::ProgressSink> progress;
    std::string option_text; // what espalier_get_option gave out
    espalier::ReportSnapshot report;

    ~espalier_solver() { mark = 0; }

    /// Keeps the text, shortened if need be, and returns the status. Allocates nothing.
    espalier_status fail(espalier::Status status, std::string_view text) noexcept;
    /// The same for the exception being handled.
    espalier_status fail_with_current_exception() noexcept;
};

namespace espalier {

/// One call on a handle at a time.
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

/// Runs body(solver), and turns what it throws into a status and a message. For the report's getters, which
/// keep the snapshot.
template <class Body> espalier_status guarded_reading(espalier_solver* solver, Body const& body) noexcept {
    if (!solver || solver->mark != espalier_solver::living) return ESPALIER_USAGE;
    BusyScope const scope(*solver);
    if (!scope.entered()) return ESPALIER_USAGE;
    solver->message[0] = '\0';
    try {
        body(*solver);
        return ESPALIER_OK;
    } catch (...) {
        return solver->fail_with_current_exception();
    }
}

/// The same for all other functions.
template <class Body> espalier_status guarded(espalier_solver* solver, Body const& body) noexcept {
    return guarded_reading(solver, [&](espalier_solver& self) {
        self.report = {};
        body(self);
    });
}

} // namespace espalier
