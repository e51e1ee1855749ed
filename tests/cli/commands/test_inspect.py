"""`parsimon inspect`: what is the same for every kind."""

from __future__ import annotations


def test_pages_that_cannot_be(run, trained, tmp_path):
    for more, what in (
        (["--html", tmp_path / "no" / "a.html"], "cannot be written"),
        (["--html", tmp_path / "a.html", "--json"], "--html and --json"),
        (["--html", tmp_path / "a.html", "--label", "B-XY"], "the model has no label 'B-XY'"),
        (["--html", tmp_path / "a.html", "--template", "U30"], "the model has no template 'U30'"),
    ):
        result = run("inspect", trained, *more)
        assert result.exit_code == 2
        assert what in result.stderr
        assert not (tmp_path / "a.html").exists()
