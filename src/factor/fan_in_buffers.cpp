#include "factor/fan_in_buffers.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace espalier {

namespace {

// to += from, for rows [begin, end) of a panel. `from` has the rows of `rows`, without the first `skipped`
// ones; `to` starts with row `first_row` of the panel.
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

} // namespace

template <class T>
FanInBuffers<T>::FanInBuffers(BlockStructure const& structure, FactorPlan const& plan, FactorForm form)
    : structure_(structure), plan_(plan), form_(form),
      slots_(std::make_unique<Slot[]>(plan.factor.fan_in.blocks.size())) {
    for (std::int32_t const block : plan.outgoing) slots_[block].to_come = info(block).updates;
    for (std::int32_t const block : plan.incoming) slots_[block].to_come = info(block).tasks;
}

template <class T> std::size_t FanInBuffers<T>::bytes_of(std::int32_t block) const {
    FanInBlock const& one = info(block);
    Index const width = structure_.cblk(one.target).width();
    Index const rows = one.rows + (form_.has_upper() ? one.rows_below : 0);
    return static_cast<std::size_t>(rows * width) * sizeof(T);
}

template <class T> typename FanInBuffers<T>::Views FanInBuffers<T>::views(std::int32_t block) const {
    FanInBlock const& one = info(block);
    Index const width = structure_.cblk(one.target).width();
    T* const data = slots_[block].memory.template as<T>().data();
    Views views;
    views.lower = {data, one.rows, width, std::max<Index>(1, one.rows)};
    if (form_.has_upper())
        views.upper = {data + one.rows * width, one.rows_below, width, std::max<Index>(1, one.rows_below)};
    return views;
}

template <class T> UpdateTarget<T> FanInBuffers<T>::target(std::int32_t block) {
    Slot& slot = slots_[block];
    std::call_once(slot.allocated, [&] {
        slot.memory = Block::allocate(bytes_of(block));
        std::memset(slot.memory.data(), 0, slot.memory.size());
    });
    Views const one = views(block);
    return {{one.lower, 0}, {one.upper, info(block).rows - info(block).rows_below}};
}

template <class T> std::optional<Block> FanInBuffers<T>::contributed(std::int32_t block) {
    Slot& slot = slots_[block];
    if (slot.to_come.fetch_sub(1, std::memory_order_acq_rel) > 1) return std::nullopt;
    return std::move(slot.memory);
}

template <class T> void FanInBuffers<T>::put(std::int32_t block, Block&& received) {
    Slot& slot = slots_[block];
    if (received.size() != bytes_of(block) || slot.memory.data())
        throw Error(Status::internal,
                    fmt::format("received a fan-in block of {} bytes; expected one of {} bytes, once",
                                received.size(), bytes_of(block)));
    slot.memory = std::move(received);
}

template <class T>
std::size_t FanInBuffers<T>::add(std::int32_t block, Index begin, Index end, Factor<T>& factor) {
    Slot& slot = slots_[block];
    FanInBlock const& one = info(block);
    Views const from = views(block);
    auto const rows = plan_.factor.fan_in.rows_of(one);
    add_rows<T>(from.lower, factor.lower(one.target), rows, 0, 0, begin, end);
    if (form_.has_upper())
        add_rows<T>(from.upper, factor.upper(one.target), rows, factor.cblk(one.target).width(),
                    one.rows - one.rows_below, begin, end);
    if (slot.to_come.fetch_sub(1, std::memory_order_acq_rel) > 1) return 0;
    std::size_t const bytes = slot.memory.size();
    slot.memory = Block();
    return bytes;
}

template <class T> std::int32_t FanInBuffers<T>::incoming(std::int64_t number) const {
    if (number < 0 || number >= std::ssize(plan_.incoming))
        throw Error(Status::internal,
                    fmt::format("received a fan-in block with number {}; expected one of {}", number,
                                plan_.incoming.size()));
    return plan_.incoming[number];
}

#define ESPALIER_INSTANTIATE(T) template class FanInBuffers<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
