"""The label tables of Operator Trees: which element or csymbol gets which type.

Two published variants differ in a few rows: ``mathamr`` (the newest, ours by default)
and ``cft`` (TangentCFT, equal to Tangent-S), which knows fewer names and counts fewer
relations as unordered.
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

CONSTANT_TAGS = _read_names("infinity emptyset imaginaryi")
"""Elements that are constants in every variant: ``C!name``."""

MATHAMR_CONSTANT_TAGS = _read_names(
    "exponentiale reals integers naturalnumbers complexes rationals"
)
"""Elements that are constants in variant ``mathamr`` only."""

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

CFT_ORDERED_SYMBOLS = _read_names(
    """
    approximately-equals-or-equals coproduct double-intersection double-union
    exclusive-or geometrically-equals greater-than-or-equals-or-less-than
    greater-than-or-less-than iff inner-product less-than-or-equals-or-greater-than
    less-than-or-greater-than not-and not-approximately-equals not-equivalent-to
    not-less-than-nor-greater-than not-parallel-to not-perpendicular-to
    not-proportional-to not-similar-to parallel-to proper-intersection similar-to
    similar-to-or-equals square-intersection square-union symmetric-difference
    tensor-product
    """
)
"""Symbols that variant ``cft`` counts as ordered."""

CFT_UNKNOWN_SYMBOLS = _read_names(
    """
    additive-conjunction additive-disjunction apl-reversal approximately-equals
    arcdegree arcminute arcsecond average-integral big-o cancel
    clockwise-contour-integral conditional contains-as-subgroup
    contains-as-subgroup-or-equals contour-integral-around-below corresonds-to
    counter-clockwise-contour-integral counterclockwise-contour-integral day
    differential-d double-contour-integral double-factorial empty-set equivalent-to
    greater-than-or-similar-to greater-than-or-similar-to-or-equal hour implied-by
    intersection-plus join leads-to less-than less-than-or-equals
    less-than-or-similar-to-or-equal minute multiple-integral multiplicative-conjunction
    multiplicative-disjunction not-approaches-limit not-approximately-equals-or-equals
    not-asymptotically-equals not-bottom not-compose not-contains-as-subgroup
    not-contains-as-subgroup-or-equals not-coproduct not-difference-between
    not-direct-sum not-divide not-does-not-prove not-double-subset-of not-empty-set
    not-equals-or-preceeds not-equivalent-to-nor-equals not-exclusive-or not-factorial
    not-for-all not-geometrically-equals not-greater-than-and-not-equals
    not-greater-than-or-equals-or-less-than not-greater-than-or-equivalent-to
    not-greater-than-or-less-than not-iff not-implies not-infinity not-integral
    not-intersection not-leads-to not-less-than-or-approximately-equals
    not-less-than-or-greater-than not-less-than-or-similar-to not-maps-to not-minus
    not-not not-not-approximately-equals not-not-divides not-not-element-of
    not-not-equals not-not-equivalent-to not-not-subset-of-nor-equals
    not-not-superset-of-nor-equals not-or not-plus-or-minus not-precedes-or-equals
    not-precedes-or-equivalent-to not-proper-intersection not-square-image-of
    not-square-image-of-nor-equals not-square-original-of
    not-square-original-of-or-equals not-subgroup-of-or-equals not-subset-nor-equals
    not-subset-of-and-not-equals not-succeeds-or-equals not-succeeds-or-equivalent-to
    not-sum not-superset-of-and-not-equals not-times quaternion-double-integral
    quaternion-integral second similar-to-or-greater-than similar-to-or-less-than
    square-contour-integral subgroup-of subgroup-of-or-equals subset-plus superset-plus
    surface-integral times trace triple-contour-integral upper-complexes ב⪸ב ⌈⟩⊑⟩⌈⌉
    """
)
"""Symbols that variant ``cft`` does not know."""

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
_DELIMITED = "delimited-"

VARIANTS = ("mathamr", "cft")


def _list_element_labels(variant: str) -> dict[str, str]:
    """Return the labels of empty content elements.

    >>> labels = _list_element_labels("cft")
    >>> labels["plus"], labels["determinant"], "reals" in labels
    ('U!plus', 'F!det', False)
    """
    kinds = [
        ("F!", FUNCTION_TAGS),
        ("U!", UNORDERED_TAGS),
        ("O!", ORDERED_TAGS),
        ("C!", CONSTANT_TAGS),
    ]
    if variant == "mathamr":
        kinds.append(("C!", MATHAMR_CONSTANT_TAGS))
    labels = {tag: kind + tag for kind, tags in kinds for tag in tags}
    return labels | {"determinant": "F!det"}


ELEMENT_LABELS = {variant: _list_element_labels(variant) for variant in VARIANTS}
"""Labels of empty content elements, by variant and tag."""


def label_symbol(dictionary: str | None, name: str, variant: str) -> str | None:
    """Return the label of a ``csymbol``, or None if no table has it.

    >>> label_symbol("latexml", "similar-to", "mathamr")
    'U!similar-to'
    >>> label_symbol("unknown", "r", "mathamr")
    '-!r'
    """
    if dictionary == "ambiguous":
        return _AMBIGUOUS_SYMBOLS.get(name)
    if dictionary == "unknown":
        return "-!" + name
    if dictionary == "mws":
        return "?" if name == "qvar_" and variant == "mathamr" else None
    if dictionary == "latexml":
        return _label_latexml_symbol(name, variant)
    return None


def _label_latexml_symbol(name: str, variant: str) -> str | None:
    if name in _RENAMED_SYMBOLS:
        return _RENAMED_SYMBOLS[name]
    if name.startswith(_DELIMITED):
        # One character too many goes with the prefix: the published trees lack the
        # opening fence (or the ampersand of its escape), so ours do too.
        return "M!D-" + name[len(_DELIMITED) + 1 :]
    label = _SYMBOL_LABELS[variant].get(name)
    if label is not None or name in CFT_UNKNOWN_SYMBOLS:
        return label
    try:
        return f"N!{float(name)!r}"
    except ValueError:
        return None


def _list_symbol_labels(variant: str) -> dict[str, str]:
    labels = {name: "O!" + name for name in ORDERED_SYMBOLS}
    labels |= {name: "C!" + name for name in CONSTANT_SYMBOLS}
    labels |= {name: "U!" + name for name in UNORDERED_SYMBOLS}
    if variant == "cft":
        labels |= {name: "O!" + name for name in CFT_ORDERED_SYMBOLS}
        for name in CFT_UNKNOWN_SYMBOLS:
            del labels[name]
    return labels


_SYMBOL_LABELS = {variant: _list_symbol_labels(variant) for variant in VARIANTS}
