"""Fragments: pieces of graphs that a word stands for."""

from __future__ import annotations

from mathamr_kedro.amr.builtin.fragments import Fragment


def test_values_and_nodes_belong_to_what_stands_around_them():
    text = "(a :ARG0 (b :mod (c* :quant 2) :polarity -) :op1-of (d :value 7))"
    found = Fragment.read(text)
    assert found.concepts == ("a", "b", "c", "d")
    assert found.edges == ((0, "ARG0", 1), (1, "mod", 2), (3, "op1", 0))
    assert found.values == ((2, "quant", "2"), (1, "polarity", "-"), (3, "value", "7"))
    assert (found.core, found.concept) == (2, "c")


def test_arguments_leave_from_the_frame_that_another_node_wraps():
    wrapped = Fragment.read("(possible :domain (go-01*))")
    assert [wrapped.find_source(role) for role in ("ARG0", "time")] == [1, 0]
    assert Fragment.read("(possible :domain (way*))").find_source("ARG0") == 0
    role = Fragment.read("(have-org-role-91 :ARG2 (go-01*))")
    assert role.find_source("ARG0") == 0
