"use strict";
// Everything from a run file reaches the document through textContent or an attribute set here, never as HTML.
const DATA = JSON.parse(document.getElementById("data").textContent);
const COLUMNS = DATA.columns;
const byId = (id) => document.getElementById(id);
const PLACE = new Map(COLUMNS.map((column, place) => [column.key, place]));
const DIFFERENT = new Set(DATA.own); // "clause mode" of what is not as recorded in a run
// What cells say is worked out by reports/page/cells.py; without `says` it is the sentence of the clause.
const CELLS = DATA.cells.map((cell, place) =>
  ({ ...DATA.acts[cell.act], ...cell, place, says: DATA.texts[cell.says], detail: DATA.texts[cell.detail] }));
const RANGES = DATA.ranges.map((found) => {
  let first = 0;
  return found.map(([count, place, evidence]) => [first, (first += count) - 1, { ...CELLS[place], evidence }]);
});
for (const [id, clause] of Object.entries(DATA.clauses)) {
  const row = byId(id);
  clause.says = row.querySelector("a").textContent; // the sentences are in the page once: in the rows
  clause.limits = row.querySelector(".hint")?.textContent;
  for (const name of ["readings", "force", "level", "needs", "modes"]) clause[name] = DATA.names[clause[name]];
  clause.place = `${DATA.names[clause.place[0]]}:${clause.place[1]}`;
  clause.source = clause.source.map((place) => DATA.sources[place]);
  clause.readings = clause.readings.map(([name, range, says, otherwise]) =>
    ({ name, range, says: DATA.texts[says] ?? clause.says, headline: !otherwise }));
  clause.code = textOf(clause.code);
  clause.cells = Object.fromEntries(DATA.modes.map((mode, at) => [mode, RANGES[clause.cells[at]]]));
}

/** Return a text of which the data holds the places of its lines; -n stands for the n lines that follow. */
function textOf(packed) {
  const linesAt = (place, at) => (place < 0 ? DATA.lines.slice(packed[at - 1] + 1, packed[at - 1] + 1 - place) : DATA.lines[place]);
  return packed.flatMap(linesAt).join("\n");
}

/** Return the example of a clause: its docstring begins with the sentence and its limits, which the data has once. */
function exampleOf(id) {
  const { example, shown = id } = DATA.clauses[id];
  const { says, limits = "" } = DATA.clauses[shown];
  const wrapped = (text) => text.replace(/(.{1,97})(?: +|$)/g, "$1\n"); // as in the file that `explain --example` prints
  return (wrapped(`"""${shown}: ${says}`) + wrapped(limits)).trimEnd() + textOf(example);
}

/** Return a number with its words: "1 cell differs", "2 cells differ". */
const counted = (number, one, many) => `${number} ${number === 1 ? one : many}`;

/** Make an element: attributes by name, `text` and `on…` special, children as nodes or text. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return the cell of a clause on one column. */
const cellOn = (clause, mode, place) => clause.cells[mode].find(([, last]) => place <= last)[2];

/** Return one cell for each column. */
const cellsOf = (clause, mode) => COLUMNS.map((_, place) => cellOn(clause, mode, place));

/** Return the place of the release that is recorded of the torch of a run. */
const recordOf = (place) => PLACE.get(COLUMNS[place].release ?? COLUMNS[place].key.replace(/ run$/, ""));

/** Say whether a run has a clause, and gives what is recorded of its release. */
function agrees(id, mode, place) {
  const [own, record, clause] = [cellOn(DATA.clauses[id], mode, place), recordOf(place), DATA.clauses[id]];
  return !own.unrun && record !== undefined && !DIFFERENT.has(`${id} ${mode}`) && sameCell(own, cellOn(clause, mode, record));
}

/** Say whether a column tells something of a clause: a run does not where it has no cell, or the recorded one. */
const tells = (id, mode, place) =>
  !COLUMNS[place].run || !(cellOn(DATA.clauses[id], mode, place).unrun || agrees(id, mode, place));

/** Return the mark at the release of a run that gives the same there, and has no row of its own. */
const sameMark = (id, mode, first, last) =>
  COLUMNS.some(({ run }, place) => run && agrees(id, mode, place) && first <= recordOf(place) && recordOf(place) <= last)
    ? el("small", { class: "same", text: "your run: the same" }) : null;

/** Return whether any clause was measured on a column in a mode. */
const isMeasured = (mode, place) => Object.values(DATA.clauses).some((clause) => !cellOn(clause, mode, place).unrun);

/** Return, for each column, the reading that the clause claims there, or -1. */
function forceOf(clause) {
  return clause.force.flatMap(([count, reading]) => Array(count).fill(reading));
}

const numberOf = (reading) => "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"[reading] || String(reading + 1);
/** Return the name of a torch as words; that of a target says itself on which torch it was. */
const torchOf = (name) => (/^(torch |\S+ (\S+ )?on torch )/.test(name) ? name : `torch ${name}`);
const begun = (text) => text[0].toUpperCase() + text.slice(1);

const spanOf = (first, last) =>
  first === last ? COLUMNS[first].label : `${COLUMNS[first].label} to ${COLUMNS[last].label}`;
