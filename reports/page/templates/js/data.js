"use strict";
// Everything from a run file reaches the document through textContent or an attribute set here, never as HTML.
const DATA = JSON.parse(document.getElementById("data").textContent);
const COLUMNS = DATA.columns;
const PLACE = new Map(COLUMNS.map((column, place) => [column.key, place]));
for (const clause of Object.values(DATA.clauses)) {
  clause.source = clause.source.map((place) => DATA.sources[place]);
  clause.readings = clause.readings.map(([name, range, says, effect = "nothing", otherwise = 0]) =>
    ({ name, range, says: says === 0 || says === undefined ? clause.says : says, effect, headline: !otherwise }));
  clause.deviations = (clause.deviations || []).map(([name, says, effect, reason, ref, cause]) => ({ name, says, effect, reason, ref, cause }));
  clause.code = textOf(clause.code);
  const rangesOf = (place) => DATA.ranges[place].map(([count, cell]) => [count, ...DATA.cells[cell]]);
  clause.cells = Object.fromEntries(DATA.modes.map((mode, at) => [mode, rangesOf(clause.cells[at])]));
}

/** Return a text of which the data holds [first line, how many lines from there]: programs share most of their lines. */
function textOf(packed) {
  return packed.flatMap(([first, count]) => DATA.lines.slice(first, first + count)).join("\n");
}

const byId = (id) => document.getElementById(id);

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
function cellOn(clause, mode, place) {
  let left = place;
  for (const [count, verdict, reading, more] of clause.cells[mode] || []) {
    if (left < count) return { verdict, reading, ...more };
    left -= count;
  }
  return { verdict: "unseen", reading: -1, note: DATA.not_run };
}

const isUnrun = ({ verdict, note }) => verdict === "unseen" && note === DATA.not_run;

/** Return one cell for each column from the packed ranges of a clause. */
function cellsOf(clause, mode) {
  const cells = [];
  for (const [count, verdict, reading, more] of clause.cells[mode] || []) {
    for (let n = 0; n < count; n++) cells.push({ verdict, reading, ...more });
  }
  return cells;
}

/** Return [first, last, cell] for each range of a clause. */
function rangesOf(clause, mode) {
  let first = 0;
  return (clause.cells[mode] || []).map(([count, verdict, reading, more]) => {
    const range = [first, first + count - 1, { verdict, reading, ...more }];
    first += count;
    return range;
  });
}

/** Return, for each column, the reading that the clause claims there, or -1. */
function forceOf(clause) {
  return clause.force.flatMap(([count, reading]) => Array(count).fill(reading));
}

/** Return "true" or "false" for a reading of a claim, which may be "false since 1.8". */
const truthOf = (name) => name.split(" ")[0];

const numberOf = (reading) => DATA.numbers[reading] || String(reading + 1);
const spanOf = (first, last) =>
  first === last ? COLUMNS[first].label : `${COLUMNS[first].label} to ${COLUMNS[last].label}`;
