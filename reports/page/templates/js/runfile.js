// A run file, read in the browser: the rules of reports/data/runfile.py, as far as the page needs them. Nothing leaves it.
const LARGEST = 256 * 2 ** 20;
const FORMAT = 1;
const FOREIGN = "give a run file that this suite wrote (*.jsonl)";

/** A file that cannot be used; the text is one line. */
class BadRun extends Error {}

const isText = (value) => typeof value === "string";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isListOf = (fits) => (value) => Array.isArray(value) && value.every(fits);
const isTableOf = (fits) => (value) => isObject(value) && Object.values(value).every(fits);
const isShaped = (shape) => (value) => isObject(value) && faultOf(shape, value) === undefined;
/** Return the first key that is missing or not as it must be. */
const faultOf = (shape, value) => Object.keys(shape).find((key) => !Object.hasOwn(value, key) || !shape[key](value[key]));

const isTexts = isListOf(isText);
const isReading = isShaped({ name: isText, torch: isText, says: isText });
const isEvidence = isShaped({ plan: isText, expected: isTexts, observed: isTexts, message: isText, reproducer: isText });
const isShard = (value) => isListOf((part) => Number.isInteger(part) && part >= 1 && part <= 10_000)(value) && value.length === 2;
const isVerdict = (value) => DATA.verdicts.includes(value);
const DEVIATION = { name: isText, says: isText, effect: (value) => value === undefined || EFFECTS.includes(value), reason: isText, ref: isText };
/** Causes came later: a deviation of an older file names none. */
const isDeviation = (value) => isShaped(DEVIATION)(value) && (value.cause === undefined || isText(value.cause));
const isClause = isShaped({ says: isText, code: isText, digest: isText, readings: isListOf(isReading) });
/** Deviations came later than the rest: a file without them is read as before. */
const isClauseOfRun = (value) => isClause(value) && (value.deviations === undefined || isListOf(isDeviation)(value.deviations));
const LINES = {
  header: {
    torch: isText, suite: isText, python: isText, platform: isText, device: isText, modes: isTexts,
    profile: isText, examples: Number.isInteger, seed: (value) => value === null || typeof value === "number", shard: isShard,
    clauses: isTableOf(isClauseOfRun),
    nodes: isTableOf((node) => isTexts(node) && node.length === 2),
  },
  started: { clause: isText, mode: isText },
  cell: {
    clause: isText, mode: isText, verdict: isVerdict, reading: (value) => value === null || isText(value), holds: isTexts,
    declared: (value) => typeof value === "boolean", note: isText, evidence: (value) => value === null || isEvidence(value),
  },
  footer: { cells: Number.isInteger, counts: isTableOf(Number.isInteger) },
};

const quoted = (value) => {
  const text = isObject(value) ? "an object" : Array.isArray(value) ? "a list" : JSON.stringify(value);
  return text.length > 60 ? text.slice(0, 59) + "…" : text;
};
const keyOf = ({ clause, mode }) => JSON.stringify([clause, mode]);

/** Return the runs in a file. Throws BadRun. */
async function readRuns(file) {
  const fail = (place, fault, hint) => {
    throw new BadRun(`${file.name}${place}: ${fault}; ${hint}.`);
  };
  if (file.size > LARGEST) fail("", `is larger than ${LARGEST / 2 ** 20} MB`, "run the suite in shards");
  let text;
  try {
    // As a stream: a file may be cut off within a sign, and what is before that is good.
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer(), { stream: true });
  } catch {
    fail("", "is no UTF-8 text or cannot be read", FOREIGN);
  }
  if (!text.trim()) fail("", "is empty", "run the suite again into a new file");
  const lines = text.split("\n");
  const cut = lines.pop();
  const runs = [];
  const add = (line, number) => {
    const found = lineOf(line, (fault) => fail(`, line ${number}`, fault, FOREIGN));
    addLine(runs, found, (fault) => fail(`, line ${number}`, fault, "run the suite again into a new file"));
  };
  lines.forEach((line, place) => add(line, place + 1));
  if (cut && (!lines.length || isLine(cut))) add(cut, lines.length + 1);
  return runs.map((run) => ({ ...run, name: file.name }));
}

/** Say whether a text is a line of a run file; the last one is none where the file is cut off. */
function isLine(text) {
  try {
    return Boolean(lineOf(text, (fault) => { throw new BadRun(fault); }));
  } catch (problem) {
    if (problem instanceof BadRun) return false;
    throw problem;
  }
}

function isWhole(line) {
  try {
    return isObject(JSON.parse(line));
  } catch {
    return false;
  }
}

/** Return one line as an object of a known shape. */
function lineOf(text, fail) {
  if (!isWhole(text)) fail("is not a line of a run file");
  const line = JSON.parse(text);
  if (Object.hasOwn(line, "format") && line.format !== FORMAT) {
    fail(`is of format ${quoted(line.format)}, this page reads format ${FORMAT}`);
  }
  if (!isText(line.type) || !Object.hasOwn(LINES, line.type)) fail("is not a line of a run file");
  const key = faultOf(LINES[line.type], line);
  if (key) fail(Object.hasOwn(line, key) ? `the ${line.type} has ${quoted(line[key])} as ${key}` : `the ${line.type} has no ${key}`);
  return line;
}

/** Add a line to the runs of its file: a header begins a run, a footer ends it. */
function addLine(runs, line, fail) {
  const run = runs[runs.length - 1];
  const open = run && !run.ended;
  if (line.type === "header") {
    if (open) fail("a second header before the footer");
    if (!versionOf(line.torch)) fail(`torch ${quoted(line.torch)} is not a version`);
    return runs.push({ header: line, cells: new Map(), wanted: new Set(Object.values(line.nodes).map((pair) => JSON.stringify(pair))) });
  }
  if (!open) fail(`a ${line.type} comes ${run ? "after the footer" : "before the header"}`);
  if (line.type === "footer") return endRun(run, line, fail);
  if (!Object.hasOwn(run.header.clauses, line.clause)) fail(`is of the clause ${quoted(line.clause)}, which the header does not know`);
  if (!run.header.modes.includes(line.mode)) fail(`is of the mode ${quoted(line.mode)}, which the header does not know`);
  run.wanted.add(keyOf(line));
  return line.type === "cell" ? addCell(run, line, fail) : run;
}

function addCell(run, cell, fail) {
  const names = run.header.clauses[cell.clause].readings.map((reading) => reading.name);
  const unknown = [...cell.holds, cell.reading].find((name) => name !== null && !names.includes(name));
  if (unknown !== undefined) fail(`names the reading ${quoted(unknown)}, which the clause does not have`);
  if (run.cells.has(keyOf(cell))) fail(`a second cell of ${cell.clause} [${cell.mode}]`);
  return run.cells.set(keyOf(cell), cell);
}

function endRun(run, footer, fail) {
  const counts = {};
  for (const { verdict } of run.cells.values()) counts[verdict] = (counts[verdict] || 0) + 1;
  const differs = Object.keys(DATA.signs).some((verdict) => (counts[verdict] || 0) !== (footer.counts[verdict] || 0));
  if (footer.cells !== run.cells.size || differs) fail(`the footer speaks of ${footer.cells} cells, the file holds ${run.cells.size} or others`);
  return (run.ended = true);
}

const SAME = ["torch", "build", "suite", "python", "platform", "device", "profile", "examples", "seed"];

/** Return the shards of a run as one, refusing what `merge` would. */
function joined(runs) {
  const all = { header: { ...runs[0].header }, clauses: new Map(), cells: new Map(), wanted: new Set() };
  const seen = new Map();
  for (const run of runs) {
    checkSame(runs[0], run);
    for (const [key, cell] of run.cells) {
      const before = seen.get(key);
      if (before) refuse(run, `${cell.clause} [${cell.mode}] is also in ${before.name}`, "choose each run once");
      seen.set(key, run);
      all.cells.set(key, cell);
    }
    for (const [id, clause] of Object.entries(run.header.clauses)) all.clauses.set(id, clause);
    for (const key of run.wanted) all.wanted.add(key);
  }
  checkTexts(runs);
  all.header.modes = [...new Set(runs.flatMap(({ header }) => header.modes))];
  return { ...all, missing: [...all.wanted].filter((key) => !all.cells.has(key)).length, notHere: shardsNotHere(runs) };
}

function refuse(run, fault, hint = "choose the shards of one run") {
  throw new BadRun(`${run.name}: ${fault}; ${hint}.`);
}

function checkSame(first, run) {
  for (const name of SAME) {
    const [was, now] = [first, run].map(({ header }) => quoted(header[name] ?? null));
    if (was !== now) refuse(run, `${name} is ${now}, but ${was} in ${first.name}`);
  }
}

/** Refuse two texts of one clause: cells of the one would be shown under the sentence of the other. */
function checkTexts(runs) {
  const known = new Map();
  for (const run of runs) {
    for (const [id, { digest }] of Object.entries(run.header.clauses)) {
      if (!known.has(id)) known.set(id, { digest, run });
      const before = known.get(id);
      if (before.digest !== digest) refuse(run, `the clause ${id} has another text than in ${before.run.name}`);
    }
  }
}

/** Return in words which shards were not chosen, for each number of shards. */
function shardsNotHere(runs) {
  const shards = runs.map(({ header }) => header.shard);
  return [...new Set(shards.map(([, of]) => of))].flatMap((of) => {
    const here = new Set(shards.filter((shard) => shard[1] === of).map(([number]) => number));
    const gone = Array.from({ length: of }, (_, place) => String(place + 1)).filter((number) => !here.has(Number(number)));
    if (!gone.length) return [];
    const last = gone.length > 6 ? `${gone.splice(5).length} more` : gone.pop();
    return `${gone.length ? `shards ${gone.join(", ")} and ${last} of ${of} are` : `shard ${last} of ${of} is`} not here`;
  });
}
