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
a rule does not fit; rules leave the position where it was in that case. What was read
once at a place is remembered, so the work stays linear in the length of the row.
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.composition import (
    ANNOTATED,
    BRA,
    CASES,
    CONDITIONAL_SET,
    GROUP,
    INNER_PRODUCT,
    KET,
    LIMIT_FROM,
    OPERATOR_PRODUCT,
    apply_to_arguments,
    as_role,
    attach_script,
    chain_terms,
    closes,
    decorate,
    delimit,
    enumerate_items,
    evaluate_at,
    fence,
    join_formulae,
    multiply,
    read_two_part_relation,
    relate,
    turn_bar,
)
from mathamr_kedro.formula.latex.nodes import App, Dual, Item, Row
from mathamr_kedro.formula.latex.symbols import (
    ABSENT,
    INVISIBLE_COMMA,
    INVISIBLE_TIMES,
    Symbol,
    with_role,
)

END = "END"
