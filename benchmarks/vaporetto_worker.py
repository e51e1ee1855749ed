"""Vaporetto in a process of its own: vaporetto_worker.py MODEL TEXT OUTPUT. Prints one JSON object."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import vaporetto  # type: ignore[import-not-found]

if __name__ == "__main__":
    model, text, out = map(Path, sys.argv[1:])
    segment = vaporetto.Vaporetto(model.read_bytes(), norm=False).tokenize_to_string
    taken = 0.0
    with text.open(encoding="utf-8") as source, out.open("w", encoding="utf-8") as target:
        for line in source:
            began = time.perf_counter()
            words = segment(line.rstrip("\n"))
            taken += time.perf_counter() - began
            target.write(words + "\n")
    print(json.dumps({"tokenize_seconds": taken}))
