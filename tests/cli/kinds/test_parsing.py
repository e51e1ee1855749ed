"""Parsers on the command line: training, trees, scores and features."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from parsimon.data import read_treebank
from parsimon.tasks.model_file import load_model
from refusals import refused
from running_commands import fill_the_disk, lines_in, wait_for
from toy_treebanks import grammar

SPECIAL = """\
# sent_id = 1
# text = Thedog sees.
1-2\tThedog\t_\t_\t_\t_\t_\t_\t_\t_
1\tthe\tthe\tD\txD\t_\t2\tdet\t_\t_
2\tdog\tdog\tN\txN\t_\t3\tsubj\t_\tSpaceAfter=No
3\tsees\tv\tV\txV\t_\t0\troot\t_\t_
3.1\tit\tit\tN\txN\t_\t_\t_\t3:obj\t_

# sent_id = 2
1\tcat\tcat\tN\txN\t_\t2\tsubj\t_\t_
2\teats\tv\tV\txV\t_\t0\troot\t_\t_
"""


@pytest.fixture
def place(tmp_path):
    grammar(40, seed=1).write(tmp_path / "train.conllu")
    grammar(15, seed=2).write(tmp_path / "test.conllu")
    (tmp_path / "special.conllu").write_text(SPECIAL)
    return tmp_path


@pytest.fixture
def model(place, run):
    result = run("train", "parser", place / "train.conllu", "-m", place / "toy.model", "--max-iter", 5)
    assert result.exit_code == 0, result.output
    return place / "toy.model"


def test_training_says_what_came_of_it(place, run):
    result = run(
        "train", "parser", place / "train.conllu", "-m", place / "m", "--dev", place / "test.conllu",
        "--max-iter", 4, "--log", place / "log.jsonl",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    told = dict(line.split(None, 1) for line in result.stdout.splitlines())
    assert set(told) == {"model", "features", "templates", "relations", "objective", "dev", "status", "time"}
    assert told["dev"].startswith("UAS 100.00%")
    assert told["relations"] == "6"
    lines = [json.loads(line) for line in (place / "log.jsonl").read_text().splitlines()]
    assert lines[0]["train"].endswith("train.conllu")
    assert lines[-1]["status"] == "done"


def test_templates_are_selected(place, run):
    result = run(
        "train", "parser", place / "train.conllu", "-m", place / "m", "-t", "martins-parsing", "--select",
        "sparseptron", "--budget", 10, "--select-epochs", 2, "--refit", "mira", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["size"]["candidate_templates"] == 684
    assert 0 < record["size"]["templates"] <= 14
    shown = run("inspect", place / "m").stdout
    assert "templates by  sparseptron" in shown


@pytest.mark.parametrize(
    "options",
    [
        ["--loss", "log", "--l2", 1],
        ["--refit", "crf", "--l1", 0.1],
        ["--loss", "log", "--group-lasso", 0.5, "--l2", 0.1],
        ["--refit", "perceptron"],
        ["--projective", "--single-root"],
        ["--many-roots", "--relations", "none", "--prune", 0.5, "--cutoff", 2, "--dtype", "int8"],
    ],
    ids=lambda options: " ".join(map(str, options)),
)
def test_ways_to_train(place, run, options):
    result = run(
        "train", "parser", place / "train.conllu", "-m", place / "m", "--max-iter", 30, "--json", *options
    )
    assert result.exit_code == 0, result.output
    scores = json.loads(run("evaluate", place / "m", place / "test.conllu", "--json").stdout)
    assert scores["scores"]["uas"] == 1.0
    assert scores["scores"]["las"] == (0.0 if "none" in options else 1.0)


def test_predictions_keep_everything_else(place, model, run):
    blank = "\n".join(
        "\t".join([*cells[:6], "_", "_", *cells[8:]]) if len(cells) == 10 and cells[0].isdigit() else line
        for line in SPECIAL.split("\n")
        for cells in [line.split("\t")]
    )
    assert blank != SPECIAL
    (place / "blank.conllu").write_text(blank)
    result = run("predict", model, place / "blank.conllu")
    assert result.exit_code == 0, result.output
    assert result.stdout == SPECIAL
    run("predict", model, place / "blank.conllu", "-o", place / "out.conllu", "--decoding", "minimum-risk")
    assert (place / "out.conllu").read_text() == SPECIAL


def test_given_heads_stay(place, model, run):
    rows = [line.split("\t") for line in SPECIAL.split("\n")]
    words = [cells for cells in rows if len(cells) == 10 and cells[0].isdigit()]
    for cells in words:
        cells[6:8] = ["_", "_"]
    words[0][6] = "3"
    (place / "some.conllu").write_text("\n".join("\t".join(cells) for cells in rows))
    free = run("predict", model, place / "some.conllu").stdout
    kept = run("predict", model, place / "some.conllu", "--given-labels").stdout
    heads = [
        [line.split("\t")[6] for line in text.splitlines() if line.startswith("1\t")] for text in (free, kept)
    ]
    assert heads[0][0] != "3"
    assert heads[1][0] == "3"


def test_probabilities_go_into_the_last_column(place, model, run):
    text = run("predict", model, place / "special.conllu", "--marginals").stdout
    words = [line.split("\t") for line in text.splitlines() if line.partition("\t")[0].isdigit()]
    assert [cells[9].startswith("ArcProb=0.") for cells in words] == [True, False, True, True, True]
    assert words[1][9].startswith("SpaceAfter=No|ArcProb=0.")
    assert read_treebank(place / "special.conllu").heads.tolist() == [int(cells[6]) for cells in words]


def test_several_trees(place, model, run):
    text = run("predict", model, place / "special.conllu", "--kbest", 2).stdout
    blocks = text.strip().split("\n\n")
    assert len(blocks) == 4
    assert [block.split("\n")[0] for block in blocks] == ["# rank = 1", "# rank = 2"] * 2
    one, two = (float(block.split("\n")[1].removeprefix("# probability = ")) for block in blocks[:2])
    assert one > two > 0


def test_conllx(place, run):
    text = (place / "train.conllu").read_text()
    (place / "train.conll").write_text(text)
    arguments = [
        "train",
        "parser",
        place / "train.conll",
        "-m",
        place / "m",
        "--format",
        "conllx",
        "--max-iter",
        3,
    ]
    assert run(*arguments).exit_code == 0
    assert run("evaluate", place / "m", place / "train.conll").exit_code == 0


def test_evaluation(place, model, run):
    text = run("evaluate", model, place / "test.conllu").stdout
    assert "UAS" in text
    assert "without punctuation" in text
    assert "arc length" in text
    record = json.loads(run("evaluate", model, place / "test.conllu", "--json").stdout)
    assert record["scores"]["uas"] == record["details"]["all_words"]["uas"] == 1.0


def test_looking_into_a_parser(model, run):
    text = run("inspect", model, "--history").stdout
    assert "arcs may cross, one root" in text
    assert "h.upos+m.upos" in text
    of_relation = run("inspect", model, "--label", "subj", "--top", 3).stdout
    assert of_relation.count("subj  ") >= 3
    record = json.loads(run("inspect", model, "--json").stdout)
    assert len(record["details"]["heaviest"]) == record["size"]["features"]
    assert sorted(record["details"]["label_names"]) == ["det", "obj", "pobj", "prep", "root", "subj"]
    assert run("inspect", model, "--template", "h.upos+m.upos").exit_code == 0


def test_a_parser_as_a_page(model, run, tmp_path):
    page = tmp_path / "parser.html"
    result = run("inspect", model, "--html", page)
    assert result.stdout == f"{model} is shown in {page}\n"
    text = page.read_text()
    assert (
        text.index("Templates of arcs")
        < text.index("Templates of relations")
        < text.index("Training history")
    )
    assert "<h3>subj <span" in text
    assert run("inspect", model, "--html", page, "--label", "subj").exit_code == 0
    text = page.read_text()
    assert "Templates of arcs" not in text
    assert text.count("<section>") == 1


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (["train", "parser", "none.conllu", "-m", "m"], "no such file"),
        (["train", "parser", "train.conllu", "-m", "m", "-t", "none.tpl"], "no file 'none.tpl' of arc templates"),
        (["train", "parser", "train.conllu", "-m", "m", "--budget", "5"], "add --select"),
        (["train", "parser", "train.conllu", "-m", "-"], "must be a file"),
        (["train", "parser", "train.conllu", "-m", "train.conllu"], "would be overwritten"),
        (["train", "parser", "train.conllu", "-m", "m", "--solver", "lbfgs"], "needs a smooth loss"),
        (["train", "parser", "train.conllu", "-m", "m", "--solver", "sgd-l1"], "needs sequences to label"),
        (["train", "parser", "words.txt", "-m", "m"], "words.txt"),
        (["train", "parser", "headless.conllu", "-m", "m"], "headless.conllu"),
        (["predict", "toy.model", "test.conllu", "--scheme", "iob2"], "is a parser, and --scheme"),
        (["evaluate", "toy.model", "test.conllu", "--confusion"], "is a parser, and --confusion"),
        (["inspect", "toy.model", "--transitions"], "is a parser, and --transitions"),
        (["inspect", "toy.model", "--label", "nothing"], "no label 'nothing'"),
        (["inspect", "toy.model", "--label", "nothing", "--html", "a.html"], "no label 'nothing'"),
        (["predict", "toy.model", "words.txt"], "words.txt"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_mistakes(place, model, shell, command, what):
    (place / "words.txt").write_text("a b c\n")
    (place / "headless.conllu").write_text("1\ta\t_\tN\t_\t_\t_\t_\t_\t_\n")
    result = shell(*command, cwd=place)
    assert result.returncode == 2
    assert what in result.stderr.decode()
    assert "Traceback" not in result.stderr.decode()
    assert len(result.stderr.decode().strip().splitlines()) == 1


def slow(place: Path, model: Path, *more: object) -> list[str]:
    """Training that takes some seconds, and keeps what it has all the time."""
    train, dev = place / "large.conllu", place / "test.conllu"
    if not train.exists():
        grammar(400, seed=5).write(train)
    settings = ["--dev", dev, "--max-iter", 60, "--patience", 60, "--checkpoint-every", 0.001]
    command = [sys.executable, "-m", "parsimon.cli", "train", "parser", train, "-m", model, *settings, *more]
    return [str(part) for part in command]


def test_kill_and_resume_give_the_same_model(place):
    whole, halved, log = place / "whole.model", place / "halved.model", place / "log.jsonl"
    subprocess.run(slow(place, whole, "-q"), check=True, timeout=300)

    process = subprocess.Popen(slow(place, halved, "--log", log))
    checkpoint = place / "halved.model.ckpt"
    wait_for(lambda: checkpoint.exists() and lines_in(log) > 5, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not halved.exists()

    done = subprocess.run(
        slow(place, halved, "--log", log, "--resume", "--json"), check=True, capture_output=True, timeout=300
    )
    assert done.stderr == b""
    assert json.loads(done.stdout)["iterations"] == 60
    assert halved.read_bytes() == whole.read_bytes()
    assert not checkpoint.exists()

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    starts = [(i, line) for i, line in enumerate(lines) if line["event"] == "start"]
    assert [line["resumed"] for _, line in starts] == [False, True]
    assert lines[starts[1][0] + 1]["iteration"] > 0


def test_ctrl_c_keeps_the_best_model_and_the_way_on(place, run):
    whole, model, log = place / "whole.model", place / "a.model", place / "log.jsonl"
    process = subprocess.Popen(
        slow(place, model, "--log", log), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for(lambda: lines_in(log) > 3, process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the best model so far was written to" in stderr.decode()
    assert f"--resume goes on from {model}.ckpt" in stderr.decode()
    assert "Traceback" not in stderr.decode()
    assert "interrupted" in stdout.decode()
    assert json.loads(log.read_text().splitlines()[-1])["status"] == "interrupted"
    assert json.loads(run("evaluate", model, place / "test.conllu", "--json").stdout)["scores"]["uas"] > 0.5

    subprocess.run(slow(place, model, "--resume"), check=True, capture_output=True, timeout=300)
    subprocess.run(slow(place, whole, "-q"), check=True, timeout=300)
    assert model.read_bytes() == whole.read_bytes()
    assert not (place / "a.model.ckpt").exists()


def training(place: Path, *more: object) -> list[object]:
    return ["train", "parser", place / "train.conllu", "-m", place / "a.model", "--max-iter", 4, *more]


def leave_a_checkpoint(run, place: Path, monkeypatch, *more: object) -> Path:
    """A run whose model could not be written."""
    with monkeypatch.context() as patch:
        fill_the_disk(patch)
        result = run(*training(place, *more))
    assert result.exit_code == 2
    assert "a.model cannot be written: No space left on device" in result.stderr
    assert "--resume goes on from" in result.stderr
    assert not (place / "a.model").exists()
    return place / "a.model.ckpt"


@pytest.mark.parametrize("more", [[], ["--select", "sparseptron", "--budget", 5]], ids=["all", "selected"])
def test_a_full_disk_at_the_end_leaves_the_checkpoint(run, place, monkeypatch, more):
    checkpoint = leave_a_checkpoint(run, place, monkeypatch, *more)
    assert checkpoint.exists()
    result = run(*training(place, "--resume", "--json", *more))
    assert json.loads(result.stdout)["status"] == "done"
    assert not checkpoint.exists()
    resumed = (place / "a.model").read_bytes()
    assert run(*training(place, *more)).exit_code == 0
    assert (place / "a.model").read_bytes() == resumed


@pytest.mark.parametrize(
    "other", [["--l2", 3], ["--max-iter", 9], ["--random-state", 1], ["-t", "relations"], ["--cutoff", 2]]
)
def test_a_checkpoint_of_other_settings_is_refused(run, place, monkeypatch, other):
    leave_a_checkpoint(run, place, monkeypatch)
    result = run(*training(place, "--resume", *other))
    assert result.exit_code == 2
    assert "belongs to other data, templates or settings" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_checkpoint_of_other_data_is_refused(run, place, monkeypatch):
    leave_a_checkpoint(run, place, monkeypatch)
    grammar(41, seed=1).write(place / "train.conllu")
    result = run(*training(place, "--resume"))
    assert result.exit_code == 2
    assert "belongs to other data, templates or settings" in result.stderr


def test_resume_without_a_checkpoint_starts_from_the_beginning_and_says_so(run, place):
    result = run(*training(place, "--resume"))
    assert result.exit_code == 0
    assert "there is no checkpoint" in result.stderr
    assert load_model(place / "a.model").info["status"].startswith("done")


def test_a_forgotten_resume_is_mentioned(run, place):
    (place / "a.model.ckpt").write_text("of a run that did not finish")
    result = run(*training(place))
    assert result.exit_code == 0
    assert "--resume would go on from it" in result.stderr
    assert not (place / "a.model.ckpt").exists()


def test_no_checkpoint_when_not_wanted(run, place):
    (place / "a.model.ckpt").write_text("somebody else's")
    assert run(*training(place, "--checkpoint-every", 0)).exit_code == 0
    assert (place / "a.model.ckpt").read_text() == "somebody else's"


@pytest.mark.parametrize("option", ["-m", "--log", "--checkpoint"])
def test_templates_are_not_overwritten(run, place, option):
    (place / "own.tpl").write_text("h.upos+m.upos\nm.upos+dir\n")
    result = run(*training(place, "-t", place / "own.tpl", option, place / "own.tpl"))
    assert result.exit_code == 2
    assert "would be overwritten" in result.stderr
    assert (place / "own.tpl").read_text() == "h.upos+m.upos\nm.upos+dir\n"


def test_options_of_parsers_are_refused_elsewhere(trained, folder, run):
    for command in ("predict", "evaluate"):
        result = run(command, trained, folder / "test.txt", "--decoding", "mst")
        assert result.exit_code == 2
        assert "cannot be asked for mst; --decoding is viterbi or minimum-risk here" in result.output


def test_parsers_have_trees_and_no_best_sequence(place, run):
    run(*training(place))
    for command in ("predict", "evaluate"):
        result = run(command, place / "a.model", place / "test.conllu", "--decoding", "viterbi")
        assert result.exit_code == 2
        assert "a.model cannot be asked for viterbi; --decoding is mst or minimum-risk here" in result.stderr


def test_options_that_would_do_nothing_are_refused(run, place):
    train = ("train", "parser", place / "train.conllu", "-m", place / "m")
    refused(run(*train, "--select-epochs", 3), "add --select sparseptron")


def test_trees_that_a_parser_cannot_learn_from_are_a_sentence(run, place):
    write = place / "crossing.conllu"
    heads = [3, 4, 0, 3]  # 1 ← 3 and 2 ← 4 cross
    rows = [f"{i}\tw{i}\t_\tN\t_\t_\t{h}\tdep\t_\t_\n" for i, h in enumerate(heads, start=1)]
    write.write_text("".join(rows) + "\n" + (place / "train.conllu").read_text())
    result = run("train", "parser", write, "-m", place / "m", "--projective", "--max-iter", 1, "-q")
    assert result.exit_code == 0
    assert result.stderr.startswith("parsimon: 1 of 41 trees of ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("more", [[], ["--marginals"], ["--kbest", 2]])
def test_other_encodings_come_back_whole(place, model, shell, encoding, more, monkeypatch):
    """Above all, with one byte order mark, however many blocks and trees are written."""
    text = SPECIAL.replace("cat", "caté")
    (place / "utf8.conllu").write_text(text)
    (place / "other.conllu").write_bytes(text.encode(encoding))
    expected = shell("predict", model, place / "utf8.conllu", *more).stdout.decode()
    done = shell("predict", model, place / "other.conllu", "--encoding", encoding, *more)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode(encoding) == expected
    assert "caté" in expected


def test_graphs_of_other_trees_are_left_out(place, model, run):
    text = SPECIAL.replace("\tN\txN\t_\t3\tsubj\t_", "\tN\txN\t_\t3\twrong\t3:wrong")
    (place / "new.conllu").write_text(text)
    lines = run("predict", model, place / "new.conllu").stdout.splitlines()
    dog = next(line for line in lines if "\tdog\t" in line and line.startswith("2\t"))
    assert dog.split("\t")[6:9] == ["3", "subj", "_"]
    assert read_treebank(place / "new.conllu").values("deps")[1] == "3:wrong"


def test_bad_trees_can_be_left_out(place, model, run):
    good = (place / "train.conllu").read_text().split("\n\n")
    own_head = "1\ta\ta\tN\txN\t_\t1\tdep\t_\t_"
    (place / "bad.conllu").write_text("\n\n".join([own_head, *good[:5], "1\ttoo short", *good[5:]]))
    train = ("train", "parser", place / "bad.conllu", "-m", place / "m", "--max-iter", 5, "-q")
    refused(run(*train), "bad.conllu, line")
    result = run(*train, "--skip-bad")
    assert result.exit_code == 0, result.output
    assert [line.rpartition(": ")[2] for line in result.stderr.splitlines()[1:]] == [
        "the word is its own head; it should be another word's number, or 0.",
        "there are 2 columns, but CoNLL-U and CoNLL-X have ten columns, separated by tabs.",
    ]
    assert result.stderr.startswith(f"parsimon: 2 of 42 sentences in {place / 'bad.conllu'} are left out:\n")
    assert ", line 1, sentence 1: " in result.stderr
    assert (load_model(place / "m").arcs.weights == load_model(model).arcs.weights).all()
    scored = run("evaluate", model, place / "bad.conllu", "--skip-bad")
    assert scored.stdout == run("evaluate", model, place / "train.conllu").stdout
    assert "2 of 42 sentences" in scored.stderr


def test_trees_with_several_roots_are_bad_where_one_is_asked_for(place, run):
    two = "1\ta\ta\tN\txN\t_\t0\troot\t_\t_\n2\tb\tb\tN\txN\t_\t0\troot\t_\t_\n\n"
    (place / "bad.conllu").write_text(two + (place / "train.conllu").read_text())
    train = ("train", "parser", place / "bad.conllu", "-m", place / "m", "--max-iter", 1, "-q", "--skip-bad")
    assert run(*train).stderr == ""
    result = run(*train, "--single-root")
    assert result.exit_code == 0, result.output
    assert "1 of 41 sentences" in result.stderr
