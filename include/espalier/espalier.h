/**
 * @file
 * The C interface of Espalier, a direct solver for large sparse systems A x = b. C11, and usable from C++.
 *
 * One handle, @ref espalier_solver, holds one system: its options, its matrix (copied), its analysis and its
 * factors. The steps can be taken one by one,
 *
 *     espalier_create, espalier_set_matrix, espalier_analyze, espalier_factorize, espalier_solve,
 *     espalier_refine, espalier_destroy
 *
 * or all at once by espalier_drive(). docs/c.md has a whole program. Several processes share a solver that
 * espalier_create_mpi() makes.
 *
 * Rules for every function:
 *  - It returns an @ref espalier_status. For every status other than ESPALIER_OK, espalier_message() returns
 *    one line. Null pointers, wrong sizes, wrong orders of calls and unknown enumerators are ESPALIER_USAGE,
 *    and an invalid matrix is ESPALIER_BAD_INPUT. Output arguments are written only if the call succeeds or
 *    the text says so.
 *  - After any error, and after a cancelled call, the handle can be used again.
 *  - Different threads may use different handles at the same time. Only one thread at a time may use a
 *    handle: a second call at the same time, also from a callback, is ESPALIER_USAGE.
 *  - Nothing is printed. The only state outside of the handles is the cost model of this machine, which is
 *    kept for later handles, and in a file for later programs. The environment variables
 *    ESPALIER_CALIBRATION, XDG_CACHE_HOME and HOME are read: see espalier_set_calibration().
 *  - Numbers are in the scalar type of the handle: `void*` blocks hold float, double, or pairs of them
 *    (`float complex`, `double complex`, std::complex). Dense blocks are column-major; entry (i, j) of a
 *    block with leading dimension ld is element i + j * ld. Sizes are int64_t.
 */
#ifndef ESPALIER_ESPALIER_H
#define ESPALIER_ESPALIER_H

#include <stddef.h>
#include <stdint.h>

#include "espalier/export.h"

/** Version of this header: major. */
#define ESPALIER_VERSION_MAJOR 0
/** Version of this header: minor. */
#define ESPALIER_VERSION_MINOR 1
/** Version of this header: patch. */
#define ESPALIER_VERSION_PATCH 0

/** In C++ enumerations have the width of int, so that any int that a caller passes is valid. */
#ifdef __cplusplus
#define ESPALIER_ENUM : int
#else
#define ESPALIER_ENUM
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** One linear system: options, matrix, analysis, factors. Made by espalier_create(). */
typedef struct espalier_solver espalier_solver;

/** How a call ended. The values are the exit codes of the espalier command. */
typedef enum espalier_status ESPALIER_ENUM {
    ESPALIER_OK = 0,                    /**< Done. */
    ESPALIER_INTERNAL = 1,              /**< A bug in Espalier, or a failure of a library it uses. */
    ESPALIER_USAGE = 2,                 /**< Null pointer, wrong size or order of calls, unknown option. */
    ESPALIER_BAD_INPUT = 3,             /**< Arrays that do not describe a matrix, NaN, Inf. */
    ESPALIER_IO_ERROR = 4,              /**< A file that cannot be read or written. */
    ESPALIER_SINGULAR = 5,              /**< Structurally or numerically singular matrix. */
    ESPALIER_NOT_POSITIVE_DEFINITE = 6, /**< llh found a pivot that is not positive. */
    ESPALIER_INACCURATE = 7,            /**< Solved, but the backward error is above the tolerance. */
    ESPALIER_OUT_OF_MEMORY = 8,         /**< The caller's limit, or the machine's, would be exceeded. */
    ESPALIER_UNSUPPORTED = 9,           /**< Understood, but this version or build cannot do it. */
    ESPALIER_CANCELLED = 10             /**< Stopped by the caller's cancel function. */
} espalier_status;

/** Scalar types, by their BLAS letter. */
typedef enum espalier_scalar ESPALIER_ENUM {
    ESPALIER_SINGLE = 's',         /**< float */
    ESPALIER_DOUBLE = 'd',         /**< double */
    ESPALIER_SINGLE_COMPLEX = 'c', /**< float complex */
    ESPALIER_DOUBLE_COMPLEX = 'z'  /**< double complex */
} espalier_scalar;

/** Meaning of the arrays of an @ref espalier_matrix. */
typedef enum espalier_layout ESPALIER_ENUM {
    ESPALIER_CSC = 0, /**< Compressed sparse columns. */
    ESPALIER_CSR = 1, /**< Compressed sparse rows. */
    ESPALIER_COO = 2  /**< Coordinates: row, column and value of each entry, in any order. */
} espalier_layout;

/** Symmetry of the values of a matrix. */
typedef enum espalier_symmetry ESPALIER_ENUM {
    ESPALIER_GENERAL = 0,   /**< None. */
    ESPALIER_SYMMETRIC = 1, /**< A = A^T */
    ESPALIER_HERMITIAN = 2  /**< A = A^H; for real scalars the same as symmetric. */
} espalier_symmetry;

/** Which entries of a symmetric or Hermitian matrix are given. */
typedef enum espalier_triangle ESPALIER_ENUM {
    ESPALIER_FULL = 0,  /**< All of them. The only choice for a general matrix. */
    ESPALIER_LOWER = 1, /**< Those with row >= column. */
    ESPALIER_UPPER = 2  /**< Those with row <= column. */
} espalier_triangle;

/** Integer type of the index arrays. */
typedef enum espalier_index_type ESPALIER_ENUM {
    ESPALIER_INT32 = 0, /**< int32_t (int, Fortran's default integer). */
    ESPALIER_INT64 = 1  /**< int64_t */
} espalier_index_type;

/** op(A): which system is solved. */
typedef enum espalier_op ESPALIER_ENUM {
    ESPALIER_OP_NONE = 0,      /**< A x = b */
    ESPALIER_OP_TRANSPOSE = 1, /**< A^T x = b */
    ESPALIER_OP_ADJOINT = 2    /**< A^H x = b */
} espalier_op;

/** Whether an optional step is done. */
typedef enum espalier_toggle ESPALIER_ENUM {
    ESPALIER_AUTO = 0, /**< If it helps. */
    ESPALIER_ON = 1,   /**< Always. */
    ESPALIER_OFF = 2   /**< Never. */
} espalier_toggle;

/** Factorizations. */
typedef enum espalier_factorization ESPALIER_ENUM {
    ESPALIER_FACTORIZATION_AUTO = 0, /**< From the symmetry and the diagonal. */
    ESPALIER_LLH = 1,                /**< L L^H: symmetric (real) or Hermitian, positive definite. */
    ESPALIER_LLT = 2,                /**< L L^T: complex symmetric. */
    ESPALIER_LDLT = 3,               /**< L D L^T: symmetric. */
    ESPALIER_LDLH = 4,               /**< L D L^H: Hermitian. */
    ESPALIER_LU = 5                  /**< L U: any. */
} espalier_factorization;

/** Ways to solve a system. */
typedef enum espalier_method ESPALIER_ENUM {
    ESPALIER_METHOD_DIRECT = 0, /**< A complete factorization. */
    ESPALIER_METHOD_ILU = 1,    /**< An incomplete factorization as preconditioner of a Krylov method. */
    ESPALIER_METHOD_AUTO = 2    /**< The one that predicted memory and time recommend. */
} espalier_method;

/** What happens to a column of ldlt, ldlh or lu without a good pivot in its column block. */
typedef enum espalier_pivoting ESPALIER_ENUM {
    ESPALIER_PIVOTING_STATIC = 0,  /**< Small pivots are replaced. */
    ESPALIER_PIVOTING_DELAYED = 1, /**< A larger block eliminates it later. */
    ESPALIER_PIVOTING_AUTO = 2     /**< Delayed where static pivots are replaced or lose accuracy. */
} espalier_pivoting;

/** Runtimes of the tasks of an incomplete factorization. */
typedef enum espalier_runtime ESPALIER_ENUM {
    ESPALIER_RUNTIME_ESPALIER = 0, /**< Espalier's threads and scheduling policies. */
    ESPALIER_RUNTIME_TBB = 1,      /**< oneTBB, if the library was built with it. */
    ESPALIER_RUNTIME_OPENMP = 2    /**< OpenMP, if the library was built with it. */
} espalier_runtime;

/** Orderings of the unknowns. */
typedef enum espalier_ordering ESPALIER_ENUM {
    ESPALIER_ORDERING_SCOTCH = 0,  /**< Nested dissection by SCOTCH. */
    ESPALIER_ORDERING_METIS = 1,   /**< Nested dissection by METIS. */
    ESPALIER_ORDERING_AMD = 2,     /**< Approximate minimum degree. */
    ESPALIER_ORDERING_NATURAL = 3, /**< The order of the unknowns in the matrix. */
    ESPALIER_ORDERING_USER = 4,    /**< From a file or from memory. */
    ESPALIER_ORDERING_RCM = 5,     /**< Reverse Cuthill-McKee, for narrow bands and incomplete factors. */
    /** DISSECTION, or AMD or RCM if that saves time; NATURAL if incomplete. */
    ESPALIER_ORDERING_AUTO = 6,
    ESPALIER_ORDERING_DISSECTION = 7 /**< Nested dissection by Espalier's multilevel method. */
} espalier_ordering;

/** Scheduling policies. */
typedef enum espalier_schedule ESPALIER_ENUM {
    ESPALIER_SCHEDULE_STATIC = 0,  /**< The simulated schedule; bitwise reproducible. */
    ESPALIER_SCHEDULE_DYNAMIC = 1, /**< Tree of queues. */
    ESPALIER_SCHEDULE_PLACES = 2,  /**< Task lists of cores and NUMA nodes. */
    ESPALIER_SCHEDULE_NAS = 3,     /**< One container per NUMA node. */
    ESPALIER_SCHEDULE_AUTO = 4     /**< The policy, splitting and widths that simulations find fastest. */
} espalier_schedule;

/** Memory of the coefficients of the factor. */
typedef enum espalier_allocation ESPALIER_ENUM {
    ESPALIER_ALLOC_GLOBAL = 0,    /**< One array, touched by one thread. */
    ESPALIER_ALLOC_LOCAL = 1,     /**< Touched first by the thread that owns them. */
    ESPALIER_ALLOC_INTERLEAVE = 2 /**< Spread over the NUMA nodes. */
} espalier_allocation;

/** Tasks of a column block. */
typedef enum espalier_splitting ESPALIER_ENUM {
    ESPALIER_SPLIT_1D = 0, /**< One task for each column block. */
    ESPALIER_SPLIT_2D = 1, /**< One task for each group of rows of a wide column block. */
    /** One task for each column block, divided while it runs if threads are idle. */
    ESPALIER_SPLIT_DYNAMIC = 2
} espalier_splitting;

/** Methods of refinement; the Krylov methods have the factorization as preconditioner. */
typedef enum espalier_refinement ESPALIER_ENUM {
    /** ir, then gmres if that stalls; cg or gmres for incomplete factorizations. */
    ESPALIER_REFINE_AUTO = 0,
    ESPALIER_REFINE_NONE = 1,    /**< Only measures the errors. */
    ESPALIER_REFINE_IR = 2,      /**< Iterative refinement. */
    ESPALIER_REFINE_CG = 3,      /**< Conjugate gradients. */
    ESPALIER_REFINE_GMRES = 4,   /**< GMRES(m). */
    ESPALIER_REFINE_BICGSTAB = 5 /**< BiCGSTAB. */
} espalier_refinement;

/** Types of the fields of the report. */
typedef enum espalier_field_type ESPALIER_ENUM {
    ESPALIER_FIELD_BOOL = 0,   /**< espalier_report_bool() */
    ESPALIER_FIELD_INT = 1,    /**< espalier_report_int() */
    ESPALIER_FIELD_REAL = 2,   /**< espalier_report_real() */
    ESPALIER_FIELD_STRING = 3, /**< espalier_report_string() */
    ESPALIER_FIELD_REALS = 4,  /**< espalier_report_reals() */
    ESPALIER_FIELD_STRINGS = 5 /**< espalier_report_strings() */
} espalier_field_type;

/**
 * A sparse matrix in the caller's arrays, which are read only during the call. Zero is a valid value of every
 * choice: `espalier_matrix a = {0};` is a general matrix in compressed columns, counted from 0, with
 * 32-bit indices.
 *
 * `struct_size` is sizeof(espalier_matrix), or 0 for the fields up to `values`. Later versions may append
 * fields; those that `struct_size` does not include count as zero. If the struct is larger than the one that
 * the library knows, the additional bytes must be zero.
 *
 *  layout | pointers                            | indices               | values
 *  ------ | ----------------------------------- | --------------------- | ---------------
 *  CSC    | cols + 1 starts of columns          | row of each entry     | of each entry
 *  CSR    | rows + 1 starts of rows             | column of each entry  | of each entry
 *  COO    | row of each entry                   | column of each entry  | of each entry
 *
 * Entries may come in any order, and those at the same position are summed. In CSC and CSR the first start is
 * `base`, starts do not decrease, and the last is `base + entries`. With ESPALIER_FULL storage, an entry of a
 * symmetric or Hermitian matrix must equal its mirror image (to rounding; the lower one is kept).
 */
typedef struct espalier_matrix {
    uint64_t struct_size;           /**< sizeof(espalier_matrix), or 0. */
    espalier_layout layout;         /**< Meaning of the arrays. */
    espalier_symmetry symmetry;     /**< Symmetry of the values. */
    espalier_triangle triangle;     /**< Which entries are given. */
    espalier_index_type index_type; /**< Type of `pointers` and `indices`. */
    int base;                       /**< Indices and starts count from here: 0 or 1. */
    int64_t rows;                   /**< Number of rows. */
    int64_t cols;                   /**< Number of columns. */
    int64_t entries;                /**< Length of `indices` and `values`. */
    void const* pointers;           /**< See the table. */
    void const* indices;            /**< See the table. */
    void const* values;             /**< Scalars of the handle's type. */
} espalier_matrix;

/**
 * Prediction of factorization and solve on `processes` processes with `threads` threads each, with the
 * schedule and the splitting of the options; it ignores where memory lies. work_s + communication_s + idle_s
 * = factor_s * processes * threads. Filled by espalier_predict(), which reads `struct_size` and writes only
 * the fields that it includes.
 */
typedef struct espalier_prediction {
    uint64_t struct_size;   /**< Set by the caller: sizeof(espalier_prediction), or 0. */
    int processes;          /**< Number of processes. */
    int threads;            /**< Threads of each process. */
    int comm_threads;       /**< Communication threads of each process. */
    double factor_s;        /**< Predicted seconds of the factorization (makespan). */
    double solve_s;         /**< Predicted seconds of a solve with one right-hand side. */
    double critical_path_s; /**< Lower bound on the makespan of these tasks, in seconds. */
    double work_s;          /**< Seconds of all tasks together. */
    double idle_s;          /**< Idle seconds of all workers together. */
    /** Seconds of all workers in messages, or lost to communication threads that use their cores. */
    double communication_s;
    double efficiency;         /**< work_s / (factor_s * processes * threads) */
    double memory_bytes;       /**< Memory of the process that needs most. */
    double total_memory_bytes; /**< Memory of all processes together. */
    double message_bytes;      /**< Bytes sent between processes. */
    int64_t messages;          /**< Messages between processes. */
    int64_t tasks;             /**< Tasks on workers. */
} espalier_prediction;

/** Bytes of an allocation, for a NUMA node (the system's number). */
typedef struct espalier_node_range {
    uint64_t bytes; /**< Number of bytes. */
    int node;       /**< The node. */
} espalier_node_range;

/** Memory on NUMA nodes: see espalier_node_memory_create(). */
typedef struct espalier_node_memory espalier_node_memory;

/** Receives a line of text without line end: a choice or a fallback. `user` is the registered pointer. Called
 *  on the thread that made the call. */
typedef void (*espalier_log_function)(char const* line, void* user);

/** Receives the fraction in [0, 1] of its work that a phase has done, or a negative number if that is not
 *  known. A phase begins with fraction 0 (or unknown) and ends with 1. Called from any thread, by one at a
 *  time. */
typedef void (*espalier_progress_function)(char const* phase, double fraction, void* user);

/** Called about every 10 ms on the thread that made the call. A result other than 0 ends the call with
 *  ESPALIER_CANCELLED. */
typedef int (*espalier_cancel_function)(void* user);

/** @name Version and status
 *  @{ */

/** Version of the library. Pointers may be null. */
ESPALIER_API void espalier_version(int* major, int* minor, int* patch);
/** Version of the library, as "0.1.0". */
ESPALIER_API char const* espalier_version_string(void);
/** Short stable name of a status: "ok", "bad_input", ...; "unknown" for other numbers. Never null. */
ESPALIER_API char const* espalier_status_string(espalier_status status);
/** The error of the last call on this handle in one line; empty if the call succeeded. Never null. Valid
 *  until the next call on the handle. */
ESPALIER_API char const* espalier_message(espalier_solver const* solver);

/** @}
 *  @name Handles
 *  @{ */

/** Makes a solver for systems in `scalar`. On failure `*solver` is null and there is no message:
 *  ESPALIER_USAGE for an unknown scalar type, or ESPALIER_OUT_OF_MEMORY. */
ESPALIER_API espalier_status espalier_create(espalier_solver** solver, espalier_scalar scalar);
/** Makes one solver of all processes of a communicator; `mpi_comm` is an `MPI_Comm const*`. The caller has
 *  initialized MPI, and all processes call this function with the same scalar. Then all processes make the
 *  same calls in the same order, and each call ends with the same status and message on all of them.
 *  Exceptions: options, callbacks, espalier_get_size(), espalier_get_processes() and the report are local to
 *  each process, and only process 0 calls espalier_predict() and espalier_write_predicted_trace().
 *
 *  Process 0 passes the matrix and the right-hand sides, and receives the solutions; its options are used.
 *  The arguments of the other processes are ignored, so 0 and null are allowed. Alternatively, each process
 *  passes its part: see espalier_set_matrix_part().
 *
 *  All processes receive single numbers (inertia, determinant, condition, rank) and the report. The solver
 *  communicates over a duplicate of the communicator. Destroy the handle before MPI is finalized, on a thread
 *  that may call MPI. ESPALIER_USAGE also if the communicator is not valid or MPI is not initialized;
 *  ESPALIER_UNSUPPORTED if the library was built without MPI. */
ESPALIER_API espalier_status espalier_create_mpi(espalier_solver** solver, espalier_scalar scalar,
                                                 void const* mpi_comm);
/** Does the same as espalier_create_mpi() for a Fortran communicator: an `integer`, or the MPI_VAL of a
 *  type(MPI_Comm). */
ESPALIER_API espalier_status espalier_create_mpi_fortran(espalier_solver** solver, espalier_scalar scalar,
                                                         int mpi_comm);
/** For processes other than 0, in place of espalier_create_mpi() and all other calls: takes part in the calls
 *  of process 0, and returns when process 0 has destroyed its solver. Only process 0 learns how its calls
 *  ended. There is no handle and no message. */
ESPALIER_API espalier_status espalier_follow_mpi(espalier_scalar scalar, void const* mpi_comm);
/** Does the same as espalier_follow_mpi() for a Fortran communicator. */
ESPALIER_API espalier_status espalier_follow_mpi_fortran(espalier_scalar scalar, int mpi_comm);
/** Rank of this process, 0 <= rank < processes, and number of processes; 0 and 1 without MPI. Pointers may be
 *  null. */
ESPALIER_API espalier_status espalier_get_processes(espalier_solver* solver, int* rank, int* processes);
/** Frees a solver and sets the caller's pointer to null. Does nothing for null or a pointer to null. */
ESPALIER_API void espalier_destroy(espalier_solver** solver);
/** Scalar type of the solver. */
ESPALIER_API espalier_status espalier_get_scalar(espalier_solver* solver, espalier_scalar* scalar);

/** @}
 *  @name Options
 *  Options may be set at any time. They take effect at the next step that uses them: options of the analysis
 *  at the next espalier_analyze(), for example. A wrong value is ESPALIER_USAGE and leaves the option
 *  unchanged.
 *  @{ */

/** Sets an option by the name and the spelling that the command uses: ("ordering", "metis"), ("threads",
 *  "4"), ("max-memory", "4G"). The message of ESPALIER_USAGE lists the names or values that are allowed. */
ESPALIER_API espalier_status espalier_set_option(espalier_solver* solver, char const* name,
                                                 char const* value);
/** The current value as espalier_set_option() accepts it. `*value` is valid until the next
 *  espalier_get_option(). */
ESPALIER_API espalier_status espalier_get_option(espalier_solver* solver, char const* name,
                                                 char const** value);
/** The number of options that have a name. */
ESPALIER_API int64_t espalier_option_count(void);
/** Name of option 0 <= k < espalier_option_count(); null for another k. */
ESPALIER_API char const* espalier_option_name(int64_t k);
/** One line that describes option k. Null for another k. */
ESPALIER_API char const* espalier_option_help(int64_t k);

/** Complete or incomplete factorization. */
ESPALIER_API espalier_status espalier_set_method(espalier_solver* solver, espalier_method value);
/** Incomplete factorization: level of fill, at least 0. */
ESPALIER_API espalier_status espalier_set_levels(espalier_solver* solver, int64_t value);
/** Incomplete factorization: size of dense blocks, 1 .. 6; 0: found from the matrix. */
ESPALIER_API espalier_status espalier_set_block_size(espalier_solver* solver, int value);
/** Incomplete factorization: aggregation of rows into tasks, "auto", "none" or a coarse string such as
 *  "CD(4)". */
ESPALIER_API espalier_status espalier_set_coarsen(espalier_solver* solver, char const* text);
/** Incomplete factorization: the runtime of the tasks. An analysis is ESPALIER_UNSUPPORTED if the build lacks
 *  it. */
ESPALIER_API espalier_status espalier_set_runtime(espalier_solver* solver, espalier_runtime value);
/** Whether to factorize by dense blocks of columns (supernodes). Without them, one thread factorizes single
 *  columns: lu of circuits, by its block triangular form; llh of trees and power networks; small systems.
 *  ESPALIER_AUTO: the method that is predicted to be faster. */
ESPALIER_API espalier_status espalier_set_supernodes(espalier_solver* solver, espalier_toggle value);
/** What happens to columns without a good pivot. */
ESPALIER_API espalier_status espalier_set_pivoting(espalier_solver* solver, espalier_pivoting value);
/** Delayed pivots: the least modulus of a pivot relative to the other entries of its column, at most 0.5. */
ESPALIER_API espalier_status espalier_set_pivot_tolerance(espalier_solver* solver, double value);
/** The factorization. */
ESPALIER_API espalier_status espalier_set_factorization(espalier_solver* solver,
                                                        espalier_factorization value);
/** Maximum-product matching before lu, ldlt and ldlh. */
ESPALIER_API espalier_status espalier_set_matching(espalier_solver* solver, espalier_toggle value);
/** Scaling of rows and columns. */
ESPALIER_API espalier_status espalier_set_scaling(espalier_solver* solver, espalier_toggle value);
/** Factorize in single precision and refine to the precision of the matrix; 0 or 1. */
ESPALIER_API espalier_status espalier_set_mixed_precision(espalier_solver* solver, int value);
/** Estimate the condition number (factorization) and the forward error (refinement); 0 or 1. */
ESPALIER_API espalier_status espalier_set_condition(espalier_solver* solver, int value);
/** Accept a rank-deficient matrix, for espalier_null_space(); 0 or 1. */
ESPALIER_API espalier_status espalier_set_allow_singular(espalier_solver* solver, int value);
/** The `count` distinct unknowns, counted from `base` (0 or 1), that are not eliminated: the factorization
 *  computes their Schur complement. None if `count` is 0. Copied. */
ESPALIER_API espalier_status espalier_set_schur(espalier_solver* solver, int64_t count,
                                                int64_t const* unknowns, int base);
/** The ordering. The next two functions set ESPALIER_ORDERING_USER. */
ESPALIER_API espalier_status espalier_set_ordering(espalier_solver* solver, espalier_ordering value);
/** An ordering from a file: the new position of each unknown, see docs/user-guide.md. */
ESPALIER_API espalier_status espalier_set_ordering_file(espalier_solver* solver, char const* path);
/** An ordering from memory: the new position of each of the `count` unknowns, counted from `base` (0 or 1).
 *  Copied; checked by the analysis. The option "ordering" then has the value "positions", which
 *  espalier_set_option() accepts as long as no other ordering was set. */
ESPALIER_API espalier_status espalier_set_ordering_positions(espalier_solver* solver, int64_t count,
                                                             int64_t const* positions, int base);
/** Nonzero: espalier_analyze() adapts the ordering of the last analysis, if it had as many unknowns, to the
 *  pattern of the new matrix instead of finding a new one. */
ESPALIER_API espalier_status espalier_set_reuse_ordering(espalier_solver* solver, int value);
/** Worker threads of each process; 0 for the cores that the process may use. Plans are made for a number of
 *  threads: a change of the threads or of the topology discards the analysis and the factors. */
ESPALIER_API espalier_status espalier_set_threads(espalier_solver* solver, int value);
/** Bind worker threads to cores; 0 or 1. */
ESPALIER_API espalier_status espalier_set_bind_threads(espalier_solver* solver, int value);
/** The machine to plan for: "here", an hwloc XML file (a name that ends in .xml), or a synthetic description
 *  such as "numa:2 core:4". Workers are bound to cores only with "here". */
ESPALIER_API espalier_status espalier_set_topology(espalier_solver* solver, char const* text);
/** The cost model of predictions and schedules. ESPALIER_AUTO: the model that is stored in the user's cache
 *  directory. If there is none, it is measured (about a second) before a long factorization, and shorter ones
 *  use the default model. ESPALIER_ON: measured again. ESPALIER_OFF: the default model of the library; no
 *  file is touched. With ESPALIER_AUTO the environment variable ESPALIER_CALIBRATION (auto, on, off) decides
 * if it is set. The directory is espalier in $XDG_CACHE_HOME or in $HOME/.cache. */
ESPALIER_API espalier_status espalier_set_calibration(espalier_solver* solver, espalier_toggle value);
/** Record what each thread does from the next step on, for espalier_write_trace(); 0 or 1. */
ESPALIER_API espalier_status espalier_set_record_trace(espalier_solver* solver, int value);
/** The scheduling policy. */
ESPALIER_API espalier_status espalier_set_schedule(espalier_solver* solver, espalier_schedule value);
/** Memory of the coefficients of the factor. */
ESPALIER_API espalier_status espalier_set_allocation(espalier_solver* solver, espalier_allocation value);
/** Tasks of a column block. */
ESPALIER_API espalier_status espalier_set_splitting(espalier_solver* solver, espalier_splitting value);
/** Bounds of the columns of a column block: supernodes wider than `most` are split into blocks of at least
 *  `least` columns. `most` 0: chosen by the number of workers that share a supernode; `least` 0: half of the
 *  largest. */
ESPALIER_API espalier_status espalier_set_block_widths(espalier_solver* solver, int64_t least, int64_t most);
/** Zeros that amalgamation may store, relative to the entries of the factor. */
ESPALIER_API espalier_status espalier_set_amalgamation_fill(espalier_solver* solver, double value);
/** Pivots smaller than this share of the largest entry are replaced. Negative: the default, sqrt(epsilon), or
 *  less if columns may be delayed. */
ESPALIER_API espalier_status espalier_set_pivot_threshold(espalier_solver* solver, double value);
/** The method of refinement. */
ESPALIER_API espalier_status espalier_set_refinement(espalier_solver* solver, espalier_refinement value);
/** Maximum number of steps of refinement; 0 for the default of the method. */
ESPALIER_API espalier_status espalier_set_max_refine_iterations(espalier_solver* solver, int value);
/** Normwise backward error up to which a system counts as solved; 0 for the default, 1e-12 in double and 1e-5
 *  in single precision. */
ESPALIER_API espalier_status espalier_set_tolerance(espalier_solver* solver, double value);
/** Maximum number of bytes that a call may use, on all processes of a computer together; 0 for no limit. A
 *  step that needs more is ESPALIER_OUT_OF_MEMORY before anything is allocated for it. */
ESPALIER_API espalier_status espalier_set_max_memory(espalier_solver* solver, uint64_t bytes);

/** @}
 *  @name Callbacks
 *  A null function removes the callback. Callbacks must not call functions on the same handle, throw, or
 *  leave by longjmp.
 *  @{ */

/** Registers a function that receives a line for each choice and fallback. */
ESPALIER_API espalier_status espalier_set_log(espalier_solver* solver, espalier_log_function function,
                                              void* user);
/** Registers a function that receives the progress of long phases. */
ESPALIER_API espalier_status espalier_set_progress(espalier_solver* solver,
                                                   espalier_progress_function function, void* user);
/** Registers a function that can end a call. */
ESPALIER_API espalier_status espalier_set_cancel(espalier_solver* solver, espalier_cancel_function function,
                                                 void* user);

/** @}
 *  @name Matrix
 *  @{ */

/** Checks and copies the matrix of the system, which must be square. Discards the analysis and the factors of
 *  an earlier matrix, unless this call fails. */
ESPALIER_API espalier_status espalier_set_matrix(espalier_solver* solver, espalier_matrix const* matrix);
/** New values on the pattern of espalier_set_matrix(), in the layout and order given there. The analysis is
 *  kept and the factors are discarded. A failure changes nothing. */
ESPALIER_API espalier_status espalier_set_values(espalier_solver* solver, int64_t entries,
                                                 void const* values);
/** Order of the matrix that was set, and entries kept of it (of the lower triangle when symmetric or
 *  Hermitian). Pointers may be null. */
ESPALIER_API espalier_status espalier_get_size(espalier_solver* solver, int64_t* order, int64_t* entries);

/** @}
 *  @name Steps
 *  @{ */

/** Ordering, symbolic factorization and mapping, with an estimate of time and memory in the report. The
 *  values determine factorization, matching and scaling. ESPALIER_SINGULAR for a structurally singular
 *  matrix, unless espalier_set_allow_singular() is set; ESPALIER_IO_ERROR and ESPALIER_BAD_INPUT for the
 *  ordering file. */
ESPALIER_API espalier_status espalier_analyze(espalier_solver* solver);
/** Numeric factorization; analyzes first if that was not done for this matrix. ESPALIER_SINGULAR;
 *  ESPALIER_NOT_POSITIVE_DEFINITE for llh; ESPALIER_OUT_OF_MEMORY if it would need more than the limit.
 *  After any failure there are no factors. */
ESPALIER_API espalier_status espalier_factorize(espalier_solver* solver);
/** Calls espalier_set_values() and espalier_factorize(). After any failure there are no factors; if the
 *  values are invalid, the matrix keeps its earlier values. */
ESPALIER_API espalier_status espalier_refactorize(espalier_solver* solver, int64_t entries,
                                                  void const* values);
/** op(A) X = B for `nrhs` right-hand sides, without refinement. B and X are order x nrhs with leading
 *  dimensions `ldb` and `ldx`; they may be the same block. */
ESPALIER_API espalier_status espalier_solve(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                            void const* b, int64_t ldb, void* x, int64_t ldx);
/** Solves for sparse right-hand sides, a general matrix of order x nrhs. The forward solve visits only
 *  the part of the elimination tree that B reaches. X is dense, order x nrhs. */
ESPALIER_API espalier_status espalier_solve_sparse(espalier_solver* solver, espalier_op op,
                                                   espalier_matrix const* b, void* x, int64_t ldx);
/** Improves X by the method of espalier_set_refinement() until its backward error is about 10 epsilon (with
 *  an incomplete factorization: within the tolerance) or the method stagnates, and measures the errors
 *  (report: backward_error, componentwise_error, refine.*). If the backward error is not within the
 *  tolerance, the status is ESPALIER_INACCURATE or ESPALIER_SINGULAR, and X is the best solution that was
 *  found. */
ESPALIER_API espalier_status espalier_refine(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                             void const* b, int64_t ldb, void* x, int64_t ldx);
/** All steps in one call: analysis and factorization unless they are done, solve, and refine with its
 *  statuses. B and X may be the same block. */
ESPALIER_API espalier_status espalier_drive(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                            void const* b, int64_t ldb, void* x, int64_t ldx);
/** Factorizes and solves `systems` systems with the pattern of espalier_set_matrix(), across the threads of
 *  the solver, each of which solves its share of the systems by itself. `values` has the `entries` values of
 *  one matrix after another, each as for espalier_set_values(), and `b` and `x` (order x nrhs for each
 *  system) one block after another, without gaps. Solutions are refined and checked. `status` receives
 *  ESPALIER_OK, ESPALIER_INACCURATE, ESPALIER_SINGULAR or ESPALIER_NOT_POSITIVE_DEFINITE for each system,
 *  whose X is NaN in the last two cases, and `errors`, which may be null, the backward error of each. Such a
 *  system does not make the call fail. The matrix and the factors of the solver do not change. One process
 *  only: ESPALIER_UNSUPPORTED otherwise. */
ESPALIER_API espalier_status espalier_solve_batch(espalier_solver* solver, int64_t systems, int64_t entries,
                                                  void const* values, int64_t nrhs, void const* b, void* x,
                                                  espalier_status* status, double* errors);
/** For interfaces of other languages: a process calls this instead of the function `call` if it found an
 *  invalid argument that the C interface cannot check. The call then returns ESPALIER_USAGE with `message` on
 *  all processes. */
ESPALIER_API espalier_status espalier_refuse(espalier_solver* solver, char const* call, char const* message);

/** @}
 *  @name Systems in parts
 *  Each process of espalier_create_mpi() passes its part of the matrix, and its rows of right-hand sides and
 *  solutions. With a solver of one process the part is everything. Calls of this group and those above may be
 *  mixed: a matrix set in parts can be solved with right-hand sides of process 0.
 *  @{ */

/** Sets the matrix of which each process has
 *   - in CSC consecutive columns, those of process 0 first: `rows` is the order, `cols` the number of them;
 *   - in CSR consecutive rows likewise: `cols` is the order, `rows` the number of them;
 *   - in COO any entries, with the order as `rows` and `cols`; entries at the same position are summed, also
 *     those of different processes.
 *
 *  `pointers` are those of the part, from `base` on; indices those of the whole matrix. Layout, symmetry,
 *  triangle, base and order are the same on all processes. A part may be empty. Otherwise like
 *  espalier_set_matrix(). */
ESPALIER_API espalier_status espalier_set_matrix_part(espalier_solver* solver, espalier_matrix const* part);
/** New values of each process's part, in the order of espalier_set_matrix_part(). */
ESPALIER_API espalier_status espalier_set_values_part(espalier_solver* solver, int64_t entries,
                                                      void const* values);
/** Calls espalier_set_values_part() and espalier_factorize(). */
ESPALIER_API espalier_status espalier_refactorize_part(espalier_solver* solver, int64_t entries,
                                                       void const* values);
/** Does the work of espalier_solve() where each process has `rows` consecutive rows of B and X, those of
 *  process 0 first, as blocks of rows x nrhs. They add up to the order; how the matrix was given does not
 *  matter. */
ESPALIER_API espalier_status espalier_solve_rows(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                                 int64_t rows, void const* b, int64_t ldb, void* x,
                                                 int64_t ldx);
/** Does the work of espalier_refine() for such rows. */
ESPALIER_API espalier_status espalier_refine_rows(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                                  int64_t rows, void const* b, int64_t ldb, void* x,
                                                  int64_t ldx);
/** Does the work of espalier_drive() for such rows. */
ESPALIER_API espalier_status espalier_drive_rows(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                                 int64_t rows, void const* b, int64_t ldb, void* x,
                                                 int64_t ldx);

/** @}
 *  @name Results from the factors
 *  ESPALIER_USAGE before a factorization.
 *  @{ */

/** The inertia of a real symmetric or Hermitian matrix, or with espalier_set_schur() of its block A_ii: the
 *  numbers of positive, negative and zero eigenvalues, from the signs of the pivots. A replaced delayed pivot
 *  counts as zero. ESPALIER_USAGE for other matrices, for lu and for incomplete factors; ESPALIER_INACCURATE
 *  if pivots were replaced (unless columns were delayed and the matrix is singular), or if entries grew so
 *  much that the factors do not determine it. Pointers may be null. */
ESPALIER_API espalier_status espalier_inertia(espalier_solver* solver, int64_t* positive, int64_t* negative,
                                              int64_t* zero);
/** det A = (phase_re + i phase_im) exp(log_modulus), with a phase of modulus 1, or 0 and log_modulus
 *  -infinity for a matrix that is singular to working precision. ESPALIER_USAGE with espalier_set_schur() and
 *  for incomplete factors; ESPALIER_INACCURATE otherwise if pivots were replaced, or if entries grew so much
 *  that the factors do not determine it. Pointers may be null. */
ESPALIER_API espalier_status espalier_determinant(espalier_solver* solver, double* phase_re, double* phase_im,
                                                  double* log_modulus);
/** Estimate of 1 / (|A| |A^-1|) in 1-norms (Hager 1984, Higham 1988), from about ten solves. */
ESPALIER_API espalier_status espalier_rcond(espalier_solver* solver, double* rcond);
/** Finds the right null vectors, with singular values below tolerance * |A| (0: order * epsilon), and the
 *  rank. Structurally singular matrices need espalier_set_allow_singular() before the analysis. */
ESPALIER_API espalier_status espalier_null_space(espalier_solver* solver, double tolerance, int64_t* rank);
/** The orthonormal null vectors of espalier_null_space(): order x (order - rank), with leading dimension
 *  `ld`. */
ESPALIER_API espalier_status espalier_null_vectors(espalier_solver* solver, void* basis, int64_t ld);
/** Entries of A^-1 for the entries of the matrix, in the order of espalier_set_matrix() and of the type of
 *  the solver: for entry (i, j) of A the entry (j, i) of A^-1, which is the derivative of log |det A| by that
 *  of A. All entries at one position receive the same value. `entries` is their number. Needs the memory of
 *  the factors again; one process only, and factors in full precision without replaced pivots:
 *  ESPALIER_UNSUPPORTED otherwise. */
ESPALIER_API espalier_status espalier_selected_inverse(espalier_solver* solver, int64_t entries,
                                                       void* inverse);
/** The diagonal of A^-1: an entry for each row, with the requirements of espalier_selected_inverse(). */
ESPALIER_API espalier_status espalier_inverse_diagonal(espalier_solver* solver, void* diagonal);
/** Copies the factors into sparse matrices, which the solver keeps until its factors change: with the
 *  permutations p and q of espalier_get_permutations(), A(p, p) = L L^H (llh), L L^T (llt), L D L^H (ldlh) or
 *  L D L^T (ldlt), and A(p, q) = L U (lu). L has a unit diagonal except for llh and llt, and D has blocks of
 *  1 x 1 and 2 x 2. `entries` receives the numbers of entries of L, D and U that are not zero; 0 for a factor
 *  that does not exist. One process only, and factors in full precision: ESPALIER_UNSUPPORTED otherwise. */
ESPALIER_API espalier_status espalier_factors(espalier_solver* solver, int64_t entries[3]);
/** The compressed columns of factor 'L', 'D' or 'U' of espalier_factors(), with indices and starts that count
 *  from `base`, 0 or 1: order + 1 starts, and a row and a value, of the type of the solver, for each entry.
 *  Pointers may be null. */
ESPALIER_API espalier_status espalier_get_factor(espalier_solver* solver, char factor, int base,
                                                 int64_t* pointers, int64_t* indices, void* values);
/** The permutations of espalier_factors(): row k of L is row p[k] of A, and column k of L^H, L^T or U is
 *  column q[k], which is p[k] except for lu. Pointers may be null. */
ESPALIER_API espalier_status espalier_get_permutations(espalier_solver* solver, int base, int64_t* p,
                                                       int64_t* q);
/** X = (L D)^-1 B with the factors of espalier_factors(), where D is the identity for llh and llt; vectors
 *  have the order of the rows of L. Blocks as for espalier_solve(). Not for lu: ESPALIER_USAGE. */
ESPALIER_API espalier_status espalier_solve_lower(espalier_solver* solver, int64_t nrhs, void const* b,
                                                  int64_t ldb, void* x, int64_t ldx);
/** X = L^-H B for llh and ldlh, L^-T B for llt and ldlt. Otherwise like espalier_solve_lower(). */
ESPALIER_API espalier_status espalier_solve_lower_adjoint(espalier_solver* solver, int64_t nrhs,
                                                          void const* b, int64_t ldb, void* x, int64_t ldx);
/** Replaces A by A + W W^H for sign = 1, or by A - W W^H for sign = -1 (W W^T if A is symmetric and not
 *  Hermitian), and its factors by those of the new matrix. W is a general matrix of order x k, which
 *  process 0 passes. All steps then use the new matrix, until espalier_set_values() sets all values of a
 *  matrix with the pattern that was set. `in_place`, which may be null, receives 1 if the factors were
 *  changed in place. It receives 0 if the new matrix was factorized, because the factorization or the
 *  structure of the factors does not allow a change in place; a note in the report states the reason. After
 *  ESPALIER_NOT_POSITIVE_DEFINITE for llh, or ESPALIER_SINGULAR, the matrix and the factors are unchanged. */
ESPALIER_API espalier_status espalier_update(espalier_solver* solver, espalier_matrix const* w, int sign,
                                             int* in_place);
/** Calls espalier_update() with the nonzeros of a dense W (order x rank) with leading dimension `ldw`. */
ESPALIER_API espalier_status espalier_update_dense(espalier_solver* solver, int64_t rank, void const* w,
                                                   int64_t ldw, int sign, int* in_place);
/** The Schur complement S = A_ss - A_si A_ii^-1 A_is on the k unknowns of espalier_set_schur(), in that
 *  order: k x k with leading dimension `ld`, all entries even if symmetric. ESPALIER_USAGE without such
 *  unknowns, also for the next two functions. */
ESPALIER_API espalier_status espalier_schur_complement(espalier_solver* solver, void* schur, int64_t ld);
/** Right-hand sides of the condensed system: R = B_s - A_si A_ii^-1 B_i, k x nrhs, from B, order x nrhs. With
 *  `op`, op(A) and op(S) take the places of A and S. */
ESPALIER_API espalier_status espalier_condense(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                               void const* b, int64_t ldb, void* r, int64_t ldr);
/** The whole solution X (order x nrhs) of op(A) X = B from B and X_s, the solution of op(S) X_s = R. */
ESPALIER_API espalier_status espalier_expand(espalier_solver* solver, espalier_op op, int64_t nrhs,
                                             void const* b, int64_t ldb, void const* x_schur, int64_t lds,
                                             void* x, int64_t ldx);

/** @}
 *  @name Predictions and traces
 *  A trace is a Paje file, which ViTE, pajeng and `espalier trace` read. It is compressed if `path` ends in
 *  .gz. The file is written completely or not at all; a failure is ESPALIER_IO_ERROR. It contains
 *  `matrix_name`, which may be null.
 *  @{ */

/** Predicts the factorization on `processes` processes with `threads` threads each (0: the cores of the
 *  topology). ESPALIER_USAGE before espalier_analyze(), for a factorization without supernodes
 *  (espalier_set_supernodes()), for more than 2^20 workers, and for a wrong `struct_size`. */
ESPALIER_API espalier_status espalier_predict(espalier_solver* solver, int processes, int threads,
                                              espalier_prediction* prediction);
/** Writes the schedule of espalier_predict() as a trace. */
ESPALIER_API espalier_status espalier_write_predicted_trace(espalier_solver* solver, char const* path,
                                                            int processes, int threads,
                                                            char const* matrix_name);
/** Writes what was recorded since the last espalier_analyze() or espalier_write_trace(). With several
 *  processes it is one trace, on the clock of process 0, which writes the file. ESPALIER_USAGE if nothing was
 *  recorded: see espalier_set_record_trace(). */
ESPALIER_API espalier_status espalier_write_trace(espalier_solver* solver, char const* path,
                                                  char const* matrix_name);

/** @}
 *  @name Report
 *  Results of the steps, under the names of the command's JSON: "analysis.flops", "factor.pivots_replaced",
 *  "backward_error" (docs/report.md). The handle owns texts and arrays; they are valid until the next call on
 *  it outside of this group. An unknown name or another type is ESPALIER_USAGE.
 *  @{ */

/** The number of fields. */
ESPALIER_API espalier_status espalier_report_count(espalier_solver* solver, int64_t* count);
/** Name and type of field 0 <= k < count. Pointers may be null. */
ESPALIER_API espalier_status espalier_report_field(espalier_solver* solver, int64_t k, char const** name,
                                                   espalier_field_type* type);
/** A boolean, as 0 or 1. */
ESPALIER_API espalier_status espalier_report_bool(espalier_solver* solver, char const* name, int* value);
/** An integer. */
ESPALIER_API espalier_status espalier_report_int(espalier_solver* solver, char const* name, int64_t* value);
/** A real number, or an integer as one. */
ESPALIER_API espalier_status espalier_report_real(espalier_solver* solver, char const* name, double* value);
/** A text. */
ESPALIER_API espalier_status espalier_report_string(espalier_solver* solver, char const* name,
                                                    char const** value);
/** Numbers, such as "refine.history". `*values` is not null even if there are none. */
ESPALIER_API espalier_status espalier_report_reals(espalier_solver* solver, char const* name, int64_t* count,
                                                   double const** values);
/** Texts, such as "notes". `*values` is not null even if there are none. */
ESPALIER_API espalier_status espalier_report_strings(espalier_solver* solver, char const* name,
                                                     int64_t* count, char const* const** values);
/** The whole report as one JSON object without line breaks. */
ESPALIER_API espalier_status espalier_report_json(espalier_solver* solver, char const** json);

/** @}
 *  @name Memory on NUMA nodes
 *  Helpers for the data of a program; the solver places its own coefficients (espalier_set_allocation()).
 *  Nodes have the numbers of the system, as in `numactl --hardware`. On a machine with one node, or if the
 *  system refuses, everything works and all pages are on that node. These functions need no handle, and there
 *  is no message: ESPALIER_USAGE for a null pointer, a negative number, or a node that is not one of
 *  espalier_memory_nodes().
 *  @{ */

/** The nodes whose memory this process may use, ascending: the first `capacity` of them, and their number.
 *  `nodes` may be null if `capacity` is 0. */
ESPALIER_API espalier_status espalier_memory_nodes(int64_t capacity, int* nodes, int64_t* count);
/** Makes `count` consecutive ranges of zeros, whose pages are preferably placed on their nodes, whichever
 *  thread touches them first. A page that two ranges share belongs to the one with its first byte.
 *  ESPALIER_OUT_OF_MEMORY. */
ESPALIER_API espalier_status espalier_node_memory_create(espalier_node_memory** memory, int64_t count,
                                                         espalier_node_range const* ranges);
/** Makes `bytes` zeros in pieces of `piece_bytes`, rounded up to whole pages, on the nodes in turn; 0: one
 *  equal piece for each node. Pieces are larger if there would be more than 16384. ESPALIER_OUT_OF_MEMORY. */
ESPALIER_API espalier_status espalier_node_memory_distribute(espalier_node_memory** memory, uint64_t bytes,
                                                             uint64_t piece_bytes);
/** The first byte, at the start of a page; null if the memory is empty or null. */
ESPALIER_API void* espalier_node_memory_data(espalier_node_memory const* memory);
/** Frees the memory and sets the pointer to null. Null is allowed. */
ESPALIER_API void espalier_node_memory_destroy(espalier_node_memory** memory);
/** Moves the pages of any `bytes` of the process, those at the ends included, to a node; contents are kept.
 *  Pages that were never touched are not moved. If the node is full, or the system refuses, pages remain
 *  where they were: espalier_query_nodes() reports where. */
ESPALIER_API espalier_status espalier_move_to_node(void* data, uint64_t bytes, int node);
/** Sets node_bytes[n] for nodes 0 <= n < capacity to the bytes that are there, `untouched` to those without
 *  memory yet, and `unknown` to those on other nodes or on nodes that the system does not report. The sum of
 *  all is `bytes`. `untouched` and `unknown` may be null. Ranges above 1 GiB are sampled. */
ESPALIER_API espalier_status espalier_query_nodes(void const* data, uint64_t bytes, int64_t capacity,
                                                  uint64_t* node_bytes, uint64_t* untouched,
                                                  uint64_t* unknown);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
