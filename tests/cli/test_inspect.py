"""Looking into models from the command line."""

from __future__ import annotations

import json

import pytest

from parsimon import inspect as look
from parsimon.tasks.model_file import load_model


def test_json_has_counts_and_everything_else(run, trained):
    model = load_model(trained)
    record = json.loads(run("inspect", trained, "--json").stdout)
    assert record["size"]["features"] == len(model.weights) == len(record["details"]["heaviest"])
    assert record["size"]["attributes"] == model.space.n_node + model.space.n_pair
    assert record["size"]["labels"] == len(model.labels)
    assert record["details"]["label_names"] == list(model.labels)
    assert record["size"]["templates"] == sum(
        share["features"] > 0 for share in record["details"]["per_template"]
    )
    assert sum(share["features"] for share in record["details"]["per_label"]) == record["size"]["features"]
    assert record["size"]["candidate_features"] == model.info["candidate_features"]
    assert record["history"] == model.info["history"]
    weights = look.transitions(model)
    for transition in record["details"]["transitions"]:
        x, y = model.labels.index(transition["previous"]), model.labels.index(transition["label"])
        assert transition["weight"] == weights[x, y]
    assert len(record["details"]["transitions"]) == (weights != 0).sum()


def test_the_heaviest_come_first(run, trained):
    heaviest = json.loads(run("inspect", trained, "--json", "--top", 7).stdout)["details"]["heaviest"]
    sizes = [abs(feature["weight"]) for feature in heaviest]
    assert len(sizes) == 7
    assert sizes == sorted(sizes, reverse=True)


def test_text_has_a_summary_shares_and_the_heaviest(run, trained):
    model = load_model(trained)
    summary, templates, labels, heaviest = run("inspect", trained, "--top", 5).stdout.split("\n\n")
    assert f"features    {len(model.weights)} of {model.info['candidate_features']:,}" in summary
    assert f"labels      {len(model.labels)}" in summary
    assert "log loss, l1 0.1, l2 1e-05" in summary
    assert [line.split()[0] for line in templates.splitlines()[1:]] == model.space.template_names()
    assert [line.split()[0] for line in labels.splitlines()[1:]] == list(model.labels)
    best = look.features(model, top=5)
    assert [line.split()[-1] for line in heaviest.splitlines()[1:]] == [f.attribute for f in best]


def test_one_label(run, trained):
    text = run("inspect", trained, "--label", "B-VP", "--top", 1000).stdout
    table = text.split("\n\n")[1].splitlines()[1:]
    assert len(table) == len(look.features(load_model(trained), label="B-VP"))
    assert all("B-VP" in line for line in table)


@pytest.mark.parametrize("name", ["U03", "U03:%x[-1,1]/%x[0,1]"])
def test_one_template(run, trained, name):
    text = run("inspect", trained, "--template", name, "--top", 1000).stdout
    table = text.split("\n\n")[1].splitlines()[1:]
    assert len(table) == len(look.features(load_model(trained), template="U03"))
    assert all(" U03:" in line for line in table)


def test_templates_of_presets_by_name(run, folder):
    run("train", "sequence", folder / "train.txt", "-m", folder / "m", "--l1", "0.1")
    templates = load_model(folder / "m").space.templates
    name = templates.names[1]
    assert name.startswith("U:")
    for alias in (name, name.removeprefix("U:")):
        record = json.loads(run("inspect", folder / "m", "--template", alias, "--json").stdout)
        assert {feature["template"] for feature in record["details"]["heaviest"]} == {templates[1].source}


def test_transitions_and_history(run, trained):
    text = run("inspect", trained, "--top", 0, "--transitions", "--history").stdout
    matrix, history = text.split("\n\n")[-2:]
    header, *lines = matrix.splitlines()
    assert header.split()[3:] == [line.split()[0] for line in lines]
    assert history.splitlines()[0].split()[:3] == ["iteration", "objective", "active"]
    assert len(history.splitlines()) == 1 + len(load_model(trained).info["history"])


def test_unknown_names_are_refused(run, trained):
    for option, name, hint in (("--label", "B-XY", "B-NP, I-NP"), ("--template", "U30", "did you mean 'U0")):
        result = run("inspect", trained, option, name)
        assert result.exit_code == 2
        assert f"the model has no {option.strip('-')} '{name}'" in result.stderr
        assert hint in result.stderr


def test_many_labels_make_a_list_of_transitions(run, code, tmp_path):
    run("train", "sequence", code, "-m", tmp_path / "m", "--max-iter", 30, "-q")
    text = run("inspect", tmp_path / "m", "--top", 0, "--transitions").stdout
    assert text.split("\n\n")[-1].splitlines()[0].split() == ["weight", "from", "to"]


def test_a_page(run, trained, tmp_path):
    model, page = load_model(trained), tmp_path / "chunk.html"
    result = run("inspect", trained, "--html", page, "--top", 3)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{trained} is shown in {page}\n"
    text = page.read_text(encoding="utf-8")
    assert f"<title>What {trained.name} has learnt</title>" in text
    assert f"{len(model.weights)} of {model.info['candidate_features']:,}" in text
    assert text.count("<section>") == len(look.heaviest_by_label(model, 3))
    assert "Training history" in text
    run("inspect", trained, "--html", page, "--label", "B-VP")
    assert page.read_text(encoding="utf-8").count("<section>") == 1


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
