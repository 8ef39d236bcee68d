"""Do the ids of a run and of the qrels name the same things?

Numbers join without complaint: formula ids against visual ids, or the visual ids of
2020 against those of the V3 index, give a score, only a wrong one. If ids mean the
same, the top results of a topic are judged *for that topic*; if they do not, hits
fall on any topic's documents alike.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

from mathamr_kedro.evaluation.metrics.findings import Finding, Level, find
from mathamr_kedro.evaluation.metrics.protocols import Protocol
from mathamr_kedro.evaluation.metrics.rankings import Rankings
from mathamr_kedro.trec import Qrels, Run, VisualIds

_TOP = 10
_FEW_JUDGED = 0.1
_OWN_SHARE = 0.5
_CLEARLY_MORE = 3
_OWN_2020_SIZES = {6_437, 10_575}
"""Lines of the 2020 qrels in a visual numbering that no index has."""


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
