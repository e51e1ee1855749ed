"""Small CoNLL-U and CoNLL-X texts, and random trees."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import strategies as st

from parsimon.data import Treebank, read_treebank

UD = """\
# newdoc
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\tMood=Imp|Person=1\t0\troot\t0:root\tNote=a b
2\tnos\tyo\tPRON\t_\t_\t1\tobj\t1:obj\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t1:obl\t_
5.1\tvamos\tir\tVERB\t_\t_\t_\t_\t1:conj\t_

# text = New York !
# a\tcomment\twith\ttabs
0.1\tit\tit\tPRON\t_\t_\t_\t_\t1:dep\t_
1\tNew York\tNew York\tPROPN\tNNP\t_\t0\troot\t_\t_
2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""


X = """\
1\tTo\tto\tAC\tAC---U=--\tcase=unmarked\t2\tsubj\t2\tsubj
2\ttror\ttro\tVA\tVADR\t_\t0\tROOT\t_\t_

1\tJa\tja\tI\tI\t_\t0\tROOT\t_\t_
2\t.\t.\tXP\tXP\t_\t0\tpnct\t_\t_

"""


def read(text: str | bytes, **options: Any) -> Treebank:
    return read_treebank(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def word(
    number: int | str, head: int | str = 0, form: str = "w", relation: str = "dep", deps: str = "_"
) -> str:
    return f"{number}\t{form}\t_\tNOUN\t_\t_\t{head}\t{relation}\t{deps}\t_\n"


@st.composite
def trees(draw: st.DrawFn) -> list[list[int]]:
    """Heads of some sentences: random trees, with one root or several."""
    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 9))
        order = draw(st.permutations(range(1, n + 1)))
        heads = [0] * n
        for i, modifier in enumerate(order):  # a word's head comes before it in the order
            heads[modifier - 1] = draw(st.sampled_from([0, *order[:i]]))
        sentences.append(heads)
    return sentences
