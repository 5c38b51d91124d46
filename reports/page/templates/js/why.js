// Why: what people see. The search proposes what fits, as reports/search/ask.py finds it.

/** Return the link from a question to what people see, and an answer that is no clause, with its program. */
function causesView({ symptom, answer }) {
  const group = symptom === null ? null : document.querySelectorAll("#view-why .group")[symptom];
  const link = group && el("a", { href: `#why?symptom=${group.id.slice("why-".length)}`, text: group.querySelector("h3").textContent });
  const code = answer && el("div", { class: "code" }, el("pre", { tabindex: "0", text: answer.text }));
  const program = answer && el("details", { id: "answer" }, el("summary", { text: answer.says }), code);
  return [program, link && el("div", {}, "Usual causes: ", link)].filter(Boolean);
}

/** Open what the address asks for. */
function drawWhy() {
  const box = document.getElementById(`why-${byId("why-symptom").value}`);
  if (!box) return;
  box.open = true;
  box.scrollIntoView();
  box.querySelector("summary").focus({ preventScroll: true });
}
