// Typed access to BLAS for the four scalar types. Only this module includes CBLAS. All functions throw
// Error{unsupported} if a size does not fit the integers of the library.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/scalar.hpp"
#include "kernels/instruction_set.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// op(A): A, A^T or A^H.
enum class Op { none, transpose, adjoint };
/// Side of a triangular matrix in a product.
enum class Side { left, right };
/// Triangle of a matrix.
enum class Uplo { lower, upper };
/// Diagonal of a triangular matrix.
enum class Diag { non_unit, unit };

/// C = alpha op(A) op(B) + beta C.
template <class T>
void gemm(Op op_a, Op op_b, T alpha, MatrixView<T const> a, MatrixView<T const> b, T beta, MatrixView<T> c);
/// y = alpha op(A) x + beta y.
template <class T>
void gemv(Op op, T alpha, MatrixView<T const> a, std::span<T const> x, T beta, std::span<T> y);
/// x = op(A)^-1 x, A triangular.
template <class T> void trsv(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, std::span<T> x);
/// Lower triangle of C = alpha A A^H + beta C (conjugate) or alpha A A^T + beta C. alpha and beta are real.
template <class T>
void rank_k_update(bool conjugate, Real<T> alpha, MatrixView<T const> a, Real<T> beta, MatrixView<T> c);
/// B = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, MatrixView<T const> a, MatrixView<T> b);

/// Sets the number of threads of BLAS and returns the previous number.
int set_blas_threads(int threads);

/// BLAS uses one thread while at least one object exists. The last destructor restores the previous number.
class SingleThreadedBlas {
  public:
    SingleThreadedBlas();
    ~SingleThreadedBlas();
    SingleThreadedBlas(SingleThreadedBlas const&) = delete;
    SingleThreadedBlas& operator=(SingleThreadedBlas const&) = delete;
};

/// Identity of the BLAS library.
struct BlasInfo {
    std::string config; ///< Configuration string.
    std::string core;   ///< Processor kernel, e.g. "SkylakeX"; may be empty.
};
/// The BLAS library that is in use.
BlasInfo blas_info();

/// The instructions that kernels of OpenBLAS for the processor `core` need; nullopt for a name that is not
/// known.
std::optional<InstructionSet> instructions_of_blas_core(std::string_view core);

/// Error{unsupported} if this processor lacks instructions that kernels for `core` need, which the
/// environment can force upon OpenBLAS. Without the check the process would be killed at the first call.
void require_executable_blas(std::string_view core, InstructionSet processor);

/// Whether BLAS uses vectors of 128 bits on a processor with wider ones, as OpenBLAS does for some processors
/// that are newer than the library. It is then several times slower than the kernels of this module.
bool blas_is_narrow();

/// Advice for users of a BLAS that is narrow; otherwise empty.
std::string blas_advice();

} // namespace espalier
