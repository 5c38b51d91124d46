// My build: a run file that the reader chooses or drops, compared with a recorded release. It stays in the browser.
let mine = null;

/** Say whether the clause has the same text on the page and in the run: if not, nothing can be compared. */
const isSameText = (clause, theirs) => clause.digest === theirs.digest;

/** Return a cell of the run as those of the page are; unseen where its clause has another text. */
function cellOfRun(cell) {
  const clause = DATA.clauses[cell.clause];
  const theirs = mine.clauses.get(cell.clause);
  if (!isSameText(clause, theirs)) return { verdict: "unseen", reading: -1 };
  return {
    verdict: cell.verdict,
    reading: clause.readings.findIndex(({ name }) => name === cell.reading),
    holds: cell.holds.length ? [...cell.holds].sort() : undefined,
    declared: cell.declared,
    deviation: cell.deviation || undefined,
    known: (cell.declared && theirs.deviations?.find(({ name }) => name === cell.deviation)) || undefined,
    note: cell.note,
    evidence: cell.evidence && { ...cell.evidence, lines: aligned(cell.evidence.expected, cell.evidence.observed) },
  };
}

/** Return the pairs to compare: all that the release or the run has. */
function pairsWith(place) {
  const known = new Map();
  for (const cell of mine.cells.values()) {
    if (Object.hasOwn(DATA.clauses, cell.clause)) known.set(keyOf(cell), cellOfRun(cell));
  }
  const modes = [...new Set([...DATA.modes, ...mine.header.modes])];
  return modes.flatMap((mode) =>
    ORDER.map((clause) => [clause, mode, cellAt(clause, mode, place), known.get(keyOf({ clause, mode }))]));
}

async function chooseRuns(files) {
  if (!files.length) return;
  byId("view-build").setAttribute("aria-busy", "true");
  try {
    const runs = [];
    for (const file of files) runs.push(...(await readRuns(file)));
    mine = joined(runs);
    byId("build-wrong").textContent = "";
  } catch (problem) {
    if (!(problem instanceof BadRun)) throw problem;
    mine = null;
    byId("build-wrong").textContent = problem.message;
  }
  viewChanged();
  byId("view-build").removeAttribute("aria-busy");
}

function drawBuild() {
  byId("build-wrong").hidden = !byId("build-wrong").textContent;
  byId("build-sample").hidden = Boolean(mine);
  if (!mine) return answer("build", "");
  const { header } = mine;
  const column = COLUMNS[PLACE.get(byId("build-with").value)] || nearestTo(header.torch);
  const names = ["torch " + column.label, `your torch ${header.torch}`];
  const pairs = pairsWith(PLACE.get(column.key));
  const found = difference(pairs);
  return answer(
    "build",
    differenceWords(names, found),
    ownFacts(),
    ...triageView([...mine.cells.values()]),
    ...changesView(found, names, (one) => changeView(one, names, weightTag(one))),
    ...checkView(pairs, column, names),
  );
}

/** Return what it means that a build is not as the release: wrong where torch itself says what the clause says, else different. */
function weightTag({ id, after }) {
  const { level } = DATA.clauses[id];
  if (!level || isGood(statementOf(DATA.clauses[id], after))) return "";
  const weight = level === "observed" ? "different" : "wrong";
  return el("span", {}, el("span", { class: `tag ${weight}`, text: weight }), ` ${level} `);
}

/** Say what the run is, what it shows alone, and what is missing. */
function ownFacts() {
  const { header, cells, missing, notHere, clauses } = mine;
  const list = el("dl", { class: "facts" });
  const add = (term, text, kind) => list.append(el("dt", { text: term }), el("dd", { text, class: kind }));
  const spoken = [...cells.values()].filter(({ clause }) => Object.hasOwn(DATA.clauses, clause))
    .map((cell) => statementOf(DATA.clauses[cell.clause], cellOfRun(cell)).answer);
  const answers = Object.keys(DATA.signs).map((answer) => [answer, spoken.filter((one) => one === answer).length]);
  add("Your torch", `${header.torch}, Python ${header.python}, ${header.platform}, ${header.device}`);
  add("By itself", answers.filter(([, count]) => count).map(([answer, count]) => `${count} ${answer}`).join(", ") || "no cells");
  const fresh = [...cells.values()].filter((cell) => cell.verdict === "deviates" && !cell.declared).length;
  if (fresh) add("Not declared", `${counted(fresh, "deviation", "deviations")}: new on this torch, or never written down`);
  if (missing) add("Not finished", `${counted(missing, "cell is", "cells are")} missing; resume the run, or take this as a part`);
  if (notHere.length) add("Not chosen", `${notHere.join("; ")}: choose all shards together`);
  const others = [...new Set([...cells.values()].map((cell) => cell.clause))];
  const strange = others.filter((id) => !Object.hasOwn(DATA.clauses, id)).length;
  if (strange) add("Not on this page", `${counted(strange, "clause", "clauses")} of the run`);
  const changed = others.filter((id) => Object.hasOwn(DATA.clauses, id) && !isSameText(DATA.clauses[id], clauses.get(id))).length;
  if (changed) add("Another text", `${counted(changed, "clause", "clauses")}, not compared`);
  return list;
}

byId("build-file").addEventListener("change", (event) => chooseRuns([...event.target.files]));
addEventListener("dragover", (event) => {
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
  document.body.dataset.drop = "1";
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) delete document.body.dataset.drop;
});
addEventListener("drop", (event) => {
  delete document.body.dataset.drop;
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  if (drawer.open) hideClause();
  if (view !== "build") {
    showView("build");
    history.pushState(null, "", "#build");
  }
  chooseRuns([...event.dataTransfer.files]);
});
