"""Random math graphs with every kind of line, to hold reading against writing."""

from __future__ import annotations

import random

from mathamr_kedro.graph import MathGraph
from mathamr_kedro.graph.math_graph import Line
from mathamr_kedro.graph.penman_graph import format_label

_ROLES = ("ARG0", "ARG1-of", "op1", "mod", "n", "0", "consist-of", "snt1", "quant")
_LABELS = ("U!plus", "V!𝑥", "N!1729", "solve-01", "(", ")", ":", "/", '"', "\\", "~1")
# Letters, brackets, quotes, blanks, controls, marks, other planes: anything but the
# surrogates, which no file can hold.
_CHARACTERS = (
    *"abxyz019 ()[]{}<>:;/\\\"'`~!@#$%^&*-+=,.?|\t\n\r\v\f\0\x7f\x85\xa0",
    *"∑∫≤⊂ℝ𝑥𝔸ﬁ½éßжש漢字\u2028\u2029\u200b\u0301\ufeff\U0001f600",
)


def draw_graph(seed: int, max_lines: int = 60) -> MathGraph:
    """Draw a graph: trees, second mentions, constants, inverted roles, any label.

    >>> draw_graph(1) == draw_graph(1)
    True
    """
    rng = random.Random(seed)
    variables, atoms = ["v0"], [_draw_atom(rng)]
    lines: list[Line] = []
    path = [0]
    for _ in range(rng.randrange(max_lines)):
        del path[rng.randint(1, len(path)) :]
        role = rng.choice(_ROLES)
        kind = rng.random()
        if kind < 0.15:
            named = [node for node, name in enumerate(variables) if name]
            lines.append((path[-1], role, rng.choice(named)))
            continue
        number = len(atoms)
        lines.append((path[-1], role, number))
        variables.append(f"v{number}" if kind < 0.85 else "")
        atoms.append(_draw_atom(rng))
        if variables[-1]:
            path.append(number)
    return MathGraph(variables, atoms, lines)


def _draw_atom(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return format_label(rng.choice(_LABELS))
    # A quotation mark in front: a bare constant "v3" would name a node.
    text = "".join(rng.choices(_CHARACTERS, k=rng.randrange(8)))
    return format_label(text if text[:1] != "v" else f'"{text}')
