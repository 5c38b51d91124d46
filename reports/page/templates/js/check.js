// What is not as recorded beyond the verdicts themselves. The same rules as in reports/data/recording.py.
const BEYOND = {
  trace: "declared deviations with another trace than recorded",
  declared: "deviations declared on one side only",
  text: "clauses with another text than recorded",
  missing: "recorded, and not in the run",
  fresh: "in the run, and not recorded",
};

/** Return both sides of what a cell shows, as text that can be compared. */
function traceOf(cell) {
  const found = evidenceOf(cell);
  return JSON.stringify(found ? [1, 2].map((side) => found.lines.map((line) => line[side]).filter((line) => line !== null)) : null);
}

/** Return what is different between two cells that a difference of verdicts does not show; nothing where there is none. */
function beyond(clause, theirs, before, after) {
  if (!after) return before && isAskedForAll(mine.header) ? "missing" : "";
  if (!before) return "fresh";
  if (before.verdict === "unseen" || !isSameText(clause, theirs)) return "text";
  if (!sameCell(before, after)) return "";
  if (before.verdict === "deviates" && Boolean(before.declared) !== Boolean(after.declared)) return "declared";
  const exact = mine.header.profile === "recorded"; // the plans of other profiles are others each time
  return exact && before.declared && evidenceOf(before) && traceOf(before) !== traceOf(after) ? "trace" : "";
}

/** Say whether the run was asked for all clauses: what it lacks is missing then. */
function isAskedForAll({ whole, shard }) {
  return Boolean(whole) && shard[1] === 1;
}

/** Return all such cells: of the pairs that were compared, and of clauses that this page does not know. */
function allBeyond(pairs) {
  const known = pairs.map(([id, mode, before, after]) =>
    ({ id, mode, before, after, kind: beyond(DATA.clauses[id], mine.clauses.get(id), before, after) }));
  const strange = [...mine.cells.values()].filter(({ clause }) => !Object.hasOwn(DATA.clauses, clause));
  return [...known.filter(({ kind }) => kind), ...strange.map(({ clause, mode }) => ({ id: clause, mode, kind: "fresh" }))];
}

/** Say whether `check` would take the run and compare it with this column. */
function isCheckable({ header, missing }, column) {
  const version = versionOf(header.torch);
  return !missing && !column.run && version.release && minorOf(version) === column.key;
}

function checkView(pairs, column, names) {
  const found = allBeyond(pairs);
  const groups = Object.entries(BEYOND)
    .map(([kind, title]) => [title, found.filter((one) => one.kind === kind)])
    .filter(([, list]) => list.length)
    .map(([title, list]) => groupView(title, list, (one) => beyondView(one, names), 25));
  if (!isCheckable(mine, column)) return groups;
  const count = difference(pairs).changes.length + found.length;
  const words = `${counted(count, "cell is", "cells are")} not as recorded. The same list in a terminal: `;
  return [...groups, el("p", { class: "terminal" }, words, el("code", { text: "python -m reports check RUNFILE" }))];
}

function beyondView({ id, mode, before, after, kind }, names) {
  const clause = DATA.clauses[id];
  const title = Object.hasOwn(DATA.clauses, id) ? clauseLink(id) : mine.clauses.get(id).says;
  const label = mode !== DATA.modes[0] || DATA.modes.length > 1 ? el("span", { class: "mode", text: mode }) : null;
  const shown = kind === "trace" ? [before, after].map((cell, side) => shownBy(clause, cell, names[side])) : [];
  return el("li", {}, title, " ", el("code", { text: id }), label, ...shown);
}
