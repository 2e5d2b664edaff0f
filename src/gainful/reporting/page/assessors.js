// Several assessors: how far they agree, on which queries, and which conclusions depend on them.

function assessorsSection() {
  const found = report.assessors;
  if (!found) return null;
  const text = lead(found.summary, ".", ...(found.remark ? [" ", said(found.remark), "."] : []));
  const known = new Map(report.queries.map(({ id }, query) => [id, query]));
  const { columns, rows, notes, digits } = found.coefficients;
  return section(
    "assessors",
    "Assessors",
    text,
    changedLine(found),
    plainTable("Coefficients of agreement", columns, rows, { sort: false, unseenCaption: true, digits }).element,
    notesList(notes.filter((note) => note !== found.summary && note !== found.remark)),
    ...confusionPart(found),
    ...queryPart(found, known),
    ...meansPart(found),
    ...found.tables.flatMap(tablePart),
  );
}

/** How many verdicts change under a single assessor's grades. */
function changedLine({ changed, verdicts }) {
  if (changed === null) return null;
  if (!changed) return h("p", null, `No verdict depends on the assessor: all ${plural(verdicts, "verdict")} by single assessors are the same as with the merged grades.`);
  return h("p", null, h("strong", null, `${whole(changed)} of the ${plural(verdicts, "verdict")} by single assessors`), ` ${changed === 1 ? "differs" : "differ"} from the verdict under the merged grades.`);
}

function confusionPart({ confusion }) {
  if (!confusion.length) return [];
  const drawn = chart({
    name: "confusion",
    rows: () => confusion,
    label: () => "How often each pair of grades occurs on the same document, as the mean share of its pairs; a table below has the numbers",
  });
  return [h("h3", null, "Pairs of grades"), drawn.element];
}

function queryPart({ queries, queries_note: note }, known) {
  if (!queries.length) return [];
  const rows = queries.map((row) => ({ ...row, index: known.get(row.query) }));
  const drawn = chart({
    name: "query_agreement",
    rows: () => rows,
    label: () => "The share of pairs of assessors who agree, for each query, from the least to the most",
    click: ({ index }) => index !== undefined && (location.hash = queryHash(index)),
  });
  const columns = [
    { label: "query", head: true, value: ({ query }) => query, cell: ({ query, index }) => (index === undefined ? said(query) : queryLink(index)) },
    { label: "agreement", number: true, digits: 3, value: ({ agreement }) => agreement },
    { label: "documents of several", number: true, digits: 0, value: ({ shared }) => shared },
    { label: "mean span", number: true, digits: 2, value: ({ spread }) => spread },
  ];
  const made = table({ caption: "How far assessors agree on each query", columns, rows, unseenCaption: true, className: "tall" });
  return [h("h3", null, "Agreement by query"), drawn.element, made.element, notesList(note ? [note] : [])];
}

function meansPart({ means }) {
  if (!means.length) return [];
  const rows = () => means.filter(({ measure }) => measure === measureName());
  const drawn = chart({
    name: "assessor_means",
    rows,
    label: () => `Mean ${measureName()} of each run by the grades of each assessor; the table below has the numbers`,
    words: () => ({ score: measureName() }),
    nothing: "Nothing to draw: this measure was not computed by assessor.",
  });
  on(["measure"], () => drawn.refresh());
  return [h("h3", null, "Runs by assessor"), lead("Where lines cross, the order of the runs depends on the assessor."), drawn.element];
}

function tablePart({ title, columns, rows, notes, digits }) {
  const said = title[0].toUpperCase() + title.slice(1);
  return [h("h3", null, said), plainTable(said, columns, rows, { unseenCaption: true, digits, named: true }).element, notesList(notes)];
}
