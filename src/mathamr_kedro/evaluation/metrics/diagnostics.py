"""Diagnostics of a run: findings that explain a score or cast doubt on it.

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
Cases = Collection[str] | int
"""Whether a problem exists, or how often."""

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
    """Short name for JSON output, e.g. ``missing_topics``."""
    level: Level
    """``warning``: the score is probably not what was meant; ``note``: good to know."""
    count: int
    message: str
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the message with its examples."""
        found = f" ({', '.join(self.examples)})" if self.examples else ""
        return f"{self.message}{found}"


def diagnose(
    run: Run,
    qrels: Qrels,
    protocol: Protocol,
    rankings: Rankings,
    visual_ids: VisualIds | None = None,
    corpus_ids: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """Return the findings about a run, warnings first."""
    diagnosis = _Diagnosis(run, qrels, protocol, rankings)
    diagnosis.check_overlap()
    diagnosis.check_names()
    if visual_ids is not None:
        diagnosis.check_formulas(visual_ids)
    if corpus_ids is not None:
        diagnosis.check_corpus(frozenset(corpus_ids))
    diagnosis.check_topics()
    diagnosis.check_lines()
    diagnosis.check_scores()
    diagnosis.check_pool()
    diagnosis.check_grades()
    return tuple(sorted(diagnosis.found, key=lambda f: f.level != "warning"))


class _Diagnosis:
    """Collects the findings about a run."""

    def __init__(
        self, run: Run, qrels: Qrels, protocol: Protocol, rankings: Rankings
    ) -> None:
        self._run = run
        self._qrels = qrels
        self._protocol = protocol
        self._rankings = rankings
        self._judged = dict.fromkeys(chain.from_iterable(qrels.grades.values()))
        self.found: list[Finding] = []

    def _warn(self, code: str, message: str, cases: Cases) -> None:
        self._add(code, "warning", message, cases)

    def _note(self, code: str, message: str, cases: Cases) -> None:
        self._add(code, "note", message, cases)

    def _add(self, code: str, level: Level, message: str, cases: Cases) -> None:
        """Add a finding with its first three cases, if there are any.

        ``{count}`` in the message is filled in.
        """
        count = cases if isinstance(cases, int) else len(cases)
        if count:
            text = message.replace("{count}", f"{count:,}")
            examples = () if isinstance(cases, int) else tuple(cases)[:3]
            self.found.append(Finding(code, level, count, text, examples))

    def check_overlap(self) -> None:
        """Find out whether the best results are hardly judged for their own topics."""
        grades, slots, own, anyone = self._qrels.grades, 0, 0, 0
        for topic, hits in self._rankings.lists.items():
            top = hits.ids[:_TOP]
            slots += len(top)
            own += sum(i in grades[topic] for i in top)
            anyone += sum(i in self._judged for i in top)
        has_own_hits = bool(anyone) and own > _OWN_SHARE * anyone
        if not self._protocol.pooled:  # few are judged, and every topic has others
            by_chance = count_chance_hits(self._qrels, self._rankings)
            has_own_hits = own > max(_CLEARLY_MORE * by_chance, _OWN_SHARE)
        if slots < _TOP or own >= _FEW_JUDGED * slots or has_own_hits:
            return
        causes = {
            "1": "post ids of another collection",
            "2": "formula ids against visual ids, or two numberings of visual ids",
            "ntcir": "names in another spelling, or formula numbers counted from "
            "another place",
            "trec": "ids of another collection",
        }
        self._warn(
            "id_space", f"only {own} of the {slots:,} results in the top {_TOP} are "
            f"judged for their topic ({anyone} for any topic): run and qrels seem to "
            f"name documents differently ({causes[self._protocol.task]}), or the run "
            "is no better than chance", slots - own,
        )  # fmt: skip

    def check_names(self) -> None:
        """Find qrels whose names were stripped, or are of a numbering of 2020."""
        lost: list[str] = []
        for topic, hits in self._rankings.lists.items():
            judged = self._qrels.grades[topic]
            names = [i for i in hits.ids if not i.isascii() and i not in judged]
            lost += [i for i in names if i.encode("ascii", "ignore").decode() in judged]
        self._warn(
            "stripped_names", "{count} results would be judged if their characters "
            "beyond ASCII were dropped: the qrels have been stripped; use the Unicode "
            "file", lost,
        )  # fmt: skip
        number = self._qrels.num_judgments
        if self._protocol.task == "2" and number in _OWN_2020_SIZES:
            self._warn(
                "numbering_of_2020", "the qrels have {count} judgments, the size of "
                "the 2020 files in the organisers' own visual numbering, which no "
                "formula index has; use the re-keyed V3 file", number,
            )  # fmt: skip

    def check_formulas(self, visual_ids: VisualIds) -> None:
        """Compare the formulas of a run, and the judged ones, with the index."""
        self._warn(
            "unknown_formulas", "{count} results are formulas that the index does not "
            "know; they are dropped", self._rankings.unknown_ids,
        )  # fmt: skip
        hidden: list[str] = []
        as_they_are = mapped = 0
        for topic, hits in self._rankings.lists.items():
            judged, returned = self._qrels.grades[topic], self._run.documents(topic).ids
            hidden += [i for i in returned if i in visual_ids.not_retrievable]
            as_they_are += sum(i in judged for i in set(returned))
            mapped += sum(i in judged for i in hits.ids)
        self._warn(
            "not_retrievable", "{count} results are formulas with the issue 'd', which "
            "are in no post and must not be returned", hidden,
        )  # fmt: skip
        if as_they_are > mapped:
            self._warn(
                "already_visual", "{count} results are judged as they are, but only "
                f"{mapped:,} by their visual ids: the run seems to hold visual ids "
                "already; omit --visual-ids", as_they_are,
            )  # fmt: skip
        absent = [i for i in self._judged if i not in visual_ids.known]
        level: Level = "warning" if len(absent) * 2 > len(self._judged) else "note"
        self._add(
            "judged_not_in_index", level, f"{{count}} of {len(self._judged):,} judged "
            "visual ids are not in the formula index (a part of it, or another "
            "numbering)", absent,
        )  # fmt: skip

    def check_corpus(self, corpus_ids: frozenset[str]) -> None:
        """Compare the ids of run and qrels with those of the corpus."""
        lists = self._rankings.lists.values()
        unknown = [i for hits in lists for i in hits.ids if i not in corpus_ids]
        self._warn("unknown_ids", "{count} results are not in the corpus", unknown)
        self._note(
            "judged_not_in_corpus", f"{{count}} of {len(self._judged):,} judged ids "
            "are not in the corpus: no system can return them",
            [i for i in self._judged if i not in corpus_ids],
        )  # fmt: skip

    def check_topics(self) -> None:
        """Find topics that only run or qrels have, and those without judged results."""
        grades, asked = self._qrels.grades, self._run.lists
        self._warn(
            "missing_topics", f"{{count}} of {len(grades)} judged topics are not in "
            "the run and count as 0", [t for t in grades if t not in asked],
        )  # fmt: skip
        self._note(
            "topics_without_judged_result", "{count} topics have results, but none "
            "that is judged, and count as 0",
            [
                topic
                for topic, hits in self._rankings.lists.items()
                if grades[topic].keys().isdisjoint(hits.ids)
            ],
        )  # fmt: skip
        self._note(
            "unjudged_topics", "{count} topics of the run are not judged and do not "
            "count", [t for t in asked if t not in grades],
        )  # fmt: skip

    def check_lines(self) -> None:
        """Count the lines of both files that were not used."""
        run, qrels, repeats = self._run, self._qrels, self._rankings.num_repeats
        if run.holds_instances:
            self._note(
                "repeats", "{count} results look like a better one of their topic and "
                "are dropped", repeats,
            )  # fmt: skip
        else:
            self._warn(
                "repeats", "{count} results repeat a document of their topic and are "
                "dropped", repeats,
            )  # fmt: skip
        self._warn(
            "bad_lines", "{count} lines of the run have a wrong form and were skipped "
            "or cut", run.num_bad_lines,
        )  # fmt: skip
        self._note(
            "too_deep", f"{{count}} results are below depth {self._protocol.depth} and "
            "are dropped", self._rankings.num_too_deep,
        )  # fmt: skip
        self._note(
            "lines_without_judgment", "{count} lines of the qrels state that there is "
            "no judgment (-1, 5 or 6) and are skipped", qrels.num_unjudged_lines,
        )  # fmt: skip
        self._note(
            "topics_without_judgment", "{count} topics of the qrels have only such "
            "lines and do not count; trec_eval counts 0 for them",
            qrels.unjudged_topics,
        )  # fmt: skip

    def check_scores(self) -> None:
        """Find scores that rise with the rank, and ties."""
        lists, grades = self._rankings.lists, self._qrels.grades
        rising = [t for t in lists if _rises_with_rank(self._run, t)]
        if len(rising) * 2 > len(lists):
            self._warn(
                "rising_scores", "in {count} topics the scores rise with the rank: a "
                "higher score must be better (are they distances?)", rising,
            )  # fmt: skip
        if self._protocol.use_rank:
            return
        judged_ties = sum(
            count_ties(hits.scores[[i in grades[t] for i in hits.ids]])
            for t, hits in lists.items()
        )
        self._note(
            "ties", f"{{count}} results share their score with another, {judged_ties:,}"
            " among judged ones; ties are broken by id, as trec_eval does",
            sum(count_ties(hits.scores) for hits in lists.values()),
        )  # fmt: skip
        self._note(
            "rounding_ties", "{count} of the ties exist only in single precision, in "
            "which trec_eval reads scores",
            sum(count_rounding_ties(hits.scores) for hits in lists.values()),
        )  # fmt: skip

    def check_pool(self) -> None:
        """Find out whether nearly all results are judged."""
        lists, grades = self._rankings.lists, self._qrels.grades
        returned = sum(len(hits.ids) for hits in lists.values())
        judged = sum(len(grades[t].keys() & hits.ids) for t, hits in lists.items())
        if returned and judged >= _POOL_ONLY * returned:
            self._note(
                "pool_only", f"{{count}} of {returned:,} results are judged: the run "
                "ranks the judged pool, or was cut to it; compare it with the floor, "
                "and not with runs over the whole corpus", judged,
            )  # fmt: skip

    def check_grades(self) -> None:
        """Find out whether nothing is relevant, e.g. binary judgments as ARQMath's."""
        grades = self._qrels.grades.values()
        highest = max((g for by_id in grades for g in by_id.values()), default=0)
        blind = [
            m
            for m in self._protocol.measures
            if m.uses_threshold and m.relevant_from > highest
        ]
        if not blind:
            return
        level = min(m.relevant_from for m in blind)
        remedy = "check the fourth column of the qrels"
        if highest:
            remedy = (
                "score them by the plain protocol (--task trec), or name the grade, "
                f"e.g. {blind[0].name.partition('(')[0]}(rel={highest})"
            )
        names = ", ".join(m.name for m in blind)
        self._warn(
            "no_relevant_grade", f"no grade of the qrels reaches {level}, from which "
            f"{names} count a document as relevant (the highest is {highest}), so they "
            f"are 0; {remedy}", len(blind),
        )  # fmt: skip


def count_chance_hits(qrels: Qrels, rankings: Rankings) -> float:
    """Return how many of the top results would be judged were ids drawn at random."""
    names = set(chain.from_iterable(qrels.grades.values()))
    names.update(*(hits.ids for hits in rankings.lists.values()))
    found = (
        len(h.ids[:_TOP]) * len(qrels.grades[t]) for t, h in rankings.lists.items()
    )
    return sum(found) / max(len(names), 1)


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
