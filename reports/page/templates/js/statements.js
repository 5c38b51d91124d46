// What a cell says, as it is shown.
const LEVELS = {
  documented: "documented: torch promises it in its documentation or release notes",
  implied: "implied: torch's own tests, comments or pull requests rely on it",
  observed: "observed: measured only, nobody promises it; a torch that differs is different, not wrong",
};

const sameCell = (one, two) => one.state === two.state;

/** Return the class by which a cell is coloured. */
const kindOf = ({ answer, new: undeclared }) => answer + (undeclared ? " new" : "");

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
  const { answer, conforms, effect, cause, reason, ref, detail, note, holds } = cell;
  const says = cell.says ?? clause.says;
  const node = el("span", {}, el("span", { class: "chip " + kindOf(cell), text: DATA.signs[answer] }), " ", el("b", { text: cell.words || answer }));
  const reading = clause.readings[cell.reading];
  if (conforms && reading && !clause.claim && clause.readings.length > 1) {
    node.append(` ${clause.varies ? numberOf(cell.reading) + " " : ""}${reading.name}`);
  }
  if (answer === "otherwise" && DATA.effects[effect]) node.append(" ", el("span", { class: `tag ${effect}`, text: DATA.effects[effect] }));
  if (since) node.append(" ", el("span", { class: "since", text: since }));
  if (answer === "deviates" || reason) {
    const stated = clause.readings[cell.reading >= 0 ? cell.reading : force];
    node.append(labelled("stated", stated ? stated.says : clause.says), labelled("what torch does", says));
    if (DATA.effects[effect]) node.append(labelled("effect", DATA.effects[effect]));
    if (cause) node.append(labelled("cause", cause));
    if (reason) node.append(labelled("why", reason + " ", refView(ref)));
    if (holds && !reason) node.append(labelled("behaves as", `the reading “${holds.join("” / “")}”`));
  } else if (says) node.append(el("span", { class: "sentence", text: detail || says }));
  if (note && !says.toLowerCase().includes(note.toLowerCase())) node.append(el("small", { text: note }));
  return node;
}

const refView = (ref) => (/^https:\/\//.test(ref) ? el("a", { href: ref, rel: "noreferrer noopener", target: "_blank", text: ref.replace("https://", "") }) : ref);
