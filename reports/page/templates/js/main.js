// Wiring: fields, rows, keys, theme and the address.
const THEMES = { "": "Auto", light: "Light", dark: "Dark" };

function follow() {
  const { view: asked, clause, state, foreign, strange } = readAddress();
  byId("unknown").replaceChildren(...strange);
  byId("unknown").hidden = !strange;
  showView(foreign ? "" : asked);
  if (foreign) return followAnchor(foreign);
  following = true;
  writeFields(state);
  DRAWN[view]();
  if (clause) {
    if (!view) showAllRows(); // its row, to which the reader comes back, may be far down
    showClause(clause);
  } else hideClause();
  following = false;
}

/** Go to an anchor of the page itself, such as that of the disagreements. */
function followAnchor(name) {
  hideClause();
  byId(name).scrollIntoView();
}

function openRow(row) {
  writeAddress(row.id, true);
  showClause(row.id);
}

function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  byId("theme").querySelector(".name").textContent = THEMES[name];
}

function storedTheme(value) {
  try {
    if (value === undefined) return localStorage.getItem("theme") || "";
    localStorage.setItem("theme", value);
  } catch {
    // a browser that stores nothing for local files: the choice lasts as long as the page
  }
  return value || "";
}

function moveFocus(step) {
  const links = [...document.querySelectorAll(".row:not([hidden]) > th > a")]; // as shown, not as in the catalogue
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + step))];
  if (next) {
    next.focus({ preventScroll: true });
    next.closest("tr").scrollIntoView({ block: "nearest" });
  }
}

document.querySelector(".matrix").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  const link = event.target.closest("a");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!link && String(getSelection())) return; // someone is copying text
  event.preventDefault();
  openRow(row);
});
document.querySelector(".matrix").addEventListener("mouseover", (event) => {
  const cell = event.target.closest("td");
  if (cell && !cell.title) cell.title = cell.querySelector(".vh").textContent;
});
document.addEventListener("keydown", (event) => {
  if (drawer.open || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    byId("q").focus();
    byId("q").select();
  } else if (event.key === "Escape" && event.target.id === "q" && byId("q").value) {
    event.preventDefault();
    byId("q").value = "";
    asked();
  } else if (event.key === "ArrowDown" && event.target.id === "q") {
    event.preventDefault();
    if (view) asked();
    moveFocus(1);
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest(".row")) {
    event.preventDefault();
    moveFocus(event.key === "ArrowDown" ? 1 : -1);
  }
});
/** What is typed into the search is answered by the matrix, whatever view is open; going back leads to that view. */
function asked() {
  if (view) {
    showView("");
    writeAddress("", true);
  }
  filtersChanged();
}

document.querySelector(".ask").addEventListener("input", asked);
document.querySelector(".ask").addEventListener("submit", (event) => {
  event.preventDefault();
  if (view) asked();
  const first = byId("q").value && results.querySelector(".row:not([hidden])");
  if (first) openRow(first);
  else moveFocus(1);
});
const form = document.querySelector(".tools");
form.addEventListener("input", filtersChanged);
form.addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", (event) => {
  event.preventDefault();
  clearFilters();
  byId("q").focus();
});
byId("none-reset").addEventListener("click", clearFilters);
for (const count of document.querySelectorAll(".count")) {
  count.addEventListener("click", () => {
    const on = count.getAttribute("aria-pressed") === "true";
    setFilters(on ? { verdict: "", on: "" } : { verdict: count.dataset.verdict, on: count.dataset.on });
  });
}
if (byId("nearest")) {
  byId("nearest").addEventListener("click", (event) => setFilters({ from: event.target.dataset.from, to: event.target.dataset.to }));
}
if (byId("claims")) byId("claims").addEventListener("click", () => pane.focus());
byId("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(document.documentElement.dataset.theme || "") + 1) % names.length];
  storedTheme(next);
  setTheme(next);
});
addEventListener("hashchange", follow);
addEventListener("popstate", follow);
addEventListener("beforeprint", () => view || showAllRows());

new ResizeObserver(() => {
  document.documentElement.style.setProperty("--tools", form.offsetHeight + "px"); // the filters may take two lines
}).observe(form);
setTheme(Object.hasOwn(THEMES, storedTheme()) ? storedTheme() : "");
const pane = byId("matrix");
pane.scrollLeft = pane.scrollWidth; // where not all versions have room, the newest first
listDisagreements();
follow();
document.documentElement.dataset.ready = "1";
