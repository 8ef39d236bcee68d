"""The label tables of Operator Trees: which element or csymbol gets which type.

They are those of MathAMR, the newest published; the older ones of Tangent-S and
TangentCFT know fewer names and count fewer relations as unordered.
"""

from __future__ import annotations


def _read_names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_TAGS = _read_names(
    """
    sin cos tan cot sec csc sinh cosh tanh coth sech csch
    arcsin arccos arctan arccot arcsec arccsc
    arcsinh arccosh arctanh arccoth arcsech arccsch
    abs exp log ln min max ceiling floor arg gcd real imaginary determinant
    """
)
"""Elements that are functions: ``F!name``; ``determinant`` is ``F!det``."""

UNORDERED_TAGS = _read_names(
    "approx eq neq equivalent union intersect plus times and or"
)
"""Elements that are operators without an order of operands: ``U!name``."""

ORDERED_TAGS = _read_names(
    """
    lt gt leq geq minus divide subset prsubset notsubset notprsubset in notin forall
    exists setdiff not implies int sum partialdiff limit factorial compose root
    """
)
"""Elements that are operators with an order of operands: ``O!name``."""

CONSTANT_TAGS = _read_names(
    """
    infinity emptyset imaginaryi
    exponentiale reals integers naturalnumbers complexes rationals
    """
)
"""Elements that are constants: ``C!name``."""

QUALIFIER_TAGS = _read_names("degree bvar lowlimit uplimit")
"""Elements that qualify an operator: ``$!name``."""

CONSTANT_SYMBOLS = _read_names("empty-set not-empty-set")
"""LaTeXML symbols that are constants."""

UNORDERED_SYMBOLS = _read_names(
    """
    additive-conjunction additive-disjunction approximately-equals
    approximately-equals-or-equals coproduct double-intersection double-union
    equivalent-to exclusive-or geometrically-equals greater-than-or-equals-or-less-than
    greater-than-or-less-than iff inner-product intersection-plus join
    less-than-or-equals-or-greater-than less-than-or-greater-than
    multiplicative-conjunction multiplicative-disjunction not-and
    not-approximately-equals not-approximately-equals-or-equals
    not-asymptotically-equals not-coproduct not-difference-between not-direct-sum
    not-equivalent-to not-equivalent-to-nor-equals not-exclusive-or
    not-geometrically-equals not-iff not-intersection not-less-than-nor-greater-than
    not-not-approximately-equals not-not-equals not-not-equivalent-to not-or
    not-parallel-to not-perpendicular-to not-proper-intersection not-proportional-to
    not-similar-to not-times parallel-to proper-intersection similar-to
    similar-to-or-equals square-intersection square-union subset-plus superset-plus
    symmetric-difference tensor-product times
    """
)
"""LaTeXML symbols without an order of operands."""

ORDERED_SYMBOLS = _read_names(
    """
    annotated apl-reversal approaches-limit approximately-equals-or-image-of arcdegree
    arcminute arcsecond assign asymptotically-equals average-integral because between
    big-o binomial bottom bra cancel cases clockwise-contour-integral complement
    conditional conditional-set contains contains-as-subgroup
    contains-as-subgroup-or-equals continued-fraction contour-integral
    contour-integral-around-below corresonds-to counter-clockwise-contour-integral
    counterclockwise-contour-integral currency-dollar day degree difference-between
    differential-d dimension direct-product direct-sum divides does-not-prove
    double-contour-integral double-factorial double-integral double-subset-of
    double-superset-of equals-or-preceeds equals-or-succeeds evaluated-at expectation
    forces greater-than-and-not-approximately-equals greater-than-and-not-equals
    greater-than-and-not-equivalent-to greater-than-or-approximately-equals
    greater-than-or-equivalent-to greater-than-or-similar-to
    greater-than-or-similar-to-or-equal hour image-of-or-approximately-equals implied-by
    infimum infinity injective-limit kernel ket leads-to
    left-normal-factor-semidirect-product left-semidirect-product less-than
    less-than-and-not-approximately-equals less-than-and-not-equals
    less-than-and-not-equivalent-to less-than-or-approximately-equals
    less-than-or-equals less-than-or-similar-to less-than-or-similar-to-or-equal
    limit-from limit-infimum limit-supremum maps-to minus-or-plus minute models
    much-greater-than much-less-than multiple-integral norm not-approaches-limit
    not-bottom not-compose not-contains not-contains-as-subgroup
    not-contains-as-subgroup-or-equals not-contains-nor-equals not-divide not-divides
    not-does-not-prove not-double-subset-of not-equals-or-preceeds not-exists
    not-factorial not-for-all not-forces not-greater-than
    not-greater-than-and-not-equals not-greater-than-nor-equals
    not-greater-than-or-equals not-greater-than-or-equals-or-less-than
    not-greater-than-or-equivalent-to not-greater-than-or-less-than not-implies
    not-infinity not-integral not-leads-to not-less-than not-less-than-nor-equals
    not-less-than-or-approximately-equals not-less-than-or-equals
    not-less-than-or-greater-than not-less-than-or-similar-to not-maps-to not-minus
    not-models not-much-greater-than not-much-less-than not-not not-not-divides
    not-not-element-of not-not-subset-of-nor-equals not-not-superset-of-nor-equals
    not-partial-differential not-plus-or-minus not-precedes not-precedes-nor-equals
    not-precedes-or-equals not-precedes-or-equivalent-to not-proves
    not-similar-to-or-equals not-square-image-of not-square-image-of-nor-equals
    not-square-image-of-or-equals not-square-original-of
    not-square-original-of-or-equals not-subgroup-of not-subgroup-of-nor-equals
    not-subgroup-of-or-equals not-subset-nor-equals not-subset-of
    not-subset-of-and-not-equals not-subset-of-nor-equals not-subset-of-or-equals
    not-succeeds not-succeeds-nor-equals not-succeeds-or-equals
    not-succeeds-or-equivalent-to not-sum not-superset-of not-superset-of-and-not-equals
    not-superset-of-nor-equals not-superset-of-or-equals not-very-much-greater-than
    not-very-much-less-than percent perpendicular-to plus-or-minus precedes
    precedes-and-not-approximately-equals precedes-and-not-equals
    precedes-and-not-equivalent-to precedes-or-approximately-equals precedes-or-equals
    precedes-or-equivalent-to product projective-limit proportional-to proves
    quadruple-integral quantum-operator-product quaternion-double-integral
    quaternion-integral right-normal-factor-semidirect-product right-semidirect-product
    second similar-to-or-greater-than similar-to-or-less-than square-contour-integral
    square-image-of square-image-of-or-equals square-original-of
    square-original-of-or-equals subgroup-of subgroup-of-or-equals succeeds
    succeeds-and-not-approximately-equals succeeds-and-not-equals
    succeeds-and-not-equivalent-to succeeds-or-approximately-equals succeeds-or-equals
    succeeds-or-equivalent-to superset-of superset-of-and-not-equals
    superset-of-or-equals supremum surface-integral therefore top trace
    triple-contour-integral triple-integral upper-complexes very-much-greater-than
    very-much-less-than weierstrass-p ב⪸ב ⌈⟩⊑⟩⌈⌉
    """
)
"""LaTeXML symbols with an order of operands."""

_AMBIGUOUS_SYMBOLS = {
    "formulae-sequence": "O!form-seq",
    "fragments": "O!fragments",
    "missing-subexpression": "W!",
    "subscript": "O!SUB",
    "superscript": "O!SUP",
}
_RENAMED_SYMBOLS = {
    "absent": "W!",
    "for-all": "O!forall",
    "hyperbolic-cotangent": "F!coth",
    "modulo": "O!rem",
    "planck-constant-over-2-pi": "C!hbar",
    "square-root": "O!root",
}
_SYMBOL_LABELS = {
    **{name: "O!" + name for name in ORDERED_SYMBOLS},
    **{name: "C!" + name for name in CONSTANT_SYMBOLS},
    **{name: "U!" + name for name in UNORDERED_SYMBOLS},
}
_DELIMITED = "delimited-"

ELEMENT_LABELS = {
    **{tag: "F!" + tag for tag in FUNCTION_TAGS},
    **{tag: "U!" + tag for tag in UNORDERED_TAGS},
    **{tag: "O!" + tag for tag in ORDERED_TAGS},
    **{tag: "C!" + tag for tag in CONSTANT_TAGS},
    "determinant": "F!det",
}
"""Labels of empty content elements, by tag."""


def label_symbol(dictionary: str | None, name: str) -> str | None:
    """Return the label of a ``csymbol``, or None if no table has it.

    >>> label_symbol("latexml", "similar-to")
    'U!similar-to'
    >>> label_symbol("unknown", "r")
    '-!r'
    """
    if dictionary == "ambiguous":
        return _AMBIGUOUS_SYMBOLS.get(name)
    if dictionary == "unknown":
        return "-!" + name
    if dictionary == "mws":
        return "?" if name == "qvar_" else None
    if dictionary == "latexml":
        return _label_latexml_symbol(name)
    return None


def _label_latexml_symbol(name: str) -> str | None:
    if name in _RENAMED_SYMBOLS:
        return _RENAMED_SYMBOLS[name]
    if name.startswith(_DELIMITED):
        # One character too many goes with the prefix: the published trees lack the
        # opening fence (or the ampersand of its escape), so ours do too.
        return "M!D-" + name[len(_DELIMITED) + 1 :]
    if name in _SYMBOL_LABELS:
        return _SYMBOL_LABELS[name]
    try:
        return f"N!{float(name)!r}"
    except ValueError:
        return None
