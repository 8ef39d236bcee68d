"""Learn the tables of the builtin parser.

Run as::

    python -m mathamr_kedro.amr.builtin.fit --corpora ../shared/collection/amr

The corpora are The Little Prince, QALD-9-AMR and Bio AMR, of which the training splits
are read, and our own sentences of mathematical prose, beside this file. The same input
gives the same tables, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mathamr_kedro.amr.builtin.alignment import align, learn_associations
from mathamr_kedro.amr.builtin.assembly import make_fragments
from mathamr_kedro.amr.builtin.concepts import (
    NAME,
    NOTHING,
    VALUES,
    describe_context,
    find_candidates,
    list_features,
    make_key,
)
from mathamr_kedro.amr.builtin.corpora import AnnotatedSentence, read_corpus, read_split
from mathamr_kedro.amr.builtin.lexicon import Lexicon, read_derivations, read_frames
from mathamr_kedro.amr.builtin.linear import fit_classifier, fit_ranker
from mathamr_kedro.amr.builtin.names import describe_name
from mathamr_kedro.amr.builtin.observation import Observation, observe
from mathamr_kedro.amr.builtin.relations import (
    BACKWARD,
    NO_EDGE,
    Reduced,
    collect_facts,
    describe_pair,
    describe_top,
)
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import load_model, parse_sentences
from mathamr_kedro.amr.builtin.tables import (
    FOLDER,
    pack_classifier,
    pack_ranker,
    write_table,
)

logger = logging.getLogger(__name__)

PROSE = Path(__file__).parent / "mathematical_prose.txt"
WEIGHTS = {"prose": 2.0, "lpp": 1.0, "qald9": 1.0, "bio": 0.3}
"""Importance of the corpora: the nearer to posts, the more a sentence counts."""

_SMALLEST_WEIGHT = 0.06
_SMALLEST_ASSOCIATION = 0.15
_RARE_ROLE = 3
_RARE_SHARE = 0.02
"""Labels that are less than this share of a word's labels are forgotten."""


class Example(NamedTuple):
    """A training sentence, taken apart."""

    corpus: str
    skeleton: Skeleton
    observation: Observation


def read_lexicon(folder: Path) -> Lexicon:
    """Read the list of frames and the list of derived nouns."""
    frames = folder / "propbank-amr-frames-arg-descr.txt"
    nouns = folder / "morph-verbalization-v1.01.txt"
    derived, actors = read_derivations(nouns.read_text("utf-8").splitlines())
    return Lexicon(read_frames(frames.read_text("utf-8").splitlines()), derived, actors)


def take_apart(
    corpora: Mapping[str, Sequence[AnnotatedSentence]], lexicon: Lexicon
) -> list[Example]:
    """Parse, align and observe all sentences."""
    names = [name for name, sentences in corpora.items() for _ in sentences]
    items = [item for sentences in corpora.values() for item in sentences]
    parses = list(parse_sentences([item.text for item in items]))
    first = [
        (tokens, item.graph, align(tokens, item.graph, lexicon, {}))
        for tokens, item in zip(parses, items, strict=True)
    ]
    associations = {
        pair: strength
        for pair, strength in learn_associations(first).items()
        if strength > _SMALLEST_ASSOCIATION
    }
    examples: list[Example] = []
    for name, tokens, item in zip(names, parses, items, strict=True):
        skeleton = Skeleton(tokens)
        alignment = align(tokens, item.graph, lexicon, associations)
        examples.append(
            Example(name, skeleton, observe(skeleton, item.graph, alignment))
        )
    return examples


def remember(examples: Sequence[Example]) -> dict[str, dict[str, float]]:
    """Count the labels of words; of biology only plain concepts are remembered."""
    memory: dict[str, Counter[str]] = defaultdict(Counter)
    for corpus, skeleton, observation in examples:
        for i, token in enumerate(skeleton.tokens):
            label = observation.labels.get(i, NOTHING)
            if corpus == "bio" and (label == NAME or label.startswith("(")):
                continue
            memory[make_key(token)][label] += WEIGHTS[corpus]  # type: ignore[assignment]
    return {
        key: {
            label: round(count, 1)
            for label, count in labels.items()
            if count >= _RARE_SHARE * labels.total()
        }
        for key, labels in memory.items()
    }


def list_concept_choices(
    examples: Sequence[Example],
    lexicon: Lexicon,
    memory: Mapping[str, Mapping[str, float]],
) -> Iterator[tuple[list[list[str]], int, float]]:
    """Yield features of all candidates, the right one and the weight of each choice.

    A token's own count is taken out of the memory first: what is remembered then looks
    as it will for a new sentence.
    """
    for corpus, skeleton, observation in examples:
        weight = WEIGHTS[corpus]
        for i, token in enumerate(skeleton.tokens):
            gold = observation.labels.get(i, NOTHING)
            remembered = dict(memory.get(make_key(token), {}))
            candidates = find_candidates(skeleton, i, lexicon, remembered)
            if len(candidates) == 1 or gold not in candidates:
                continue
            remembered[gold] = remembered.get(gold, 0.0) - weight
            contexts = describe_context(skeleton, i)
            features = list_features(token, contexts, candidates, remembered)
            yield features, list(candidates).index(gold), weight


class StructureExamples(NamedTuple):
    """What the models of structure learn from."""

    pairs: list[tuple[list[str], str, float]]
    tops: list[tuple[list[list[str]], int, float]]
    names: list[tuple[list[str], str]]


def list_structures(examples: Sequence[Example], lexicon: Lexicon) -> StructureExamples:
    """Collect labelled pairs, choices of the top, and names with their types."""
    result = StructureExamples([], [], [])
    for corpus, skeleton, observation in examples:
        weight = WEIGHTS[corpus]
        labels = [
            observation.labels.get(i, NOTHING) for i in range(len(skeleton.tokens))
        ]
        spans = {head: span for head, (_, span) in observation.names.items()}
        types = {head: kind for head, (kind, _) in observation.names.items()}
        if corpus != "bio":
            result.names.extend(
                (describe_name(skeleton, span), types[head])
                for head, span in spans.items()
            )
        fragments = make_fragments(skeleton, labels, spans, types)
        reduced = Reduced(skeleton, fragments)
        facts = collect_facts(skeleton, fragments, lexicon)
        for pair in reduced.list_pairs():
            label = _find_label(observation, pair.upper, pair.lower)
            result.pairs.append((describe_pair(pair, facts), label, weight))
        nodes = [i for i, f in fragments.items() if f.concept not in VALUES]
        if observation.top in nodes:
            features = [describe_top(i, reduced, facts) for i in nodes]
            result.tops.append((features, nodes.index(observation.top), weight))
    return result


def _find_label(observation: Observation, upper: int, lower: int) -> str:
    forward = observation.edges.get((upper, lower))
    if forward is not None:
        return forward
    backward = observation.edges.get((lower, upper))
    return NO_EDGE if backward is None else backward + BACKWARD


def fit(corpora: Path, out: Path, seed: int = 0) -> None:
    """Learn all tables and write them to ``out``."""
    lexicon = read_lexicon(corpora / "lexicon")
    sentences = {"prose": list(read_corpus(PROSE))}
    for corpus in ("lpp", "qald9", "bio"):
        sentences[corpus] = read_split(corpora, corpus, "train")
    provenance = _describe_provenance(corpora, sentences, seed)
    examples = take_apart(sentences, lexicon)
    logger.info("Took %d sentences apart", len(examples))
    memory = remember(examples)
    write_table(out, "memory", {"words": memory}, provenance)
    table = {
        "frames": dict(lexicon.frames),
        "derived": dict(lexicon.derived),
        "actors": dict(lexicon.actors),
    }
    write_table(out, "lexicon", table, provenance)
    groups, targets, weights = zip(
        *list_concept_choices(examples, lexicon, memory), strict=True
    )
    ranker = fit_ranker(groups, targets, weights, minimum=3, decay=1e-3, seed=seed)
    write_table(out, "concepts", pack_ranker(ranker, _SMALLEST_WEIGHT), provenance)
    logger.info("Learned concepts from %d choices", len(groups))
    _fit_structure(list_structures(examples, lexicon), out, provenance, seed)


def _fit_structure(
    structures: StructureExamples, out: Path, provenance: Mapping[str, Any], seed: int
) -> None:
    counts = Counter(label for _, label, _ in structures.pairs)
    kept = [pair for pair in structures.pairs if counts[pair[1]] >= _RARE_ROLE]
    features, labels, weights = zip(*kept, strict=True)
    relations = fit_classifier(
        features, labels, weights, minimum=3, decay=1e-4, seed=seed
    )
    table = pack_classifier(relations, _SMALLEST_WEIGHT)
    write_table(out, "relations", table, provenance)
    logger.info("Learned relations from %d pairs", len(kept))
    groups, targets, weights = zip(*structures.tops, strict=True)
    tops = fit_ranker(groups, targets, weights, decay=1e-4, seed=seed)
    write_table(out, "tops", pack_ranker(tops, _SMALLEST_WEIGHT), provenance)
    features, labels = zip(*structures.names, strict=True)
    names = fit_classifier(features, labels, decay=1e-4, seed=seed)
    write_table(out, "names", pack_classifier(names, _SMALLEST_WEIGHT), provenance)


def _describe_provenance(
    corpora: Path, sentences: Mapping[str, Sequence[AnnotatedSentence]], seed: int
) -> dict[str, Any]:
    meta = load_model().meta
    files = [PROSE, *sorted(p for p in corpora.rglob("*") if p.is_file())]
    return {
        "made_by": "python -m mathamr_kedro.amr.builtin.fit",
        "seed": seed,
        "training_sentences": {name: len(items) for name, items in sentences.items()},
        "sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
        "dependency_model": f"{meta['lang']}_{meta['name']} {meta['version']}",
    }


def main() -> None:
    """Read the command line and learn the tables."""
    parser = argparse.ArgumentParser(description="Learn the tables of the AMR parser.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder of corpora")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of tables")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    fit(args.corpora, args.out, args.seed)


if __name__ == "__main__":
    main()
