"""Which nodes become the vectors of a post, for each virtual-node structure.

Thesis 4.3.2 compares four structures::

    hierarchy      formula, sentence and document virtual nodes: all of them
    none           no virtual nodes: FORMULA_n nodes and sentence roots
    global_maxsim  one virtual node over every node: FORMULA_n, sentence roots, and it
    global_single  the same graph: the virtual node alone
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from mathamr_kedro.graph.tensors import DOCUMENT, FORMULA, SENTENCE, Representative

Structure: TypeAlias = Literal["hierarchy", "none", "global_maxsim", "global_single"]


def choose_representatives(
    structure: Structure,
    formulas: Sequence[int],
    sentences: Sequence[int],
    document: int | None,
    labels: Sequence[int] = (),
) -> list[Representative]:
    """List the representatives of one graph, the document last.

    Args:
        structure: see above.
        formulas: node of each formula, in the order of ``FORMULA_n``: its virtual node
            in the hierarchy, the ``FORMULA_n`` node otherwise.
        sentences: node of each sentence: its virtual node in the hierarchy, the root of
            its AMR otherwise.
        document: the document virtual node or the global node; ``None`` for ``none``.
        labels: label of each formula, equal for formulas that look the same.

    >>> choose_representatives("none", [3], [0], None)[0]
    Representative(node=3, kind=0, number=0, label=0)
    >>> [r.node for r in choose_representatives("global_maxsim", [3], [0], 5)]
    [3, 0, 5]
    >>> [r.node for r in choose_representatives("global_single", [3], [0], 5)]
    [5]
    """
    parts: list[Representative] = []
    if structure != "global_single":
        numbered = labels or [0] * len(formulas)
        parts += [
            Representative(node, FORMULA, n, label)
            for n, (node, label) in enumerate(zip(formulas, numbered, strict=True))
        ]
        parts += [Representative(node, SENTENCE, n) for n, node in enumerate(sentences)]
    if structure != "none" and document is not None:
        parts.append(Representative(document, DOCUMENT))
    return parts
