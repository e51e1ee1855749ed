// Runs every test of the core that was linked in. Meant to be compiled with sanitisers (see the Makefile).
#include "tests/check.hpp"

int main() {
    int failed = 0;
    for (const auto& test : check::tests()) {
        try {
            test.body();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "FAILED  %s\n        %s\n", test.name, error.what());
            ++failed;
        }
    }
    std::printf("core: %zu tests, %d failed\n", check::tests().size(), failed);
    return failed != 0 || check::tests().empty();
}
