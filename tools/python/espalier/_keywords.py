"""The options as keywords of Solver, spsolve and factorized. Made by tests/python/keywords.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy.typing as npt


class IluKeywords(TypedDict, total=False):
    """Types of the keywords of ilu(), which has the others as arguments. None keeps the default."""

    #: factorization of the matrix: Cholesky (llh, llt), LDL (ldlt, ldlh) or LU (lu) (auto, llh, llt, ldlt,
    #: ldlh, lu) [auto: chosen from its symmetry and diagonal]
    factorization: Literal["auto", "llh", "llt", "ldlt", "ldlh", "lu"] | None

    #: permute rows (lu) or form pairs of them (ldlt, ldlh) by a maximum-product matching (auto, on, off)
    #: [auto: if a diagonal entry is zero or weak]
    matching: Literal["auto", "on", "off"] | None

    #: scale rows and columns (auto, on, off) [auto: for lu, ldlt and ldlh]
    scaling: Literal["auto", "on", "off"] | None

    #: factorize in single precision and refine to the precision of the run; fall back to full precision if
    #: single precision is not accurate enough
    mixed_precision: bool | None

    #: estimate the condition number and the forward error, and print the determinant and the inertia
    condition: bool | None

    #: accept a matrix that is singular by its pattern, to compute its null space
    allow_singular: bool | None

    #: ordering of the unknowns: a method, or a file with the new position of each row (auto, dissection,
    #: scotch, metis, amd, natural, rcm or FILE) [auto: dissection, or amd or scotch if that saves time;
    #: natural for --method ilu]
    ordering: str | os.PathLike[str] | None

    #: adapt the ordering of the solver's last analysis to a changed pattern instead of finding a new one
    reuse_ordering: bool | None

    #: ilu: size of dense blocks [auto: found from the matrix]
    block_size: int | Literal["auto"] | None

    #: ilu: aggregation of rows into tasks by a coarse string such as CD(4) (docs/user-guide.md) (auto, none
    #: or STRING) [auto]
    coarsen: str | os.PathLike[str] | None

    #: ilu: runtime that executes the tasks: threads of Espalier with the policy of --schedule, or oneTBB or
    #: OpenMP, if this build has them (espalier, tbb, openmp) [espalier]
    runtime: Literal["espalier", "tbb", "openmp"] | None

    #: worker threads of each process [auto: the cores that the process may use]
    threads: int | Literal["auto"] | None

    #: bind worker threads to cores
    bind: bool | None

    #: communication threads of each of several processes: with 2 one sends and one receives, with 0 workers
    #: move messages between tasks; fewer if MPI does not allow as many [1]
    comm_threads: int | None

    #: assume in plans and predictions that communication threads have cores of their own; otherwise they slow
    #: workers down (auto, on, off) [auto: if a process has cores without workers]
    comm_own_core: Literal["auto", "on", "off"] | None

    #: machine to plan for: an XML file of lstopo, or a description such as 'numa:2 core:8'; workers then have
    #: virtual cores and NUMA nodes [here: this machine]
    topology: str | os.PathLike[str] | None

    #: predict times with a cost model measured on this machine: on measures it again, off uses the default
    #: model (auto, on, off) [auto: measured once before a long factorization, and kept]
    calibration: Literal["auto", "on", "off"] | None

    #: record what each thread does
    record_trace: bool | None

    #: which worker runs which task; static: lists made in advance; dynamic: a tree of queues; places: queues
    #: of cores and of NUMA nodes; nas: one queue for each NUMA node; auto: simulations choose the policy,
    #: --split and the widths of column blocks (static, dynamic, places, nas, auto) [static]
    schedule: Literal["static", "dynamic", "places", "nas", "auto"] | None

    #: places: panels or tiles are distributed to the NUMA nodes in turn or at random, and tasks follow
    #: (cyclicnuma, randnuma) [cyclicnuma]
    push_init: Literal["cyclicnuma", "randnuma"] | None

    #: places: list that receives a ready task (docs/scheduling.md) (pLoc, pLocNum, pNumaW, pNumaWLoc)
    #: [pNumaWLoc]
    push: Literal["pLoc", "pLocNum", "pNumaW", "pNumaWLoc"] | None

    #: places: lists from which an idle worker steals (docs/scheduling.md) (sRand, sRandNuma, sProc, sNuma,
    #: sProcNuma, sNumaProc) [sNumaProc]
    select: Literal["sRand", "sRandNuma", "sProc", "sNuma", "sProcNuma", "sNumaProc"] | None

    #: dynamic, places, nas: no stealing across NUMA nodes
    strict: bool | None

    #: places: seed of the random choices [0]
    seed: int | None

    #: where the memory of the coefficients is: near one thread, near the threads that own them, or on all
    #: NUMA nodes in turn (global, local, interleave) [local]
    alloc: Literal["global", "local", "interleave"] | None

    #: tasks of a column block: 1d: one; 2d: one for each group of rows if the block is wide and several
    #: threads are candidates; dynamic: one, divided while it runs if threads are idle (1d, 2d, dynamic) [1d]
    split: Literal["1d", "2d", "dynamic"] | None

    #: 2d, dynamic: least width of a column block that is cut [48]
    split_width: int | None

    #: 2d, dynamic: least number of rows in a group [384]
    split_rows: int | None

    #: dynamic: least number of idle threads for which a task is divided [1]
    split_idle: int | None

    #: dynamic: least predicted time of a task that is divided [0.0001]
    split_seconds: float | None

    #: a subtree of the elimination tree is one task if it costs at most 1/N of the work of a worker [3]
    subtrees_per_worker: int | None

    #: wider supernodes are split into column blocks [auto: narrower, down to 96, the more workers share the
    #: supernode]
    max_block_width: int | Literal["auto"] | None

    #: least width of the column blocks of a split supernode [auto: half of the largest]
    min_block_width: int | Literal["auto"] | None

    #: zeros that amalgamation may store, relative to the entries of the factor [0.15]
    amalgamation_fill: float | None

    #: factorize by dense blocks of columns; off: lu by single columns of its block triangular form, in one
    #: thread of one process, as for circuits (auto, on, off) [auto: off for lu if the factors are too sparse
    #: for blocks]
    supernodes: Literal["auto", "on", "off"] | None

    #: ldlt, ldlh, lu: static replaces small pivots; delayed eliminates columns without a good pivot later, in
    #: a larger block; auto: delayed where static would replace pivots or lose accuracy (static, delayed,
    #: auto) [static]
    pivoting: Literal["static", "delayed", "auto"] | None

    #: delayed, auto: least pivot relative to the other entries of its column [0.01]
    pivot_tolerance: float | None

    #: pivots below this share of the largest entry are replaced [auto: the square root of the machine
    #: epsilon; less if columns are delayed]
    pivot_threshold: float | Literal["auto"] | None

    #: method that improves the solution: iterative refinement (ir) or a Krylov method (auto, none, ir, cg,
    #: gmres, bicgstab) [auto: ir, then gmres if ir stalls; for --method ilu cg or gmres]
    refine: Literal["auto", "none", "ir", "cg", "gmres", "bicgstab"] | None

    #: maximum number of steps of the method that improves the solution [auto: the default of the method]
    max_refine_iterations: int | Literal["auto"] | None

    #: backward error up to which a system counts as solved [auto: 1e-12 in double, 1e-5 in single precision]
    tolerance: float | Literal["auto"] | None

    #: limit of the memory, such as 512M, 4G or 1.5GiB: steps that need more are refused; the processes of a
    #: computer share the limit [none: no limit]
    max_memory: int | str | None

    #: unknowns that are not eliminated, counted from 0: the solver computes their Schur complement
    schur: Sequence[int] | npt.NDArray[Any] | None


class Keywords(IluKeywords, total=False):
    """Types of all keywords. None keeps the default."""

    #: complete factorization, or incomplete factorization by level of fill (ILU, IC) as preconditioner of a
    #: Krylov method; auto: chosen by predicted memory and time (direct, ilu, auto) [direct]
    method: Literal["direct", "ilu", "auto"] | None

    #: ilu: levels of fill of ILU(k) and IC(k) [0]
    levels: int | None
