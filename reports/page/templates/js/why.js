// Why: what people see. The search proposes those that its words fit, the nearest as reports/verbs/why.py finds it.
const SYMPTOMS = [...document.querySelectorAll("#view-why .group")].map((box) =>
  ({ id: box.id.slice("why-".length), name: box.querySelector("h3").textContent, words: new Set(box.dataset.words.split(" ")) }));
const SPREAD = new Map();
for (const { words } of SYMPTOMS) for (const word of words) SPREAD.set(word, (SPREAD.get(word) || 0) + 1);
const LEAST = 2; // words that tell something and are shared: one alone, such as "hook", fits all

/** Return the symptoms that share the most with a question, rare words first; none where little of it is shared. */
function symptomsOf(question) {
  const said = [...new Set(plainWords(question).map(stemOf))];
  const telling = [...new Set(plainWords(question).filter((word) => !STOP.has(word)).map(stemOf))];
  const shared = ({ words }) => telling.filter((word) => words.has(word)).length;
  const mark = ({ words }) => said.filter((word) => words.has(word)).reduce((sum, word) => sum + Math.floor(60 / SPREAD.get(word)), 0);
  const most = Math.max(...SYMPTOMS.map(mark));
  return SYMPTOMS.filter((one) => mark(one) === most && shared(one) >= LEAST && 2 * shared(one) >= telling.length);
}

/** Return the links from a question to what people see. */
function causesView(question) {
  const links = (question ? symptomsOf(question) : []).map(({ id, name }) => el("a", { href: `#why?symptom=${id}`, text: name }));
  return links.length ? ["Usual causes: ", ...links.flatMap((link, place) => (place ? ["; ", link] : [link]))] : [];
}

/** Open what the address asks for. */
function drawWhy() {
  const box = document.getElementById(`why-${byId("why-symptom").value}`);
  if (!box) return;
  box.open = true;
  box.scrollIntoView();
  box.querySelector("summary").focus({ preventScroll: true });
}
