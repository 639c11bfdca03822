// The interpreter lock, in threads that may outlive the interpreter. Before version 3.14, Python ends a
// daemon thread that asks for the lock after the interpreter has ended by pthread_exit. This unwinds the
// stack: the destructors on it would change Python objects without the lock, and C++ aborts the process at
// the first handler of all exceptions inside of another handler. Here such a thread waits for the end of the
// process instead, as in Python 3.14.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <optional>
#include <unistd.h>

namespace espalier::python {

/// Calls body(), which runs Python code or asks for the interpreter lock. Does not return if Python ends the
/// thread. `body` itself must have no destructors that need the lock, because they would run before.
template <class Body> void outlive_interpreter(Body const& body) {
    // The unwinding by pthread_exit is no exception of C++, and it is not counted as one.
    struct Guard {
        ~Guard() {
            while (!has_returned && std::uncaught_exceptions() == exceptions) pause();
        }
        int exceptions = std::uncaught_exceptions();
        bool has_returned = false;
    } guard;
    body();
    guard.has_returned = true;
}

/// Calls a function of a Python module with arguments in the format of Py_BuildValue. Returns a new
/// reference, or null with a Python exception.
template <class... Arguments> PyObject* call_function(char const* module, char const* function,
                                                      char const* format, Arguments... arguments) {
    PyObject* result = nullptr;
    outlive_interpreter([&] {
        PyObject* const imported = PyImport_ImportModule(module);
        if (imported) result = PyObject_CallMethod(imported, function, format, arguments...);
        Py_XDECREF(imported);
    });
    return result;
}

/// Releases the lock, and asks for it again at the end of its life.
class ReleasedLock {
  public:
    ReleasedLock() : thread_(PyEval_SaveThread()) {}
    ~ReleasedLock() {
        outlive_interpreter([this] { PyEval_RestoreThread(thread_); });
    }
    ReleasedLock(ReleasedLock const&) = delete;
    ReleasedLock& operator=(ReleasedLock const&) = delete;

  private:
    PyThreadState* thread_;
};

/// Holds the lock during its life.
class AcquiredLock {
  public:
    AcquiredLock() {
        outlive_interpreter([this] { lock_.emplace(); });
    }
    AcquiredLock(AcquiredLock const&) = delete;
    AcquiredLock& operator=(AcquiredLock const&) = delete;

  private:
    std::optional<pybind11::gil_scoped_acquire> lock_;
};

} // namespace espalier::python
