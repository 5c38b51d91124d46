// What a recording of the run would change beyond the verdicts themselves. The same rules as in reports/recording.py.
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

/** Return what is different between two cells of which a difference of verdicts does not tell, nothing where that is none. */
function beyond(clause, theirs, before, after) {
  if (!before || !after) return before ? "missing" : after ? "fresh" : "";
  if (before.verdict === "unseen" || !isSameText(clause, theirs)) return "text";
  if (!sameCell(before, after)) return "";
  if (before.verdict === "deviates" && Boolean(before.declared) !== Boolean(after.declared)) return "declared";
  return before.declared && traceOf(before) !== traceOf(after) ? "trace" : "";
}

/** Return all such cells: of the pairs that were compared, and of clauses that this page does not know. */
function allBeyond(pairs) {
  const known = pairs.map(([id, mode, before, after]) =>
    ({ id, mode, before, after, kind: beyond(DATA.clauses[id], mine.clauses.get(id), before, after) }));
  const strange = [...mine.cells.values()].filter(({ clause }) => !Object.hasOwn(DATA.clauses, clause));
  return [...known.filter(({ kind }) => kind), ...strange.map(({ clause, mode }) => ({ id: clause, mode, kind: "fresh" }))];
}

/** Say whether `check` would take the run and hold it against this column. */
function isRecordable({ header, missing }, column) {
  const version = versionOf(header.torch);
  const usual = header.device === "cpu" && header.profile === "recorded";
  return usual && !missing && !column.run && version.release && minorOf(version) === column.key;
}

function checkView(pairs, column, names) {
  const found = allBeyond(pairs);
  const groups = Object.entries(BEYOND)
    .map(([kind, title]) => [title, found.filter((one) => one.kind === kind)])
    .filter(([, list]) => list.length)
    .map(([title, list]) => groupView(title, list, (one) => beyondView(one, names), 25));
  if (!isRecordable(mine, column)) return groups;
  const count = difference(pairs).changes.length + found.length;
  const told = `Recording this run would change ${count} ${count === 1 ? "cell" : "cells"}. Each is told by: `;
  return [...groups, el("p", { class: "terminal" }, told, el("code", { text: "python -m reports check RUNFILE" }))];
}

function beyondView({ id, mode, before, after, kind }, names) {
  const clause = DATA.clauses[id];
  const title = Object.hasOwn(DATA.clauses, id) ? clauseLink(id) : mine.clauses.get(id).says;
  const label = mode !== DATA.modes[0] || DATA.modes.length > 1 ? el("span", { class: "mode", text: mode }) : null;
  const shown = kind === "trace" ? [before, after].map((cell, side) => shownBy(clause, cell, names[side])) : [];
  return el("li", {}, title, " ", el("code", { text: id }), label, ...shown);
}
