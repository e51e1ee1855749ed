"""Labels of column files: predicted line by line, and compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from parsimon.features import read_columns, read_labelled
from parsimon.metrics import evaluate
from parsimon.structures.label_schemes import constraints
from parsimon.tasks.model_file import load_model
from refusals import refused


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


def test_nothing_in_nothing_out(run, shell, trained, folder):
    (folder / "new.txt").write_text("")
    assert run("predict", trained, folder / "new.txt").output == ""
    done = shell("predict", trained, input=b"\n\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_many_blocks_are_like_one(run, trained, folder, monkeypatch):
    (folder / "new.txt").write_text((folder / "new.txt").read_text() * 20)
    whole = run("predict", trained, folder / "new.txt", "--marginals").stdout
    monkeypatch.setattr("parsimon.files.BLOCK", 100)
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
    refused(run("predict", trained, folder / "new.txt", *options), *said)


def test_models_of_ready_made_features_are_for_python(run, folder):
    from parsimon.estimators import SequenceLabeler
    from parsimon.tasks.model_file import save_model

    labeler = SequenceLabeler(l1=0.1).fit([[{"w": "a"}, {"w": "b"}]] * 3, [["X", "Y"]] * 3)
    save_model(labeler.model_, folder / "items.model")
    refused(run("predict", folder / "items.model", folder / "new.txt"), "not on columns", "Python")
    assert run("inspect", folder / "items.model").exit_code == 0


@pytest.fixture
def wrong(folder: Path) -> Path:
    """Test data on which the model makes mistakes."""
    path = folder / "wrong.txt"
    text = (folder / "test.txt").read_text()
    path.write_text(text.replace("dog NN I-NP", "dog NN B-NP").replace("Paris NNP B-NP", "Paris NNP O"))
    return path


def test_it_prints_what_conlleval_prints(run, trained, wrong):
    X, y = read_labelled(wrong)
    expected = evaluate(list(y), list(load_model(trained).predict_columns(X)))
    result = run("evaluate", trained, wrong)
    assert result.exit_code == 0, result.output
    assert result.stdout == expected.conlleval()
    assert 0 < expected.f1 < 1


def test_json_has_fractions(run, trained, wrong):
    X, y = read_labelled(wrong)
    expected = evaluate(list(y), list(load_model(trained).predict_columns(X)))
    record = json.loads(run("evaluate", trained, wrong, "--json").stdout)
    for name in ("accuracy", "precision", "recall", "f1"):
        assert record["scores"][name] == getattr(expected, name)
    assert record["details"]["scored"] == "spans"
    assert record["details"]["per_type"]["NP"]["gold"] == expected.per_type["NP"].gold
    assert sum(map(sum, record["details"]["confusion"])) == record["scores"]["tokens"] == expected.tokens


def test_raw_scores_tokens(run, trained, wrong):
    X, y = read_labelled(wrong)
    expected = evaluate(list(y), list(load_model(trained).predict_columns(X)), raw=True)
    assert run("evaluate", trained, wrong, "--raw").stdout == expected.conlleval()
    assert (
        json.loads(run("evaluate", trained, wrong, "--raw", "--json").stdout)["scores"]["f1"] == expected.f1
    )


def test_the_confusion_table(run, trained, wrong):
    text = run("evaluate", trained, wrong, "--confusion").stdout
    report, matrix, confusions = text.split("\n\n")
    assert report + "\n" == run("evaluate", trained, wrong).stdout
    header, *lines = matrix.splitlines()
    assert header.split()[3:] == [line.split()[0] for line in lines]
    assert confusions.splitlines()[0].split() == ["tokens", "of", "errors", "gold", "predicted"]
    assert confusions.splitlines()[1].split()[2:] == ["B-NP", "I-NP"]


def test_no_confusion(run, trained, folder):
    assert "no token has a wrong label" in run("evaluate", trained, folder / "test.txt", "--confusion").stdout


def test_labels_that_mark_no_spans_get_a_line_each(run, folder):
    tags = (folder / "train.txt").read_text().replace("B-", "").replace("I-", "")
    (folder / "tags.txt").write_text(tags)
    (folder / "wrong.txt").write_text(tags.replace("saw VBD VP", "saw VBD NP"))
    run("train", "sequence", folder / "tags.txt", "-m", folder / "tags.model", "--l1", "0.1")
    text = run("evaluate", folder / "tags.model", folder / "wrong.txt").stdout
    table = {fields[0]: fields[1:] for fields in map(str.split, text.splitlines()[3:])}
    assert table.keys() == {"label", "NP", "VP", "PP", "O", "mean"}
    assert table["PP"][:3] == ["100.00%"] * 3
    assert table["VP"][0] != "100.00%"
    record = json.loads(run("evaluate", folder / "tags.model", folder / "wrong.txt", "--json").stdout)
    assert record["details"]["scored"] == "labels"
    scores = record["details"]["per_label"].values()
    for name in ("precision", "recall", "f1"):
        assert record["scores"][name] == pytest.approx(sum(s[name] for s in scores) / len(scores))
    assert f"{100 * record['scores']['accuracy']:.2f}%" in text


def test_unknown_labels_count_as_wrong_and_are_mentioned(run, trained, folder):
    exact = json.loads(run("evaluate", trained, folder / "test.txt", "--json").stdout)
    text = (folder / "test.txt").read_text()
    (folder / "test.txt").write_text(text.replace("in IN B-PP", "in IN B-LST"))
    result = run("evaluate", trained, folder / "test.txt", "--json")
    assert result.exit_code == 0
    assert "1 token with a label that the model does not know (B-LST); it counts as wrong" in result.stderr
    record = json.loads(result.stdout)
    record, exact = record["scores"], exact["scores"]
    assert record["correct_tokens"] == exact["correct_tokens"] - 1
    assert record["tokens"] == exact["tokens"]


def test_many_blocks_are_scored_like_one(run, trained, wrong, monkeypatch):
    wrong.write_text(wrong.read_text() * 10)
    whole = run("evaluate", trained, wrong, "--json").stdout
    monkeypatch.setattr("parsimon.files.BLOCK", 100)
    assert run("evaluate", trained, wrong, "--json").stdout == whole


def test_scoring_standard_input(shell, trained, wrong):
    done = shell("evaluate", trained, "-", input=wrong.read_bytes())
    assert done.returncode == 0, done.stderr
    assert done.stdout == shell("evaluate", trained, wrong).stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "test.txt has no tokens"),
        ("a b X\nc d\n", "test.txt, line 2"),
        ("a b\nc d\n", "test.txt has 2 columns, but the model looks at 2 and needs one more"),
    ],
    ids=["empty", "ragged", "no labels"],
)
def test_bad_test_data(run, trained, folder, content, said):
    (folder / "test.txt").write_text(content)
    result = run("evaluate", trained, folder / "test.txt")
    assert result.exit_code == 2
    assert result.stderr.startswith("parsimon: ")
    assert said in result.stderr
