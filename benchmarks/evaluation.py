"""Check the evaluation: real runs, random runs against trec_eval, p-values, speed.

Prints one small table per question; exits with 1 where a figure is not reached.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.evaluation.stats.significance import (
    bonferroni,
    holm,
    paired_t_test,
    randomisation_test,
)
from mathamr_kedro.trec import (
    NTCIR12,
    Qrels,
    Run,
    VisualIds,
    read_qrels,
    read_run,
    write_run,
)

OFFICIAL = {"nDCG'": "ndcg", "MAP'": "map", "P'@10": "P_10", "Bpref": "bpref"}
OTHERS = {"nDCG'@10": "ndcg_cut_10", "P'@5": "P_5", "recall'@100": "recall_100"}


def read_table(path: Path) -> Iterator[dict[str, str]]:
    """Read a TSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def check_arqmath(collection: Path) -> bool:
    """Score the ARQMath runs and compare with the figures beside them."""
    print("\nARQMath runs: nDCG' MAP' P'@10 Bpref (4 decimals), CPU seconds")
    columns = ("nDCG_prime", "MAP_prime", "P_prime_10", "bpref")
    good = True
    for row in read_table(collection / "runs" / "expected_scores.tsv"):
        start = time.process_time()
        qrels = read_qrels(next(collection.rglob(row["qrels"])))
        run = read_run(collection / "runs" / row["file"])
        task = row["file"].partition("_task")[2][0]
        evaluation = evaluate_run(run, qrels, protocol_of(task))
        seconds = time.process_time() - start
        found = [f"{evaluation.mean(m):.4f}" for m in OFFICIAL]
        same = found == [row[c] for c in columns]
        good &= same
        name = row["file"].rpartition("/")[2].removesuffix(".tsv.gz")
        print(f"  {'ok ' if same else 'BAD'} {' '.join(found)}  {seconds:.2f}  {name}")
    return good


def check_ntcir(folder: Path) -> bool:
    """Score the NTCIR-12 runs as the figures were made, and by the protocol.

    The figures are from names as written; Unicode's normal form, in which we read
    them, finds two more judged formulas in the run of Tangent-CFT (0.7134 before).
    """
    print("\nNTCIR-12 runs: Bpref full, partial; as the figures | bad lines skipped")
    path = folder / "qrels.ntcir12-math-browsing-concrete.txt"
    protocol = protocol_of("ntcir")
    good = True
    for row in read_table(folder / "expected_bpref.tsv"):
        found = []
        for bad_lines in ("as_trec_eval", "skip"):
            run = read_run(folder / row["file"], bad_lines=bad_lines)
            evaluation = evaluate_run(run, read_qrels(path, NTCIR12), protocol)
            found += [
                f"{evaluation.mean(f'Bpref {x}'):.4f}" for x in ("full", "partial")
            ]
        partial = row["bpref_partial_l1"]
        if row["file"].endswith("tangent_cft.res.gz"):
            partial = "0.7150"
        same = found[:2] == [row["bpref_full_l3"], partial]
        good &= same
        figures = f"{' '.join(found[:2])} | {' '.join(found[2:])}"
        print(f"  {'ok ' if same else 'BAD'} {figures}  {Path(row['file']).name}")
    return good


def draw_run(rng: random.Random) -> tuple[dict, dict]:
    """Draw lines of a run, with ties, repeats and missing topics, and grades."""
    pool = [str(rng.randrange(10**6)) for _ in range(40)]
    ties = rng.choice([1, 3, 10**6])
    lines: dict[str, list[tuple[str, float]]] = {}
    grades: dict[str, dict[str, int]] = {}
    for t in range(rng.randint(1, 5)):
        top = rng.choice([0, 1, 3, 3, 3])
        judged = rng.sample(pool, rng.randint(1, 30))
        grades[f"B.{t}"] = {i: rng.randint(0, top) for i in judged}
        if rng.random() < 0.8:
            returned = rng.choices(pool, k=rng.randint(0, 40))
            lines[f"B.{t}"] = [
                (i, rng.randint(0, ties) / 7 + rng.choice([0, 1e-10])) for i in returned
            ]
    return lines, grades


def as_run(lines: dict, rename: dict[str, str]) -> Run:
    """Make a run of the lines; documents get the names of their instances."""
    return Run(
        "r",
        {
            topic: Hits(
                [rename.get(f"{n} {i}", i) for n, (i, _) in enumerate(rows)],
                np.array([score for _, score in rows], dtype=float),
            )
            for topic, rows in lines.items()
        },
    )


def by_trec_eval(lines: dict, grades: dict, keep_best: bool) -> dict[str, float]:
    """Score by pytrec_eval: judged documents only, mean over all topics."""
    import pytrec_eval

    prime: dict[str, dict[str, float]] = {}
    for topic, rows in lines.items():
        kept = prime.setdefault(topic, {})
        for i, score in rows:
            if i in grades[topic]:
                best = max(score, kept.get(i, score))
                kept[i] = best if keep_best else kept.get(i, score)
    evaluator = pytrec_eval.RelevanceEvaluator(
        grades, {"ndcg", "map", "bpref", "P", "ndcg_cut", "recall"}, relevance_level=2
    )
    totals: Counter[str] = Counter()
    for values in evaluator.evaluate({t: r for t, r in prime.items() if r}).values():
        totals.update({n: values[k] for n, k in {**OFFICIAL, **OTHERS}.items()})
    return {name: totals[name] / len(grades) for name in {**OFFICIAL, **OTHERS}}


def check_random_runs(count: int, seed: int) -> bool:
    """Score random runs of both tasks by our measures and by trec_eval."""
    rng = random.Random(seed)
    names = [*OFFICIAL, *OTHERS]
    protocols = [protocol_of(task).with_measures(names) for task in ("1", "2")]
    worst, cpu, seen = 0.0, 0.0, Counter()
    for number in range(count):
        lines, grades = draw_run(rng)
        formulas = number % 2  # every other run: Task 2, from formula instances
        rename, index = {}, None
        if formulas:
            of_formula = {
                f"f{n}.{i}": i
                for rows in lines.values()
                for n, (i, _) in enumerate(rows)
            }
            rename = {f"{n[1:].replace('.', ' ')}": n for n in of_formula}
            index = VisualIds(of_formula, frozenset(), frozenset())
        else:
            lines = {"A" + t[1:]: rows for t, rows in lines.items()}
            grades = {"A" + t[1:]: by_id for t, by_id in grades.items()}
        run, qrels = as_run(lines, rename), Qrels(grades)
        start = time.process_time()
        evaluation = evaluate_run(run, qrels, protocols[formulas], index)
        cpu += time.process_time() - start
        expected = by_trec_eval(lines, grades, keep_best=bool(formulas))
        worst = max(worst, *(abs(evaluation.mean(n) - expected[n]) for n in names))
        seen.update(finding.code for finding in evaluation.findings)
    print(f"\n{count:,} random runs against trec_eval (pytrec_eval), 7 measures")
    print(f"  largest difference of a mean: {worst:.1e}")
    for code in ("ties", "rounding_ties", "repeats", "missing_topics"):
        print(f"  runs with {code.replace('_', ' ')}: {seen[code]:,}")
    print(f"  our CPU seconds: {cpu:.1f}")
    return worst < 1e-9


def check_p_values(count: int, seed: int) -> bool:
    """Compare p-values and corrections with scipy and statsmodels."""
    from scipy import stats
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(seed)
    worst = Counter({"t": 0.0, "randomisation": 0.0, "bonferroni": 0.0, "holm": 0.0})
    for _ in range(count):
        topics = int(rng.integers(2, 100))
        b = rng.random(topics)
        a = b + rng.normal(rng.choice([0, 0.02, 0.2]), 0.1, topics)
        gap = paired_t_test(a, b).p_value / stats.ttest_rel(a, b).pvalue - 1
        worst["t"] = max(worst["t"], abs(gap))
        few = min(topics, 8)
        exact = stats.permutation_test(
            (a[:few], b[:few]), lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples", n_resamples=np.inf, vectorized=True,
        ).pvalue  # fmt: skip
        gap = randomisation_test(a[:few], b[:few]).p_value - exact
        worst["randomisation"] = max(worst["randomisation"], abs(gap))
        p_values = rng.random(int(rng.integers(1, 20))) ** 3
        for name, correct in (("bonferroni", bonferroni), ("holm", holm)):
            ours, theirs = (
                correct(p_values),
                multipletests(p_values, method=name)[1],
            )
            gap = np.abs(ours - theirs).max()
            worst[name] = max(worst[name], float(gap))
    print(f"\n{count:,} draws against scipy and statsmodels: largest difference")
    for name, gap in worst.items():
        print(f"  {name:14} {gap:.1e}{' (relative)' if name == 't' else ''}")
    return max(worst.values()) < 1e-9


def measure_speed(seed: int) -> bool:
    """Time a run of 78 topics, 1000 results each, from file to scores."""
    rng = np.random.default_rng(seed)
    topics = [f"A.{t}" for t in range(301, 379)]
    results, grades = {}, {}
    for topic in topics:
        ids = rng.choice(3_000_000, 1400, replace=False).astype(str)
        results[topic] = {i: float(s) for i, s in zip(ids, rng.random(1000))}  # noqa: B905
        grades[topic] = {i: int(g) for i, g in zip(ids[900:], rng.integers(0, 4, 500))}  # noqa: B905
    with tempfile.TemporaryDirectory() as folder:
        run_path, qrels_path = Path(folder) / "run.tsv", Path(folder) / "qrels.tsv"
        write_run(run_path, Run.from_scores("synthetic", results), "arqmath1")
        lines = (
            f"{topic} 0 {i} {grade}\n"
            for topic, by_id in grades.items()
            for i, grade in by_id.items()
        )
        qrels_path.write_text("".join(lines), encoding="utf-8")
        times = []
        for _ in range(5):
            start = time.process_time(), time.perf_counter()
            run, qrels = read_run(run_path), read_qrels(qrels_path)
            evaluate_run(run, qrels, protocol_of("1"))
            ends = time.process_time(), time.perf_counter()
            times.append(tuple(e - s for e, s in zip(ends, start, strict=True)))
    cpu, wall = (float(np.median(column)) for column in zip(*times, strict=True))
    print("\n78 topics, 1000 results each, 39,000 judgments; read, score, diagnose")
    print(f"  CPU seconds {cpu:.3f}, wall seconds {wall:.3f} (medians of 5)")
    return cpu < 0.5


def main() -> int:
    """Run the checks that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--random-runs", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=500, help="for p-values")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    collection = arguments.shared / "collection"
    good = []
    if collection.is_dir():
        good += [check_arqmath(collection), check_ntcir(collection / "ntcir12")]
    else:
        print(f"no folder {collection}; real runs are skipped")
    good.append(check_random_runs(arguments.random_runs, arguments.seed))
    good.append(check_p_values(arguments.draws, arguments.seed))
    good.append(measure_speed(arguments.seed))
    print("\nall reached" if all(good) else "\nNOT all reached")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
