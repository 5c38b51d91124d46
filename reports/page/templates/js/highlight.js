// Light colouring of Python text, worked out when it is opened.
const KEYWORDS =
  "False None True and as assert async await break class continue def del " +
  "elif else except finally for from global if import in is lambda " +
  "nonlocal not or pass raise return try while with yield";
const KINDS = ["comment", "string", "decorator", "number", "keyword", "name"];
// One group for each kind, in that order.
const TOKENS = new RegExp(
  [
    /(#[^\n]*)/,
    /([rRbBfFuU]{0,2}(?:'{3}(?:\\[^]|[^\\])*?'{3}|"{3}(?:\\[^]|[^\\])*?"{3}|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*"))/,
    /(^[ \t]*@[\w.]+)/,
    /(\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/,
    new RegExp(`(\\b(?:${KEYWORDS.replaceAll(" ", "|")})\\b)`),
    /(?<=\bdef )(\w+)/,
  ].map((part) => part.source).join("|"),
  "gm",
);

const LONGEST = 20_000; // signs; quotes that never end would keep the page busy for seconds in a longer text

/** Return the parts of a Python text, lightly coloured. */
function coloured(text) {
  if (text.length > LONGEST) return [text];
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    const kind = KINDS[match.slice(1).findIndex((group) => group !== undefined)];
    parts.push(text.slice(at, match.index), el("span", { class: "k-" + kind, text: match[0] }));
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}
