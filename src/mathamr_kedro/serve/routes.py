"""Endpoints of the API."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query
from pydantic import BaseModel, Field

from mathamr_kedro.corpus.raw import RawPost
from mathamr_kedro.formula import mathml_from_latex
from mathamr_kedro.search.responses import (
    AddResponse,
    DeleteResponse,
    DrawnExplainResponse,
    ErrorResponse,
    ExplainResponse,
    PostResponse,
    RenderResponse,
    SearchResponse,
    SystemsResponse,
    TreesResponse,
)
from mathamr_kedro.search.views import show_words
from mathamr_kedro.serve.gate import Gate
from mathamr_kedro.serve.service import SearchRequest, SearchService, draw_trees
from mathamr_kedro.serve.settings import (
    MAX_DEPTH,
    MAX_LATEX,
    MAX_POSTS,
    MAX_QUERY,
    MAX_RESULTS,
    ServeConfig,
)

_MAX_ID, _MAX_NAME, _MAX_TAGS = 1000, 100, 20
_Id = Annotated[str, Field(min_length=1, max_length=_MAX_ID)]
_Question = Annotated[
    str,
    Query(
        min_length=1,
        max_length=MAX_QUERY,
        description="Words with formulas between dollars.",
    ),
]
_Latex = Annotated[str, Query(min_length=1, max_length=MAX_LATEX)]


def _read_request(
    top: Annotated[int, Query(ge=1, le=MAX_RESULTS, description="Number of posts.")] = (
        10
    ),
    type: Annotated[
        tuple[Annotated[str, Field(max_length=_MAX_NAME)], ...],
        Query(
            max_length=20,
            description="Types of post (question, answer, document) or kinds of "
            "statement (/api/systems); those of the system if none.",
        ),
    ] = (),
    tag: Annotated[
        str | None,
        Query(max_length=_MAX_NAME, description="Tag of the post or its question."),
    ] = None,
    year: Annotated[
        int | None, Query(ge=1900, le=2200, description="Year in which it was written.")
    ] = None,
    system: Annotated[
        str | None, Query(max_length=_MAX_NAME, description="One of /api/systems.")
    ] = None,
) -> SearchRequest:
    return SearchRequest(top, type, tag, year, system)


_Asked = Annotated[SearchRequest, Depends(_read_request)]
_Service = Callable[[], SearchService]
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse, "description": why}
    for status, why in {
        401: "The token is wrong.",
        403: "Writing is off.",
        404: "There is no such post.",
        413: "The request is too large.",
        422: "Something in the request is not as expected.",
        500: "The server failed; its log has more.",
        503: "Too many requests wait, it took too long, or another process writes.",
    }.items()
}


class _NewPost(BaseModel):
    """A post to add; formulas between dollars."""

    id: _Id
    text: str = Field(min_length=1, max_length=100_000)
    title: str = Field("", max_length=1000)
    tags: list[Annotated[str, Field(max_length=_MAX_NAME)]] = Field(
        [], max_length=_MAX_TAGS
    )
    format: Literal["markdown", "html", "latex", "text"] = "markdown"

    def to_raw(self) -> RawPost:
        """Return the post as a raw post of a collection."""
        return RawPost(
            source="api",
            place=self.id,
            post_id=self.id,
            tags=tuple(self.tags),
            title=self.title,
            body=self.text,
            markup=self.format,
        )


_Posts = Annotated[list[_NewPost], Field(min_length=1, max_length=MAX_POSTS)]
_Ids = Annotated[list[_Id], Field(min_length=1, max_length=MAX_POSTS)]


def build_router(service: _Service, gate: Gate, config: ServeConfig) -> APIRouter:
    """Return all endpoints below ``/api``.

    Args:
        service: returns the search service.
        gate: runs the work.
        config: limits, and the token for writing.
    """
    router = APIRouter(prefix="/api", responses=_ERRORS)
    _add_searches(router, service, gate, config)
    _add_formulas(router, gate)
    _add_writing(router, service, gate, config)
    return router


def _add_searches(
    router: APIRouter, service: _Service, gate: Gate, config: ServeConfig
) -> None:
    @router.get("/search", summary="Find posts for a question")
    async def search(q: _Question, asked: _Asked) -> SearchResponse:
        _check_text(q)
        find = service().search
        return await gate.run(lambda: find(q, asked))

    @router.get("/formula", summary="Find posts by their nearest formula")
    async def search_formula(latex: _Latex, asked: _Asked) -> SearchResponse:
        _check_text(latex)
        find = service().search_formula
        return await gate.run(lambda: find(latex, asked))

    @router.get("/explain", summary="Say why a search found a post, part by part")
    async def explain(
        q: _Question,
        post_id: Annotated[str, Query(min_length=1, max_length=_MAX_ID)],
        asked: _Asked,
        formula: Annotated[bool, Query(description="Whether q is LaTeX.")] = False,
        graphs: Annotated[bool, Query(description="Draw both graphs.")] = False,
    ) -> DrawnExplainResponse | ExplainResponse:
        _check_text(q)
        compare = service().explain
        return await gate.run(lambda: compare(q, post_id, formula, graphs, asked))

    @router.get("/posts/{post_id:path}", summary="Read a post")
    async def read_post(
        post_id: Annotated[str, Path(min_length=1, max_length=_MAX_ID)],
    ) -> PostResponse:
        return await gate.run(lambda: service().read_post(post_id))

    @router.get("/systems", summary="List what can be asked")
    async def list_systems() -> SystemsResponse:
        found = await gate.run(service().list_systems)
        return replace(found, can_write=bool(config.find_token()))


def _add_formulas(router: APIRouter, gate: Gate) -> None:
    @router.get("/render", summary="Draw a question, or LaTeX, as MathML")
    def render(
        q: Annotated[str, Query(max_length=MAX_QUERY)] = "",
        latex: Annotated[str, Query(max_length=MAX_LATEX)] = "",
    ) -> RenderResponse:
        _check_text(q + latex)
        mathml = mathml_from_latex(latex, display=True) if latex else None
        return RenderResponse(show_words(q), mathml)

    @router.get("/trees", summary="Draw both trees of a formula")
    async def draw(latex: _Latex) -> TreesResponse:
        _check_text(latex)
        return await gate.run(lambda: draw_trees(latex))


def _add_writing(
    router: APIRouter, service: _Service, gate: Gate, config: ServeConfig
) -> None:
    def check_token(authorization: Annotated[str, Header()] = "") -> None:
        """Reject writing without the token."""
        token = config.find_token()
        if not token:
            raise HTTPException(
                403, "Writing is off; start the server with MATHAMR_TOKEN set"
            )
        given = authorization.encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, f"Bearer {token}".encode()):
            raise HTTPException(
                401,
                "Expected the header 'Authorization: Bearer TOKEN'",
                {"WWW-Authenticate": "Bearer"},
            )

    @router.post("/posts", dependencies=[Depends(check_token)], summary="Add posts")
    async def add_posts(posts: _Posts) -> AddResponse:
        raw = [post.to_raw() for post in posts]
        return await gate.run(lambda: service().add(raw), writes=True)

    @router.delete(
        "/posts", dependencies=[Depends(check_token)], summary="Delete posts"
    )
    async def delete_posts(ids: _Ids) -> DeleteResponse:
        return await gate.run(lambda: service().delete(ids), writes=True)


def _check_text(text: str) -> None:
    """Reject malformed questions and formulas.

    Raises:
        HTTPException: 422, braces go too deep, or the text is not Unicode.
    """
    depth = deepest = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise HTTPException(
            422,
            f"Expected at most {MAX_DEPTH} braces inside each other (got {deepest})",
        )
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise HTTPException(422, "Expected Unicode text (got half of a pair)")
