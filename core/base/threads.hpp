// Threads over independent items. Every item writes only its own output, and sums are taken in a fixed
// order afterwards, so results do not depend on how many threads there are or on who takes which item.
//
// Threads are started per call: it costs some 20 µs, once per pass over the whole data, and leaves no pool
// behind that would deadlock in a forked process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace parsimon {

// body(item, worker) for every item in [0, n); items are taken in order by whichever worker is free.
template <class Body>
void parallel_for(int64_t n, int threads, Body&& body) {
    const int workers = static_cast<int>(std::min<int64_t>(std::max(threads, 1), std::max<int64_t>(n, 1)));
    if (workers == 1) {
        for (int64_t i = 0; i < n; ++i) body(i, 0);
        return;
    }
    std::atomic<int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    auto work = [&](int worker) {
        try {
            for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) body(i, worker);
        } catch (...) {
            const std::lock_guard<std::mutex> hold(failure_lock);
            if (!failure) failure = std::current_exception();
            next.store(n);
        }
    };
    std::vector<std::thread> pool;
    pool.reserve(workers - 1);
    try {
        for (int worker = 1; worker < workers; ++worker) pool.emplace_back(work, worker);
    } catch (const std::system_error&) {
        // No more threads are to be had (a limit on memory, for one): those there are do the work.
    }
    work(0);
    for (auto& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// body(item, worker) for every item in [0, n), where one item is too little work to be handed out by itself: workers
// take `grain` of them at a time.
template <class Body>
void parallel_for_pieces(int64_t n, int64_t grain, int threads, Body&& body) {
    parallel_for((n + grain - 1) / grain, threads, [&](int64_t piece, int worker) {
        for (int64_t i = piece * grain; i < std::min(n, (piece + 1) * grain); ++i) body(i, worker);
    });
}

// Cuts items with the given cumulative costs (size n + 1, ascending) into ranges of about equal cost.
inline std::vector<int64_t> balanced_cuts(const int64_t* cumulative, int64_t n, int64_t pieces) {
    pieces = std::max<int64_t>(1, std::min(pieces, n));
    std::vector<int64_t> cuts{0};
    const int64_t base = cumulative[0];
    const double share = static_cast<double>(cumulative[n] - base) / static_cast<double>(pieces);
    for (int64_t p = 1; p < pieces; ++p) {
        const auto target = base + static_cast<int64_t>(share * static_cast<double>(p));
        const int64_t cut = std::lower_bound(cumulative, cumulative + n, target) - cumulative;
        if (cut > cuts.back()) cuts.push_back(cut);
    }
    if (n > cuts.back()) cuts.push_back(n);
    return cuts;
}

}  // namespace parsimon
