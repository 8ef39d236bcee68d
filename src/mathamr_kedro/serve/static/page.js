// The page of `mathamr serve`: one module, no framework, nothing from elsewhere.
// What the server draws (MathML, SVG) is rebuilt from a list of known elements.

const $ = (id) => document.getElementById(id);
const form = $("ask"), box = $("q"), results = $("results"), status = $("status");
const sheet = $("sheet"), sheetBody = $("sheet-body"), menu = $("menu");
const FILTERS = ["type", "tag", "year", "system"];
const EXAMPLES = [
  String.raw`Is $\sqrt p$ irrational for every prime $p$?`,
  String.raw`How do I show that $\sum_{k=1}^{\infty} \frac{1}{k^2}$ converges?`,
  String.raw`When does $x^2 \equiv -1 \pmod p$ have a solution?`,
];
const KEYS = [
  ["\\frac{a}{b}", "\\frac{|}{}", "fraction"], ["x^{n}", "^{|}", "power"],
  ["x_{i}", "_{|}", "index"], ["\\sqrt{x}", "\\sqrt{|}", "square root"],
  ["\\sum", "\\sum_{|}^{}", "sum"], ["\\int", "\\int_{|}^{}", "integral"],
  ["\\prod", "\\prod_{|}^{}", "product"], ["\\lim", "\\lim_{| \\to }", "limit"],
  ["\\binom{n}{k}", "\\binom{|}{}", "binomial"], ["\\leq", "\\leq ", "at most"],
  ["\\neq", "\\neq ", "not equal"], ["\\equiv", "\\equiv ", "congruent"],
  ["\\in", "\\in ", "element of"], ["\\to", "\\to ", "arrow"],
  ["\\infty", "\\infty ", "infinity"], ["\\pi", "\\pi ", "pi"],
  ["\\mathbb{R}", "\\mathbb{R}", "real numbers"],
  ["\\mathbb{Z}", "\\mathbb{Z}", "integers"],
];
let query = { sentences: [], colours: new Map() };
let running = null, searched = "", partnersOf = new Map();

// ---------------------------------------------------------------- elements

function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const KNOWN = {
  "http://www.w3.org/1998/Math/MathML": [
    "math mi mn mo mtext mspace mrow mstyle mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd",
    "alttext display form lspace rspace stretchy symmetric minsize maxsize separator movablelimits mathvariant mathsize width height depth class linethickness displaystyle scriptlevel accent accentunder",
  ],
  "http://www.w3.org/2000/svg": [
    "svg g rect line path text title",
    "class width height viewBox x y x1 y1 x2 y2 rx d fill stroke stroke-width stroke-dasharray text-anchor font-size font-family data-n data-v data-key",
  ],
};
const LISTS = new Map(Object.entries(KNOWN).map(
  ([space, lists]) => [space, lists.map((list) => new Set(list.split(" ")))],
));

// Copy a drawing element by element; whatever is not on the lists is skipped.
function rebuild(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  const lists = LISTS.get(node.namespaceURI);
  if (!lists || !lists[0].has(node.localName)) return null;
  const copy = document.createElementNS(node.namespaceURI, node.localName);
  for (const { name, value } of node.attributes) {
    if (lists[1].has(name)) copy.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    const inner = rebuild(child);
    if (inner) copy.append(inner);
  }
  return copy;
}

function draw(markup) {
  if (!markup) return null;
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const root = parsed.body.firstElementChild;
  return root && rebuild(root);
}

function math(formula) {
  return draw(formula.mathml) ?? make("code", {}, formula.latex);
}

// ---------------------------------------------------------------- text

// A formula that can be clicked; `context.post` is the post in which it stands.
function showFormula(part, context) {
  const element = make("span", {
    class: "formula", role: "button", tabindex: "0", "aria-haspopup": "menu",
    "aria-label": `formula ${part.latex}`,
  }, math(part));
  const open = (event) => {
    event.preventDefault();
    event.stopPropagation();
    openMenu(element, part, context);
  };
  element.addEventListener("click", open);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") open(event);
  });
  return element;
}

const CLOSING = /^[.,;:!?)\]’”"'-]+/;

function showParts(parts, context = {}) {
  const shown = [];
  for (const part of parts) {
    if (part.text !== undefined) {
      // a comma or full stop stays on the line of its formula
      const tied = shown.length && part.text.match(CLOSING)?.[0];
      if (tied) shown.push(make("span", { class: "tie" }, shown.pop(), tied));
      shown.push(document.createTextNode(part.text.slice(tied ? tied.length : 0)));
      continue;
    }
    const element = context.plain ? math(part) : showFormula(part, context);
    if (!context.plain) mark(element, part.key, context);
    shown.push(element);
  }
  return shown;
}

function showSentences(sentences, context = {}) {
  const block = make("div", { class: "prose" });
  let line = make("p");
  block.append(line);
  for (const sentence of sentences) {
    if (sentence.new_paragraph && line.childNodes.length && !context.excerpt) {
      line = make("p");
      block.append(line);
    }
    if (sentence.gap) line.append(make("span", { class: "gap", "aria-hidden": "true" }, "…"));
    const element = make("span", { class: "sentence" }, ...showParts(sentence.parts, context));
    mark(element, sentence.key, context);
    line.append(element, " ");
  }
  return block;
}

// Give a part the colour of its partner in the query.
function mark(element, key, context) {
  const match = context.partners?.get(key);
  const colour = context.isQuery ? query.colours.get(key) : match && query.colours.get(match.query);
  if (colour === undefined) return;
  element.classList.add(`m${colour % 8}`);
  element.dataset.partner = context.isQuery ? key : match.query;
  if (match) element.note = match;
}

// A formula wider than its text gets a line of its own, on which it can be moved.
function fitFormulas(root) {
  for (const element of root.querySelectorAll(".formula")) {
    element.classList.remove("long");
    const room = element.closest(".prose, h2, .shown")?.clientWidth;
    if (room && element.firstElementChild?.getBoundingClientRect().width > room) element.classList.add("long");
  }
}
addEventListener("resize", () => fitFormulas(document));

function plain(parts) {
  return parts.map((part) => part.text ?? part.latex).join("").trim();
}

// ---------------------------------------------------------------- partners

let note = null;
function light(target, on) {
  const own = target.closest?.("[data-partner]");
  note?.remove();
  note = null;
  for (const element of document.querySelectorAll(".hot")) element.classList.remove("hot");
  if (!own || !on) return;
  const root = own.closest("dialog") ?? document;
  for (const element of root.querySelectorAll(`[data-partner="${CSS.escape(own.dataset.partner)}"]`)) {
    element.classList.add("hot");
  }
  if (own.note) showNote(own);
}

function showNote(element) {
  const part = findPart(element.note.query);
  if (!part || element.closest("dialog")) return;
  const words = part.latex ? [math(part)] : showParts(part.parts, { plain: true });
  note = make("div", { class: "why-note", "aria-hidden": "true" },
    `${element.note.similarity.toFixed(2)} like `, ...words);
  document.body.append(note);
  const place = element.getBoundingClientRect();
  const left = Math.min(place.left, innerWidth - note.offsetWidth - 16);
  note.style.left = `${Math.max(8, left) + scrollX}px`;
  note.style.top = `${place.top + scrollY - note.offsetHeight - 8}px`;
}

function findPart(key) {
  for (const sentence of query.sentences) {
    if (sentence.key === key) return sentence;
    for (const part of sentence.parts) if (part.key === key) return part;
  }
  return null;
}

for (const [event, on] of [["mouseover", true], ["focusin", true], ["mouseout", false], ["focusout", false]]) {
  document.addEventListener(event, (e) => light(e.target, on));
}

// ---------------------------------------------------------------- asking

async function ask(path, values = {}, signal = undefined) {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  let response;
  try {
    response = await fetch(`/api/${path}?${new URLSearchParams(given)}`, { signal, headers: { Accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new Error("Is mathamr serve still running?"), { title: "The server does not answer", advice: "Start it again, then try once more." });
  }
  let body = {};
  try { body = await response.json(); } catch { /* an answer without words */ }
  if (response.ok) return body;
  const [title, advice] = {
    404: ["No such post", "It may have been deleted. Search again."],
    413: ["That is too long", "Shorten it and try again."],
    422: ["That could not be read", "Change the question or the filters."],
    429: ["Too many questions at once", "Wait a moment and try again."],
    503: ["That took too long", "Wait a moment and try again, or choose another system under Filters."],
  }[response.status] ?? ["The server failed", "Try again; its log says more."];
  const error = new Error(body.detail ?? `The server answered ${response.status}.`);
  throw Object.assign(error, { title, advice, status: response.status });
}

function showError(error, again) {
  const edit = ["Edit the question", () => { box.focus(); box.select(); }];
  const actions = error.status === 422 && !sheet.open ? [edit] : again ? [["Try again", again]] : [];
  return showNotice(error.title ?? "This page failed", [error.message, error.advice], actions, true);
}

const isFormula = () => form.elements.mode.value === "formula";

function readState() {
  const state = { q: box.value.trim(), mode: isFormula() ? "formula" : "" };
  for (const name of FILTERS) state[name] = $(name).value.trim();
  if (isFormula() || state.system === $("system").dataset.default) state.system = "";
  return state;
}

function writeAddress(state, replace) {
  const given = Object.entries(state).filter(([, value]) => value);
  const address = given.length ? `/?${new URLSearchParams(given)}` : "/";
  if (address === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
}

async function search({ push = true } = {}) {
  const state = readState();
  closeMenu();
  if (sheet.open) sheet.close();
  if (!state.q) return showStart(push);
  if (push) writeAddress(state);
  searched = state.q;
  $("preview").hidden = true;
  document.body.classList.remove("start");
  document.title = `${state.q.slice(0, 60)} · MathAMR+`;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  status.textContent = "Searching …";
  $("read").hidden = true;
  results.replaceChildren(...[0, 1, 2].map(() => make("div", { class: "ghost", "aria-hidden": "true" })));
  results.setAttribute("aria-busy", "true");
  const started = performance.now();
  try {
    const { type, tag, year, system } = state;
    const found = isFormula()
      ? await ask("formula", { latex: state.q, type, tag, year }, signal)
      : await ask("search", { q: state.q, type, tag, year, system }, signal);
    showAnswer(found, state, (performance.now() - started) / 1000);
  } catch (error) {
    if (error.name === "AbortError") return;
    status.textContent = "";
    results.replaceChildren(showError(error, () => search({ push: false })));
  } finally {
    results.removeAttribute("aria-busy");
  }
}

function showStart(push) {
  running?.abort();
  if (push) writeAddress({});
  document.body.classList.add("start");
  document.title = "MathAMR+ search";
  status.textContent = "";
  $("read").hidden = true;
  results.replaceChildren();
}

function showNotice(title, lines, actions, bad = false) {
  const element = make("div", { class: bad ? "notice bad" : "notice", role: bad ? "alert" : null },
    make("h2", {}, title), ...lines.filter(Boolean).map((line) => make("p", {}, line)));
  if (actions.length) {
    element.append(make("div", { class: "actions" }, ...actions.map(
      ([name, act], i) => make("button", { type: "button", class: i ? "" : "first", onclick: act }, name))));
  }
  return element;
}

// ---------------------------------------------------------------- results

function showAnswer(found, state, seconds) {
  setQuery(found.query);
  const count = found.results.length;
  status.textContent = count ? `${count} ${count === 1 ? "post" : "posts"} in ${seconds.toFixed(2)} s` : "";
  showRead(found);
  partnersOf = new Map(found.results.map((result) => [result.post_id, findPartners(result)]));
  if (!count) return results.replaceChildren(showEmpty(state));
  const best = Math.max(...found.results.map((r) => r.score), 1e-9);
  results.replaceChildren(...found.results.map((result) => showCard(result, best)));
  fitFormulas(document);
  const tags = new Set(found.results.flatMap((result) => result.tags));
  $("tags").replaceChildren(...[...tags].sort().map((tag) => make("option", { value: tag })));
}

function setQuery(sentences) {
  const keys = sentences.flatMap((s) => s.parts.filter((p) => p.key).map((p) => p.key));
  keys.push(...sentences.map((s) => s.key), "D");
  query = { sentences, colours: new Map([...new Set(keys)].map((key, i) => [key, i])) };
}

function showRead(found) {
  const read = $("read");
  if (!found.results.length && !found.warnings.length) { read.hidden = true; return; }
  read.replaceChildren(make("h2", {}, isFormula() ? "Your formula" : "Your question: each colour marks what answers it below"),
    showSentences(found.query, { isQuery: true }));
  for (const warning of found.warnings) read.append(make("p", { class: "warn" }, warning));
  if (found.did_you_mean) read.append(make("p", { class: "warn" }, "Did you mean ", make("button", { type: "button", onclick: () => askAgain(found.did_you_mean) }, found.did_you_mean), "?"));
  if (found.nothing_close) read.append(make("p", { class: "warn" }, "Nothing close was found; these are the nearest."));
  read.hidden = false;
}

function showEmpty(state) {
  const set = FILTERS.filter((name) => state[name] && name !== "system");
  const clear = () => { for (const name of set) $(name).value = ""; search(); };
  return set.length
    ? showNotice("No post passes these filters", ["Only the best 300 posts are filtered. Use fewer filters."], [["Remove the filters", clear]])
    : showNotice("Nothing was found", ["Say it in other words, or with fewer quotes, signs, tags and kinds."], [["Edit the question", () => box.focus()]]);
}

// The part of the query that is nearest to each part of a post.
function findPartners(result) {
  const sorted = [...result.matches].sort((a, b) => a.similarity - b.similarity);
  return new Map(sorted.map((match) => [match.post, match]));
}

// What the variables of the query, ?a, stand for in the formula that was found.
function showBindings(pattern) {
  const found = Object.entries(pattern.bindings).flatMap(([name, formula]) => [` ${name} = `, ...showParts([formula], { plain: true })]);
  return make("p", { class: "meta" }, pattern.whole ? "An instance of your formula:" : "Holds an instance of your formula:", ...found);
}

// What a book prints, the title, or else the id.
function headingOf(post) {
  if (post.statement && post.statement.kind !== "text") return post.statement.title;
  return post.title.length ? post.title : [{ text: `Post ${post.post_id}` }];
}

// Section, file and users of a statement, and where it is on the web.
function placeOf(statement) {
  if (!statement) return [];
  const { section, used_by: users, file, place, url } = statement;
  return [
    section.length && statement.kind !== "text" ? make("span", { class: "section" }, ...showParts(section, { plain: true })) : null,
    users ? make("span", {}, `used by ${users}`) : null,
    file ? make("span", { class: "file" }, `${file}${place ? `, ${place}` : ""}`) : null,
    url.startsWith("https://") ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, "on the web") : null,
  ];
}

// The proof, and the statements beside this one, of the sheet of a post.
function showStatement(statement) {
  if (!statement) return [];
  const links = (title, others) => others.length ? [fold(`${title} (${others.length})`, make("ul", { class: "links" },
    ...others.map((other) => make("li", {}, make("button", { type: "button", onclick: () => openPost(other.post_id) }, ...showParts(other.title, { plain: true }))))))] : [];
  const proof = statement.proof.map((parts) => make("p", {}, ...showParts(parts, { plain: true })));
  return [
    ...(proof.length ? [fold("Proof", make("div", { class: "prose" }, ...proof))] : []),
    ...links("Its proof uses", statement.uses), ...links("Used by", statement.users),
  ];
}

function showCard(result, best) {
  const context = { partners: findPartners(result), post: result.post_id, excerpt: true };
  const open = () => openPost(result.post_id);
  const why = () => openWhy(result.post_id);
  const shares = result.parts.length > 1 ? result.parts.map((part) => `${part.share.toFixed(3)} by ${part.system}`).join(" + ") : "";
  const same = result.same === null ? null : Math.round(100 * result.same);
  const score = make("span", { class: "score", title: shares || "Score of the system" }, make("i", { "aria-hidden": "true" }), same !== null ? `${same} % the same` : result.closeness === null ? result.score.toFixed(3) : `${result.closeness.toFixed(2)} ${result.close}`);
  score.firstChild.style.setProperty("--share", `${same ?? Math.round(100 * (result.closeness ?? Math.max(0, result.score / best)))}%`);
  const card = make("article", { class: "card", tabindex: "-1", "aria-label": `Result ${result.rank}: ${plain(headingOf(result))}` },
    make("h2", {}, make("button", { type: "button", onclick: open }, ...showParts(headingOf(result), { plain: true }))),
    make("div", { class: "meta" },
      make("span", { class: "kind" }, result.statement?.kind ?? result.type), score, ...placeOf(result.statement),
      result.votes === null ? null : make("span", {}, `${result.votes} ${result.votes === 1 ? "vote" : "votes"}`),
      result.date ? make("span", {}, result.date.slice(0, 4)) : null),
    result.pattern ? showBindings(result.pattern) : null,
    showSentences(result.sentences, context),
    make("div", { class: "actions" },
      make("button", { type: "button", class: "first", onclick: why, "aria-label": `Why was result ${result.rank} found` }, "Why this post"),
      make("button", { type: "button", onclick: open, "aria-label": `Read result ${result.rank}` }, "Read it whole"),
      make("span", { class: "tags" }, ...result.tags.slice(0, 4).map((tag) => make("button", { type: "button", class: "tag", title: `Only posts with the tag ${tag}`, onclick: () => filterBy(tag) }, tag)))));
  card.addEventListener("keydown", (event) => {
    if (event.target !== card || event.key !== "Enter") return;
    event.preventDefault(); // the same key would press the button that gets the focus: Close
    why();
  });
  return card;
}

function filterBy(tag) {
  $("tag").value = tag;
  $("filters").open = true;
  noteFilters();
  search();
}

// ---------------------------------------------------------------- sheet

let returnTo = null;
async function openSheet(title, load, wide = false) {
  if (!sheet.open) returnTo = document.activeElement;
  sheet.classList.toggle("wide", wide);
  $("sheet-title").replaceChildren(...[title].flat());
  sheetBody.replaceChildren(make("div", { class: "ghost" }));
  if (!sheet.open) sheet.showModal();
  try {
    sheetBody.replaceChildren(...(await load()));
    fitFormulas(sheetBody);
    for (const panel of sheetBody.querySelectorAll(".draw")) showMatch(panel);
  } catch (error) {
    sheetBody.replaceChildren(showError(error));
  }
  sheet.scrollTop = 0;
}
sheet.addEventListener("close", () => {
  if (returnTo?.isConnected) returnTo.focus();
  const address = new URLSearchParams(location.search);
  if (address.has("post") || address.has("why")) {
    address.delete("post");
    address.delete("why");
    history.replaceState(null, "", address.size ? `/?${address}` : "/");
  }
});
sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
$("sheet-close").addEventListener("click", () => sheet.close());

function noteSheet(name, id) {
  const address = new URLSearchParams(location.search);
  address.delete("post");
  address.delete("why");
  address.set(name, id);
  history.replaceState(null, "", `/?${address}`);
}

function describe(post) {
  return make("div", { class: "meta" }, make("span", { class: "kind" }, post.statement?.kind ?? post.type), make("span", {}, `Post ${post.post_id}`), ...placeOf(post.statement),
    post.votes === null ? null : make("span", {}, `${post.votes} votes`), post.date ? make("span", {}, post.date) : null,
    ...post.tags.map((tag) => make("span", { class: "tag" }, tag)));
}

function openPost(id) {
  noteSheet("post", id);
  return openSheet("Post", async () => {
    const post = await ask(`posts/${encodeURIComponent(id)}`);
    $("sheet-title").replaceChildren(...showParts(headingOf(post), { plain: true }));
    const actions = make("div", { class: "actions" });
    if (query.sentences.length) actions.append(make("button", { type: "button", class: "first", onclick: () => openWhy(id) }, "Why this post"));
    if (post.question_id) actions.append(make("button", { type: "button", onclick: () => openPost(post.question_id) }, "Read the question"));
    const [first, ...rest] = post.sentences;
    const repeated = first && plain(first.parts) === plain(post.title);
    const context = { post: id, partners: partnersOf.get(id) };
    const body = repeated ? rest : post.sentences;
    const text = body.length ? showSentences(body, context) : make("p", { class: "lead" }, "This post has no text below its title.");
    return [describe(post), text, ...showStatement(post.statement), actions];
  });
}

function openWhy(id) {
  const state = readState();
  noteSheet("why", id);
  return openSheet("Why this post", async () => {
    const { type, system } = state;
    const found = await ask("explain", { q: state.q, post_id: id, formula: isFormula() || "", graphs: true, type, system });
    if (!query.sentences.length) setQuery(found.query);
    const reasons = make("ul", { class: "reasons" }, ...found.reasons.map((parts) => make("li", {}, ...showParts(parts, { plain: true }))));
    const lead = make("p", { class: "lead" },
      `Each part of your ${isFormula() ? "formula" : "question"} counts with the part of the post that is nearest to it. The mean of the framed cells is ${found.maxsim.toFixed(3)}.`);
    $("sheet-title").replaceChildren("Why: ", ...showParts(headingOf(found.post), { plain: true }));
    const heat = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Similarities" }, showHeat(found));
    return [
      found.reasons.length ? reasons : make("p", { class: "lead" }, "Its words and formulas are others; what they mean is near to what you asked."),
      showSum(found), fold("Every part with every part", lead, heat), fold("Both as graphs", ...showGraphs(found)),
    ];
  }, true);
}

// What the score is the sum of; the card says how close the post is instead, if that is known.
function showSum(found) {
  const row = (share, ...what) => make("tr", {}, make("td", {}, share.toFixed(3)), make("td", {}, ...what));
  const given = found.parts.length > 1 ? found.parts.map((part) => row(part.share, `by ${part.system}${part.score === null ? ", which did not find it" : `, whose own score is ${part.score.toFixed(3)}`}`)) : [];
  const terms = found.terms.map((term) => row(term.share, ...showParts(term.query, { plain: true }),
    make("span", { class: "name" }, ` ${term.similarity.toFixed(2)} like${term.in_question ? ", in its question," : ""} `), ...showParts(term.post, { plain: true })));
  const title = `Its place comes from the score ${found.score.toFixed(3)}, the sum of`;
  const table = (rows) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Score" }, make("table", { class: "sum" }, make("tbody", {}, ...rows)));
  const shown = [table(given.length ? given : terms)];
  for (const part of found.parts) if (part.words.length && part.score !== null) shown.push(make("p", { class: "lead" }, `The score ${part.score.toFixed(3)} of ${part.system} is the sum of`), table(part.words.map((word) => row(word.share, word.word))));
  if (given.length && !isFormula() && terms.length) shown.push(make("p", { class: "lead" }, "The first of them that compares vectors is the sum of"), table(terms));
  const sum = fold(title, ...shown);
  sum.open = true;
  return sum;
}

// A part of the sheet that opens on demand; drawings find their place when it does.
function fold(title, ...inside) {
  const element = make("details", { class: "fold" }, make("summary", {}, title), ...inside);
  element.addEventListener("toggle", () => {
    fitFormulas(element);
    for (const panel of element.querySelectorAll(".draw")) showMatch(panel);
  });
  return element;
}

const NAMES = { F: "formula", S: "sentence", D: "the whole text" };
// Sentences are numbered from one, formulas from nought.
const nameOf = (key) => (key === "D" ? NAMES.D : `${NAMES[key[0]]} ${Number(key.slice(1)) + (key[0] === "F")}`);

function showHeat(found) {
  const rank = found.columns.map((_, j) => Math.max(...found.rows.map((_, i) => (found.best[i] === j ? 1 : 0) + found.similarity[i][j])));
  const order = found.columns.map((_, j) => j).sort((a, b) => rank[b] - rank[a]);
  const colour = (i) => { const c = query.colours.get(found.rows[i].key); return c === undefined ? "m4" : `m${c % 8}`; };
  const label = (part) => [make("span", { class: "name" }, nameOf(part.key)), ...showParts(part.parts, { plain: true })];
  const head = make("tr", {}, make("td", {}), ...found.rows.map((row, i) => make("th", { scope: "col", class: colour(i) }, ...label(row))));
  head.firstChild.style.setProperty("--v", 0);
  const body = order.map((j) => make("tr", {}, make("th", { scope: "row" }, ...label(found.columns[j])),
    ...found.rows.map((_, i) => {
      const value = found.similarity[i][j];
      const cell = make("td", { class: found.best[i] === j ? `best ${colour(i)}` : "" }, value.toFixed(2));
      cell.style.setProperty("--v", Math.max(0, value).toFixed(3));
      return cell;
    })));
  return make("table", { class: "heat" }, make("caption", { class: "hidden" }, "Similarity of each part of the post (rows) with each part of the question (columns)"),
    make("thead", {}, head), make("tbody", {}, ...body));
}

function showGraphs(found) {
  const both = [["Your question as a graph", found.graphs.query], ["The post as a graph", found.graphs.post]];
  const partner = new Map(found.rows.map((row, i) => [found.columns[found.best[i]].key, row.key]));
  const panels = both.map(([name, markup], side) => {
    const svg = draw(markup);
    const panel = make("div", {}, make("h3", {}, name));
    if (svg) {
      colourGraph(svg, (key) => (side ? partner.get(key) : key));
      for (const name of ["width", "height"]) svg.setAttribute(name, Math.round(svg.getAttribute(name) * 0.8));
      panel.append(make("div", { class: "draw", tabindex: "0", role: "img", "aria-label": name }, svg));
    } else {
      panel.append(make("p", { class: "lead" }, "There is no drawing: the graph is not stored, or too large to be read."));
    }
    return panel;
  });
  const key = make("ul", { class: "key" }, ...[["amr", "meaning of the text (AMR)"], ["formula-node", "formula"], ["opt", "operator tree"], ["slt", "layout tree"], ["virtual", "vector"]]
    .map(([kind, name]) => make("li", {}, make("i", { class: kind, "aria-hidden": "true" }), name)));
  return [make("h3", {}, "What was compared"), make("p", { class: "lead" }, "Formulas (F), sentences (S) and the whole text (DOC) that found each other have one colour."), key, make("div", { class: "pair" }, ...panels)];
}

function colourGraph(svg, ofKey) {
  for (const pill of svg.querySelectorAll(".pill")) {
    const key = ofKey(pill.dataset.key);
    const colour = query.colours.get(key);
    if (colour === undefined) continue;
    pill.classList.add(`m${colour % 8}`);
    pill.dataset.partner = key;
    if (pill.dataset.key[0] !== "F") continue;
    for (const node of svg.querySelectorAll(".node")) {
      if (node.dataset.v.split(" ").includes(pill.dataset.n)) node.classList.add(`m${colour % 8}`);
    }
  }
}

// Move a drawing to the first formula, or sentence, that found its partner.
function showMatch(panel) {
  const pill = panel.querySelector('.pill[data-partner^="F"], .pill[data-partner^="S"]');
  if (!pill) return;
  const here = panel.getBoundingClientRect(), there = pill.getBoundingClientRect();
  panel.scrollLeft += there.left - here.left - here.width / 3;
  panel.scrollTop += there.top - here.top - 60;
}

// ---------------------------------------------------------------- menu of a formula

let menuOwner = null;
function openMenu(element, part, context) {
  const entries = [
    ["Search by this formula", () => searchFormula(part.latex)],
    context.post ? ["Show its post", () => openPost(context.post)] : null,
    ["Show its two trees", () => openTrees(part.latex)],
    ["Copy its LaTeX", () => navigator.clipboard?.writeText(part.latex)],
  ].filter(Boolean);
  menuOwner = element;
  menu.replaceChildren(make("div", { class: "shown", role: "presentation" }, math(part)),
    ...entries.map(([name, act]) => make("button", { type: "button", role: "menuitem", tabindex: "-1", onclick: () => { closeMenu(); act(); } }, name)));
  menu.hidden = false;
  (element.closest("dialog") ?? document.body).append(menu);
  const place = element.getBoundingClientRect();
  const inDialog = element.closest("dialog");
  const origin = inDialog?.getBoundingClientRect();
  const x = inDialog ? -origin.left + inDialog.scrollLeft : scrollX;
  const y = inDialog ? -origin.top + inDialog.scrollTop : scrollY;
  menu.style.left = `${Math.max(8, Math.min(place.left, innerWidth - menu.offsetWidth - 12)) + x}px`;
  menu.style.top = `${place.bottom + 6 + y}px`;
  menu.querySelector("button").focus({ preventScroll: true });
}
function closeMenu(refocus = false) {
  if (menu.hidden) return;
  menu.hidden = true;
  if (refocus && menuOwner?.isConnected) menuOwner.focus();
}
menu.addEventListener("keydown", (event) => {
  const items = [...menu.querySelectorAll("button")], i = items.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) items.at((i + step) % items.length).focus();
  else if (event.key === "Escape" || event.key === "Tab") closeMenu(true);
  else return;
  event.preventDefault();
  event.stopPropagation();
});
document.addEventListener("click", (event) => { if (!menu.contains(event.target)) closeMenu(); });

function searchFormula(latex) {
  if (sheet.open) sheet.close();
  setMode("formula");
  box.value = latex;
  fit();
  preview();
  scrollTo({ top: 0 });
  search();
}

function openTrees(latex) {
  return openSheet("Two trees of one formula", async () => {
    const found = await ask("trees", { latex });
    const shown = [make("p", { class: "prose" }, math(found))];
    for (const [name, lead, markup] of [
      ["Symbol layout tree", "How it is written: n next, a above, b below, o over, u under, w within.", found.slt],
      ["Operator tree", "What it means: operators over their operands.", found.opt],
    ]) {
      const svg = draw(markup);
      shown.push(make("h3", {}, name), make("p", { class: "lead" }, svg ? lead : "There is none, or it is too large to be drawn."));
      if (svg) shown.push(make("div", { class: "draw", tabindex: "0", role: "img", "aria-label": name }, svg));
    }
    if (found.problems.length) shown.push(make("p", { class: "warn" }, `Not all of it could be read: ${found.problems.join(", ")}.`));
    return shown;
  });
}

// ---------------------------------------------------------------- question box

function fit() {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight, 190)}px`;
}

let waiting = 0, previewed = "";
function preview() {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const text = box.value.trim(), shown = $("preview");
    const formula = isFormula();
    const isAnswered = !document.body.classList.contains("start") && text === searched;
    if (!text || isAnswered || (!formula && !text.includes("$"))) { shown.hidden = true; previewed = ""; return; }
    const mine = `${formula}${text}`;
    if (mine === previewed) return;
    previewed = mine;
    try {
      const found = await ask("render", formula ? { latex: text } : { q: text });
      if (previewed !== mine) return;
      const drawn = formula ? [draw(found.mathml) ?? make("code", {}, text)] : showParts(found.parts, { plain: true });
      shown.replaceChildren(...drawn);
      shown.hidden = false;
    } catch {
      shown.hidden = true;
    }
  }, 140);
}

function setMode(mode) {
  form.elements.mode.value = mode;
  const formula = mode === "formula";
  document.body.classList.toggle("formula-mode", formula);
  $("q-label").textContent = formula ? "A formula in LaTeX" : "Your question; formulas between dollars";
  box.placeholder = formula ? "\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}" : "Is $\\sqrt p$ irrational for every prime $p$?";
  $("system-field").hidden = formula;
  toggleKeys(formula || $("keys-toggle").getAttribute("aria-expanded") === "true");
}

function toggleKeys(open) {
  $("keys").hidden = !open;
  $("keys-toggle").setAttribute("aria-expanded", String(open));
  if (open && !$("keys").childElementCount) fillKeys();
}

async function fillKeys() {
  const keys = $("keys");
  for (const [shown, insert, name] of KEYS) {
    const key = make("button", { type: "button", "aria-label": name, title: name, onclick: () => type(insert) }, name);
    keys.append(key);
    ask("render", { q: `$${shown}$` }).then((found) => {
      const drawn = draw(found.parts[0]?.mathml);
      if (drawn) key.replaceChildren(drawn);
    }).catch(() => {});
  }
}

// Put LaTeX where the cursor stands; between dollars unless it stands there already.
function type(latex) {
  const start = box.selectionStart, before = box.value.slice(0, start);
  const inside = isFormula() || before.split("$").length % 2 === 0;
  const text = inside ? latex : `$${latex.includes("|") ? latex : `${latex.trim()}|`}$`;
  const place = text.indexOf("|");
  box.setRangeText(text.replace("|", ""), start, box.selectionEnd, "end");
  if (place >= 0) box.setSelectionRange(start + place, start + place);
  box.focus();
  fit();
  preview();
}

function noteFilters() {
  const on = FILTERS.filter((name) => $(name).value && !(name === "system" && $(name).value === $(name).dataset.default));
  $("filters-on").textContent = on.length ? `· ${on.map((name) => `${name} ${$(name).value}`).join(", ")}` : "";
}

box.addEventListener("input", () => { fit(); preview(); });
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); form.requestSubmit(); }
});
form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
form.addEventListener("change", (event) => {
  if (event.target.name === "mode") { setMode(event.target.value); previewed = ""; preview(); box.focus(); }
  if (FILTERS.includes(event.target.name)) { noteFilters(); if (box.value.trim()) search(); }
});
$("keys-toggle").addEventListener("click", () => toggleKeys($("keys").hidden));
$("home").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  box.value = "";
  for (const name of ["type", "tag", "year"]) $(name).value = "";
  setMode("question");
  noteFilters();
  preview();
  fit();
  search();
});

// ---------------------------------------------------------------- keyboard, theme, address

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("textarea, input, select");
  if (event.key === "Escape") return menu.hidden ? typing?.blur() : closeMenu(true);
  if (sheet.open) return;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    box.focus();
    box.select();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  if (!step || (typing && !(typing === box && event.key === "ArrowDown" && box.selectionEnd === box.value.length))) return;
  const cards = [...document.querySelectorAll(".card")];
  if (!cards.length) return;
  event.preventDefault();
  const now = cards.indexOf(document.activeElement.closest(".card"));
  if (now + step < 0) return box.focus();
  const next = cards[Math.min(cards.length - 1, now + step)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
});

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}
try { setTheme(localStorage.getItem("theme")); } catch { /* storage may be off */ }
$("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = dark === "dark" ? "light" : "dark";
  setTheme(next);
  try { localStorage.setItem("theme", next); } catch { /* storage may be off */ }
});

function readAddress() {
  const address = new URLSearchParams(location.search);
  box.value = address.get("q") ?? "";
  setMode(address.get("mode") === "formula" ? "formula" : "question");
  for (const name of FILTERS) {
    const value = address.get(name) ?? (name === "system" ? $("system").dataset.default ?? "" : "");
    if ($(name).tagName !== "SELECT" || [...$(name).options].some((o) => o.value === value)) $(name).value = value;
  }
  fit();
  preview();
  noteFilters();
  const wanted = ["post", "why"].map((name) => [name, address.get(name)]).find(([, id]) => id);
  search({ push: false }).then(() => {
    if (wanted?.[0] === "post") openPost(wanted[1]);
    if (wanted?.[0] === "why" && box.value.trim()) openWhy(wanted[1]);
  });
}
addEventListener("popstate", readAddress);

// Statements are chosen by their kinds instead of types of post.
function showKinds(kinds) {
  if (!kinds.length) return;
  const chosen = $("type").value;
  $("type").replaceChildren($("type").options[0], ...kinds.map((kind) => make("option", { value: kind }, kind)));
  $("type").value = kinds.includes(chosen) ? chosen : "";
}

function askAgain(text) {
  box.value = text;
  fit();
  preview();
  search();
}

function showExamples(texts) {
  for (const text of texts) {
    const button = make("button", { type: "button", onclick: () => askAgain(text) }, text);
    $("examples").append(button);
    ask("render", { q: text }).then((found) => button.replaceChildren(...showParts(found.parts, { plain: true }))).catch(() => {});
  }
}

async function start() {
  const address = new URLSearchParams(location.search);
  if (!address.get("q")) box.focus({ preventScroll: true });
  // the question comes first: what is typed meanwhile must stay
  const system = address.get("system") ?? "";
  $("system").replaceChildren(make("option", { value: system }, system));
  const type = address.get("type"); // a kind of statement is known later
  if (type && ![...$("type").options].some((o) => o.value === type)) $("type").append(make("option", { value: type }, type));
  readAddress();
  try {
    const found = await ask("systems");
    const chosen = $("system").value || found.default;
    $("about").textContent = `Ask in words and formulas. ${found.posts.toLocaleString("en")} texts wait in this index.`;
    showExamples(found.examples.length ? found.examples : EXAMPLES);
    showKinds(found.kinds);
    $("system").dataset.default = found.default;
    const [plainNames, rest] = [true, false].map((isPlain) => found.systems.filter(({ label }) => !!label === isPlain));
    $("system").replaceChildren(
      ...plainNames.map(({ name, kind, label }) => make("option", { value: name }, kind === "not prepared" ? `${label} (not prepared)` : label)),
      ...(rest.length ? [make("optgroup", { label: "more" }, ...rest.map(({ name, kind }) => make("option", { value: name }, `${name} (${kind})`)))] : []));
    $("system").value = found.systems.some(({ name }) => name === chosen) ? chosen : found.default;
    noteFilters();
  } catch (error) {
    if (!box.value.trim()) results.replaceChildren(showError(error, () => location.reload()));
  }
}
start();
