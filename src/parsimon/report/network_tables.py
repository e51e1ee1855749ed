"""Markov networks as plain text tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parsimon.report.tables import ending_facts, facts, file_size, of, table

if TYPE_CHECKING:
    from parsimon.tasks.networks.model import Edge

SCORES = {
    "pseudo-likelihood": "log pseudo-likelihood",
    "bethe": "log-likelihood by the Bethe approximation",
    "exact": "log-likelihood",
}

ENDS = {
    "patience": "until graphs got no better",
    "weakest strength": "down to the weakest",
    "time": "until time ran out",
    "inference": "until belief propagation failed",
}

LISTED = 6  # names of columns in a line


def summary_text(record: Mapping[str, Any]) -> str:
    """A summary of a network, and how it was learnt."""
    pairs = [
        ("variables", f"{record['variables']:,}"),
        ("edges", of(record["edges"], record["candidate_edges"])),
    ]
    if record.get("model"):
        pairs.insert(0, ("model", f"{record['model']} ({file_size(record['bytes'])})"))
    return facts([*pairs, *learning_facts(record), *ending_facts(record["training"])])


def learning_facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """From how many rows a network was learnt, how strong its penalty is, and how well it describes them."""
    training, pairs = record["training"], []
    if training.get("rows") is not None:
        dropped = training.get("dropped")
        note = f" ({dropped:,} with missing values left out)" if dropped else ""
        pairs.append(("learnt from", f"{training['rows']:,} rows{note}"))
    if record.get("left_out"):
        pairs.append(("left out", listed(record["left_out"])))
    if record.get("bins"):
        pairs.append(("in bins", listed(list(record["bins"]))))
    if training.get("search") == "greedy":
        by = f", by {training['chosen_by']}" if training.get("chosen_by") else ""
        pairs.append(("found as", f"greedy neighbourhoods{by}"))
    elif training.get("alpha") is not None:
        by = f", by {training['chosen_by']}" if training.get("chosen_by") else ""
        pairs.append(("strength", f"{training['alpha']:.4g}{by}"))
    if record.get("path"):
        path = record["path"]
        hint = ", which is the best; weaker ones may be better (alpha_min_ratio)" * path["cut_off"]
        pairs.append(("path", f"{path['strengths']:,} strengths, {ENDS[path['end']]}{hint}"))
    if record.get("stability"):
        share = (
            f"{record['stability']['threshold']:.0%} of {record['stability']['halves']} halves of the rows"
        )
        pairs.append(("kept if in", share))
    if training.get("score") is not None:
        pairs.append(
            (
                "score",
                f"{training['score']:.4f} per row, {SCORES[training['score_method']]}, on the training rows",
            )
        )
    return pairs


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are.

    >>> listed(["a", "b"]), listed(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f and 2 more')
    """
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more:,} more" if more > 0 else "")


def edges_table(edges: Sequence[Edge], top: int | None = None, hint: str = "") -> str:
    """Edges, the strongest first; those between binary variables have a sign. `hint` says how to see the others."""
    if not edges:
        return "no edges: the variables are independent\n"
    frequent = edges[0].stability is not None
    rows = [
        (
            f"{edge.strength:+.4f}" if edge.signed else f"{edge.strength:.4f}",
            *((f"{edge.stability:.0%}",) if edge.stability is not None else ()),
            edge.first,
            edge.second,
        )
        for edge in edges[:top]
    ]
    header = ("strength", *(("stability",) if frequent else ()), "variable", "and")
    more = len(edges) - len(rows)
    rest = f"and {more:,} more{hint}\n" if more > 0 else ""
    return table(header, rows, ">" * (1 + frequent) + "<<") + rest
