"""Help pages: there for every command, and light."""

from __future__ import annotations

import subprocess
import sys

import pytest
from parsimon.cli.learn import CRITERIA, INFERENCES, SEPARATORS
from parsimon.cli.learn import LOSSES as NETWORK_LOSSES
from parsimon.cli.train import DEV_METRICS, LOSSES, SOLVERS

from parsimon import __version__

COMMANDS = [
    [],
    ["train"],
    ["train", "sequence"],
    ["train", "document"],
    ["train", "parser"],
    ["predict"],
    ["evaluate"],
    ["inspect"],
    ["explain"],
    ["learn"],
    ["learn", "network"],
    ["sample"],
    ["presets"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_a_help_page(run, command):
    for flag in ("-h", "--help"):
        result = run(*command, flag)
        assert result.exit_code == 0
        assert "Usage:" in result.stdout


def test_help_shows_examples_defaults_and_headings(run):
    text = run("train", "sequence", "--help").stdout
    assert "Examples:" in text
    assert "0.5;" in text
    headings = [
        "Files:",
        "What to learn:",
        "Which templates to keep:",
        "How long:",
        "Safety:",
        "Reading:",
        "Running:",
        "Other:",
    ]
    places = [text.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)


def test_version(run):
    assert run("--version").stdout == f"parsimon {__version__}\n"


def test_a_group_without_a_command_shows_its_help(run):
    result = run("train")
    assert result.exit_code == 2
    assert "sequence" in result.output


def test_choices_are_those_that_the_library_has():
    from parsimon.data.csv_tables import SEPARATORS as separators
    from parsimon.losses import LOSSES as losses
    from parsimon.solvers import SOLVERS as solvers
    from parsimon.solvers.capabilities import COORDINATES
    from parsimon.tasks.networks.model import INFERENCE
    from parsimon.tasks.networks.strengths import CRITERIA as criteria
    from parsimon.tasks.networks.training import LOSSES as network_losses

    # Those two are for numbers and for Markov random fields, not for sequences.
    assert {*LOSSES, "squared", "pseudo-likelihood"} == set(losses)
    of_sequences = {name for name, make in solvers.items() if COORDINATES not in make().requires}
    assert set(SOLVERS) == {"auto", *of_sequences}
    assert set(NETWORK_LOSSES) == set(network_losses)
    assert set(INFERENCES) == set(INFERENCE)
    assert set(CRITERIA) == set(criteria)
    assert set(SEPARATORS) == set(separators)
    assert DEV_METRICS == ("auto", "f1", "accuracy")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["train", "sequence", "--help"],
        ["train", "document", "--help"],
        ["learn", "network", "--help"],
        ["sample", "--help"],
        ["explain", "-h"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(arguments):
    heavy = loaded_by(arguments) & {"numpy", "scipy", "sklearn", "rich", "safetensors", "parsimon._core"}
    assert heavy == set()


def test_commands_import_neither_scikit_learn_nor_rich(folder, trained):
    training = ["train", "sequence", folder / "train.txt", "-t", folder / "small.tpl", "-m", folder / "m"]
    for arguments in (
        training,
        ["predict", trained, folder / "new.txt"],
        ["evaluate", trained, folder / "test.txt"],
        ["inspect", trained],
    ):
        assert (
            loaded_by([str(a) for a in arguments]) & {"sklearn", "scipy", "rich", "pandas", "pooch"} == set()
        )


def loaded_by(arguments):
    """The modules that a command has imported when it ends."""
    script = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from parsimon.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_presets_lists_all(run):
    from parsimon.features.presets import PRESETS

    text = run("presets").stdout
    for preset in PRESETS.values():
        assert f"{preset.name} " in text
        assert preset.description in text


def test_a_preset_can_be_printed_as_a_template_file(run):
    from parsimon.features import TemplateSet, get_preset

    assert TemplateSet.parse(run("presets", "chunking").stdout) == get_preset("chunking")


def test_an_unknown_preset_is_refused(run):
    result = run("presets", "chunkin")
    assert result.exit_code == 2
    assert "chunking" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "No such command 'trian'"),
        (["train", "sequence", "x.txt"], "Missing option '-m' / '--model'"),
        (["predict"], "Missing argument 'MODEL'"),
        (["inspect", "m", "--top", "many"], "'many' is not a valid integer"),
        (["inspect", "m", "--frobnicate"], "No such option"),
    ],
)
def test_usage_errors_are_one_sentence_and_a_hint(run, arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    first, second = result.stderr.splitlines()
    assert first.startswith("parsimon: ")
    assert said in first
    assert second.startswith("Try 'program") or second.startswith("Try 'parsimon")
    assert "--help" in second
