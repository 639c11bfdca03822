// Threads that run jobs, which may add more jobs. The last job added runs first.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/error.hpp"

namespace espalier {

template <class Job> class JobPool {
  public:
    /// May be called before run() and by jobs.
    void add(Job job) {
        {
            std::lock_guard const lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        changed_.notify_one();
    }

    /// Runs all jobs on `threads` threads, the caller included, but at most 128, or on fewer if the system
    /// has no more. Each thread calls make() for its workspace and perform(job, workspace) for its jobs.
    /// Rethrows the first exception, after which no more jobs start.
    template <class Make, class Perform> void run(int threads, Make const& make, Perform const& perform) {
        auto const work = [&] {
            try {
                auto space = make();
                Job job;
                while (next(job)) {
                    try {
                        perform(job, space);
                    } catch (...) {
                        error_.capture();
                    }
                    job = Job();
                    finish();
                }
            } catch (...) {
                std::lock_guard const lock(mutex_);
                error_.capture();
                changed_.notify_all();
            }
        };
        threads = std::min(threads, 128);
        std::vector<std::thread> helpers;
        helpers.reserve(std::max(threads, 1));
        try {
            for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
        } catch (...) {
            // system_error or bad_alloc: fewer threads do the same work
        }
        work();
        for (auto& helper : helpers) helper.join();
        error_.rethrow();
    }

  private:
    // Waits for a job; returns false after the last job or an error.
    bool next(Job& job) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !jobs_.empty() || running_ == 0 || error_.raised(); });
        if (jobs_.empty() || error_.raised()) return false;
        job = std::move(jobs_.back());
        jobs_.pop_back();
        ++running_;
        return true;
    }
    void finish() {
        {
            std::lock_guard const lock(mutex_);
            --running_;
        }
        changed_.notify_all();
    }

    std::mutex mutex_; ///< Guards jobs_ and running_.
    std::vector<Job> jobs_;
    int running_ = 0;
    std::condition_variable changed_;
    FirstError error_;
};

} // namespace espalier
