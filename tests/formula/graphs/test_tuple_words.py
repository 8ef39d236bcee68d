"""Tuples as words."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs.tuple_words import TupleEncoder, split_label
from mathamr_kedro.formula.tuples import SymbolPair


@pytest.mark.parametrize(
    ("label", "mode", "tokens"),
    [
        ("V!xy", "both_separated", ["V!", "xy"]),
        ("N!12", "both_separated", ["N!", "1", "2"]),
        ("0!", "both_separated", ["0!"]),
        ("+", "both_separated", ["+"]),
        ("V!x", "type", ["V!"]),
        ("V!x", "value", ["x"]),
        ("W!", "value", []),
        ("N!12", "whole", ["N!12"]),
    ],
)
def test_labels_are_split_into_tokens(label, mode, tokens):
    assert split_label(label, mode) == tokens


def test_numbers_stay_whole_on_request():
    assert split_label("N!12", split_numbers=False) == ["N!", "12"]


def test_equal_parts_are_equal_characters():
    encoder = TupleEncoder()
    first = encoder.encode(SymbolPair("V!x", "V!y", "n", "-"))
    second = encoder.encode(SymbolPair("V!y", "V!x", "nn", "n"))
    assert first[0] == first[2] == second[0]  # V!
    assert first[1] == second[3]  # x
    assert first[-1] == second[-1] == second[-2]  # n


def test_edge_and_token_of_one_spelling_differ():
    encoder = TupleEncoder("whole")
    word = encoder.encode(SymbolPair("n", "n", "n", "-"))
    assert word[0] == word[1] != word[2]


def test_words_decode_to_their_tokens():
    tree = FormulaTree.from_string("[V!x[+[N!12]],a[N!2]]")
    encoder = TupleEncoder()
    words = encoder.encode_tree(tree)
    names = {char: token for token, char in (encoder.tokens | encoder.edges).items()}
    assert len(words) == len(tree.tuples(2, True))
    assert [names[char] for char in words[0]] == ["V!", "x", "N!", "2", "a"]


def test_restored_encoder_gives_the_same_words():
    tree = FormulaTree.from_string("[V!x,a[N!2]]")
    encoder = TupleEncoder()
    words = encoder.encode_tree(tree)
    again = TupleEncoder.restore(encoder.tokens, encoder.edges)
    assert again.encode_tree(tree) == words
    assert again.tokens == encoder.tokens


def test_unknown_mode_names_the_nearest():
    with pytest.raises(ConfigurationError, match="did you mean 'value'"):
        TupleEncoder("vlaue")
