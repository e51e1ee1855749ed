"""`parsimon predict`: what is the same for every kind."""

from __future__ import annotations

import os

import pytest

from refusals import refused


def test_the_best_of_all_are_not_a_matter_of_risk(run, trained, folder):
    result = run("predict", trained, folder / "new.txt", "--kbest", 2, "--decoding", "minimum-risk")
    assert result.exit_code == 2
    assert "--kbest gives the best of all, so there is nothing for --decoding; leave one out" in result.stderr


def test_bad_files(run, trained, folder):
    refused(run("predict", trained, folder / "nothing.txt"), "nothing.txt cannot be read")
    refused(run("predict", trained, folder), "cannot be read", "directory")
    refused(run("predict", folder / "nothing.model", folder / "new.txt"), "nothing.model cannot be read")
    refused(run("predict", folder, folder / "new.txt"), "cannot be read", "directory")
    refused(run("predict", trained, folder / "new.txt", "-o", folder / "no/out.txt"), "cannot be written")


@pytest.mark.parametrize("command", ["predict", "evaluate", "inspect"])
def test_bad_models(run, trained, folder, command):
    content = trained.read_bytes()
    model = folder / "bad.model"
    arguments = [command, model] if command == "inspect" else [command, model, folder / "test.txt"]
    for bad in (b"", b"U00:%x[0,0]\nB\n", content[:-10], content[:100], content[:5], os.urandom(500)):
        model.write_bytes(bad)
        refused(run(*arguments), "bad.model", "damaged")
    assert b'\\"format\\": 3,' in content
    model.write_bytes(content.replace(b'\\"format\\": 3,', b'\\"format\\": 9,'))
    refused(run(*arguments), "bad.model has format 9", "newer version")
