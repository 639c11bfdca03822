// The adjacency graph of A + A^T. A stored triangle is mirrored; a general matrix is merged column by column
// with its transposed pattern. Both produce sorted lists, so no sort is needed.
#include "matrix/adjacency.hpp"

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "matrix/entries.hpp"

namespace espalier {
namespace {

/// Each stored entry below the diagonal is an edge. Columns are visited in ascending order, so list v
/// receives its smaller neighbors, from their columns, before its own column adds the larger ones.
template <class T> Graph mirror_triangle(CscMatrix<T> const& a) {
    Graph graph;
    graph.num_vertices = a.cols;
    graph.ptr.assign(a.cols + 1, 0);
    for_each_entry(a, [&](Index i, Index j, Offset) {
        if (i == j) return;
        ++graph.ptr[i + 1];
        ++graph.ptr[j + 1];
    });
    std::partial_sum(graph.ptr.begin(), graph.ptr.end(), graph.ptr.begin());
    graph.adj.resize(graph.ptr.back());
    std::vector<Offset> next(graph.ptr.begin(), graph.ptr.end() - 1);
    for_each_entry(a, [&](Index i, Index j, Offset) {
        if (i == j) return;
        graph.adj[next[i]++] = j;
        graph.adj[next[j]++] = i;
    });
    return graph;
}

struct Pattern {
    std::vector<Offset> ptr;
    std::vector<Index> ind;
};

template <class T> Pattern transposed_pattern(CscMatrix<T> const& a) {
    Pattern t{std::vector<Offset>(a.rows + 1, 0), std::vector<Index>(a.row_ind.size())};
    for (Index const i : a.row_ind) ++t.ptr[i + 1];
    std::partial_sum(t.ptr.begin(), t.ptr.end(), t.ptr.begin());
    std::vector<Offset> next(t.ptr.begin(), t.ptr.end() - 1);
    for_each_entry(a, [&](Index i, Index j, Offset) { t.ind[next[i]++] = j; });
    return t;
}

/// Calls visit(i) in ascending order for each i != self in the union of two sorted ranges.
template <class Visit> void merge_except(Index const* p, Index const* p_end, Index const* q,
                                         Index const* q_end, Index self, Visit visit) {
    while (p != p_end || q != q_end) {
        Index const i = q == q_end || (p != p_end && *p < *q) ? *p : *q;
        if (p != p_end && *p == i) ++p;
        if (q != q_end && *q == i) ++q;
        if (i != self) visit(i);
    }
}

template <class T> Graph merge_with_transpose(CscMatrix<T> const& a) {
    auto const t = transposed_pattern(a);
    auto const neighbors = [&](Index j, auto visit) {
        merge_except(a.row_ind.data() + a.col_ptr[j], a.row_ind.data() + a.col_ptr[j + 1],
                     t.ind.data() + t.ptr[j], t.ind.data() + t.ptr[j + 1], j, visit);
    };
    Graph graph;
    graph.num_vertices = a.cols;
    graph.ptr.assign(a.cols + 1, 0);
    for (Index j = 0; j < a.cols; ++j) {
        Offset degree = 0;
        neighbors(j, [&](Index) { ++degree; });
        graph.ptr[j + 1] = graph.ptr[j] + degree;
    }
    graph.adj.resize(graph.ptr.back());
    Index* out = graph.adj.data();
    for (Index j = 0; j < a.cols; ++j) neighbors(j, [&](Index i) { *out++ = i; });
    return graph;
}

} // namespace

template <class T> Graph adjacency_graph(CscMatrix<T> const& a) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("the matrix is {} x {}; a square matrix is needed", a.rows, a.cols));
    return a.symmetry == Symmetry::general ? merge_with_transpose(a) : mirror_triangle(a);
}

ESPALIER_INSTANTIATE_FUNCTION(adjacency_graph)

} // namespace espalier
