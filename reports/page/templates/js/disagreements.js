// Where torch and its documentation disagree: a list of its own, and a part of the clause.

/** Show what is documented, what torch does, where, and what else is known of it. */
function disagreementFacts(found) {
  const list = el("dl", { class: "facts" });
  const add = (term, ...content) => list.append(el("dt", { text: term }), el("dd", {}, ...content));
  const link = (href) => el("a", { href, rel: "noreferrer noopener", target: "_blank", text: href.replace("https://", "") });
  add("Documentation", found.documented, el("br"), link(found.address));
  add("torch", found.torch);
  if (!found.when.length) add("Versions", "not measured with the sentence of today");
  else add("Versions", ...found.when.map(([versions, says]) => el("div", { text: says ? `${versions}: ${says}` : versions })));
  if (found.see) add("See also", ...found.see.map((address) => el("div", {}, link(address))));
  if (found.doubt) add("Doubt", found.doubt);
  return list;
}

function disagreementView(id, found) {
  return [disagreementFacts(found), codeBlock(`${id}.py, needs torch only`, textOf(found.code))];
}

/** Fill the list of the page; a script is drawn when it is asked for. */
function listDisagreements() {
  for (const [id, found] of Object.entries(DATA.disagreements)) {
    const title = el("a", { href: "#" + id, text: found.says, onclick: (event) => openListed(event, id) });
    const script = el("details", {}, el("summary", {}, "Script", el("span", { class: "vh", text: `: ${found.says}` })));
    script.addEventListener("toggle", () => script.append(codeBlock(`${id}.py`, textOf(found.code))), { once: true });
    byId("disagreements-list").append(el("article", {}, el("h3", {}, title), disagreementFacts(found), script));
  }
}

/** Open a clause from a list, to which the focus goes back; a list in another clause is gone by then. */
function openListed(event, id) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  writeAddress(id, true);
  showClause(id, drawer.open ? undefined : event.currentTarget);
}
