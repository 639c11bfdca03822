#include "distributed/overlapping_block.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "comm/collective.hpp"
#include "core/inverse_permutation.hpp"
#include "core/scalar.hpp"
#include "distributed/deal.hpp"

namespace espalier {

namespace {

// The block of a process, without values.
struct BlockPattern {
    Symmetry symmetry = Symmetry::general;
    std::vector<Offset> col_ptr{0};
    std::vector<Index> row_ind;
    std::vector<Index> labels;
    std::vector<Index> own_place, overlap_place;
    std::vector<std::vector<Index>> wanted; // rows of the overlap by owner, as numbered there
};
template <class Archive> void describe(Archive& archive, BlockPattern& pattern) {
    archive(pattern.symmetry, pattern.col_ptr, pattern.row_ind, pattern.labels, pattern.own_place,
            pattern.overlap_place, pattern.wanted);
}

// Creates the blocks of all processes, one at a time, from the whole matrix.
template <class T> class BlockDealer {
  public:
    BlockDealer(Owners const& owners, CscMatrix<T> const& whole, Index unit, std::span<Index const> labels)
        : owners_(owners), whole_(whole), unit_(unit), labels_(labels), places_(owners),
          number_(whole.cols, -1), overlap_(owners.begin.size() - 1) {
        for (Index j = 0; j < whole.cols; ++j)
            for (Offset const p : whole.entries_of(j)) {
                Index const i = whole.row_ind[p];
                if (places_.owner[i] == places_.owner[j]) continue;
                overlap_[places_.owner[i]].push_back(j / unit);
                overlap_[places_.owner[j]].push_back(i / unit);
            }
        for (auto& groups : overlap_) {
            std::ranges::sort(groups);
            groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
        }
    }

    // Also returns the places of the entries in the whole matrix.
    BlockPattern pattern_of(int r, std::vector<Offset>& sources) {
        auto const rows = rows_of_block(r);
        BlockPattern pattern;
        pattern.symmetry = whole_.symmetry;
        pattern.own_place.resize(owners_.rows_of(r).size());
        std::vector<Index> remote;
        for (Index k = 0; k < std::ssize(rows); ++k) {
            number_[rows[k]] = k;
            if (places_.owner[rows[k]] == r)
                pattern.own_place[places_.place[rows[k]]] = k;
            else
                remote.push_back(rows[k]);
            if (!labels_.empty() && k % unit_ == 0) pattern.labels.push_back(labels_[rows[k] / unit_]);
        }
        places_.sort(remote);
        pattern.wanted.resize(processes());
        for (Index const i : remote) {
            pattern.wanted[places_.owner[i]].push_back(places_.place[i]);
            pattern.overlap_place.push_back(number_[i]);
        }
        for (Index const j : rows) {
            for (Offset const p : whole_.entries_of(j))
                if (Index const k = number_[whole_.row_ind[p]]; k >= 0) {
                    pattern.row_ind.push_back(k);
                    sources.push_back(p);
                }
            pattern.col_ptr.push_back(std::ssize(pattern.row_ind));
        }
        for (Index const i : rows) number_[i] = -1;
        return pattern;
    }

  private:
    [[nodiscard]] int processes() const { return static_cast<int>(owners_.begin.size()) - 1; }

    [[nodiscard]] std::vector<Index> rows_of_block(int r) const {
        auto const own = owners_.rows_of(r);
        std::vector<Index> rows(own.begin(), own.end());
        for (Index const group : overlap_[r])
            for (Index i = group * unit_; i < (group + 1) * unit_; ++i) rows.push_back(i);
        std::ranges::sort(rows);
        return rows;
    }

    Owners const& owners_;
    CscMatrix<T> const& whole_;
    Index unit_;
    std::span<Index const> labels_;
    RowPlaces places_;
    std::vector<Index> number_;               // in the block that is created, or -1
    std::vector<std::vector<Index>> overlap_; // groups of rows in the overlap of each process
};

} // namespace

std::vector<Index> ranks_of(std::vector<Index> const& labels) {
    std::vector<Index> order(labels.size());
    std::iota(order.begin(), order.end(), Index(0));
    std::ranges::sort(order, {}, [&](Index k) { return labels[k]; });
    return inverse_permutation(order);
}

template <class T> std::vector<std::vector<Index>>
contiguous_parts(CscMatrix<T> const& a, int processes, int unit, std::span<Index const> positions) {
    Index const groups = a.cols / unit;
    std::vector<Index> group_at(groups);
    for (Index g = 0; g < groups; ++g) group_at[positions.empty() ? g : positions[g]] = g;
    std::vector<Offset> weight(groups, 1);
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j)) {
            ++weight[a.row_ind[p] / unit];
            if (a.symmetry != Symmetry::general) ++weight[j / unit];
        }
    Offset const total = std::accumulate(weight.begin(), weight.end(), Offset(0));
    std::vector<std::vector<Index>> parts(processes);
    Offset before = 0;
    for (Index const g : group_at) {
        // The process in whose share the middle of the group lies.
        auto& part =
            parts[std::min<Offset>(processes - 1, (2 * before + weight[g]) * processes / (2 * total))];
        for (Index i = g * unit; i < (g + 1) * unit; ++i) part.push_back(i);
        before += weight[g];
    }
    for (auto& part : parts) std::ranges::sort(part);
    return parts;
}

template <class T> OverlappingBlock<T>::OverlappingBlock(DistributedRows rows, CscMatrix<T> const* whole,
                                                         int unit, std::span<Index const> labels)
    : rows_(std::move(rows)), block_(all_succeed(rows_.comm(), [] { return CscMatrix<T>(); })) {
    Communicator const& comm = rows_.comm();
    Owners const owners(rows_);
    std::optional<BlockDealer<T>> dealer;
    auto const bytes = deal_out(comm, [&](Packer& packer, int r) {
        if (!dealer) {
            dealer.emplace(owners, *whole, unit, labels);
            sources_.resize(comm.size());
        }
        packer(dealer->pattern_of(r, sources_[r]));
    });
    dealer.reset();
    std::vector<std::vector<Index>> wanted;
    all_succeed(comm, [&] {
        BlockPattern pattern;
        Unpacker{bytes}(pattern);
        block_.symmetry = pattern.symmetry;
        block_.rows = block_.cols = std::ssize(pattern.col_ptr) - 1;
        block_.col_ptr = std::move(pattern.col_ptr);
        block_.row_ind = std::move(pattern.row_ind);
        block_.values.resize(block_.row_ind.size());
        labels_ = std::move(pattern.labels);
        own_place_ = std::move(pattern.own_place);
        overlap_place_ = std::move(pattern.overlap_place);
        wanted = std::move(pattern.wanted);
    });
    halo_ = Halo(comm, std::move(wanted));
    set_values(whole);
}

template <class T> void OverlappingBlock<T>::set_values(CscMatrix<T> const* whole) {
    Communicator const& comm = rows_.comm();
    auto const bytes = deal_out(comm, [&](Packer& packer, int r) {
        std::vector<T> values;
        values.reserve(sources_[r].size());
        for (Offset const p : sources_[r]) values.push_back(whole->values[p]);
        packer(values);
    });
    all_succeed(comm, [&] { Unpacker{bytes}(block_.values); });
}

template <class T> void OverlappingBlock<T>::reserve(Index columns) {
    if (columns <= reserved_columns_) return;
    all_succeed(rows_.comm(), [&] { overlap_.resize(halo_.size() * columns); });
    halo_.reserve(columns * sizeof(T));
    reserved_columns_ = columns;
}

template <class T>
void OverlappingBlock<T>::extend(std::span<T const> own, std::span<T> block, Index columns, Overlap overlap) {
    Index const owned = rows_.count();
    std::ranges::fill(block, T(0));
    for (Index c = 0; c < columns; ++c)
        for (Index l = 0; l < owned; ++l) block[c * block_.rows + own_place_[l]] = own[c * owned + l];
    if (overlap == Overlap::ignored) return;
    reserve(columns);
    halo_.import_values(overlap_.data(), columns, [&](Index l, Index c) { return own[c * owned + l]; });
    for (Index c = 0; c < columns; ++c)
        for (Index h = 0; h < halo_.size(); ++h)
            block[c * block_.rows + overlap_place_[h]] = overlap_[h + c * halo_.size()];
}

template <class T> void OverlappingBlock<T>::restrict_to_owners(std::span<T const> block, std::span<T> own,
                                                                Index columns, Overlap overlap) {
    Index const owned = rows_.count();
    for (Index c = 0; c < columns; ++c)
        for (Index l = 0; l < owned; ++l) own[c * owned + l] = block[c * block_.rows + own_place_[l]];
    if (overlap == Overlap::ignored) return;
    reserve(columns);
    for (Index c = 0; c < columns; ++c)
        for (Index h = 0; h < halo_.size(); ++h)
            overlap_[h + c * halo_.size()] = block[c * block_.rows + overlap_place_[h]];
    halo_.export_values(overlap_.data(), columns,
                        [&](Index l, Index c, T value) { own[c * owned + l] += value; });
}

ESPALIER_INSTANTIATE_FUNCTION(contiguous_parts)
ESPALIER_INSTANTIATE_CLASS(OverlappingBlock)

} // namespace espalier
