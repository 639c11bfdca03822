// The fan-in blocks of one process during a factorization. Outgoing blocks sum contributions to ghosts, from
// the first contribution until they are sent. Incoming blocks are kept until they are added to their panels.
// Columns left over for a ghost follow the sum (left_over.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "comm/block.hpp"
#include "factor/factor.hpp"
#include "factor/left_over.hpp"
#include "factor/update.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

/// Does to += from for rows [begin, end) of a panel. `from` has the rows of `rows`, without the first
/// `skipped` ones; `to` starts with row `first_row` of the panel.
template <class T> void add_rows(MatrixView<T> from, MatrixView<T> to, std::span<BlockRows const> rows,
                                 Index first_row, Index skipped, Index begin, Index end) {
    begin = std::max(begin, first_row);
    for (Index j = 0; j < to.cols; ++j)
        for (BlockRows const& run : rows) {
            Index const first = std::max(run.begin, begin);
            Index const count = std::min(run.end, end) - first;
            T const* const source = from.column(j) + (run.at + (first - run.begin) - skipped);
            T* const target = to.column(j) + (first - first_row);
            for (Index i = 0; i < count; ++i) target[i] += source[i];
        }
}

template <class T> class FanInBuffers {
  public:
    /// `structure` and `plan` must outlive this. `pool`, which may be null, has memory for the blocks.
    FanInBuffers(BlockStructure const& structure, FactorPlan const& plan, FactorForm form,
                 std::shared_ptr<BlockPool> pool)
        : structure_(structure), plan_(plan), form_(form), pool_(std::move(pool)),
          slots_(std::make_unique<Slot[]>(plan.factor.fan_in.blocks.size())) {
        for (std::int32_t const block : plan.outgoing) slots_[block].to_come = info(block).updates;
    }

    /// The target of contributions to outgoing block `block`, which the first call allocates as zeros.
    /// Error{out_of_memory}.
    UpdateTarget<T> target(std::int32_t block) {
        Slot& slot = slots_[block];
        // The allocation does not use std::call_once(), which exceptions do not leave on all systems.
        if (std::lock_guard const lock(slot.allocation); !slot.memory.data()) {
            slot.memory = Block::allocate(bytes_of(block), pool_);
            std::memset(slot.memory.data(), 0, slot.memory.size());
        }
        Views const one = views(block);
        Index const at = info(block).at; // the block is a part of the panel of the ghost
        return {{one.lower, at}, {one.upper, at + info(block).rows - info(block).rows_below}};
    }

    /// Counts a finished contribution. After the last one, returns the block, which is then sent.
    std::optional<Block> contributed(std::int32_t block) {
        Slot& slot = slots_[block];
        if (slot.to_come.fetch_sub(1, std::memory_order_acq_rel) > 1) return std::nullopt;
        return std::move(slot.memory);
    }

    /// Stores incoming block `block` for its fan-in task. Error{internal} if its size is wrong or it has
    /// already come. With `delays`, columns left over may follow the sum.
    void put(std::int32_t block, Block&& received, bool delays) {
        Slot& slot = slots_[block];
        bool const fits = delays ? received.size() >= bytes_of(block) : received.size() == bytes_of(block);
        if (!fits || slot.memory.data())
            throw Error(Status::internal,
                        fmt::format("received a fan-in block of {} bytes; expected {} bytes, only once",
                                    received.size(), bytes_of(block)));
        slot.memory = std::move(received);
    }

    /// Adds the rows of the block within [begin, end) of the target's panel.
    void add(std::int32_t block, Index begin, Index end, Factor<T>& factor) {
        FanInBlock const& one = info(block);
        Views const from = views(block);
        auto const rows = plan_.factor.fan_in.rows_of(one);
        add_rows<T>(from.lower, factor.lower(one.target), rows, 0, 0, begin, end);
        if (form_.has_upper())
            add_rows<T>(from.upper, factor.upper(one.target), rows, factor.cblk(one.target).width(),
                        one.rows - one.rows_below, begin, end);
    }

    /// Returns the part of an incoming block after the sum.
    [[nodiscard]] std::span<std::byte const> left_over(std::int32_t block) const {
        return after_sum(slots_[block].memory, bytes_of(block));
    }

    /// Frees the block after its fan-in task. Returns its bytes.
    std::size_t added(std::int32_t block) { return Block(std::move(slots_[block].memory)).size(); }

    /// Returns the block with this number in messages to this process. Error{internal} if there is none.
    [[nodiscard]] std::int32_t incoming(std::int64_t number) const {
        if (number < 0 || number >= std::ssize(plan_.incoming))
            throw Error(Status::internal,
                        fmt::format("received a fan-in block with number {}; expected one of {}", number,
                                    plan_.incoming.size()));
        return plan_.incoming[number];
    }

  private:
    struct Slot {
        Block memory;
        std::mutex allocation;                // held by the first contribution while it allocates
        std::atomic<std::int32_t> to_come{0}; // missing contributions
    };
    struct Views {
        MatrixView<T> lower, upper;
    };
    [[nodiscard]] FanInBlock const& info(std::int32_t block) const {
        return plan_.factor.fan_in.blocks[block];
    }

    [[nodiscard]] std::size_t bytes_of(std::int32_t block) const {
        FanInBlock const& one = info(block);
        Index const width = structure_.cblk(one.target).width();
        Index const rows = one.rows + (form_.has_upper() ? one.rows_below : 0);
        return static_cast<std::size_t>(rows * width) * sizeof(T);
    }

    [[nodiscard]] Views views(std::int32_t block) const {
        FanInBlock const& one = info(block);
        Index const width = structure_.cblk(one.target).width();
        T* const data = slots_[block].memory.template as<T>().data();
        Views views;
        views.lower = {data, one.rows, width, std::max<Index>(1, one.rows)};
        if (form_.has_upper())
            views.upper = {data + one.rows * width, one.rows_below, width,
                           std::max<Index>(1, one.rows_below)};
        return views;
    }

    BlockStructure const& structure_;
    FactorPlan const& plan_;
    FactorForm form_;
    std::shared_ptr<BlockPool> pool_;
    std::unique_ptr<Slot[]> slots_;
};

} // namespace espalier
