r"""The page in a real browser: searched, clicked, read aloud by keys, attacked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("websockets")
from mathamr_kedro.search.responses import (
    GraphPictures,
    MentionPart,
    NamedStatement,
    ShownSentence,
    StatementCard,
    StatementSheet,
    SystemShare,
    TextPart,
    TreesResponse,
)
from mathamr_kedro.serve.service import SearchRequest
from tests.serve.browser import Page, open_browser

pytestmark = [pytest.mark.browser, pytest.mark.timeout(2400)]

QUESTION = r"is $\sqrt p$ irrational for a prime $p$?"
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
CARDS = "document.querySelectorAll('.card').length >= 5"


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with open_browser() as page:
        yield page


@pytest.fixture
def page(browser: Page, address: str) -> Iterator[Page]:
    """A window of a usual size; nothing may come from elsewhere or go wrong."""
    browser.resize(1200, 900)
    browser.prefer("light")
    browser.open("about:blank")
    browser.requests.clear()
    browser.complaints.clear()
    yield browser
    elsewhere = [r for r in browser.requests if not r.startswith(address)]
    assert [r for r in elsewhere if not r.startswith(("about:", "data:"))] == []
    assert browser.complaints == []


def ask(page: Page, address: str, text: str = QUESTION, more: str = "") -> None:
    page.open(f"{address}?q={quote(text)}{more}")
    page.wait(CARDS)


def test_a_question_is_typed_previewed_and_answered(page: Page, address: str) -> None:
    page.open(address)
    page.wait("document.activeElement.id === 'q'")
    page.type(QUESTION)
    page.wait("document.querySelector('#preview msqrt')")
    page.press("Enter")
    page.wait(CARDS)
    assert "irrational" in page.run("document.querySelector('.card h2').textContent")
    assert page.run("document.querySelectorAll('.card math').length") > 5
    # both sides of a match have one colour
    for key in ("F0", "S1"):
        colours = page.run(
            f"[...document.querySelectorAll('[data-partner={key}]')]"
            ".map(e => e.className.match(/m[0-7]/)[0])"
        )
        assert len(colours) > 2
        assert len(set(colours)) == 1


def test_the_address_brings_back_what_was_searched(page: Page, address: str) -> None:
    ask(page, address)
    first = page.run("document.querySelector('.card h2').textContent")
    page.run(
        "document.querySelector('#q').value = 'why are there infinitely many primes';"
        "document.querySelector('#ask').requestSubmit()"
    )
    page.wait(f"document.querySelector('.card h2')?.textContent !== {first!r}")
    page.wait(CARDS)
    page.run("history.back()")
    page.wait(f"document.querySelector('.card h2')?.textContent === {first!r}")
    assert page.run("document.querySelector('#q').value") == QUESTION


def test_partners_light_up_together(page: Page, address: str) -> None:
    ask(page, address)
    page.hover(".card .formula[data-partner=F0]")
    page.wait("document.querySelector('#read .formula.hot')")
    assert "like" in page.run("document.querySelector('.why-note').textContent")


def test_a_formula_is_clicked(page: Page, address: str) -> None:
    ask(page, address)
    page.click(".card .formula")
    page.wait("!document.querySelector('#menu').hidden")
    names = page.run(
        "[...document.querySelectorAll('#menu button')].map(e => e.textContent)"
    )
    assert names == [
        "Search by this formula", "Show its post", "Show its two trees",
        "Copy its LaTeX",
    ]  # fmt: skip
    page.click("#menu button:nth-of-type(3)")
    page.wait("document.querySelectorAll('#sheet .draw svg').length === 2")
    page.press("Escape")
    page.wait("!document.querySelector('#sheet').open")
    page.click(".card .formula")
    page.click("#menu button:nth-of-type(1)")
    page.wait("document.body.classList.contains('formula-mode')")
    page.wait(CARDS)
    assert "mode=formula" in page.run("location.search")


def test_why_shows_formulas_and_graphs_in_the_same_colours(page, address) -> None:
    ask(page, address)
    page.click(".card .first")
    page.wait("document.querySelector('.heat')")
    assert page.run("document.querySelectorAll('.heat th math').length") > 5
    assert "$" not in page.run("document.querySelector('.heat').textContent")
    assert page.run(
        "[...document.querySelectorAll('.heat thead .name')].map(e => e.textContent)"
    ) == ["formula 1", "formula 2", "sentence 1", "the whole text"]
    assert page.run("document.querySelectorAll('.heat td.best').length") == 4
    # sentences come first, the matrix and the graphs when they are asked for
    assert page.run("document.querySelectorAll('#sheet .reasons li').length") >= 2
    assert not page.run("document.querySelector('.heat').checkVisibility()")
    page.run("document.querySelectorAll('.fold').forEach(e => { e.open = true })")
    assert page.run("document.querySelector('.heat').checkVisibility()")
    page.wait("document.querySelectorAll('.pair svg').length === 2")
    mine, theirs = page.run(
        "[...document.querySelectorAll('.pair svg')].map(svg => "
        "[...svg.querySelectorAll('.pill[data-partner]')].map(e => "
        "e.dataset.partner + e.getAttribute('class').match(/m[0-7]/)[0]))"
    )
    assert set(theirs) <= set(mine)
    assert len(theirs) >= 3
    assert "why=" in page.run("location.search")


@pytest.mark.parametrize("more", ["", "&system=bm25", "&system=mathamr_plus%2Bbm25"])
def test_why_explains_the_score_of_the_card(page, address, more) -> None:
    ask(page, address, more=more)
    title = page.run("document.querySelector('.card .score').title")
    page.click(".card .first")
    page.wait("document.querySelector('#sheet .sum')")
    shown = page.run("document.querySelector('#sheet .fold summary').textContent")
    score = float(re.search(r"from the score (\S+), the sum of", shown)[1])
    shares = page.run(
        "[...document.querySelector('#sheet .sum').querySelectorAll('td:first-child')]"
        ".map(e => Number(e.textContent))"
    )
    # BM25 says no more than its score
    assert sum(shares) == pytest.approx(score if shares else 0, abs=6e-3)
    of_card = [float(share) for share in re.findall(r"(\S+) by ", title)]
    assert of_card == shares or not of_card


def test_a_formula_says_how_much_of_it_is_the_same(page, address) -> None:
    ask(page, address, r"\sum_{j=1}^m j^2", "&mode=formula")
    scores = page.run(
        "[...document.querySelectorAll('.card .score')].map(e => e.textContent)"
    )
    assert all(score.endswith(" % the same") for score in scores)
    page.click(".card .first")
    page.wait("document.querySelector('#sheet .reasons math')")


def test_a_permalink_opens_the_sheet(page: Page, address: str) -> None:
    ask(page, address, more="&post=33701")
    page.wait("document.querySelector('#sheet-body .prose')")
    assert "even and odd" in page.run("document.querySelector('#sheet').textContent")


def test_filters_and_systems(page: Page, address: str) -> None:
    ask(page, address)
    page.click(".card .tag")
    page.wait("location.search.includes('tag=')")
    page.wait("document.querySelector('.card')")
    chosen = page.run("document.querySelector('#tag').value")
    assert chosen in page.run("document.querySelector('#filters-on').textContent")
    page.run(
        "document.querySelector('#system').value = 'bm25';"
        "document.querySelector('#system').dispatchEvent("
        "new Event('change', {bubbles: true}))"
    )
    page.wait("location.search.includes('system=bm25')")


def test_states_without_results_say_what_to_do(page: Page, address: str) -> None:
    page.open(f"{address}?q=prime&tag=no-such-tag")
    page.wait("document.querySelector('.notice button')")
    page.click(".notice button")
    page.wait(CARDS)
    page.open(f"{address}?q=...")
    page.wait("document.querySelector('.notice.bad button')")
    text = page.run("document.querySelector('.notice').textContent")
    assert "could not be read" in text
    page.complaints.clear()  # of the 422 itself


def test_few_systems_have_plain_names_and_the_rest_is_under_more(page, address):
    ask(page, address)
    page.wait("document.querySelector('#system optgroup')")
    plain, more = page.run(
        "['#system > option', '#system > optgroup > option'].map(which =>"
        "[...document.querySelectorAll(which)].map(e => e.textContent))"
    )
    assert plain == [
        "recommended", "meaning (graphs)", "same words",
        "similar sentences (not prepared)",
    ]  # fmt: skip
    assert "mathamr_plus+bm25 (fusion)" in more


def test_what_is_not_prepared_says_what_to_run(page: Page, address: str) -> None:
    page.open(f"{address}?q=primes&system=minilm")
    page.wait("document.querySelector('.notice')")
    text = page.run("document.querySelector('.notice').textContent")
    assert "kedro run --pipelines indexing" in text
    page.complaints.clear()  # of the 422 itself


def test_other_addresses_have_pages(page: Page, address: str) -> None:
    page.open(f"{address}nothing")
    assert "no page" in page.run("document.querySelector('h1').textContent")
    page.complaints.clear()  # of the 404 itself
    page.open(f"{address}api")
    page.wait("document.querySelector('#list article')")
    assert f"{address}api/search" in page.run("document.body.textContent")


def test_keys_alone(page: Page, address: str) -> None:
    """From the question to a result, its reasons, and back."""
    ask(page, address)
    page.press("/")
    page.wait("document.activeElement.id === 'q'")
    page.press("Escape")
    page.press("ArrowDown")
    page.press("ArrowDown")
    assert page.run(
        "[...document.querySelectorAll('.card')].indexOf(document.activeElement)"
    ) == (1)
    page.press("Enter")
    page.wait("document.querySelector('.heat')")
    assert page.run("document.querySelector('#sheet').open")  # it stays
    page.press("Escape")
    page.wait("!document.querySelector('#sheet').open")
    assert page.run("document.activeElement.classList.contains('card')")
    for _ in range(2):
        page.press("Tab")
    page.wait("document.activeElement.classList.contains('formula')")
    page.press("Enter")
    page.wait("!document.querySelector('#menu').hidden")
    page.press("ArrowDown")
    page.press("Escape")
    assert page.run("document.activeElement.classList.contains('formula')")


def test_everything_has_a_name_and_can_be_seen_when_focused(page, address) -> None:
    ask(page, address)
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    nameless = [
        node
        for node in tree
        if node.get("role", {}).get("value") in NAMED
        and not node.get("ignored")
        and not node.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []
    seen: list[str] = []
    page.run("document.activeElement.blur()")
    for _ in range(12):
        page.press("Tab")
        seen.append(
            page.run(
                "(() => {const e = document.activeElement, s = getComputedStyle(e);"
                "const box = e.closest('.box, .modes label') ?? e;"
                "return [s.outlineStyle, getComputedStyle(box).boxShadow,"
                " box.querySelector('span') &&"
                " getComputedStyle(box.querySelector('span')).outlineStyle].join()})()"
            )
        )
    assert all("none,none" not in style or "solid" in style for style in seen)
    order = page.run(
        "[...document.querySelectorAll('a, button, input, textarea, select,"
        ' [tabindex="0"]\')].every(e => e.tabIndex <= 0)'
    )
    assert order  # the order of the page is the order of the keys


NAMED = {"button", "link", "textbox", "combobox", "radio", "img", "searchbox", "menu"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out(page: Page, address: str, scheme: str) -> None:
    """Contrast of at least 4.5 to 1 (WCAG AA) for everything that is read."""
    page.prefer(scheme)
    ask(page, address)
    assert page.run(CONTRAST) == []


def test_dark_is_followed_and_switched(page: Page, address: str) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page.prefer("dark")
    page.open(address)
    page.wait("document.querySelector('#examples math')")
    dark = page.run(paper)
    page.click("#theme")
    light = page.run(paper)
    assert (dark, light) == ("rgb(20, 22, 28)", "rgb(250, 248, 244)")
    page.open(address)
    page.wait("document.documentElement.dataset.theme === 'light'")
    page.run("localStorage.clear()")


@pytest.mark.parametrize("more", ["", "&why=33733", "&post=33701"])
def test_a_phone_needs_no_sideways_scrolling(page, address, more) -> None:
    page.resize(360, 740, phone=True)
    ask(page, address, more=more)
    if more:
        page.wait("document.querySelector('#sheet .prose, #sheet .heat')")
    assert page.run("document.documentElement.scrollWidth") <= 360
    small = page.run(
        "[...document.querySelectorAll('.go, .icon, .actions > button')]"
        ".filter(e => e.offsetParent && e.offsetHeight < 32).length"
    )
    assert small == 0


def test_the_page_is_light(page: Page, address: str) -> None:
    """Less than 500 KB in all, font and a search included."""
    ask(page, address)
    page.wait(
        "performance.getEntriesByType('resource')"
        ".some(e => e.name.endsWith('woff2') && e.decodedBodySize)"
    )
    sizes = page.run(
        "performance.getEntriesByType('resource').map(e => e.decodedBodySize)"
        ".concat(performance.getEntriesByType('navigation').map(e =>"
        " e.decodedBodySize))"
    )
    assert 100_000 < sum(sizes) < 500_000


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)> prime",
        "$\\text{<script>alert(1)</script>}$ prime",
        r"$\href{javascript:alert(1)}{x}$ prime",
        "</textarea><script>alert(1)</script> prime",
        "$<svg onload=alert(1)>$ prime",
    ],
)
def test_questions_cannot_inject(page: Page, address: str, text: str) -> None:
    page.open(f"{address}?q={quote(text)}")
    page.wait("document.querySelector('.card, .notice')")
    _check_harmless(page)


def test_a_statement_has_number_section_proof_and_links(
    page: Page, address: str, service: Any, monkeypatch
) -> None:
    found = service.search(QUESTION, SearchRequest(1))
    words = lambda text: (TextPart(text),)  # noqa: E731
    card = {
        "kind": "lemma", "title": words("Lemma 4.7 (Euclid)"), "used_by": 2,
        "section": words("Divisors"), "file": "a.tex", "place": "line 3",
        "url": "https://stacks.math.columbia.edu/tag/000C",
    }  # fmt: skip
    results = tuple(
        replace(found.results[0], statement=StatementCard(**card)) for _ in range(5)
    )
    post = service.read_post(found.results[0].post_id)
    sheet = StatementSheet(
        **card, chapter=(), proof=(words("By induction."),), uses=(),
        users=(NamedStatement("33703", words("Theorem 5.1")),),
    )  # fmt: skip
    systems = replace(service.list_systems(), kinds=("lemma",), examples=("Euclid",))
    monkeypatch.setattr(service, "search", lambda *_: replace(found, results=results))
    monkeypatch.setattr(
        service, "read_post", lambda _: replace(post, sentences=(), statement=sheet)
    )
    monkeypatch.setattr(service, "list_systems", lambda: systems)
    ask(page, address, more="&type=lemma")
    shown = page.run("document.querySelector('.card').innerText")
    for part in ("Lemma 4.7 (Euclid)", "Divisors", "used by 2", "a.tex, line 3"):
        assert part in shown
    assert page.run("document.querySelector('.card a').href") == card["url"]
    page.wait("document.querySelectorAll('#type option').length === 2")
    assert page.run("document.querySelector('#type').value") == "lemma"
    page.click(".card h2 button")
    page.wait("document.querySelector('#sheet .links')")
    assert "no text below its title" in page.run(
        "document.querySelector('#sheet').textContent"
    )
    names = "[...document.querySelectorAll('.fold summary')].map(e => e.innerText)"
    assert page.run(names) == ["Proof", "Used by (1)"]
    page.run("document.querySelectorAll('.fold').forEach(e => { e.open = true })")
    page.click("#sheet .links button")
    page.wait("location.search.includes('post=33703')")
    page.open(address)
    page.wait("document.querySelectorAll('#examples button').length === 1")


def test_posts_cannot_inject(page: Page, address: str, service: Any, monkeypatch):
    """Titles, tags, sentences, formulas, drawings and ids of any kind."""
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    found = service.search(QUESTION, SearchRequest(1))
    (result,) = found.results
    drawing = (
        '<math href="javascript:alert(3)"><mtext onclick="alert(4)">x</mtext>'
        '<maction actiontype="statusline"><mi>y</mi></maction>'
        "<annotation-xml encoding=\"text/html\"><img src=x onerror='alert(5)'>"
        '</annotation-xml><mglyph src="x"></mglyph></math>'
    )
    svg = (
        '<svg onload="alert(6)"><script>alert(7)</script><g class="pill" data-key="F0"'
        ' data-n="1" onclick="alert(8)"><a href="javascript:alert(9)"><text>z</text>'
        "</a></g><foreignObject><img src=x onerror=alert(10)></foreignObject>"
        '<use href="data:image/svg+xml,x"/><style>*{display:none}</style></svg>'
    )
    text, part = TextPart(evil), MentionPart(evil, drawing, "F0", evil)
    bad = replace(
        result, post_id=evil, type=evil, title=(text, part), tags=(evil,), date=evil,
        parts=(SystemShare(evil, 0.5, None),) * 2,
        sentences=(ShownSentence("S1", False, (text, part), False),),
    )  # fmt: skip
    answer = replace(found, results=(bad,) * 5, warnings=(evil,))
    monkeypatch.setattr(service, "search", lambda *_: answer)
    why = service.explain(QUESTION, "33703", graphs=True)
    first = replace(why.rows[0], parts=(text, part))
    pictures, evil_parts = GraphPictures(svg, svg), (text, part)
    term = replace(why.terms[0], query=evil_parts, post=evil_parts)
    why = replace(why, rows=(first, *why.rows[1:]), graphs=pictures)
    why = replace(why, reasons=(evil_parts,), terms=(term,), parts=bad.parts)
    monkeypatch.setattr(service, "explain", lambda *_: why)
    trees = TreesResponse(evil, drawing, "F0", svg, svg, (evil,))
    monkeypatch.setattr("mathamr_kedro.serve.routes.draw_trees", lambda _: trees)
    ask(page, address)
    _check_harmless(page)
    page.click(".card .formula")
    page.click("#menu button:nth-of-type(3)")
    page.wait("document.querySelector('#sheet .draw svg')")
    _check_harmless(page)
    page.press("Escape")
    page.click(".card .first")
    page.wait("document.querySelector('.heat')")
    page.run("document.querySelectorAll('.fold').forEach(e => { e.open = true })")
    page.click("#sheet .pill")
    _check_harmless(page)
    # the policy also reports what the page omitted
    assert all("Content Security Policy" in c for c in page.complaints)
    page.complaints.clear()


def _check_harmless(page: Page) -> None:
    """No script ran, none is there, and no attribute could start one."""
    page.run("new Promise(done => setTimeout(done, 50))")
    assert [c for c in page.complaints if "a dialog of a script" in c] == []
    harm = page.run(
        "[...document.querySelectorAll('*')].filter(e => "
        "(e.localName === 'script' && e.getAttribute('src') !== '/static/page.js')"
        " || ['img', 'iframe', 'foreignObject', 'maction', 'mglyph', 'use', 'style',"
        " 'annotation-xml', 'object', 'embed'].includes(e.localName)"
        " || [...e.attributes].some(a => a.name.startsWith('on')"
        " || /^\\s*javascript:/i.test(a.value) && a.name !== 'alttext'"
        " || a.name === 'href' && e.namespaceURI.includes('Math'))"
        ").map(e => e.outerHTML.slice(0, 200))"
    )
    assert harm == [], json.dumps(harm)


def test_what_is_typed_at_once_is_kept(page: Page, address: str) -> None:
    """The page still loads its systems while a person types already."""
    page.open(address)
    page.run("document.querySelector('#q').focus()")
    page.type("prime $p$")
    page.wait("document.querySelector('#system').options.length > 2")
    page.wait("document.querySelector('#preview math')")
    assert page.run("document.querySelector('#q').value") == "prime $p$"
