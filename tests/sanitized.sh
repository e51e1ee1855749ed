#!/bin/sh
# Runs a command with the core that has sanitisers in it: tests/sanitized.sh COMPILER FOLDER COMMAND…
# Python itself has none, so their library is loaded first, and after it the one that throws exceptions, which they
# watch. What Python keeps until the end is no leak.
compiler=$1 folder=$2
shift 2
core=$(ls "$PWD/$folder"/_core*.so) || exit 1
exec env PARSIMON_TEST_CORE="$core" PYTHONPATH=tests:tests/cli \
    LD_PRELOAD="$($compiler -print-file-name=libasan.so) $($compiler -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_odr_violation=0:max_allocation_size_mb=4096:hard_rss_limit_mb=6000 \
    UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 "$@"
