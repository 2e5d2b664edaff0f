// Tables as files, with every digit and unchanged ids.

const FIELDS = ["measure", "baseline", "run", "word", "baseline_mean", "run_mean", "difference", "low", "high", "level", "p", "effect", "wins", "ties", "losses", "queries", "queries_needed", "sentence", "qualification"];

/** The tables: a name, a description, and a function that returns {columns, rows}. */
function tablesToSave() {
  const tables = [
    ["runs", "means, verdicts and signatures: one row per run and measure", runsTable],
    ["scores", "one row per run and query, one column per measure", scoresTable],
    ["coverage", "coverage of each run", () => report.coverage],
  ];
  if (compared) {
    tables.splice(2, 0, ["differences", "one row per query, run and measure, compared with the baseline", differencesTable]);
    tables.splice(3, 0, ["verdicts", "one row per comparison", verdictsTable]);
  }
  if (report.slices) tables.push(["slices", "the comparisons within groups of queries", () => report.slices]);
  for (const { title, columns, rows } of report.assessors ? [{ ...report.assessors.coefficients, title: "agreement of assessors" }, ...report.assessors.tables] : []) {
    tables.push([title.replace(/,.*/, ""), "of the assessors", () => ({ columns, rows })]);
  }
  if (report.log) tables.push(["click log", "documents and clicks by rank", () => report.log]);
  return tables;
}

function runsTable() {
  const rows = report.runs.flatMap(({ name, means, marks, best, signatures }) =>
    report.measures.map((measure, at) => [name, measure, means[at], marks[at], best[at], signatures[at]]));
  return { columns: ["run", "measure", "mean", "mark", "best", "signature"], rows };
}

function scoresTable() {
  const rows = names.flatMap((name, run) =>
    report.queries.map(({ id }, query) => [name, id, ...report.measures.map((_, measure) => scoreOf(run, query, measure))]));
  return { columns: ["run", "query", ...report.measures], rows };
}

function differencesTable() {
  const rows = report.measures.flatMap((measure, at) =>
    runsBut(baseline).flatMap(([run, name]) =>
      report.queries.map(({ id }, query) =>
        [measure, report.baseline, name, id, scoreOf(baseline, query, at), scoreOf(run, query, at), differenceOf(baseline, run, query, at)])));
  return { columns: ["measure", "baseline", "run", "query", "baseline_score", "run_score", "difference"], rows };
}

const verdictsTable = () => ({ columns: FIELDS, rows: report.verdicts.map((each) => FIELDS.map((field) => each[field])) });

/** RFC 4180. Nothing is put before a cell that looks like a formula: that would be other data. */
function csv({ columns, rows }) {
  return [columns, ...rows].map((row) => row.map(csvCell).join(",") + "\r\n").join("");
}

function csvCell(cell) {
  if (cell === null || cell === undefined) return "";
  const text = String(cell);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function json({ columns, rows }) {
  const records = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])));
  return `${JSON.stringify(records, null, 1)}\n`;
}

const WRITERS = { csv: [csv, "text/csv;charset=utf-8"], json: [json, "application/json"] };

function save(name, make, format) {
  const [write, type] = WRITERS[format];
  const address = URL.createObjectURL(new Blob([write(make())], { type }));
  const stem = report.title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  h("a", { href: address, download: `${stem || "report"}-${name}.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function downloadsSection() {
  const items = tablesToSave().map(([name, what, make]) => {
    const button = (format) =>
      h("button", { type: "button", class: "plain", "aria-label": `Download ${name} as ${format.toUpperCase()}`, onclick: () => save(name, make, format) }, format.toUpperCase());
    return h("li", null, h("div", null, h("strong", null, name), h("span", { class: "quiet" }, ` ${what}`)), h("div", { class: "buttons" }, button("csv"), button("json")));
  });
  const text = lead("All tables on this page, with every digit. Ids and texts are unchanged, even if a spreadsheet would read them as formulas, so import these files as text.");
  return section("downloads", "Downloads", text, h("ul", { class: "downloads" }, ...items));
}
