"""What labellers share: options, penalties, templates and a look inside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parsimon import inspect as look
from parsimon.tasks.model_file import load_model
from refusals import refused


def training(folder: Path, *more: object) -> list[object]:
    files = [folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "a.model"]
    return ["train", "sequence", *files, *more]


def test_options_reach_training(run, folder):
    options = ["--l1", "0.2", "--l2", "0.01", "--candidates", "seen", "--cutoff", "2", "--no-penalize-bias"]
    assert run(*training(folder, *options, "--solver", "owlqn", "--max-iter", "7")).exit_code == 0
    info = load_model(folder / "a.model").info
    assert (info["l1"], info["l2"], info["candidates"], info["solver"]) == (0.2, 0.01, "seen", "owlqn")
    assert info["penalize_bias"] is False
    assert "iterations" in info["status"]


def test_the_default_templates_are_the_preset_words(run, folder):
    assert run("train", "sequence", folder / "train.txt", "-m", folder / "b.model").exit_code == 0
    from parsimon.features import get_preset

    assert load_model(folder / "b.model").space.templates == get_preset("words")


@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
def test_other_losses(run, folder, loss):
    result = run(*training(folder, "--loss", loss, "--max-iter", 20))
    assert result.exit_code == 0, result.output
    assert load_model(folder / "a.model").info["loss"] == loss


def test_debias_refits_what_is_left(run, folder):
    run(*training(folder, "--l1", 2))
    shrunk = load_model(folder / "a.model")
    for value, strength in ((["--debias"], 0.5), (["--debias=0.3"], 0.3)):
        assert run(*training(folder, "--l1", 2, *value)).exit_code == 0
        refit = load_model(folder / "a.model")
        assert refit.info["debias"] == strength
        assert len(refit.weights) <= len(shrunk.weights)
        assert abs(refit.weights).sum() > abs(shrunk.weights).sum()


@pytest.mark.parametrize("groups", ["template", "attribute", "label"])
def test_group_lasso(run, folder, groups):
    result = run(*training(folder, "--group-lasso", 0.5, "--groups", groups))
    assert result.exit_code == 0, result.output
    info = load_model(folder / "a.model").info
    assert (info["l1"], info["l2"]) == (0.0, 1e-5)
    assert info["kkt"] is not None


def test_mira_has_no_penalty_unless_one_is_named(run, folder):
    assert run(*training(folder, "--solver", "mira", "--loss", "hinge", "--max-iter", 3)).exit_code == 0
    info = load_model(folder / "a.model").info
    assert (info["l1"], info["l2"], len(info["history"])) == (0.0, 0.0, 3)
    assert run(*training(folder, "--solver", "mira", "--loss", "hinge", "--l2", 0.1)).exit_code == 0
    assert load_model(folder / "a.model").info["l2"] == 0.1


@pytest.mark.parametrize("method", [("sgd", "perceptron"), ("sgd-l1", "log")])
def test_the_seed_is_that_of_online_learning(run, folder, method):
    def weights(seed):
        solver, loss = method
        run(*training(folder, "--solver", solver, "--loss", loss, "--max-iter", 2, "--random-state", seed))
        return load_model(folder / "a.model").weights.tolist()

    assert weights(1) == weights(1) != weights(2)


def test_sgd_l1_has_the_usual_penalty(run, folder):
    options = ("--solver", "sgd-l1", "--max-iter", 4, "--dev", folder / "test.txt", "--debias")
    assert run(*training(folder, *options)).exit_code == 0
    info = load_model(folder / "a.model").info
    assert (info["solver"], info["l1"], info["l2"]) == ("sgd-l1", 0.5, 1e-5)
    assert [event["phase"] for event in info["history"]].count("sgd-l1") == 4


def test_partial_labels(run, folder):
    text = (folder / "train.txt").read_text().replace("I-NP", "?").replace("B-PP", "_")
    (folder / "train.txt").write_text(text)
    assert run(*training(folder, "--unknown", "?", "--unknown", "_")).exit_code == 0
    assert set(load_model(folder / "a.model").labels) == {"B-NP", "B-VP", "I-VP", "O"}


def test_partial_labels_need_a_loss_that_can_take_them(run, folder):
    result = run(*training(folder, "--unknown", "O", "--loss", "hinge"))
    assert result.exit_code == 2
    assert "use the log loss" in result.stderr


def test_a_warm_start_takes_fewer_iterations(run, folder):
    assert run(*training(folder, "--l1", 0.1)).exit_code == 0
    (folder / "a.model").rename(folder / "first.model")
    cold = json.loads(run(*training(folder, "--l1", 0.1, "--json")).stdout)
    warm = json.loads(
        run(*training(folder, "--l1", 0.1, "--json", "--initial", folder / "first.model")).stdout
    )
    assert warm["iterations"] < cold["iterations"]
    assert warm["objective"] == pytest.approx(cold["objective"], rel=1e-4)


def test_bad_templates(run, folder):
    (folder / "small.tpl").write_text("U00:%x[0,0]\nU01:%x[0\n")
    refused(run(*training(folder)), "small.tpl, line 2")


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
