// Upgrade: what is different between two sides, grouped as reports/verbs/diff.py does.
const KIND_ORDER = Object.keys(DATA.kinds);
const KIND_WORDS = DATA.kind_words;

/** Return what it is to someone who upgrades that one cell follows another. */
const kindOfChange = (before, after) => before.before[after.act];

/** Return the first version from which on all is as at the end of a path of [key, cell]; "≤" where it may be one before. */
function sinceOfPath(path) {
  let first = path.length - 1;
  while (first > 0 && sameCell(path[first - 1][1], path[first][1])) first--;
  const unsure = first > 0 && path[first - 1][1].answer === "unseen";
  return (unsure ? "≤" : "") + path[first][0];
}

/** Return what comes on a path between two that are the same: [first key, last key, cell] where it is not as both are. */
function insideOf(path, ends) {
  const found = [];
  let before = null;
  for (const [key, cell] of path) {
    if (before && sameCell(before, cell)) found[found.length - 1][1] = key;
    else found.push([key, key, cell]);
    before = cell;
  }
  return found.filter(([, , cell]) => cell.answer !== "unseen" && !sameCell(cell, ends));
}

/** Compare pairs of cells, [id, mode, before, after], where nothing means that it was never run; `way` gives the path between. */
function difference(pairs, way = () => null) {
  const found = { changes: [], passing: [], same: 0, unseen: 0 };
  for (const [id, mode, before, after] of pairs) {
    if (!before && !after) continue;
    if (!before || !after || before.answer === "unseen" || after.answer === "unseen") {
      found.unseen++;
      continue;
    }
    const path = way(id, mode);
    if (!sameCell(before, after)) {
      const since = path ? sinceOfPath([...path.between, [path.key, after]]) : "";
      found.changes.push({ id, mode, before, after, since, back: path && path.back, kind: kindOfChange(before, after) });
      continue;
    }
    found.same++;
    const inside = path ? insideOf(path.between, before) : [];
    const kinds = inside.map(([, , cell]) => kindOfChange(before, cell));
    if (inside.length) found.passing.push({ id, ends: before, inside, kind: KIND_ORDER.find((kind) => kinds.includes(kind)) });
  }
  const place = new Map(ORDER.map((id, at) => [id, at]));
  const worst = (one, two) =>
    KIND_ORDER.indexOf(one.kind) - KIND_ORDER.indexOf(two.kind) || (DATA.clauses[one.id].rank || 0) - (DATA.clauses[two.id].rank || 0) || place.get(one.id) - place.get(two.id);
  found.changes.sort(worst);
  found.passing.sort(worst);
  return found;
}

/** Return a function that gives the recorded versions strictly between two places, on the way from the first to the second. */
function wayBetween(from, to) {
  const [low, high] = from < to ? [from, to] : [to, from];
  const places = COLUMNS.map((_, place) => place).filter((place) => low < place && place < high && !COLUMNS[place].run);
  if (from > to) places.reverse();
  return (id, mode) => ({
    key: COLUMNS[to].label,
    back: from > to,
    between: places.map((place) => [COLUMNS[place].label, cellOn(DATA.clauses[id], mode, place)]),
  });
}

function drawUpgrade() {
  const state = readFields();
  tellChoice("upgrade", state);
  const [from, to] = [PLACE.get(state.from), PLACE.get(state.to)];
  const mode = state["from-mode"] || DATA.modes[0];
  const toMode = state["to-mode"] || mode;
  if (from === to && mode === toMode) return answer("upgrade", "Choose two that are not the same.");
  const { ids, leftOut, wrong } = chosen(state);
  if (wrong) return answer("upgrade", wrong);
  const usual = mode === DATA.modes[0] && toMode === mode;
  const names = [[from, mode], [to, toMode]].map(([place, each]) => `${torchOf(COLUMNS[place].label)}${usual ? "" : `, ${each}`}`);
  const pairs = ids.map((id) => [id, "", cellAt(id, mode, from), cellAt(id, toMode, to)]);
  const plain = !COLUMNS[from].run && !COLUMNS[to].run && !state.q;
  const named = usual ? [] : ["--mode", mode, ...(toMode === mode ? [] : ["--to-mode", toMode])];
  const way = wayBetween(from, to);
  const found = difference(pairs, mode === toMode ? (id) => way(id, mode) : undefined);
  return answer(
    "upgrade",
    differenceWords(names, found),
    ...changesView(found, names),
    passingView(found, names),
    leftOutView(leftOut),
    plain ? terminalView(["diff", state.from, state.to, ...wordsIn(state.clause || ""), ...choiceWords(state), ...named]) : null,
  );
}

function differenceWords([before, after], { changes, same, unseen }) {
  const kinds = KIND_ORDER.map((kind) => [changes.filter((one) => one.kind === kind).length, KIND_WORDS[kind]]);
  const detail = kinds.filter(([count]) => count).map(([count, words]) => `${count} ${words}`).join(", ");
  const head = before[0].toUpperCase() + before.slice(1);
  const cells = counted(changes.length + same, "clause", "clauses");
  const blank = unseen ? ` ${counted(unseen, "is", "are")} not measured on both.` : "";
  return `${head} → ${after}: ${counted(changes.length, `of ${cells} differs`, `of ${cells} differ`)}${detail ? `: ${detail}` : ""}.${blank}`;
}

const kindTag = (kind) => el("span", { class: `tag ${kind}`, text: KIND_WORDS[kind] });

/** From how many entries on a list is folded: new APIs break no code. */
const FOLDED = { added: 0, internal: 25 };

/** Show all changes, what hurts most first. */
function changesView({ changes }, names, draw = changeView) {
  return Object.entries(DATA.kinds)
    .map(([kind, title]) => [kind, title, changes.filter((one) => one.kind === kind)])
    .filter(([, , list]) => list.length)
    .map(([kind, title, list]) => groupView(title, list, (one) => draw(one, names), FOLDED[kind] ?? Infinity, kindTag(kind)));
}

/** Show what comes and goes between two versions that agree. */
function passingView({ passing }, names) {
  return passing.length ? groupView("come and go between the two", passing, (one) => passingItem(one, names), 25) : null;
}

function passingItem({ id, ends, inside, kind }) {
  const clause = DATA.clauses[id];
  const line = (when, cell) => el("li", {}, el("span", { class: "when", text: when }), cellView(clause, cell));
  const between = inside.map(([first, last, cell]) => line(torchOf(first === last ? first : `${first} to ${last}`), cell));
  return el("li", {}, kindTag(kind), " ", clauseLink(id), " ", el("code", { text: id }), ...hintsOf(DATA.clauses[id]), el("ul", { class: "spans" }, line("on both", ends), ...between));
}

/** Return "since 2.0": where what is there on the second side began, or ended where that is the older one. */
function sinceWords(since, back) {
  const plain = since.replace("≤", "");
  const unsure = plain !== since;
  if (back) return `up to ${plain}${unsure ? " or later" : ""}`;
  return `since ${plain}${unsure ? " or earlier" : ""}`;
}

const modeLabel = (mode) => (mode && (mode !== DATA.modes[0] || DATA.modes.length > 1) ? el("span", { class: "mode", text: mode }) : null);

function changeView({ id, mode, before, after, since, back, kind }, names, ...more) {
  const clause = DATA.clauses[id];
  const sides = [before, after].map((cell, side) =>
    el("li", {}, el("span", { class: "when", text: names[side] }), cellView(clause, cell, -1, side && since ? sinceWords(since, back) : ""))).reverse();
  const shown = [before, after].map((cell, side) => shownBy(clause, cell, names[side]));
  return el("li", {}, kindTag(kind), " ", ...more, clauseLink(id), " ", el("code", { text: id }), modeLabel(mode), ...hintsOf(clause), el("ul", { class: "spans" }, ...sides), ...shown, exampleBox(id, clause, [before, after]));
}

/** Return the program of a clause, drawn when it is opened: it shows which reading holds, where both sides conform. */
function exampleBox(id, clause, sides) {
  if (!clause.example) return null;
  const title = sides.every(({ conforms }) => conforms) ? "Program that shows both" : "Example";
  const box = el("details", {}, el("summary", {}, title, el("span", { class: "vh", text: `: ${clause.says}` })));
  box.addEventListener("toggle", () => box.append(codeBlock(`${id}.py, needs torch only`, exampleOf(id))), { once: true });
  return box;
}

/** Return what shows a deviation, drawn when it is opened. */
function shownBy(clause, cell, name) {
  const found = evidenceOf(cell);
  if (!found) return null;
  const box = el("details", {}, el("summary", {}, `Plan and traces on ${name}`, el("span", { class: "vh", text: `: ${clause.says}` })));
  box.addEventListener("toggle", () => box.append(...evidenceView(found)), { once: true });
  return box;
}
