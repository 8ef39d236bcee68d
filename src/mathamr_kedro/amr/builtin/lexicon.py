"""Frames, their core roles, and nouns made of verbs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mathamr_kedro.amr.builtin.words import strip_sense


@dataclass(frozen=True)
class Lexicon:
    """What is known of predicates, apart from the corpora.

    ``frames`` maps a frame to the digits of its core roles: ``{"prove-01": "012"}``.
    ``derived`` maps a noun to the verbs it is made of, ``actors`` a noun to the verb
    whose ARG0 it is.
    """

    frames: Mapping[str, str]
    derived: Mapping[str, tuple[str, ...]]
    actors: Mapping[str, tuple[str, ...]]
    senses: Mapping[str, tuple[str, ...]] = field(init=False)
    """Lemma, or lemma and particle, to its frames in order of number."""

    def __post_init__(self) -> None:
        senses: dict[str, list[str]] = defaultdict(list)
        for frame in sorted(self.frames):
            senses[strip_sense(frame)].append(frame)
        object.__setattr__(
            self, "senses", {lemma: tuple(found) for lemma, found in senses.items()}
        )

    def find_frames(self, lemma: str, particle: str = "") -> tuple[str, ...]:
        """Return the frames of a verb, or of a verb with its particle."""
        return self.senses.get(f"{lemma}-{particle}" if particle else lemma, ())


def read_frames(lines: Iterable[str]) -> dict[str, str]:
    """Read ``frame  ARG0: description  ARG1: description`` lines.

    >>> read_frames(["prove-01  ARG0: prover  ARG1: proposition", "# note"])
    {'prove-01': '01'}
    """
    frames: dict[str, str] = {}
    for line in lines:
        words = line.split()
        if not words or strip_sense(words[0]) == words[0]:
            continue
        roles = {w[3] for w in words[1:] if w.startswith("ARG") and w[4:] == ":"}
        frames[words[0]] = "".join(sorted(roles & set("0123456")))
    return frames


def read_derivations(
    lines: Iterable[str],
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Read ``::DERIV-VERB "a" ::DERIV-NOUN "b"`` lines into derived nouns and actors.

    >>> read_derivations(['::DERIV-VERB "prove" ::DERIV-NOUN-ACTOR "prover"'])
    ({}, {'prover': ('prove',)})
    """
    found: dict[str, dict[str, list[str]]] = {
        "DERIV-NOUN": defaultdict(list),
        "DERIV-NOUN-ACTOR": defaultdict(list),
    }
    for line in lines:
        verb = ""
        for part in line.split("::")[1:]:
            key, _, word = part.strip().partition(" ")
            word = word.strip('"')
            if key == "DERIV-VERB":
                verb = word
            elif key in found and verb:
                found[key][word].append(verb)
    nouns, actors = (
        {noun: tuple(verbs) for noun, verbs in table.items()}
        for table in found.values()
    )
    return nouns, actors
