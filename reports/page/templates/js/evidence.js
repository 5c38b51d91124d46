// Code, traces and what a deviation shows.

/** Return a button that copies a text, and says so. */
function button(label, text) {
  const made = el("button", { type: "button", class: "quiet", text: label });
  made.addEventListener("click", async () => {
    made.textContent = (await copied(text())) ? "Copied" : "Select and copy by hand";
    setTimeout(() => (made.textContent = label), 1600);
  });
  return made;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "vh" }); // an older browser, or one that guards the clipboard
    area.value = text;
    (drawer.open ? drawer : document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Show code under its name, with a button that copies it. */
function codeBlock(name, text) {
  const pre = el("pre", { tabindex: "0", role: "group", "aria-label": name, class: text.includes("\n") ? null : "wrap" });
  pre.append(...coloured(text));
  const head = el("div", { class: "code-head" }, el("h4", { text: name }), button("Copy", () => text));
  return el("div", { class: "code" }, head, pre);
}

const SIGN_WORDS = { "=": "same", "≠": "different", "-": "expected only", "+": "observed only" };

function traceView(lines) {
  const body = el("tbody");
  for (const [sign, expected, observed] of lines) {
    body.append(el("tr", { class: sign === "=" ? null : "diff" },
      el("td", { class: expected === null ? "gone" : null, text: expected ?? "" }),
      el("td", { class: "sign" }, el("span", { "aria-hidden": "true", text: sign === "=" ? "" : sign }), el("span", { class: "vh", text: SIGN_WORDS[sign] })),
      el("td", { class: observed === null ? "gone" : null, text: observed ?? "" })));
  }
  const head = el("tr", {}, el("th", { scope: "col", text: "expected by the clause" }), el("th", {}, el("span", { class: "vh", text: "difference" })), el("th", { scope: "col", text: "observed on torch" }));
  return el("div", { class: "trace", tabindex: "0", role: "group", "aria-label": "Traces side by side" },
    el("table", {}, el("thead", {}, head), body));
}

/** Show what the test said; closed where the traces above say it better. */
function messageView(message, open) {
  return el("details", { open, class: "message" }, el("summary", { text: "What the test said" }), el("pre", { class: "wrap", text: message }));
}

/** Show each piece of evidence once, with the versions that it was seen on. */
function deviations(clause, mode) {
  const seen = new Map();
  for (const [first, last, cell] of clause.cells[mode]) {
    if (cell.evidence === undefined || COLUMNS[first].run) continue; // that of a run comes first: see ownView
    if (!seen.has(cell.evidence)) seen.set(cell.evidence, { cell, where: [] });
    seen.get(cell.evidence).where.push(spanOf(first, last));
  }
  const parts = [];
  for (const [place, { cell, where }] of seen) {
    parts.push(el("h3", { text: `What shows it on torch ${where.join(", ")}` }));
    if (cell.declared) parts.push(el("p", { text: "A declared deviation: known, and replayed on every run." }));
    parts.push(...evidenceView(DATA.evidence[place]));
  }
  return parts;
}

/** Return the evidence of a cell, which is stored once and named by its place. */
const evidenceOf = (cell) => (cell.evidence === undefined ? undefined : DATA.evidence[cell.evidence]);

function evidenceView(found) {
  const parts = [];
  if (found.plan) parts.push(codeBlock("Plan", found.plan));
  if (found.lines.length) parts.push(el("h4", { text: "Traces" }), traceView(found.lines));
  if (found.reproducer) parts.push(codeBlock("Reproducer, needs torch only", textOf(found.reproducer)));
  if (found.message) parts.push(messageView(found.message, found.lines.length === 0));
  return parts;
}
