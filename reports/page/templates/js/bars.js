// The bars of the matrix in another mode than the first, which the page holds. The same rules as in reports/page/matrix.py.

/** Return neighbouring columns that are drawn as one: [first, how many, cell]. A run of your own is never joined with others. */
function barsOf(clause, mode) {
  const bars = [];
  let [first, before] = [0, ""];
  for (const [count, verdict, reading, more = {}] of clause.cells[mode]) {
    const drawn = JSON.stringify([verdict, reading, more.declared, more.deviation, more.holds, more.note, COLUMNS[first].run && first]);
    if (drawn === before) bars[bars.length - 1][1] += count;
    else bars.push([first, count, { verdict, reading, ...more }]);
    [first, before] = [first + count, drawn];
  }
  return bars;
}

function barView(clause, [first, count, cell]) {
  const name = cell.reading < 0 ? "" : clause.readings[cell.reading].name;
  const good = cell.verdict === "conforms";
  const { answer } = statementOf(clause, cell);
  let [number, word, spoken] = ["", answer, answer + (isNew(cell) ? ", not declared" : "")];
  if (name && clause.claim) {
    if (good) word = name;
    spoken = good ? `the claim is ${name}` : `${spoken} from: ${name}`;
  } else if (name && clause.varies) {
    if (good) word = name;
    number = numberOf(cell.reading);
    spoken += `, reading ${cell.reading + 1}: ${name}`;
  }
  if (cell.note) spoken += ` (${cell.note})`;
  const { run } = COLUMNS[first];
  const roomy = run || count >= DATA.roomy[0] || COLUMNS.length <= DATA.roomy[1];
  const shown = [el("i", { text: DATA.signs[answer] }), number ? el("i", { text: number }) : "", ...(roomy ? [" ", el("b", { text: word })] : [])];
  return el("td", { colspan: count > 1 && count, class: kindOf(clause, cell) + (run ? " own" : "") },
    el("span", { class: "g", "aria-hidden": "true" }, ...shown),
    el("span", { class: "vh", text: `${spoken}; torch ${spanOf(first, first + count - 1)}` }));
}

/** Replace the bars by those of a mode. */
function drawBars(entry, mode) {
  if (entry.drawn === mode) return;
  entry.drawn = mode;
  entry.row.replaceChildren(entry.row.cells[0], ...barsOf(entry.clause, mode).map((bar) => barView(entry.clause, bar)));
}
