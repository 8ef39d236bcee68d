"""The skeleton of a sentence: its dependency tree turned towards AMR.

```
FORMULA_0 is even and can be halved        and
                                     op1 ╱   ╲ op2
                                     even     can
                             cop:nsubj │       │ modal
                                FORMULA_0    halve
```

Copulas are replaced by their predicate, conjunctions and modals move above their parts,
and words that open a clause (because, when) move between the clauses like prepositions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import MODALS, QUESTION_WORDS

_PREDICATES = frozenset({"attr", "acomp"})
_JOINTS = frozenset(
    "because since although though unless until while whereas before after as once "
    "so when whenever where than like except despite hence therefore".split()
)  # fmt: skip
_OPENERS = frozenset(
    "but and or so thus therefore hence however nevertheless consequently yet".split()
)
_NOUNS = frozenset({"NOUN", "PROPN", "PRON"})
_ARGUMENTS = (
    ("s", frozenset({"nsubj", "nsubjpass"})),
    ("S", frozenset({"cop:nsubj"})),
    ("p", frozenset({"nsubjpass", "auxpass"})),
    ("o", frozenset({"dobj"})),
    ("x", frozenset({"xcomp"})),
    ("c", frozenset({"ccomp"})),
    ("n", frozenset({"neg"})),
)
_BARE_JOINTS = frozenset({",", ";"})


class Skeleton:
    """A tree over the tokens; every list is indexed by token.

    Attributes:
        tokens: the tokens of the sentence.
        words: their lower-case forms.
        parents: position of the governor, -1 for the root.
        labels: relation to the governor.
        children: positions of the dependents, in order.
        root: position of the root.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.words = [token.form.lower() for token in tokens]
        self.parents = [token.head for token in tokens]
        self.labels = [token.dep for token in tokens]
        self._children_of: list[list[int]] | None = None
        self.root = 0
        self._join_roots()
        for rewrite in (
            self._unload_auxiliaries,
            self._attach_conditions,
            self._promote_predicates,
            self._raise_conjunctions,
            self._raise_modals,
            self._raise_openers,
            self._lower_clauses,
        ):
            self._keep_tree(rewrite)

    @property
    def children(self) -> list[list[int]]:
        """Dependents of each token, computed again after each change."""
        if self._children_of is None:
            lists: list[list[int]] = [[] for _ in self.tokens]
            for i, parent in enumerate(self.parents):
                if parent >= 0:
                    lists[parent].append(i)
            self._children_of = lists
        return self._children_of

    def is_condition(self, i: int) -> bool:
        """Tell whether a token heads a clause that ``if`` opens."""
        return any(
            self.labels[c] == "mark" and self.words[c] == "if" for c in self.children[i]
        )

    @property
    def is_asked(self) -> bool:
        """Tell whether the sentence ends with a question mark."""
        return "?" in self.words[-3:]

    def describe_arguments(self, i: int) -> str:
        """Return one letter per kind of argument a token has.

        s subject, S subject of a copula, p passive, o object, x, c clauses, n negation
        """
        labels = {self.labels[c] for c in self.children[i]}
        return "".join(letter for letter, names in _ARGUMENTS if labels & names)

    def list_ancestors(self, i: int) -> list[int]:
        """Return a token and its governors up to the root."""
        chain = [i]
        while self.parents[chain[-1]] >= 0:
            chain.append(self.parents[chain[-1]])
        return chain

    def find_head(self, span: Sequence[int]) -> int:
        """Return the token of a span whose governor is outside of it."""
        return next((i for i in span if self.parents[i] not in span), span[-1])

    def _keep_tree(self, rewrite: Callable[[], None]) -> None:
        """Rewrite, unless that breaks the tree; then leave it unchanged."""
        # Rules assume well-formed trees; parses of odd sentences can turn a move into a
        # cycle.
        before = self.root, self.parents[:], self.labels[:]
        rewrite()
        if self.parents != before[1] and not self._is_tree():
            self.root, self.parents, self.labels = before
            self._children_of = None

    def _is_tree(self) -> bool:
        reached = [self.root] if self.parents[self.root] < 0 else []
        for i in reached:
            reached += self.children[i]
        return len(reached) == len(self.tokens)

    def _move(self, i: int, parent: int, label: str) -> None:
        self.parents[i] = parent
        self.labels[i] = label
        self._children_of = None

    def _join_roots(self) -> None:
        """Attach further roots, which run-on sentences have, to the first."""
        # spaCy returns a root for each sentence that it sees in the text.
        roots = [i for i, parent in enumerate(self.parents) if parent < 0]
        self.root = roots[0]
        for i in roots[1:]:
            self._move(i, self.root, "parataxis")

    def _unload_auxiliaries(self) -> None:
        """Move the dependents of an auxiliary to its verb."""
        for i, parent in enumerate(self.parents):
            if parent >= 0 and self.labels[parent] in ("aux", "auxpass"):
                self._move(i, self.parents[parent], self.labels[i])

    def _attach_conditions(self) -> None:
        """Attach ``such that ...`` to the noun before it."""
        for i, word in enumerate(self.words[:-2]):
            if word != "such" or self.words[i + 1] != "that":
                continue
            noun = next(
                (n for n in range(i - 1, -1, -1) if self.tokens[n].pos in _NOUNS), -1
            )
            if noun >= 0 and self.labels[noun] == "formula":
                noun = self.parents[noun]
            # The parser attaches "that" to the verb of the clause, or else "such".
            clause = self.parents[i + 1]
            if clause < i + 2:
                clause = self.parents[i]
            while self.parents[clause] > i + 1:
                clause = self.parents[clause]
            if noun < 0 or clause < i + 2:
                continue
            if {i, i + 1} & set(self.list_ancestors(noun)):
                continue
            if clause in self.list_ancestors(noun):
                top = noun
                while self.parents[top] != clause:
                    top = self.parents[top]
                self._replace(clause, top)
            self._move(i, noun, "suchthat")
            self._move(i + 1, i, "mark")
            self._move(clause, i, "clause")

    def _replace(self, i: int, new: int) -> None:
        """Put ``new``, a descendant of ``i``, in the place of ``i``."""
        self._move(new, self.parents[i], self.labels[i])
        if self.root == i:
            self.root = new

    def _promote_predicates(self) -> None:
        for i, token in enumerate(self.tokens):
            if token.lemma != "be" or token.dep in ("aux", "auxpass"):
                continue
            children = self.children[i]
            predicates = [c for c in children if self.labels[c] in _PREDICATES]
            if not predicates:
                continue
            # "What is the limit" asks for the predicate: the subject carries the
            # sentence.
            asked = [c for c in predicates if self.words[c] in QUESTION_WORDS]
            subjects = [c for c in children if self.labels[c] == "nsubj"]
            new = predicates[0]
            if asked and asked[0] == new and subjects:
                new = subjects[0]
            label = self.labels[new]
            self._replace(i, new)
            for c in children:
                if c != new:
                    prefix = "cop:" if self.labels[c] in ("nsubj", *_PREDICATES) else ""
                    self._move(c, new, prefix + self.labels[c])
            self._move(i, new, "cop" if label != "nsubj" else "cop:asked")

    def _raise_conjunctions(self) -> None:
        for first in range(len(self.tokens)):
            # Members are collected from the first one; the others were handled with it.
            if self.labels[first].startswith(("conj", "op")):
                continue
            members, joints = self._collect_conjuncts(first)
            if len(members) < 2 or not joints:
                continue
            joint = joints[-1]
            self._replace(first, joint)
            for extra in joints[:-1]:
                self._move(extra, joint, "cc")
            for n, member in enumerate(members, start=1):
                self._move(member, joint, f"op{n}")

    def _raise_openers(self) -> None:
        """Put a conjunction that opens a clause (But ..., And ...) above the clause."""
        for i, label in reversed(list(enumerate(self.labels))):
            parent = self.parents[i]
            if (
                i >= parent
                or label not in ("cc", "advmod")
                or self.words[i] not in _OPENERS
            ):
                continue
            if label == "advmod" and self.tokens[i].head < i:
                continue
            if label == "advmod" and not self._opens(i):
                continue
            self._replace(parent, i)
            self._move(parent, i, "opened")

    def _opens(self, i: int) -> bool:
        """Tell whether only punctuation and conjunctions precede it in its clause."""
        while i > 0:
            i -= 1
            if self.tokens[i].pos == "PUNCT":
                return True
            if self.tokens[i].pos != "CCONJ":
                return False
        return True

    def _collect_conjuncts(self, first: int) -> tuple[list[int], list[int]]:
        """Return the members of a coordination in order, and what joins them."""
        members, joints, commas = [first], [], []
        queue = [first]
        for i in queue:
            for c in self.children[i]:
                if self.labels[c] == "conj":
                    members.append(c)
                    queue.append(c)
                elif self.labels[c] == "cc" and c > first:
                    joints.append(c)
                elif self.labels[c] == "punct" and self.words[c] in _BARE_JOINTS:
                    commas.append(c)
        members.sort()
        between = [c for c in commas if first < c < members[-1]]
        return members, joints or between[:1]

    def _raise_modals(self) -> None:
        for i, token in enumerate(self.tokens):
            verb = self.parents[i]
            if token.tag != "MD" or verb < 0 or self.words[i] not in MODALS:
                continue
            if self.labels[i] != "aux" or self.labels[verb] == "modal":
                continue
            self._replace(verb, i)
            self._move(verb, i, "modal")

    def _lower_clauses(self) -> None:
        """Put words like ``because`` between a clause and what it depends on."""
        for i in range(len(self.tokens)):
            clause = self.parents[i]
            if (
                clause < 0
                or self.labels[i] not in ("mark", "advmod")
                or self.words[i] not in _JOINTS
                or self.labels[clause]
                not in ("advcl", "relcl", "acl", "ccomp", "pcomp")
                or i > clause
            ):
                continue
            self._replace(clause, i)
            self._move(clause, i, "clause")
