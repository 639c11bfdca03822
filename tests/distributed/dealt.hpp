// Vectors and rows distributed to processes, for the tests of distributed rows.
#pragma once

#include <random>
#include <vector>

#include "comm/thread_processes.hpp"
#include "distributed/distributed_rows.hpp"
#include "distributed/row_exchange.hpp"

namespace espalier::test {

/// The rows of each process in a random order. If there are three or more processes, the second has no rows.
inline std::vector<std::vector<Index>> random_owners(Index n, int processes, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<Index> rows(n);
    for (Index i = 0; i < n; ++i) rows[i] = i;
    std::shuffle(rows.begin(), rows.end(), random);
    std::vector<std::vector<Index>> owned(processes);
    for (Index const i : rows) {
        auto r = random() % static_cast<unsigned>(processes);
        if (processes > 2 && r == 1) r = 0;
        owned[r].push_back(i);
    }
    return owned;
}

/// The local rows of a block of columns.
template <class T>
std::vector<T> local_part(DistributedRows const& rows, std::vector<T> const& whole, Index columns = 1) {
    std::vector<T> local;
    for (Index c = 0; c < columns; ++c)
        for (Index l = 0; l < rows.count(); ++l) local.push_back(whole[rows.number(l) + c * rows.order()]);
    return local;
}

/// Collective: the exchange with a layout in which process 0 has all rows.
inline RowExchange exchange_with_root(DistributedRows const& rows) {
    std::vector<Index> numbers;
    for (Index l = 0; l < rows.count(); ++l) numbers.push_back(rows.number(l));
    return {rows, numbers, rows.comm().rank() == 0 ? rows.order() : 0};
}

/// Collective: the whole block on process 0, elsewhere nothing.
template <class T>
std::vector<T> gathered(DistributedRows const& rows, std::vector<T> const& local, Index columns = 1) {
    RowExchange const exchange = exchange_with_root(rows);
    std::vector<T> whole(exchange.given() * columns);
    exchange.to_caller<T>(local, whole, columns);
    return whole;
}

/// Runs body(rows) as each of `processes` processes, with n rows distributed at random.
template <class Body> void with_dealt_rows(Index n, int processes, unsigned seed, Body const& body) {
    auto const owned = random_owners(n, processes, seed);
    run_processes(processes, [&](Communicator const& comm) {
        body(comm.size() == 1 ? DistributedRows(n) : DistributedRows(comm, owned[comm.rank()]));
    });
}

} // namespace espalier::test
