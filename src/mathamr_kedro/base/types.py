"""Aliases of the plain values that the project passes around.

Ids are strings everywhere: ARQMath numbers its posts, NTCIR-12 names them
(``Riemann_zeta_function:12``), and an own corpus uses file names.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

PostId: TypeAlias = str
"""Id of a question, answer or document."""

FormulaId: TypeAlias = str
"""Id of one formula instance: ``"123"`` in ARQMath, ``"q_12"`` in its topics."""

VisualId: TypeAlias = str
"""Id shared by all formulas that look the same."""

TopicId: TypeAlias = str
"""``"A.301"`` (Task 1), ``"B.301"`` (Task 2), ``"NTCIR12-MathWiki-1"``."""

PostType: TypeAlias = Literal["question", "answer", "document", "example", "comment"]
"""``document`` is a post of an own corpus or an NTCIR-12 article part; ``example`` is a
text to learn from that no search returns; ``comment``: a formula of a comment, where a
search for formulas found it."""

Grade: TypeAlias = int
"""Relevance: 0 none, 1 low, 2 medium, 3 high (ARQMath); 0 to 4 (NTCIR-12)."""
