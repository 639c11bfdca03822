// Options and callbacks of the C interface. The typed setters go through the spelling of their values, so
// that there is one place that knows what is allowed.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "c/c_handle.hpp"
#include "solver/option_names.hpp"

namespace {

using namespace espalier;

// Changes a copy of the options, which come into force only if nothing objects.
template <class Change> espalier_status change(espalier_solver* solver, Change const& how) {
    return guarded(solver, [&](espalier_solver& self) {
        Options options = self.session->options();
        how(options);
        self.session->set_options(std::move(options));
    });
}

espalier_status set_spelled(espalier_solver* solver, char const* name, std::string const& value) {
    return change(solver, [&](Options& options) { set_option(options, name, value); });
}

template <class To, class From>
espalier_status set_enum(espalier_solver* solver, char const* name, From value, To last) {
    return change(solver,
                  [&](Options& options) { set_option(options, name, to_string(known(value, last, name))); });
}

espalier_status set_flag(espalier_solver* solver, char const* name, int value) {
    return change(solver, [&](Options& options) {
        if (value != 0 && value != 1)
            throw Error(Status::usage, fmt::format("{} = {} is neither 0 nor 1", name, value));
        set_option(options, name, value ? "on" : "off");
    });
}

// `automatic` is the spelling of 0.
template <class Number>
espalier_status set_number(espalier_solver* solver, char const* name, Number value, char const* automatic) {
    return set_spelled(solver, name, value == 0 ? std::string(automatic) : fmt::format("{}", value));
}

// Passes phases on as fractions. Advance comes from several threads.
class ForeignProgress : public ProgressSink {
  public:
    ForeignProgress(espalier_progress_function function, void* user) : function_(function), user_(user) {}

    void begin(std::string_view phase, double total) override {
        std::lock_guard const lock(mutex_);
        phase_ = phase;
        total_ = total;
        done_ = 0;
        told_ = 0;
        tell(total > 0 ? 0 : -1);
    }
    void advance(double amount) override {
        std::lock_guard const lock(mutex_);
        done_ += amount;
        if (!(total_ > 0)) return;
        double const fraction = std::clamp(done_ / total_, 0.0, 0.999); // 1 is for the end, once
        if (fraction < told_ + 0.001) return;
        told_ = fraction;
        tell(fraction);
    }
    void end() override {
        std::lock_guard const lock(mutex_);
        tell(1);
    }

  private:
    void tell(double fraction) const { function_(phase_.c_str(), fraction, user_); }

    espalier_progress_function function_;
    void* user_;
    std::mutex mutex_;
    std::string phase_;
    double total_ = 0;
    double done_ = 0;
    double told_ = 0;
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
    return static_cast<int64_t>(num_options());
}

char const* espalier_option_name(int64_t k) {
    if (k < 0 || k >= espalier_option_count()) return nullptr;
    return option_name(static_cast<std::size_t>(k));
}

espalier_status espalier_set_factorization(espalier_solver* solver, espalier_factorization value) {
    return set_enum(solver, "factorization", value, Factorization::lu);
}
espalier_status espalier_set_matching(espalier_solver* solver, espalier_toggle value) {
    return set_enum(solver, "matching", value, Toggle::off);
}
espalier_status espalier_set_scaling(espalier_solver* solver, espalier_toggle value) {
    return set_enum(solver, "scaling", value, Toggle::off);
}
espalier_status espalier_set_mixed_precision(espalier_solver* solver, int value) {
    return set_flag(solver, "mixed-precision", value);
}
espalier_status espalier_set_condition(espalier_solver* solver, int value) {
    return set_flag(solver, "condition", value);
}
espalier_status espalier_set_allow_singular(espalier_solver* solver, int value) {
    return set_flag(solver, "allow-singular", value);
}

espalier_status espalier_set_schur(espalier_solver* solver, int64_t count, int64_t const* unknowns,
                                   int base) {
    return change(solver, [&](Options& options) {
        if (count < 0)
            throw Error(Status::usage, fmt::format("the Schur complement is of {} unknowns", count));
        if (base != 0 && base != 1)
            throw Error(Status::usage, fmt::format("base = {}; unknowns count from 0 or from 1", base));
        if (count > 0) require_pointer(unknowns, "unknowns");
        options.schur.assign(unknowns, unknowns + count);
        for (Index& unknown : options.schur) {
            if (unknown < base)
                throw Error(
                    Status::usage,
                    fmt::format("unknown {} of the Schur complement is below the base {}", unknown, base));
            unknown -= base;
        }
    });
}

espalier_status espalier_set_ordering(espalier_solver* solver, espalier_ordering value) {
    return change(solver, [&](Options& options) {
        if (value == ESPALIER_ORDERING_USER)
            throw Error(Status::usage, "the ordering of a user comes from a file or from memory: "
                                       "espalier_set_ordering_file, espalier_set_ordering_positions");
        set_option(options, "ordering", to_string(known(value, OrderingMethod::user, "ordering")));
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
        if (count < 1) throw Error(Status::usage, fmt::format("an ordering of {} unknowns is none", count));
        if (base != 0 && base != 1)
            throw Error(Status::usage, fmt::format("base = {}; positions count from 0 or from 1", base));
        require_pointer(positions, "positions");
        std::vector<Index> copy(positions, positions + count);
        for (Index& position : copy) {
            if (position < base)
                throw Error(Status::usage,
                            fmt::format("position {} of the ordering is below the base {}", position, base));
            position -= base;
        }
        options.ordering_positions = std::move(copy);
        options.ordering = OrderingMethod::user;
    });
}

espalier_status espalier_set_threads(espalier_solver* solver, int value) {
    return set_number(solver, "threads", value, "auto");
}
espalier_status espalier_set_bind_threads(espalier_solver* solver, int value) {
    return set_flag(solver, "bind", value);
}
espalier_status espalier_set_topology(espalier_solver* solver, char const* text) {
    return change(solver, [&](Options& options) {
        require_pointer(text, "topology");
        set_option(options, "topology", text);
    });
}
espalier_status espalier_set_calibration(espalier_solver* solver, espalier_toggle value) {
    return set_enum(solver, "calibration", value, Toggle::off);
}
espalier_status espalier_set_record_trace(espalier_solver* solver, int value) {
    return set_flag(solver, "record-trace", value);
}
espalier_status espalier_set_schedule(espalier_solver* solver, espalier_schedule value) {
    return set_enum(solver, "schedule", value, SchedulePolicy::nas);
}
espalier_status espalier_set_allocation(espalier_solver* solver, espalier_allocation value) {
    return set_enum(solver, "alloc", value, Allocation::interleave);
}
espalier_status espalier_set_splitting(espalier_solver* solver, espalier_splitting value) {
    return set_enum(solver, "split", value, Splitting::two_d);
}

espalier_status espalier_set_block_widths(espalier_solver* solver, int64_t least, int64_t most) {
    return change(solver, [&](Options& options) {
        if (least > most)
            throw Error(Status::usage,
                        fmt::format("the least block width {} is above the largest {}", least, most));
        set_option(options, "min-block-width", std::to_string(least));
        set_option(options, "max-block-width", std::to_string(most));
    });
}

espalier_status espalier_set_amalgamation_fill(espalier_solver* solver, double value) {
    return set_spelled(solver, "amalgamation-fill", fmt::format("{}", value));
}
espalier_status espalier_set_pivot_threshold(espalier_solver* solver, double value) {
    return set_spelled(solver, "pivot-threshold", value < 0 ? "auto" : fmt::format("{}", value));
}
espalier_status espalier_set_refinement(espalier_solver* solver, espalier_refinement value) {
    return set_enum(solver, "refine", value, RefineMethod::bicgstab);
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
        auto sink = function ? std::make_unique<ForeignProgress>(function, user) : nullptr;
        Options options = self.session->options();
        options.progress = sink.get();
        self.session->set_options(std::move(options));
        self.progress = std::move(sink);
    });
}
