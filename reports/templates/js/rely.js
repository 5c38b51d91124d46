// Rely: how clauses stand on every version of a range. The same rules as in reports/rely.py.

/** Return the name of what is needed, as APIs go by, and its option: ["register_forward_hook", "prepend"]. */
function needOf(text) {
  const [path, option = ""] = text.replace(/\)$/, "").split("(");
  return [path.split(".").pop(), option];
}

/** Say whether a clause is about an API that was asked for, with the option in brackets where there is one. */
function isAbout(clause, asked) {
  const [api, option = ""] = asked.replace(/\)$/, "").split("(");
  if (!clause.apis.some((place) => DATA.apis[place] === api)) return false;
  return !option || (clause.needs || []).some((text) => needOf(text).join("(") === `${api}(${option}`);
}

/** Return neighbouring places on which a clause stands the same: [first place, last place, cell]. */
function spansOf(id, mode, places) {
  const found = [];
  for (const [first, last, cell] of rangesOf(DATA.clauses[id], mode)) {
    const within = places.filter((place) => first <= place && place <= last);
    if (!within.length) continue;
    const look = JSON.stringify([cell.verdict, cell.reading, cell.holds, cell.declared, cell.note]);
    const end = within[within.length - 1];
    const before = found[found.length - 1];
    if (before && before.look === look) before.last = end;
    else found.push({ first: within[0], last: end, cell, look });
  }
  return found;
}

/** Return how a clause with these cells stands: a claim of a tutorial holds where it is true. */
function standOf(clause, cells) {
  const isFalse = (cell) => clause.claim && cell.reading >= 0 && truthOf(clause.readings[cell.reading].name) === "false";
  const good = cells.map((cell) => cell.verdict === "conforms" && !isFalse(cell));
  if (cells.some((cell) => cell.verdict === "unseen")) return "unseen";
  if (!good.some(Boolean)) return "nowhere";
  return good.every(Boolean) && new Set(cells.map((cell) => cell.reading)).size === 1 ? "holds" : "changes";
}

const wordsIn = (text) => text.split(/\s+/).filter(Boolean);

/** Return the answer: the places of the range, and the clauses by how they stand; or what is wrong with the question. */
function rely({ from, to, mode = DATA.modes[0], chapter = "", api = "", clause = "" }) {
  const [low, high] = [PLACE.get(from), PLACE.get(to)];
  if (low > high) return { wrong: `Torch ${from} is newer than torch ${to}: choose the older one first.` };
  const places = COLUMNS.map((_, place) => place).filter((place) => COLUMNS[place].run || (low <= place && place <= high));
  const [chapters, apis, begins] = [chapter, api, clause].map(wordsIn);
  const strange = begins.find((begin) => !ORDER.some((id) => id.startsWith(begin)));
  if (strange) return { wrong: `No clause begins with “${strange}”.` };
  const found = Object.fromEntries(Object.keys(DATA.stands).map((stands) => [stands, []]));
  for (const id of ORDER) {
    if (chapters.length && !chapters.includes(id.split(".")[0])) continue;
    if (begins.length && !begins.some((begin) => id.startsWith(begin))) continue;
    if (apis.length && !apis.some((asked) => isAbout(DATA.clauses[id], asked))) continue;
    const spans = spansOf(id, mode, places);
    found[standOf(DATA.clauses[id], spans.map((span) => span.cell))].push({ id, spans });
  }
  return { places, found };
}

function drawRely() {
  const state = readFields();
  const told = rely(state);
  for (const name of ["chapter", "api"]) {
    byId(`rely-${name}-told`).textContent = wordsIn(state[name] || "").join(", ") || "all";
  }
  if (told.wrong) return answer("rely", told.wrong);
  const groups = Object.entries(told.found).filter(([, list]) => list.length);
  const total = groups.reduce((sum, [, list]) => sum + list.length, 0);
  if (!total) return answer("rely", "No clause is of all that: choose less at once.");
  const counts = groups.map(([stands, list]) => `${list.length} ${DATA.stands[stands]}`).join(", ");
  const range = spanOf(told.places[0], told.places[told.places.length - 1]);
  return answer(
    "rely",
    `Torch ${range}${DATA.modes.length > 1 ? `, ${state.mode || DATA.modes[0]}` : ""}: of ${total} clauses ${counts}.`,
    ...groups.map(([stands, list]) => groupView(DATA.stands[stands], list, (one) => standingView(one, stands), 25)),
    told.places.some((place) => COLUMNS[place].run) ? null : terminalView(relyWords(state)),
  );
}

/** Show one clause; where it holds everywhere its reading is told only if it has others. */
function standingView({ id, spans }, stands) {
  const clause = DATA.clauses[id];
  const list = spans.map(({ first, last, cell }) =>
    el("li", {}, el("span", { class: "when", text: "torch " + spanOf(first, last) }), cellView(clause, cell)));
  const told = stands !== "holds" || clause.varies;
  return el("li", {}, clauseLink(id), " ", el("code", { text: id }), told ? el("ul", { class: "spans" }, ...list) : null);
}

function relyWords({ from, to, mode, chapter = "", api = "", clause = "" }) {
  const many = (name, text) => wordsIn(text).flatMap((each) => [name, each]);
  return ["rely", ...wordsIn(clause), "--from", from, "--to", to, ...many("--chapter", chapter), ...many("--api", api), ...(mode ? ["--mode", mode] : [])];
}
