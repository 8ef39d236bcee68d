"""Representatives of the four virtual-node structures (thesis 4.3.2)."""

from __future__ import annotations

import pytest

from mathamr_kedro.graph.representatives import choose_representatives
from mathamr_kedro.graph.tensors import DOCUMENT, FORMULA, SENTENCE


@pytest.mark.parametrize(
    ("structure", "document", "expected"),
    [
        ("hierarchy", 9, [(5, FORMULA), (6, FORMULA), (2, SENTENCE), (9, DOCUMENT)]),
        ("none", None, [(5, FORMULA), (6, FORMULA), (2, SENTENCE)]),
        (
            "global_maxsim",
            9,
            [(5, FORMULA), (6, FORMULA), (2, SENTENCE), (9, DOCUMENT)],
        ),
        ("global_single", 9, [(9, DOCUMENT)]),
    ],
)
def test_structure_decides_the_representatives(structure, document, expected):
    chosen = choose_representatives(structure, [5, 6], [2], document)
    assert [(r.node, r.kind) for r in chosen] == expected


def test_formulas_keep_their_number_and_label():
    chosen = choose_representatives("hierarchy", [5, 6], [2], 9, labels=[70, 80])
    assert [(r.number, r.label) for r in chosen] == [(0, 70), (1, 80), (0, 0), (0, 0)]
