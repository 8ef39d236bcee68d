"""Label tables."""

from __future__ import annotations

from mathamr_kedro.formula.mathml import opt_labels
from mathamr_kedro.formula.mathml.opt_labels import ELEMENT_LABELS, label_symbol


def test_tables_have_the_published_sizes():
    assert len(opt_labels.CONSTANT_SYMBOLS) == 2
    assert len(opt_labels.UNORDERED_SYMBOLS) == 55
    assert len(opt_labels.ORDERED_SYMBOLS) == 216


def test_no_name_has_two_types():
    assert not opt_labels.UNORDERED_SYMBOLS & opt_labels.ORDERED_SYMBOLS
    tags = (
        opt_labels.FUNCTION_TAGS,
        opt_labels.UNORDERED_TAGS,
        opt_labels.ORDERED_TAGS,
        opt_labels.CONSTANT_TAGS,
        opt_labels.QUALIFIER_TAGS,
    )
    assert sum(map(len, tags)) == len(frozenset().union(*tags))


def test_number_in_a_symbol_is_written_as_a_float():
    assert label_symbol("latexml", "3") == "N!3.0"


def test_unknown_names_have_no_label():
    assert label_symbol("latexml", "odd") is None
    assert label_symbol(None, "subscript") is None
    assert "bvar" not in ELEMENT_LABELS
