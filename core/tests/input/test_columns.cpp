#include "input/columns.hpp"

#include "tests/check.hpp"

using namespace parsimon;

namespace {

struct Read {
    StringTable strings;
    std::vector<std::vector<std::string>> tokens;
    std::vector<int32_t> lengths;
    int64_t lines = 0;
};

// Reads a text that arrives in blocks of the given size.
Read read(std::string_view text, size_t block = 1000, char separator = 0, const std::string& comment = "") {
    Read out;
    ColumnReader reader(out.strings, separator, comment, false, true, 0);
    for (size_t at = 0; at < text.size(); at += block) reader.feed(text.substr(at, block));
    reader.finish();
    out.lengths = reader.lengths();
    out.lines = reader.lines_read();
    const auto columns = static_cast<size_t>(reader.n_columns());
    for (size_t i = 0; i < reader.ids().size(); i += columns) {
        auto& token = out.tokens.emplace_back();
        for (size_t c = 0; c < columns; ++c) token.emplace_back(out.strings[reader.ids()[i + c]]);
    }
    return out;
}

using Tokens = std::vector<std::vector<std::string>>;

}  // namespace

TEST("columns are read alike however the blocks are cut") {
    const std::string text = "The DT\ndog\tNN\n\n\n  Run   VB \nnow RB";
    for (size_t block = 1; block <= text.size(); ++block) {
        const Read found = read(text, block);
        CHECK((found.tokens == Tokens{{"The", "DT"}, {"dog", "NN"}, {"Run", "VB"}, {"now", "RB"}}));
        CHECK((found.lengths == std::vector<int32_t>{2, 2}));
        CHECK(found.lines == 6);
    }
}

TEST("byte order mark, Windows line ends, comments and blank lines of spaces") {
    const Read found = read("\xEF\xBB\xBF# a file\r\na x\r\n \t\r\nb y\r\n", 3, 0, "#");
    CHECK((found.tokens == Tokens{{"a", "x"}, {"b", "y"}}));
    CHECK((found.lengths == std::vector<int32_t>{1, 1}));
    CHECK(read("# not a comment\n").tokens.size() == 1);
}

TEST("an empty text has no tokens") {
    CHECK(read("").tokens.empty());
    CHECK(read("\n\n\r\n").lengths.empty());
}

TEST("a separator of one's own keeps blanks within fields") {
    const Read found = read("New York|NNP\n\nb c|d e", 1000, '|');
    CHECK((found.tokens == Tokens{{"New York", "NNP"}, {"b c", "d e"}}));
    CHECK(found.lengths.size() == 2);
    const Read tabs = read("a b\tx\n \t \nc\ty\n", 1000, '\t');
    CHECK((tabs.lengths == std::vector<int32_t>{1, 1}));
}

TEST("mistakes name their line") {
    auto ragged = CAUGHT(ColumnError, read("a b\n\nc d\ne\n"));
    CHECK(ragged.line == 4);
    CHECK(std::string(ragged.what()).find("1 column but the lines before it, from line 1 on, have 2")
          != std::string::npos);
    CHECK(CAUGHT(ColumnError, read("a\nb c d\n", 1)).line == 2);
    auto missing = CAUGHT(ColumnError, read("a|b\nc||d\n", 1000, '|'));
    CHECK(missing.line == 2);
    CHECK(std::string(missing.what()).find("column 2 is empty") != std::string::npos);
    CHECK(CAUGHT(ColumnError, read("a|b\nc|", 1000, '|')).line == 2);
    auto encoding = CAUGHT(ColumnError, read("caf\xC3\xA9 x\ncaf\xE9 y\n"));
    CHECK(encoding.line == 2);
    CHECK(std::string(encoding.what()).find("not valid UTF-8") != std::string::npos);
}

TEST("only valid UTF-8 passes") {
    for (const char* good : {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
        CHECK(valid_utf8(good));
    for (const char* bad : {"\x80",              // a continuation alone
                            "\xC3",              // cut short
                            "\xE2\x82",          // cut short
                            "\xC3(",             // no continuation
                            "\xC0\xAF",          // longer than needed
                            "\xE0\x80\xAF",      // longer than needed
                            "\xF0\x80\x80\xAF",  // longer than needed
                            "\xED\xA0\x80",      // half of a surrogate pair
                            "\xF4\x90\x80\x80",  // beyond Unicode
                            "\xF8\x88\x80\x80\x80", "\xFF"})
        CHECK(!valid_utf8(bad));
}

TEST("lines are remembered where they lie in the block") {
    StringTable strings;
    ColumnReader reader(strings, 0, "", true, true, 0);
    const std::string block =
        "\xEF\xBB\xBF"
        "a x\r\n\nbc y\n";
    reader.feed(block);
    reader.finish();
    auto line = [&](size_t i) {
        return block.substr(reader.line_start()[i], reader.line_end()[i] - reader.line_start()[i]);
    };
    CHECK(line(0) == "a x" && line(1) == "bc y");
    reader.clear();
    CHECK(reader.ids().empty() && reader.lengths().empty() && reader.line_start().empty());
    reader.feed("d z\n");
    reader.finish();
    CHECK(reader.lines_read() == 4 && reader.line_start()[0] == 0 && reader.line_end()[0] == 3);
    const auto late = CAUGHT(ColumnError, reader.feed("too many columns\n"));
    CHECK(late.line == 5);
}

TEST("a reader that only looks up leaves the table alone, and columns that nobody wants too") {
    StringTable strings;
    const int32_t a = strings.add("a"), x = strings.add("x");
    ColumnReader reader(strings, 0, "", false, false, 1);
    reader.feed("a x\nb x\n");
    reader.finish();
    CHECK((reader.ids() == std::vector<int32_t>{a, StringTable::absent, StringTable::absent, StringTable::absent}));
    CHECK(strings.size() == 2 && reader.n_columns() == 2);
    ColumnReader both(strings, 0, "", false, false, 0);
    both.feed("a x\nb x\n");
    CHECK((both.ids() == std::vector<int32_t>{a, x, StringTable::absent, x}));
    CHECK(CAUGHT(ColumnError, both.feed("caf\xE9 x\n")).line == 3);
}
