"""Read the lexicon: frames with their core roles, and nouns derived from verbs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from mathamr_kedro.amr.builtin.words import Lexicon, strip_sense


def read_lexicon(folder: Path) -> Lexicon:
    """Read the list of frames and the list of derived nouns."""
    frames = folder / "propbank-amr-frames-arg-descr.txt"
    nouns = folder / "morph-verbalization-v1.01.txt"
    derived, actors = read_derivations(nouns.read_text("utf-8").splitlines())
    return Lexicon(read_frames(frames.read_text("utf-8").splitlines()), derived, actors)


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
