// The transport over MPI, on a duplicate of the given communicator.
#include <algorithm>

#include "comm/alarm.hpp"
#include "comm/block.hpp"
#include "comm/collective.hpp"
#include "comm/fortran_handle.hpp"
#include "comm/mpi_transfers.hpp"

namespace espalier {

namespace {

// Longer memory is divided among several calls, because counts are ints.
constexpr std::size_t longest_piece = std::size_t{1} << 30;

template <class T, class Call> void in_pieces(std::span<T> values, Call&& call) {
    constexpr std::size_t most = longest_piece / sizeof(T);
    for (; !values.empty(); values = values.subspan(std::min(most, values.size())))
        call(values.first(std::min(most, values.size())));
}

// Waits for all requests. Sleeps in between, because the other processes may work for long on the same cores.
void wait_for(std::span<MPI_Request> requests, char const* call) {
    Alarm never;
    Backoff backoff;
    for (int done = 0; !done;) {
        check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
                  call);
        if (!done) backoff.pause(never, std::chrono::microseconds(100));
    }
}

MPI_Op operation(Reduction reduction) {
    return reduction == Reduction::max ? MPI_MAX : reduction == Reduction::min ? MPI_MIN : MPI_SUM;
}

template <class T>
void all_reduce(std::span<T> values, MPI_Datatype type, Reduction reduction, MPI_Comm comm) {
    in_pieces(values, [&](std::span<T> piece) {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Iallreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), type,
                                 operation(reduction), comm, &request),
                  "MPI_Iallreduce");
        wait_for({&request, 1}, "MPI_Iallreduce");
    });
}

std::size_t size_of(MPI_Comm comm) {
    int size = 0;
    check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    return static_cast<std::size_t>(size);
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank;
}

bool is_running() {
    int started = 0;
    int ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended;
}

class MpiTransport final : public Transport {
  public:
    /// Takes ownership of the communicator and makes it return errors.
    explicit MpiTransport(MPI_Comm own) : comm_(own), requests_(2 * size_of(own)) {
        check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check_mpi(MPI_Type_contiguous(sizeof(MessageHeader), MPI_BYTE, &line_), "MPI_Type_contiguous");
        check_mpi(MPI_Type_commit(&line_), "MPI_Type_commit");
        check_mpi(MPI_Type_create_resized(line_, 0, 0, &same_line_), "MPI_Type_create_resized");
        check_mpi(MPI_Type_commit(&same_line_), "MPI_Type_commit");
    }

    ~MpiTransport() override {
        if (!is_running()) return;
        MPI_Type_free(&same_line_);
        MPI_Type_free(&line_);
        MPI_Comm_free(&comm_);
    }

    std::shared_ptr<Transport> first(int count) override {
        int const rank = rank_in(comm_);
        MPI_Comm part = MPI_COMM_NULL;
        check_mpi(MPI_Comm_split(comm_, rank < count ? 0 : MPI_UNDEFINED, rank, &part), "MPI_Comm_split");
        return part == MPI_COMM_NULL ? nullptr : transport_over(part);
    }

    [[nodiscard]] ThreadLevel thread_level() const override {
        int level = MPI_THREAD_SINGLE;
        check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
        if (level >= MPI_THREAD_MULTIPLE) return ThreadLevel::multiple;
        if (level >= MPI_THREAD_SERIALIZED) return ThreadLevel::serialized;
        return level >= MPI_THREAD_FUNNELED ? ThreadLevel::funneled : ThreadLevel::single;
    }

    [[nodiscard]] bool on_main_thread() const override {
        int is_main = 0;
        check_mpi(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
        return is_main != 0;
    }

    void broadcast(std::span<std::byte> bytes, int root) override {
        in_pieces(bytes, [&](auto piece) {
            MPI_Request request = MPI_REQUEST_NULL;
            check_mpi(
                MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, comm_, &request),
                "MPI_Ibcast");
            wait_for({&request, 1}, "MPI_Ibcast");
        });
    }

    void reduce(std::span<double> values, Reduction reduction) override {
        all_reduce(values, MPI_DOUBLE, reduction, comm_);
    }

    void reduce(std::span<std::int64_t> values, Reduction reduction) override {
        all_reduce(values, MPI_INT64_T, reduction, comm_);
    }

    void all_to_all(std::span<std::span<std::byte const> const> from,
                    std::span<std::span<std::byte> const> into) override {
        int const rank = rank_in(comm_);
        std::copy(from[rank].begin(), from[rank].end(), into[rank].begin());
        // Each round moves at most one piece between two ranks, so that the number of requests is bounded.
        for (std::size_t begin = 0; exchange_pieces(from, into, begin, rank); begin += longest_piece) {
        }
    }

    std::unique_ptr<Transfers> transfers() override { return std::make_unique<MpiTransfers>(comm_, line_); }

    std::optional<Arrival> probe(Channel channel) override {
        int found = 0;
        MPI_Message message;
        MPI_Status status;
        check_mpi(MPI_Improbe(MPI_ANY_SOURCE, tag_of(channel), comm_, &found, &message, &status),
                  "MPI_Improbe");
        if (!found) return std::nullopt;
        int lines = 0;
        check_mpi(MPI_Get_count(&status, line_, &lines), "MPI_Get_count");
        return Arrival{status.MPI_SOURCE, lines * sizeof(MessageHeader), handle_of(message)};
    }

    void receive(Arrival const& arrival, std::span<std::byte> into) override {
        receive_lines(arrival, into.data(), line_);
    }

    void discard(Arrival const& arrival) override {
        MessageHeader line;
        receive_lines(arrival, &line, same_line_);
    }

    /// A transport that owns `own`, or an error after which `own` is freed.
    static std::shared_ptr<MpiTransport> transport_over(MPI_Comm own) {
        try {
            return std::make_shared<MpiTransport>(own);
        } catch (...) {
            MPI_Comm_free(&own);
            throw;
        }
    }

  private:
    // Moves the pieces of all blocks that start at `begin`. Returns whether there was any.
    bool exchange_pieces(std::span<std::span<std::byte const> const> from,
                         std::span<std::span<std::byte> const> into, std::size_t begin, int rank) {
        auto const size = static_cast<int>(from.size());
        auto const piece_of = [&](auto block) {
            return block.subspan(std::min(begin, block.size()))
                .first(std::min(longest_piece, block.size() - std::min(begin, block.size())));
        };
        std::size_t count = 0;
        for (int step = 1; step < size; ++step) { // so that the ranks do not all address rank 0 first
            int const other = (rank + size - step) % size;
            auto const piece = piece_of(into[other]);
            if (!piece.empty())
                check_mpi(MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, other, gather_tag,
                                    comm_, &requests_[count++]),
                          "MPI_Irecv");
        }
        for (int step = 1; step < size; ++step) {
            int const other = (rank + step) % size;
            auto const piece = piece_of(from[other]);
            if (!piece.empty())
                check_mpi(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, other, gather_tag,
                                    comm_, &requests_[count++]),
                          "MPI_Isend");
        }
        wait_for(std::span(requests_).first(count), "an exchange of blocks");
        return count > 0;
    }

    static void receive_lines(Arrival const& arrival, void* into, MPI_Datatype type) {
        MPI_Message message = message_of(arrival.handle);
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Imrecv(into, lines_of(arrival.bytes), type, &message, &request), "MPI_Imrecv");
        wait_for({&request, 1}, "MPI_Imrecv");
    }

    MPI_Comm comm_;
    std::vector<MPI_Request> requests_;     // for an exchange of blocks
    MPI_Datatype line_ = MPI_DATATYPE_NULL; // sizeof(MessageHeader) bytes
    // A type of the same size with an extent of 0, so that all lines overlap. It receives a message without
    // keeping it. MPI leaves the contents undefined. A short buffer does not help, because Open MPI 4
    // writes beyond its end.
    MPI_Datatype same_line_ = MPI_DATATYPE_NULL;
};

} // namespace

Communicator Communicator::from_mpi(void const* mpi_comm) {
    if (!is_running())
        throw Error(Status::usage, "MPI is not initialized or already finalized: create the communicator "
                                   "between MPI_Init and MPI_Finalize");
    if (!mpi_comm) throw Error(Status::usage, "the pointer to an MPI communicator is null");
    auto const given = *static_cast<MPI_Comm const*>(mpi_comm);
    if (given == MPI_COMM_NULL) throw Error(Status::usage, "the MPI communicator is MPI_COMM_NULL");
    int between_groups = 0;
    check_mpi(MPI_Comm_test_inter(given, &between_groups), "MPI_Comm_test_inter");
    if (between_groups)
        throw Error(Status::usage, "the MPI communicator is an intercommunicator; pass an intracommunicator");
    MPI_Comm own = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(given, &own), "MPI_Comm_dup");
    // All processes fail if one has no memory.
    Communicator made;
    std::optional<Error> const mine = error_of([&] {
        int const rank = rank_in(own), size = static_cast<int>(size_of(own));
        made = make_communicator(rank, size, MpiTransport::transport_over(own));
    });
    int failures = mine ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, given), "MPI_Allreduce");
    if (mine) throw *mine;
    if (failures > 0)
        throw Error(Status::out_of_memory, "a process does not have enough memory for its communicator");
    return made;
}

Communicator communicator_of_fortran(int handle) {
    // MPI converts handles only between MPI_Init and MPI_Finalize.
    MPI_Comm const comm = is_running() ? MPI_Comm_f2c(static_cast<MPI_Fint>(handle)) : MPI_COMM_NULL;
    return Communicator::from_mpi(&comm);
}

} // namespace espalier
