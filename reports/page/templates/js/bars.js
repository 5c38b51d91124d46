// The bars of the matrix: what neighbouring columns say.
const ROOMY = 3; // columns that have room for a word, or one where there are FEW
const FEW = 8;

/** Return neighbouring columns that are drawn as one: [first, last, cell]. A run of your own is never joined with others. */
function barsOf(clause, mode) {
  const bars = [];
  for (const [first, last, cell] of clause.cells[mode]) {
    const before = bars[bars.length - 1];
    if (before && before[2].place === cell.place && !COLUMNS[first].run && !COLUMNS[first - 1].run) before[1] = last;
    else bars.push([first, last, cell]);
  }
  return bars;
}

function barView(clause, [first, last, cell]) {
  const { answer, reading, word = answer, words = answer, spoken = words, note } = cell;
  const [count, { run }] = [last - first + 1, COLUMNS[first]];
  const roomy = run || count >= ROOMY || COLUMNS.length <= FEW;
  return el("td", { colspan: count > 1 && count, class: kindOf(cell) + (run ? " own" : "") },
    el("span", { class: "g", "aria-hidden": "true" },
      el("i", { text: DATA.signs[answer] }),
      clause.varies && reading >= 0 ? el("i", { text: numberOf(reading) }) : null,
      ...(roomy ? [" ", el("b", { text: word })] : [])),
    el("span", { class: "vh", text: `${spoken}${note ? ` (${note})` : ""}; ${torchOf(spanOf(first, last))}` }));
}

/** Draw the bars of a mode, in place of those of another. */
function drawBars(entry, mode) {
  if (entry.drawn === mode) return;
  entry.drawn = mode;
  entry.row.replaceChildren(entry.row.cells[0], ...barsOf(entry.clause, mode).map((bar) => barView(entry.clause, bar)));
}
