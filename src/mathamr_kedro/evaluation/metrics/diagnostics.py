"""What is odd about a run: findings that explain a score or cast doubt on it.

Do the ids of a run and of the qrels name the same things? Numbers join without
complaint: formula ids against visual ids, or the visual ids of 2020 against those of
the V3 index, give a score, only a wrong one. If ids mean the same, the top results of a
topic are judged *for that topic*; if they do not, hits fall on any topic's documents
alike.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from mathamr_kedro.base.types import TopicId
from mathamr_kedro.evaluation.metrics.protocols import Protocol
from mathamr_kedro.evaluation.metrics.rankings import FloatArray, Rankings, count_ties
from mathamr_kedro.trec import Qrels, Run, VisualIds

Level = Literal["warning", "note"]

_TOP = 10
_FEW_JUDGED = 0.1
_OWN_SHARE = 0.5
_CLEARLY_MORE = 3
_OWN_2020_SIZES = {6_437, 10_575}
"""Lines of the 2020 qrels in a visual numbering that no index has."""
_POOL_ONLY = 0.95
"""Share of judged results above which a run only re-ranks the judged pool."""


@dataclass(frozen=True)
class Finding:
    """One odd fact about a run."""

    code: str
    """Short name to look for in JSON output, e.g. ``missing_topics``."""
    level: Level
    """``warning``: the score is probably not what was meant; ``note``: good to know."""
    count: int
    message: str
    examples: tuple[str, ...] = ()


def find(
    code: str,
    level: Level,
    message: str,
    cases: Collection[str] = (),
    count: int | None = None,
) -> list[Finding]:
    """Return one finding, or none if the count of cases is zero.

    ``{count}`` in the message is filled in; the first three cases are kept as examples.

    >>> find("missing_topics", "note", "{count} topics are missing", ["A.1"])[0].message
    '1 topics are missing'
    >>> find("missing_topics", "note", "{count} topics are missing", [])
    []
    """
    number = len(cases) if count is None else count
    if not number:
        return []
    text = message.replace("{count}", f"{number:,}")
    return [Finding(code, level, number, text, tuple(list(cases)[:3]))]


def check_ids(
    run: Run,
    qrels: Qrels,
    protocol: Protocol,
    rankings: Rankings,
    visual_ids: VisualIds | None = None,
    corpus_ids: Collection[str] | None = None,
) -> list[Finding]:
    """Return what is odd about the ids of a run and of the qrels."""
    findings = _check_overlap(qrels, protocol, rankings)
    findings += _check_stripped_names(qrels, rankings)
    if protocol.task == "2" and qrels.num_judgments in _OWN_2020_SIZES:
        findings += find(
            "numbering_of_2020", "warning", "the qrels have {count} judgments, the "
            "size of the 2020 files in the organisers' own visual numbering, which no "
            "formula index has; use the re-keyed V3 file", count=qrels.num_judgments,
        )  # fmt: skip
    if visual_ids is not None:
        findings += _check_formulas(run, qrels, rankings, visual_ids)
    if corpus_ids is not None:
        findings += _check_corpus(qrels, rankings, frozenset(corpus_ids))
    return findings


def _check_overlap(
    qrels: Qrels, protocol: Protocol, rankings: Rankings
) -> list[Finding]:
    anywhere = frozenset(chain.from_iterable(qrels.grades.values()))
    slots = own = anyone = 0
    for topic, hits in rankings.lists.items():
        top = hits.ids[:_TOP]
        slots += len(top)
        own += sum(i in qrels.grades[topic] for i in top)
        anyone += sum(i in anywhere for i in top)
    has_own_hits = bool(anyone) and own > _OWN_SHARE * anyone
    if not protocol.pooled:  # few documents are judged, and every topic has others
        by_chance = count_chance_hits(qrels, rankings)
        has_own_hits = own > max(_CLEARLY_MORE * by_chance, _OWN_SHARE)
    if slots < _TOP or own >= _FEW_JUDGED * slots or has_own_hits:
        return []
    causes = {
        "1": "post ids of another collection",
        "2": "formula ids against visual ids, or two numberings of visual ids",
        "ntcir": "names in another spelling, or formula numbers counted from another "
        "place",
        "trec": "ids of another collection",
    }
    message = (
        f"only {own} of the {slots:,} results in the top {_TOP} are judged for their "
        f"topic ({anyone} for any topic): run and qrels seem to name documents "
        f"differently ({causes[protocol.task]}), or the run is no better than chance"
    )
    return find("id_space", "warning", message, count=slots - own)


def count_chance_hits(qrels: Qrels, rankings: Rankings) -> float:
    """Return how many of the top results would be judged were ids drawn at random."""
    names = set(chain.from_iterable(qrels.grades.values()))
    names.update(*(hits.ids for hits in rankings.lists.values()))
    found = (
        len(h.ids[:_TOP]) * len(qrels.grades[t]) for t, h in rankings.lists.items()
    )
    return sum(found) / max(len(names), 1)


def _check_stripped_names(qrels: Qrels, rankings: Rankings) -> list[Finding]:
    lost: list[str] = []
    for topic, hits in rankings.lists.items():
        if "".join(hits.ids).isascii():
            continue
        judged = qrels.grades[topic]
        names = [i for i in hits.ids if not i.isascii() and i not in judged]
        lost += [i for i in names if i.encode("ascii", "ignore").decode() in judged]
    return find(
        "stripped_names", "warning", "{count} results would be judged if their "
        "characters beyond ASCII were dropped: the qrels have been stripped; use the "
        "Unicode file", lost,
    )  # fmt: skip


def _check_formulas(
    run: Run, qrels: Qrels, rankings: Rankings, visual_ids: VisualIds
) -> list[Finding]:
    findings = find(
        "unknown_formulas", "warning", "{count} results are formulas that the index "
        "does not know; they are dropped", rankings.unknown_ids,
    )  # fmt: skip
    hidden = [
        i
        for topic in rankings.lists
        for i in run.documents(topic).ids
        if i in visual_ids.not_retrievable
    ]
    findings += find(
        "not_retrievable", "warning", "{count} results are formulas with the issue "
        "'d', which are in no post and must not be returned", hidden,
    )  # fmt: skip
    as_they_are = mapped = 0
    for topic, hits in rankings.lists.items():
        judged = qrels.grades[topic]
        as_they_are += sum(i in judged for i in set(run.documents(topic).ids))
        mapped += sum(i in judged for i in hits.ids)
    if as_they_are > mapped:
        findings += find(
            "already_visual", "warning", f"{{count}} results are judged as they are, "
            f"but only {mapped:,} by their visual ids: the run seems to hold visual "
            "ids already; omit --visual-ids", count=as_they_are,
        )  # fmt: skip
    judged_ids = dict.fromkeys(chain.from_iterable(qrels.grades.values()))
    absent = [i for i in judged_ids if i not in visual_ids.known]
    level: Level = "warning" if len(absent) * 2 > len(judged_ids) else "note"
    return findings + find(
        "judged_not_in_index", level, f"{{count}} of {len(judged_ids):,} judged visual "
        "ids are not in the formula index (a part of it, or another numbering)", absent,
    )  # fmt: skip


def _check_corpus(
    qrels: Qrels, rankings: Rankings, corpus_ids: frozenset[str]
) -> list[Finding]:
    unknown = [i for r in rankings.lists.values() for i in r.ids if i not in corpus_ids]
    judged_ids = dict.fromkeys(chain.from_iterable(qrels.grades.values()))
    absent = [i for i in judged_ids if i not in corpus_ids]
    return [
        *find(
            "unknown_ids", "warning", "{count} results are not in the corpus", unknown,
        ),
        *find(
            "judged_not_in_corpus", "note", f"{{count}} of {len(judged_ids):,} judged "
            "ids are not in the corpus: no system can return them", absent,
        ),
    ]  # fmt: skip


def diagnose(
    run: Run,
    qrels: Qrels,
    protocol: Protocol,
    rankings: Rankings,
    visual_ids: VisualIds | None = None,
    corpus_ids: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """Return what is odd about a run, warnings first."""
    findings = [
        *check_ids(run, qrels, protocol, rankings, visual_ids, corpus_ids),
        *_check_topics(run, qrels, rankings),
        *_check_lines(run, qrels, protocol, rankings),
        *_check_scores(run, qrels, protocol, rankings),
        *_check_pool(qrels, rankings),
        *_check_grades(qrels, protocol),
    ]
    return tuple(sorted(findings, key=lambda f: f.level != "warning"))


def _check_topics(run: Run, qrels: Qrels, rankings: Rankings) -> list[Finding]:
    missing = [t for t in qrels.grades if t not in run.lists]
    unknown = [t for t in run.lists if t not in qrels.grades]
    fruitless = [
        topic
        for topic, hits in rankings.lists.items()
        if qrels.grades[topic].keys().isdisjoint(hits.ids)
    ]
    return [
        *find(
            "missing_topics", "warning", f"{{count}} of {len(qrels.grades)} judged "
            "topics are not in the run and count as 0", missing,
        ),
        *find(
            "topics_without_judged_result", "note", "{count} topics have results, but "
            "none that is judged, and count as 0", fruitless,
        ),
        *find(
            "unjudged_topics", "note", "{count} topics of the run are not judged and "
            "do not count", unknown,
        ),
    ]  # fmt: skip


def _check_lines(
    run: Run, qrels: Qrels, protocol: Protocol, rankings: Rankings
) -> list[Finding]:
    if run.holds_instances:
        repeated = (
            "{count} results look like a better one of their topic and are dropped"
        )
    else:
        repeated = "{count} results repeat a document of their topic and are dropped"
    return [
        *find(
            "repeats", "note" if run.holds_instances else "warning", repeated,
            count=rankings.num_repeats,
        ),
        *find(
            "bad_lines", "warning", "{count} lines of the run have a wrong form and "
            "were skipped or cut", count=run.num_bad_lines,
        ),
        *find(
            "too_deep", "note", f"{{count}} results are below depth {protocol.depth} "
            "and are dropped", count=rankings.num_too_deep,
        ),
        *find(
            "lines_without_judgment", "note", "{count} lines of the qrels state that "
            "there is no judgment (-1, 5 or 6) and are skipped",
            count=qrels.num_unjudged_lines,
        ),
        *find(
            "topics_without_judgment", "note", "{count} topics of the qrels have only "
            "such lines and do not count; trec_eval counts 0 for them",
            qrels.unjudged_topics,
        ),
    ]  # fmt: skip


def _check_scores(
    run: Run, qrels: Qrels, protocol: Protocol, rankings: Rankings
) -> list[Finding]:
    rising = [t for t in rankings.lists if _rises_with_rank(run, t)]
    findings = []
    if len(rising) * 2 > len(rankings.lists):
        findings += find(
            "rising_scores", "warning", "in {count} topics the scores rise with the "
            "rank: a higher score must be better (are they distances?)", rising,
        )  # fmt: skip
    if protocol.use_rank:
        return findings
    lists = rankings.lists
    ties = sum(count_ties(hits.scores) for hits in lists.values())
    judged_ties = sum(
        count_ties(hits.scores[[i in qrels.grades[t] for i in hits.ids]])
        for t, hits in lists.items()
    )
    rounded = sum(count_rounding_ties(hits.scores) for hits in lists.values())
    findings += find(
        "ties", "note", f"{{count}} results share their score with another, "
        f"{judged_ties:,} among judged ones; ties are broken by id, as trec_eval does",
        count=ties,
    )  # fmt: skip
    return findings + find(
        "rounding_ties", "note", "{count} of the ties exist only in single precision, "
        "in which trec_eval reads scores", count=rounded,
    )  # fmt: skip


def _check_pool(qrels: Qrels, rankings: Rankings) -> list[Finding]:
    lists = rankings.lists
    returned = sum(len(hits.ids) for hits in lists.values())
    judged = sum(len(qrels.grades[t].keys() & hits.ids) for t, hits in lists.items())
    if not returned or judged < _POOL_ONLY * returned:
        return []
    return find(
        "pool_only", "note", f"{{count}} of {returned:,} results are judged: the run "
        "ranks the judged pool, or was cut to it; compare it with the floor, and not "
        "with runs over the whole corpus", count=judged,
    )  # fmt: skip


def _check_grades(qrels: Qrels, protocol: Protocol) -> list[Finding]:
    """Tell when nothing is relevant: binary judgments, scored as ARQMath's."""
    highest = max(
        (g for by_id in qrels.grades.values() for g in by_id.values()), default=0
    )
    blind = [
        m for m in protocol.measures if m.uses_threshold and m.relevant_from > highest
    ]
    if not blind:
        return []
    level = min(m.relevant_from for m in blind)
    remedy = (
        f"score them by the plain protocol (--task trec), or name the grade, e.g. "
        f"{blind[0].name.partition('(')[0]}(rel={highest})"
        if highest
        else "check the fourth column of the qrels"
    )
    names = ", ".join(m.name for m in blind)
    return find(
        "no_relevant_grade", "warning", f"no grade of the qrels reaches {level}, from "
        f"which {names} count a document as relevant (the highest is {highest}), so "
        f"they are 0; {remedy}", count=len(blind),
    )  # fmt: skip


def _rises_with_rank(run: Run, topic: TopicId) -> bool:
    scores = run.lists[topic].scores
    if scores.size < 3:
        return False
    steps = np.diff(scores[np.argsort(run.ranks_of(topic), kind="stable")])
    return bool(np.all(steps >= 0) and np.any(steps > 0))


def count_rounding_ties(scores: FloatArray) -> int:
    """Return how many results are tied only because scores are rounded.

    >>> count_rounding_ties(np.array([1.0, 1.0 + 1e-12, 0.5, 0.5]))
    1
    """
    return count_ties(scores) - int(scores.size - np.unique(scores).size)
