"""The column reader and its containers: every way a file can be laid out, and every mistake in one."""

from __future__ import annotations

import gzip
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parsimon._core import StringTable
from parsimon.errors import ParsimonError
from parsimon.features.columns import (
    ColumnFile,
    Columns,
    Labels,
    read_columns,
    read_labelled,
    split_labels,
    whole_sequences,
)

TEXT = "The DT\ndog NN\n\nIt PRP\nran VBD\n. .\n"
SEQUENCES = [[("The", "DT"), ("dog", "NN")], [("It", "PRP"), ("ran", "VBD"), (".", ".")]]


def read(content: str | bytes, **options: Any) -> list[list[tuple[str, ...]]]:
    raw = content.encode() if isinstance(content, str) else content
    X = read_columns(io.BytesIO(raw), **options)
    return [X.sequence(i) for i in range(len(X))]


@pytest.fixture(params=[1, 2, 3, 7, 1 << 22])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Reading in blocks of so many bytes, most of which cut lines and characters in two."""
    monkeypatch.setattr("parsimon.files.BLOCK", request.param)
    return int(request.param)


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        TEXT.replace(" ", "\t"),
        TEXT.replace(" ", " \t  "),
        TEXT.replace("\n", "\r\n"),
        TEXT.rstrip("\n"),
        TEXT + "\n\n",
        "\n\n" + TEXT,
        TEXT.replace("\n\n", "\n\n\n\n"),
        TEXT.replace("\n\n", "\n \t \n"),
        "\ufeff" + TEXT,
        "\ufeff" + TEXT.replace("\n", "\r\n").rstrip("\r\n"),
        "  " + TEXT.replace("\n", "  \n"),
    ],
    ids=["blanks", "tabs", "runs", "crlf", "no final newline", "blank lines after", "blank lines before",
         "many blank lines", "blank line of blanks", "bom", "bom, crlf, no final newline", "padded lines"],
)  # fmt: skip
def test_layouts(content: str, block: int) -> None:
    assert read(content) == SEQUENCES


def test_comments(block: int) -> None:
    content = "# a file\nThe DT\n#b\ndog NN\n\n# two\nIt PRP\nran VBD\n. .\n#"
    assert read(content, comment="#") == SEQUENCES
    assert read("# DT\n") == [[("#", "DT")]]
    assert read("#DT x\n", comment="# ") == [[("#DT", "x")]]


def test_a_comment_behind_a_byte_order_mark() -> None:
    assert read("\ufeff# a file\nThe DT\n", comment="#") == [[("The", "DT")]]


def test_one_separator(block: int) -> None:
    assert read("New York\tNNP\nis\tVBZ\n\n", separator="\t") == [[("New York", "NNP"), ("is", "VBZ")]]
    assert read("a,b c\n", separator=",") == [[("a", "b c")]]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "utf-16-le", "utf-8-sig", "cp1252"])
def test_encodings(encoding: str, block: int) -> None:
    content = "Zürich NÉ\nçà va\n\nÿ þ\n"
    assert read(content.encode(encoding), encoding=encoding) == [
        [("Zürich", "NÉ"), ("çà", "va")],
        [("ÿ", "þ")],
    ]


def test_all_of_unicode(block: int) -> None:
    content = "日本 🐕\ne\u0301 \u00a0\u2028\x0b\x0c\n"
    assert read(content) == [[("日本", "🐕"), ("e\u0301", "\u00a0\u2028\x0b\x0c")]]


def test_other_codes_than_text_are_refused() -> None:
    for encoding in ("hex", "rot13", "zlib"):
        with pytest.raises(ParsimonError):
            read("The DT\n", encoding=encoding)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a b\nc\n", {}, "line 2: this line has 1 column but the lines before it, from line 1 on, have 2"),
        (
            "\n\na\n\nb c d\n",
            {},
            "line 5: this line has 3 columns but the lines before it, from line 3 on, have 1",
        ),
        ("a b\r\n\r\nc d e", {}, "line 3: this line has 3 columns"),
        ("# x\na b\n# y\nc\n", {"comment": "#"}, "line 4: this line has 1 column"),
        ("a\t\n", {"separator": "\t"}, "line 1: column 2 is empty"),
        ("a\tb\n\tc\n", {"separator": "\t"}, "line 2: column 1 is empty"),
        ("a\t\tb\n", {"separator": "\t"}, "line 1: column 2 is empty"),
        (
            b"a b\nc \xff\n",
            {},
            "line 2: column 2 is not valid UTF-8; if the file has another encoding, name it",
        ),
        (b"a b\n\xc3\x28 d\n", {}, "line 2: column 1 is not valid UTF-8"),
        (b"a \xed\xa0\x80\n", {}, "line 1: column 2 is not valid UTF-8"),
        ("a é\nb c\nd ü\n".encode("latin-1"), {"encoding": "ascii"}, "line 1: the text is not valid ascii"),
        (b"a b\nc d\ne \xff\n", {"encoding": "ascii"}, "line 3: the text is not valid ascii"),
        (b"a b\nc d\ne \x81\xff\n", {"encoding": "shift_jis"}, "line 3: the text is not valid shift_jis"),
        (
            "a b\nc".encode("utf-16-le")[:-1],
            {"encoding": "utf-16-le"},
            "line 2: the text is not valid utf-16-le",
        ),
    ],
)
def test_mistakes_are_found_with_their_line(
    content: Any, options: dict[str, str], message: str, block: int
) -> None:
    with pytest.raises(ParsimonError) as error:
        read(content, **options)
    assert message in str(error.value)
    assert str(error.value).startswith("the input, line ")


@pytest.mark.parametrize("content", ["", "\n", "\n\n \n", "\ufeff", "\r\n"])
def test_an_empty_file(content: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_bytes(content.encode())
    with pytest.raises(ParsimonError, match=r"empty.txt has no tokens; it should have one token per line"):
        read_columns(path)


def test_a_file_of_comments_only() -> None:
    with pytest.raises(ParsimonError, match="has no tokens"):
        read("# a\n# b\n", comment="#")


def test_gzipped_files_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "words.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    X = read_columns(path)
    assert [X.sequence(i) for i in range(len(X))] == SEQUENCES
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ParsimonError, match="cannot be read because its gzip data is damaged"):
        read_columns(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match=r"nowhere.txt cannot be read: No such file or directory"):
        read_columns(tmp_path / "nowhere.txt")
    with pytest.raises(ParsimonError, match="cannot be read: Is a directory"):
        read_columns(tmp_path)


def test_wrong_options() -> None:
    with pytest.raises(ParsimonError, match="no encoding called 'klingon'"):
        read(TEXT, encoding="klingon")
    for wrong in ("", "ab", "\n"):
        with pytest.raises(ParsimonError, match="the separator must be one character"):
            read(TEXT, separator=wrong)
    with pytest.raises(ParsimonError, match="binary mode"):
        read_columns(io.StringIO(TEXT))  # type: ignore[arg-type]


def test_a_separator_of_several_bytes_works_or_is_refused() -> None:
    with suppress(ParsimonError):
        assert read("a·b\n", separator="·") == [[("a", "b")]]


def test_the_name_of_the_file_is_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / "train.conll"
    path.write_text("a b\nc\n")
    with pytest.raises(ParsimonError, match=r"train.conll, line 2: "):
        read_columns(path)


# ---- in blocks ---------------------------------------------------------------------------------------------

words = st.text(st.sampled_from("ab#é日🐕.,"), min_size=1, max_size=3)
line_ends = st.sampled_from(["\n", "\r\n"])


@st.composite
def files(draw: Any) -> tuple[str, list[list[tuple[str, ...]]]]:
    n_columns = draw(st.integers(1, 3))
    token = st.tuples(*[words] * n_columns).filter(lambda row: not row[0].startswith("#"))
    sequences = draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=5))
    end = draw(line_ends)
    out = draw(st.sampled_from(["", end, end + end]))
    for i, sequence in enumerate(sequences):
        for row in sequence:
            if draw(st.booleans()):
                out += "# note" + end
            out += draw(st.sampled_from([" ", "\t", "  "])).join(row) + end
        last = i == len(sequences) - 1
        out += draw(st.sampled_from(["", end] if last else [end, end + end, " " + end]))
    if draw(st.booleans()):
        out = out.removesuffix("\n").removesuffix("\r")
    return out, sequences


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files(), st.integers(1, 40))
def test_blocks_change_nothing(file: tuple[str, list[Any]], size: int) -> None:
    content, sequences = file
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("parsimon.files.BLOCK", size)
        assert read(content, comment="#") == sequences
        found, lines = [], []
        for X, block, (start, end) in ColumnFile(io.BytesIO(content.encode()), comment="#"):
            found += [X.sequence(i) for i in range(len(X))]
            assert len(start) == len(end) == X.n_tokens
            lines += [block[a:b].decode() for a, b in zip(start.tolist(), end.tolist(), strict=True)]
    assert found == sequences
    assert [tuple(line.split()) for line in lines] == [row for sequence in sequences for row in sequence]


def test_iteration_goes_on_counting_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsimon.files.BLOCK", 4)
    with pytest.raises(ParsimonError, match="line 7: this line has 2 columns"):
        for _ in ColumnFile(io.BytesIO(b"a\n\nb\n\nc\n\nd e\n")):
            pass


def test_the_line_of_a_token_behind_a_byte_order_mark() -> None:
    (_, block, (start, end)), *_ = ColumnFile(io.BytesIO(b"\xef\xbb\xbfThe DT\r\n\r\n"))
    assert block[start[0] : end[0]] == b"The DT"


def test_whole_sequences_end_after_a_blank_line() -> None:
    blocks = list(whole_sequences([b"a\nb\n\nc", b"\n\r\nd", b"\n"], "it"))
    assert b"".join(blocks) == b"a\nb\n\nc\n\r\nd\n"
    assert blocks[0] == b"a\nb\n"


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"b\n\nc", b"\n\n"]), max_size=12))
def test_sequences_are_the_same_however_blocks_come(blocks: list[bytes]) -> None:
    """No block but the last ends before the sequence does, wherever the file was cut."""
    text = b"".join(blocks)
    cut = list(whole_sequences(blocks, "it"))
    assert b"".join(cut) in (text, text + b"\n")
    assert all(later.startswith((b"\n", b"\r\n")) for later in cut[1:])


def test_a_sequence_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsimon.features.columns.LARGEST_WHOLE", 100)
    blocks = [b"a\n\nb\n", *[b"c\n" * 20] * 5]
    with pytest.raises(
        ParsimonError, match=r"it, line 3: the sequence that starts here is larger than 100 by"
    ):
        list(whole_sequences(blocks, "it"))


def test_a_bomb_is_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsimon.files.LONGEST_LINE", 1_000_000)
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a b\n\n" + bytes(20_000_000))
    for read in (read_columns, lambda source: list(ColumnFile(source))):
        with pytest.raises(
            ParsimonError, match=r"bomb.gz, line 3: the line is longer than 977 KB; is this a"
        ):
            read(path)


def test_files_can_share_a_table_of_strings() -> None:
    first = read_columns(io.BytesIO(b"a b\n"))
    second = read_columns(io.BytesIO(b"b c\n"), strings=first.strings)
    assert second.ids.tolist() == [[1], [2]]
    both = Columns.concatenate([first, second])
    assert [both.sequence(i) for i in range(2)] == [[("a", "b")], [("b", "c")]]


def test_concatenating_columns_with_tables_of_their_own() -> None:
    both = Columns.concatenate([Columns.from_sequences([["a"]]), Columns.from_sequences([["b"], ["a"]])])
    assert [both.sequence(i) for i in range(3)] == [[("a",)], [("b",)], [("a",)]]


# ---- containers --------------------------------------------------------------------------------------------


def test_columns_are_a_sequence_of_sequences() -> None:
    X = Columns.from_sequences(SEQUENCES)
    assert (len(X), X.n_columns, X.n_tokens) == (2, 2, 5)
    assert X[1].sequence(0) == X[-1].sequence(0) == SEQUENCES[1]
    assert len(X[:1]) == 1
    chosen = X[np.array([1, 0, 1])]  # type: ignore[call-overload]
    assert [chosen.sequence(i) for i in range(3)] == [SEQUENCES[1], SEQUENCES[0], SEQUENCES[1]]
    assert len(X[np.array([False, True])]) == 1  # type: ignore[call-overload]
    assert [part.sequence(0) for part in X] == SEQUENCES
    with pytest.raises(IndexError):
        X[2]


def test_columns_of_single_strings_and_of_lists() -> None:
    assert Columns.from_sequences([["a", "b"], []]).sequence(0) == [("a",), ("b",)]
    assert Columns.from_sequences([[["a", "b"]]]).sequence(0) == [("a", "b")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["a b"], "sequence 0 is a single string"),
        ([["a"], [("b", "c")]], "sequence 1, token 0 has 2 columns, but the first token has 1"),
        ([[("a", 1)]], "sequence 0, token 0: columns must be strings"),
        ([[None]], "sequence 0, token 0"),
        ([[3]], "sequence 0, token 0"),
        ([None], "sequence 0"),
    ],
)
def test_wrong_sequences(wrong: Any, message: str) -> None:
    with pytest.raises(ParsimonError) as error:
        Columns.from_sequences(wrong)
    assert message in str(error.value)


def test_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"word": ["The", "dog", "It"], "sentence": [1, 1, 2], "tag": ["DT", "NN", "PRP"], "n": [1, 2, 3]}
    )
    X = Columns.from_frame(frame, "sentence")
    assert X.lengths.tolist() == [2, 1]
    assert X.sequence(0) == [("The", "DT", "1"), ("dog", "NN", "2")]
    with pytest.raises(ParsimonError, match="no column 'sent'; its columns are word, sentence, tag, n"):
        Columns.from_frame(frame, "sent")


def test_a_data_frame_without_rows_or_columns() -> None:
    pandas = pytest.importorskip("pandas")
    empty = pandas.DataFrame({"word": [], "sentence": []})
    assert Columns.from_frame(empty, "sentence").n_tokens == 0
    with pytest.raises(ParsimonError):
        Columns.from_frame(pandas.DataFrame({"sentence": [1, 1]}), "sentence")


def test_labels() -> None:
    y = Labels.from_sequences([["B", None], [], ["A", "B"]])
    assert (y.names, y.ids.tolist(), y.lengths.tolist()) == (("B", "A"), [0, -1, 1, 0], [2, 0, 2])
    assert list(y) == [["B", None], [], ["A", "B"]]
    assert [y[i] for i in range(3)] == list(y)
    assert list(y[1:]) == [[], ["A", "B"]]
    assert list(y[np.array([2, 0])]) == [["A", "B"], ["B", None]]  # type: ignore[call-overload]
    renumbered = y.renumbered(["A", "B", "C"])
    assert renumbered.ids.tolist() == [1, -1, 0, 1]
    assert list(renumbered) == list(y)
    assert Labels.from_sequences(y) is y


def test_wrong_labels() -> None:
    with pytest.raises(ParsimonError, match="labels of sequence 0 are a single string"):
        Labels.from_sequences(["AB"])
    with pytest.raises(
        ParsimonError,
        match="sequence 0, token 1: the label 'C' was not seen in training; known labels are A, B",
    ):
        Labels.from_sequences([["A", "C"]], names=["A", "B"])
    with pytest.raises(ParsimonError, match="the label 'B' was not seen in training"):
        Labels.from_sequences([["A", "B"]]).renumbered(["A"])


def test_labelled_files() -> None:
    X, y = read_labelled(io.BytesIO(b"a x N\nb y V\n\nc z N\n"))
    assert X.sequence(0) == [("a", "x"), ("b", "y")]
    assert list(y) == [["N", "V"], ["N"]]
    assert y.names == ("N", "V")


def test_unknown_labels_are_not_given() -> None:
    _, y = read_labelled(io.BytesIO(b"a ?\nb V\nc ?\n"), unknown=["?"])
    assert list(y) == [[None, "V", None]]
    assert y.names == ("V",)


def test_labelled_files_need_two_columns() -> None:
    with pytest.raises(ParsimonError, match="has 1 column; labelled data needs at least two"):
        read_labelled(io.BytesIO(b"a\n"))


@given(st.lists(st.lists(st.tuples(words, words), min_size=1), min_size=1))
def test_splitting_labels_off(sequences: list[list[tuple[str, str]]]) -> None:
    X, y = split_labels(Columns.from_sequences(sequences))
    assert [X.sequence(i) for i in range(len(X))] == [[(word,) for word, _ in s] for s in sequences]
    assert list(y) == [[label for _, label in s] for s in sequences]
    assert list(y.names) == list(dict.fromkeys(label for s in sequences for _, label in s))


def test_a_line_of_names_is_no_token() -> None:
    rows = "the DT O\ndog NN B\n\n"
    with pytest.raises(
        ParsimonError, match="the input begins with the names of columns, word, pos, tag, which"
    ):
        read_labelled(io.BytesIO(f"word pos tag\n{rows}".encode()))
    assert read_labelled(io.BytesIO(f"word pos X\n{rows}".encode()))[1].names == ("X", "O", "B")
    assert (
        len(read_labelled(io.BytesIO(b"word pos tag\nword pos tag\n\n"))[1].names) == 1
    )  # it is data after all


@pytest.mark.parametrize("sequence", [{"w": "a"}, {"a", "b"}, b"a", 5])
def test_what_is_no_list_of_tokens(sequence: Any) -> None:
    with pytest.raises(
        ParsimonError, match=r"^sequence 1 is .*, but should be a list of tokens; put a single"
    ):
        Columns.from_sequences([["a"], sequence])


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(
        ParsimonError, match=r"the columns have 'b\\udc80', but a text has half of a surrogate pair"
    ):
        Columns.from_sequences([["a", "b\udc80"]])


def long_text(rng: np.random.Generator, n: int, columns: int = 2) -> list[str]:
    """Lines of sequences, with comments and several empty lines; long enough for several threads."""
    lines = []
    for _ in range(n):
        lines += [
            " ".join(f"w{rng.integers(300)}" for _ in range(columns)) for _ in range(rng.integers(1, 9))
        ]
        lines += ["# comment"] * (rng.random() < 0.1) + [""] * int(rng.integers(1, 3))
    return lines


def parts_of(text: str, strings: StringTable, threads: int) -> list[Any]:
    file = ColumnFile(io.BytesIO(text.encode()), strings=strings, frozen=True, comment="#")
    file.threads = threads
    return [
        (columns.ids.tolist(), columns.lengths.tolist(), [at.tolist() for at in lines], file.lines_read)
        for columns, _, lines in file
    ]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_threads_read_the_same(mark: str) -> None:
    rng = np.random.default_rng(0)
    strings = StringTable()
    strings.add_all([f"w{i}" for i in range(0, 300, 2)])  # the others are unknown
    text = mark + "\n".join(long_text(rng, 6000)) + "\n"
    assert len(text) > 1 << 17
    one = parts_of(text, strings, 1)
    assert one == parts_of(text, strings, 2) == parts_of(text, strings, 5)
    assert sum(len(lengths) for _, lengths, *_ in one) == 6000


@pytest.mark.parametrize("at", [0.001, 0.4, 0.6, 0.999])
@pytest.mark.parametrize("wrong", ["only_one", "one two three", "bad\udcff utf8"])
def test_threads_find_the_same_mistake(at: float, wrong: str) -> None:
    lines = long_text(np.random.default_rng(1), 6000)
    lines.insert(int(at * len(lines)), wrong)
    text = "\n".join(lines).encode(errors="surrogateescape")
    found = []
    for threads in (1, 3):
        file = ColumnFile(io.BytesIO(text), frozen=True, comment="#")
        file.threads = threads
        with pytest.raises(ParsimonError) as error:
            list(file)
        found.append(str(error.value))
    assert found[0] == found[1]
