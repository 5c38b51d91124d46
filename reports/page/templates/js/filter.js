// Which rows are shown.
const AT_ONCE = 100; // rows: more would make the reader wait, and no screen has room for them
let toShow = [];

const ROWS = [...document.querySelectorAll(".row")].map((row) => {
  const id = row.dataset.clause;
  const clause = DATA.clauses[id];
  const words = [id, clause.says, clause.limits || "", ...clause.source.map(([source]) => source), ...clause.readings.flatMap(({ name, says }) => [name, says])];
  return { row, id, clause, drawn: DATA.modes[0], chapter: row.parentElement, words: words.join("\n").toLowerCase() };
});

/** Say whether a clause has anything to show: in further modes it may never have been run. */
const isCounted = (clause, mode) =>
  mode === DATA.modes[0] || clause.cells[mode].some(([, verdict, , more = {}]) => !isUnrun({ verdict, note: more.note }));

/** Say whether a row fits the filters. */
function fits({ id, clause, words }, mode, state, needles) {
  if (state.chapter && id.split(".")[0] !== state.chapter) return false;
  if (state.docs && clause.docs !== "contradicts") return false;
  const on = PLACE.get(state.on);
  if (state.verdict) {
    const cells = on === undefined ? clause.cells[mode].map(([, verdict, reading]) => ({ verdict, reading })) : [cellOn(clause, mode, on)];
    if (!cells.some((cell) => statementOf(clause, cell).answer === state.verdict)) return false;
  }
  const [from, to] = [PLACE.get(state.from), PLACE.get(state.to)];
  if (from !== undefined && to !== undefined && sameCell(cellOn(clause, mode, from), cellOn(clause, mode, to))) return false;
  if (needles.length && clause.compares) return false; // what compares plans with the model answers nobody's words
  return needles.every((needle) => words.includes(needle));
}

function applyFilters() {
  const state = readFields();
  const mode = state.mode || DATA.modes[0];
  const needles = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  const counts = new Map([...document.querySelectorAll("tbody[data-chapter]")].map((chapter) => [chapter, { all: 0, here: 0 }]));
  toShow = [];
  for (const entry of ROWS) {
    const within = isCounted(entry.clause, mode);
    const shown = within && fits(entry, mode, state, needles);
    if (shown && (entry.row.hidden || entry.drawn !== mode)) toShow.push(entry);
    if (!entry.row.hidden && (!shown || entry.drawn !== mode)) entry.row.hidden = true;
    if (within) counts.get(entry.chapter).all++;
    if (shown) counts.get(entry.chapter).here++;
  }
  const sum = { all: 0, here: 0 };
  for (const [chapter, { all, here }] of counts) {
    chapter.hidden = here === 0;
    chapter.querySelector("small").textContent = here === all ? all : `${here} of ${all}`;
    sum.all += all;
    sum.here += here;
  }
  showRows(toShow, mode, AT_ONCE);
  tellCount(sum, state);
  markControls(state);
}

/** Show the next rows of those that fit; the ones behind them once these are seen, unless others are asked for by then. */
function showRows(entries, mode, count) {
  for (const entry of entries.splice(0, count)) {
    drawBars(entry, mode);
    entry.row.hidden = false;
  }
  const proceed = () => entries === toShow && showRows(entries, mode, AT_ONCE);
  if (entries.length) requestAnimationFrame(() => setTimeout(proceed));
}

const showAllRows = () => showRows(toShow, readFields().mode || DATA.modes[0], toShow.length);

function tellCount({ all, here }, state) {
  const half = Boolean(state.from) !== Boolean(state.to);
  const filtered = Object.keys(state).some((name) => name !== "mode" && !(half && (name === "from" || name === "to")));
  const noun = all === 1 ? "clause" : "clauses";
  byId("shown").textContent = half
    ? `Choose the ${state.from ? "second" : "first"} version`
    : filtered ? `${here} of ${all} ${noun}` : `${all} ${noun}`;
  byId("reset").hidden = Object.keys(state).length === 0;
  byId("none").hidden = here > 0;
  byId("none-uncovered").replaceChildren(...(here ? [] : uncoveredOf(state.q || "")).map((text) => el("span", { class: "sentence", text })));
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
