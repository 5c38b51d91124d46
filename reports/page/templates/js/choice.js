// Which clauses a question is about: by the rules of reports/verbs/choice.py, and the nearest to words.
const AT_MOST = 10; // clauses for words: what comes after them has little to do with these

/** Say whether a clause is about an API that was asked for, with the option in brackets where there is one. */
function isAbout(clause, asked) {
  return clause.apis.some((place) => DATA.apis[place] === asked);
}

const wordsIn = (text) => text.split(/\s+/).filter(Boolean);

/** Say whether a clause counts: a claim of a tutorial does where its chapter is named, alone or at the beginning of an id. */
function isAsked(id, begins, chapters) {
  const chapter = id.split(".")[0];
  return !DATA.clauses[id].claim || chapters.includes(chapter) || begins.some((begin) => begin.split(".")[0] === chapter);
}

/** Return the clauses of a choice and how many claims were left out; or what is wrong with the question. */
function chosen({ chapter = "", api = "", clause = "", tutorial = "", q = "" }) {
  const [chapters, apis, begins] = [chapter, api, clause].map(wordsIn);
  const strange = begins.find((begin) => !ORDER.some((id) => id.startsWith(begin)));
  if (strange) return { wrong: [`No clause begins with “${strange}”.`, ...notesOn(strange)].join(" ") };
  const nearest = q && findClauses(q).ids.slice(0, AT_MOST);
  const found = ROWS.filter(({ id, clause: each }) =>
    !each.compares && (!chapters.length || chapters.includes(id.split(".")[0])) && (!begins.length || begins.some((begin) => id.startsWith(begin))) &&
    (!apis.length || apis.some((asked) => isAbout(each, asked))) && (!q || nearest.includes(id)));
  const ids = found.map(({ id }) => id).filter((id) => tutorial || isAsked(id, begins, chapters));
  if (ids.length) return { ids, leftOut: found.length - ids.length };
  if (found.length) return { wrong: "Only claims of tutorials are of all that: choose “with tutorial claims”." };
  return { wrong: ["No clause fits all that you chose. Choose fewer things.", ...notesOn(q)].join(" ") };
}

/** Return the words of a choice as a terminal takes them. */
function choiceWords({ chapter = "", api = "", clause = "", tutorial }) {
  const many = (name, text) => wordsIn(text).flatMap((each) => [name, each]);
  return [...many("--chapter", chapter), ...many("--api", api), ...(tutorial ? ["--tutorial"] : [])];
}

const leftOutView = (count) =>
  count ? el("p", { class: "left-out", text: `${counted(count, "claim of tutorials is", "claims of tutorials are")} left out: “with tutorial claims” asks for them too.` }) : null;

/** Show in the folded lists of a view what is chosen in them. */
function tellChoice(name, state) {
  for (const list of ["chapter", "api"]) byId(`${name}-${list}-chosen`).textContent = wordsIn(state[list] || "").join(", ") || "all";
}
