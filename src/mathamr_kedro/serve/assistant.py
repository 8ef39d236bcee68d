"""Search tools for assistants: the Model Context Protocol over stdio.

Answers are short; whole posts are requested by id.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from mathamr_kedro import __version__
from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.formula import draw_text, trees_from_latex
from mathamr_kedro.search.responses import (
    ExplainResponse,
    Part,
    PostResponse,
    TextPart,
    write_parts,
)
from mathamr_kedro.serve.service import SearchRequest, SearchService
from mathamr_kedro.serve.settings import MAX_LATEX, MAX_QUERY

_INSTRUCTIONS = (
    "Searches a collection of mathematical questions and answers by meaning. Begin "
    "with search_summary (words, formulas between dollars) or search_formula (one "
    "formula in LaTeX); then read what looks right with get_post."
)

_Question = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY,
        description="Words, with formulas in LaTeX between dollars.",
    ),
]
_Latex = Annotated[
    str, Field(min_length=1, max_length=MAX_LATEX, description="A formula in LaTeX.")
]
_Top = Annotated[int, Field(ge=1, le=50, description="How many posts.")]
_PostId = Annotated[str, Field(min_length=1, max_length=1000)]


def create_assistant(open_service: Callable[[], SearchService]) -> MCPServer:
    """Return the server; it completes the handshake while the index is being opened."""
    server = MCPServer("mathamr", version=__version__, instructions=_INSTRUCTIONS)
    held: list[SearchService] = []
    lock = threading.Lock()

    def tool(answer: Callable[..., str]) -> Callable[..., str]:
        @wraps(answer)
        def call(**arguments: Any) -> str:
            with lock:  # one search at a time
                try:
                    if not held:
                        held.append(open_service())
                    return answer(**arguments)
                except MathAMRError as exc:
                    raise ToolError(str(exc)) from exc

        server.tool(structured_output=False)(call)
        return answer

    @tool
    def search_summary(question: _Question, top: _Top = 5) -> str:
        """Find posts that answer a question: id, score, title and best sentence."""
        return str(held[0].search(question, SearchRequest(top)))

    @tool
    def search_formula(latex: _Latex, top: _Top = 5) -> str:
        """Find posts that contain the formulas nearest to a given one."""
        return str(held[0].search_formula(latex, SearchRequest(top)))

    @tool
    def get_post(
        post_id: _PostId,
        start: Annotated[int, Field(ge=0, description="First character.")] = 0,
        length: Annotated[int, Field(ge=1, le=50_000)] = 4000,
    ) -> str:
        """Read a post; formulas are named [F0], [F1] for get_formula."""
        return _show_post(held[0].read_post(post_id), start, length)

    @tool
    def get_formula(
        post_id: _PostId,
        formula: Annotated[str, Field(pattern="^F[0-9]{1,4}$")],
        trees: Annotated[bool, Field(description="Draw its two trees.")] = False,
    ) -> str:
        """Return one formula of a post: its LaTeX, its sentence, its trees."""
        return _show_formula(held[0].read_post(post_id), formula, trees)

    @tool
    def explain(question: _Question, post_id: _PostId, top: _Top = 5) -> str:
        """Say which part of a post is nearest to each part of a question."""
        return _explain(held[0].explain(question, post_id), top)

    return server


def _name(part: Part) -> str:
    """Return words, or a formula with its name."""
    if isinstance(part, TextPart) or not part.key:
        return str(part)
    return f"{part} [{part.key}]"


def _show_post(post: PostResponse, start: int, length: int) -> str:
    text = " ".join(
        ("\n\n" if s.new_paragraph else "") + "".join(map(_name, s.parts)).strip()
        for s in post.sentences
    )
    lines = [f"{post.type} {post.post_id}: {write_parts(post.title)}"]
    if post.question_id:
        lines.append(f"answers question {post.question_id}")
    if post.tags:
        lines.append(f"tags: {', '.join(post.tags)}")
    shown = text[start : start + length]
    rest = len(text) - start - len(shown)
    more = f"\n({rest} more characters from start={start + length})" if rest > 0 else ""
    return "\n".join(lines) + "\n\n" + shown.strip() + more


def _show_formula(post: PostResponse, name: str, trees: bool) -> str:
    for sentence in post.sentences:
        for part in sentence.parts:
            if not isinstance(part, TextPart) and part.key == name:
                lines = [f"${part.latex}$", f"in: {write_parts(sentence.parts)}"]
                found = trees_from_latex(part.latex) if trees else None
                for tree in (found.slt, found.opt) if found is not None else ():
                    lines += [] if tree is None else ["", draw_text(tree)]
                return "\n".join(lines)
    raise ToolError(f"Post {post.post_id!r} has no formula {name!r}; see get_post")


def _explain(found: ExplainResponse, top: int) -> str:
    rows, columns = found.rows, found.columns
    pairs = sorted(
        (
            (found.similarity[i][j], rows[i], columns[j])
            for i, j in enumerate(found.best)
        ),
        key=lambda pair: -pair[0],
    )
    lines = [f"score {found.score:.3f}", *(write_parts(r) for r in found.reasons)]
    lines.append(f"{found.maxsim:.3f}, the mean over {len(rows)} parts of the question")
    lines += [
        f"{value:.3f}  {mine}  ~  {theirs}" for value, mine, theirs in pairs[:top]
    ]
    return "\n".join(lines)
