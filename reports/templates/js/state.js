// The address after # holds the open clause and the filters: "#clause-id?q=words&from=1.13&to=2.0".
const FIELDS = ["q", "chapter", "verdict", "on", "from", "to", "mode", "docs"];
const field = (name) => byId(name);

function readFields() {
  const state = {};
  for (const name of FIELDS) {
    const input = field(name);
    if (!input) continue;
    const value = input.type === "checkbox" ? (input.checked ? "1" : "") : input.value.trim();
    const plain = name === "mode" && value === DATA.modes[0];
    if (value && !plain) state[name] = value;
  }
  return state;
}

function writeFields(state) {
  for (const name of FIELDS) {
    const input = field(name);
    if (!input) continue;
    if (input.type === "checkbox") input.checked = Boolean(state[name]);
    else input.value = state[name] || (name === "mode" ? DATA.modes[0] : "");
    if (input.value === "" && input.tagName === "SELECT") input.selectedIndex = 0; // an unknown value in the address
  }
}

function readAddress() {
  const hash = location.hash.slice(1);
  const cut = hash.indexOf("?");
  const name = decode(cut < 0 ? hash : hash.slice(0, cut));
  const params = new URLSearchParams(cut < 0 ? "" : hash.slice(cut + 1));
  const clause = Object.hasOwn(DATA.clauses, name) ? name : "";
  const foreign = Boolean(name) && !clause && cut < 0 && document.getElementById(name) !== null;
  return { clause, foreign, state: Object.fromEntries(FIELDS.map((field) => [field, params.get(field) || ""])) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function addressOf(clause, state) {
  const params = new URLSearchParams(state).toString();
  return "#" + clause + (params ? "?" + params : "");
}

/** Put the present state into the address; opening a clause adds to the history, typing does not. */
function writeAddress(clause, push = false) {
  const address = addressOf(clause, readFields());
  if (address === (location.hash || "#")) return;
  history[push ? "pushState" : "replaceState"](null, "", address === "#" ? location.pathname + location.search : address);
}
