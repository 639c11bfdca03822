#include "runtime/written_pages.hpp"

#include <algorithm>

#include <unistd.h>

#include "espalier/numa.hpp"
#include "runtime/memory.hpp"

namespace espalier {

namespace {

/// Bytes of a page that the tasks of a node write.
struct PageShare {
    std::uintptr_t page; ///< Its address.
    std::int32_t node;
    std::uint64_t bytes;
    std::uintptr_t first, end; ///< They are in this range.
};

/// Collects the shares of pages; writes that follow each other in memory are joined at once.
class ShareList {
  public:
    explicit ShareList(std::size_t page_bytes) : page_bytes_(page_bytes) {}

    void add(std::span<std::byte const> written, std::int32_t node) {
        auto at = reinterpret_cast<std::uintptr_t>(written.data());
        std::uintptr_t const end = at + written.size();
        while (at < end) {
            std::uintptr_t const page = at / page_bytes_ * page_bytes_;
            std::uintptr_t const next = std::min(end, page + page_bytes_);
            bool const continues =
                !shares_.empty() && shares_.back().page == page && shares_.back().node == node;
            if (continues) {
                PageShare& last = shares_.back();
                last.bytes += next - at;
                last.first = std::min(last.first, at);
                last.end = std::max(last.end, next);
            } else {
                shares_.push_back({page, node, next - at, at, next});
            }
            at = next;
        }
    }

    /// By page and node; a pair may occur several times.
    std::vector<PageShare> sorted() && {
        std::ranges::sort(shares_, [](PageShare const& a, PageShare const& b) {
            return a.page != b.page ? a.page < b.page : a.node < b.node;
        });
        return std::move(shares_);
    }

  private:
    std::size_t page_bytes_;
    std::vector<PageShare> shares_;
};

std::uint64_t bytes_on(std::span<std::byte const> range, int node_os_index) {
    auto const of_node = query_nodes(range).node_bytes;
    return node_os_index < std::ssize(of_node) ? of_node[node_os_index] : 0;
}

} // namespace

WrittenPages::WrittenPages(std::span<std::int32_t const> node_of_task, TaskWrites const& writes,
                           std::size_t page_bytes) {
    auto const system_page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (page_bytes == 0) page_bytes = system_page;
    ShareList list(page_bytes);
    std::int32_t node = 0;
    WriteRegister const add = [&](std::span<std::byte> written) { list.add(written, node); };
    for (TaskId task = 0; task < std::ssize(node_of_task); ++task) {
        node = node_of_task[task];
        if (node < 0) throw Error(Status::internal, "a task of a dry run has no NUMA node");
        writes(task, add);
    }
    auto const shares = std::move(list).sorted();
    for (std::size_t k = 0; k < shares.size();) {
        std::uintptr_t const page = shares[k].page;
        std::uintptr_t first = shares[k].first, end = shares[k].end;
        std::uint64_t most = 0;
        std::int32_t owner = 0;
        while (k < shares.size() && shares[k].page == page) {
            std::int32_t const writer = shares[k].node;
            std::uint64_t sum = 0;
            for (; k < shares.size() && shares[k].page == page && shares[k].node == writer; ++k) {
                sum += shares[k].bytes;
                first = std::min(first, shares[k].first);
                end = std::max(end, shares[k].end);
            }
            if (sum > most) {
                most = sum;
                owner = writer;
            }
        }
        if (std::ssize(bytes_of_node_) <= owner) bytes_of_node_.resize(owner + 1, 0);
        std::uint64_t const system_pages = (end + system_page - 1) / system_page - first / system_page;
        bytes_of_node_[owner] += system_pages * system_page;
        auto* const data = reinterpret_cast<std::byte*>(page);
        bool const joins = !runs_.empty() && runs_.back().node == owner &&
                           runs_.back().pages.data() + runs_.back().pages.size() == data;
        if (joins)
            runs_.back().pages = {runs_.back().pages.data(), runs_.back().pages.size() + page_bytes};
        else
            runs_.push_back({{data, page_bytes}, owner});
    }
}

std::uint64_t WrittenPages::move(std::span<int const> node_os_index) const {
    auto const usable = memory_nodes();
    if (usable.size() < 2) return 0;
    std::uint64_t moved = 0;
    for (auto const& [pages, node] : runs_) {
        int const os_index = node_os_index[node];
        if (!std::ranges::binary_search(usable, os_index)) continue;
        std::uint64_t const before = bytes_on(pages, os_index);
        move_pages_to(pages, os_index);
        std::uint64_t const after = bytes_on(pages, os_index);
        moved += after > before ? after - before : 0;
    }
    return moved;
}

} // namespace espalier
