"""The page on adding a task: the folder that it writes is a kind of model like the others, from the outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "add_a_task.md").read_text(encoding="utf-8")
WORDS = ["flour", "butter", "sugar", "eggs", "salt", "water", "saffron", "gold"]
PRICES = [1.0, 2.0, 0.5, 1.5, 0.0, 0.0, 9.0, 50.0]


def files() -> dict[str, str]:
    """The files of the page, by the paths in their first lines."""
    blocks = re.findall(r"^```py\n# (\S+\.py)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return dict(blocks)


def commands() -> list[str]:
    """The commands at its end."""
    (block,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(block).splitlines()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An installed package, as the page says, and data."""
    for name, code in files().items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code, encoding="utf-8")
    about = tmp_path / "sets-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sets\nVersion: 1.0\n")
    (entry,) = re.findall(
        r'^\[project\.entry-points\."parsimon\.kinds"\]\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL
    )
    (about / "entry_points.txt").write_text("[parsimon.kinds]\n" + entry.replace('"', ""))
    rng = np.random.default_rng(0)
    for name, n in (("train", 200), ("dev", 40), ("new", 5)):
        lines = []
        for _ in range(n):
            chosen = rng.random(len(WORDS)) < 0.4
            total = 3.0 + float(np.array(PRICES) @ chosen) + 0.1 * rng.standard_normal()
            lines.append(
                f"{total:.3f}\t{' '.join(w for w, there in zip(WORDS, chosen, strict=True) if there)}\n"
            )
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
    return tmp_path


def run(place: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "parsimon", *arguments],
        cwd=place,
        env=environment(place),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,
    )


def environment(place: Path) -> dict[str, str]:
    paths = [str(place), *sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def test_the_page_has_the_files_of_a_task() -> None:
    assert [Path(name).name for name in files()] == [
        "options.py", "model.py", "file.py", "training.py", "command.py", "__init__.py",
    ]  # fmt: skip


def test_the_commands_of_the_page(place: Path) -> None:
    done = [run(place, *command.split()[1:]) for command in commands()]
    assert [each.returncode for each in done] == [0] * len(done), [each.stderr for each in done]
    trained, predicted, evaluated, inspected, helped = (each.stdout for each in done)
    assert re.search(r"^words +\d of 8$", trained, re.MULTILINE)
    assert "dev" in trained
    assert len(predicted.splitlines()) == 5
    scores = json.loads(evaluated)
    assert (scores["kind"], scores["data"]) == ("sets", "dev.tsv")
    assert scores["scores"]["mean_squared_error"] < 0.1
    assert inspected.splitlines()[0].split() == [inspected.split()[0], "gold"]
    for flag in ("--l1", "--min-count", "--time-limit", "--resume", "--memory", "--log", "--n-jobs", "--dev"):
        assert flag in helped
    log = [json.loads(line) for line in (place / "log.jsonl").read_text().splitlines()]
    assert (log[0]["event"], log[0]["kind"], log[0]["options"]["l1"]) == ("start", "sets", 0.1)
    assert log[-1]["event"] == "end"
    assert log[-1]["size"]["candidate_words"] == 8
    assert not (place / "prices.model.ckpt").exists()


def test_mistakes_are_one_sentence(place: Path) -> None:
    (place / "bad.tsv").write_text("much\tgold\n")
    assert run(place, "train", "sets", "train.tsv", "-m", "m.model", "-q").returncode == 0
    content = (place / "m.model").read_bytes()
    (place / "damaged.model").write_bytes(content[:-3])
    for arguments, said in (
        (["train", "sets", "bad.tsv", "-m", "x.model"], "bad.tsv, line 1: 'much' is no number"),
        (["train", "sets", "train.tsv", "-m", "x.model", "--l1", "-1"], "-1 is not a number, zero or more"),
        (["train", "sets", "train.tsv", "-m", "x.model", "--solver", "mira"], "mira"),
        (["predict", "m.model", "new.tsv", "--kbest", "2"], "m.model is a model of sets, and --kbest is for"),
        (["inspect", "damaged.model"], "damaged"),
    ):
        done = run(place, *arguments)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


SLOW = [
    "train",
    "sets",
    "train.tsv",
    "-m",
    "m.model",
    "--solver",
    "subgradient",
    "--l1",
    "0.1",
    "--tol",
    "1e-300",
    "--max-iter",
    "100000000",
]


def test_progress_limits_and_ctrl_c(place: Path) -> None:
    """The frame's own: plain lines of progress, the time limit, the limit on memory, and the best model so far."""
    limited = run(place, *SLOW, "--time-limit", "1", "--verbose", "--json")
    assert limited.returncode == 0, limited.stderr
    assert json.loads(limited.stdout)["status"] == "time"
    assert re.search(r"^ +\d+\.\d s  iteration 0: objective ", limited.stderr, re.MULTILINE)
    assert "making features" in limited.stderr
    assert run(place, *SLOW, "--memory", "1M").returncode == 2
    (place / "m.model").unlink()
    process = subprocess.Popen(
        [sys.executable, "-m", "parsimon", *SLOW, "--log", "log.jsonl"],
        cwd=place,
        env=environment(place),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(
        lambda: (place / "log.jsonl").exists() and '"iteration"' in (place / "log.jsonl").read_text(), process
    )
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert run(place, "inspect", "m.model").returncode == 0


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[Any]) -> None:
    """Waits for a training to get somewhere."""
    deadline = time.monotonic() + 60
    while not ready():
        assert process.poll() is None, "training ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_is_killed_and_resumed(place: Path) -> None:
    """A tolerance that cannot be reached leaves time to kill it."""
    safe = [*SLOW, "--checkpoint-every", "0.01", "--log", "log.jsonl"]
    process = subprocess.Popen(
        [sys.executable, "-m", "parsimon", *safe],
        cwd=place,
        env=environment(place),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until((place / "m.model.ckpt").exists, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (place / "m.model").exists()
    done = run(place, *SLOW, "--resume", "--max-iter", "50", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] in ("iterations", "converged", "stalled")
    assert (place / "m.model").exists()
