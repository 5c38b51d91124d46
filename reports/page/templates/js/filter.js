// Which rows are shown.
const AT_ONCE = 100; // rows: more would make the reader wait, and no screen has room for them
let toShow = [];

const NEAREST = 20; // clauses for words: nobody reads on behind these

const ROWS = [...document.querySelectorAll(".row")].map((row) =>
  ({ row, id: row.id, clause: DATA.clauses[row.id], drawn: "", chapter: row.parentElement }));
const ENTRY = new Map(ROWS.map((entry) => [entry.id, entry]));
const results = byId("results");

/** Say whether a clause has anything to show: in further modes it may never have been run. */
const isCounted = (clause, mode) =>
  mode === DATA.modes[0] || clause.cells[mode].some(([, , cell]) => !cell.unrun);

/** Say whether a row fits the filters. */
function fits({ id, clause }, mode, state) {
  if (state.chapter && id.split(".")[0] !== state.chapter) return false;
  if (state.docs && clause.docs !== "contradicts") return false;
  const on = PLACE.get(state.on);
  if (state.verdict) {
    const cells = on === undefined ? clause.cells[mode].map(([, , cell]) => cell) : [cellOn(clause, mode, on)];
    if (!cells.some(({ answer }) => answer === state.verdict)) return false;
  }
  const [from, to] = [PLACE.get(state.from), PLACE.get(state.to)];
  if (from !== undefined && to !== undefined && sameCell(cellOn(clause, mode, from), cellOn(clause, mode, to))) return false;
  return true;
}

/** Put the rows of these clauses on top, in this order, and all others back into their chapters. */
function arrange(ids) {
  const moved = new Set([...results.querySelectorAll(".row")].map((row) => ENTRY.get(row.id).chapter));
  const name = (row, text) => (row.querySelector("code").textContent = text); // away from its chapter a row has its whole id
  for (const { id, row, chapter } of ROWS) {
    if (!moved.has(chapter)) continue;
    chapter.append(row);
    name(row, id.slice(id.indexOf(".") + 1));
  }
  for (const id of ids) name(ENTRY.get(id).row, id);
  results.append(...ids.map((id) => ENTRY.get(id).row));
}

function applyFilters() {
  const state = readFields();
  const mode = state.mode || DATA.modes[0];
  const found = state.q ? findClauses(state.q) : null;
  const counts = new Map([...document.querySelectorAll("tbody[data-chapter]")].map((chapter) => [chapter, { all: 0, here: 0 }]));
  const fitting = found && found.ids.filter((id) => ENTRY.has(id) && isCounted(DATA.clauses[id], mode) && fits(ENTRY.get(id), mode, state));
  const nearest = found && new Set(fitting.slice(0, found.begun ? fitting.length : NEAREST));
  arrange(nearest ? [...nearest] : []);
  toShow = [];
  for (const entry of nearest ? [...nearest].map((id) => ENTRY.get(id)).concat(ROWS.filter(({ id }) => !nearest.has(id))) : ROWS) {
    const within = isCounted(entry.clause, mode);
    const shown = nearest ? nearest.has(entry.id) : within && fits(entry, mode, state);
    if (shown && (entry.row.hidden || entry.drawn !== mode)) toShow.push(entry);
    if (!entry.row.hidden && (!shown || entry.drawn !== mode)) entry.row.hidden = true;
    if (within) counts.get(entry.chapter).all++;
    if (shown) counts.get(entry.chapter).here++;
  }
  const sum = { all: 0, here: 0 };
  for (const [chapter, { all, here }] of counts) {
    chapter.hidden = here === 0 || Boolean(nearest);
    chapter.querySelector("small").textContent = here === all ? all : `${here} of ${all}`;
    sum.all += all;
    sum.here += here;
  }
  showRows(toShow, mode, AT_ONCE);
  tellFound(found, sum.here);
  document.body.toggleAttribute("data-asked", Boolean(state.q));
  byId("causes").replaceChildren(...(found ? causesView(found) : []));
  byId("causes").hidden = !byId("causes").hasChildNodes();
  tellCount(sum, state);
  markControls(state);
}

/** Say above the clauses for some words how near these are, and which parts of torch that were named have none. */
function tellFound(found, count) {
  results.hidden = !found;
  const said = !found ? "" : found.close ? "Nearest to your words" : "Nothing is close to your words; the nearest";
  byId("results-said").textContent = found && found.begun ? "Clauses that begin so" : said;
  byId("results-count").textContent = count;
  byId("notes").replaceChildren(...(found ? found.notes : []).map((text) => el("span", { class: "sentence", text })));
  byId("notes").hidden = !found || !found.notes.length;
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
