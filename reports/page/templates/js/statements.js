// What a clause says in one cell: the sentence in force there. The same rules as in reports/data/statements.py.
const EFFECTS = Object.keys(DATA.effects);
const UNKNOWN = "Torch does something else; no statement describes it.";
const LEVELS = {
  documented: "documented: torch promises it in its documentation or release notes",
  implied: "implied: torch's own tests, comments or pull requests rely on it",
  observed: "observed: measured only, nobody promises it; a torch that differs is different, not wrong",
};

function statementOf(clause, cell) {
  if (cell.verdict === "conforms") return readingStatement(clause, clause.readings[cell.reading]);
  const known = cell.known || (cell.declared && clause.deviations.find(({ name }) => name === cell.deviation));
  if (known) {
    const { says, effect, cause, reason, ref } = known;
    return { answer: cell.verdict, says, effect, cause, reason, ref };
  }
  if (cell.verdict === "deviates") {
    const like = cell.holds && readingStatement(clause, clause.readings.find(({ name }) => name === cell.holds[0]));
    const { says, effect } = like ? { says: like.detail || like.says, effect: like.effect } : { says: cell.note || UNKNOWN, effect: "other" };
    return { answer: cell.verdict, says, effect: effect === "nothing" ? "other" : effect };
  }
  if (cell.verdict === "crashed" || cell.verdict === "hung") return { answer: cell.verdict, says: `The process ${cell.verdict}.`, effect: "raises" };
  const note = cell.note || "";
  const missing = cell.verdict === "absent" ? missingWords(clause.needs || []) : "";
  return { answer: cell.verdict, says: note.slice(0, 1).toUpperCase() + note.slice(1) || missing, effect: "nothing" };
}

function missingWords(needs) {
  if (needs.length === 1) return `This torch has no ${needs[0]}.`;
  return needs.length ? `This torch lacks at least one of ${needs.join(", ")}.` : "";
}

function readingStatement(clause, reading) {
  if (!reading) return { answer: "otherwise", says: UNKNOWN, effect: "other" };
  const { name, effect, headline, says } = reading;
  const answer = clause.claim ? truthOf(name) : headline ? "holds" : "otherwise";
  if (answer === "holds" || answer === "true") return { answer, says: clause.says, effect, detail: says === clause.says ? "" : says };
  return { answer, says: says || UNKNOWN, effect };
}

/** Say whether the sentence of the clause itself is true: what a tick is for. */
const isGood = ({ answer }) => answer === "holds" || answer === "true";

/** Return what makes two cells equal for a reader, as text: the verdict, the reading, and which reading or bug is there. */
const stateOf = ({ verdict, reading, holds, declared, deviation, note }) =>
  JSON.stringify([verdict, reading, holds || [], declared ? deviation || note || "" : null]); // older files name it by its sentence only
const sameCell = (one, two) => stateOf(one) === stateOf(two);

/** Return the class by which a cell is coloured; the same rule as in the matrix. */
const kindOf = (clause, cell) => statementOf(clause, cell).answer + (isNew(cell) ? " new" : "");
const isNew = (cell) => cell.verdict === "deviates" && !cell.declared;

/** Return the sign and the words of a cell. */
function wordsOf(clause, cell) {
  const { answer } = statementOf(clause, cell);
  const claim = clause.claim && cell.verdict === "conforms" && clause.readings[cell.reading];
  return [DATA.signs[answer], claim ? claim.name : answer + (isNew(cell) ? ", not declared" : "")];
}

/** Return "since 2.5" where a clause has been as it is on a column from that version on, nothing where it was never seen otherwise. */
function sinceOf(clause, mode, place) {
  const cells = cellsOf(clause, mode);
  let first = place;
  while (first > 0 && sameCell(cells[first - 1], cells[place])) first--;
  return first ? `since ${COLUMNS[first].label}` : "";
}

const labelled = (label, ...content) => el("span", { class: "labelled" }, el("span", { class: "label", text: label }), " ", el("span", {}, ...content));

/** Show what a cell says: its answer, its reading, the sentence in force, and of a deviation what is stated, what torch does, and why. */
function cellView(clause, cell, force = -1, since = "") {
  const [sign, words] = wordsOf(clause, cell);
  const node = el("span", {}, el("span", { class: "chip " + kindOf(clause, cell), text: sign }), " ", el("b", { text: words }));
  const reading = clause.readings[cell.reading];
  if (cell.verdict === "conforms" && reading && !clause.claim && clause.readings.length > 1) {
    node.append(` ${clause.varies ? numberOf(cell.reading) + " " : ""}${reading.name}`);
  }
  const { answer, says, effect, cause, reason, ref, detail } = statementOf(clause, cell);
  if (answer === "otherwise" && DATA.effects[effect]) node.append(" ", el("span", { class: `tag ${effect}`, text: DATA.effects[effect] }));
  if (since) node.append(" ", el("span", { class: "since", text: since }));
  if (cell.verdict === "deviates" || reason) {
    const stated = clause.readings[cell.reading >= 0 ? cell.reading : force];
    node.append(labelled("stated", stated ? stated.says : clause.says), labelled("what torch does", says));
    if (DATA.effects[effect]) node.append(labelled("effect", DATA.effects[effect]));
    if (cause) node.append(labelled("cause", cause));
    if (reason) node.append(labelled("why", reason + " ", refView(ref)));
    if (cell.holds && !reason) node.append(labelled("behaves as", `the reading “${cell.holds.join("” / “")}”`));
  } else if (says) node.append(el("span", { class: "sentence", text: detail || says }));
  if (cell.note && !says.toLowerCase().includes(cell.note.toLowerCase())) node.append(el("small", { text: cell.note }));
  return node;
}

const refView = (ref) => (/^https:\/\//.test(ref) ? el("a", { href: ref, rel: "noreferrer noopener", target: "_blank", text: ref.replace("https://", "") }) : ref);
