// The address after # holds the view or the open clause, and what is chosen there: "#clause-id?q=words&from=1.13&to=2.0",
// "#upgrade?from=1.13&to=2.15". A clause opened in a view names the view too. The view without a name is the matrix.
const FIELDS = {
  "": ["q", "chapter", "verdict", "on", "from", "to", "mode", "docs"],
  rely: ["from", "to", "mode", "chapter", "api", "clause", "q", "tutorial"],
  upgrade: ["from", "from-mode", "to", "to-mode", "chapter", "api", "clause", "q", "tutorial"],
  card: ["api", "on"],
  build: [],
  why: ["symptom"],
  scope: [],
  modes: [],
  others: [],
  disagreements: [],
  costs: [],
};
let view = "";
let following = false;
const field = (name) => byId(view ? `${view}-${name}` : name);
const boxesOf = (group) => [...group.querySelectorAll("input[type=checkbox]")];

function valueOf(input) {
  if (input.type === "checkbox") return input.checked ? "1" : "";
  if (input.type !== "fieldset") return input.value.trim();
  return boxesOf(input).filter((box) => box.checked).map((box) => box.value).join(" ");
}

function readFields() {
  const state = {};
  for (const name of FIELDS[view]) {
    const input = field(name);
    if (!input) continue;
    const value = valueOf(input);
    const plain = name === "mode" && value === DATA.modes[0];
    if (value && !plain) state[name] = value;
  }
  return state;
}

function writeFields(state) {
  for (const name of FIELDS[view]) {
    const input = field(name);
    if (!input) continue;
    const asked = (state[name] || "").split(" ");
    if (input.type === "checkbox") input.checked = Boolean(state[name]);
    else if (input.type === "fieldset") for (const box of boxesOf(input)) box.checked = asked.includes(box.value);
    else writeField(input, state[name] || (name === "mode" ? DATA.modes[0] : ""));
  }
}

function writeField(input, value) {
  input.value = value;
  if (input.value || input.tagName !== "SELECT") return;
  input.value = input.dataset.usual || ""; // nothing in the address, or an unknown value
  if (!input.value) input.selectedIndex = 0;
}

function readAddress() {
  const hash = location.hash.slice(1);
  const cut = hash.indexOf("?");
  const name = decode(cut < 0 ? hash : hash.slice(0, cut));
  const params = new URLSearchParams(cut < 0 ? "" : hash.slice(cut + 1));
  const clause = Object.hasOwn(DATA.clauses, name) ? name : "";
  const within = (clause ? params.get("view") : name) || "";
  const asked = Object.hasOwn(FIELDS, within) && (!within || byId("view-" + within)) ? within : "";
  const foreign = !clause && !asked && cut < 0 && document.getElementById(name) ? name : "";
  const state = Object.fromEntries(FIELDS[asked].map((field) => [field, params.get(field) || ""]));
  return { view: asked, clause, foreign, state, strange: foreign || clause || asked ? strangeField(asked, params) : strangeName(name) || strangeField("", params) };
}

/** Return what is wrong with a name that leads nowhere, as one line with the nearest; nothing for that of the matrix. */
function strangeName(name) {
  if (!name) return "";
  const near = nearest(name, [...Object.keys(DATA.clauses), ...Object.keys(FIELDS).filter((each) => byId("view-" + each))]);
  const link = near ? ["; the nearest is ", el("a", { href: "#" + near, text: near })] : [];
  return [`There is no clause and no view “${name}” here`, ...link, ". Below are all clauses."];
}

function strangeField(asked, params) {
  const known = [...FIELDS[asked], "view"];
  const name = [...params.keys()].find((key) => !known.includes(key));
  if (name === undefined) return "";
  const near = nearest(name, known);
  return [`This address asks for “${name}”, which is not understood here${near ? `; the nearest is ${near}` : ""}. It was left out.`];
}

/** Return the known name that shares the most pairs of letters with the one that was asked for; nothing below a third. */
function nearest(asked, known) {
  const pairsOf = (text) => new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
  const wanted = pairsOf(asked.slice(0, 200).toLowerCase());
  const likeness = (name) => {
    const pairs = pairsOf(name);
    return (2 * [...pairs].filter((pair) => wanted.has(pair)).length) / (pairs.size + wanted.size || 1);
  };
  const [best, found] = known.reduce(([most, name], each) => (likeness(each) > most ? [likeness(each), each] : [most, name]), [1 / 3, ""]);
  return best > 1 / 3 ? found : "";
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function addressOf(clause, state) {
  const params = new URLSearchParams(clause && view ? { view, ...state } : state).toString();
  return "#" + (clause || view) + (params ? "?" + params : "");
}

/** Put the present state into the address; opening a clause adds to the history, typing does not. */
function writeAddress(clause, push = false) {
  const state = readFields();
  const address = addressOf(clause, state);
  const link = document.querySelector(`.views [data-view="${view}"]`);
  link.setAttribute("href", addressOf("", state)); // who comes back to the view finds it as it was
  if (address === (location.hash || "#")) return;
  if (!following) byId("unknown").hidden = true; // the reader went on
  history[push ? "pushState" : "replaceState"](null, "", address === "#" ? location.pathname + location.search : address);
}
