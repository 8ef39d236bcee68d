"""Chained relations."""

from __future__ import annotations

from collections import Counter

import pytest

from mathamr_kedro.formula import opt_from_mathml
from mathamr_kedro.formula.mathml import TreeError


def chain(href):
    share = f'<share href="{href}"/>'
    return (
        "<apply><and/><apply><lt/><ci>a</ci><ci>b</ci></apply>"
        f"<apply><lt/>{share}<ci>c</ci></apply></apply>"
    )


COPIED = "[U!and,0[O!lt,0[V!a],1[V!b]],1[O!lt,0[V!b],1[V!c]]]"
DROPPED = "[U!and,0[O!lt,0[V!a],1[V!b]],1[O!lt,0[V!c]]]"


def test_share_of_the_published_kind_is_copied():
    assert opt_from_mathml(chain("#.cmml"), mode="strict").to_string() == COPIED
    assert opt_from_mathml(chain("#.cmml")).to_string() == COPIED


def test_other_shares_are_unknown_in_strict_mode():
    with pytest.raises(
        TreeError, match="share", check=lambda e: e.reason == "unknown_tag"
    ):
        opt_from_mathml(chain("#p1.m1.sh1"), mode="strict")


def test_other_shares_are_dropped_or_copied_in_total_mode():
    counter = Counter()
    tree = opt_from_mathml(chain("#p1"), counter=counter)
    assert tree.to_string() == DROPPED
    assert counter == {"unknown_tag:share": 1}
    assert opt_from_mathml(chain("#p1"), shares="copy").to_string() == COPIED


def test_longer_chains_copy_from_neighbour_to_neighbour():
    text = (
        "<apply><and/><apply><lt/><ci>a</ci><ci>b</ci></apply>"
        "<apply><lt/><share href='#1'/><ci>c</ci></apply>"
        "<apply><leq/><share href='#2'/><ci>d</ci></apply></apply>"
    )
    assert opt_from_mathml(text, shares="copy").nodes == (
        *("U!and", "O!lt", "V!a", "V!b", "O!lt", "V!b", "V!c", "O!leq", "V!c", "V!d"),
    )


def test_share_without_a_relation_is_dropped():
    text = '<apply><plus/><ci>a</ci><share href="#.cmml"/></apply>'
    with pytest.raises(TreeError, check=lambda e: e.reason == "unknown_tag"):
        opt_from_mathml(text, mode="strict")
    counter = Counter()
    assert opt_from_mathml(text, counter=counter).to_string() == "[U!plus,0[V!a]]"
    assert counter == {"unknown_tag:share": 1}


def test_share_alone_is_no_formula():
    counter = Counter()
    assert opt_from_mathml('<share href="#.cmml"/>', counter=counter) is None
    assert counter["empty"] == 1


def test_shares_that_double_at_each_level_are_refused():
    text = "<ci>a</ci>"
    for _ in range(25):
        text = chain("#.cmml").replace("<ci>b</ci>", text)
    with pytest.raises(TreeError, check=lambda e: e.reason == "too_large"):
        opt_from_mathml(text, mode="strict")
    counter = Counter()
    assert opt_from_mathml(text, counter=counter) is None
    assert counter == {"too_large": 1}
