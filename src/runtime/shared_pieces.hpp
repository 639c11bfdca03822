// A task that other workers help with while it runs. The worker of the task divides it into independent
// pieces and opens it; idle workers take pieces, as does the worker itself, which waits for all pieces. Each
// worker has at most one open task.
//
// The worker of a task sets `open`, and later clears it and waits until no helper is inside. A helper enters
// before it reads `open`. Sequential consistency makes one of them see the other's write, so no helper uses a
// task that has ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "core/error.hpp"
#include "core/worker_range.hpp"
#include "policies/spin.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// Executes piece number `piece` on a worker.
using PieceBody = std::function<void(int piece, WorkerId worker)>;

class SharedPieces {
  public:
    explicit SharedPieces(int workers) : size_(workers), tasks_(std::make_unique<SharedTask[]>(workers)) {}

    /// Calls body(piece, worker) for the pieces 0 .. count - 1, on `worker` and on those of `helpers` that
    /// call help() meanwhile. `announce` is called once the pieces can be taken. Returns when all pieces have
    /// ended and throws the first of their exceptions; after an exception no further piece starts.
    template <class Announce> void run(WorkerId worker, WorkerRange helpers, int count, PieceBody const& body,
                                       Announce const& announce) {
        SharedTask& task = tasks_[worker];
        FirstError error;
        task.body = &body;
        task.error = &error;
        task.helpers.store({helpers});
        task.count.store(count);
        task.next.store(0);
        task.is_open.store(true);
        num_open_.fetch_add(1);
        announce();
        take_pieces(task, worker);
        num_open_.fetch_sub(1);
        task.is_open.store(false);
        while (task.inside.load() > 0) std::this_thread::yield();
        error.rethrow();
    }

    /// Whether `worker` may find pieces to help with.
    [[nodiscard]] bool offers_any(WorkerId worker) const {
        if (num_open_.load() == 0) return false;
        return std::any_of(tasks_.get(), tasks_.get() + size_, [&](SharedTask const& task) {
            return task.is_open.load() && task.helpers.load().contains(worker) &&
                   task.next.load() < task.count.load();
        });
    }

    /// Runs pieces of the tasks that `worker` may help with. Returns whether it ran any.
    bool help(WorkerId worker) {
        bool helped = false;
        for (WorkerId w = 0; w < size_ && num_open_.load() > 0; ++w) {
            SharedTask& task = tasks_[w];
            if (!task.is_open.load(std::memory_order_relaxed)) continue;
            task.inside.fetch_add(1);
            if (task.is_open.load() && task.helpers.load().contains(worker))
                helped |= take_pieces(task, worker);
            task.inside.fetch_sub(1);
        }
        return helped;
    }

  private:
    // Clang reads and writes a range atomically without a lock only if it is aligned to its size.
    struct alignas(2 * sizeof(int)) AtomicRange : WorkerRange {};

    struct alignas(64) SharedTask {
        PieceBody const* body = nullptr;
        FirstError* error = nullptr;
        std::atomic<AtomicRange> helpers;
        std::atomic<int> count{0};
        std::atomic<int> next{0};
        std::atomic<bool> is_open{false};
        std::atomic<int> inside{0};
    };

    static bool take_pieces(SharedTask& task, WorkerId worker) {
        int taken = 0;
        for (int piece = task.next.fetch_add(1); piece < task.count.load(); piece = task.next.fetch_add(1)) {
            ++taken;
            try {
                (*task.body)(piece, worker);
            } catch (...) {
                task.error->capture();
                task.next.store(task.count.load());
            }
        }
        return taken > 0;
    }

    int size_;
    std::unique_ptr<SharedTask[]> tasks_;
    std::atomic<int> num_open_{0};
};

} // namespace espalier
