"""Sequences on the command line: what is read, and growing stage by stage."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parsimon.features import TemplateSet
from parsimon.tasks.model_file import load_model
from refusals import refused


def training(folder: Path, *more: object) -> list[object]:
    files = [folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "a.model"]
    return ["train", "sequence", *files, *more]


def write(folder: Path, content: bytes) -> None:
    (folder / "train.txt").write_bytes(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a b X\nc d X\n\ne Y\n", ["train.txt, line 4", "2 columns", "3"]),
        (b"", ["train.txt has no tokens"]),
        (b"\n\n\n", ["train.txt has no tokens"]),
        (b"a\nb\n", ["train.txt has 1 column", "at least two"]),
        (b"a X\nb Y\n", ["train.txt has 1 column besides the label", "U02:%x[0,1]", "column 1"]),
        ("façade X Y\n".encode("latin-1"), ["train.txt, line 1", "UTF-8", "encoding"]),
    ],
    ids=["ragged", "empty", "blank", "no label", "template names a missing column", "wrong encoding"],
)
def test_bad_training_data(run, folder, content, said):
    write(folder, content)
    refused(run(*training(folder)), *said)
    assert not (folder / "a.model").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.rstrip(b"\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b" ", b"\t"),
        lambda text: text.decode().encode("utf-16"),
        lambda text: b"# a remark\n" + text.replace(b"\n\n", b"\n\n# another\n"),
    ],
    ids=["crlf", "no final newline", "byte order mark", "tabs", "utf-16", "comments"],
)
def test_data_that_look_different_but_are_the_same(run, folder, change):
    reference = json.loads(run(*training(folder, "--json")).stdout)
    content = change((folder / "train.txt").read_bytes())
    write(folder, content)
    options = ["--encoding", "utf-16"] if content[:2] == b"\xff\xfe" else []
    options += ["--comment", "#"] if content.startswith(b"#") else []
    result = run(*training(folder, "--json", *options))
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert (record["objective"], record["size"]) == (reference["objective"], reference["size"])


WORDS = "U00:%x[0,0]\nU01:%x[-1,0]\nU02:%x[0,1]\nB\n"


BIGRAMS = "U10:%x[-1,0]/%x[0,0]\nU11:%x[0,0]/%x[0,1]\n"


TRIGRAMS = "U20:%x[-1,0]/%x[0,0]/%x[0,1]\nU21:%x[-2,0]/%x[-1,0]/%x[0,0]\n"


@pytest.fixture
def tables(folder: Path) -> Path:
    """The folder of the small task with templates for three stages."""
    for name, text in (("words", WORDS), ("bigrams", BIGRAMS), ("trigrams", TRIGRAMS)):
        (folder / f"{name}.tpl").write_text(text)
    return folder


def growing(folder: Path, *more: object) -> list[object]:
    files = [folder / "train.txt", "-t", folder / "words.tpl", "-m", folder / "a.model"]
    return ["train", "sequence", *files, "--l1", "2", *more]


def test_stages_in_order(run, tables):
    result = run(
        *growing(tables, "--grow", f"{tables}/bigrams.tpl:12", "--grow", f"{tables}/trigrams.tpl:4", "--json")
    )
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    stages = record["size"]["stages"]
    assert [stage["templates"] for stage in stages] == [4, 6, 8]
    assert [stage["until"] for stage in stages[:2]] == [12, 17]
    assert stages[0]["attributes"] == stages[0]["possible_attributes"]
    assert stages[1]["attributes"] < stages[1]["possible_attributes"]
    assert stages[2]["objective"] == record["objective"]
    assert stages[2]["features"] == record["size"]["features"]
    model = load_model(tables / "a.model")
    assert model.info["growth"] == {"parents": "all", "stages": stages}
    assert model.space.templates == TemplateSet.parse(WORDS + BIGRAMS + TRIGRAMS)


def test_what_is_said_while_growing(shell, tables):
    more = ["--grow", tables / "bigrams.tpl", "--grow", f"{tables}/trigrams.tpl:2", "--verbose"]
    done = shell(*growing(tables, *more))
    assert done.returncode == 0, done.stderr
    facts = dict(line.split("  ", 1) for line in done.stdout.decode().splitlines())
    assert {"stage 1", "stage 2", "stage 3"} <= facts.keys()
    assert facts["stage 2"].strip().startswith("6 templates, ")
    assert "objective" in facts["stage 3"]
    said = [line.split("s  ", 1)[1] for line in done.stderr.decode().splitlines()]
    phases = [text for text in said if not text.startswith("iteration")]
    assert phases[0] == "reading train.txt"
    for k in (1, 2, 3):
        assert phases[2 * k - 1] == f"stage {k} of 3: making features"
        assert re.fullmatch(rf"stage {k} of 3, \d+ of \d+ attributes", phases[2 * k])
    assert phases[7] == "writing a.model"


def test_ten_iterations_if_no_number_is_named(run, tables):
    result = run(*growing(tables, "--grow", tables / "bigrams.tpl", "--tol", "1e-9", "--json"))
    assert json.loads(result.stdout)["size"]["stages"][0]["until"] == 10


def test_presets_and_names_with_a_colon(run, tables):
    (tables / "odd:7").write_text(BIGRAMS)
    result = run(
        *growing(tables, "--grow", f"{tables}/odd:7", "--grow", "words:2", "--tol", "1e-9", "--json")
    )
    assert result.exit_code == 0, result.output
    stages = json.loads(result.stdout)["size"]["stages"]
    assert [stage["until"] for stage in stages[:2]] == [
        10,
        13,
    ]  # its name ends in :7, so nothing is left for a number
    assert stages[1]["templates"] == 6


def test_any_of_the_shorter_tests(run, tables):
    counts = {}
    for parents in ("all", "any"):
        more = ["--grow", f"{tables}/bigrams.tpl:30", "--grow-parents", parents, "--json"]
        counts[parents] = json.loads(run(*growing(tables, *more)).stdout)["size"]["stages"][1]["attributes"]
    assert counts["all"] < counts["any"]


def test_boundary_values_are_those_of_the_first_stage(run, tables):
    (tables / "words.tpl").write_text("# parsimon: boundary=crf++\n" + WORDS)
    assert run(*growing(tables, "--grow", f"{tables}/bigrams.tpl:3")).exit_code == 0
    assert load_model(tables / "a.model").space.templates.boundary == "crf++"


def test_the_log_names_the_stages(run, tables):
    log = tables / "log.jsonl"
    run(*growing(tables, "--grow", f"{tables}/bigrams.tpl:3", "--log", log))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[0]["command_line"]["grow"] == [f"{tables}/bigrams.tpl:3"]
    assert lines[-1]["size"]["stages"] == load_model(tables / "a.model").info["growth"]["stages"]
    assert [line["iteration"] for line in lines[1:-1]] == list(range(len(lines) - 2))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--grow", "nowhere.tpl:3"], "there is no template file 'nowhere.tpl' and no preset of that name"),
        (["--grow", "{}/bigrams.tpl:0"], "a stage joins in after 1 or more iterations"),
        (["--grow", "{}/words.tpl"], "stage 2 has no template that is not in an earlier one"),
        (["--grow", "{}/bigrams.tpl", "--select", "sparseptron"], "leave out --select or --grow"),
        (["--grow", "{}/shared.tpl"], "would share its attributes with 'U00:%x[0,0]' of an earlier stage"),
        (["--grow", "{}/wide.tpl"], "template 'U9:%x[0,7]' looks at column 7"),
        (["--grow-parents", "any"], "--grow-parents is about growing; add --grow"),
        (["--grow", "{}/bigrams.tpl", "--log", "{}/bigrams.tpl"], "would be overwritten"),
    ],
)
def test_growing_that_is_refused(run, tables, more, said):
    (tables / "shared.tpl").write_text("U00:%x[1,0]\n")
    (tables / "wide.tpl").write_text("U9:%x[0,7]\n")
    result = run(*growing(tables, *(text.format(tables) for text in more)))
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tables / "a.model").exists()


def test_ctrl_c_in_the_first_stage_keeps_its_model(code, tmp_path, run):
    model, log = tmp_path / "a.model", tmp_path / "log.jsonl"
    first = tmp_path / "first.tpl"
    first.write_text("U00:%x[0,0]\nU01:%x[-1,0]\nU02:%x[1,0]\nB\nB00:%x[0,0]\n")
    command = [sys.executable, "-m", "parsimon.cli", "train", "sequence", code, "-m", model, "-t", first]
    command += ["--grow", "python-code:100000", "--l1", "0.01", "--l2", "0", "--tol", "1e-12", "--log", log]
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (log.exists() and log.read_bytes().count(b"\n") > 5):
        assert process.poll() is None, "training ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the best model so far was written to" in stderr.decode()
    assert "interrupted" in stdout.decode()
    assert len(load_model(model).info["growth"]["stages"]) == 1
    assert json.loads(run("evaluate", model, code, "--json").stdout)["scores"]["accuracy"] > 0.5
