// The interpreter lock, in threads that may outlive the interpreter. Before version 3.14, Python ends a
// daemon thread that asks for the lock after the interpreter has ended by pthread_exit. This unwinds the
// stack, and C++ aborts the process if a destructor or a handler for all exceptions is on it. Here such a
// thread waits for the end of the process instead, as in Python 3.14.
#pragma once

#include <pybind11/pybind11.h>

#include <cxxabi.h>
#include <optional>
#include <unistd.h>

namespace espalier::python {

/// Returns body(), which asks for the interpreter lock. Does not return if Python ends the thread.
template <class Body> auto outlive_interpreter(Body const& body) {
    try {
        return body();
    } catch (abi::__forced_unwind const&) {
        for (;;) pause();
    }
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
