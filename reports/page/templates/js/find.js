// The search: the same words give the same clauses in the same order as reports/search/ask.py, by whole numbers only.
const COUNTS = DATA.find.asking.numbers;
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

const NAMES = Object.keys(DATA.clauses);
const RENAMINGS = DATA.find.asking.renamings;
const [STOP, OF_HOOKS, OF_NAMES, OF_TORCH, ELSEWHERE, OF_KINDS] =
  ["stop", "hooks", "names", "torch", "elsewhere", "kinds"].map((kind) => new Set(DATA.find.asking[kind]));
const EXCEPTION = /(?:^|\s)[\w.]*(?:Error|Exception|Warning):\s+(?=\S)/; // its name, in front of what it says

/** Return an index, unpacked; another one beside it knows more words. */
function unpackIndex(data, beside = null) {
  const split = (text) => text.split(" ").filter(Boolean);
  const [stems, posts, special, places] = [data.stems, data.posts, data.special, data.places].map(split);
  return {
    beside,
    posts: new Map(stems.map((word, at) => [word, unpackPosts(posts[at])])),
    special: special.map((word, at) => [word, unpackPosts(places[at])]),
    said: new Set([...stems.slice(0, data.said), ...(beside ? beside.said : [])]),
    known: new Set([...stems, ...RENAMINGS.flatMap(([asked]) => asked), ...(beside ? beside.known : [])]),
  };
}

const CLAUSE_INDEX = unpackIndex(DATA.find);
const SYMPTOM_INDEX = unpackIndex(DATA.symptoms, CLAUSE_INDEX);

const standsIn = (words, phrase) => words.some((_, at) => phrase.every((word, n) => words[at + n] === word));

function oneSlipAway(one, other) {
  if (Math.abs(one.length - other.length) > 1 || one === other) return false;
  let at = 0;
  while (at < Math.min(one.length, other.length) && one[at] === other[at]) at++;
  const [a, b] = [one.slice(at), other.slice(at)];
  const swapped = a.slice(2) === b.slice(2) && a.slice(0, 2) === [...b.slice(0, 2)].reverse().join("");
  return a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1) || swapped;
}

function spelledAs({ posts }, word) {
  const all = [...posts.keys()];
  const begun = word.length > 2 ? all.filter((other) => other.startsWith(word)) : [];
  if (begun.length) return begun.slice(0, COUNTS.most_begun);
  return word.length > 4 ? all.filter((other) => oneSlipAway(word, other)).slice(0, COUNTS.most_slips) : [];
}

/** Return for each word of a question the stems that answer it, each with what it counts. */
function wordGroups(index, words) {
  const typed = [...new Set(tokensOf(words))];
  const telling = typed.filter((word) => !STOP.has(word) && word.length > 1);
  const whole = telling.filter((word) => !word.includes("_") || index.known.has(stemOf(word)));
  const kept = [whole, telling, typed].find((each) => each.length) || [];
  const groups = kept.map((word) => [[stemOf(word), COUNTS.typed]]);
  let said = plainWords(words).map(stemOf);
  for (const group of groups) {
    const [[word]] = group;
    if (index.known.has(word) || word.includes("_")) continue;
    const spelled = spelledAs(index, word);
    group.push(...spelled.map((other) => [other, COUNTS.spelled]));
    if (spelled.length === 1) said = said.map((each) => (each === word ? spelled[0] : each));
  }
  for (const [asked, meant] of RENAMINGS) {
    if (!standsIn(said, asked)) continue;
    let have = asked.length === 1 && groups.find((group) => group.some(([word]) => word === asked[0]));
    if (!have) groups.push((have = []));
    have.push(...meant.map((word) => [word, COUNTS.renamed]));
  }
  return groups;
}

/** Return how strange a word is to torch's hooks: 2 is unknown, 1 is a guess, or a word of no sentence. */
function strangeness({ known, said }, group) {
  const [[word]] = group;
  if (ELSEWHERE.has(word)) return 2;
  if (!known.has(word)) return group.length > 1 ? 1 : 2;
  return group.length === 1 && !said.has(word) ? 1 : 0;
}

/** Say whether words are about hooks of torch: by words of hooks and of torch, against those of other worlds. */
function aboutHooks(index, groups, near, likely) {
  const [close, alone] = index.beside ? [COUNTS.fits, COUNTS.fits_alone] : [COUNTS.close, COUNTS.alone];
  const having = (set) => groups.filter((group) => group.some(([word]) => set.has(word))).length;
  const strange = groups.reduce((sum, group) => sum + strangeness(index, group), 0);
  const unsaid = groups.filter((group) => strangeness(index, group) === 1 && index.known.has(group[0][0])).length;
  const ofTorch = having(OF_TORCH), ofHooks = having(OF_HOOKS);
  if (groups.some((group) => group.some(([word]) => word.includes("hook")))) return near >= close && Math.max(2 * ofTorch, 1) >= strange - unsaid;
  if (likely) return near >= close && strange <= 1;
  if (near >= COUNTS.sure && groups.length > 1) return strange <= 1;
  if (ofHooks && (ofHooks > 1 || index.beside || having(OF_NAMES))) return near >= alone && strange <= 1;
  if (ofHooks) return near >= COUNTS.one && ofTorch > 1 + strange;
  return near >= COUNTS.names && !strange && (index.beside ? groups.length > 1 : ofTorch === groups.length);
}

/** Return the places of an index for these words, the nearest first, and whether they are close; they are likely about hooks if something else says so. */
function rankedIn(index, words, likely = false) {
  const groups = wordGroups(index, words);
  const total = new Map(), hits = new Map(), special = new Map();
  let most = 0;
  for (const group of groups) {
    const best = new Map();
    for (const [word, weight] of group)
      for (const [place, level] of index.posts.get(word) || []) best.set(place, Math.max(best.get(place) || 0, weight * level));
    most += best.size ? Math.max(...best.values()) : COUNTS.typed * COUNTS.unknown;
    for (const [place, score] of best) {
      total.set(place, (total.get(place) || 0) + score);
      hits.set(place, (hits.get(place) || 0) + 1);
    }
  }
  const more = (place) => special.set(place, Math.min(COUNTS.most_special, (special.get(place) || 0) + 1));
  const named = new Set(groups.flat().map(([word]) => word));
  for (const [word, posts] of index.special) if (!named.has(word)) for (const [place] of posts) more(place);
  const kinds = new Set(groups.flat().filter(([word, weight]) => weight === COUNTS.typed && OF_KINDS.has(word)).map(([word]) => word));
  for (const word of kinds) {
    const having = new Set((index.posts.get(word) || []).map(([place]) => place));
    for (const place of total.keys()) if (!having.has(place)) more(place);
  }
  const mark = (place) => total.get(place) * (7 * groups.length + 3 * hits.get(place)) * (COUNTS.parts - (special.get(place) || 0));
  const places = [...total.keys()].sort((one, two) => mark(two) - mark(one) || one - two);
  const near = places.length ? Math.floor((100 * Math.max(...total.values())) / Math.max(1, most)) : 0;
  return [places, aboutHooks(index, groups, near, likely)];
}

/**
 * Return the clauses that some words are nearest to, whether these are close, what is said of parts without clauses, and,
 * where they fit, an answer that is no clause and what people see.
 */
function findClauses(words) {
  const begin = words.trim();
  const begun = /^\w+\.[\w.]*$/.test(begin) ? NAMES.filter((name) => name.startsWith(begin)) : [];
  if (begun.length) return { ids: begun, close: true, begun: true, notes: [], answer: null, symptom: null };
  const said = words.split(EXCEPTION).at(-1);
  const [seen, fits] = rankedIn(SYMPTOM_INDEX, said);
  const [places, near] = rankedIn(CLAUSE_INDEX, said, fits && seen.length > 0);
  const notes = notesOn(said);
  const close = near && !notes.some(({ alone }) => alone);
  const first = places.slice(0, COUNTS.among).find((place) => place >= NAMES.length);
  const ids = places.filter((place) => place < NAMES.length).map((place) => NAMES[place]);
  const causes = new Set(fits && seen.length ? DATA.symptoms.causes[seen[0]].filter((id) => DATA.clauses[id]) : []);
  const led = !causes.size || ids.slice(0, COUNTS.led).some((id) => causes.has(id)); // else they are of another question
  return {
    ids,
    close,
    notes: notes.map(({ says }) => says),
    answer: close && first !== undefined ? DATA.find.answers[first - NAMES.length] : null,
    symptom: fits && seen.length && led ? seen[0] : null,
  };
}

/** Return what is said of the parts of torch that these words name, as whole words, and of which no clause is. */
function notesOn(words) {
  const said = plainWords(words);
  const has = (phrases) => phrases.some((phrase) => standsIn(said, phrase.split(" ")));
  return DATA.find.named.filter(({ phrases, unless }) => has(phrases) && !has(unless));
}
