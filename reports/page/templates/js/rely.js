// Rely: how clauses are on every version of a range, as reports/data/history.py groups them.
/** What is said before the sentence of a clause that is not true in the whole range. */
const NOT_TRUE = { changes: "true on some only", otherwise: "not true here", nowhere: "not true here", unseen: "not known on all" };

/** Return neighbouring places on which a clause is the same: { first place, last place, cell }. */
function spansOf(id, mode, places) {
  const found = [];
  for (const [first, last, cell] of DATA.clauses[id].cells[mode]) {
    const within = places.filter((place) => first <= place && place <= last && tells(id, mode, place));
    if (!within.length) continue; // nothing of the range, or a run that says nothing new
    const before = found[found.length - 1];
    if (before && before.cell.place === cell.place) before.last = within[within.length - 1];
    else found.push({ first: within[0], last: within[within.length - 1], cell });
  }
  return found;
}

/** Return how a clause with these cells is in the range: it holds where its own sentence is true on each version. */
function statusOf(cells) {
  if (cells.some(({ answer }) => answer === "unseen")) return "unseen";
  if (cells.every(({ good }) => good)) return "holds";
  if (cells.some(({ good }) => good)) return "changes";
  const [{ answer, says }] = cells;
  return cells.every((cell) => cell.constant && cell.answer === answer && cell.says === says) ? "otherwise" : "nowhere";
}

/** Return the answer: the places of the range, and the clauses by how they are there; or what is wrong with the question. */
function rely(state) {
  const { from, to, mode = DATA.modes[0] } = state;
  const [low, high] = [PLACE.get(from), PLACE.get(to)];
  if (low > high) return { wrong: `${begun(torchOf(COLUMNS[low].label))} is newer than ${torchOf(COLUMNS[high].label)}: choose the older one first.` };
  const range = COLUMNS.map((_, place) => place).filter((place) => COLUMNS[place].run || (low <= place && place <= high));
  if (COLUMNS[high].run && recordOf(high) < low) range.push(recordOf(high)); // for what the run does not have
  const places = range.sort((one, two) => one - two).filter((place) => isMeasured(mode, place));
  const unknown = range.filter((place) => !places.includes(place) && !COLUMNS[place].run);
  if (!places.length) return { wrong: `Nothing was measured there in mode ${mode}.` };
  const { ids, leftOut, wrong } = chosen(state);
  if (wrong) return { wrong };
  const found = Object.fromEntries(Object.keys(DATA.statuses).map((status) => [status, []]));
  for (const id of ids) {
    const spans = spansOf(id, mode, places);
    found[statusOf(spans.map(({ cell }) => cell))].push({ id, spans });
  }
  return { places, unknown, found, leftOut };
}

/** Return how bad the worst is that a clause does where its own sentence is not true; what is only absent comes last. */
const worstOf = (spans) => Math.min(...spans.filter(({ cell }) => !cell.good).map(({ cell }) => cell.weight));

function drawRely() {
  const state = readFields();
  const reliance = rely(state);
  tellChoice("rely", state);
  if (reliance.wrong) return answer("rely", reliance.wrong);
  reliance.found.changes.sort((one, two) => worstOf(one.spans) - worstOf(two.spans));
  const groups = Object.entries(reliance.found).filter(([, list]) => list.length);
  const total = groups.reduce((sum, [, list]) => sum + list.length, 0);
  const counts = groups.map(([status, list]) => counted(list.length, ...DATA.statuses[status])).join(", ");
  const range = spanOf(reliance.places[0], reliance.places[reliance.places.length - 1]);
  const mode = state.mode || DATA.modes[0];
  const plain = !state.q && !COLUMNS.some(({ run }) => run);
  return answer(
    "rely",
    `${begun(torchOf(range))}${DATA.modes.length > 1 ? `, ${mode}` : ""}: of ${counted(total, "clause", "clauses")} ${counts}.`,
    unknownView(reliance.unknown, mode),
    ...groups.map(([status, list]) => groupView(DATA.statuses[status][Number(list.length > 1)], list, (one) => statusView(one, status, mode), MANY[status] || 25)),
    leftOutView(reliance.leftOut),
    plain ? terminalView(relyWords(state)) : null,
  );
}

/** Name the releases of the range on which the mode was not measured: nothing is said of them. */
function unknownView(unknown, mode) {
  if (!unknown.length) return null;
  return el("p", { class: "left-out", text: `Not measured in ${mode}: torch ${spanOf(unknown[0], unknown[unknown.length - 1])}.` });
}

/** What changes, and what is otherwise everywhere, is why you ask: these lists are open however long they are. */
const MANY = { changes: Infinity, otherwise: Infinity };

/** Show one clause: the sentence to rely on, or what is said on which versions. */
function statusView({ id, spans }, status, mode) {
  const clause = DATA.clauses[id];
  const label = NOT_TRUE[status] && el("span", { class: "label", text: NOT_TRUE[status] });
  const list = spans.map(({ first, last, cell }) =>
    el("li", {}, el("span", { class: "when", text: torchOf(spanOf(first, last)) }, sameMark(id, mode, first, last)), cellView(clause, cell, forceOf(clause)[first], sinceOf(clause, mode, first))));
  const opened = status !== "holds" || clause.readings.some(({ headline, says }) => headline && says !== clause.says);
  return el("li", {}, label, label ? " " : "", clauseLink(id), " ", el("code", { text: id }), ...hintsOf(clause), opened ? el("ul", { class: "spans" }, ...list) : null);
}

function relyWords(state) {
  return ["rely", ...wordsIn(state.clause || ""), "--from", state.from, "--to", state.to, ...choiceWords(state), ...(state.api ? ["--all"] : []), ...(state.mode ? ["--mode", state.mode] : [])];
}
