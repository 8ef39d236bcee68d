"""What the form of a sentence says: commands and questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.words import MODALS
from mathamr_kedro.amr.graphs import AMRGraph, Attribute, Edge
from mathamr_kedro.amr.merging import VariableNames

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "cop:nsubj", "csubj", "expl"})


def find_commands(skeleton: Skeleton) -> list[int]:
    """Return the verbs that tell somebody to do something.

    These are bare verbs without subject at the root, or joined with one there.
    """
    heads = [skeleton.root]
    commands: list[int] = []
    for i in heads:
        if _is_command(skeleton, i):
            commands.append(i)
        for c in skeleton.children[i]:
            if skeleton.labels[c] == "opened":
                heads.append(c)
            elif skeleton.labels[c].startswith("op"):
                heads.append(c)
                if not _can_precede_command(skeleton, c):
                    break
    return commands


def _can_precede_command(skeleton: Skeleton, i: int) -> bool:
    """Tell whether a bare verb after it can be a command: not in "I can add and X"."""
    return skeleton.tokens[i].tag != "MD" or skeleton.words[i] not in MODALS


def _is_command(skeleton: Skeleton, i: int) -> bool:
    if skeleton.tokens[i].tag != "VB":
        return False
    children = skeleton.children[i]
    labels = {skeleton.labels[c] for c in children}
    helpers = {skeleton.words[c] for c in children if skeleton.labels[c] == "aux"}
    is_forbidden = helpers == {"do"} and "neg" in labels and not skeleton.is_asked
    return not labels & _SUBJECTS and (not helpers or is_forbidden)


def is_yes_no_question(skeleton: Skeleton) -> bool:
    """Tell whether a question mark follows a verb that stands before its subject."""
    if not skeleton.is_asked:
        return False
    for i, token in enumerate(skeleton.tokens):
        if token.dep in ("nsubj", "nsubjpass", "expl"):
            return token.tag not in ("WP", "WDT") and any(
                other.pos == "AUX" and token.head in (other.head, n)
                for n, other in enumerate(skeleton.tokens[:i])
            )
    return False


def add_moods(
    graph: AMRGraph,
    skeleton: Skeleton,
    variables: Mapping[int, Sequence[str]],
    names: VariableNames,
) -> AMRGraph:
    """Add ``:mode imperative`` with its ``you``, or what a yes-no question asks."""
    nodes = dict(graph.nodes)
    edges = list(graph.edges)
    attributes = list(graph.attributes)
    for i in find_commands(skeleton):
        if i not in variables:
            continue
        verb = variables[i][-1]
        you = next((v for v, concept in nodes.items() if concept == "you"), None)
        if you is None:
            you = names.make("you")
            nodes[you] = "you"
        attributes.append(Attribute(verb, "mode", "imperative"))
        edges.append(Edge(verb, "ARG0", you))
    if is_yes_no_question(skeleton) and "amr-unknown" not in nodes.values():
        unknown = names.make("amr-unknown")
        nodes[unknown] = "amr-unknown"
        edges.append(Edge(graph.top, "polarity", unknown))
    return AMRGraph(graph.top, nodes, edges, attributes)
