// The fan-in blocks of one process during a factorization. Outgoing blocks sum contributions to ghosts, from
// the first contribution until they are sent. Incoming blocks are kept until they are added to their panels.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "comm/block.hpp"
#include "factor/factor.hpp"
#include "factor/update.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

template <class T> class FanInBuffers {
  public:
    /// `structure` and `plan` live longer.
    FanInBuffers(BlockStructure const& structure, FactorPlan const& plan, FactorForm form);

    /// The target of contributions to outgoing block `block`, which the first call allocates as zeros.
    /// Error{out_of_memory}.
    UpdateTarget<T> target(std::int32_t block);
    /// Counts a finished contribution. Returns the block after the last one, to be sent.
    std::optional<Block> contributed(std::int32_t block);

    /// Stores incoming block `block` for its fan-in tasks. Error{internal} when its size is wrong or when it
    /// has come before.
    void put(std::int32_t block, Block&& received);
    /// Adds its rows within [begin, end) of the target's panel. Called once for each fan-in task; returns the
    /// bytes that the last call frees, else 0.
    std::size_t add(std::int32_t block, Index begin, Index end, Factor<T>& factor);

    /// The block with this number in messages to this process. Error{internal} when there is none.
    [[nodiscard]] std::int32_t incoming(std::int64_t number) const;

  private:
    struct Slot {
        Block memory;
        std::once_flag allocated;
        std::atomic<std::int32_t> to_come{0}; // contributions, or fan-in tasks
    };
    struct Views {
        MatrixView<T> lower, upper;
    };
    [[nodiscard]] FanInBlock const& info(std::int32_t block) const {
        return plan_.factor.fan_in.blocks[block];
    }
    [[nodiscard]] std::size_t bytes_of(std::int32_t block) const;
    [[nodiscard]] Views views(std::int32_t block) const;

    BlockStructure const& structure_;
    FactorPlan const& plan_;
    FactorForm form_;
    std::unique_ptr<Slot[]> slots_;
};

} // namespace espalier
