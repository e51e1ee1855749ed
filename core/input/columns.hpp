// The column reader: text in blocks of bytes → interned columns. No object per token.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.hpp"
#include "input/strings.hpp"

namespace parsimon {

// A mistake in the file: which line, and what is wrong there.
struct ColumnError : std::runtime_error {
    ColumnError(int64_t line, const std::string& what) : std::runtime_error(what), line(line) {}
    int64_t line;
};

inline bool valid_utf8(std::string_view text) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const auto* end = p + text.size();
    while (p < end) {
        if (*p < 0x80) {
            ++p;
            continue;
        }
        int more;
        uint32_t code;
        if ((*p & 0xE0) == 0xC0) {
            more = 1;
            code = *p & 0x1F;
        } else if ((*p & 0xF0) == 0xE0) {
            more = 2;
            code = *p & 0x0F;
        } else if ((*p & 0xF8) == 0xF0) {
            more = 3;
            code = *p & 0x07;
        } else return false;
        if (end - p <= more) return false;
        for (int i = 1; i <= more; ++i) {
            if ((p[i] & 0xC0) != 0x80) return false;
            code = code << 6 | (p[i] & 0x3F);
        }
        constexpr uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
        p += more + 1;
    }
    return true;
}

class ColumnReader {
  public:
    // separator: 0 for any run of blanks and tabs, else that one character (empty fields are then an error).
    // comment: lines that start with this text are passed over (empty: no comments).
    // keep_lines: remember where each token's line lies in the bytes fed, to write it out again.
    // learn: whether new strings are added to the table (else they are −1).
    // wanted: how many of the first columns are looked up at all (the others are −1); 0 for all.
    ColumnReader(StringTable& strings, char separator, std::string comment, bool keep_lines, bool learn, int32_t wanted)
        : strings_(strings), separator_(separator), comment_(std::move(comment)), keep_lines_(keep_lines),
          learn_(learn), wanted_(wanted ? wanted : std::numeric_limits<int32_t>::max()) {}

    // Takes a block of whole sequences. Where no strings are learnt, threads read pieces of it side by side.
    void feed_sequences(std::string_view block, int threads) {
        if (!learn_ && threads > 1 && pending_.empty() && !open_ && lengths_.empty() && feed_pieces(block, threads))
            return;
        feed(block);
        finish();
    }

    // Takes a block; only whole lines are read, the rest waits for the next block.
    void feed(std::string_view block) {
        std::string_view rest = block;
        readable_ = nullptr;
        if (!pending_.empty()) {
            const size_t end = rest.find('\n');
            if (end == std::string_view::npos) {
                pending_.append(rest);
                return;
            }
            pending_.append(rest.substr(0, end));
            line(pending_, -1);
            pending_.clear();
            rest.remove_prefix(end + 1);
        }
        readable_ = block.data() + block.size();
        for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1))
            line(rest.substr(0, end), base_ + (rest.data() - block.data()));
        readable_ = nullptr;
        pending_.assign(rest);
    }

    // The end of the input: what is left is the last line, and the last sequence ends here.
    void finish() {
        if (!pending_.empty()) {
            line(pending_, -1);
            pending_.clear();
        }
        end_sequence();
    }

    // Forgets tokens and sequences (not strings, width or line number), for reading the next block.
    void clear() {
        ids_.clear();
        lengths_.clear();
        line_start_.clear();
        line_end_.clear();
        open_ = 0;
        n_parts_ = 0;
    }

    int32_t n_columns() const { return n_columns_; }
    int64_t lines_read() const { return line_number_; }
    // Readers that together have read what there is, in this order; what follows is that of one of them.
    std::vector<const ColumnReader*> parts() const {
        if (!n_parts_) return {this};
        std::vector<const ColumnReader*> out;
        for (size_t p = 0; p < n_parts_; ++p) out.push_back(&pieces_[p]);
        return out;
    }
    const std::vector<int32_t>& ids() const { return ids_; }  // [token][column]
    const std::vector<int32_t>& lengths() const { return lengths_; }
    const std::vector<int64_t>& line_start() const { return line_start_; }  // within the block fed
    const std::vector<int64_t>& line_end() const { return line_end_; }

  private:
    // In as many pieces as there are threads. False, and nothing is read, if anything is wrong with any of them: line
    // by line it will be found out what.
    bool feed_pieces(std::string_view block, int threads) {
        std::vector<size_t> cuts{0};
        for (int p = 1; p < threads; ++p) {
            const size_t near = std::max(cuts.back(), block.size() / threads * p), cut = block.find("\n\n", near);
            if (cut != std::string_view::npos && cut + 2 > cuts.back() && cut - cuts.back() >= least_piece)
                cuts.push_back(cut + 2);
        }
        if (cuts.size() == 1) return false;
        cuts.push_back(block.size());
        const size_t n = cuts.size() - 1;
        while (pieces_.size() < n) pieces_.emplace_back(strings_, separator_, comment_, keep_lines_, false, wanted_);
        for (size_t p = 0; p < n; ++p) {
            pieces_[p].clear();
            pieces_[p].pending_.clear();
            pieces_[p].n_columns_ = n_columns_;
            pieces_[p].base_ = static_cast<int64_t>(cuts[p]);
            pieces_[p].line_number_ = p ? 1 : line_number_;  // only the first line of all may have a byte order mark
        }
        try {
            parallel_for(static_cast<int64_t>(n), threads, [&](int64_t p, int) {
                pieces_[p].feed(block.substr(cuts[p], cuts[p + 1] - cuts[p]));
                pieces_[p].finish();
            });
        } catch (const ColumnError&) { return false; }
        int32_t known = n_columns_;
        for (size_t p = 0; p < n; ++p) {
            if (known && pieces_[p].n_columns_ && pieces_[p].n_columns_ != known) return false;
            if (!known) known = pieces_[p].n_columns_;
        }
        for (size_t p = 0; p < n; ++p) {
            const int64_t first = p ? 1 : line_number_;
            if (!n_columns_ && pieces_[p].n_columns_) {
                n_columns_ = pieces_[p].n_columns_;
                first_line_ = line_number_ + pieces_[p].first_line_ - first;
            }
            line_number_ += pieces_[p].line_number_ - first;
        }
        n_parts_ = n;
        return true;
    }

    void end_sequence() {
        if (open_) lengths_.push_back(open_);
        open_ = 0;
    }

    static bool blank(char c) { return c == ' ' || c == '\t'; }

    // The first blank, or the end; eight bytes at a time as long as so many may be read.
    const char* end_of_field(const char* p, const char* end) const {
        constexpr uint64_t each = 0x0101010101010101ull, low = 0x7F * each;
        const auto zeros = [](uint64_t word) {
            return ~(((word & low) + low) | word | low);
        };  // 0x80 where a byte is 0
        if (std::endian::native == std::endian::little && readable_)
            for (; p < end && readable_ - p >= 8; p += 8) {
                uint64_t word;
                std::memcpy(&word, p, 8);
                const uint64_t blanks = zeros(word ^ (' ' * each)) | zeros(word ^ ('\t' * each));
                if (blanks) return std::min(p + std::countr_zero(blanks) / 8, end);
            }
        while (p < end && !blank(*p)) ++p;
        return std::min(p, end);
    }

    void line(std::string_view text, int64_t at) {
        ++line_number_;
        if (line_number_ == 1 && text.starts_with("\xEF\xBB\xBF")) {  // byte order mark
            text.remove_prefix(3);
            at += 3;
        }
        if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
        if (!comment_.empty() && text.starts_with(comment_)) return;
        int32_t found = 0;
        if (separator_) {
            if (text.find_first_not_of(" \t") == std::string_view::npos) {
                end_sequence();
                return;
            }
            for (std::string_view rest = text;;) {
                const size_t end = rest.find(separator_);
                field(rest.substr(0, end), ++found);
                if (end == std::string_view::npos) break;
                rest.remove_prefix(end + 1);
            }
        } else {
            for (const char *p = text.data(), *end = p + text.size();;) {
                while (p < end && blank(*p)) ++p;
                if (p == end) break;
                const char* start = p;
                p = end_of_field(p, end);
                field({start, static_cast<size_t>(p - start)}, ++found);
            }
            if (found == 0) {
                end_sequence();
                return;
            }
        }
        if (n_columns_ == 0) {
            n_columns_ = found;
            first_line_ = line_number_;
        } else if (found != n_columns_) {
            throw ColumnError(line_number_, "this line has " + plural(found) + " but the lines before it, from line "
                                                + std::to_string(first_line_) + " on, have "
                                                + std::to_string(n_columns_) + "; every token needs the same columns");
        }
        ++open_;
        if (keep_lines_) {
            line_start_.push_back(at);
            line_end_.push_back(at + static_cast<int64_t>(text.size()));
        }
    }

    static std::string plural(int32_t n) { return std::to_string(n) + (n == 1 ? " column" : " columns"); }

    void field(std::string_view text, int32_t column) {
        if (text.empty())
            throw ColumnError(line_number_, "column " + std::to_string(column)
                                                + " is empty; every column needs a value between its separators");
        if (column > wanted_) {
            ids_.push_back(StringTable::absent);
            return;
        }
        // Most fields are short and have been met a moment ago: as numbers they are compared at once.
        Met* met = nullptr;
        if (text.size() < 8) {
            uint64_t word;
            if (std::endian::native == std::endian::little && readable_ && readable_ - text.data() >= 8) {
                std::memcpy(&word, text.data(), 8);
                word &= (uint64_t{1} << 8 * text.size()) - 1;
            } else {
                word = short_word(text.data(), text.size());
            }
            word |= static_cast<uint64_t>(text.size()) << 56;
            met = &met_[word * hash_prime >> 54];
            if (met->word == word) {
                ids_.push_back(met->id);
                return;
            }
            *met = {word, StringTable::absent};
        }
        const int32_t known = strings_.size();
        const int32_t id = learn_ ? strings_.add(text) : strings_.find(text);
        if (met) met->id = id;
        if ((id == known || id == StringTable::absent) && !valid_utf8(text))
            throw ColumnError(
                line_number_,
                "column " + std::to_string(column)
                    + " is not valid UTF-8; if the file has another encoding, name it (for instance latin-1)");
        ids_.push_back(id);
    }

    static constexpr size_t least_piece = 1 << 14;  // bytes

    // A field of less than eight bytes (its length in the last one), and its string.
    struct Met {
        uint64_t word = 0;
        int32_t id = StringTable::absent;
    };
    std::vector<Met> met_ = std::vector<Met>(1 << 10);

    StringTable& strings_;
    char separator_;
    std::string comment_;
    bool keep_lines_, learn_;
    int32_t wanted_;
    std::string pending_;
    int32_t n_columns_ = 0;
    int64_t line_number_ = 0, first_line_ = 0;
    int32_t open_ = 0;
    std::vector<ColumnReader> pieces_;
    size_t n_parts_ = 0;              // pieces that have been read; 0 if none was
    const char* readable_ = nullptr;  // the end of the memory that lines are in, if that is known
    int64_t base_ = 0;                // where what is read begins in the block
    std::vector<int32_t> ids_, lengths_;
    std::vector<int64_t> line_start_, line_end_;
};

}  // namespace parsimon
