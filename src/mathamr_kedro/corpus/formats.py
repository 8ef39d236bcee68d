"""Readers of other programs' files: notebooks, Word, PDF, Lean; encodings.

Pandoc converts structured formats with their equations to Markdown; of a PDF only the
text layer is read, page by page. Both need the extra ``formats``.

Lean files are read without Lean: comments, namespaces and the start of each command
suffice. Proofs, private declarations and those without a name are skipped::

    /-- Addition is commutative. -/
    @[simp] theorem add_comm (a b : ℕ) : a + b = b + a := by ...
            ▼
    theorem Nat.add_comm       Addition is commutative.
                               theorem add_comm (a b : ℕ) : a + b = b + a
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.corpus.raw import MAX_FILE

PANDOC = {".ipynb": "ipynb", ".rst": "rst", ".docx": "docx"}
"""Suffix to the format as Pandoc names it."""

_MARKDOWN = "commonmark+tex_math_dollars+pipe_tables-raw_html"
_INSTALL = (
    "the extra 'formats' is not installed; run `pip install 'mathamr-kedro[formats]'`"
)
_DECLARED = re.compile(
    rb"\\usepackage\s*\[([\w-]+)\]\s*\{inputenc\}"
    rb"|<meta[^<>]{0,200}?\bcharset\s*=\s*[\"']?([\w-]+)"
)
_BOMS = (b"\xff\xfe", b"\xfe\xff")
_LIKELY = [
    "utf_16", "cp1252", "cp1251", "gb18030", "shift_jis", "euc_kr", "big5",
]  # fmt: skip
"""Encodings of mathematical texts besides UTF-8, the likeliest first."""

_CODE_CELL = re.compile(r"^``` \w*\n.*?^```$\n?", re.MULTILINE | re.DOTALL)
_HEAD = 20_000  # bytes in which an encoding is declared
_INPUTENC = {
    "latin9": "iso8859-15", "ansinew": "cp1252", "applemac": "mac-roman",
    "macce": "mac-latin2", "utf8x": "utf-8",
}  # fmt: skip
"""LaTeX's names of encodings that Python does not know."""

KINDS = {
    "theorem": "theorem", "lemma": "lemma", "def": "definition",
    "abbrev": "definition", "structure": "structure", "class": "class",
    "inductive": "inductive", "axiom": "axiom", "instance": "instance",
}  # fmt: skip
"""Keyword to the kind of a statement."""

_TOKEN = re.compile(
    r"/--(?P<doc>.*?)-/|/-!(?P<module>.*?)-/|/-.*?-/|--[^\n]*"
    r"|^(?:noncomputable\s+|public\s+|@\[expose\]\s+)*"
    r"(?P<scope>namespace|section|mutual|end)\b[ \t]*(?P<name>[^\s(:{\[]*)"
    r"|^(?:@\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*|(?:protected|noncomputable|nonrec|partial|unsafe|scoped|public)\s+)*"
    rf"(?P<kind>{'|'.join(KINDS)})\s+(?P<declared>[^\s(:{{\[⦃]+)"
    r"|^(?P<other>[a-z#@][\w!]*)",
    re.DOTALL | re.MULTILINE,
)
_BODY = re.compile(r":=|^\s*\||\bwhere\b|^\S", re.MULTILINE)
_MAX_STATEMENT = 2000  # characters; longer ones are generated


def check_size(path: Path) -> None:
    """Reject a file that is too large to be read; pictures make some formats large."""
    limit = MAX_FILE * (10 if path.suffix.lower() in (".pdf", *PANDOC) else 1)
    if path.stat().st_size > limit:
        raise MalformedInputError(
            f"expected at most {limit:,} bytes in a file; split it"
        )


def read_with_pandoc(path: Path) -> str:
    """Return a notebook, reStructuredText or Word file as Markdown.

    Code cells of notebooks and their outputs are left out.

    Raises:
        MissingInputError: Pandoc is not installed.
        MalformedInputError: the file cannot be read.
    """
    try:
        import pypandoc  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingInputError(_INSTALL) from None
    form = PANDOC[path.suffix.lower()]
    options = ["--sandbox", "--wrap=preserve", "--markdown-headings=atx"]
    options += ["--ipynb-output=none"] if form == "ipynb" else []
    try:
        text: str = pypandoc.convert_file(str(path), _MARKDOWN, form, options)
    except (RuntimeError, OSError, ValueError) as exc:
        reason = " ".join(str(exc).split())[:200]
        raise MalformedInputError(
            f"expected a file in the form of {form} ({reason}); save it again"
        ) from exc
    return _CODE_CELL.sub("", text) if form == "ipynb" else text


_FILE_NAME = re.compile(r"\.(?:docx?|html?|tex|dvi|odt|rtf|pptx?|md|pdf)$", re.I)
"""Titles that programs give a PDF: ``Microsoft Word - notes.docx``."""


def read_pdf(path: Path) -> tuple[str, list[str]]:
    """Return the title of a PDF, and the text layer of each page.

    Raises:
        MissingInputError: pypdf is not installed.
        MalformedInputError: the file cannot be read, or has no text layer.
    """
    try:
        import pypdf  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingInputError(_INSTALL) from None
    try:
        reader = pypdf.PdfReader(path)
        pages = [page.extract_text() for page in reader.pages]
        title = str((reader.metadata and reader.metadata.title) or "")
        title = "" if _FILE_NAME.search(title) else title
    except Exception as exc:  # pypdf raises what it meets in a damaged file
        reason = " ".join(str(exc).split())[:200] or type(exc).__name__
        raise MalformedInputError(
            f"expected a PDF that can be read ({reason}); print it to a PDF again"
        ) from exc
    if not any(page.strip() for page in pages):
        raise MalformedInputError(
            "expected a text layer, got pictures of pages; recognise their text first, "
            "e.g. by `ocrmypdf`"
        )
    return title, pages


def decode(content: bytes) -> tuple[str, str]:
    r"""Return the text of a file, and its encoding if that is not UTF-8.

    The encoding is what ``inputenc`` or a ``<meta>`` element declares, or else guessed.

    >>> decode(b"\\usepackage[latin1]{inputenc} caf\xe9")
    ('\\usepackage[latin1]{inputenc} café', 'latin1, as declared')

    Raises:
        UnicodeDecodeError: it is not text.
    """
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        declared = _DECLARED.search(content, 0, _HEAD)
    if declared is not None:
        name = (declared[1] or declared[2]).decode()
        try:
            return content.decode(_INPUTENC.get(name, name)), f"{name}, as declared"
        except (LookupError, UnicodeDecodeError):
            pass  # what is declared is wrong, too
    # Loaded here: nearly all files are UTF-8.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    is_binary = b"\0" in content[:_HEAD] and not content.startswith(_BOMS)
    best = None if is_binary else from_bytes(content, cp_isolation=_LIKELY).best()
    if best is None:
        return content.decode("utf-8"), ""  # raises what is wrong
    return str(best), f"{best.encoding}, as guessed"


class LeanPart(NamedTuple):
    """A declaration, or the text of a module."""

    line: int
    """From 0."""
    kind: str
    """``text``: of a module."""
    name: str
    doc: str
    """Markdown."""
    statement: str = ""


def read_lean(text: str) -> Iterator[LeanPart]:
    r"""Yield declarations and texts of a module in order.

    >>> source = "namespace Nat\n/-- Sums. -/\ntheorem a (n : ℕ) : n = n := rfl\n"
    >>> [part[1:] for part in read_lean(source)]
    [('theorem', 'Nat.a', 'Sums.', 'theorem a (n : ℕ) : n = n')]
    """
    scopes: list[tuple[str, str]] = []
    doc, line, last = "", 0, 0
    for found in _TOKEN.finditer(text):
        line, last = line + text.count("\n", last, found.start()), found.start()
        if found["doc"] is not None:
            doc = found["doc"].strip()
            continue
        if found["module"] is not None:
            yield LeanPart(line, "text", "", found["module"].strip())
        elif found["scope"] == "end":
            scopes = scopes[:-1]
        elif found["scope"]:
            scopes.append((found["scope"], found["name"]))
        elif found["kind"]:
            spaces = [name for scope, name in scopes if scope == "namespace"]
            name = ".".join([*spaces, found["declared"]]).partition("_root_.")
            start = found.start("kind")
            body = _BODY.search(text, found.end())
            end = min(
                len(text) if body is None else body.start(), start + _MAX_STATEMENT
            )
            statement = " ".join(text[start:end].split())
            yield LeanPart(
                line, KINDS[found["kind"]], name[2] or name[0], doc, statement
            )
        elif found["other"] is None:
            continue  # a comment between a docstring and its declaration
        doc = ""
