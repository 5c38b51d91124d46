// Upgrade: what is different between two sides. The same rules as in reports/diff.py.
const BROKEN = ["deviates", "crashed", "hung"];

/** Return what a change is to somebody who upgrades. */
function kindOfChange({ verdict: before }, { verdict: after }) {
  if (BROKEN.includes(after) && !BROKEN.includes(before)) return "deviates";
  if (BROKEN.includes(before) && after === "conforms") return "fixed";
  if ((before === "absent") !== (after === "absent")) return before === "absent" ? "added" : "removed";
  return before === after && after === "conforms" ? "changed" : "otherwise";
}

/** Compare pairs of cells: [id, mode, before, after], where nothing stands for what was never run. */
function difference(pairs) {
  const found = { changes: [], same: 0, unseen: 0 };
  for (const [id, mode, before, after] of pairs) {
    if (!before && !after) continue;
    if (!before || !after || before.verdict === "unseen" || after.verdict === "unseen") found.unseen++;
    else if (sameCell(before, after)) found.same++;
    else found.changes.push({ id, mode, before, after, kind: kindOfChange(before, after) });
  }
  return found;
}

function drawUpgrade() {
  const state = readFields();
  const [from, to] = [PLACE.get(state.from), PLACE.get(state.to)];
  const one = state["from-mode"] || state["to-mode"];
  const modes = one ? [[one, state["to-mode"] || one]] : DATA.modes.map((mode) => [mode, mode]);
  if (from === to && modes.every(([before, after]) => before === after)) {
    return answer("upgrade", "Choose two that are not the same.");
  }
  const names = [from, to].map((place, side) => `torch ${COLUMNS[place].label}${one ? `, ${modes[0][side]}` : ""}`);
  const pairs = modes.flatMap(([before, after]) =>
    ORDER.map((id) => [id, one ? "" : before, cellAt(id, before, from), cellAt(id, after, to)]));
  const plain = !COLUMNS[from].run && !COLUMNS[to].run;
  const named = one ? ["--mode", modes[0][0], ...(modes[0][0] === modes[0][1] ? [] : ["--to-mode", modes[0][1]])] : [];
  const told = difference(pairs);
  return answer(
    "upgrade",
    differenceWords(names, told),
    ...changesView(told, names),
    plain ? terminalView(["diff", state.from, state.to, ...named]) : null,
  );
}

function differenceWords([before, after], { changes, same, unseen }) {
  const kinds = Object.entries(DATA.kinds).map(([kind, words]) => [changes.filter((one) => one.kind === kind).length, words]);
  const detail = kinds.filter(([count]) => count).map(([count, words]) => `${words} ${count}`).join(", ");
  const head = before[0].toUpperCase() + before.slice(1);
  const blank = unseen ? ` ${unseen} ${unseen === 1 ? "is" : "are"} not seen on both.` : "";
  return `${head} → ${after}: ${changes.length} of ${changes.length + same} cells differ${detail ? `: ${detail}` : ""}.${blank}`;
}

/** Show all changes, what hurts most first. */
function changesView({ changes }, names) {
  return Object.entries(DATA.kinds)
    .map(([kind, title]) => [title, changes.filter((one) => one.kind === kind)])
    .filter(([, list]) => list.length)
    .map(([title, list]) => groupView(title, list, (one) => changeView(one, names), 100));
}

function changeView({ id, mode, before, after }, names) {
  const clause = DATA.clauses[id];
  const sides = [before, after].map((cell, side) =>
    el("li", {}, el("span", { class: "when", text: names[side] }), cellView(clause, cell)));
  const label = mode && (mode !== DATA.modes[0] || DATA.modes.length > 1) ? el("span", { class: "mode", text: mode }) : null;
  const shown = [before, after].map((cell, side) => shownBy(clause, cell, names[side]));
  return el("li", {}, clauseLink(id), " ", el("code", { text: id }), label, el("ul", { class: "spans" }, ...sides), ...shown, exampleBox(id, clause, [before, after]));
}

/** Return the program of a clause, drawn when it is opened: it tells both readings apart where both sides conform. */
function exampleBox(id, clause, sides) {
  if (!clause.example) return null;
  const title = sides.every(({ verdict }) => verdict === "conforms") ? "Program that shows both" : "Example";
  const box = el("details", {}, el("summary", {}, title, el("span", { class: "vh", text: `: ${clause.says}` })));
  box.addEventListener("toggle", () => box.append(codeBlock(`${id}.py, needs torch only`, textOf(clause.example))), { once: true });
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
