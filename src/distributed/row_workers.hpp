// Loops over the local rows of vectors, which the workers of a process share.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "core/function_ref.hpp"
#include "espalier/range.hpp"
#include "espalier/types.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

/// The calling thread alone, or the workers of a team. Bodies must not throw. No call allocates memory.
class RowWorkers {
  public:
    RowWorkers() = default;
    /// `count` workers of the team that `team` returns. It is called for each loop, because a team may be
    /// replaced.
    RowWorkers(int count, std::function<WorkerTeam&()> team) : count_(count), team_(std::move(team)) {}

    [[nodiscard]] int count() const { return count_; }

    /// Calls body(part) for each part in [0, parts): at the same time on several workers, or one after the
    /// other.
    void run(int parts, FunctionRef<void(int)> body) const;

    /// Rows are divided into chunks, which do not depend on the number of workers.
    static constexpr int most_chunks = 256;
    [[nodiscard]] static int num_chunks(Index rows);

    /// Calls body(chunk, range) for each chunk of [0, rows). A worker gets consecutive chunks. The calling
    /// thread runs all of them if they take hardly longer than waking another one.
    void for_each_chunk(Index rows, FunctionRef<void(int, IndexRange)> body) const;

    /// Returns the sum of part(range) over the chunks, with the same rounding for any number of workers.
    template <class W> [[nodiscard]] W sum(Index rows, FunctionRef<W(IndexRange)> part) const {
        return reduce<W>(rows, part, [](W x, W y) { return x + y; });
    }
    /// Returns combine(x, y) of the parts of all chunks, in their order, starting with W().
    template <class W, class Combine>
    [[nodiscard]] W reduce(Index rows, FunctionRef<W(IndexRange)> part, Combine const& combine) const {
        std::array<W, most_chunks> parts;
        for_each_chunk(rows, [&](int chunk, IndexRange range) { parts[chunk] = part(range); });
        W result{};
        for (int chunk = 0; chunk < num_chunks(rows); ++chunk) result = combine(result, parts[chunk]);
        return result;
    }

  private:
    int count_ = 1;
    std::function<WorkerTeam&()> team_;
};

} // namespace espalier
