#include "input/extractor.hpp"

#include <random>
#include <set>

#include "tests/check.hpp"

using namespace parsimon;

namespace {

// Two inputs over two sequences of 3 and 2 tokens; beyond their ends stand −1·10, −2·10, … and 100, 200, …
struct Data {
    std::vector<int32_t> first{1, 2, 3, 4, 5}, second{7, 7, 8, 8, 7}, before{10, 20}, after{100, 200};
    std::vector<int64_t> offsets{0, 3, 5};
    std::vector<Extractor::Input> inputs{{first.data(), before.data(), after.data()},
                                         {second.data(), before.data(), after.data()}};
    Extractor::Sequences sequences(int32_t skip = 0) const { return {offsets.data(), 2, 2, skip}; }
};

std::vector<int32_t> tuple_of(const Extractor& e, int32_t skeleton, int32_t id) {
    const TupleTable& table = e.table(skeleton);
    const auto at = table.tuples().begin() + static_cast<int64_t>(id) * table.arity();
    return {at, at + table.arity()};
}

// The attributes in a table, without the places where there is none.
std::vector<int32_t> known(std::vector<int32_t> table) {
    std::erase(table, -1);
    return table;
}

}  // namespace

TEST("tuples are numbered once, and found") {
    TupleTable table(2);
    std::set<std::vector<int32_t>> seen;
    std::mt19937 random(3);
    for (int i = 0; i < 5000; ++i) {
        const std::vector<int32_t> tuple{static_cast<int32_t>(random() % 60), static_cast<int32_t>(random() % 60)};
        CHECK((table.find(tuple.data()) >= 0) == seen.contains(tuple));
        const int32_t id = table.add(tuple.data());
        CHECK(id <= static_cast<int32_t>(seen.size()) && table.find(tuple.data()) == id);
        seen.insert(tuple);
    }
    CHECK(table.size() == static_cast<int32_t>(seen.size()));
    const int32_t unknown[] = {-1, 5};
    CHECK(table.find(unknown) == -1);  // a string that nobody knows
    TupleTable single(1);
    for (const int32_t id : {7, 100000, 7, 0}) single.add(&id);
    const int32_t at[] = {0, 7, 100000, 6, -1, 100001};
    CHECK(single.size() == 3 && single.find(at) == 2 && single.find(at + 1) == 0 && single.find(at + 2) == 1);
    CHECK(single.find(at + 3) == -1 && single.find(at + 4) == -1 && single.find(at + 5) == -1);
    TupleTable nothing(0);
    const int32_t unused = 0;
    CHECK(nothing.find(&unused) == -1 && nothing.add(&unused) == 0 && nothing.add(&unused) == 0 && nothing.size() == 1);
}

TEST("relative and absolute rows, and what lies beyond the ends") {
    // Row −3 and +3 relative (further than `reach`), the first and the last row absolute, and a bigram of inputs.
    const Data data;
    Extractor e({{0, -3, false}, {0, 3, false}, {0, 1, true}, {0, -1, true}, {0, -1, false}, {1, 0, false}},
                {0, 1, 2, 3, 4, 6}, {0, 1, 2, 3, 4});
    std::vector<int32_t> out(5 * 5);
    e.learn(data.inputs, data.sequences(), out.data(), 1);
    auto value = [&](int64_t t, int32_t j) {
        return tuple_of(e, j, out[t * 5 + j] - static_cast<int32_t>(e.offsets()[j]));
    };
    CHECK((value(0, 0) == std::vector<int32_t>{20}));  // three before, of which two are told apart
    CHECK((value(1, 0) == std::vector<int32_t>{20}));
    CHECK((value(2, 0) == std::vector<int32_t>{10}));
    CHECK((value(2, 1) == std::vector<int32_t>{200}));
    CHECK((value(0, 1) == std::vector<int32_t>{100}));
    CHECK((value(2, 2) == std::vector<int32_t>{1}) && (value(3, 2) == std::vector<int32_t>{4}));
    CHECK((value(0, 3) == std::vector<int32_t>{3}) && (value(4, 3) == std::vector<int32_t>{5}));
    CHECK((value(0, 4) == std::vector<int32_t>{10, 7}) && (value(4, 4) == std::vector<int32_t>{4, 7}));
}

TEST("templates of one skeleton share attributes; attributes of a skeleton are one range") {
    const Data data;
    Extractor e({{1, 0, false}, {1, -1, false}, {1, 1, false}}, {0, 1, 2, 3, 3},
                {0, 1, 0, 2});  // the last looks at nothing
    CHECK(e.n_templates() == 4 && e.n_skeletons() == 3 && e.n_attributes() == 0);
    std::vector<int32_t> out(5 * 4);
    e.learn(data.inputs, data.sequences(), out.data(), 1);
    CHECK(out[0 * 4 + 2] == out[1 * 4 + 0]);  // the second token seen from the first, and from itself
    CHECK((e.offsets() == std::vector<int64_t>{0, 3, 6, 7}));
    for (int64_t t = 0; t < 5; ++t) {
        CHECK(out[t * 4] < 3 && out[t * 4 + 1] >= 3 && out[t * 4 + 1] < 6);
        CHECK(out[t * 4 + 3] == 6);
    }
}

TEST("applying knows what was learnt and nothing else; threads do not matter") {
    const Data data;
    const std::vector<TemplateTest> tests{{0, 0, false}, {0, -1, false}, {1, 0, false}, {1, 1, false}};
    const std::vector<int32_t> start{0, 1, 3, 4}, skeleton{0, 1, 2};
    Extractor e(tests, start, skeleton), other(tests, start, skeleton);
    std::vector<int32_t> learnt(15), two(15);
    e.learn(data.inputs, data.sequences(1), learnt.data(), 1);
    other.learn(data.inputs, data.sequences(1), two.data(), 2);
    CHECK(learnt == two);
    for (int j = 0; j < 3; ++j) CHECK(learnt[j] == -1 && learnt[9 + j] == -1);  // skipped: the first tokens
    const Csr applied = e.apply(data.inputs, data.sequences(1), 2);
    CHECK((applied.start == std::vector<int64_t>{0, 0, 3, 6, 6, 9}));
    CHECK(applied.index == known(learnt) && applied.value.empty());
    Data unseen;
    unseen.first[1] = 9;  // the template of one test does not know it, nor does that of two, one token later
    const Csr fewer = e.apply(unseen.inputs, unseen.sequences(1), 1);
    CHECK((fewer.start == std::vector<int64_t>{0, 0, 2, 4, 4, 7}));
    CHECK(fewer.index[0] == learnt[4] && fewer.index[1] == learnt[5] && fewer.index[2] == learnt[6]);

    Extractor loaded(tests, start, skeleton);
    for (int32_t s = 0; s < 3; ++s) loaded.load(s, e.table(s).tuples().data(), e.table(s).size());
    CHECK(loaded.offsets() == e.offsets());
    CHECK(loaded.apply(data.inputs, data.sequences(1), 1).index == known(learnt));
    const std::vector<int32_t> twice{1, 1};
    CAUGHT(std::invalid_argument, Extractor(tests, start, skeleton).load(0, twice.data(), 2));
}

TEST("an extractor knows how many inputs it looks at") {
    CHECK(Extractor({}, {0}, {}).n_inputs() == 0);
    CHECK(Extractor({{0, 0, false}, {4, 1, false}, {2, 0, true}}, {0, 2, 3}, {0, 1}).n_inputs() == 5);
}

TEST("no sequences, and empty ones") {
    Data data;
    Extractor e({{0, 0, false}}, {0, 1}, {0});
    e.learn(data.inputs, {data.offsets.data(), 0, 2, 0}, nullptr, 2);
    CHECK(e.n_attributes() == 0);
    CHECK(e.apply(data.inputs, {data.offsets.data(), 0, 2, 0}, 2).size() == 0);
    CHECK(e.apply(data.inputs, data.sequences(), 2).index.empty());  // nothing has been learnt
    data.offsets = {0, 0, 2, 2};
    std::vector<int32_t> out(2);
    e.learn(data.inputs, {data.offsets.data(), 3, 2, 0}, out.data(), 2);
    CHECK((out == std::vector<int32_t>{0, 1}));
}
