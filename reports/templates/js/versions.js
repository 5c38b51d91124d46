// Versions of torch, as reports/atlas.py reads them, and traces side by side.

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

/** Return the numbers of a version, whether it comes before its release, and whether it is somebody's own; or nothing. */
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

/** Return the recorded column that a torch is held against: its own release, else the newest that is not newer, else the oldest. */
function nearestTo(torch) {
  const version = versionOf(torch);
  const recorded = COLUMNS.filter((column) => !column.run);
  const own = recorded.find((column) => version.release && column.key === minorOf(version));
  const older = recorded.filter((column) => !isNewer(versionOf(column.torch), version));
  return own || older[older.length - 1] || recorded[0] || COLUMNS[0];
}

const WIDEST = 400; // lines; longer traces are paired as they stand

/** Return both traces side by side, as reports/details.py does: "=" equal, "≠" changed, "-" and "+" on one side only. */
function aligned(expected, observed) {
  const lines = [];
  let [left, right] = [[], []];
  const flush = () => {
    for (let n = 0; n < Math.max(left.length, right.length); n++) {
      const [one, two] = [left[n] ?? null, right[n] ?? null];
      lines.push([one === two ? "=" : one === null ? "+" : two === null ? "-" : "≠", one, two]);
    }
    [left, right] = [[], []];
  };
  if (Math.max(expected.length, observed.length) > WIDEST) {
    [left, right] = [expected, observed];
    flush();
    return lines;
  }
  const longest = expected.map(() => null).concat([null]).map(() => new Uint16Array(observed.length + 1));
  for (let n = expected.length - 1; n >= 0; n--) {
    for (let m = observed.length - 1; m >= 0; m--) {
      longest[n][m] = expected[n] === observed[m] ? longest[n + 1][m + 1] + 1 : Math.max(longest[n + 1][m], longest[n][m + 1]);
    }
  }
  let [n, m] = [0, 0];
  while (n < expected.length || m < observed.length) {
    if (n < expected.length && m < observed.length && expected[n] === observed[m]) {
      flush();
      lines.push(["=", expected[n++], observed[m++]]);
    } else if (m === observed.length || (n < expected.length && longest[n + 1][m] >= longest[n][m + 1])) left.push(expected[n++]);
    else right.push(observed[m++]);
  }
  flush();
  return lines;
}
