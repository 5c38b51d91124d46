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
    ...ownView(id, clause),
    facts(clause),
  ];
  for (const mode of DATA.modes) {
    if (mode !== DATA.modes[0] && clause.cells[mode].every(([, , cell]) => cell.answer === "unseen")) continue;
    parts.push(el("h3", { text: DATA.modes.length > 1 ? `On each version, ${mode}` : "On each version" }));
    parts.push(versionLine(clause, mode), spans(clause, mode));
    parts.push(...deviations(clause, mode));
  }
  const disagreement = DATA.disagreements[id];
  if (disagreement) parts.push(el("h3", { text: "Where it contradicts the documentation" }), ...disagreementView(id, disagreement));
  if (clause.example) parts.push(el("h3", { text: "An example that needs torch only" }), codeBlock(id + ".py", textOf(clause.example)));
  parts.push(el("h3", { text: "How it is tested" }), codeBlock(clause.place, clause.code));
  const related = Object.keys(DATA.clauses).filter((other) => other !== id && topicOf(other) === topicOf(id) && !DATA.clauses[other].compares);
  if (related.length) parts.push(el("h3", { text: "Related clauses" }), relatedView(related));
  return parts;
}

/** Show what is not as recorded on a torch of your own, with what was expected and what was observed there. */
function ownView(id, clause) {
  const parts = [];
  COLUMNS.forEach(({ run, torch }, place) => {
    for (const mode of run ? DATA.modes : []) {
      const cell = cellOn(clause, mode, place);
      if (cell.unrun || !(cell.new || DATA.own.includes(`${id} ${mode}`))) continue;
      parts.push(el("h3", { text: `On your torch ${torch}${mode === DATA.modes[0] ? "" : `, ${mode}`}` }), el("p", {}, cellView(clause, cell, forceOf(clause)[place])));
      if (cell.evidence !== undefined) parts.push(...evidenceView(DATA.evidence[cell.evidence]));
    }
  });
  return parts;
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
  if (clause.needs) add("Needs", el("code", { text: clause.needs.join(", ") }));
  add("Tested", testedView(clause));
  if (clause.docs) add("Docs", "The documentation of torch says something else.");
  if (clause.note) add("Note", clause.note);
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
function versionLine(clause, mode) {
  const cells = cellsOf(clause, mode);
  const force = forceOf(clause);
  const line = el("div", { class: "line", "aria-hidden": "true" });
  const every = COLUMNS.length > 18 ? 4 : 2;
  const ticks = COLUMNS.map((column, place) => {
    const major = place === 0 || /^\d+\.0$/.test(column.key) || place === COLUMNS.length - 1;
    return el("span", { text: major || place % every === 0 && COLUMNS.length < 12 ? column.key.slice(0, 5) : "" });
  });
  line.append(el("span"), el("span", { class: "cells ticks" }, ...ticks));
  clause.readings.forEach(({ name, range }, reading) => {
    if (range === "never" && !cells.some((cell) => cell.reading === reading)) return;
    const marks = cells.map((cell, place) => {
      const now = cell.reading >= 0 ? cell.reading : force[place];
      return now === reading
        ? el("span", { class: "on " + kindOf(cell), text: DATA.signs[cell.answer], title: `torch ${COLUMNS[place].label}` })
        : el("span", { text: "" });
    });
    const label = clause.varies ? `${numberOf(reading)} ${name}` : name;
    line.append(el("span", { class: "name", text: label }), el("span", { class: "cells" }, ...marks));
  });
  return line;
}

function spans(clause, mode) {
  const list = el("ul", { class: "spans" });
  const force = forceOf(clause);
  for (const [first, last, cell] of clause.cells[mode]) {
    list.append(el("li", {}, el("span", { class: "when", text: "torch " + spanOf(first, last) }), cellView(clause, cell, force[first])));
  }
  for (const { name, range, says } of clause.claim ? [] : clause.readings) {
    if (range !== "never") continue;
    const item = el("span", {}, el("b", { text: "wrong reading" }), ` ${name}`, el("span", { class: "sentence", text: says }),
      el("small", { text: "Nothing in torch does this: the test refutes it on each version, so that a tick means something." }));
    list.append(el("li", {}, el("span", { class: "when", text: "on no torch" }), item));
  }
  return list;
}
