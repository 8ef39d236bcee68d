import re

import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import MalformedInputError, find_cause


def failures_of(catalog):
    return {
        (f.record_id, f.reason, f.kept)
        for f in catalog.load("ingestion_failures").records()
    }


def test_records_come_out_typed(ingest):
    catalog = ingest()
    posts = {p.post_id: p for p in catalog.load("posts").records()}
    assert posts["1"].text == "Why FORMULA_0?\n\nIs FORMULA_1 even?"
    assert [m.visual_id for m in posts["1"].formula_map][1] == "70"
    assert posts["1"].tags == ("algebra", "proof")
    assert (posts["2"].thread_id, posts["2"].score) == ("1", -1)
    (formula,) = catalog.load("formulas").records()
    assert (formula.latex, formula.presentation, formula.content) == (
        "x^2",
        "<m/>",
        "<c/>",
    )
    (topic,) = catalog.load("topics").records()
    assert (topic.text, topic.category) == ("T\n\nFORMULA_0", "Proof")
    assert list(catalog.load("training_pairs").records()) == [("1", "2")]
    (comment,) = catalog.load("comments").records()
    assert comment.text == "so FORMULA_0"


def test_statistics_balance(ingest):
    catalog = ingest()
    statistics = catalog.load("ingestion_statistics")
    assert statistics["posts"] == {"total": 3, "answer": 2, "question": 1}
    assert statistics["accounts"]["posts"] == {"read": 3, "written": 3, "dropped": 0}
    assert statistics["training_pairs"] == 1
    assert "| Posts | 3 |" in catalog.load("ingestion_report")
    assert catalog.exists("ingestion_figure")


def test_judged_post_that_is_not_here_is_noted(ingest):
    assert ("99", "judged_document_unknown", True) in failures_of(ingest())


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_duplicate_post_id_is_left_out(ingest, raw):
    edit(raw / "Posts.V1.3.xml", 'Id="3" ', 'Id="2" ')
    catalog = ingest()
    assert ("2", "duplicate_post_id", False) in failures_of(catalog)
    account = catalog.load("ingestion_statistics")["accounts"]["posts"]
    assert account == {"read": 3, "written": 2, "dropped": 1}


def test_answer_whose_question_is_missing_is_noted(ingest, raw):
    old, new = (f'Id="3" PostTypeId="2" ParentId="{parent}"' for parent in "18")
    edit(raw / "Posts.V1.3.xml", old, new)
    catalog = ingest()
    assert ("3", "question_missing", True) in failures_of(catalog)
    assert len(list(catalog.load("posts").records())) == 3


def test_row_without_id_or_of_another_type_is_left_out(ingest, raw):
    edit(raw / "Posts.V1.3.xml", 'Id="2" PostTypeId="2"', 'PostTypeId="2"')
    edit(raw / "Posts.V1.3.xml", 'Id="3" PostTypeId="2"', 'Id="3" PostTypeId="5"')
    found = failures_of(ingest())
    assert ("", "missing_attribute", False) in found
    assert ("3", "other_post_type", False) in found


def test_tsv_row_with_too_few_columns_is_left_out(ingest, raw):
    table = raw / "Formulas/latex_representation_v3/1.tsv"
    table.write_text(table.read_text() + "12\t1\t1\n")
    assert ("12", "too_few_columns", False) in failures_of(ingest())


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("Posts.V1.3.xml", "</posts>", "", r"Posts\.V1\.3\.xml.*line \d+.*fetch it"),
        ("Posts.V1.3.xml", "<posts>", "<posts><row", r"not well-formed XML"),
        ("Qrels/qrel_task2.tsv", "B.1", "A.1", r"qrel_task2\.tsv.*line 1.*right task"),
        ("Formulas/slt_representation_v3/1.tsv", "id\t", "no\t", r"header"),
        ("Topics/Task1/Topics_Task1.xml", "Topics", "Posts", r"root element"),
    ],
)
def test_hopeless_file_stops_the_run_with_a_clear_error(
    ingest, raw, name, old, new, message
):
    edit(raw / name, old, new)
    with pytest.raises(MalformedInputError, match=message):
        ingest()


def test_wrong_encoding_stops_the_run_with_a_clear_error(ingest, raw):
    edit(raw / "Posts.V1.3.xml", "Yes", "Été")
    posts = raw / "Posts.V1.3.xml"
    posts.write_bytes(posts.read_text().encode("latin-1"))
    with pytest.raises(MalformedInputError, match=r"UTF-8.*line 4.*iconv"):
        ingest()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Posts.V1.3.xml", r"Expected posts at .*Posts\.V1\.3\.xml"),
        ("Formulas/opt_representation_v3/1.tsv", "family 'opt'"),
        ("Qrels/qrel_task1.tsv", "Expected qrels at"),
    ],
)
def test_missing_file_is_named(ingest, raw, name, message):
    (raw / name).unlink()
    with pytest.raises(DatasetError) as caught:
        ingest()
    cause = find_cause(caught.value)
    assert re.search(message, str(cause))


def test_own_corpus_gives_the_same_records(ingest, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Sum\n\nLet $x$ be even.")
    (notes / "b.jsonl").write_text('{"id": "q", "question": "why?", "answer": "so"}\n')
    catalog = ingest(env="own", raw_root=notes)
    posts = {p.post_id: p for p in catalog.load("posts").records()}
    assert posts["a.md"].text == "Sum\n\nLet FORMULA_0 be even."
    assert list(catalog.load("training_pairs").records()) == [("q", "q/answer")]
    assert catalog.load("ingestion_statistics")["posts"]["total"] == 3


@pytest.mark.shared
def test_pool_has_the_counts_of_its_readme(ingest, shared):
    catalog = ingest(env="pool", raw_root=shared / "collection")
    statistics = catalog.load("ingestion_statistics")
    assert statistics["posts"] == {"total": 7395, "answer": 4626, "question": 2769}
    assert statistics["formulas"] == {
        "rows": 82_176,
        "with_latex": 82_151,
        "with_presentation": 82_072,
        "with_content": 81_766,
        "returnable": 77_350,
        "visual_ids": 41_262,
        "returnable_visual_ids": 38_657,
    }
    assert statistics["comments"] == 16_692
    assert statistics["topics"] == {"task1": 198, "task2": 185}
    assert sum(f["left_out"] for f in statistics["failures"].values()) == 0
