#include "attendant.hpp"

#include <algorithm>

namespace espalier::python {

namespace {
// Python's lock may take its switching interval (5 ms) to come by when other threads are busy.
constexpr auto looking_interval = std::chrono::milliseconds(30);
constexpr double smallest_step = 0.005; // of a fraction, for Python to be told
} // namespace

bool is_main_thread() {
    py::module_ const threading = py::module_::import("threading");
    return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

void Attendant::attend(py::handle progress, py::handle log, bool on_main_thread) {
    progress_ = progress;
    log_ = log;
    on_main_thread_ = on_main_thread;
    last_look_ = Clock::now();
    raised_ = nullptr;
    std::lock_guard const lock(mutex_);
    phases_.clear();
    events_.clear();
}

void Attendant::leave() {
    if (!raised_) look_after_python(false);
    progress_ = log_ = py::handle();
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

bool Attendant::asked() {
    if (raised_) return true;
    if (!on_main_thread_ && progress_.is_none() && log_.is_none()) return false;
    auto const now = Clock::now();
    if (now - last_look_ < looking_interval) return false;
    py::gil_scoped_acquire const python;
    look_after_python(on_main_thread_);
    last_look_ = Clock::now();
    return raised_ != nullptr;
}

// Nothing is thrown here: the library is told to stop first, and the exception goes on from leave().
void Attendant::look_after_python(bool signals) {
    try {
        if (signals && PyErr_CheckSignals() != 0) throw py::error_already_set();
        for (Event const& event : news()) tell(event);
    } catch (...) {
        raised_ = std::current_exception();
    }
}

void Attendant::tell(Event const& event) const {
    if (event.is_line)
        log_(event.text);
    else if (event.fraction < 0)
        progress_(event.text, py::none());
    else
        progress_(event.text, event.fraction);
}

std::vector<Attendant::Event> Attendant::news() {
    std::lock_guard const lock(mutex_);
    std::vector<Event> out = std::exchange(events_, {});
    if (progress_.is_none() || phases_.empty()) return out;
    Phase& phase = phases_.back();
    double const fraction = phase.total > 0 ? std::clamp(phase.done / phase.total, 0.0, 1.0) : 0;
    if (fraction - phase.told >= smallest_step) {
        phase.told = fraction;
        out.push_back({false, phase.name, fraction});
    }
    return out;
}

void Attendant::say(std::string_view line) {
    if (log_.is_none()) return;
    std::lock_guard const lock(mutex_);
    events_.push_back({true, std::string(line), 0});
}

void Attendant::begin(std::string_view phase, double total) {
    std::lock_guard const lock(mutex_);
    phases_.push_back({std::string(phase), total});
    if (!progress_.is_none()) events_.push_back({false, std::string(phase), total > 0 ? 0.0 : -1.0});
}

void Attendant::advance(double amount) {
    std::lock_guard const lock(mutex_);
    if (!phases_.empty()) phases_.back().done += amount;
}

void Attendant::end() {
    std::lock_guard const lock(mutex_);
    if (phases_.empty()) return;
    // A phase that an error ended is not told of as complete.
    bool const failed = std::uncaught_exceptions() > 0;
    if (!progress_.is_none() && !failed) events_.push_back({false, phases_.back().name, 1.0});
    phases_.pop_back();
}

} // namespace espalier::python
