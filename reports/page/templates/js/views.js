// The views: each answers one question, and is drawn anew from its fields.
const DRAWN = { "": applyFilters, rely: drawRely, upgrade: drawUpgrade, card: drawCard, build: () => {}, why: drawWhy, scope: () => {}, modes: () => {}, others: () => {}, disagreements: () => {}, costs: () => {} };

function showView(name) {
  const fresh = name !== view;
  view = name;
  if (view) document.body.dataset.view = view;
  else delete document.body.dataset.view;
  byId("matrix").hidden = Boolean(view);
  for (const section of document.querySelectorAll(".entrance")) section.hidden = section.id !== "view-" + view;
  for (const link of document.querySelectorAll(".views [data-view]")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (fresh && view && document.documentElement.dataset.ready) byId("view-" + view).focus();
}

function viewChanged() {
  DRAWN[view]();
  writeAddress(drawer.open ? openClause : "");
}

const ORDER = ROWS.map((entry) => entry.id);
const TOPICS = new Set(ORDER.map((id) => id.slice(0, id.lastIndexOf(".") + 1)));
for (const list of document.querySelectorAll("datalist")) list.append(...[...TOPICS].map((value) => el("option", { value })));

/** Return what is known of a clause on one column; nothing where it was never run there. */
function cellAt(id, mode, place) {
  const cell = cellOn(DATA.clauses[id], mode, place);
  return cell.unrun ? undefined : cell;
}

const clauseLink = (id) => el("a", { href: "#" + id, text: DATA.clauses[id].says, onclick: (event) => openListed(event, id) });
const idLink = (id) => el("a", { href: "#" + id, text: id, onclick: (event) => openListed(event, id) });

/** Return what is shown below the sentence of a clause: its limits, the clauses that state its exceptions, what to write instead. */
function hintsOf({ limits, see = [], instead }) {
  const links = see.flatMap((id, place) => [place ? ", " : "see ", Object.hasOwn(DATA.clauses, id) ? idLink(id) : id]);
  const lines = [limits && [limits], see.length && links, instead && ["instead: ", instead]].filter(Boolean);
  return lines.map((line) => el("small", { class: "hint" }, ...line));
}

/** Show a list under its name and count; one with too many is drawn when it is opened. */
function groupView(title, items, draw, many, tag = "") {
  const name = title[0].toUpperCase() + title.slice(1);
  const box = el("details", { class: "group" }, el("summary", {}, tag, tag && " ", el("h3", {}, `${name} `, el("small", { text: `(${items.length})` }))));
  const fill = () => box.querySelector("ul") || box.append(el("ul", { class: "found" }, ...items.map(draw)));
  box.addEventListener("toggle", fill);
  if (items.length <= many) {
    fill();
    box.open = true;
  }
  return box;
}

/** Show the command that gives the same answer in a terminal. */
function terminalView(words) {
  const quoted = words.map((word) => (/^[\w.-]+$/.test(word) ? word : `'${word}'`));
  return el("p", { class: "terminal" }, "The same in a terminal: ", el("code", { text: ["python -m reports", ...quoted].join(" ") }));
}

function answer(name, said, ...parts) {
  byId(`${name}-said`).textContent = said;
  byId(`${name}-found`).replaceChildren(...parts.filter(Boolean));
}

for (const form of document.querySelectorAll(".entrance form")) {
  form.addEventListener("input", viewChanged);
  form.addEventListener("submit", (event) => event.preventDefault());
}
addEventListener("beforeprint", () => {
  for (const box of document.querySelectorAll(".entrance:not([hidden]) .group")) {
    box.dispatchEvent(new Event("toggle"));
    box.open = true;
  }
});
