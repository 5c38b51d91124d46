// A card for each hook API: which clauses are on it is said in reports/cards/, what they say on a release by their cells.
/** Show the card that is asked for. */
function drawCard() {
  const { api, on } = readFields();
  const { calls, came, since, other, parts } = DATA.cards[api];
  const places = COLUMNS.map((_, place) => place).slice(0, PLACE.get(on) + 1);
  const { label } = COLUMNS[places.at(-1)];
  const there = came <= places.at(-1);
  const lines = parts.map(([title, clauses]) => [title, Array.isArray(clauses) ? clauses.map((place) => cardLine(NAMES[place], places)) : clauses]);
  const left = lines.flatMap(([, found]) => found).filter((line) => line === null).length;
  answer("card", `${callOf(calls, places.at(-1))}: ${there ? "" : `${torchOf(label)} does not have it, `}${since}.`,
    other && el("p", {}, "See also ", el("a", { href: `#card?api=${other}`, text: other }), "."),
    there && el("div", { class: "card" }, ...lines.map(cardPart)),
    there && left > 0 && el("p", { class: "left-out", text: `${counted(left, "line is", "lines are")} left out: not there, or not measured, on ${torchOf(label)}.` }),
    there && waysOf(api),
    terminalView(["rely", "--api", api, "--to", COLUMNS[places.at(-1)].key.replace(/ run$/, "")]));
}

/** Return how an API is called on a column: of [how many columns, call] the one that it is in. */
const callOf = (calls, place) => calls.find(([count]) => (place -= count) < 0)[1];

/** Show what a clause says on the last of these columns, and what it said on those before; null where it says nothing. */
function cardLine(id, places) {
  const spans = spansOf(id, DATA.modes[0], places);
  const clause = DATA.clauses[id];
  const cell = spans.at(-1)?.cell; // of a run alone nothing may be known
  if (!cell || cell.untold) return null;
  const said = (one) => one.says ?? clause.says;
  const now = el("a", { href: "#" + id, text: said(cell), onclick: (event) => openListed(event, id) });
  const before = spans.filter((span) => !span.cell.untold && said(span.cell) !== said(cell));
  return el("li", {}, now, cell.good || cell.conforms ? null : cellView(clause, cell), clause.limits && el("small", { class: "hint", text: clause.limits }),
    ...before.map((span) => el("small", { class: "hint" }, el("b", { text: `${torchOf(spanOf(span.first, span.last))}: ` }), said(span.cell))));
}

function cardPart([title, found]) {
  const lines = typeof found === "string" ? [el("li", { text: `${found}.` })] : found.filter(Boolean);
  return lines.length ? el("section", {}, el("h3", { text: title }), el("ul", { class: "found" }, ...lines)) : "";
}

/** Show what becomes of the hook in other ways to run a program: what the view of the modes has of it. */
function waysOf(api) {
  const box = document.querySelector(`#view-modes [data-api="${api}"]`)?.cloneNode(true);
  box?.querySelector("h3").replaceChildren(`In other ways to run, on ${torchOf(byId("view-modes").dataset.torch)}`);
  return box;
}
