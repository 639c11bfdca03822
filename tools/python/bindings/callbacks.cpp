#include "callbacks.hpp"

#include <algorithm>
#include <atomic>

#include <pthread.h>

#include "interpreter_lock.hpp"

namespace espalier::python {

namespace {
// Acquiring the interpreter lock may take its switching interval (5 ms) while other threads are busy.
constexpr auto callback_interval = std::chrono::milliseconds(30);
constexpr double smallest_step = 0.005; // Smallest reported change of a fraction.
} // namespace

int number_of_forks() {
    static std::atomic<int> count{0};
    [[maybe_unused]] static int const registered =
        pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
    return count.load(std::memory_order_relaxed);
}

// A forked child may have another main thread. The interpreter lock guards the static variables.
bool is_main_thread() {
    static int forks = -1;
    static unsigned long main = 0;
    if (forks != number_of_forks()) {
        PyObject* const thread = call_function("threading", "main_thread", nullptr);
        PyObject* ident = nullptr;
        outlive_interpreter([&] { // Thread.ident is a property
            if (thread) ident = PyObject_GetAttrString(thread, "ident");
            Py_XDECREF(thread);
        });
        if (!ident) throw py::error_already_set();
        main = py::reinterpret_steal<py::object>(ident).cast<unsigned long>();
        forks = number_of_forks();
    }
    return PyThread_get_thread_ident() == main;
}

void PythonCallbacks::begin_call(py::handle progress, py::handle log, bool on_main_thread) {
    progress_ = progress;
    log_ = log;
    on_main_thread_ = on_main_thread;
    last_run_ = Clock::now();
    raised_ = nullptr;
    std::lock_guard const lock(mutex_);
    phases_.clear();
    events_.clear();
}

void PythonCallbacks::end_call() {
    if (!raised_) run_callbacks(false);
    progress_ = log_ = py::handle();
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

bool PythonCallbacks::must_cancel() {
    if (raised_) return true;
    if (!on_main_thread_ && progress_.is_none() && log_.is_none()) return false;
    auto const now = Clock::now();
    if (now - last_run_ < callback_interval) return false;
    AcquiredLock const python;
    run_callbacks(on_main_thread_);
    last_run_ = Clock::now();
    return raised_ != nullptr;
}

// Keeps an exception for end_call(), because the library must stop first.
void PythonCallbacks::run_callbacks(bool signals) {
    try {
        if (signals && PyErr_CheckSignals() != 0) throw py::error_already_set(); // on the main thread
        for (Event const& event : take_events()) deliver(event);
    } catch (...) {
        raised_ = std::current_exception();
    }
}

void PythonCallbacks::deliver(Event const& event) const {
    py::object const fraction = event.fraction < 0 ? py::object(py::none()) : py::float_(event.fraction);
    py::tuple const arguments =
        event.is_line ? py::make_tuple(event.text) : py::make_tuple(event.text, fraction);
    PyObject* result = nullptr;
    outlive_interpreter(
        [&] { result = PyObject_CallObject((event.is_line ? log_ : progress_).ptr(), arguments.ptr()); });
    if (!result) throw py::error_already_set();
    Py_DECREF(result);
}

std::vector<PythonCallbacks::Event> PythonCallbacks::take_events() {
    std::lock_guard const lock(mutex_);
    std::vector<Event> out = std::exchange(events_, {});
    if (progress_.is_none() || phases_.empty()) return out;
    Phase& phase = phases_.back();
    double const fraction = phase.total > 0 ? std::clamp(phase.done / phase.total, 0.0, 1.0) : 0;
    if (fraction - phase.reported >= smallest_step) {
        phase.reported = fraction;
        out.push_back({false, phase.name, fraction});
    }
    return out;
}

void PythonCallbacks::log_line(std::string_view line) {
    if (log_.is_none()) return;
    std::lock_guard const lock(mutex_);
    events_.push_back({true, std::string(line), 0});
}

void PythonCallbacks::begin(std::string_view phase, double total) {
    std::lock_guard const lock(mutex_);
    phases_.push_back({std::string(phase), total});
    if (!progress_.is_none()) events_.push_back({false, std::string(phase), total > 0 ? 0.0 : -1.0});
}

void PythonCallbacks::advance(double amount) {
    std::lock_guard const lock(mutex_);
    if (!phases_.empty()) phases_.back().done += amount;
}

void PythonCallbacks::end() {
    std::lock_guard const lock(mutex_);
    if (phases_.empty()) return;
    // A phase that ended with an error is not reported as complete.
    bool const failed = std::uncaught_exceptions() > 0;
    if (!progress_.is_none() && !failed) events_.push_back({false, phases_.back().name, 1.0});
    phases_.pop_back();
}

} // namespace espalier::python
