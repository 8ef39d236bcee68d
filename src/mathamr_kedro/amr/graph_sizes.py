"""Sizes of graphs from their PENMAN text, without building them.

``format_graph`` writes one edge or attribute per line, so lines can be counted:

```
(s / show-01             node
  :mode imperative       attribute: the target is no variable of this graph
  :ARG1 (f / FORMULA_0   edge and node
    :ARG1-of s))         edge: the target is a variable
```
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from penman.models.amr import model as amr_model

_ATOM = r'"(?:[^"\\]|\\.)*"|\S+?'
_LINE = re.compile(
    rf"^ *(?::(\S+) )?(?:\((\S+) / ({_ATOM})|({_ATOM}))\)*$", re.MULTILINE
)


class GraphSize(NamedTuple):
    """What one graph consists of."""

    concepts: tuple[str, ...]
    """One per node."""
    roles: tuple[str, ...]
    """One per edge, ``ARG1-of`` as ``ARG1``."""
    attributes: int

    @property
    def sentences(self) -> int:
        """Number of sentences under the root."""
        return sum(role.startswith("snt") for role in self.roles)


def measure_graph(text: str) -> GraphSize:
    r"""Measure the text that :func:`mathamr_kedro.amr.penman_io.format_graph` made.

    >>> measure_graph("(s / show-01\n  :mode imperative\n  :ARG1 (f / FORMULA_0))")
    GraphSize(concepts=('show-01', 'FORMULA_0'), roles=('ARG1',), attributes=1)
    """
    lines = _LINE.findall(text)
    variables = {variable for _, variable, _, _ in lines if variable}
    concepts = tuple(concept for _, variable, concept, _ in lines if variable)
    roles = tuple(
        _without_inversion(role)
        for role, variable, _, target in lines
        if role and (variable or target in variables)
    )
    attributes = sum(
        bool(target) and target not in variables for _, _, _, target in lines
    )
    return GraphSize(concepts, roles, attributes)


@cache
def _without_inversion(role: str) -> str:
    """Return ``ARG1`` for ``ARG1-of``, but ``consist-of`` for itself."""
    return amr_model.canonicalize_role(
        amr_model.invert_role(f":{role}")
        if amr_model.is_role_inverted(f":{role}")
        else f":{role}"
    )[1:]
