"""Learn the tables of the builtin parser.

Run as::

    python -m tools.amr_tables.fit --corpora ../shared/collection/amr

The corpora are The Little Prince, QALD-9-AMR and Bio AMR, of which the training splits
are read, and our own sentences of mathematical prose, beside this file. The same input
gives the same tables, byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mathamr_kedro.amr.builtin.concepts import (
    NAME,
    NOTHING,
    VALUES,
    find_candidates,
    list_features,
)
from mathamr_kedro.amr.builtin.fragments import describe_name, make_fragments
from mathamr_kedro.amr.builtin.relations import BACKWARD, NO_EDGE, Reduced
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import load_model, parse_sentences
from mathamr_kedro.amr.builtin.tables import TABLES
from mathamr_kedro.amr.builtin.words import Lexicon
from tools.amr_tables.alignment import align, learn_associations
from tools.amr_tables.corpora import AnnotatedSentence, read_corpus, read_split
from tools.amr_tables.lexicon import read_lexicon
from tools.amr_tables.linear_fitting import (
    fit_classifier,
    fit_ranker,
    pack_classifier,
    pack_ranker,
)
from tools.amr_tables.observation import Observation, observe

logger = logging.getLogger(__name__)

PROSE = Path(__file__).parent / "mathematical_prose.txt"
WEIGHTS = {"prose": 2.0, "lpp": 1.0, "qald9": 1.0, "bio": 0.3}
"""Importance of the corpora: the nearer to posts, the more a sentence counts."""

_SMALLEST_WEIGHT = 0.06
_SMALLEST_ASSOCIATION = 0.15
_RARE_ROLE = 3
_RARE_SHARE = 0.02
"""Labels that are less than this share of a word's labels are forgotten."""


class _Example(NamedTuple):
    """A training sentence with its skeleton and the labels of its tokens."""

    corpus: str
    skeleton: Skeleton
    observation: Observation


def _observe_sentences(
    corpora: Mapping[str, Sequence[AnnotatedSentence]], lexicon: Lexicon
) -> list[_Example]:
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
    examples: list[_Example] = []
    for name, tokens, item in zip(names, parses, items, strict=True):
        skeleton = Skeleton(tokens)
        alignment = align(tokens, item.graph, lexicon, associations)
        examples.append(
            _Example(name, skeleton, observe(skeleton, item.graph, alignment))
        )
    return examples


def _remember(examples: Sequence[_Example]) -> dict[str, dict[str, float]]:
    """Count the labels of words; of biology only plain concepts are remembered."""
    memory: dict[str, Counter[str]] = defaultdict(Counter)
    for corpus, skeleton, observation in examples:
        for i, token in enumerate(skeleton.tokens):
            label = observation.labels.get(i, NOTHING)
            if corpus == "bio" and (label == NAME or label.startswith("(")):
                continue
            memory[token.key][label] += WEIGHTS[corpus]  # type: ignore[assignment]
    return {
        key: {
            label: round(count, 1)
            for label, count in labels.items()
            if count >= _RARE_SHARE * labels.total()
        }
        for key, labels in memory.items()
    }


def _list_concept_choices(
    examples: Sequence[_Example],
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
            remembered = dict(memory.get(token.key, {}))
            candidates = find_candidates(skeleton, i, lexicon, remembered)
            if len(candidates) == 1 or gold not in candidates:
                continue
            remembered[gold] = remembered.get(gold, 0.0) - weight
            features = list_features(skeleton, i, candidates, remembered)
            yield features, list(candidates).index(gold), weight


class _StructureExamples(NamedTuple):
    """What the models of structure learn from."""

    pairs: list[tuple[list[str], str, float]]
    tops: list[tuple[list[list[str]], int, float]]
    names: list[tuple[list[str], str]]


def _list_structures(
    examples: Sequence[_Example], lexicon: Lexicon
) -> _StructureExamples:
    """Collect labelled pairs, choices of the top, and names with their types."""
    result = _StructureExamples([], [], [])
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
        reduced = Reduced(skeleton, fragments, lexicon)
        for pair in reduced.list_pairs():
            label = _find_label(observation, pair.upper, pair.lower)
            result.pairs.append((reduced.describe_pair(pair), label, weight))
        nodes = [i for i, f in fragments.items() if f.concept not in VALUES]
        if observation.top in nodes:
            features = [reduced.describe_top(i) for i in nodes]
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
    examples = _observe_sentences(sentences, lexicon)
    logger.info("Observed %d sentences", len(examples))
    memory = _remember(examples)
    write_table(out, "memory", {"words": memory}, provenance)
    table = {
        "frames": dict(lexicon.frames),
        "derived": dict(lexicon.derived),
        "actors": dict(lexicon.actors),
    }
    write_table(out, "lexicon", table, provenance)
    groups, targets, weights = zip(
        *_list_concept_choices(examples, lexicon, memory), strict=True
    )
    ranker = fit_ranker(groups, targets, weights, minimum=3, decay=1e-3, seed=seed)
    write_table(out, "concepts", pack_ranker(ranker, _SMALLEST_WEIGHT), provenance)
    logger.info("Learned concepts from %d choices", len(groups))
    _fit_structure(_list_structures(examples, lexicon), out, provenance, seed)


def _fit_structure(
    structures: _StructureExamples, out: Path, provenance: Mapping[str, Any], seed: int
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
        "made_by": "python -m tools.amr_tables.fit",
        "seed": seed,
        "training_sentences": {name: len(items) for name, items in sentences.items()},
        "sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
        "dependency_model": f"{meta['lang']}_{meta['name']} {meta['version']}",
    }


def write_table(
    folder: Path, name: str, content: Mapping[str, Any], provenance: Mapping[str, Any]
) -> None:
    """Write one table; the same content always gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        {"provenance": provenance, **content},
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
    )
    data = gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0)
    (folder / f"{name}.json.gz").write_bytes(data)


def main() -> None:
    """Read the command line and learn the tables."""
    parser = argparse.ArgumentParser(description="Learn the tables of the AMR parser.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder of corpora")
    parser.add_argument("--out", type=Path, default=TABLES, help="folder of tables")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    fit(args.corpora, args.out, args.seed)


if __name__ == "__main__":
    main()
