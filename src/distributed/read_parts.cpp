#include "distributed/read_parts.hpp"

#include <algorithm>
#include <complex>
#include <numeric>
#include <optional>
#include <utility>

#include "comm/collective.hpp"
#include "core/pack.hpp"
#include "core/run_threads.hpp"
#include "distributed/deal.hpp"
#include "distributed/entry_exchange.hpp"
#include "distributed/fold_parts.hpp"
#include "distributed/read_together.hpp"
#include "distributed/shares.hpp"
#include "io/market_lines.hpp"
#include "io/market_parts.hpp"
#include "io/read.hpp"
#include "matrix/triangles.hpp"

namespace espalier {

namespace {

// Sends the data that process 0 packs to all processes, which unpack them. An error of process 0 is thrown on
// all, without a rank.
template <class Pack, class Unpack>
void broadcast_packed(Communicator const& comm, Pack const& pack, Unpack const& unpack) {
    std::vector<std::byte> bytes;
    std::optional<Error> problem;
    if (comm.rank() == 0)
        problem = error_of([&] {
            Packer packer;
            pack(packer);
            bytes = packer.take();
        });
    Outcome const outcome = agree(comm, problem);
    if (!outcome.ok()) throw Error(outcome.status, outcome.what);
    broadcast(comm, bytes, 0);
    all_succeed(comm, [&] {
        Unpacker unpacker(bytes);
        unpack(unpacker);
    });
}

// Packs or unpacks.
template <class Archive, class Description> void pass(Archive& archive, Description& description) {
    archive(description.name, description.format, description.declared, description.entries_in_file,
            description.duplicates_summed, description.notes);
}

// Packs the columns or rows of a process, or unpacks them.
template <class T> void pack_part(Packer& packer, CscMatrix<T> const& whole, int r, int processes) {
    Shares const columns(whole.cols, processes);
    Index const first = columns.first(r), count = columns.size(r);
    Offset const begin = whole.col_ptr[first], end = whole.col_ptr[first + count];
    std::vector<Offset> col_ptr(whole.col_ptr.begin() + first, whole.col_ptr.begin() + first + count + 1);
    for (Offset& position : col_ptr) position -= begin;
    packer(whole.rows, count, whole.symmetry, col_ptr);
    packer(std::vector<Index>(whole.row_ind.begin() + begin, whole.row_ind.begin() + end));
    packer(std::vector<T>(whole.values.begin() + begin, whole.values.begin() + end));
}
template <class T> void unpack_part(Unpacker unpacker, CscMatrix<T>& part) {
    unpacker(part.rows, part.cols, part.symmetry, part.col_ptr, part.row_ind, part.values);
}
template <class T> void pack_part(Packer& packer, DenseMatrix<T> const& whole, int r, int processes) {
    Shares const rows(whole.rows, processes);
    Index const first = rows.first(r), count = rows.size(r);
    std::vector<T> values;
    for (Index j = 0; j < whole.cols; ++j)
        values.insert(values.end(), whole.column(j) + first, whole.column(j) + first + count);
    packer(count, whole.cols, values);
}
template <class T> void unpack_part(Unpacker unpacker, DenseMatrix<T>& part) {
    unpacker(part.rows, part.cols, part.values);
}

// Replaces the data of process 0 by the part of each process. `kind` is the index in the variant.
template <template <class> class Block>
void deal_parts(Communicator const& comm, std::size_t kind,
                std::variant<Block<double>, Block<std::complex<double>>>& any) {
    auto const deal = [&]<class T>(T) {
        auto const bytes = deal_out(
            comm, [&](Packer& packer, int r) { pack_part(packer, std::get<Block<T>>(any), r, comm.size()); });
        all_succeed(comm, [&] {
            Block<T> part;
            unpack_part(Unpacker(bytes), part);
            any = std::move(part);
        });
    };
    if (kind == 0)
        deal(double());
    else
        deal(std::complex<double>());
}

NamedMatrix read_and_deal_matrix(Communicator const& comm, std::string const& path, int threads) {
    NamedMatrix named = all_succeed(comm, [] { return NamedMatrix(); });
    std::size_t kind = 0;
    broadcast_packed(
        comm,
        [&](Packer& packer) {
            named = read_matrix(path, threads);
            packer(named.matrix.index());
            pass(packer, named.description);
        },
        [&](Unpacker& unpacker) {
            unpacker(kind);
            pass(unpacker, named.description);
        });
    deal_parts<CscMatrix>(comm, kind, named.matrix);
    return named;
}

AnyDense read_and_deal_dense(Communicator const& comm, std::string const& path, int threads) {
    AnyDense block;
    std::size_t kind = 0;
    broadcast_packed(
        comm,
        [&](Packer& packer) {
            block = read_dense(path, threads);
            packer(block.index());
        },
        [&](Unpacker& unpacker) { unpacker(kind); });
    deal_parts<DenseMatrix>(comm, kind, block);
    return block;
}

using FindHead = std::optional<MarketHead>(std::string const& path);

// The header that process 0 reads; none if only process 0 can read the file.
std::optional<MarketHead> shared_head(Communicator const& comm, std::string const& path, FindHead* find) {
    std::optional<MarketHead> head;
    broadcast_packed(
        comm,
        [&](Packer& packer) {
            auto const read = find(path);
            packer(read.has_value());
            if (read) packer(*read);
        },
        [&](Unpacker& unpacker) {
            bool found = false;
            unpacker(found);
            if (found) unpacker(head.emplace());
        });
    return head;
}

std::int64_t sum_before(std::vector<std::int64_t> const& numbers, int rank) {
    return std::accumulate(numbers.begin(), numbers.begin() + rank, std::int64_t{0});
}

// The entries in the lines of this process, and the number of entries before them.
template <class Parse> auto parse_together(Communicator const& comm, std::string const& path,
                                           MarketHead const& head, Offset declared, Parse const& parse) {
    int const rank = comm.rank();
    Lines lines;
    read_together(comm, path, [&] { lines = read_lines(path, head, rank, comm.size()); });
    auto const line_feeds = std::count(lines.text.begin(), lines.text.end(), '\n');
    Offset const first_line = head.body_line + sum_before(all_gather(comm, line_feeds), rank);
    std::optional<Source> source;
    decltype(parse(*source)) entries;
    read_together(comm, path, [&] { entries = parse(source.emplace(lines.text, path, first_line)); });
    Offset const here = std::visit([](auto const& pieces) { return total_size(pieces); }, entries);
    Offset const before = sum_before(all_gather(comm, here), rank);
    read_together(comm, path,
                  [&] { require_count(*source, before, here, rank == comm.size() - 1, declared); });
    return std::pair(std::move(entries), before);
}

template <class T> NamedMatrix assemble_together(Communicator const& comm, CoordinateData data,
                                                 Triples<T> triples, int threads) {
    auto& description = data.description;
    Shares const columns(data.cols, comm.size());
    auto part = own_columns(comm, columns, data.rows, std::move(triples), team_size(threads),
                            description.duplicates_summed);
    description.duplicates_summed = sum(comm, description.duplicates_summed);
    if (description.duplicates_summed > 0)
        read_together(comm, data.source, [&] {
            check_duplicates(part, columns.first(comm.rank()), data.source);
            note_duplicates(description.duplicates_summed, description.notes);
        });
    if (data.declared != DeclaredSymmetry::general) {
        read_together(comm, data.source,
                      [&] { require_square(data.rows, data.cols, data.declared, data.source); });
        fold_parts(comm, columns, part, data.declared, data.source, description.notes);
    } else if (data.rows == data.cols && data.rows > 0) {
        recognize_parts(comm, columns, part, description.notes);
    }
    return {std::move(part), std::move(description)};
}

// Returns the rows of this process from pieces of a block stored by columns. The first piece begins with
// entry `before`. The rows that a process receives of a column are consecutive.
template <class T> DenseMatrix<T> rows_together(Communicator const& comm, MarketHeader const& header,
                                                Pieces<T> pieces, Offset before) {
    Shares const rows(header.rows, comm.size());
    std::vector<std::vector<T>> blocks;
    all_succeed(comm, [&] {
        blocks.resize(comm.size());
        for (auto& piece : pieces) {
            for (auto at = piece.begin(); at != piece.end();) {
                Index const row = before % header.rows;
                int const owner = rows.owner(row);
                auto const count = std::min<Offset>(rows.first(owner + 1) - row, piece.end() - at);
                blocks[owner].insert(blocks[owner].end(), at, at + count);
                at += count;
                before += count;
            }
            piece = {};
        }
    });
    auto received = all_to_all(comm, blocks);
    DenseMatrix<T> part{rows.size(comm.rank()), header.cols, {}};
    all_succeed(comm, [&] {
        for (auto const& one : received) part.values.insert(part.values.end(), one.begin(), one.end());
    });
    return part;
}

} // namespace

NamedMatrix read_matrix_parts(Communicator const& comm, std::string const& path, int threads) {
    if (comm.size() == 1) return read_matrix(path, threads);
    auto const head = shared_head(comm, path, find_matrix_head);
    if (!head) return read_and_deal_matrix(comm, path, threads);
    auto triples = parse_together(comm, path, *head, head->header.entries, [&](Source const& lines) {
                       return parse_entry_lines(lines, head->header, threads);
                   }).first;
    CoordinateData data;
    read_together(comm, path, [&] {
        data = without_entries(path, head->header);
        data.description.name = file_name(path);
    });
    return std::visit(
        [&](auto& typed) { return assemble_together(comm, std::move(data), std::move(typed), threads); },
        triples);
}

AnyDense read_dense_parts(Communicator const& comm, std::string const& path, int threads) {
    if (comm.size() == 1) return read_dense(path, threads);
    auto const head = shared_head(comm, path, find_dense_head);
    if (!head) return read_and_deal_dense(comm, path, threads);
    MarketHeader const& header = head->header;
    if (header.array) {
        auto [pieces, before] =
            parse_together(comm, path, *head, header.rows * header.cols,
                           [&](Source const& lines) { return parse_array_lines(lines, header, threads); });
        Offset const first = before;
        return std::visit(
            [&](auto& typed) -> AnyDense { return rows_together(comm, header, std::move(typed), first); },
            pieces);
    }
    auto triples = parse_together(comm, path, *head, header.entries, [&](Source const& lines) {
                       return parse_entry_lines(lines, header, threads);
                   }).first;
    return std::visit(
        [&]<class T>(Triples<T>& typed) -> AnyDense {
            Shares const rows(header.rows, comm.size());
            auto const mine =
                to_owners(comm, rows, std::move(typed), [](Triple<T> const& entry) { return entry.row; });
            DenseMatrix<T> part;
            read_together(comm, path, [&] {
                part = scatter(rows.size(comm.rank()), header.cols, rows.first(comm.rank()), mine, path);
            });
            return part;
        },
        triples);
}

} // namespace espalier
