"""Records of a Stack Exchange dump."""

from __future__ import annotations

import pytest

from mathamr_kedro.corpus.raw import RawPost
from mathamr_kedro.corpus.xml_records import read_comments, read_posts


def dump(tmp_path, *rows):
    path = tmp_path / "Posts.xml"
    path.write_text(f"<posts>{''.join(rows)}</posts>", encoding="utf-8")
    return path


@pytest.mark.parametrize("score", ["²", "9" * 5000, "--3", "1.5", "٣"])
def test_a_score_that_is_no_number_is_noted_and_the_post_goes_on(tmp_path, score):
    row = f'<row Id="1" PostTypeId="1" Score="{score}" Body="x"/>'
    failure, post = read_posts(dump(tmp_path, row), "Posts.xml")
    assert (failure.reason, failure.place, failure.kept) == (
        "bad_score",
        "line 1",
        True,
    )
    assert isinstance(post, RawPost) and post.score is None


@pytest.mark.parametrize("score", ["-3", "0", "12"])
def test_scores_are_whole_numbers(tmp_path, score):
    row = f'<row Id="1" PostTypeId="2" Score="{score}"/>'
    (post,) = read_posts(dump(tmp_path, row), "Posts.xml")
    assert post.score == int(score)


def test_an_id_of_thousands_of_digits_is_a_failure(tmp_path):
    rows = (f'<row Id="{"9" * 5000}" PostTypeId="1"/>', '<row Id="2" PostTypeId="1"/>')
    failure, post = read_posts(dump(tmp_path, *rows), "Posts.xml")
    assert (failure.reason, failure.kept) == ("bad_id", False)
    assert len(failure.record_id) == 200
    assert post.post_id == "2"


def test_other_types_and_missing_attributes_are_failures(tmp_path):
    rows = ('<row Id="1" PostTypeId="4"/>', '<row Id="2"/>')
    failures = list(read_posts(dump(tmp_path, *rows), "Posts.xml"))
    assert [f.reason for f in failures] == ["other_post_type", "missing_attribute"]
    (failure,) = read_comments(dump(tmp_path, '<row Id="1" Text="x"/>'), "Comments.xml")
    assert "PostId" in failure.detail


def test_what_was_replaced_is_noted(tmp_path):
    row = '<row Id="1" PostTypeId="1" Body="a&#x1;b"/>'
    failure, post = read_posts(dump(tmp_path, row), "Posts.xml")
    assert (failure.reason, failure.kept) == ("replaced_character", True)
    assert post.body == "a\ufffdb"
