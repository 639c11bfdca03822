#include "problem.hpp"

#include <filesystem>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include "core/random.hpp"
#include "core/scalar.hpp"
#include "core/suggest.hpp"
#include "generators/generators.hpp"
#include "io/read.hpp"
#include "matrix/convert.hpp"
#include "runtime/process_limits.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/processes.hpp"

namespace espalier::command {

namespace {

constexpr std::uint64_t random_seed = 20;

// All ones, or real and imaginary parts uniform in [-1, 1).
template <class T> DenseMatrix<T> generated(Index n, Index nrhs, bool is_random) {
    DenseMatrix<T> b{n, nrhs, std::vector<T>(static_cast<std::size_t>(n * nrhs), T(1))};
    SplitMix64 numbers(random_seed);
    auto const next = [&numbers] { return static_cast<Real<T>>(numbers.uniform(-1, 1)); };
    for (std::size_t i = 0; is_random && i < b.values.size(); ++i) {
        Real<T> const re = next();
        if constexpr (is_complex<T>)
            b.values[i] = T(re, next());
        else
            b.values[i] = re;
    }
    return b;
}

template <class T> DenseMatrix<T> from_file(RunOptions const& options, Index n) {
    auto const any = options.read_by_parts && num_processes() > 1
                         ? read_dense_by_parts(options.rhs, options.library.threads)
                         : read_dense(options.rhs, options.library.threads);
    return std::visit(
        [&]<class From>(DenseMatrix<From> const& b) -> DenseMatrix<T> {
            if (b.cols == 0)
                throw Error(Status::usage,
                            fmt::format("{}: the file has no columns; at least one right-hand side is needed",
                                        options.rhs));
            if (b.rows != n)
                throw Error(Status::bad_input,
                            fmt::format("{}: the right-hand side has {}, but the matrix has {}", options.rhs,
                                        counted(b.rows, "row"), n));
            if (options.nrhs && *options.nrhs != b.cols)
                throw Error(Status::usage,
                            fmt::format("--nrhs {} contradicts {}, which has {}", *options.nrhs, options.rhs,
                                        counted(b.cols, "column")));
            if constexpr (is_complex<From> && !is_complex<T>)
                throw Error(Status::usage,
                            fmt::format("{}: the right-hand side is complex, but the system is real; add "
                                        "--precision {}",
                                        options.rhs, to_string(scalar_of<std::complex<Real<T>>>)));
            for (Index j = 0; j < b.cols; ++j)
                for (Index i = 0; i < b.rows; ++i)
                    require_fits<T>(b.column(j)[i], options.rhs, "the right-hand side", i, j);
            return convert<T>(b);
        },
        any);
}

// " (did you mean 'lap3d'?)" for lapd3:20
std::string similar_generator(std::string_view spec) {
    std::vector<std::string_view> kinds;
    for (GeneratorHelp const& help : generator_help()) kinds.push_back(help.kind);
    return did_you_mean(spec.substr(0, spec.find(':')), kinds);
}

NamedMatrix read_or_generate(RunOptions const& options) {
    if (is_generator(options.matrix)) return generate_matrix(options.matrix);
    std::error_code error;
    if (is_generator(options.matrix + ":") && !std::filesystem::exists(options.matrix, error))
        for (GeneratorHelp const& help : generator_help())
            if (help.kind == options.matrix)
                throw Error(Status::usage,
                            fmt::format("the generator {0} needs a size: {0}:{1}{2}", help.kind,
                                        help.arguments,
                                        help.arguments == "N" ? ", as in " + options.matrix + ":20" : ""));
    if (options.matrix != "-" && !std::filesystem::exists(options.matrix, error) &&
        options.matrix.find('/') == std::string::npos)
        throw Error(Status::io_error,
                    fmt::format("'{}' is neither a file nor a generator such as lap3d:20{}; 'espalier "
                                "generate --help' lists the generators",
                                options.matrix, similar_generator(options.matrix)));
    if (options.read_by_parts && num_processes() > 1 &&
        options.matrix != "-") // only process 0 has standard input
        return read_matrix_by_parts(options.matrix, options.library.threads);
    return read_matrix(options.matrix == "-" ? "/dev/stdin" : options.matrix, options.library.threads);
}

} // namespace

std::pair<AnyMatrix, MatrixFacts> load_matrix(RunOptions const& options, ProgressSink* progress) {
    ProgressScope const phase(progress, "reading", 0);
    NamedMatrix named = read_or_generate(options);
    MatrixFacts facts;
    facts.description = std::move(named.description);
    std::visit(
        [&]<class T>(CscMatrix<T> const& matrix) {
            facts.rows = matrix.rows;
            facts.cols = matrix.cols;
            facts.nnz = matrix.nnz();
            facts.symmetry = matrix.symmetry;
            facts.read_as = scalar_of<T>;
        },
        named.matrix);
    if (facts.rows != facts.cols)
        throw Error(Status::bad_input,
                    fmt::format("{}: the matrix is {} x {}; a linear system needs a square one",
                                options.matrix, facts.rows, facts.cols));
    return {std::move(named.matrix), std::move(facts)};
}

Scalar run_scalar(RunOptions const& options, MatrixFacts const& matrix) {
    Scalar const scalar = options.precision.value_or(matrix.read_as);
    if (matrix.read_as == Scalar::z && (scalar == Scalar::s || scalar == Scalar::d))
        throw Error(Status::usage,
                    fmt::format("--precision {} is real, but {} is complex: use {}", to_string(scalar),
                                options.matrix, scalar == Scalar::s ? "c" : "z"));
    return scalar;
}

template <class T> CscMatrix<T> take_as(AnyMatrix&& matrix, RunOptions const& options) {
    Factorization const asked = options.library.factorization;
    bool const unconjugated = asked == Factorization::llt || asked == Factorization::ldlt;
    return std::visit(
        [unconjugated, &options]<class From>(CscMatrix<From>& from) -> CscMatrix<T> {
            if constexpr (std::is_same_v<T, From>) {
                return std::move(from);
            } else {
                for (Index j = 0; j < from.cols; ++j)
                    for (Offset p = from.col_ptr[j]; p < from.col_ptr[j + 1]; ++p)
                        require_fits<T>(from.values[p], options.matrix, "the matrix", from.row_ind[p], j);
                auto result = convert<T>(std::exchange(from, {}));
                // A real symmetric matrix in complex numbers is also Hermitian, which allows a cheaper
                // factorization.
                if (is_complex<T> && !is_complex<From> && result.symmetry == Symmetry::symmetric &&
                    !unconjugated)
                    result.symmetry = Symmetry::hermitian;
                return result;
            }
        },
        matrix);
}

template <class T> DenseMatrix<T> right_hand_sides(RunOptions const& options, Index n) {
    Index const nrhs = options.nrhs.value_or(1);
    // Checked before the allocation, because memory that is overcommitted would end the process later.
    double const needed = 3.0 * static_cast<double>(n) * static_cast<double>(nrhs) * sizeof(T);
    auto const available = static_cast<double>(available_memory_bytes());
    if (needed > available)
        throw Error(Status::out_of_memory,
                    fmt::format("right-hand sides and solutions (nrhs = {}) need {}, but {} are available",
                                nrhs, readable_bytes(needed), readable_bytes(available)));
    double const both = needed / 3 * 2;
    if (std::uint64_t const limit = options.library.max_memory;
        limit > 0 && both > static_cast<double>(limit))
        throw Error(Status::out_of_memory,
                    fmt::format("right-hand sides and solutions (nrhs = {}) need {}, but the limit is {}",
                                nrhs, readable_bytes(both), readable_bytes(static_cast<double>(limit))));
    bool const is_random = options.rhs == "random";
    return is_generated_rhs(options.rhs) ? generated<T>(n, nrhs, is_random) : from_file<T>(options, n);
}

ESPALIER_INSTANTIATE_FUNCTION(take_as)
ESPALIER_INSTANTIATE_FUNCTION(right_hand_sides)

} // namespace espalier::command
