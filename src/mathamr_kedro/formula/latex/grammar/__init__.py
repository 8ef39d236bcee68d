r"""The grammar of formulas: a row of items becomes one item.

```
formulae    formula ((,|.) formula)*  |  formula (metarelation formula)*
formula     expression (, expression)* (relation expression)*
expression  [sign] term (sign term)*  [(mod n)]
term        factor ([*] factor)*
factor      atom scripts | function argument | ( ... ) | | ... | | sum term | ...
```

Choices are tried in order and the first that fits is kept, as in LaTeXML, whose trees
are the reference: there is no going back into a choice once made. ``None`` means that
a rule does not fit; rules leave the position where it was in that case. Factors are
remembered by place, so that trying several choices costs little.
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.grammar.rows import parse_row

__all__ = ["parse_row"]
