// Versions of torch, as reports/data/atlas.py reads them, and traces side by side.

// As PEP 440 spells a version. Each part is there once at most: where they could repeat, a hostile text would take years.
const VERSION = new RegExp(
  [
    /^\s*v?(?:\d+!)?(\d+(?:\.\d+)*)/,
    /([._-]?(?:alpha|a|beta|b|preview|pre|c|rc)[._-]?\d*)?/,
    /(?:-\d+|[._-]?(?:post|rev|r)[._-]?\d*)?/,
    /([._-]?dev[._-]?\d*)?/,
    /(?:\+([a-z0-9]+(?:[._-][a-z0-9]+)*))?\s*$/,
  ].map((part) => part.source).join(""),
  "i",
);

/** Return the numbers of a version, whether it comes before its release, and whether it is a build of your own; or nothing. */
function versionOf(text) {
  const match = VERSION.exec(text);
  if (!match) return null;
  const [, numbers, pre, dev, local = ""] = match;
  const own = local.toLowerCase().includes("git") || local.toLowerCase().startsWith("g");
  const early = Boolean(pre || dev);
  return { numbers: numbers.split(".").map(Number), early, release: !early && !own };
}

const minorOf = (version) => `${version.numbers[0]}.${version.numbers[1] || 0}`;

function isNewer(one, two) {
  for (let n = 0; n < Math.max(one.numbers.length, two.numbers.length); n++) {
    const step = (one.numbers[n] || 0) - (two.numbers[n] || 0);
    if (step) return step > 0;
  }
  return two.early && !one.early;
}

/** Return the recorded column that a torch is compared with: its own release, else the newest that is not newer, else the oldest. */
function nearestTo(torch) {
  const version = versionOf(torch);
  const recorded = COLUMNS.filter((column) => !column.run);
  const own = recorded.find((column) => version.release && column.key === minorOf(version));
  const older = recorded.filter((column) => !isNewer(versionOf(column.torch), version));
  return own || older[older.length - 1] || recorded[0] || COLUMNS[0];
}

const WIDEST = 400; // lines; longer traces are paired line by line

/** Return both traces side by side, as fixtures/play/trace.py does: "=" equal, "≠" changed, "-" and "+" on one side only. */
function aligned(expected, observed) {
  const height = Math.max(expected.length, observed.length);
  if (height <= WIDEST) return align(expected, observed);
  return Array.from({ length: height }, (_, n) => align(expected.slice(n, n + 1), observed.slice(n, n + 1))).flat();
}

function align(expected, observed) {
  const names = [expected, observed].map((side) => side.map((line) => /^\p{L}[^(]*(?=\()/u.exec(line)?.[0] ?? ""));
  const [height, width] = [expected.length, observed.length];
  const away = Array.from({ length: height + 1 }, (_, n) => Array.from({ length: width + 1 }, (_, m) => height - n + width - m));
  const paired = (n, m) =>
    n === height || m === width || names[0][n] !== names[1][m] ? Infinity : away[n + 1][m + 1] + Number(expected[n] !== observed[m]);
  for (let n = height - 1; n >= 0; n--) {
    for (let m = width - 1; m >= 0; m--) away[n][m] = Math.min(paired(n, m), away[n + 1][m] + 1, away[n][m + 1] + 1);
  }
  const lines = [];
  for (let [n, m] = [0, 0]; n < height || m < width;) {
    if (paired(n, m) === away[n][m]) lines.push([expected[n] === observed[m] ? "=" : "≠", expected[n++], observed[m++]]);
    else if (m === width || (n < height && away[n + 1][m] < away[n][m])) lines.push(["-", expected[n++], null]);
    else lines.push(["+", null, observed[m++]]);
  }
  return lines;
}
