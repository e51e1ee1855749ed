"""Documents on the command line: training, labels, scores and words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from parsimon.data.text import TextReader
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.documents.options import STRENGTHS
from parsimon.tasks.documents.training import DocumentTraining
from parsimon.tasks.model_file import load_model
from refusals import refused
from toy_documents import TEXTS, save_reviews, written


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_reviews(tmp_path)


@pytest.fixture(params=["tsv", "jsonl", "directory"])
def test_data(request, tmp_path: Path) -> Path:
    return written(tmp_path, request.param)


def test_predict_writes_labels_and_probabilities(run, model, tmp_path):
    data = written(tmp_path, "jsonl", None)
    fitted = load_model(model)
    rows = fitted.probabilities(fitted.read(TEXTS))
    result = run("predict", model, data)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"good\t{rows[0, 1]:.4f}\nbad\t{rows[1, 0]:.4f}\nbad\t{rows[2, 0]:.4f}\n"
    lines = [json.loads(x) for x in run("predict", model, data, "--format", "jsonl").stdout.splitlines()]
    assert lines[1] == {"label": "bad", "probability": pytest.approx(rows[1, 0])}
    text = run("predict", model, data, "--marginals").stdout.splitlines()[0]
    assert text == f"good\t{rows[0, 1]:.4f}\tbad={rows[0, 0]:.4f}\tgood={rows[0, 1]:.4f}"
    line = json.loads(run("predict", model, data, "--format", "jsonl", "--marginals").stdout.splitlines()[0])
    assert line["probabilities"] == {"bad": pytest.approx(rows[0, 0]), "good": pytest.approx(rows[0, 1])}


def test_predict_takes_all_forms_and_many_blocks(run, model, test_data, monkeypatch):
    expected = run("predict", model, test_data).stdout
    assert sorted(line.split("\t")[-2] for line in expected.splitlines()) == ["bad", "bad", "good"]
    monkeypatch.setattr("parsimon.cli.kinds.documents.AT_ONCE", 2)
    assert run("predict", model, test_data).stdout == expected


def test_predict_to_a_file(run, model, tmp_path):
    data = written(tmp_path, "tsv")
    assert run("predict", model, data, "-o", tmp_path / "out.tsv").exit_code == 0
    assert (tmp_path / "out.tsv").read_text() == run("predict", model, data).stdout


def test_standard_input(shell, model):
    done = shell("predict", model, "--lines", input="\n".join(TEXTS).encode())
    assert [line.split("\t")[0] for line in done.stdout.decode().splitlines()] == ["good", "bad", "bad"]
    wrong = shell("predict", model, input=b'{"text": 3}\n')
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(b"parsimon: standard input, line 1 should be")


def test_files_are_named(run, model, tmp_path):
    """A file is a document, whatever lines it has; what was predicted is told with its name."""
    folder = written(tmp_path, "directory")
    rows = [line.split("\t")[:2] for line in run("predict", model, folder).stdout.splitlines()]
    assert rows == [["bad/1.txt", "bad"], ["good/0.txt", "good"], ["good/2.txt", "bad"]]
    (tmp_path / "new.txt").write_text("A fine film.\n\nThe end,\tfine.\nFine!\n")
    (line,) = run("predict", model, tmp_path / "new.txt").stdout.splitlines()
    assert line.startswith("new.txt\tgood\t0.")
    (record,) = map(
        json.loads, run("predict", model, tmp_path / "new.txt", "--format", "jsonl").stdout.splitlines()
    )
    assert record.keys() == {"id", "label", "probability"}
    assert record["id"] == "new.txt"


def test_every_line_of_a_text_can_be_a_document(run, model, tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("".join(f"{text}\n" for text in TEXTS))
    lines = run("predict", model, path, "--lines").stdout
    assert [line.split("\t")[0] for line in lines.splitlines()] == ["good", "bad", "bad"]
    assert run("explain", model, path).stdout.count("document ") == 1
    assert run("explain", model, path, "--lines").stdout.count("document ") == 3
    for form in ("tsv", "jsonl"):
        refused(run("predict", model, written(tmp_path, form), "--lines"), "has a document a line anyway")
    refused(run("predict", model, written(tmp_path, "directory"), "--lines"), "is a folder")


def test_standard_input_without_lines_is_one_document(shell, model):
    done = shell("predict", model, input="\n".join(TEXTS).encode())
    assert done.stdout.decode().split("\t")[:2] == ["-", "bad"]
    assert done.stdout.count(b"\n") == 1


def test_ids_of_json_lines_come_back(run, model, tmp_path):
    path = tmp_path / "new.jsonl"
    ids = ["a\tb", 7, None, [1]]
    lines = [{"text": TEXTS[0], **({} if i is None else {"id": i})} for i in ids]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = run("predict", model, path).stdout
    assert [line.split("\t")[0] for line in table.splitlines()] == ["a b", "7", "", "[1]"]
    records = [json.loads(x) for x in run("predict", model, path, "--format", "jsonl").stdout.splitlines()]
    assert [record["id"] for record in records] == ids
    explained = [json.loads(x) for x in run("explain", model, path, "--json").stdout.splitlines()]
    assert [document["id"] for document in explained] == ids
    assert "document 2, 7: good" in run("explain", model, path).stdout
    run("explain", model, path, "--html", tmp_path / "why.html")
    assert "a b" in (tmp_path / "why.html").read_text()


def test_scores(run, model, test_data):
    result = run("evaluate", model, test_data)
    assert result.exit_code == 0, result.output
    head, scores, confusion = result.stdout.split("\n\n")
    assert head == "processed 3 documents\naccuracy: 66.67% (2 of 3)"
    assert [line.split() for line in scores.splitlines()] == [
        ["label", "precision", "recall", "F1", "documents"],
        ["bad", "50.00%", "100.00%", "66.67%", "1"],
        ["good", "100.00%", "50.00%", "66.67%", "2"],
        ["mean", "of", "labels", "75.00%", "75.00%", "66.67%"],
    ]
    assert [line.split() for line in confusion.splitlines()[1:]] == [["bad", "1", "0"], ["good", "1", "1"]]


def test_scores_as_json(run, model, tmp_path):
    record = json.loads(run("evaluate", model, written(tmp_path, "tsv"), "--json").stdout)
    assert record["scores"]["accuracy"] == pytest.approx(2 / 3)
    assert (record["scores"]["documents"], record["scores"]["correct"]) == (3, 2)
    assert record["details"]["confusion"] == [[1, 0], [1, 1]]
    assert record["details"]["per_label"]["good"] == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": 2 / 3,
        "support": 2,
    }


def test_most_frequent_confusions(run, model, tmp_path):
    text = run("evaluate", model, written(tmp_path, "tsv"), "--confusion").stdout
    assert text.splitlines()[-1].split() == ["1", "100.00%", "good", "bad"]
    right = written(tmp_path, "tsv", ["good", "bad", "bad"])
    assert run("evaluate", model, right, "--confusion").stdout.endswith("no document has a wrong label\n")


def test_unknown_labels_count_as_wrong(run, model, tmp_path):
    result = run("evaluate", model, written(tmp_path, "tsv", ["good", "bad", "odd"]))
    assert "accuracy: 66.67%" in result.stdout
    assert "1 document with a label that the model does not know (odd); it counts as wrong" in result.stderr


def test_unknown_labels_are_named_in_one_line(run, model, tmp_path):
    documents = [{"text": "good good", "label": "good"}, {"text": "bad", "label": "o\ndd"}]
    (tmp_path / "two.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    (said,) = run("evaluate", model, tmp_path / "two.jsonl").stderr.splitlines()
    assert r"does not know (o\ndd)" in said


def test_a_look_inside(run, model):
    summary, labels, words = run("inspect", model).stdout.split("\n\n")
    assert "words       3 of 300 (1.0%)" in summary
    assert "by          log loss, penalty sentence, l1 0.5" in summary
    assert "objective   12.5000 (KKT residual 0.01)" in summary
    assert [line.split() for line in labels.splitlines()[1:]] == [
        ["bad", "+0.0000", "1", "2", "3.75"],
        ["good", "+0.1000", "2", "1", "3.75"],
    ]
    assert [line.split() for line in words.splitlines()] == [
        ["weight", "bad", "weight", "good"],
        ["+1.5000", "dull", "+2.0000", "fine"],
        ["+0.2500", "end"],
    ]


def test_a_look_at_one_label_and_the_history(run, model):
    _, words, history = run("inspect", model, "--label", "good", "--top", 1, "--history").stdout.split("\n\n")
    assert words.splitlines()[1:] == ["+2.0000  fine"]
    assert history.splitlines()[0].split()[0] == "iteration"
    result = run("inspect", model, "--label", "ugly")
    assert result.exit_code == 2
    assert "the model has no label 'ugly'; its labels are bad, good" in result.stderr


def test_a_look_inside_as_json(run, model):
    record = json.loads(run("inspect", model, "--json").stdout)
    assert (record["kind"], record["size"]["words"], record["size"]["labels"]) == ("document", 3, 2)
    assert record["details"]["label_names"] == ["bad", "good"]
    assert record["details"]["heaviest"]["bad"] == [{"word": "dull", "weight": 1.5, "effect": None}]
    assert record["training"]["candidate_words"] == 300
    assert record["details"]["reader"]["lowercase"] is True
    assert len(record["history"]) == 1


def test_document_models_where_a_sequence_model_is_needed(run, model, folder):
    result = run(
        "train",
        "sequence",
        folder / "train.txt",
        "-m",
        folder / "m",
        "-t",
        folder / "small.tpl",
        "--initial",
        model,
    )
    assert result.exit_code == 2
    assert "reviews.model is a document model, but a sequence model is needed here." in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [("Just a text.\n", "have no labels; give a directory of class directories"), ("\n", "has no documents")],
)
def test_bad_test_data(run, model, tmp_path, content, said):
    (tmp_path / "x.tsv").write_text(content)
    result = run("evaluate", model, tmp_path / "x.tsv")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_nothing_heavy_is_imported(model, tmp_path):
    from loaded import loaded_by

    data = written(tmp_path, "tsv")
    for arguments in (["predict", model, data], ["evaluate", model, data], ["inspect", model]):
        loaded = loaded_by([str(a) for a in arguments])
        assert loaded & {"sklearn", "scipy", "rich", "pandas", "pooch", "jinja2"} == set()


THINGS = {
    "space": [
        "The rocket was launched.",
        "An orbit around the moon.",
        "NASA has a shuttle.",
        "The probe saw Mars.",
    ],
    "med": ["The doctor came.", "Take this drug.", "A patient was ill.", "The disease spread."],
}


FILLER = ["It is late.", "We think so.", "Who knows?", "That was all.", "See you then."]


def texts(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Labels and texts: two sentences that tell, and two that do not."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        label = ("space", "med")[i % 2]
        chosen = [*rng.choice(THINGS[label], 2), *rng.choice(FILLER, 2)]
        yield label, " ".join(chosen[k] for k in rng.permutation(4))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with training, development and test data."""
    for name, n, seed in (("train", 60, 0), ("dev", 20, 1), ("test", 20, 2)):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{y}\t{x}\n" for y, x in texts(n, seed)))
    return tmp_path


def accuracy(run, model, test) -> float:
    return json.loads(run("evaluate", model, test, "--json").stdout)["scores"]["accuracy"]


@pytest.mark.parametrize("penalty", STRENGTHS)
def test_every_penalty_learns(run, corpus, penalty):
    strengths = {
        "ridge": ["--l2", "0.1"],
        "lasso": ["--l1", "0.1"],
        "elastic-net": ["--l1", "0.1", "--l2", "0.1"],
        "count-ridge": ["--l2", "0.1"],
        "count-elastic-net": ["--l1", "0.1", "--l2", "0.1"],
        "sentence": ["--l1", "0.05", "--sentence-strength", "0.05"],
    }
    model = corpus / "a.model"
    result = run(
        "train", "document", corpus / "train.tsv", "-m", model, "--penalty", penalty, *strengths[penalty]
    )
    assert result.exit_code == 0, result.output
    fitted = load_model(model, DocumentModel)
    assert set(fitted.labels) == {"med", "space"}
    assert accuracy(run, model, corpus / "test.tsv") == 1.0
    assert (
        f"words      {len(fitted.words)} of " in result.stdout or f"{len(fitted.words)} of " in result.stdout
    )


def test_directories_and_json_lines(run, corpus, tmp_path):
    for i, (label, text) in enumerate(texts(60, 0)):
        place = tmp_path / "classes" / label
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i:02}.txt").write_text(text)
    ordered = sorted(enumerate(texts(60, 0)), key=lambda item: (item[1][0], item[0]))
    (tmp_path / "x.jsonl").write_text(
        "".join(json.dumps({"text": text, "label": label}) + "\n" for _, (label, text) in ordered)
    )
    for source in ("classes", "x.jsonl"):
        result = run(
            "train", "document", tmp_path / source, "-m", tmp_path / f"{source}.model", "--l1", "0.1"
        )
        assert result.exit_code == 0, result.output
    one, two = (load_model(tmp_path / f"{source}.model") for source in ("classes", "x.jsonl"))
    assert one.words == two.words
    np.testing.assert_array_equal(one.weights, two.weights)


def test_the_reader_and_the_words_are_as_asked_for(run, corpus):
    model = corpus / "a.model"
    result = run(
        "train", "document", corpus / "train.tsv", "-m", model, "--penalty", "ridge", "--l2", "1",
        "--no-lowercase", "--tokens", r"\w+", "--sentences", "lines", "--values", "binary", "--min-documents", "5",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    fitted = load_model(model, DocumentModel)
    assert fitted.reader == TextReader("lines", r"\w+", False)
    assert fitted.values == "binary"
    assert "The" in fitted.words
    documents = [set(TextReader("lines", r"\w+", False).read([x]).words) for _, x in texts(60, 0)]
    assert all(sum(word in d for d in documents) >= 5 for word in fitted.words)


def test_options_reach_training(run, corpus, monkeypatch):
    """Everything that is named is passed on; what is not named is as the command line has it."""
    seen = []

    def record(training, data, **_):
        seen.append((training, data))
        raise KeyboardInterrupt

    monkeypatch.setattr(DocumentTraining, "run", record)
    base = ["train", "document", corpus / "train.tsv", "-m", corpus / "a.model", "--n-jobs", 1]
    assert run(*base).exit_code == 130
    assert seen[0][0].reader == TextReader()
    assert (seen[0][0].n_jobs, seen[0][0].seed, seen[0][0].l1) == (1, 0, None)
    values = {
        "--penalty": "sentence", "--l1": 0.5, "--l2": 0.25, "--sentence-strength": 0.125, "--groups": "window",
        "--window": 7, "--group-weight": "sqrt", "--stopping": "paper", "--rho": 2.0, "--loss": "log",
        "--values": "tf-idf", "--min-count": 2, "--min-documents": 3, "--max-documents": 0.75, "--max-words": 99,
        "--max-iter": 11, "--tol": 1e-3, "--time-limit": 60.0, "--random-state": 4,
    }  # fmt: skip
    assert run(*base, *(text for pair in values.items() for text in pair)).exit_code == 130
    names = {"--sentence-strength": "sentence"}
    for option, value in values.items():
        assert getattr(seen[1][0], names.get(option, option.strip("-").replace("-", "_"))) == value
    assert len(seen[1][1].documents) == len(seen[1][1].labels) == 60


def test_development_data_and_the_log(run, corpus):
    model, log = corpus / "a.model", corpus / "a.jsonl"
    result = run(
        "train", "document", corpus / "train.tsv", "-m", model, "--dev", corpus / "dev.tsv", "--l1", "0.1",
        "--log", log, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["size"]["words"] == len(load_model(model).words)
    assert record["bytes"] == model.stat().st_size
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [lines[0]["event"], lines[-1]["event"]] == ["start", "end"]
    assert lines[0]["options"]["l1"] == 0.1
    assert {line["event"] for line in lines[1:-1]} == {"iteration"}
    assert lines[-1]["size"] == record["size"]
    assert record["dev"] == max(line["dev"] for line in lines[1:-1] if line["dev"] is not None)


def test_quiet_verbose_and_small(run, corpus):
    base = ["train", "document", corpus / "train.tsv", "-m", corpus / "a.model", "--l1", "0.1"]
    quiet = run(*base, "-q")
    assert (quiet.exit_code, quiet.output) == (0, "")
    verbose = run(*base, "-v")
    assert "reading train.tsv" in verbose.stderr
    size = (corpus / "a.model").stat().st_size
    assert run(*base, "-q", "--dtype", "float32").exit_code == 0
    assert (corpus / "a.model").stat().st_size < size


def test_ctrl_c_before_there_is_a_model(run, corpus, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(DocumentTraining, "train", interrupt)
    result = run("train", "document", corpus / "train.tsv", "-m", corpus / "a.model")
    assert result.exit_code == 130
    assert "interrupted, and no model was written" in result.stderr
    assert not (corpus / "a.model").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.tsv", "-m", "a.model"], "nowhere.tsv cannot be read: there is no such file or directory"),
        (["train.tsv", "-m", "no/a.model"], "there is no directory"),
        (["train.tsv", "-m", "train.tsv"], "would be overwritten"),
        (["bare.tsv", "-m", "a.model"], "the documents of bare.tsv have no labels"),
        (["ragged.tsv", "-m", "a.model"], "ragged.tsv, line 2 has no tab"),
        (["train.tsv", "-m", "a.model", "--tokens", "("], "is not a regular expression"),
        (["train.tsv", "-m", "a.model", "--sentences", "magic"], "no sentence splitter called 'magic'"),
        (["train.tsv", "-m", "a.model", "--min-count", "1000"], "words"),
        (["train.tsv", "-m", "a.model", "--max-documents", "2"], "2 is not a number above zero and up to 1"),
        (["train.tsv", "-m", "a.model", "--l1", "-1"], "-1 is not a number, zero or more"),
        (["train.tsv", "-m", "a.model", "--penalty", "ridg"], "'ridg' is not one of"),
        (["train.tsv", "-m", "a.model", "--penalty", "ridge", "--l1", "1"], "--penalty ridge has no --l1"),
        (
            ["train.tsv", "-m", "a.model", "--penalty", "lasso", "--sentence-strength", "1"],
            "use --penalty sentence",
        ),
        (
            ["train.tsv", "-m", "a.model", "--penalty", "lasso", "--rho", "1"],
            "--rho is about --penalty sentence",
        ),
        (["train.tsv", "-m", "a.model", "--window", "9"], "--window is about --groups window"),
        (["train.tsv", "-m", "-"], "the model must be a file"),
        (["-", "-m", "a.model", "--dev", "-"], "cannot both be standard input"),
    ],
)
def test_mistakes_are_one_sentence(run, corpus, monkeypatch, arguments, said):
    monkeypatch.chdir(corpus)
    Path("bare.tsv").write_text("Just a text.\nAnother.\n")
    Path("ragged.tsv").write_text("a\tb\nc\n")
    result = run("train", "document", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr.splitlines()[0]
    assert result.stderr.startswith("parsimon: ")
    assert "Traceback" not in result.output
    assert not Path("a.model").exists()


# ---- strengths that choose themselves ------------------------------------------------------------------------


def test_no_options_are_needed(run, corpus):
    model, plot = corpus / "a.model", corpus / "a.svg"
    result = run("train", "document", corpus / "train.tsv", "-m", model, "--tune-plot", plot)
    assert result.exit_code == 0, result.output
    (chosen,) = re.findall(r"^strengths  (.*)$", result.stdout, re.MULTILINE)
    assert re.match(r"l1 [\d.]+, l2 [\d.]+: of \d+ tried on 5 folds, score 1?\d\d\.\d\d%", chosen)
    assert "<svg" in plot.read_text()
    assert accuracy(run, model, corpus / "test.tsv") == 1.0
    shown = run("inspect", model).stdout
    assert "strengths" in shown
    assert "*  l1 " in shown
    training = json.loads(run("inspect", model, "--json").stdout)["training"]
    assert training["penalty"] == "count-elastic-net"
    assert training["l1"] == training["tuning"]["chosen"]["l1"]


def test_development_documents_choose_strengths(run, corpus):
    model = corpus / "a.model"
    arguments = ["train", "document", corpus / "train.tsv", "-m", model, "--penalty", "lasso"]
    assert "tried on development data" in run(*arguments, "--dev", corpus / "test.tsv").stdout
    errors = run(*arguments, "--dev", corpus / "test.tsv", "--tune-rule", "one-standard-error")
    refused(errors, "a --tune-rule with standard errors needs folds")
    refused(
        run(*arguments, "--dev", corpus / "test.tsv", "--folds", "3"), "--folds is about choosing strengths"
    )
    refused(run(*arguments, "--no-tune", "--folds", "3"), "--folds is about strengths that choose themselves")
    refused(run(*arguments, "--tune", "--l1", "1"), "--tune has nothing to choose: every strength is given")
    refused(
        run(*arguments, "--tune-plot", corpus / "a.txt"), "give a file name that ends in .png, .svg or .pdf"
    )
    untuned = run(*arguments, "--no-tune", "--tune-plot", corpus / "a.png")
    refused(untuned, "--tune-plot is about strengths that choose themselves")
