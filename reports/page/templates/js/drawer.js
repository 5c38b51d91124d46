// One clause, opened.
const drawer = byId("drawer");
let openClause = "";
let opener = null;

/** Open a clause; its row is where the reader comes back to, or what it was opened from, also by way of another clause. */
function showClause(id, from) {
  if (openClause === id && drawer.open) return;
  const row = rowOf(id);
  const back = row && row.checkVisibility() ? row.querySelector("a") : null;
  markOpen(false);
  openClause = id;
  opener = from || back || (drawer.open ? opener : document.activeElement);
  markOpen(true);
  byId("drawer-body").replaceChildren(...clauseView(id, DATA.clauses[id]));
  if (!drawer.open) drawer.showModal();
  drawer.scrollTop = 0;
  if (row && !row.hidden && !from) row.scrollIntoView({ block: "nearest" });
}

/** Close; the focus goes back to the row or to what the clause was opened from, else to the view. */
function hideClause() {
  if (drawer.open) drawer.close();
}

drawer.addEventListener("close", () => {
  markOpen(false);
  openClause = "";
  const { foreign, strange } = readAddress();
  if (!foreign && !strange) writeAddress("");
  const gone = opener === document.body || !opener.checkVisibility();
  (gone ? byId(view ? "view-" + view : "matrix") : opener).focus({ preventScroll: true });
});
drawer.addEventListener("click", (event) => {
  if (event.target === drawer) hideClause(); // the backdrop
});

const rowOf = (id) => byId(id);

function markOpen(on) {
  const row = openClause && rowOf(openClause);
  if (row) row.classList.toggle("open", on);
}

function clauseView(id, clause) {
  const parts = [
    el("div", { class: "bar" },
      el("span", { class: "id", text: id }),
      button("Copy link", () => location.href),
      el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: hideClause, text: "✕ Close" })),
    el("h2", { id: "drawer-title", text: clause.says }),
    ...hintsOf(clause),
  ];
  if (clause.example) parts.push(el("h3", { text: "An example that needs torch only" }), el("div", { class: "example" }, codeBlock(id + ".py", exampleOf(id))));
  parts.push(...nowView(id, clause), el("h3", { text: "On each release" }), ...historyView(id, clause, DATA.modes[0]), ...modesView(id, clause));
  const disagreement = DATA.disagreements[id];
  if (disagreement) parts.push(el("h3", { text: "Where it contradicts the documentation" }), ...disagreementView(id, disagreement));
  parts.push(el("h3", { text: "Where it comes from" }), facts(clause), el("h3", { text: "How it is tested" }), codeBlock(clause.place, clause.code));
  const related = Object.keys(DATA.clauses).filter((other) => other !== id && topicOf(other) === topicOf(id) && !DATA.clauses[other].compares);
  if (related.length) parts.push(el("h3", { text: "Related clauses" }), relatedView(related));
  return parts;
}

/** Show what each torch of your own does, with what was expected and observed where it is not as recorded; else the newest torch. */
function nowView(id, clause) {
  const own = COLUMNS.flatMap(({ run }, place) => (run ? DATA.modes.filter((mode) => !cellOn(clause, mode, place).unrun).map((mode) => [place, mode]) : []));
  if (!own.some(([, mode]) => mode === DATA.modes[0])) own.unshift([COLUMNS.findLastIndex(({ run }) => !run), DATA.modes[0]]);
  return own.flatMap(([place, mode]) => {
    const { run, torch, key } = COLUMNS[place];
    if (place < 0 || (run && mode !== DATA.modes[0] && !tells(id, mode, place))) return [];
    const cell = cellOn(clause, mode, place);
    const same = run && agrees(id, mode, place) ? el("small", { class: "same", text: `your run: the same as recorded of ${COLUMNS[recordOf(place)].label}` }) : null;
    const title = `On ${run ? torchOf(torch).replace(/^torch /, "your torch ") : `torch ${key}`}${mode === DATA.modes[0] ? "" : `, ${mode}`}`;
    const failed = run && (cell.new || DIFFERENT.has(`${id} ${mode}`)) ? evidenceOf(cell) : undefined;
    return [el("h3", { text: title }), el("p", {}, cellView(clause, cell, forceOf(clause)[place]), same), ...(failed ? evidenceView(failed) : [])];
  });
}

/** Show a clause on each release in a mode: as a line, in words, and what shows its deviations. */
const historyView = (id, clause, mode) => [versionLine(id, clause, mode), spans(id, clause, mode), ...deviations(clause, mode)];

/** Say in one line what a clause does in all modes; it opens to each of them on each release. */
function modesView(id, clause) {
  if (!clause.modes) return [];
  const box = el("details", { class: "in-modes" }, el("summary", {}, el("b", { text: "In other modes: " }), clause.modes));
  const fill = () => {
    for (const mode of DATA.modes.slice(1)) {
      if (clause.cells[mode].every(([, , cell]) => cell.unrun)) continue;
      box.append(el("h3", { text: `On each release, ${mode}` }), ...historyView(id, clause, mode));
    }
  };
  box.addEventListener("toggle", fill, { once: true });
  return [box];
}

const topicOf = (id) => id.slice(0, id.lastIndexOf("."));

function relatedView(ids) {
  const state = readFields();
  const link = (id) => el("a", { href: addressOf(id, state), text: id, onclick: (event) => openListed(event, id) });
  const entry = (id) => el("li", {}, link(id), " ", DATA.clauses[id].says);
  return el("ul", { class: "related" }, ...ids.map(entry));
}

function facts(clause) {
  const list = el("dl", { class: "facts" });
  const add = (term, ...content) => list.append(el("dt", { text: term }), el("dd", {}, ...content));
  const link = (source, href) => el("a", { href, rel: "noreferrer noopener", target: "_blank", text: source });
  add("Source", ...clause.source.map(([source, href]) => el("div", {}, href ? link(source, href) : source)));
  if (clause.level) add("Level", LEVELS[clause.level]);
  if (clause.needs.length) add("Needs", el("code", { text: clause.needs.join(", ") }));
  add("Tested", testedView(clause));
  if (clause.docs) add("Docs", "The documentation of torch says something else.");
  if (clause.note) add("Note", clause.note);
  if (clause.refuted) add("Refuted", ...clause.refuted.map((says) => el("div", { text: `${says} The test would fail so, and so a tick means something.` })));
  return list;
}

/** Return with which programs a clause was tested; the words are those of the scope. */
function testedView({ beyond }) {
  const scope = el("a", { href: "#scope", text: "usual programs" });
  if (!beyond) return el("span", { text: "with one program, or with drawn values in it" });
  const words = beyond.map((place) => DATA.words[place]).join(", ");
  return el("span", {}, "with ", scope, words && `, and beyond: ${words}`);
}

/** Draw the readings along the versions; the list below says the same in words. */
function versionLine(id, clause, mode) {
  const places = COLUMNS.map((_, place) => place).filter((place) => tells(id, mode, place));
  const force = forceOf(clause);
  const line = el("div", { class: "line", "aria-hidden": "true" });
  const every = places.length > 18 ? 4 : 2;
  const ticks = places.map((place, at) => {
    const { key } = COLUMNS[place];
    const major = at === 0 || /^\d+\.0$/.test(key) || at === places.length - 1;
    return el("span", { text: major || at % every === 0 && places.length < 12 ? key.slice(0, 5) : "" });
  });
  line.append(el("span"), el("span", { class: "cells ticks" }, ...ticks));
  clause.readings.forEach(({ name, range }, reading) => {
    if (range === "never" && !places.some((place) => cellOn(clause, mode, place).reading === reading)) return;
    const marks = places.map((place) => {
      const cell = cellOn(clause, mode, place);
      const now = cell.reading >= 0 ? cell.reading : force[place];
      return now === reading
        ? el("span", { class: "on " + kindOf(cell), text: DATA.signs[cell.answer], title: torchOf(COLUMNS[place].label) })
        : el("span", { text: "" });
    });
    const label = clause.varies ? `${numberOf(reading)} ${name}` : name;
    line.append(el("span", { class: "name", text: label }), el("span", { class: "cells" }, ...marks));
  });
  return line;
}

function spans(id, clause, mode) {
  const list = el("ul", { class: "spans" });
  const force = forceOf(clause);
  for (const [first, last, cell] of clause.cells[mode]) {
    if (!tells(id, mode, first) || (cell.unrun && mode !== DATA.modes[0])) continue;
    const when = el("span", { class: "when", text: torchOf(spanOf(first, last)) }, sameMark(id, mode, first, last));
    list.append(el("li", {}, when, cellView(clause, cell, force[first])));
  }
  return list;
}
