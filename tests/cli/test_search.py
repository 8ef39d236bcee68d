"""Searching and explaining, in process and from the terminal."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from mathamr_kedro.base.errors import (
    ConfigurationError,
    FormulaError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.cli import explain, search
from mathamr_kedro.project.search import open_search
from mathamr_kedro.search.responses import write_parts
from mathamr_kedro.systems.mathamr_plus import IndexingConfig, Strategy
from mathamr_kedro.systems.search_config import list_search_strategies
from tests.conftest import PATIENCE
from tests.pipelines.graph_world import PROJECT
from tests.pipelines.search_world import TEXTS, TITLES, build_index, write_encoder

ALL = ("question", "answer")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    build_index(folder)
    return folder


@pytest.fixture(scope="module")
def searcher(data: Path):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        opened = open_search("test", str(data), system="maxsim-exact")
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def in_project(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(PROJECT)
    logging.disable(logging.INFO)  # the sessions of the world above log to the screen
    yield
    logging.disable(logging.NOTSET)


def run(command, data: Path, *arguments: str):
    options = ["--env", "test", "--data-root", str(data)]
    return CliRunner().invoke(command, [*arguments, *options], catch_exceptions=False)


@pytest.mark.parametrize("key", TEXTS)
def test_the_text_of_a_post_finds_that_post_first(searcher, key: str) -> None:
    title = TITLES.get(key)
    text = f"{title}\n\n{TEXTS[key]}" if title else TEXTS[key]
    best = searcher.search(text, post_types=ALL).results[0]
    assert (best.rank, best.post_id) == (1, key)
    assert best.score == pytest.approx(1.0, abs=1e-5)
    for match in best.matches:
        assert match.query == match.post
        assert match.similarity == pytest.approx(1.0, abs=1e-5)


def test_results_say_what_they_are_in_words(searcher) -> None:
    answer = searcher.search(r"why is $\sqrt{2}$ irrational", top=6, post_types=ALL)
    assert len(answer.results) == 6
    assert not answer.response.warnings
    scores = [r.score for r in answer.results]
    assert scores == sorted(scores, reverse=True)
    found = next(r for r in answer.results if r.post_id == "2")
    assert write_parts(found.title) == r"The root of $2$"  # of the question
    assert {match.query for match in found.matches} == {"F0", "S1"}
    words = " ".join(write_parts(s.parts) for s in found.sentences)
    assert words in TEXTS["2"]
    assert words in str(found)


def test_what_is_shown_adds_up_to_the_score(searcher) -> None:
    answer = searcher.search(r"why is $\sqrt{2}$ irrational")
    for result in answer.results:
        terms = searcher.explain_found(answer.found, result.post_id).terms
        shares = [m.share for m in terms]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(result.score, abs=1e-6)
        assert {m.weight for m in terms} == {1 / 3}  # F0, S1, D
        (part,) = result.parts
        assert part.share == pytest.approx(result.score, abs=1e-6)


def test_types_of_the_strategy_hold_unless_others_are_asked_for(searcher) -> None:
    kinds = {r.type for r in searcher.search("Are there primes?").results}
    assert kinds == {"answer"}  # conf/base/parameters/indexing.yml
    found = searcher.search("Are there primes?", post_types=("question",)).results
    assert {r.post_id for r in found} == set(TITLES)


def test_query_variables_stand_for_operands(searcher) -> None:
    answer = searcher.search_formula("?m^2 = ?{times} ?n^2", top=6)
    first, *others = answer.results
    assert first.post_id == "2"
    assert "a^2 = 2b^2" in str(first)
    assert answer.response.warnings == ()
    assert first.pattern is not None and first.pattern.whole
    assert str(first.pattern) == "an instance, with ?m = a, ?times = 2, ?n = b"
    assert "?m^2 = ?{times} ?n^2" in write_parts(answer.response.query[0].parts)
    assert all(result.pattern is None for result in others)


def test_a_part_that_matches_comes_before_what_does_not(searcher) -> None:
    (first, *_) = searcher.search_formula("(?a - 1) e^?b", top=6).results
    assert (first.post_id, first.pattern.whole) == ("4", False)
    assert {k: f.latex for k, f in first.pattern.bindings.items()} == {
        "?a": "x", "?b": "x",
    }  # fmt: skip


def test_no_match_is_told_and_the_nearest_are_shown(searcher) -> None:
    answer = searcher.search_formula("?a^2 = ?a^3", top=2)
    assert len(answer.results) == 2
    (warning,) = answer.response.warnings
    assert "is an instance of ?a^2 = ?a^3; these are the most similar" in warning


def test_nothing_but_variables_is_refused(searcher) -> None:
    with pytest.raises(FormulaError, match="around the query variables"):
        searcher.search_formula("?a")


def test_bindings_are_shown(data: Path) -> None:
    shown = run(search.command, data, "--formula", "?m^2 = 2 ?n^2", "--top", "1")
    assert "an instance, with ?m = a, ?n = b" in shown.output
    listed = run(search.command, data, "--formula", "?m^2 = 2 ?n^2", "--json")
    first, *others = json.loads(listed.stdout)["results"]
    bindings = {k: f["latex"] for k, f in first["pattern"]["bindings"].items()}
    assert (bindings, first["pattern"]["whole"]) == ({"?m": "a", "?n": "b"}, True)
    assert all(other["pattern"] is None for other in others)


def test_a_formula_finds_the_posts_that_have_it(searcher) -> None:
    results = searcher.search_formula(r"(x-1)e^x + C", top=6).results
    assert {r.post_id for r in results} == {"1", "2", "3", "4", "6"}  # 5 has none
    for result in results:
        (match,) = result.matches
        assert match.query == "F0"
        assert match.post.startswith("F")
        assert match.similarity == pytest.approx(result.score, abs=1e-4)
        shares = [part.share for part in result.parts]
        systems = [part.system for part in result.parts]
        assert systems == ["mathamr_plus", "bm25_slt", "bm25_opt"]
        assert sum(shares) == pytest.approx(result.score, abs=2e-6)
    assert results[0].post_id == "4"
    assert results[0].matches[0].post == "F1"
    assert "$(x-1)e^x + C$  in: " in str(results[0])
    assert len(searcher.search_formula("x", top=2).results) == 2


def test_posts_like_a_post_are_others(searcher) -> None:
    answer = searcher.search_like("1", top=5, post_types=ALL)
    assert sorted(r.post_id for r in answer.results) == ["2", "3", "4", "5", "6"]
    assert "$2$" in write_parts(answer.response.query[0].parts)  # of the title


@pytest.mark.parametrize("latex", [r"\frac{a", r"\nosuchcommand{x}", "}}{{"])
def test_unreadable_latex_gives_a_warning_and_a_result(searcher, latex: str) -> None:
    answer = searcher.search(f"Is ${latex}$ even?")
    assert len(answer.results) == 3
    assert latex in answer.response.warnings[0]
    assert searcher.search_formula(latex).response.warnings


@pytest.mark.parametrize("text", ["", "   ", "?!", "$$ $$"])
def test_an_empty_query_is_refused(searcher, text: str) -> None:
    with pytest.raises(MalformedInputError, match="Expected words or formulas"):
        searcher.search(text)
    with pytest.raises(MalformedInputError, match="Expected LaTeX"):
        searcher.search_formula(" ")


def test_an_unknown_post_is_refused(searcher) -> None:
    with pytest.raises(MissingInputError, match="No post '11' among the 6"):
        searcher.search_like("11")
    with pytest.raises(MissingInputError, match="No post '11' among the 6"):
        searcher.explain("primes", "11")


def test_an_explanation_shows_every_node_in_words(searcher) -> None:
    found = searcher.explain(r"why is $\sqrt{2}$ irrational", "2")
    assert tuple(map(str, found.query_nodes)) == (
        r"F0 $\sqrt{2}$", r"S1 why is $\sqrt{2}$ irrational", "D",
    )  # fmt: skip
    assert tuple(map(str, found.post_nodes)) == (
        r"F0 $\sqrt{2} = \frac{a}{b}$", "F1 $a^2 = 2b^2$", "F2 $a$",
        r"S1 Suppose that $\sqrt{2} = \frac{a}{b}$.",
        "S2 Then $a^2 = 2b^2$, so $a$ is even.", "D",
    )  # fmt: skip
    results = searcher.search(r"why is $\sqrt{2}$ irrational").results
    score = next(r.score for r in results if r.post_id == "2")
    assert found.score == pytest.approx(score, abs=1e-6)
    assert sum(m.share for m in found.matches()) == pytest.approx(score, abs=1e-6)
    assert sum(m.share for m in found.terms) == pytest.approx(score, abs=1e-6)
    assert found.document == pytest.approx(found.similarity[-1, -1])


@pytest.fixture
def closed(searcher):
    """The terminal opens the index itself; an embedded one has one owner at a time."""
    searcher.close()
    return searcher


def test_a_topic_is_explained_by_its_id(searcher) -> None:
    by_id = searcher.explain("A.1", "2")
    by_text = searcher.explain(f"{TITLES['1']}\n\n{TEXTS['1']}", "2")
    assert by_id.query_key == "A.1"
    assert by_id.query_nodes == by_text.query_nodes
    assert by_id.similarity == pytest.approx(by_text.similarity, abs=1e-5)
    (row,) = searcher.explain("B.1", "2").similarity  # only its formula
    (place,) = [
        n for n, node in enumerate(by_id.query_nodes) if node.caption == r"$\sqrt{4}$"
    ]
    assert row == pytest.approx(by_id.similarity[place], abs=1e-6)
    with pytest.raises(MissingInputError, match=r"got 'A\.99'.*from A\.1 to B\.1"):
        searcher.explain("A.99", "2")


class TestTerminal:
    """Runs last: the index of the module is closed."""

    def test_search_prints_posts_and_reasons(self, data: Path, closed) -> None:
        asked = (r"is $\frac{a$ even", "--top", "2", "--why")
        result = run(search.command, data, *asked)
        assert result.exit_code == 0, result.output
        assert "1. " in result.stdout
        assert r"F0 $\frac{a$  ~  " in result.stdout
        assert r"warning: $\frac{a$" in result.stderr
        assert "2 posts in" in result.stderr

    @pytest.mark.parametrize(
        ("arguments", "count"),
        [
            (("primes", "--type", "question"), 3),
            (("--formula", "x^2"), 5),
            (("--like", "1", "--top", "1"), 1),
        ],
    )
    def test_json_holds_the_results(self, data: Path, closed, arguments, count) -> None:
        found = json.loads(run(search.command, data, *arguments, "--json").stdout)
        results = found["results"]
        assert [r["rank"] for r in results] == list(range(1, count + 1))
        for result in results:
            shares = sum(part["share"] for part in result["parts"])
            assert shares == pytest.approx(result["score"], abs=2e-6)

    @pytest.mark.parametrize(
        ("arguments", "path", "asked"),
        [
            ((r"Is $\sqrt 2$ primee?",), "search", {"q": r"Is $\sqrt 2$ primee?"}),
            (
                ("primes", "--system", "bm25", "--type", "question"),
                "search",
                {"q": "primes", "system": "bm25", "type": "question"},
            ),
            (("--formula", "?a^2 = 2 ?b^2"), "formula", {"latex": "?a^2 = 2 ?b^2"}),
        ],
    )
    def test_json_is_what_the_server_answers(
        self, data: Path, closed, arguments, path: str, asked
    ) -> None:
        pytest.importorskip("fastapi", reason="the extra serve is missing")
        from fastapi.testclient import TestClient

        from mathamr_kedro.serve import SearchService, ServeConfig, create_app

        printed = run(search.command, data, *arguments, "--json", "--top", "3")
        service = SearchService(ServeConfig("test", str(data)))
        config = ServeConfig("test", hosts=("testserver",), seconds=PATIENCE)
        client = TestClient(create_app(config, service))
        found = client.get(f"/api/{path}", params={"top": 3, **asked}).json()
        service.close()
        assert found["results"]
        assert json.loads(printed.stdout) == found

    def test_default_is_words_and_answers_with_their_questions(
        self, data, closed
    ) -> None:
        """``docs/results/benchmark.md`` has nothing better without a second model."""

        def ask(*options: str) -> list[tuple[str, float]]:
            result = run(search.command, data, "Are there primes?", "--json", *options)
            results = json.loads(result.stdout)["results"]
            return [(r["post_id"], r["score"]) for r in results]

        assert ask() == ask("--system", "words+vectors")
        assert ask("--system", "with_question") != ask("--system", "maxsim-exact")
        assert ask("--with", "bm25")[0][0] == "6"
        assert [key for key, _ in ask("--system", "bm25")] == ["6"]
        strategy = list_search_strategies(Strategy())["with_question"]
        pool = yaml.safe_load((PROJECT / "conf/pool/parameters.yml").read_text())
        best = pool["evaluation"]["strategies"][0]
        assert {name: getattr(strategy, name) for name in best} == best

    def test_unknown_systems_are_refused(self, data: Path, closed) -> None:
        with pytest.raises(ConfigurationError, match="did you mean 'bm25'"):
            run(search.command, data, "primes", "--system", "bm255")
        with pytest.raises(ConfigurationError, match="for posts is named 'bm25_slt'"):
            run(search.command, data, "primes", "--with", "bm25_slt")
        known = r"No system for formulas is named 'bm25_graph'.* Known: mathamr_plus, "
        with pytest.raises(ConfigurationError, match=known + ".*bm25_slt, bm25_opt"):
            run(search.command, data, "--formula", "x", "--system", "bm25_graph")
        with pytest.raises(ConfigurationError, match="formulas is named 'bm25_questi"):
            run(search.command, data, "--formula", "x", "--with", "bm25_question")
        with pytest.raises(ConfigurationError, match="named 'nosuch'"):
            run(search.command, data, "--formula", "x", "--system", "nosuch")
        result = run(search.command, data, "--formula", "x", "--type", "answer")
        assert "--type chooses among posts" in result.output

    @pytest.mark.parametrize("system", ["bm25", "bm25_tuples", "bm25_opt", "bm25_slt"])
    def test_formulas_are_found_by_each_system(self, data, closed, system) -> None:
        latex = ("--formula", "a^2 = 2b^2", "--json", "--top", "3")
        result = run(search.command, data, *latex, "--system", system)
        best = json.loads(result.stdout)["results"][0]
        assert (best["post_id"], best["matches"][0]["post"]) == ("2", "F1")
        result = run(search.command, data, *latex, "--with", system)
        names = [
            part["system"] for part in json.loads(result.stdout)["results"][0]["parts"]
        ]
        assert names == ["with_patterns", system]

    def test_default_for_formulas_is_the_fusion_of_the_pool(self, data, closed) -> None:
        """``docs/results/pool.md``: vectors and patterns of both trees, equal parts."""
        pool = yaml.safe_load((PROJECT / "conf/pool/parameters.yml").read_text())
        best = pool["evaluation"]["fusions"][-1]
        found = IndexingConfig().search.fuse_patterns("mathamr_plus")
        assert (found.method, list(found.of)) == (best["method"], best["of"])
        assert "weights" not in best

    def test_a_dash_reads_the_query_from_the_input(self, data, closed) -> None:
        where = ["--env", "test", "--data-root", str(data), "--json"]
        for arguments in (["-"], ["--formula", "-"]):
            typed = [a if a != "-" else "x^2" for a in arguments]
            piped = CliRunner().invoke(
                search.command, [*arguments, *where], input="x^2\n"
            )
            asked = CliRunner().invoke(search.command, [*typed, *where])
            assert json.loads(piped.stdout) == json.loads(asked.stdout)
            assert json.loads(asked.stdout)["results"]

    def test_long_queries_are_shown_in_few_lines(self, data, closed) -> None:
        text = " ".join(f"Is ${n}x$ the number {n}?" for n in range(1, 60))
        short = run(search.command, data, text, "--top", "2").stdout
        assert len(short.splitlines()) == 4  # two for each
        asked = ("--system", "with_question", "--why")
        result = run(search.command, data, text, "--top", "2", *asked)
        lines = result.stdout.splitlines()
        assert len(lines) < 40
        rests = [line for line in lines if "other matches" in line]
        assert len(rests) == 2
        blocks = result.stdout.strip().split("\n\n")
        for block in blocks:
            head, *shown = block.splitlines()
            start = next(i for i, line in enumerate(shown) if "sum of" in line)
            shown = shown[start + 1 :]
            shares = [float(line.split()[0]) for line in shown]
            assert sum(shares) == pytest.approx(float(head.split()[2]), abs=1e-3)
        result = run(explain.command, data, text, "6")
        assert len(result.output.splitlines()) < 60
        nonsense = "?" * 5000
        with pytest.raises(MalformedInputError) as caught:
            run(search.command, data, nonsense)
        assert len(str(caught.value)) < 300

    def test_parts_of_the_default_add_up(self, data: Path, closed) -> None:
        """Answers with their questions, document vectors, weights: all is said."""
        for options in ((), ("--with", "bm25"), ("--system", "bm25")):
            result = run(search.command, data, "Are there primes?", "--json", *options)
            for found in json.loads(result.stdout)["results"]:
                shares = [part["share"] for part in found["parts"]]
                assert sum(shares) == pytest.approx(found["score"], abs=2e-6)
                if not options:
                    words, _ = found["parts"]
                    told = sum(share["share"] for share in words["words"])
                    assert told == pytest.approx(words["score"] or 0, abs=1e-5)
        asked = ("Are there primes?", "--with", "bm25", "--why")
        shown = run(search.command, data, *asked).stdout
        assert "by bm25, whose own score is" in shown
        assert "words+vectors 1.0000 is the sum of:" in shown
        assert "by bm25_fields, whose own score is" in shown
        assert "~  question " in shown
        result = run(explain.command, data, "Are there primes?", "6")
        *reasons, score = result.output.splitlines()[:3]
        assert reasons == [
            "the title of its question asks the same",
            "shares the word: primes",
        ]
        assert re.match(r"bm25_fields\+with_question \d\.\d{4}, the sum of:", score)
        assert "D (document vectors)  ~  " in result.output

    @pytest.mark.parametrize("arguments", [(), ("primes", "--like", "1")])
    def test_one_question_at_a_time(self, data: Path, arguments) -> None:
        result = run(search.command, data, *arguments)
        assert result.exit_code == 2
        assert "Give one of TEXT, --formula, --like and --queries" in result.output

    def test_explain_writes_heatmaps(self, data: Path, closed, tmp_path: Path) -> None:
        output = str(tmp_path / "new/map.png")
        result = run(explain.command, data, "are primes even", "6", "--output", output)
        assert "with_question " in result.output
        assert "\nMaxSim " in result.output
        assert "S1 are primes even  ~  " in result.output
        assert "\nDocument vectors " in result.output
        assert (tmp_path / "new/map.png").read_bytes().startswith(b"\x89PNG")
        result = run(explain.command, data, "primes", "6", "--output", "map.pdf")
        assert "Expected a name in .png" in result.output

    def test_a_missing_index_says_what_to_run(self, tmp_path: Path) -> None:
        with pytest.raises(MissingInputError, match="kedro run --env test"):
            open_search("test", str(tmp_path))

    def test_an_index_of_another_encoder_is_refused(self, data: Path) -> None:
        write_encoder(data, seed=5)
        with pytest.raises(ConfigurationError, match="--pipelines indexing"):
            open_search("test", str(data))
        write_encoder(data)
