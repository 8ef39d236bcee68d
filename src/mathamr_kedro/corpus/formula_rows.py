r"""A formula of a text and its row in the formula files: what is said differently.

The files are right: LaTeX, visual id and trees of a formula with an id come from its
row, the text says where it occurs. Each difference has a reason:

=============================  ====================================================
``formula_not_in_index``       no row has this id: the LaTeX of the text is used
``formula_of_other_post``      its row belongs to another post, comment or topic; used
                               only if both say the same
``formula_without_latex``      its row has no LaTeX: that of the text is used
``formula_without_text``       the text has an id and no LaTeX: that of the row is used
``formula_other_punctuation``  only the mark that ends the sentence differs
``formula_other_spelling``     spelt differently, drawn alike: ``f'``, ``f^{\prime}``
``formula_other_latex``        another formula altogether
=============================  ====================================================
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.delimiters import split_punctuation
from mathamr_kedro.corpus.raw import make_failure
from mathamr_kedro.corpus.scanning import unescape_latex

REASONS = (
    "formula_not_in_index",
    "formula_of_other_post",
    "formula_without_latex",
    "formula_without_text",
    "formula_other_punctuation",
    "formula_other_spelling",
    "formula_other_latex",
)
"""Why a text and the formula files may say different things."""

_SHOWN = 60
"""Characters of LaTeX in a message."""
_SPELLINGS = {
    r"\prime": "'", r"\ne": r"\neq", r"\le": r"\leq", r"\ge": r"\geq",
    r"\to": r"\rightarrow", r"\gets": r"\leftarrow", r"\land": r"\wedge",
    r"\lor": r"\vee", r"\lnot": r"\neg", r"\owns": r"\ni", r"\lbrace": r"\{",
    r"\rbrace": r"\}", r"\lbrack": "[", r"\rbrack": "]", r"\vert": "|",
    r"\Vert": r"\|", r"\lvert": "|", r"\rvert": "|", r"\lVert": r"\|",
    r"\rVert": r"\|", r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\ast": "*",
    r"\lt": "<", r"\gt": ">",
}  # fmt: skip
_UNSEEN = frozenset(
    r"\left \right \middle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr "
    r"\Biggl \Biggr \displaystyle \textstyle \limits \nolimits \quad \qquad \, \; \: "
    r"\! \> { } ~".split()
) | {"\\ ", "\\\n"}
_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\S", re.DOTALL)


class FormulaRow(NamedTuple):
    """The row of a formula in the formula files."""

    visual_id: str
    latex: str = ""
    """Without delimiters; empty if the files have none."""
    owner: str = ""
    """The post, the topic or, with a ``c`` before it, the comment; empty: unknown."""


class Disagreement(NamedTuple):
    """A difference between a text and the formula files."""

    formula_id: str
    reason: str
    detail: str
    is_its_row: bool = True
    """Whether the row is that of this formula all the same."""

    def to_failure(self, source: str, place: str, owner: str) -> Failure:
        """Return it as a defect of a record that is kept."""
        return make_failure(source, place, self.reason, self.detail, owner, kept=True)


def find_disagreement(
    formula_id: str, latex: str, owner: str, row: FormulaRow | None
) -> Disagreement | None:
    """Compare a formula of a text with its row; ``None``: they say the same."""
    if row is None:
        detail = f"formula {formula_id} has no row in the formula files"
        return Disagreement(formula_id, "formula_not_in_index", detail, False)
    reason = _compare(latex, row.latex)
    shown = f"{latex[:_SHOWN]!r} in the text, {row.latex[:_SHOWN]!r} in the files"
    if row.owner and row.owner != owner:
        detail = f"formula {formula_id} belongs to {row.owner}: {shown}"
        is_same = reason != "formula_other_latex"
        return Disagreement(formula_id, "formula_of_other_post", detail, is_same)
    if reason is None:
        return None
    return Disagreement(formula_id, reason, f"formula {formula_id}: {shown}")


def _compare(text: str, file: str) -> str | None:
    r"""Return how two formulas differ, beyond white space.

    >>> _compare("f'(x)", r"f^{\prime}(x)"), _compare("x = 2", "x=2.")
    ('formula_other_spelling', 'formula_other_punctuation')
    """
    if _squeeze(text) == _squeeze(file):
        return None
    if not file:
        # Pools of trees have no LaTeX; there, the text shows a bracket string.
        is_tree = text.startswith("[") and text.endswith("]") and "!" in text
        return None if is_tree else "formula_without_latex"
    if not text:
        return "formula_without_text"
    text, file = split_punctuation(text)[0], split_punctuation(file)[0]
    if _squeeze(text) == _squeeze(file):
        return "formula_other_punctuation"
    if _list_symbols(text) == _list_symbols(file):
        return "formula_other_spelling"
    return "formula_other_latex"


def _squeeze(latex: str) -> str:
    return "".join(latex.split())


def _list_symbols(latex: str) -> list[str]:
    r"""Return what is drawn, in one spelling.

    >>> _list_symbols(r"f^{\prime} \left( x\right)") == _list_symbols("f'(x)")
    True
    """
    tokens = _TOKEN.findall(unescape_latex(latex))  # some were escaped twice
    tokens = [_SPELLINGS.get(token, token) for token in tokens]
    seen = [token for token in tokens if token not in _UNSEEN]
    pairs = zip(seen, [*seen[1:], ""], strict=True)
    return [token for token, after in pairs if (token, after) != ("^", "'")]
