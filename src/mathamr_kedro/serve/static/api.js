// Lists the addresses of /openapi.json.

function make(tag, text, ...children) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
}

function describe(schema = {}) {
  const one = schema.anyOf?.find((s) => s.type !== "null") ?? schema;
  const kind = one.enum ? one.enum.join(" | ") : one.items ? `list of ${describe(one.items)}` : one.type ?? "";
  const limits = [["minLength", "from"], ["maxLength", "to"], ["minimum", "from"], ["maximum", "to"]]
    .filter(([name]) => one[name] !== undefined).map(([name, word]) => `${word} ${one[name]}`).join(" ");
  return limits ? `${kind} (${limits}${one.type === "string" ? " characters" : ""})` : kind;
}

document.getElementById("origin").textContent = location.origin;
const api = await (await fetch("/openapi.json")).json();
const list = document.getElementById("list");
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, entry] of Object.entries(methods)) {
    const article = make("article", "", make("h2", "", make("b", `${method.toUpperCase()} `), path), make("p", entry.summary ?? ""));
    const rows = (entry.parameters ?? []).filter((p) => p.in !== "header");
    if (rows.length) {
      article.append(make("table", "", ...rows.map((p) => make("tr", "", make("th", p.name + (p.required ? " *" : "")),
        make("td", describe(p.schema)), make("td", p.description ?? p.schema?.description ?? "")))));
    }
    list.append(article);
  }
}
