"""Tokens of a sentence: formulas that were hidden from the parser come back."""

from __future__ import annotations

from mathamr_kedro.amr.builtin.syntax import parse_sentences


def test_formulas_stand_behind_the_noun_that_they_name():
    (tokens,) = parse_sentences(["The integers FORMULA_3 and FORMULA_4 are coprime."])
    forms = [token.form for token in tokens]
    assert forms == "The integers FORMULA_3 and FORMULA_4 are coprime .".split()
    assert [(token.dep, forms[token.head]) for token in tokens[2:5]] == [
        ("formula", "integers"),
        ("cc", "FORMULA_3"),
        ("conj", "FORMULA_3"),
    ]
    assert forms[tokens[1].head] == "are"
