import gzip

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.corpus.xml_records import read_rows, read_xml

DUMP = (
    '<?xml version="1.0" encoding="utf-8"?>\n<posts>\n'
    '  <row Id="1" Body="&lt;p&gt;é&lt;/p&gt;"/>\n  <row Id="2" Body=""/>\n</posts>\n'
)


def rows(path):
    return [(line, dict(values)) for line, values in read_rows(path)]


def test_rows_come_with_their_lines(tmp_path):
    file = tmp_path / "Posts.xml"
    file.write_text(DUMP, encoding="utf-8")
    assert rows(file) == [
        (3, {"Id": "1", "Body": "<p>é</p>"}),
        (4, {"Id": "2", "Body": ""}),
    ]


def test_gzipped_dump_reads_the_same(tmp_path):
    file = tmp_path / "Posts.xml.gz"
    file.write_bytes(gzip.compress(DUMP.encode()))
    assert len(rows(file)) == 2


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a&#x1;b", "a\ufffdb"),
        ("a\x02b", "a\ufffdb"),
        ("&#xD800;&#55296;", "\ufffd\ufffd"),
        ("&#" + "9" * 5000 + ";", "\ufffd"),
        ("&#10;&#x41;&amp;", "\nA&"),
    ],
)
@pytest.mark.parametrize("before", [0, 32760, 32766, 65530])
def test_characters_that_xml_forbids_are_replaced(tmp_path, written, read, before):
    file = tmp_path / "Posts.xml"
    rows_ = f'<row A="{"x" * before}"/><row A="{written}"/><row A="z"/>'
    file.write_bytes(f"<posts>{rows_}</posts>".encode())
    assert [values["A"] for _, values in rows(file)] == ["x" * before, read, "z"]


def test_entities_are_not_expanded(tmp_path):
    (tmp_path / "secret").write_text("secret")
    file = tmp_path / "Posts.xml"
    entity = f'<!DOCTYPE posts [<!ENTITY e SYSTEM "{tmp_path / "secret"}">]>'
    file.write_text(f'{entity}<posts><row A="1"/>&e;</posts>')
    assert rows(file) == [(1, {"A": "1"})]


@pytest.mark.parametrize("value", ["laughs", 'SYSTEM "secret"'])
def test_entities_of_topics_are_not_expanded(tmp_path, value):
    (tmp_path / "secret").write_text("laughs")
    file = tmp_path / "topics.xml"
    quoted = value if " " in value else f'"{value}"'
    entities = f"<!DOCTYPE t [<!ENTITY e {quoted}>]>"
    file.write_text(f"{entities}<t><title>one &e; two</title></t>")
    title = read_xml(file).find("title")
    assert title.text == "one "
    assert "laughs" not in "".join(title.itertext())


def test_missing_file_is_named(tmp_path):
    with pytest.raises(MissingInputError, match=r"Posts\.xml"):
        rows(tmp_path / "Posts.xml")


def test_truncated_dump_yields_its_rows_then_says_what_to_do(tmp_path):
    file = tmp_path / "Posts.xml"
    file.write_text(DUMP[: DUMP.index('<row Id="2"') + 12], encoding="utf-8")
    found = []
    with pytest.raises(MalformedInputError, match=r"line \d+.*fetch it again"):
        for _, values in read_rows(file):
            found.append(values["Id"])
    assert found == ["1"]


def test_wrong_encoding_names_line_and_remedy(tmp_path):
    file = tmp_path / "Posts.xml"
    file.write_bytes(DUMP.encode("latin-1"))
    with pytest.raises(MalformedInputError, match=r"UTF-8.*line 3.*iconv"):
        rows(file)


def test_damaged_gzip_is_explained(tmp_path):
    file = tmp_path / "Posts.xml.gz"
    file.write_bytes(gzip.compress(DUMP.encode() * 50)[:-20])
    with pytest.raises(MalformedInputError, match=r"fetch it again|too early"):
        rows(file)


def test_long_attributes_are_read(tmp_path):
    file = tmp_path / "Posts.xml"
    file.write_text(f'<posts><row Id="1" Body="{"x" * 11_000_000}"/></posts>')
    assert len(rows(file)[0][1]["Body"]) == 11_000_000


def test_a_small_file_with_bytes_that_are_no_text_is_refused_by_its_line(tmp_path):
    file = tmp_path / "Topics.xml"
    file.write_bytes(b"<Topics>\n<Topic>\xed\xa0\x80\xff</Topic>\n</Topics>\n")
    with pytest.raises(MalformedInputError, match=r"UTF-8 in .*Topics.xml', line 2"):
        read_xml(file)


def test_a_small_file_may_hold_characters_that_xml_does_not_allow(tmp_path):
    file = tmp_path / "Topics.xml"
    file.write_bytes(b"<Topics>a&#x1;b</Topics>")
    assert read_xml(file).text == "a\ufffdb"
