// The click log behind the judgments: what it contains, how far down users look, and anything odd.

function logSection() {
  const found = report.log;
  if (!found) return null;
  const drawn = chart({
    name: "examination",
    rows: () => found.chart.map((row) => ({ ...row, interval: row.low === undefined ? "none" : `${written(row.low)} to ${written(row.high)}` })),
    label: () => "How often users look at each rank, compared with the first, next to three discounts; a table below has the numbers",
  });
  return section(
    "log",
    "Click log",
    lead(`${found.summary}.`),
    ...(found.examination ? [h("p", null, said(`${found.examination}.`)), drawn.element] : []),
    plainTable("Clicks by rank", found.columns, found.rows, { sort: false, unseenCaption: true, digits: found.digits }).element,
    notesList([...found.oddities, ...found.notes]),
  );
}
