"""Some damaged models of every kind, given to every command: it works, or refuses in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzz.file_damage import Damage, arrays_of, metadata, packed
from fuzz.model_files import KEY, MODELS, seed_of
from fuzz.outcome import Tally, attempt

ROUNDS = 8
NOT_OF_NETWORKS = ("evaluate", "predict")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_a_damaged_header_is_used_or_refused(name: str, tmp_path: Path) -> None:
    seed, damage, tally = seed_of(name, tmp_path / "here"), Damage(11), Tally()
    header, arrays = json.loads(metadata(seed.content)[KEY]), arrays_of(seed.content)
    for command in seed.commands[:5]:  # without damage
        word, told = attempt(command)
        assert word == "worked" or (MODELS[name][0] == "network" and command[0] in NOT_OF_NETWORKS), told
    for number in range(ROUNDS):
        seed.path.write_bytes(packed(arrays, {KEY: json.dumps(damage.header(header))}))
        command = seed.commands[number % len(seed.commands)]
        word, told = attempt(command)
        tally.add(name, word, f"{' '.join(command)}\n{told}")
    assert not tally.bad
    assert tally.counts[name, "refused"]
