#include "input/strings.hpp"

#include <random>
#include <unordered_map>

#include "tests/check.hpp"

using namespace parsimon;

TEST("strings are numbered in order of arrival, each once") {
    StringTable table;
    CHECK(table.size() == 0);
    CHECK(table.find("a") == StringTable::absent);
    CHECK(table.add("a") == 0);
    CHECK(table.add("") == 1);
    CHECK(table.add(std::string_view("b\0c", 3)) == 2);
    CHECK(table.add("a") == 0);
    CHECK(table.find("") == 1);
    CHECK(table[2] == std::string_view("b\0c", 3));
    CHECK(table.find("b") == StringTable::absent);
    CHECK(table.size() == 3);
    CHECK(table.starts() == (std::vector<int64_t>{0, 1, 1, 4}));
    CHECK(std::string_view(table.arena().data(), table.arena().size()) == std::string_view("ab\0c", 4));
}

TEST("a table that grows many times agrees with the standard one") {
    StringTable table;
    std::unordered_map<std::string, int32_t> known;
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) {
        std::string text(random() % 20, ' ');
        for (char& c : text) c = static_cast<char>('a' + random() % 3);
        const auto expected = known.try_emplace(text, static_cast<int32_t>(known.size())).first->second;
        CHECK(table.add(text) == expected);
    }
    CHECK(table.size() == static_cast<int32_t>(known.size()));
    for (const auto& [text, id] : known) {
        CHECK(table.find(text) == id);
        CHECK(table[id] == text);
    }
    const StringTable copy = table;
    CHECK(copy.size() == table.size() && copy.find("abc") == table.find("abc"));
}

TEST("hashes see every byte and the length") {
    const std::string text = "0123456789abcdef";
    for (size_t n = 0; n < text.size(); ++n) {
        CHECK(hash_bytes(text.substr(0, n)) != hash_bytes(text.substr(0, n + 1)));
        std::string other = text;
        other[n] ^= 1;
        CHECK(hash_bytes(text) != hash_bytes(other));
    }
    CHECK(hash_bytes(std::string_view("\0", 1)) != hash_bytes(""));
}
