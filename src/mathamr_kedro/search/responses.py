"""Response models: what REST, the page, the command line and the assistant return.

A field of an answer is declared here and nowhere else: FastAPI checks answers against
these classes and describes them in ``/openapi.json``; ``mathamr search --json`` prints
the same, and ``str`` gives the lines that terminals and assistants show.

::

    SearchResponse                             PostResponse    ExplainResponse
      query     Sentence ...                     sentences       rows, columns
      results   FoundPost ...                                    similarity, best
                  sentences   ShownSentence                      query, post
                                parts   TextPart | FormulaPart | MentionPart
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TypeAlias

from mathamr_kedro.base.formatting import count_nouns, shorten
from mathamr_kedro.systems.query import WordShare

NOTHING_CLOSE = "nothing close was found; nearest:"
_EXCERPT = 200
"""Letters of the sentences of a post that are shown as a line."""


@dataclass(frozen=True)
class TextPart:
    """Words between formulas."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class FormulaPart:
    """A formula, and what a browser draws."""

    latex: str
    mathml: str | None
    """``None``: it could not be read."""
    key: str | None = None
    """Name of its node in an explanation, such as ``F0``."""

    def __str__(self) -> str:
        return f"${self.latex}$"


@dataclass(frozen=True)
class MentionPart:
    """A formula of the collection."""

    latex: str
    mathml: str | None
    key: str | None
    formula_id: str

    def __str__(self) -> str:
        return f"${self.latex}$"


Part: TypeAlias = TextPart | FormulaPart | MentionPart


def write_parts(parts: Iterable[Part]) -> str:
    """Return parts as text, formulas between dollars.

    >>> write_parts([TextPart("so "), FormulaPart("x^2", None)])
    'so $x^2$'
    """
    return "".join(map(str, parts)).strip()


@dataclass(frozen=True)
class Sentence:
    """A sentence of a query or a post."""

    key: str
    """Name of its node in an explanation, such as ``S1``."""
    new_paragraph: bool
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class ShownSentence(Sentence):
    """A sentence among those chosen from a post."""

    gap: bool
    """Whether sentences before it are not shown."""


@dataclass(frozen=True)
class NodeMatch:
    """A node of the query and its best partner in the post, by their names."""

    query: str
    post: str
    similarity: float


@dataclass(frozen=True)
class SystemShare:
    """What a system gave to a score."""

    system: str
    share: float
    """The shares of all systems add up to the score."""
    score: float | None
    """Its own, before scores were scaled and weighted; ``None``: it did not find the
    post."""
    words: tuple[WordShare, ...] = ()
    """Of a system that compares words: what its own score is the sum of."""


@dataclass(frozen=True)
class PatternBindings:
    """What query variables stand for."""

    whole: bool
    """Whether the whole formula is an instance; else a part of it."""
    bindings: Mapping[str, FormulaPart]

    def __str__(self) -> str:
        what = "an instance" if self.whole else "a part of it"
        found = (f"{name} = {part.latex}" for name, part in self.bindings.items())
        return f"{what}, with {', '.join(found)}"


@dataclass(frozen=True)
class StatementCard:
    """What is known of a post that is a statement."""

    kind: str
    """``theorem``, ``lemma``, ...; ``text``: what is outside of statements."""
    title: tuple[Part, ...]
    """As a book prints it: *Lemma 4.7 (Euclid)*."""
    section: tuple[Part, ...]
    used_by: int
    """Number of statements whose proofs cite it."""
    file: str
    place: str
    """Line of the file."""
    url: str
    """Address on the web; may be empty."""

    def __str__(self) -> str:
        parts = (write_parts(part) for part in (self.title, self.section))
        place = ", ".join(filter(None, parts))
        users = f"; used by {count_nouns(self.used_by, 'statement')}"
        return place + users if self.used_by else place


@dataclass(frozen=True)
class NamedStatement:
    """A statement that another one is linked with."""

    post_id: str
    title: tuple[Part, ...]


@dataclass(frozen=True)
class StatementSheet(StatementCard):
    """A statement with its proof and its neighbours."""

    chapter: tuple[Part, ...]
    proof: tuple[tuple[Part, ...], ...]
    """Paragraphs; none if it is not known."""
    uses: tuple[NamedStatement, ...]
    users: tuple[NamedStatement, ...]


@dataclass(frozen=True)
class FoundPost:
    """One post that was found."""

    rank: int
    post_id: str
    score: float
    type: str
    title: tuple[Part, ...]
    matches: tuple[NodeMatch, ...]
    parts: tuple[SystemShare, ...]
    pattern: PatternBindings | None
    same: float | None = None
    """Of a search for a formula: how much of it is as in the one that was found."""
    tags: tuple[str, ...] = ()
    """Of the post, or of the question that it answers."""
    date: str | None = None
    votes: int | None = None
    sentences: tuple[ShownSentence, ...] = ()
    """Those that hold what matched; the first ones of a statement."""
    statement: StatementCard | None = None
    closeness: float | None = None
    """From 0 to 1: the chance that the post answers the question."""
    close: str | None = None
    """The same in a word: the same, close, related, far."""

    def __str__(self) -> str:
        what = self.statement or f"{self.type}  {write_parts(self.title)}"
        head = f"{self.rank}. {self.post_id}  {self._write_score()}  {what}".rstrip()
        shown = (f"{'… ' * s.gap}{write_parts(s.parts)}" for s in self.sentences)
        text, formula = shorten(" ".join(shown), _EXCERPT), self._write_formula()
        second = "  in: ".join(filter(None, (formula, text)))
        return f"{head}\n   {second}" if second else head

    def _write_score(self) -> str:
        if self.same is not None:
            return f"{100 * self.same:.0f} % the same"
        if self.closeness is not None:
            return f"{self.closeness:.2f} {self.close}"
        return f"{self.score:.4f}"

    def _write_formula(self) -> str:
        """Return the formula that was searched for as it was found, if one was."""
        if self.pattern is not None:
            return str(self.pattern)
        key = self.matches[0].post if self.same is not None else None
        parts = (part for sentence in self.sentences for part in sentence.parts)
        named = (part for part in parts if not isinstance(part, TextPart))
        return next((str(part) for part in named if key and part.key == key), "")


@dataclass(frozen=True)
class SearchResponse:
    """What a search found, best first."""

    query: tuple[Sentence, ...]
    """As it was read."""
    warnings: tuple[str, ...]
    results: tuple[FoundPost, ...]
    did_you_mean: str | None = None
    """The question with its typos corrected, if it has some."""
    nothing_close: bool = False
    """Whether all results are far: they are only the nearest ones."""

    def list_notes(self) -> list[str]:
        """Return what is said above the results."""
        asked = [f"did you mean: {self.did_you_mean}"] if self.did_you_mean else []
        return [*asked, NOTHING_CLOSE] if self.nothing_close else asked

    def __str__(self) -> str:
        warnings = [f"note: {warning}" for warning in self.warnings]
        lines = [*warnings, *self.list_notes(), *map(str, self.results)]
        return "\n".join(lines) or "Nothing was found."

    def to_json(self) -> str:
        """Return it as the server sends it."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)


@dataclass(frozen=True)
class PostResponse:
    """A whole post."""

    post_id: str
    type: str
    title: tuple[Part, ...]
    tags: tuple[str, ...]
    date: str | None
    votes: int | None
    question_id: str | None
    sentences: tuple[Sentence, ...]
    statement: StatementSheet | None = None


@dataclass(frozen=True)
class LabelledNode:
    """A row or column of an explanation."""

    key: str
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return f"{self.key} {write_parts(self.parts)}".rstrip()


@dataclass(frozen=True)
class ScoreTerm:
    """A part of a query and its partner in a post: ``weight * similarity``."""

    query: tuple[Part, ...]
    post: tuple[Part, ...]
    in_question: bool
    """Whether the partner is in the question that the post answers."""
    share: float
    weight: float
    similarity: float


@dataclass(frozen=True)
class ExplainResponse:
    """Why a post was found."""

    score: float
    """That of the search."""
    reasons: tuple[tuple[Part, ...], ...]
    """Sentences: what both have in common."""
    parts: tuple[SystemShare, ...]
    """What each system gave to the score."""
    terms: tuple[ScoreTerm, ...]
    """What the own score of the first system that compares vectors is the sum of."""
    maxsim: float
    """Mean over the rows of the best similarity."""
    rows: tuple[LabelledNode, ...]
    columns: tuple[LabelledNode, ...]
    similarity: tuple[tuple[float, ...], ...]
    best: tuple[int, ...]
    """Column of each row."""
    query: tuple[Sentence, ...]
    post: PostResponse


@dataclass(frozen=True)
class GraphPictures:
    """The math graphs of a query and a post as SVG; ``None``: none, or too large."""

    query: str | None
    post: str | None


@dataclass(frozen=True)
class DrawnExplainResponse(ExplainResponse):
    """An explanation with both graphs."""

    graphs: GraphPictures


@dataclass(frozen=True)
class RenderResponse:
    """A preview of what is being typed."""

    parts: tuple[Part, ...]
    mathml: str | None


@dataclass(frozen=True)
class TreesResponse(FormulaPart):
    """A formula with its trees as SVG; ``None``: none, or too large."""

    slt: str | None = None
    opt: str | None = None
    problems: tuple[str, ...] = ()
    """What was hard to read."""


@dataclass(frozen=True)
class SystemName:
    """A system that can be asked."""

    name: str
    kind: str
    """``not prepared``: asked, it answers with the command that prepares it."""
    label: str | None = None
    """Plain name of one of the few that people choose from; ``None``: of the rest."""


@dataclass(frozen=True)
class SystemsResponse:
    """What can be asked, and what is asked by default."""

    posts: int
    default: str
    systems: tuple[SystemName, ...]
    formula_default: str
    formula_systems: tuple[SystemName, ...]
    can_write: bool = False
    kinds: tuple[str, ...] = ()
    """Kinds of statements, the most frequent first."""
    examples: tuple[str, ...] = ()
    """Questions that fit the collection, if it has names to search for."""


@dataclass(frozen=True)
class SkippedPost:
    """A post that could not be added, or only a part of it."""

    id: str
    problem: str


@dataclass(frozen=True)
class AddResponse:
    """Ids of posts that were added."""

    added: tuple[str, ...]
    replaced: tuple[str, ...]
    failures: tuple[SkippedPost, ...]
    unchanged: tuple[str, ...] = ()
    """Were there already, with the same text: nothing was to be done."""
    cut: tuple[SkippedPost, ...] = ()
    """Posts that are too long: only their beginnings were added."""


@dataclass(frozen=True)
class DeleteResponse:
    """Ids of posts that were deleted."""

    deleted: tuple[str, ...]


@dataclass(frozen=True)
class HealthResponse:
    """Whether the server can answer."""

    status: str
    """``ok`` or ``failing``."""
    version: str
    posts: int
    problem: str | None = None
    """Why the index cannot be opened."""


@dataclass(frozen=True)
class ErrorResponse:
    """What was wrong with a request, in one line."""

    detail: str
