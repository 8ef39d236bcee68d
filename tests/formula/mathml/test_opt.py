"""Content MathML to Operator Trees."""

from __future__ import annotations

from collections import Counter

import pytest

from mathamr_kedro.formula import opt_from_mathml
from mathamr_kedro.formula.mathml import TreeError

A, B, N = "<ci>a</ci>", "<ci>b</ci>", "<cn>2</cn>"


def read(text, mode="strict", **options):
    tree = opt_from_mathml(text, mode=mode, **options)
    return tree.to_string() if tree is not None else None


def apply(*parts):
    return f"<apply>{''.join(parts)}</apply>"


def symbol(name, cd="latexml"):
    return f'<csymbol cd="{cd}">{name}</csymbol>'


SUB, SUP = symbol("subscript", "ambiguous"), symbol("superscript", "ambiguous")


@pytest.mark.parametrize(
    ("text", "string"),
    [
        ("<ci>x</ci>", "[V!x]"),
        ("<ci/>", "[W!]"),
        ("<cn>1<sep/>2</cn>", "[N!1]"),
        ("<mtext>if</mtext>", "[T!if]"),
        ("<determinant/>", "[F!det]"),
        ('<qvar name="q"/>', "[?q]"),
        (symbol("Absent"), "[W!]"),
        (symbol("3"), "[N!3.0]"),
        (symbol("R", "unknown"), "[-!r]"),
        (symbol("delimited-[]"), "[M!D-lsqb;&rsqb;]"),
        (apply("<plus/>", A, B), "[U!plus,0[V!a],1[V!b]]"),
        (apply("<ci>f</ci>", A), "[F!f,0[V!a]]"),
        (
            apply(apply(SUB, "<log/>", N), A),
            "[+!F!log,0[O!SUB,0[F!log],1[N!2]],1[V!a]]",
        ),
        (
            apply(apply("<compose/>", A, B), "<ci>x</ci>"),
            "[+!,0[O!compose,0[V!a],1[V!b]],1[V!x]]",
        ),
        (apply("<int/>", A), "[O!int,0[V!a],1[W!],2[W!]]"),
        (apply("<root/>", A), "[O!root,0[V!a],1[N!2]]"),
        (apply("<root/>", "<degree><cn>3</cn></degree>", A), "[O!root,0[V!a],1[N!3]]"),
        (
            '<interval closure="open-closed"><ci>a</ci><ci>b</ci></interval>',
            "[O!interval(O-C),0[V!a],1[V!b]]",
        ),
        (f"<vector>{A}{B}</vector>", "[M!V-2,0[V!a],1[V!b]]"),
        (f"<set>{A}</set>", "[M!S-1,0[V!a]]"),
        (
            f"<matrix><matrixrow>{A}{B}</matrixrow><matrixrow>{A}</matrixrow></matrix>",
            "[M!M-2x2,0[M!R!,0[V!a],1[V!b]],1[M!R!,0[V!a],1[E!]]]",
        ),
        (f"<bvar>{A}</bvar>", "[$!bvar,0[V!a]]"),
        (
            f"<cerror>{symbol('R', 'unknown')}{symbol('n', 'unknown')}{A}</cerror>",
            "[E!,0[T!rn],1[V!a]]",
        ),
        (f"<math>{A}</math>", "[V!a]"),
    ],
)
def test_elements_become_operators(text, string):
    assert read(text) == string


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("<pi/>", "unknown_tag"),
        (f"<semantics>{A}</semantics>", "unknown_tag"),
        (symbol("no-such-thing"), "unknown_tag"),
        (symbol("x", "elsewhere"), "unknown_tag"),
        ("<csymbol>x</csymbol>", "unknown_tag"),
        (symbol("qvar_x", "mws"), "unknown_tag"),
        ('<interval closure="odd"/>', "unknown_tag"),
        ("<apply/>", "missing_child"),
        (apply("<int/>"), "wrong_arity"),
        (apply("<int/>", A, B), "wrong_arity"),
        (apply("<root/>"), "wrong_arity"),
        (apply("<root/>", A, B), "wrong_arity"),
        (f"<list>{A * 501}</list>", "wrong_arity"),
        (f"<math>{A}{B}</math>", "several_roots"),
    ],
)
def test_strict_mode_fails_where_published(text, error):
    with pytest.raises(TreeError, check=lambda e: e.reason == error):
        read(text)


@pytest.mark.parametrize(
    ("text", "string", "reason"),
    [
        ("<pi/>", "[C!pi]", "unknown_tag:pi"),
        ("<product/>", "[O!product]", "unknown_tag:product"),
        ("<true/>", "[C!true]", "unknown_tag:true"),
        (symbol("odd"), "[O!odd]", "unknown_tag:csymbol:odd"),
        (symbol("qvar_x", "mws"), "[?x]", "unknown_tag:csymbol:qvar_x"),
        (f"<semantics>{A}</semantics>", "[V!a]", "unknown_tag:semantics"),
        (f"<lambda>{A}{B}</lambda>", "[O!lambda,0[V!a],1[V!b]]", "unknown_tag:lambda"),
        (apply("<int/>", A, B), "[O!int,0[V!a],1[V!b]]", "wrong_arity:int"),
        (apply("<root/>", A, B), "[O!root,0[V!a],1[V!b]]", "wrong_arity:root"),
        ("<apply/>", "[W!]", "missing_child"),
        ('<interval closure="odd"/>', "[O!interval(C-C)]", "unknown_tag:interval"),
        (f"<math>{A}{B}</math>", "[O!form-seq,0[V!a],1[V!b]]", "several_roots"),
        ("<ci><mtext>if</mtext></ci>", "[T!if]", "presentation_in_identifier"),
        ("<ci><mi>x</mi></ci>", "[V!x]", "presentation_in_identifier"),
        ("<ci><merror>x</merror></ci>", "[E!]", "presentation_in_identifier"),
        (
            "<msup><mi>x</mi><mn>2</mn></msup>",
            "[O!SUP,0[V!x],1[N!2]]",
            "unknown_tag:mi",
        ),
    ],
)
def test_total_mode_bends_and_counts(text, string, reason):
    counter = Counter()
    assert read(text, "total", counter=counter) == string
    assert counter[reason] == 1


def test_wrapper_of_a_matrix_is_dropped_in_total_mode():
    text = apply(symbol("matrix"), f"<matrix><matrixrow>{A}</matrixrow></matrix>")
    with pytest.raises(TreeError, check=lambda e: e.reason == "unknown_tag"):
        read(text)
    assert read(text, "total") == "[M!M-1x1,0[M!R!,0[V!a]]]"


def test_error_below_a_leaf_does_not_count():
    assert read("<ci>x<pi/></ci>") == "[V!x]"


def test_relations_and_sets_have_their_types():
    assert read(symbol("similar-to")) == "[U!similar-to]"
    assert read("<reals/>") == "[C!reals]"


def test_unordered_operator_with_many_operands_is_split():
    tree = opt_from_mathml(apply("<plus/>", A * 501), mode="strict")
    halves = [edge for edge in tree.edges if edge[0] == 0]
    assert len(halves) == 2
    assert tree.nodes.count("V!a") == 501


def test_error_with_many_parts_is_split():
    tree = opt_from_mathml(f"<cerror>{A * 501}</cerror>", mode="strict")
    assert tree.nodes.count("E!") == 3


def test_ordered_node_with_many_children_is_split_in_total_mode():
    counter = Counter()
    tree = opt_from_mathml(f"<list>{A * 1200}</list>", counter=counter)
    assert tree.nodes.count("V!a") == 1200
    assert counter == {"wrong_arity:too_many_children": 1}


def test_matrix_that_would_explode_by_padding_is_refused():
    wide = f"<matrixrow>{A * 400}</matrixrow>"
    with pytest.raises(TreeError, check=lambda e: e.reason == "too_large"):
        read(f"<matrix>{wide}{'<matrixrow/>' * 400}</matrix>")


def test_compat_changes_identifiers_and_symbols():
    assert read("<ci>−</ci>", compat="arqmath") == "[V!-]"
    assert read(symbol("delimited-‖‖"), compat="arqmath") == "[M!D-∥]"


# Chained relations


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


def test_other_shares_are_dropped_in_total_mode():
    counter = Counter()
    tree = opt_from_mathml(chain("#p1"), counter=counter)
    assert tree.to_string() == DROPPED
    assert counter == {"unknown_tag:share": 1}


def test_longer_chains_copy_from_neighbour_to_neighbour():
    text = (
        "<apply><and/><apply><lt/><ci>a</ci><ci>b</ci></apply>"
        "<apply><lt/><share href='#.cmml'/><ci>c</ci></apply>"
        "<apply><leq/><share href='#.cmml'/><ci>d</ci></apply></apply>"
    )
    assert opt_from_mathml(text).nodes == (
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
