"""`parsimon presets`: the list, and one as a template file."""

from __future__ import annotations


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
