// Options and callbacks of the C interface. The typed setters go through the table of options, which checks
// the values.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "c/c_handle.hpp"
#include "options/option_table.hpp"

namespace {

using namespace espalier;

// Changes a copy of the options. The copy replaces the options unless `apply` or the session throws.
template <class Change> espalier_status change(espalier_solver* solver, Change const& apply) {
    return guarded(solver, [&](espalier_solver& self) {
        Options options = self.session->options();
        apply(options);
        self.session->set_options(std::move(options));
    });
}

espalier_status set_text(espalier_solver* solver, char const* name, std::string const& value) {
    return change(solver, [&](Options& options) { set_option(options, name, value); });
}

// `value` is an enumerator, or 0 or 1.
espalier_status set_index(espalier_solver* solver, char const* name, int value) {
    return change(solver, [&](Options& options) { set_option_index(options, name, value); });
}

// The value 0 is spelled `unset`.
template <class Number>
espalier_status set_number(espalier_solver* solver, char const* name, Number value, char const* unset) {
    return set_text(solver, name, value == 0 ? std::string(unset) : fmt::format("{}", value));
}

// Converts numbers that count from `base` to numbers that count from 0.
std::vector<Index> from_base(int64_t count, int64_t const* numbers, int base, char const* what) {
    if (base != 0 && base != 1)
        throw Error(Status::usage, fmt::format("base = {}; {} count from 0 or from 1", base, what));
    if (count > 0) require_pointer(numbers, what);
    std::vector<Index> shifted(numbers, numbers + count);
    for (Index& number : shifted) {
        if (number < base)
            throw Error(Status::usage,
                        fmt::format("{} contains {}, which is below the base {}", what, number, base));
        number -= base;
    }
    return shifted;
}

// Reports phases to a function of the application as fractions. advance() is called from several threads.
class CallerProgress : public ProgressSink {
  public:
    CallerProgress(espalier_progress_function function, void* user) : function_(function), user_(user) {}

    void begin(std::string_view phase, double total) override {
        std::lock_guard const lock(mutex_);
        phase_ = phase;
        total_ = total;
        done_ = 0;
        reported_ = 0;
        report(total > 0 ? 0 : -1);
    }
    void advance(double amount) override {
        std::lock_guard const lock(mutex_);
        done_ += amount;
        if (!(total_ > 0)) return;
        double const fraction = std::clamp(done_ / total_, 0.0, 0.999); // end() reports 1
        if (fraction < reported_ + 0.001) return;
        reported_ = fraction;
        report(fraction);
    }
    void end() override {
        std::lock_guard const lock(mutex_);
        report(1);
    }

  private:
    void report(double fraction) const { function_(phase_.c_str(), fraction, user_); }

    espalier_progress_function function_;
    void* user_;
    std::mutex mutex_;
    std::string phase_;
    double total_ = 0;
    double done_ = 0;
    double reported_ = 0; // the last fraction that was reported
};

} // namespace

espalier_status espalier_set_option(espalier_solver* solver, char const* name, char const* value) {
    return change(solver, [&](Options& options) {
        require_pointer(name, "name");
        require_pointer(value, "value");
        set_option(options, name, value);
    });
}

espalier_status espalier_get_option(espalier_solver* solver, char const* name, char const** value) {
    return guarded(solver, [&](espalier_solver& self) {
        require_pointer(name, "name");
        require_pointer(value, "value");
        self.option_text = get_option(self.session->options(), name);
        *value = self.option_text.c_str();
    });
}

int64_t espalier_option_count(void) {
    return std::ssize(option_table());
}

char const* espalier_option_name(int64_t k) {
    if (k < 0 || k >= espalier_option_count()) return nullptr;
    return option_table()[k].name.data(); // a literal
}

char const* espalier_option_help(int64_t k) {
    if (k < 0 || k >= espalier_option_count()) return nullptr;
    return option_table()[k].help.data(); // a literal
}

// The setters of enumerations and of flags, which are 0 or 1.
#define ESPALIER_SETTER(name, type, option)                                                                  \
    espalier_status espalier_set_##name(espalier_solver* solver, type value) {                               \
        return set_index(solver, option, value);                                                             \
    }
ESPALIER_SETTER(method, espalier_method, "method")
ESPALIER_SETTER(factorization, espalier_factorization, "factorization")
ESPALIER_SETTER(matching, espalier_toggle, "matching")
ESPALIER_SETTER(scaling, espalier_toggle, "scaling")
ESPALIER_SETTER(supernodes, espalier_toggle, "supernodes")
ESPALIER_SETTER(pivoting, espalier_pivoting, "pivoting")
ESPALIER_SETTER(mixed_precision, int, "mixed-precision")
ESPALIER_SETTER(condition, int, "condition")
ESPALIER_SETTER(allow_singular, int, "allow-singular")
ESPALIER_SETTER(reuse_ordering, int, "reuse-ordering")
ESPALIER_SETTER(bind_threads, int, "bind")
ESPALIER_SETTER(calibration, espalier_toggle, "calibration")
ESPALIER_SETTER(record_trace, int, "record-trace")
ESPALIER_SETTER(schedule, espalier_schedule, "schedule")
ESPALIER_SETTER(allocation, espalier_allocation, "alloc")
ESPALIER_SETTER(splitting, espalier_splitting, "split")
ESPALIER_SETTER(refinement, espalier_refinement, "refine")
#undef ESPALIER_SETTER

espalier_status espalier_set_schur(espalier_solver* solver, int64_t count, int64_t const* unknowns,
                                   int base) {
    return change(solver, [&](Options& options) {
        if (count < 0)
            throw Error(Status::usage, fmt::format("the Schur complement cannot have {} unknowns", count));
        options.schur = from_base(count, unknowns, base, "unknowns");
    });
}

espalier_status espalier_set_ordering(espalier_solver* solver, espalier_ordering value) {
    return change(solver, [&](Options& options) {
        if (value == ESPALIER_ORDERING_USER)
            throw Error(Status::usage, "a user-defined ordering needs a file or positions: call "
                                       "espalier_set_ordering_file or espalier_set_ordering_positions");
        set_option(options, "ordering", to_string(known(value, OrderingMethod::dissection, "ordering")));
    });
}

espalier_status espalier_set_ordering_file(espalier_solver* solver, char const* path) {
    return change(solver, [&](Options& options) {
        require_pointer(path, "path");
        if (*path == '\0') throw Error(Status::usage, "the path of the ordering is empty");
        options.ordering = OrderingMethod::user;
        options.ordering_file = path;
        options.ordering_positions.clear();
    });
}

espalier_status espalier_set_ordering_positions(espalier_solver* solver, int64_t count,
                                                int64_t const* positions, int base) {
    return change(solver, [&](Options& options) {
        if (count < 1) throw Error(Status::usage, fmt::format("an ordering cannot have {} positions", count));
        options.ordering_positions = from_base(count, positions, base, "positions");
        options.ordering_file.clear();
        options.ordering = OrderingMethod::user;
    });
}

espalier_status espalier_set_levels(espalier_solver* solver, int64_t value) {
    return set_text(solver, "levels", std::to_string(value));
}
espalier_status espalier_set_block_size(espalier_solver* solver, int value) {
    return set_number(solver, "block-size", value, "auto");
}
espalier_status espalier_set_runtime(espalier_solver* solver, espalier_runtime value) {
    return set_index(solver, "runtime", value);
}
espalier_status espalier_set_coarsen(espalier_solver* solver, char const* text) {
    return change(solver, [&](Options& options) {
        require_pointer(text, "coarsen");
        set_option(options, "coarsen", text);
    });
}

espalier_status espalier_set_threads(espalier_solver* solver, int value) {
    return set_number(solver, "threads", value, "auto");
}
espalier_status espalier_set_topology(espalier_solver* solver, char const* text) {
    return change(solver, [&](Options& options) {
        require_pointer(text, "topology");
        set_option(options, "topology", text);
    });
}

espalier_status espalier_set_block_widths(espalier_solver* solver, int64_t least, int64_t most) {
    return change(solver, [&](Options& options) {
        auto const spelled = [](int64_t width) { return width == 0 ? "auto" : std::to_string(width); };
        set_option(options, "min-block-width", spelled(least));
        set_option(options, "max-block-width", spelled(most));
    });
}

espalier_status espalier_set_amalgamation_fill(espalier_solver* solver, double value) {
    return set_text(solver, "amalgamation-fill", fmt::format("{}", value));
}
espalier_status espalier_set_pivot_tolerance(espalier_solver* solver, double value) {
    return set_text(solver, "pivot-tolerance", fmt::format("{}", value));
}
espalier_status espalier_set_pivot_threshold(espalier_solver* solver, double value) {
    return set_text(solver, "pivot-threshold", value < 0 ? "auto" : fmt::format("{}", value));
}
espalier_status espalier_set_max_refine_iterations(espalier_solver* solver, int value) {
    return set_number(solver, "max-refine-iterations", value, "auto");
}
espalier_status espalier_set_tolerance(espalier_solver* solver, double value) {
    return set_number(solver, "tolerance", value, "auto");
}
espalier_status espalier_set_max_memory(espalier_solver* solver, uint64_t bytes) {
    return set_number(solver, "max-memory", bytes, "none");
}

espalier_status espalier_set_log(espalier_solver* solver, espalier_log_function function, void* user) {
    return change(solver, [&](Options& options) {
        options.log = nullptr;
        if (function) options.log = [=](std::string_view line) { function(std::string(line).c_str(), user); };
    });
}

espalier_status espalier_set_cancel(espalier_solver* solver, espalier_cancel_function function, void* user) {
    return change(solver, [&](Options& options) {
        options.cancel = nullptr;
        if (function) options.cancel = [=] { return function(user) != 0; };
    });
}

espalier_status espalier_set_progress(espalier_solver* solver, espalier_progress_function function,
                                      void* user) {
    return guarded(solver, [&](espalier_solver& self) {
        auto sink = function ? std::make_unique<CallerProgress>(function, user) : nullptr;
        Options options = self.session->options();
        options.progress = sink.get();
        self.session->set_options(std::move(options));
        self.progress = std::move(sink);
    });
}
