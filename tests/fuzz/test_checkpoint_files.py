"""Some damaged checkpoints of every kind of training: resumed, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.checkpoint_files import TRAININGS, damaged, seed_of
from fuzz.file_damage import Damage
from fuzz.outcome import Tally, attempt

ROUNDS = 5


@pytest.mark.parametrize("name", TRAININGS)
def test_a_damaged_checkpoint_is_resumed_or_refused(name: str, tmp_path: Path) -> None:
    seed, damage, tally = seed_of(name, tmp_path / "here"), Damage(7), Tally()
    seed.checkpoint.write_bytes(seed.contents[len(seed.contents) // 2])  # without damage
    assert attempt(seed.arguments)[0] == "worked"
    for _ in range(ROUNDS):
        seed.checkpoint.write_bytes(damaged(damage.random.choice(seed.contents), damage))
        tally.add(name, *attempt(seed.arguments))
    assert not tally.bad
    assert tally.counts[name, "refused"]
