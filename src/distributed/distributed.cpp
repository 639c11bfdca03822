// Collects distributed systems on process 0, and distributes vectors.
#include "espalier/distributed.hpp"

#include <cstring>

#include <fmt/format.h>

#include "comm/collective.hpp"
#include "core/scalar.hpp"

namespace espalier {

namespace {

using Parts = std::vector<std::vector<std::byte>>;

template <class T> void require_arrays(CscMatrix<T> const& part) {
    bool const fits = part.cols >= 0 && std::ssize(part.col_ptr) == part.cols + 1 &&
                      part.col_ptr.front() == 0 && part.col_ptr.back() == std::ssize(part.row_ind) &&
                      part.row_ind.size() == part.values.size();
    if (!fits)
        throw Error(Status::usage,
                    fmt::format("the arrays of {} columns of a distributed matrix are inconsistent: {} "
                                "positions, {} rows, {} values",
                                part.cols, part.col_ptr.size(), part.row_ind.size(), part.values.size()));
}

void require_right_hand_sides(std::size_t size, Index nrhs) {
    if (nrhs < 1 || static_cast<Index>(size) % nrhs != 0)
        throw Error(Status::usage,
                    fmt::format("a block of {} entries cannot have {} columns of equal length", size, nrhs));
}

// The exported functions call these, so that the types of their lambdas are not exported.

template <class T> CscMatrix<T> collect_columns(Communicator const& processes, CscMatrix<T> const& part) {
    struct {
        Index rows;
        Symmetry symmetry;
    } of_0{part.rows, part.symmetry};
    broadcast_value(processes, of_0, 0);
    std::vector<Offset> lengths;
    all_succeed(processes, [&] {
        require_arrays(part);
        if (part.rows != of_0.rows || part.symmetry != of_0.symmetry)
            throw Error(Status::usage,
                        fmt::format("the part has {} rows and symmetry {}, but that of process 0 has {} rows "
                                    "and symmetry {}",
                                    part.rows, to_string(part.symmetry), of_0.rows,
                                    to_string(of_0.symmetry)));
        for (Index j = 0; j < part.cols; ++j) lengths.push_back(part.col_ptr[j + 1] - part.col_ptr[j]);
    });
    CscMatrix<T> whole = all_succeed(processes, [] { return CscMatrix<T>(); });
    lengths = gather_joined<Offset>(processes, lengths, 0);
    whole.row_ind = gather_joined<Index>(processes, part.row_ind, 0);
    whole.values = gather_joined<T>(processes, part.values, 0);
    all_succeed(processes, [&] {
        if (processes.rank() > 0) return;
        whole.rows = part.rows;
        whole.cols = static_cast<Index>(lengths.size());
        whole.symmetry = part.symmetry;
        whole.col_ptr.reserve(lengths.size() + 1);
        for (Offset const length : lengths) whole.col_ptr.push_back(whole.col_ptr.back() + length);
    });
    return whole;
}

template <class T>
std::vector<T> collect_rows(Communicator const& processes, std::span<T const> part, Index nrhs) {
    all_succeed(processes, [&] { require_right_hand_sides(part.size(), nrhs); });
    Parts const parts = gather(processes, std::as_bytes(part), 0);
    std::vector<T> whole;
    all_succeed(processes, [&] {
        std::size_t size = 0;
        for (auto const& one : parts) size += one.size() / sizeof(T);
        whole.resize(size);
        T* to = whole.data();
        for (Index j = 0; j < nrhs; ++j)
            for (auto const& one : parts) {
                Index const column = std::ssize(one) / nrhs;
                if (column > 0) std::memcpy(to, one.data() + j * column, column);
                to += column / static_cast<Index>(sizeof(T));
            }
    });
    return whole;
}

template <class T>
std::vector<T> deal_rows(Communicator const& processes, std::span<T const> whole, Index rows, Index nrhs) {
    std::vector<std::int64_t> const all = all_gather(processes, rows);
    Parts parts;
    all_succeed(processes, [&] {
        if (processes.rank() > 0) return;
        require_right_hand_sides(whole.size(), nrhs);
        auto const n = static_cast<Index>(whole.size()) / nrhs;
        Index sum = 0;
        for (std::int64_t const count : all) sum = count < 0 || sum < 0 ? -1 : sum + count;
        if (sum != n)
            throw Error(Status::usage,
                        fmt::format("the processes ask for {} rows in all; the vectors have {}", sum, n));
        Index first = 0;
        for (std::int64_t const count : all) {
            std::vector<std::byte>& one = parts.emplace_back();
            for (Index j = 0; j < nrhs; ++j) {
                auto const column = std::as_bytes(whole.subspan(j * n + first, count));
                one.insert(one.end(), column.begin(), column.end());
            }
            first += count;
        }
    });
    std::vector<std::byte> const mine = scatter(processes, parts, 0);
    std::vector<T> part;
    all_succeed(processes, [&] {
        part.resize(mine.size() / sizeof(T));
        if (!mine.empty()) std::memcpy(part.data(), mine.data(), mine.size());
    });
    return part;
}

} // namespace

template <class T> CscMatrix<T> gather_columns(Communicator const& processes, CscMatrix<T> const& part) {
    return collect_columns(processes, part);
}
template <class T>
std::vector<T> gather_rows(Communicator const& processes, std::span<T const> part, Index nrhs) {
    return collect_rows(processes, part, nrhs);
}
template <class T>
std::vector<T> scatter_rows(Communicator const& processes, std::span<T const> whole, Index rows, Index nrhs) {
    return deal_rows(processes, whole, rows, nrhs);
}

ESPALIER_INSTANTIATE_FUNCTION(gather_columns)
ESPALIER_INSTANTIATE_FUNCTION(gather_rows)
ESPALIER_INSTANTIATE_FUNCTION(scatter_rows)

} // namespace espalier
