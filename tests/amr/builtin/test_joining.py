"""Edges between words: what governs "there is a root"."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.joining import (
    _ALL_ROLES,
    _find_roles,
    _lift_existence,
)
from mathamr_kedro.amr.builtin.words import Lexicon

SAY, ROOT, BE = 0, 1, 2
EDGES = [(SAY, "ARG1", ROOT), (BE, "ARG1", ROOT), (ROOT, "mod", BE)]


def lift(concept: str, label: str) -> list[tuple[int, str, int]]:
    """Words of "they say that there is a root"; the last one hangs on the root."""
    parents = {SAY: -1, ROOT: SAY, BE: ROOT}
    skeleton: Any = SimpleNamespace(
        parents=parents,
        labels={SAY: "root", ROOT: "ccomp", BE: label},
        list_ancestors=lambda i: [ROOT, SAY] if i == ROOT else [i, parents[i]],
    )
    fragments = {
        SAY: Fragment.read("(say-01*)"),
        ROOT: Fragment.read("(root*)"),
        BE: Fragment.read(f"({concept}*)"),
    }
    return _lift_existence(EDGES, skeleton, fragments)


def test_what_governs_a_thing_that_exists_governs_its_being():
    lifted = [(SAY, "ARG1", BE), *EDGES[1:]]
    assert lift("exist-01", "cop") == lift("exist-01", "expl") == lifted
    assert lift("exist-01", "advcl") == EDGES
    assert lift("be-located-at-91", "cop") == EDGES


def test_a_frame_that_is_not_known_may_have_all_roles():
    lexicon = Lexicon({"prove-01": "012"}, {}, {})
    roles = [
        _find_roles(Fragment.read(f"({concept}*)"), lexicon)
        for concept in ("prove-01", "frobnicate-01", "root")
    ]
    assert roles == ["012", _ALL_ROLES, ""]
