"""What MkDocs calls while it builds the site.

::

    on_config          which pages are made, and the navigation with all of them
    on_files           the made pages, and the font of formulas
    on_page_markdown   diagrams, links between docs/ and the rest of the repository
    on_page_content    formulas as MathML
    on_post_page       refuses pages that would fetch something
"""

from __future__ import annotations

import logging
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))  # MkDocs loads this file by its path

from tools.site.commands import describe_commands  # noqa: E402
from tools.site.diagrams import draw_diagrams  # noqa: E402
from tools.site.links import adapt  # noqa: E402
from tools.site.mathematics import draw_formulas  # noqa: E402
from tools.site.notebooks import write_notebook  # noqa: E402
from tools.site.packages import describe_packages  # noqa: E402

logger = logging.getLogger("mkdocs.hooks.site")

COPIES = {
    "configuration.md": "conf/README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "released_encoder.md": "src/mathamr_kedro/encoders/mathamr_plus/README.md",
}
"""Pages whose text is elsewhere in the repository."""
OUTSIDE = re.compile(
    r"<(?:script|link|img|source|iframe)\b[^>]*?\b(?:src|href|srcset)="
    r'"((?:https?:)?//[^"]*)"'
)
"""What a browser would ask another machine for."""
ASSETS = {"assets/math.woff2": "src/mathamr_kedro/serve/static/math.woff2"}


@cache
def list_homes() -> dict[Path, str]:
    """Return the pages of files and folders outside of docs/."""
    homes = {PROJECT / source: page for page, source in COPIES.items()}
    for path in sorted((PROJECT / "notebooks").glob("*.ipynb")):
        homes[path] = f"notebooks/{path.stem}.md"
    homes[PROJECT / "docs/decisions"] = "decisions/index.md"
    return homes


@cache
def make_pages() -> dict[str, str]:
    """Return the text of every page that is not a file of docs/."""
    pages = {
        page: adapt(
            (PROJECT / source).read_text("utf-8"), PROJECT / source, page, list_homes()
        )
        for page, source in COPIES.items()
    }
    for path, page in list_homes().items():
        if path.suffix == ".ipynb":
            pages[page] = write_notebook(path, PROJECT / "build/notebooks" / path.name)
    pages["reference/commands.md"] = describe_commands()
    pages |= describe_packages(PROJECT / "src/mathamr_kedro")
    pages["decisions/index.md"] = _list_decisions(PROJECT / "docs/decisions")
    return pages


def _list_decisions(folder: Path) -> str:
    lines = ["# Decisions", "", "Why things are the way they are, one page each.", ""]
    for path in sorted(folder.glob("*.md")):
        title = path.read_text("utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines) + "\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of whole folders into the navigation."""
    docs = Path(config.docs_dir)
    known = {str(path.relative_to(docs)) for path in docs.rglob("*.md")} | set(
        make_pages()
    )
    config.nav = _expand(config.nav or [], known)
    return config


def _expand(entries: list[Any], known: set[str]) -> list[Any]:
    found: list[Any] = []
    for entry in entries:
        ((title, value),) = (
            entry.items() if isinstance(entry, dict) else ((None, entry),)
        )
        pages = _list_folder(value, known)
        if isinstance(value, list):
            found.append({title: _expand(value, known)})
        elif pages is None:
            found.append(entry)
        elif title is None:
            found += pages
        elif pages:
            found.append({title: pages})
    return found


def _list_folder(value: Any, known: set[str]) -> list[str] | None:
    if not (isinstance(value, str) and value.endswith("/*")):
        return None
    folder = value.removesuffix("*")
    inside = [page for page in known if page.startswith(folder)]
    return sorted(inside, key=lambda page: (not page.endswith("index.md"), page))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the made pages, and what they show."""
    for page, text in make_pages().items():
        files.append(File.generated(config, page, content=text))
    for name, source in ASSETS.items():
        files.append(File.generated(config, name, abs_src_path=str(PROJECT / source)))
    return files


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Draw diagrams; let links out of docs/ lead to the pages of the site."""
    name = page.file.src_uri
    markdown, problems = draw_diagrams(markdown)
    for problem in problems:
        logger.warning("%s: cannot draw a diagram: %s", name, problem)
    if name in make_pages():
        return markdown
    return adapt(markdown, Path(config.docs_dir) / name, name, list_homes())


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Draw the formulas; one that cannot be drawn fails the build."""
    drawn, failed = draw_formulas(html)
    for latex in failed:
        logger.warning("%s: cannot draw the formula %r", page.file.src_uri, latex)
    return drawn


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name what a page would fetch from elsewhere; it fails the build."""
    for address in OUTSIDE.findall(output):
        logger.warning("%s: would fetch %s", page.file.src_uri, address)
    return output
