"""Edges between words: "there is a root", and members of a coordination."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.joining import (
    _ALL_ROLES,
    _find_roles,
    _fix_members,
    _lift_existence,
)
from mathamr_kedro.amr.builtin.relations import Pair
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token
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


def test_members_get_their_role_whatever_is_looked_at_before_them():
    skeleton = Skeleton([
        Token("Find", "find", "VB", "VERB", "ROOT", -1),
        Token("sums", "sum", "NNS", "NOUN", "dobj", 0),
        Token("and", "and", "CC", "CCONJ", "cc", 1),
        Token("roots", "root", "NNS", "NOUN", "conj", 1),
    ])  # fmt: skip
    fragments = {i: Fragment((word,)) for i, word in enumerate(skeleton.words)}
    pairs = [
        Pair(0, 2, "01", "dobj", -1),
        Pair(2, 1, "01", "op1", -1),
        Pair(2, 3, "01", "op2", -1),
    ]
    roles = ("-", "ARG1", "op1", "op2")
    scores = np.full((3, 4), -1.0, dtype=np.float32)
    _fix_members(scores, pairs, roles, fragments, skeleton)
    assert [roles[n] for n in scores[1:].argmax(axis=1)] == ["op1", "op2"]
    assert scores[0].tolist() == [-1.0] * 4
