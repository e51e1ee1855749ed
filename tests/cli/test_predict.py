"""Labelling from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from parsimon.features import read_columns
from parsimon.structures.label_schemes import constraints
from parsimon.tasks.model_file import load_model


def rows(text: str) -> list[list[str]]:
    """The fields of every line that is not empty."""
    return [line.split() for line in text.splitlines() if line]


def labels(text: str) -> list[str]:
    return [fields[-1] for fields in rows(text)]


def test_lines_come_back_with_a_tab_and_the_label(run, trained, folder):
    result = run("predict", trained, folder / "new.txt")
    assert result.exit_code == 0, result.output
    model = load_model(trained)
    X = read_columns(folder / "new.txt")
    expected = iter([y for sequence in model.predict_columns(X) for y in sequence])
    text = "".join(
        f"{line}\t{next(expected)}\n" if line else "\n"
        for line in (folder / "new.txt").read_text().splitlines()
    )
    assert result.stdout == text
    assert result.stderr == ""


def test_columns_beyond_those_needed_change_nothing(run, trained, folder):
    plain = labels(run("predict", trained, folder / "new.txt").stdout)
    result = run("predict", trained, folder / "test.txt")
    assert labels(result.stdout) == plain
    assert result.stdout.startswith("The DT B-NP\tB-NP\n")


def test_standard_input_and_output(shell, trained, folder):
    expected = shell("predict", trained, folder / "new.txt").stdout
    content = (folder / "new.txt").read_bytes()
    assert shell("predict", trained, "-", input=content).stdout == expected
    assert shell("predict", trained, input=content).stdout == expected
    with (folder / "new.txt").open("rb") as stream:
        assert shell("predict", trained, stdin=stream).stdout == expected


def test_a_pipe_is_answered_before_it_is_closed(trained):
    command = [sys.executable, "-m", "parsimon.cli", "predict", str(trained)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for _ in range(3):
        process.stdin.write(b"The DT\ndog NN\n\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(3)] == [b"The DT\tB-NP\n", b"dog NN\tI-NP\n", b"\n"]
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()


def test_nothing_in_nothing_out(run, shell, trained, folder):
    (folder / "new.txt").write_text("")
    assert run("predict", trained, folder / "new.txt").output == ""
    done = shell("predict", trained, input=b"\n\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_output_file_is_complete_or_not_there(run, trained, folder):
    out = folder / "out.txt"
    assert run("predict", trained, folder / "new.txt", "-o", out).output == ""
    assert out.read_text() == run("predict", trained, folder / "new.txt").stdout
    out.write_text("as it was")
    before = {path.name for path in folder.iterdir()}
    (folder / "new.txt").write_text("The DT\ndog NN\n\nbroken\n")
    assert run("predict", trained, folder / "new.txt", "-o", out).exit_code == 2
    assert out.read_text() == "as it was"
    assert {path.name for path in folder.iterdir()} == before


def test_an_output_file_may_be_the_input(run, trained, folder):
    expected = run("predict", trained, folder / "new.txt").stdout
    assert run("predict", trained, folder / "new.txt", "-o", folder / "new.txt").exit_code == 0
    assert (folder / "new.txt").read_text() == expected


def test_many_blocks_are_like_one(run, trained, folder, monkeypatch):
    (folder / "new.txt").write_text((folder / "new.txt").read_text() * 20)
    whole = run("predict", trained, folder / "new.txt", "--marginals").stdout
    monkeypatch.setattr("parsimon.features.columns.BLOCK", 100)
    assert run("predict", trained, folder / "new.txt", "--marginals").stdout == whole


def test_models_whose_templates_change_strings(run, folder):
    model = folder / "words.model"
    assert run("train", "sequence", folder / "train.txt", "-m", model, "--l1", "0.1").exit_code == 0
    (folder / "new.txt").write_text("The\nBIG\ndogs\nbarked\n")
    result = run("predict", model, folder / "new.txt")
    expected = load_model(model).predict_columns(read_columns(folder / "new.txt"))[0]
    assert labels(result.stdout) == expected


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_matter(run, trained, folder, threads):
    expected = run("predict", trained, folder / "new.txt").stdout
    assert run("predict", trained, folder / "new.txt", "--n-jobs", threads).stdout == expected


def test_line_ends_and_comments(run, trained, folder):
    expected = run("predict", trained, folder / "new.txt").stdout
    text = (folder / "new.txt").read_text().rstrip("\n")
    (folder / "new.txt").write_bytes(b"# remark\r\n" + text.replace("\n", "\r\n").encode())
    assert run("predict", trained, folder / "new.txt", "--comment", "#").stdout == expected


def test_the_output_has_the_encoding_of_the_input(shell, trained, folder):
    (folder / "new.txt").write_bytes("Façade NN\nété NN\n".encode("latin-1"))
    done = shell("predict", trained, folder / "new.txt", "--encoding", "latin-1")
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[0] for line in done.stdout.decode("latin-1").split("\n")[:2]] == [
        "Façade NN",
        "été NN",
    ]
    (folder / "new.txt").write_bytes("Façade NN\n\nété NN\n".encode("utf-16"))
    done = shell("predict", trained, folder / "new.txt", "--encoding", "utf-16")
    assert done.stdout.decode("utf-16").startswith("Façade NN\t")


def test_labels_that_the_encoding_lacks(run, folder):
    (folder / "train.txt").write_text("a été\nb Ω\n\n" * 3)
    run("train", "sequence", folder / "train.txt", "-m", folder / "m", "--l1", "0.01")
    (folder / "new.txt").write_text("a\nb\n")
    result = run("predict", folder / "m", folder / "new.txt", "--encoding", "latin-1")
    assert result.exit_code == 2
    assert "cannot be written in iso8859-1" in result.stderr


# --- Probabilities ------------------------------------------------------------------------------------------


def test_marginals_add_a_column(run, trained, folder):
    model = load_model(trained)
    X = read_columns(folder / "new.txt")
    marginals, _ = model.marginals(model.observe(X))
    result = rows(run("predict", trained, folder / "new.txt", "--marginals").stdout)
    plain = rows(run("predict", trained, folder / "new.txt").stdout)
    assert [fields[:-1] for fields in result] == plain
    for t, fields in enumerate(result):
        expected = marginals[t, model.labels.index(fields[-2])]
        assert float(fields[-1]) == pytest.approx(expected, abs=5.1e-5)
        assert len(fields[-1]) == 6


def test_minimum_risk_takes_the_most_probable_labels(run, trained, folder):
    model = load_model(trained)
    X = read_columns(folder / "new.txt")
    marginals, _ = model.marginals(model.observe(X))
    result = run("predict", trained, folder / "new.txt", "--decoding", "minimum-risk")
    assert result.exit_code == 0, result.output
    assert labels(result.stdout) == [model.labels[y] for y in marginals.argmax(axis=1)]
    plain = run("predict", trained, folder / "new.txt").stdout
    assert run("predict", trained, folder / "new.txt", "--decoding", "viterbi").stdout == plain


def test_minimum_risk_within_a_scheme_and_with_given_labels(run, trained, folder):
    model = load_model(trained)
    result = run("predict", trained, folder / "new.txt", "--decoding", "minimum-risk", "--scheme", "iob2")
    allowed = constraints(model.tags, "iob2")
    for block in result.stdout.strip("\n").split("\n\n"):
        assert allowed.first_violation([model.tags.index(label) for label in labels(block)]) is None
    (folder / "given.txt").write_text("The DT B-NP\nold JJ ?\ndog NN B-VP\n")
    given = ["--given-labels", "--decoding", "minimum-risk"]
    found = labels(run("predict", trained, folder / "given.txt", *given).stdout)
    assert found[0] == "B-NP"
    assert found[2] == "B-VP"


def test_the_best_of_all_are_not_a_matter_of_risk(run, trained, folder):
    result = run("predict", trained, folder / "new.txt", "--kbest", 2, "--decoding", "minimum-risk")
    assert result.exit_code == 2
    assert "--kbest gives the best of all, so there is nothing for --decoding; leave one out" in result.stderr


def test_kbest_writes_each_labelling_after_its_rank_and_probability(run, trained, folder):
    model = load_model(trained)
    X = read_columns(folder / "new.txt")
    values, best = model.kbest(model.observe(X), 3)
    text = run("predict", trained, folder / "new.txt", "--kbest", 3).stdout
    blocks = iter(text.strip("\n").split("\n\n"))
    first = 0
    for i, length in enumerate(X.lengths):
        for rank in range(3):
            comment, *lines = next(blocks).splitlines()
            sign, number, probability = comment.split()
            assert (sign, number) == ("#", str(rank + 1))
            assert float(probability) == pytest.approx(np.exp(values[rank, i]), abs=5.1e-5)
            wanted = [model.labels[y] for y in best[rank, first : first + length]]
            assert [line.split("\t")[-1] for line in lines] == wanted
        first += length
    assert next(blocks, None) is None


def test_kbest_of_a_short_sequence_has_as_many_as_there_are(run, trained, folder):
    (folder / "new.txt").write_text("dog NN\n")
    text = run("predict", trained, folder / "new.txt", "--kbest", 100).stdout
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert len(comments) == load_model(trained).n_labels
    assert sum(float(line.split()[-1]) for line in comments) == pytest.approx(1, abs=1e-3)


def test_kbest_and_marginals_together(run, trained, folder):
    single = run("predict", trained, folder / "new.txt", "--marginals").stdout.split("\n\n")[0]
    block = run("predict", trained, folder / "new.txt", "--marginals", "--kbest", 2).stdout.split("\n\n")[0]
    assert block.split("\n", 1)[1] == single


# --- Constraints --------------------------------------------------------------------------------------------


def test_a_scheme_makes_valid_sequences(run, trained, folder):
    words = ["dog NN", "seen VBN", "old JJ", "town NN"]
    (folder / "new.txt").write_text("\n\n".join(words) + "\n\n" + "\n".join(words) + "\n")
    model = load_model(trained)
    free = run("predict", trained, folder / "new.txt").stdout
    valid = run("predict", trained, folder / "new.txt", "--scheme", "iob2").stdout
    allowed = constraints(model.labels, "iob2")

    def violations(text: str) -> int:
        sequences = [labels(part) for part in text.strip("\n").split("\n\n")]
        return sum(
            allowed.first_violation([model.labels.index(y) for y in sequence]) is not None
            for sequence in sequences
        )

    assert violations(free) > 0
    assert violations(valid) == 0
    assert run("predict", trained, folder / "new.txt", "--scheme", "auto").stdout == valid


def test_given_labels_are_kept_and_the_others_found(run, trained, folder):
    (folder / "new.txt").write_text("The DT ?\ndog NN B-VP\nbarks VBZ _\n\nDogs NNS -\n")
    result = run("predict", trained, folder / "new.txt", "--given-labels")
    assert result.exit_code == 0, result.output
    assert rows(result.stdout)[1] == ["dog", "NN", "B-VP", "B-VP"]
    free = labels(run("predict", trained, folder / "new.txt").stdout)
    assert free[1] == "I-NP"
    assert len(labels(result.stdout)) == 4


def test_the_mark_of_a_free_token_can_be_named(run, trained, folder):
    (folder / "new.txt").write_text("The DT FREE\ndog NN B-VP\n")
    arguments = ["predict", trained, folder / "new.txt", "--given-labels"]
    assert run(*arguments, "--unknown", "FREE").exit_code == 0
    result = run(*arguments)
    assert result.exit_code == 2
    assert "new.txt, line 1: 'FREE' is no label of the model; write ?" in result.stderr


def test_given_labels_and_a_scheme_that_cannot_both_be_are_located(run, trained, folder):
    (folder / "new.txt").write_text("The DT ?\ndog NN ?\n\nThe DT O\ndog NN I-NP\n")
    result = run("predict", trained, folder / "new.txt", "--given-labels", "--scheme", "iob2")
    assert result.exit_code == 2
    assert "new.txt, line 4: no labelling of the sequence that starts here" in result.stderr


# --- What goes wrong ----------------------------------------------------------------------------------------


def failed(result, *said: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("parsimon: ")
    assert "Traceback" not in result.stderr
    for words in said:
        assert words in result.stderr


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (b"a b\nc d\n\ne\n", [], ["new.txt, line 4", "1 column"]),
        (b"a\nb\n", [], ["new.txt has 1 column", "the model looks at 2"]),
        (b"a b\nc d\n", ["--given-labels"], ["new.txt has 2 columns", "one more"]),
        ("façade NN\n".encode("latin-1"), [], ["new.txt, line 1", "UTF-8"]),
        (b"caf\xc3\xa9 NN\n\xff\xfe NN\n", ["--encoding", "ascii"], ["new.txt, line 1", "ascii"]),
        (b"a\t\tb\n", ["--separator", "tab"], ["new.txt, line 1", "column 2 is empty"]),
        (b"a b\n", ["--encoding", "klingon"], ["klingon"]),
        (b"a b\n", ["--kbest", "0"], ["--kbest"]),
    ],
    ids=[
        "ragged",
        "too few columns",
        "no column for labels",
        "not utf-8",
        "not ascii",
        "empty column",
        "no encoding",
        "no best",
    ],
)
def test_bad_input(run, trained, folder, content, options, said):
    (folder / "new.txt").write_bytes(content)
    failed(run("predict", trained, folder / "new.txt", *options), *said)


def test_bad_files(run, trained, folder):
    failed(run("predict", trained, folder / "nothing.txt"), "nothing.txt cannot be read")
    failed(run("predict", trained, folder), "cannot be read", "directory")
    failed(run("predict", folder / "nothing.model", folder / "new.txt"), "nothing.model cannot be read")
    failed(run("predict", folder, folder / "new.txt"), "cannot be read", "directory")
    failed(run("predict", trained, folder / "new.txt", "-o", folder / "no/out.txt"), "cannot be written")


@pytest.mark.parametrize("command", ["predict", "evaluate", "inspect"])
def test_bad_models(run, trained, folder, command):
    content = trained.read_bytes()
    model = folder / "bad.model"
    arguments = [command, model] if command == "inspect" else [command, model, folder / "test.txt"]
    for bad in (b"", b"U00:%x[0,0]\nB\n", content[:-10], content[:100], content[:5], os.urandom(500)):
        model.write_bytes(bad)
        failed(run(*arguments), "bad.model", "damaged")
    assert b'\\"format\\": 2,' in content
    model.write_bytes(content.replace(b'\\"format\\": 2,', b'\\"format\\": 9,'))
    failed(run(*arguments), "bad.model has format 9", "newer version")


def test_models_of_ready_made_features_are_for_python(run, folder):
    from parsimon.estimators import SequenceLabeler
    from parsimon.tasks.model_file import save_model

    labeler = SequenceLabeler(l1=0.1).fit([[{"w": "a"}, {"w": "b"}]] * 3, [["X", "Y"]] * 3)
    save_model(labeler.model_, folder / "items.model")
    failed(run("predict", folder / "items.model", folder / "new.txt"), "not on columns", "Python")
    assert run("inspect", folder / "items.model").exit_code == 0


def test_a_full_disk(shell, trained, folder):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "parsimon.cli", "predict", str(trained), str(folder / "new.txt")]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == "parsimon: standard output cannot be written: No space left on device.\n"
    done = shell("predict", trained, folder / "new.txt", "-o", "/dev/full")
    assert done.returncode == 2
    assert done.stderr.decode() == "parsimon: /dev/full cannot be written: No space left on device.\n"
    assert Path("/dev/full").is_char_device()


def test_a_closed_pipe_is_no_trouble(trained, folder):
    (folder / "new.txt").write_text((folder / "new.txt").read_text() * 50_000)
    command = [sys.executable, "-m", "parsimon.cli", "predict", str(trained), str(folder / "new.txt")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"The DT\tB-NP\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141
    process.stderr.close()
