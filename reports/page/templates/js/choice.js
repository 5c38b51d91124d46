// Which clauses a question is about. The same rules as in reports/verbs/choice.py, and a search for words besides.

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
  if (strange) return { wrong: `No clause begins with “${strange}”.${uncoveredOf(strange).map((text) => ` ${text}`).join("")}` };
  const needles = wordsIn(q.toLowerCase());
  const found = ROWS.filter(({ id, clause: each, words }) =>
    !each.compares && (!chapters.length || chapters.includes(id.split(".")[0])) && (!begins.length || begins.some((begin) => id.startsWith(begin))) &&
    (!apis.length || apis.some((asked) => isAbout(each, asked))) && needles.every((needle) => words.includes(needle)));
  const ids = found.map(({ id }) => id).filter((id) => tutorial || isAsked(id, begins, chapters));
  if (ids.length) return { ids, leftOut: found.length - ids.length };
  if (found.length) return { wrong: "Only claims of tutorials are of all that: choose “with tutorial claims”." };
  return { wrong: ["No clause is of all that: choose less at once.", ...uncoveredOf(q)].join(" ") };
}

/** Return what is said of things that no clause speaks of yet, where a word that was asked for names one. */
function uncoveredOf(asked) {
  const needles = wordsIn(asked.toLowerCase()).filter((needle) => needle.length > 2);
  const fit = (words, needle) => words.some((word) => word.includes(needle) || needle.includes(word));
  return DATA.uncovered
    .filter(({ words }) => needles.some((needle) => fit(words, needle)))
    .map(({ what, why }) => `Not covered: ${what}. ${why}.`);
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
