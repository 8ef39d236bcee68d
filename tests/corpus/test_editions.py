"""Topics of all three editions, files in the spelling in which they were published."""

import html
from pathlib import Path

import pytest
import yaml

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.corpus import ArqmathCollection, ArqmathFiles
from mathamr_kedro.corpus.topics import TopicFormulas, clean_topic

PROJECT = Path(__file__).resolve().parents[2]
# Edition, topic number, file names, type of the formulas in the question.
EDITIONS = {
    "ARQMath-1": (
        "7", "Topics_V2.0.xml", "Topics_V1.1.xml", "Formula_topics_{lower}_V2.0.tsv",
    ),
    "ARQMath-2": (
        "207", "Topics_Task1_2021_V1.1.xml", "Topics_Task2_2021_V1.1.xml",
        "Topics_2021_Formulas_{name}_V1.1.tsv",
    ),
    "ARQMath-3": (
        "307", "Topics_Task1_2022_V0.1.xml", "Topics_Task2_2022_V0.1.xml",
        "Topics_Formulas_{name}.V0.1.tsv",
    ),
}  # fmt: skip
# Formula ids restart with every edition: q_1 is another formula in each.
LATEX = {"7": "a+1.", "207": "b+2", "307": r"|x-a|<c \le d>0,"}
FAMILIES = ("Latex", "SLT", "OPT")


def write_edition(folder, edition):
    number, task1, task2, tables = EDITIONS[edition]
    formula = LATEX[number]
    span = f'<span class="math-container" id="q_1">${formula}$</span>'
    body = (
        f"<Title>T</Title><Question>{html.escape(f'<p>If {span} so.</p>')}</Question>"
    )
    query = f"<Formula_Id>q_1</Formula_Id><Latex>{html.escape(formula)}</Latex>"
    files = {
        f"Task1&3 Topics/{edition}/{task1}": f'<Topic number="A.{number}">{body}',
        f"Task2 Topics/{edition}/{task2}": f'<Topic number="B.{number}">{query}{body}',
    }
    for name, text in files.items():
        path = folder / "Topics" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<Topics>{text}<Tags>t</Tags></Topic></Topics>")
    path = folder / f"Topics/Task1&3 Topics/{edition}/Formulas"
    path.mkdir()
    letter = formula.strip("|")[0]
    cells = {
        "Latex": html.escape(formula) if number == "7" else formula,
        "SLT": f"<math><mi>{letter}</mi></math>",
        "OPT": f"<math><ci>{letter}</ci></math>",
    }
    for name, cell in cells.items():
        column = name.lower() if number == "7" and name != "Latex" else "formula"
        kind = "body" if number == "307" else "question"
        header = f"id\ttopic_id\tthread_id\ttype\t{column}\n"
        row = f"q_1\tA.{number}\t1\t{kind}\t{cell}\n"
        file = tables.format(name=name, lower=name.lower())
        (path / file).write_text(header + row)
    return path


@pytest.fixture
def collection(tmp_path):
    for edition in EDITIONS:
        write_edition(tmp_path, edition)
    posts = tmp_path / "Collection" / "Posts.V1.3.xml"
    posts.parent.mkdir()
    posts.write_text("<posts/>")
    conf = yaml.safe_load((PROJECT / "conf/arqmath/catalog.yml").read_text())
    files = conf["collection"]["files"]
    kept = ("posts", "topics", "topic_formulas")
    files = read_parameters(ArqmathFiles, {k: files[k] for k in kept}, "files")
    return ArqmathCollection(tmp_path, files)


def test_every_published_spelling_is_read(collection):
    collection.check_layout()
    formulas = {f.post_id: f for f in collection.topic_formulas()}
    assert {key: f.latex for key, f in formulas.items()} == {
        f"A.{number}": latex for number, latex in LATEX.items()
    }
    assert all(f.presentation and f.content for f in formulas.values())
    assert {f.place for f in formulas.values()} == {"question", "body"}


def test_patterns_of_the_pool_match_the_published_spellings(collection, tmp_path):
    conf = yaml.safe_load((PROJECT / "conf/pool/catalog.yml").read_text())
    patterns = conf["collection"]["files"]["topic_formulas"]
    for (pattern,) in patterns.values():
        found = tmp_path.glob(pattern.replace("${globals:topics_root}", "Topics"))
        assert len(list(found)) == len(EDITIONS)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("edition", EDITIONS)
def test_edition_without_its_formula_files_is_named(
    collection, tmp_path, edition, family
):
    spelling = EDITIONS[edition][3].format(name=family, lower=family.lower())
    (tmp_path / f"Topics/Task1&3 Topics/{edition}/Formulas/{spelling}").unlink()
    with pytest.raises(MissingInputError) as refused:
        collection.check_layout()
    for part in (edition, family, spelling, "Task1&3 Topics"):
        assert part in str(refused.value)


def test_topics_without_formula_ids_need_no_formula_files(tmp_path):
    (tmp_path / "Posts.xml").write_text("<posts/>")
    (tmp_path / "Topics_own.xml").write_text(
        '<Topics><Topic number="A.9001"><Title>Is $x$ odd?</Title></Topic></Topics>'
    )
    files = ArqmathFiles(
        "Posts.xml", topics=("Topics_*.xml",), topic_formulas={"latex": ("*.tsv",)}
    )
    assert len(ArqmathCollection(tmp_path, files).check_layout()) == 2


def test_formulas_of_topics_are_those_of_their_rows(collection):
    rows = {f.post_id: f for f in collection.topic_formulas()}
    formulas = TopicFormulas(rows.values())
    topics = [clean_topic(raw, {}, formulas) for raw in collection.topics()]
    assert len(topics) == 2 * len(EDITIONS)
    assert [problems for _, problems in topics] == [[]] * len(topics)
    for topic, _ in topics:
        row = rows["A" + topic.topic_id[1:]]
        (mention,) = topic.formula_map
        assert (mention.formula_id, mention.visual_id) == ("q_1", row.visual_id)
        assert mention.latex == row.latex.rstrip(".,")
        assert topic.latex == (row.latex if topic.task == "task2" else None)
        assert topic.text.endswith(f"If FORMULA_0{row.latex[len(mention.latex) :]} so.")
