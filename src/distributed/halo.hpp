// The remote rows that the entries of a process touch. Their values are imported from the owners before a
// product, and contributions to them are exported to the owners after it, where they are added in the order
// of the processes, so that results do not depend on timing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/collective.hpp"
#include "core/function_ref.hpp"
#include "espalier/types.hpp"

namespace espalier {

class Halo {
  public:
    /// No remote rows.
    Halo() = default;
    /// Collective. wanted[r]: the local rows of process r that this process needs, in the order in which they
    /// are numbered here.
    Halo(Communicator comm, std::vector<std::vector<Index>> wanted);

    /// Number of remote rows.
    [[nodiscard]] Index size() const { return remote_.count(); }
    [[nodiscard]] bool is_needed() const { return comm_.size() > 1; }
    /// Collective: reserves memory for messages of `bytes` for each row. Error{out_of_memory} on all
    /// processes.
    void reserve(std::size_t bytes);

    /// Collective. Sets remote[h + c * size()] = value(row at the owner, c). Requires reserve(columns *
    /// sizeof(E)).
    template <class E, class Value> void import_values(E* remote, Index columns, Value const& value) {
        import_bytes(reinterpret_cast<std::byte*>(remote), sizeof(E), columns,
                     [&](std::byte* to, Index row, Index c) { *reinterpret_cast<E*>(to) = value(row, c); });
    }

    /// Collective. Calls add(row, c, remote[h + c * size()]) at the owner of each remote row, by process.
    template <class E, class Add> void export_values(E const* remote, Index columns, Add const& add) {
        export_bytes(reinterpret_cast<std::byte const*>(remote), sizeof(E), columns,
                     [&](Index row, Index c, std::byte const* from) {
                         add(row, c, *reinterpret_cast<E const*>(from));
                     });
    }

  private:
    // Rows to send or receive, sorted by process: those of process r are begin[r] .. begin[r + 1] - 1.
    struct Runs {
        std::vector<Index> begin; // empty without rows: default objects need no memory
        [[nodiscard]] Index count() const { return begin.empty() ? 0 : begin.back(); }
        // Calls visit(row, column) in the order of a message of `columns` columns.
        template <class Visit> void for_each(Index columns, Visit const& visit) const {
            for (std::size_t r = 0; r + 1 < begin.size(); ++r)
                for (Index c = 0; c < columns; ++c)
                    for (Index k = begin[r]; k < begin[r + 1]; ++k) visit(k, c);
        }
    };

    using Put = FunctionRef<void(std::byte* to, Index row, Index column)>;
    using Take = FunctionRef<void(Index row, Index column, std::byte const* from)>;

    // Values have `bytes` bytes.
    void import_bytes(std::byte* remote, std::size_t bytes, Index columns, Put put);
    void export_bytes(std::byte const* remote, std::size_t bytes, Index columns, Take take);
    void exchange(std::span<std::byte const> sent, Runs const& sent_runs, std::span<std::byte> received,
                  Runs const& received_runs, std::size_t bytes_of_row);

    Communicator comm_;
    Runs remote_;             // remote rows, as numbered here
    Runs shared_;             // local rows that other processes need
    std::vector<Index> rows_; // the local rows of shared_
    std::size_t reserved_ = 0;
    std::vector<std::byte> message_, packed_;
    std::vector<std::span<std::byte const>> from_;
    std::vector<std::span<std::byte>> into_;
};

} // namespace espalier
