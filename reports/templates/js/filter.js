// Which rows are shown.
const ROWS = [...document.querySelectorAll(".row")].map((row) => {
  const id = row.dataset.clause;
  const clause = DATA.clauses[id];
  const words = [id, clause.says, ...clause.source.map(([source]) => source), ...clause.readings.map(([name]) => name)];
  return { row, id, clause, mode: row.dataset.mode, cells: cellsOf(clause, row.dataset.mode), words: words.join("\n").toLowerCase() };
});

const sameCell = (one, two) =>
  one.verdict === two.verdict && one.reading === two.reading && String(one.holds || "") === String(two.holds || "");

/** Say whether a row fits the filters. */
function fits(entry, state, needles) {
  if (entry.mode !== (state.mode || DATA.modes[0])) return false;
  if (state.chapter && entry.id.split(".")[0] !== state.chapter) return false;
  if (state.docs && entry.clause.docs !== "contradicts") return false;
  const on = PLACE.get(state.on);
  if (state.verdict) {
    const cells = on === undefined ? entry.cells : [entry.cells[on]];
    if (!cells.some((cell) => cell.verdict === state.verdict)) return false;
  }
  const [from, to] = [PLACE.get(state.from), PLACE.get(state.to)];
  if (from !== undefined && to !== undefined && sameCell(entry.cells[from], entry.cells[to])) return false;
  return needles.every((needle) => entry.words.includes(needle));
}

function applyFilters() {
  const state = readFields();
  const needles = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const entry of ROWS) {
    entry.row.hidden = !fits(entry, state, needles);
    if (!entry.row.hidden) count++;
  }
  for (const chapter of document.querySelectorAll("tbody[data-chapter]")) {
    const all = chapter.querySelectorAll(`.row[data-mode="${state.mode || DATA.modes[0]}"]`).length;
    const here = chapter.querySelectorAll(".row:not([hidden])").length;
    chapter.hidden = here === 0;
    chapter.querySelector("small").textContent = here === all ? all : `${here} of ${all}`;
  }
  tellCount(count, state);
  markControls(state);
}

function tellCount(count, state) {
  const all = ROWS.filter((entry) => entry.mode === (state.mode || DATA.modes[0])).length;
  const half = Boolean(state.from) !== Boolean(state.to);
  const filtered = Object.keys(state).some((name) => name !== "mode" && !(half && (name === "from" || name === "to")));
  const noun = all === 1 ? "clause" : "clauses";
  byId("shown").textContent = half
    ? `Choose the ${state.from ? "second" : "first"} version`
    : filtered ? `${count} of ${all} ${noun}` : `${all} ${noun}`;
  byId("reset").hidden = Object.keys(state).length === 0;
  byId("none").hidden = count > 0;
}

function markControls(state) {
  for (const name of FIELDS[""]) if (field(name)) field(name).classList.toggle("set", Boolean(state[name]));
  for (const head of document.querySelectorAll("th[data-key]")) {
    const key = head.dataset.key;
    head.classList.toggle("picked", [state.from, state.to, state.verdict && state.on].includes(key));
  }
  for (const button of document.querySelectorAll(".count")) {
    const on = state.verdict === button.dataset.verdict && state.on === button.dataset.on;
    button.setAttribute("aria-pressed", String(on));
  }
}

/** Set some fields, keep the others, and show the result. */
function setFilters(changes) {
  writeFields({ ...readFields(), ...changes });
  filtersChanged();
}

function filtersChanged() {
  applyFilters();
  writeAddress(drawer.open ? openClause : "");
}

function clearFilters() {
  writeFields({});
  filtersChanged();
}
