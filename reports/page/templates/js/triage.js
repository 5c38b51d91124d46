// What the failures of a run share, and where to start. The same clusters as those of fixtures/judge/triage.py, whose HOMES
// page.py puts in front: which chapter is about a sign.
const BROAD = ["together", "tutorial"];
const FAILING = ["deviates", "crashed", "hung"];
const MOST = 5;

const isFailure = (cell) => cell.verdict === "unseen" || (FAILING.includes(cell.verdict) && !cell.declared) || Boolean(cell.complaint);
const signsOf = (cell) => (isTexts(cell.signs) ? cell.signs : []); // older files have none
const planOf = (cell) => cell.evidence?.plan ?? "";
const chapterOf = (cell) => cell.clause.split(".")[0];

/** Return how often each of these comes, as a map in the order of coming. */
function countsOf(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Return the clusters of failures among these cells, the largest first. */
function triage(cells) {
  const total = countsOf(cells.map(chapterOf));
  let rest = cells.filter(isFailure);
  const failed = countsOf(rest.map(chapterOf));
  const found = [];
  while (rest.length) {
    const counts = countsOf(rest.flatMap(signsOf));
    const most = [...counts].reduce((best, each) => (each[1] > best[1] ? each : best), ["", 0])[0];
    const has = (cell) => !most || signsOf(cell).includes(most);
    const chosen = rest.filter(has);
    rest = rest.filter((cell) => !has(cell));
    const signs = [...countsOf(chosen.flatMap(signsOf))].sort((one, two) => two[1] - one[1]);
    found.push({ signs, cells: chosen, start: startOf(chosen, new Map(signs), (name) => failed.get(name) / total.get(name)) });
  }
  return found;
}

/** Return the failure to look at first: of the chapter that is about what they share, with the least that others lack. */
function startOf(chosen, signs, shareOf) {
  const shared = (sign) => 2 * (signs.get(sign) ?? 0) >= chosen.length;
  const present = new Set(chosen.map(chapterOf));
  const home = Object.keys(HOMES).filter((sign) => present.has(HOMES[sign]) && shared(sign)).map((sign) => HOMES[sign])[0];
  const rank = (cell) => {
    const [name, plan] = [chapterOf(cell), planOf(cell)];
    const strange = signsOf(cell).filter((sign) => !shared(sign)).length;
    return [BROAD.includes(name), name !== home, -shareOf(name), !plan, strange, plan.length, cell.clause, cell.mode];
  };
  const before = (one, two) => {
    const place = one.findIndex((value, n) => value !== two[n]);
    return place >= 0 && one[place] < two[place];
  };
  return chosen.reduce((best, cell) => (before(rank(cell), rank(best)) ? cell : best));
}

function triageView(cells) {
  const found = triage(cells);
  if (!found.length) return [];
  const items = found.slice(0, MOST).map(({ signs, cells: chosen, start }) => {
    const shared = signs.filter(([, count]) => 2 * count >= chosen.length);
    const words = shared.map(([sign, count]) => (count === chosen.length ? sign : `${sign} (${count})`)).join("; ") || "nothing in common";
    const link = Object.hasOwn(DATA.clauses, start.clause) ? clauseLink(start.clause) : null;
    return el("li", {}, el("p", {}, el("strong", { text: String(chosen.length) }), ` share: ${words}`),
      el("p", {}, "Start here: ", el("code", { text: start.clause }), " ", link),
      planOf(start) ? codeBlock("Its smallest plan", planOf(start)) : null);
  });
  const failures = found.reduce((sum, { cells: chosen }) => sum + chosen.length, 0);
  const left = found.slice(MOST).reduce((sum, { cells: chosen }) => sum + chosen.length, 0);
  if (left) items.push(el("li", { text: `${left} in ${counted(found.length - MOST, "smaller cluster", "smaller clusters")}` }));
  const title = failures === 1 ? "Triage of 1 failure" : `Triage of ${failures} failures, by what they share`;
  return [el("section", { class: "triage", "aria-label": title }, el("h3", { text: title }), el("ol", {}, ...items))];
}
