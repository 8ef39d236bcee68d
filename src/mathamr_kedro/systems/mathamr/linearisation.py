r"""Math graphs as strings: sentence by sentence, depth first, without edge labels.

::

    (f / find-01                             find-01 you thing plus SUP 𝑦 𝑛 SUP 𝑥 𝑛
      :mode imperative                       imperative
      :ARG0 (y / you)
      :ARG1 (t / thing
        :mod (e / FORMULA_0
          :opt (F0o0 / U!plus                roles in the order of their names: ARG0,
            :0 (F0o1 / O!SUP ...)            ARG1, mode; equal ones last first: 𝑦, 𝑥
            :0 (F0o4 / O!SUP ...)))))

A placeholder is replaced by the operator tree of its formula (:math:`\texttt{:math}`,
:math:`\texttt{:opX}`), or by its LaTeX. Each node is written once: a second mention is
a re-entrancy. The order is that of the strings that the authors published
(Mansouri, Oard and Zanibbi 2022, section 4).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial

from mathamr_kedro.formula.graphs import read_concept
from mathamr_kedro.graph.math_graph import (
    MATH_ROLE,
    OPT_ROLE,
    SLT_ROLE,
    MathGraph,
)
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.sentences import Sentences

_PART_ROLES = frozenset({OPT_ROLE, SLT_ROLE, MATH_ROLE})


class LinearGraph:
    """A math graph, ready to be written sentence by sentence.

    Args:
        graph: with or without trees of formulas.
        latex: of formulas by number; it is written in place of their trees.
    """

    def __init__(
        self, graph: MathGraph, latex: Mapping[int, str] | None = None
    ) -> None:
        self._graph, self._latex = graph, latex
        self._parts = {part.node: part for part in graph.formulas}
        self._trees = {node for part in graph.formulas for node in part.opt}
        layouts = {node for part in graph.formulas for node in part.slt}
        self._lines: list[list[tuple[str, int]]] = [[] for _ in graph.atoms]
        self._holders: dict[int, list[int]] = {}
        for holder, role, target in graph.lines:
            if target not in layouts:
                self._lines[holder].append((role, target))
            if holder and target not in self._trees:
                self._holders.setdefault(target, []).append(holder)

    def write(self) -> str:
        """Return the whole graph."""
        return " ".join(self._walk(0, range(self._graph.num_nodes)))

    def write_sentences(self) -> dict[int, str]:
        """Return the sentence of each formula, by number.

        A formula that two sentences name belongs to the first; one that the AMR lost
        to the sentence of the formula before it, whose root it hangs from.
        """
        sentences = Sentences.of(self._graph)
        formulas = self._graph.formulas
        home: dict[int, int] = {}  # place in the list to sentence
        here = 0
        for kind, place in sentences.order_with(formulas):
            if kind == "sentence":
                here = place
            else:
                home[place] = here
        lost: dict[int, list[int]] = {}
        for place, part in enumerate(formulas):
            if part.is_lost:
                lost.setdefault(home[place], []).append(part.node)
        texts: dict[int, str] = {}
        for sentence in set(home.values()):
            members = frozenset(sentences.members[sentence])
            root, own = sentences.roots[sentence], lost.get(sentence, [])
            texts[sentence] = " ".join(self._walk(root, members, own))
        return {formulas[place].number: texts[s] for place, s in home.items()}

    def _walk(
        self, root: int, members: Container[int], lost: Sequence[int] = ()
    ) -> list[str]:
        """Return the words of some nodes and of the trees of their formulas.

        If sentences share nodes, some of a sentence may hang from no other node of
        it, but hold one: those follow behind.
        """
        words: list[str] = []
        written: dict[int, None] = {}  # in order
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node in written:
                continue
            written[node] = None
            words += self._spell(node)
            lines = [line for line in self._lines[node] if self._leads(line, members)]
            if node == root:
                lines += [(MATH_ROLE, other) for other in lost]
            # A stack is taken from its end: descending roles, equal ones as they are.
            lines.sort(key=partial(self._order, node), reverse=True)
            waiting += [target for _, target in lines]
            if not waiting:
                waiting = self._find_holder(written, members)
        return words

    def _leads(self, line: tuple[str, int], members: Container[int]) -> bool:
        if line[1] in self._trees:
            return self._latex is None
        return line[1] in members

    def _find_holder(
        self, written: Mapping[int, None], members: Container[int]
    ) -> list[int]:
        """Return the first node that is left and holds a line to one that is not."""
        for node in written:
            for holder in self._holders.get(node, ()):
                if holder in members and holder not in written:
                    return [holder]
        return []

    def _spell(self, node: int) -> list[str]:
        atom = self._graph.atoms[node]
        if node in self._trees:
            concept = read_concept(read_label(atom))[1]
            return [concept] if concept else []
        part = self._parts.get(node)
        if part is None:  # the published strings are in lower case, quotes stay
            return [(atom if atom.startswith('"') else read_label(atom)).lower()]
        if self._latex is not None:
            return [self._latex[part.number]] if self._latex.get(part.number) else []
        return []

    def _order(self, node: int, line: tuple[str, int]) -> tuple[int, str]:
        role = line[0]
        if node in self._trees:  # operands by number, as the trees themselves
            return int(role.removeprefix("op")), ""
        is_tree = node in self._parts and role in _PART_ROLES
        return 0, MATH_ROLE if is_tree else role.lower()
