"""Small treebanks, random or of a toy grammar, and what templates find on their arcs, spelt out in plain Python."""

from __future__ import annotations

import io
from itertools import product
from typing import Any

import numpy as np

from parsimon.data import read_treebank
from parsimon.data.treebanks import Treebank
from parsimon.features.arc_templates import ArcTemplate, ArcTest
from parsimon.features.transforms import Transform

FEATS = ["_", "Case=Nom", "Case=Acc|Number=Sing", "Number=Plur", "Case=Nom|Gender=Fem|Number=Sing"]


def treebank_of(sentences: list[list[tuple[str, str, str, str, int, str]]]) -> Treebank:
    """From (form, lemma, upos, feats, head, relation) a word."""
    lines = []
    for sentence in sentences:
        for i, (form, lemma, upos, feats, head, relation) in enumerate(sentence, start=1):
            lines.append(f"{i}\t{form}\t{lemma}\t{upos}\tx{upos}\t{feats}\t{head}\t{relation}\t_\t_\n")
        lines.append("\n")
    return read_treebank(io.BytesIO("".join(lines).encode()), format="conllu")


def random_heads(n: int, random: np.random.Generator, *, single_root: bool = False) -> list[int]:
    """A random tree: words hang on the root or on words that came before them in a random order."""
    order = (random.permutation(n) + 1).tolist()
    heads = [0] * n
    for k, word in enumerate(order[1:], start=1):
        heads[word - 1] = int(random.choice([*([] if single_root else [0]), *order[:k]]))
    return heads


def random_treebank(
    seed: int, lengths: tuple[int, ...] = (3, 1, 4, 6, 2), *, single_root: bool = False
) -> Treebank:
    random = np.random.default_rng(seed)
    sentences = []
    for n in lengths:
        heads = random_heads(n, random, single_root=single_root)
        sentences.append(
            [
                (
                    str(random.choice(["Ab", "cd", "efg", "Hij"])),
                    str(random.choice(["a", "c", "e"])),
                    str(random.choice(["N", "V", "D"])),
                    str(random.choice(FEATS)),
                    head,
                    str(random.choice(["subj", "obj"])),
                )
                for head in heads
            ]
        )
    return treebank_of(sentences)


def grammar(n: int, seed: int = 0) -> Treebank:
    """Sentences in which the parts of speech tell the tree: (D) N V ((D) N) (P (D) N)."""
    random = np.random.default_rng(seed)
    sentences = []
    for _ in range(n):
        words: list[tuple[str, str, str, str, int, str]] = []

        def noun(relation: str, words: list[Any] = words) -> int:
            with_article = random.random() < 0.5
            if with_article:
                words.append(("the", "the", "D", "_", len(words) + 2, "det"))
            name = str(random.choice(["dog", "cat", "man"]))
            words.append((name, name, "N", "_", -1, relation))
            return len(words)

        subject = noun("subj")
        verb = len(words) + 1
        words.append((str(random.choice(["sees", "eats"])), "v", "V", "_", 0, "root"))
        tied = [(subject, verb)]
        if random.random() < 0.6:
            tied.append((noun("obj"), verb))
        if random.random() < 0.5:
            words.append(("in", "in", "P", "_", verb, "prep"))
            place = len(words)
            tied.append((noun("pobj"), place))
        for word, head in tied:
            words[word - 1] = (*words[word - 1][:4], head, words[word - 1][5])
        sentences.append(words)
    return treebank_of(sentences)


def attributes_of_arc(
    template: ArcTemplate, treebank: Treebank, i: int, head: int, modifier: int
) -> list[str]:
    """The names of the attributes that a template makes of an arc."""
    found = [_values(test, treebank[i], head, modifier) for test in template.tests if test.column is not None]
    code = []
    if ArcTest("dir") in template.tests:
        code.append("right" if head < modifier else "left")
    if ArcTest("dist") in template.tests:
        code.append(_length(head, modifier))
    if code:
        found.append([":".join(code)])
    return [template.render(values) for values in product(*found)]


def _length(head: int, modifier: int) -> str:
    length = abs(head - modifier)
    if head == 0:
        return "root"
    if length <= 5:
        return str(length)
    return "6–10" if length <= 10 else "11–20" if length <= 20 else "21+"


def _values(test: ArcTest, sentence: Treebank, head: int, modifier: int) -> list[str]:
    if test.place == "b":
        between = range(min(head, modifier) + 1, max(head, modifier))
        return list(dict.fromkeys(value for place in between for value in _at(test, sentence, place)))
    return _at(test, sentence, (head if test.place == "h" else modifier) + test.offset)


def _at(test: ArcTest, sentence: Treebank, place: int) -> list[str]:
    assert test.column is not None
    if place <= 0:
        return ["<root>" if place == 0 else "<start>"]
    if place > sentence.n_tokens:
        return ["<end>"]
    transform = Transform.parse(test.column.transform)
    if test.column.many:
        value = sentence.values("feats")[place - 1]
        return [] if value == "_" else [transform(each) for each in value.split("|")]
    return [transform(sentence.values(test.column.name)[place - 1])]
