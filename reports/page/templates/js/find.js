// The search: the same words give the same clauses in the same order as reports/search/ask.py, by whole numbers only.
const TYPED = 5, SPELLED = 4, RENAMED = 3; // what a word counts: as typed, in another spelling, as the suite calls it
const MOST_BEGUN = 8, MOST_SLIPS = 4;
const CLOSE = 35, UNKNOWN_WORD = 61;
const SIGNS_62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ENDINGS = [["ing", 3], ["ed", 3], ["ation", 4], ["ion", 4], ["er", 4], ["ly", 4], ["e", 2]];

const plainWords = (text) => text.toLowerCase().match(/[a-z0-9]+/g) || [];
const tokensOf = (text) => (text.toLowerCase().match(/[a-z0-9_]+/g) || []).flatMap((word) => {
  const parts = word.split("_").filter(Boolean);
  return parts.length > 1 ? [parts.join("_"), ...parts] : parts;
});

function stemOf(word) {
  if (word.includes("_")) return word;
  if (word.length > 3 && word.endsWith("s") && !word.endsWith("ss")) word = word.slice(0, /(xes|sses|ches|shes)$/.test(word) ? -2 : -1);
  const ending = ENDINGS.find(([end, least]) => word.endsWith(end) && word.length - end.length >= least);
  if (ending) word = word.slice(0, -ending[0].length);
  if (word.length > 3 && word.at(-1) === word.at(-2) && !"lsaeiou".includes(word.at(-1))) word = word.slice(0, -1);
  return word.length > 2 && word.endsWith("y") ? word.slice(0, -1) + "i" : word;
}

function unpackPosts(signs) {
  const found = [];
  for (let place = -1, at = 0; at < signs.length; at += 2) {
    for (; signs[at] === "~"; at++) place += 62;
    place += SIGNS_62.indexOf(signs[at]) + 1;
    found.push([place, SIGNS_62.indexOf(signs[at + 1])]);
  }
  return found;
}

const POSTS = DATA.find.posts.split(" ");
const INDEX = new Map(DATA.find.stems.split(" ").map((word, at) => [word, unpackPosts(POSTS[at])]));
const STOP = new Set(DATA.find.stop);
const KNOWN = new Set([...INDEX.keys(), ...DATA.find.renamings.flatMap(([asked]) => asked)]);
const NAMES = Object.keys(DATA.clauses);

const standsIn = (words, phrase) => words.some((_, at) => phrase.every((word, n) => words[at + n] === word));

function oneSlipAway(one, other) {
  if (Math.abs(one.length - other.length) > 1 || one === other) return false;
  let at = 0;
  while (at < Math.min(one.length, other.length) && one[at] === other[at]) at++;
  const [a, b] = [one.slice(at), other.slice(at)];
  const swapped = a.slice(2) === b.slice(2) && a.slice(0, 2) === [...b.slice(0, 2)].reverse().join("");
  return a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1) || swapped;
}

function spelledAs(word) {
  const all = [...INDEX.keys()];
  const begun = word.length > 2 ? all.filter((other) => other.startsWith(word)) : [];
  if (begun.length) return begun.slice(0, MOST_BEGUN);
  return word.length > 4 ? all.filter((other) => oneSlipAway(word, other)).slice(0, MOST_SLIPS) : [];
}

/** Return for each word of a question the stems that answer it, each with what it counts. */
function wordGroups(words) {
  const typed = [...new Set(tokensOf(words))];
  const kept = typed.filter((word) => !STOP.has(word));
  const groups = (kept.length ? kept : typed).map((word) => [[stemOf(word), TYPED]]);
  let said = plainWords(words).map(stemOf);
  for (const group of groups) {
    const [[word]] = group;
    if (KNOWN.has(word) || word.includes("_")) continue;
    const spelled = spelledAs(word);
    group.push(...spelled.map((other) => [other, SPELLED]));
    if (spelled.length === 1) said = said.map((each) => (each === word ? spelled[0] : each));
  }
  for (const [asked, meant] of DATA.find.renamings) {
    if (!standsIn(said, asked)) continue;
    let have = asked.length === 1 && groups.find((group) => group.some(([word]) => word === asked[0]));
    if (!have) groups.push((have = []));
    have.push(...meant.map((word) => [word, RENAMED]));
  }
  return groups;
}

/** Return the clauses that some words are nearest to, whether these are close, and what is said of parts without clauses. */
function findClauses(words) {
  const begin = words.trim();
  const begun = /^\w+\.[\w.]*$/.test(begin) ? NAMES.filter((name) => name.startsWith(begin)) : [];
  if (begun.length) return { ids: begun, close: true, begun: true, notes: [] };
  const groups = wordGroups(words);
  const total = new Map(), hits = new Map();
  let most = 0;
  for (const group of groups) {
    const best = new Map();
    for (const [word, weight] of group)
      for (const [place, level] of INDEX.get(word) || []) best.set(place, Math.max(best.get(place) || 0, weight * level));
    most += best.size ? Math.max(...best.values()) : TYPED * UNKNOWN_WORD;
    for (const [place, score] of best) {
      total.set(place, (total.get(place) || 0) + score);
      hits.set(place, (hits.get(place) || 0) + 1);
    }
  }
  const mark = (place) => total.get(place) * (7 * groups.length + 3 * hits.get(place));
  const places = [...total.keys()].sort((one, two) => mark(two) - mark(one) || one - two);
  const close = places.length > 0 && 100 * total.get(places[0]) >= CLOSE * most;
  return { ids: places.map((place) => NAMES[place]), close, notes: notesOn(words) };
}

/** Return what is said of the parts of torch that these words name, as whole words, and of which no clause is. */
function notesOn(words) {
  const said = plainWords(words);
  const has = (phrases) => phrases.some((phrase) => standsIn(said, phrase.split(" ")));
  return DATA.find.named.filter(({ phrases, unless }) => has(phrases) && !has(unless)).map(({ says }) => says);
}
