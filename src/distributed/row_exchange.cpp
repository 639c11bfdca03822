#include "distributed/row_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "matrix/spmv.hpp"

namespace espalier {

RowExchange::RowExchange(DistributedRows rows, std::span<Index const> callers_rows, Index given)
    : rows_(std::move(rows)), given_(given) {
    Communicator const& comm = rows_.comm();
    auto const counts = all_gather(comm, given);
    std::vector<Index> first;               // first row of each process in the layout of the caller
    std::vector<std::vector<Index>> wanted; // rows of each process that this one owns
    all_succeed(comm, [&] {
        first.assign(1, 0);
        for (auto const count : counts) first.push_back(first.back() + count);
        if (*std::ranges::min_element(counts) < 0 || first.back() != rows_.order())
            throw Error(Status::usage,
                        fmt::format("the parts of all processes have {} rows in total; the matrix has {}",
                                    first.back(), rows_.order()));
        bool const in_range =
            std::ranges::all_of(callers_rows, [&](Index row) { return row >= 0 && row < rows_.order(); });
        if (std::ssize(callers_rows) != rows_.count() || !in_range)
            throw Error(
                Status::usage,
                fmt::format("{} rows of the caller were named for {} local rows, or one is not in 0 .. {}",
                            callers_rows.size(), rows_.count(), rows_.order() - 1));
        callers_.length = given;
        owned_.length = rows_.count();
        if (rows_.is_alone()) {
            owned_.rows.resize(callers_rows.size());
            std::iota(owned_.rows.begin(), owned_.rows.end(), Index(0));
            callers_.rows.assign(callers_rows.begin(), callers_rows.end());
            return;
        }
        std::vector<std::vector<Index>> local(comm.size());
        wanted.resize(comm.size());
        for (Index l = 0; l < std::ssize(callers_rows); ++l) {
            Index const row = callers_rows[l];
            auto const process = std::ranges::upper_bound(first, row) - first.begin() - 1;
            local[process].push_back(l);
            wanted[process].push_back(row - first[process]);
        }
        owned_.set_rows(local);
    });
    if (rows_.is_alone()) return;
    auto const requested = all_to_all(comm, wanted);
    all_succeed(comm, [&] { callers_.set_rows(requested); });
}

void RowExchange::Side::set_rows(std::vector<std::vector<Index>> const& parts) {
    begin.assign(1, 0);
    for (auto const& part : parts) {
        rows.insert(rows.end(), part.begin(), part.end());
        begin.push_back(std::ssize(rows));
    }
}

template <class T> void RowExchange::move(std::span<T const> from, Side const& source, std::span<T> into,
                                          Side const& target, Index columns) const {
    Communicator const& comm = rows_.comm();
    std::vector<T> sent, received;
    std::vector<std::span<std::byte const>> out;
    std::vector<std::span<std::byte>> in;
    all_succeed(comm, [&] {
        require_block_size("a block of vectors", from.size(), source.length, columns);
        require_block_size("a block of vectors", into.size(), target.length, columns);
        if (rows_.is_alone()) return;
        sent.resize(source.rows.size() * columns);
        received.resize(target.rows.size() * columns);
        auto const part = [&](std::vector<T>& all, Side const& side, int r) {
            return std::span(all).subspan(side.begin[r] * columns,
                                          (side.begin[r + 1] - side.begin[r]) * columns);
        };
        for (int r = 0; r < comm.size(); ++r) {
            out.push_back(std::as_bytes(part(sent, source, r)));
            in.push_back(std::as_writable_bytes(part(received, target, r)));
        }
    });
    if (rows_.is_alone()) {
        for (Index c = 0; c < columns; ++c)
            for (Index k = 0; k < std::ssize(source.rows); ++k)
                into[target.rows[k] + c * target.length] = from[source.rows[k] + c * source.length];
        return;
    }
    // Row by row, so that the part of a process is contiguous.
    for (Index k = 0; k < std::ssize(source.rows); ++k)
        for (Index c = 0; c < columns; ++c) sent[k * columns + c] = from[source.rows[k] + c * source.length];
    detail::exchange_blocks(comm, out, in);
    for (Index k = 0; k < std::ssize(target.rows); ++k)
        for (Index c = 0; c < columns; ++c)
            into[target.rows[k] + c * target.length] = received[k * columns + c];
}

template <class T>
void RowExchange::to_owners(std::span<T const> given, std::span<T> local, Index columns) const {
    move(given, callers_, local, owned_, columns);
}

template <class T>
void RowExchange::to_caller(std::span<T const> local, std::span<T> given, Index columns) const {
    move(local, owned_, given, callers_, columns);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void RowExchange::to_owners(std::span<T const>, std::span<T>, Index) const;                     \
    template void RowExchange::to_caller(std::span<T const>, std::span<T>, Index) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE(Index)

} // namespace espalier
