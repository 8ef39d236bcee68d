"""A paper of one's own from its LaTeX to searches by kind, in the terminal."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil

import pytest
from click.testing import CliRunner
from kedro.framework.session import KedroSession

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.cli import index, search
from mathamr_kedro.cli.export import beir
from mathamr_kedro.cli.show import post, summary
from mathamr_kedro.corpus import BeirCollection, BeirFiles
from mathamr_kedro.project.catalog import configure_kedro, open_catalog
from mathamr_kedro.project.search import open_search, open_updatable_index
from mathamr_kedro.project.sync import FolderSync
from mathamr_kedro.search.responses import TextPart
from mathamr_kedro.serve import SearchService, ServeConfig
from mathamr_kedro.serve.service import SearchRequest
from mathamr_kedro.systems.updates import Addition
from tests.pipelines.graph_world import PROJECT

PAPER = r"""\documentclass{amsart}
\newtheorem{thm}{Theorem}[section]
\newtheorem{lem}[thm]{Lemma}
\newcommand{\Z}{\mathbb{Z}}
\title{Primes}
\begin{document}
\section{Divisors}
We study primes $p$.
\begin{lem}[Euclid]\label{euclid} If a prime $p$ divides $ab$ in $\Z$, then $p$ divides
$a$ or $b$. \end{lem}
\begin{thm}\label{factors} An integer $n > 1$ is a product of primes. \end{thm}
\begin{proof} By Lemma \ref{euclid}. \end{proof}
\begin{thm}\label{many} There are infinitely many primes. Here $\left\{ x \right.$ ends.
\end{thm}
\begin{proof} By Theorem \ref{factors} and Lemma \ref{euclid}. \end{proof}
\end{document}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "notes").mkdir()
    (folder / "notes" / "paper.tex").write_text(PAPER)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        run_stages(folder / "notes", folder / "data")
        yield folder / "data"


def run_stages(notes, data):
    values = {
        "data_root": str(data),
        "raw_root": str(notes),
        "unit": "statement",
        "ingestion": {"pairs": "links"},
    }
    configure_kedro(PROJECT)
    stages = [
        "ingestion", "amr_parsing", "graph_fusion", "preprocessing", "training",
        "indexing",
    ]  # fmt: skip
    session = KedroSession.create(PROJECT, env="own", runtime_params=values)
    with session:
        session.run(pipeline_names=stages)


@pytest.fixture(autouse=True)
def in_project(monkeypatch):
    monkeypatch.chdir(PROJECT)
    logging.disable(logging.INFO)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def copied(data, tmp_path):
    """Notes and data to change."""
    shutil.copytree(data.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "notes", tmp_path / "data"


def sync(notes, data, *options):
    done = run(index.command, data, "sync", str(notes), *options)
    assert done.exit_code == 0, done.output
    return [line for line in done.stdout.splitlines() if re.match(SYNCED, line)]


SYNCED = "added|replaced|deleted|nothing|indexed"


def edit(notes):
    (notes / "paper.tex").write_text(
        PAPER.replace("divides $ab$", "divides $bc$").partition(
            "\\begin{thm}\\label{many}"
        )[0]
    )
    (notes / "note.md").write_text("# Tychonoff\n\nProducts of compact spaces $X_i$.")


@pytest.mark.slow
def test_sync_takes_what_changed_and_forgets_what_is_gone(copied):
    notes, data = copied
    assert sync(notes, data) == ["nothing has changed"]
    edit(notes)
    assert sync(notes, data) == [
        "added 1 post: note.md",
        "replaced 1 post: paper-euclid",
        "deleted 1 post: paper-many",
    ]
    assert sync(notes, data) == ["nothing has changed"]
    searcher = open_search("own", str(data))
    try:
        for system in (None, "bm25"):
            found = searcher.search("compact primes", 10, system=system).results
            assert found[0].post_id == "note.md"
            assert "paper-many" not in {result.post_id for result in found}
        posts = open_catalog("own", str(data)).load("posts").records()
        ids = [post.post_id for post in posts]  # as `kedro run` names them
        searcher.store.require(ids)
        assert len(searcher.store) == len(ids) == 4
        (lemma,) = searcher.search("$bc$", 1, ("lemma",)).results
        assert (lemma.post_id, lemma.statement.used_by) == ("paper-euclid", 1)
    finally:
        searcher.close()


@pytest.mark.slow
def test_stages_forget_what_was_synced_as_they_read_the_folder(copied):
    notes, data = copied
    edit(notes)
    sync(notes, data)
    (notes / "note.md").unlink()
    (notes / "paper.tex").write_text(PAPER)
    run_stages(notes, data)
    status = open_updatable_index("own", str(data)).status()
    assert (status.posts, status.added, status.deleted, status.waiting) == (4, 0, 0, 0)


@pytest.mark.slow
def test_watching_syncs_after_each_change(copied, monkeypatch):
    notes, data = copied
    waits = iter([lambda: edit(notes), lambda: None, lambda: None])

    def sleep(seconds):
        try:
            next(waits)()
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("mathamr_kedro.project.sync.sleep", sleep)
    watch = FolderSync(notes, "own", str(data)).watch()
    assert next(watch) == Addition()
    found = next(watch)
    assert (found.added, found.deleted) == (
        ("note.md", "paper-euclid"),
        ("paper-many",),
    )
    with pytest.raises(KeyboardInterrupt):
        next(watch)


def test_only_environments_of_own_files_are_synced(copied):
    options = ["sync", str(copied[0]), "--env", "demo"]
    with pytest.raises(ConfigurationError, match="mathamr index add FILE"):
        CliRunner().invoke(index.command, options, catch_exceptions=False)


def run(command, data, *arguments):
    options = ["--env", "own", "--data-root", str(data)]
    return CliRunner().invoke(command, [*arguments, *options], catch_exceptions=False)


def test_results_are_of_the_kinds_asked_for(data):
    searcher = open_search("own", str(data))
    try:
        for kinds in (("lemma",), ("theorem",), ("lemma", "theorem"), ("text",)):
            found = searcher.search("primes", top=10, post_types=kinds).results
            assert {r.statement.kind for r in found} == set(kinds)
        # The filter comes before the cut.
        (first,) = searcher.search("infinitely many", 1, ("lemma",)).results
        assert first.post_id == "paper-euclid"
        assert str(first.statement) == (
            "Lemma 1.1 (Euclid), Divisors; used by 2 statements"
        )
        assert (first.statement.file, first.statement.place) == ("paper.tex", "line 9")
        with pytest.raises(ConfigurationError, match=r"'lema'.*did you mean 'lemma'"):
            searcher.search("primes", post_types=("lema",))
    finally:
        searcher.close()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("primes kind:lemma", {"paper-euclid"}),
        ('"infinitely many" primes', {"paper-many"}),
        ("primes -integer -infinitely -study", {"paper-euclid"}),
        ("primes +zebra", set()),
    ],
)
def test_operators_choose_among_results(data, typed, found):
    searcher = open_search(env="own", data_root=str(data))
    answer = searcher.search(typed)
    assert {result.post_id for result in answer.results} == found
    assert any("+zebra" in told for told in answer.response.warnings) is (not found)
    searcher.close()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("an integer n > 1", "an integer $n > 1$"),
        (r"p divides a·b in \ZZ", r"$p$ divides $a\cdot b$ in $\mathbb{Z}$"),
    ],
)
def test_formulas_are_read_however_they_are_typed(data, typed, meant):
    searcher = open_search("own", str(data))
    one, other = (searcher.read(text).formula_map for text in (typed, meant))
    searcher.close()
    assert one and {m.latex.replace(" ", "") for m in one} <= {
        m.latex.replace(" ", "") for m in other
    }


@pytest.mark.parametrize("options", [(), ("--system", "bm25"), ("--with", "bm25")])
def test_terminal_shows_number_name_section_and_uses(data, options):
    asked = ("a prime divides $ab$", "--type", "lemma,theorem", "--top", "3")
    shown = run(search.command, data, *asked, *options)
    assert shown.exit_code == 0, shown.output
    assert "Lemma 1.1 (Euclid), Divisors; used by 2 statements" in shown.stdout
    found = json.loads(run(search.command, data, *asked, *options, "--json").stdout)
    assert {r["statement"]["kind"] for r in found["results"]} <= {"lemma", "theorem"}


def test_pages_get_statements_with_all_that_a_book_prints(data):
    service = SearchService(ServeConfig("own", str(data)))
    try:
        asked = SearchRequest(3, type=("lemma",))
        (found,) = service.search("a prime divides a product", asked).results
        card = found.statement
        assert (card.kind, card.used_by) == ("lemma", 2)
        assert card.title == (TextPart("Lemma 1.1 (Euclid)"),)
        assert card.section == (TextPart("Divisors"),)
        assert (card.file, card.place) == ("paper.tex", "line 9")
        first = found.sentences[0].parts  # the statement itself, not its name
        assert first[0] == TextPart("If a prime ")
        (theorem,) = service.search_formula(
            "n > 1", SearchRequest(1, ("theorem",))
        ).results
        sheet = service.read_post(theorem.post_id).statement
        assert sheet.proof == ((TextPart("By Lemma."),),)
        assert [other.post_id for other in sheet.uses] == ["paper-euclid"]
        assert [other.title for other in sheet.users] == [(TextPart("Theorem 1.3"),)]
        about = service.list_systems()
        assert about.kinds == ("theorem", "lemma", "text")
        assert about.examples == ("Euclid", "Divisors")
        with pytest.raises(ConfigurationError, match="did you mean 'lemma'"):
            service.search_formula("n", SearchRequest(1, ("lema",)))
    finally:
        service.close()


def test_a_statement_is_shown_with_its_proof_and_who_uses_it(data):
    shown = run(post.command, data, "paper-factors").stdout
    for part in ("theorem 1.2", "section Divisors", "in paper.tex, line 11",
                 "its proof uses paper-euclid", "used by paper-many",
                 "proof: By Lemma."):  # fmt: skip
        assert part in shown


def test_summary_counts_statements_by_kind(data):
    shown = run(summary.command, data).stdout
    assert "… theorem" in shown and "… lemma" in shown and "… text" in shown
    report = (data / "08_reporting" / "ingestion.md").read_text()
    assert "| Statements: theorem | 2 |" in report
    assert "| Statements cited by proofs | 3 |" in report
    assert "| Training pairs | 3 |" in report


def test_links_of_proofs_become_a_benchmark(data, tmp_path):
    options = ("--links", "--output", str(tmp_path))
    result = run(beir.command, data, *options)
    assert "2 queries" in result.output
    lines = {}
    for split in ("train", "dev", "test"):
        header, *rows = (tmp_path / f"qrels/{split}.tsv").read_text().splitlines()
        assert header == "query-id\tcorpus-id\tscore"
        lines |= dict.fromkeys(rows, split)
    assert set(lines) == {
        "paper-factors\tpaper-euclid\t1",
        "paper-many\tpaper-factors\t1",
        "paper-many\tpaper-euclid\t1",
    }
    parts = {row.split("\t")[0]: split for row, split in lines.items()}
    for name, split in parts.items():  # decided only by the id
        place = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % 100
        assert split == ("train" if place < 70 else "dev" if place < 85 else "test")
    files = BeirFiles(split="train", training_split="")
    read = BeirCollection(tmp_path, files)
    documents = {post.post_id for post in read.posts()}
    assert {"paper-euclid", "paper-factors", "paper-many"} <= documents
    asked = [
        json.loads(q) for q in (tmp_path / "queries.jsonl").read_text().splitlines()
    ]
    assert {q["_id"] for q in asked} == {"paper-factors", "paper-many"}


def test_a_collection_without_links_makes_no_benchmark(tmp_path):
    """What is missing, and how to get it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("# A\n\nLet $x$ be even.\n")
    values = {"data_root": str(tmp_path / "d"), "raw_root": str(tmp_path / "notes")}
    configure_kedro(PROJECT)
    with KedroSession.create(PROJECT, env="own", runtime_params=values) as session:
        session.run(pipeline_names=["ingestion"])
    with pytest.raises(MissingInputError, match="unit=statement"):
        options = ("--links", "--output", str(tmp_path / "out"))
        run(beir.command, tmp_path / "d", *options)
