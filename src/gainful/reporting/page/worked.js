// The arithmetic of a query, as `gainful explain` writes it.

/** The headings of the steps; "" for what is not shown. */
function headings({ columns }) {
  const [worth, weight, sum] = columns ?? ["gain", "discount", "sum"];
  return ["i", "doc", "grade", worth, weight, weight && sum ? "contribution" : "", sum];
}

function workedTables(detail, runs) {
  const measure = report.measures[report.primary];
  if (!detail.conventions) {
    const values = runs.map((run) => h("li", null, said(typeset(detail.conclusions[run]))));
    return [lead(`${measure} has no step-by-step table.`), h("ul", { class: "conclusions" }, ...values)];
  }
  const lists = runs.map((run) => {
    const { rows, total, missing } = detail.lists[run];
    const steps = rows.map(([doc, first, last, ...numbers]) => [rankText(first, last), detail.docs[doc], numbers]);
    const made = missing ? h("h4", null, said(names[run], { class: "name" })) : stepsTable(names[run], steps, total, headings(detail));
    return h("div", { class: "worked" }, made, h("p", { class: "conclusion" }, said(typeset(detail.conclusions[run]))));
  });
  const ideal = detail.ideal ? h("div", { class: "worked" }, idealTable(detail)) : null;
  return [lead(said(detail.conventions)), h("div", { class: "workings" }, ...lists, ideal)];
}

function idealTable(detail) {
  const steps = detail.ideal.rows.map(([doc, rank, ...numbers]) => [String(rank), doc === null ? null : detail.docs[doc], numbers]);
  return stepsTable(`${idealName(detail)}: ${detail.ideal.pool}, best first`, steps, detail.ideal.total, headings(detail));
}

/** Whose ideal it is, where each run has its own. */
const idealName = ({ ideal }) => (ideal.run === null ? "ideal" : `ideal of ${names[ideal.run]}`);

function stepsTable(title, steps, total, columns) {
  const caption = h("caption", null, said(title));
  const shown = (cells) => cells.filter((_, at) => columns[at]);
  const head = shown(columns.map((name, at) => h("th", { scope: "col", class: at === 1 ? null : "number" }, name)));
  const rows = steps.map(([rank, doc, [gain, ...numbers]]) =>
    h(
      "tr",
      null,
      ...shown([
        h("td", { class: "number" }, rank),
        h("td", { class: "doc-id" }, doc ? said(doc[0]) : ""),
        h("td", { class: "number" }, doc ? gradeText(doc[1]) : ""),
        h("td", { class: "number" }, unrounded(gain)),
        ...numbers.map((number) => h("td", { class: "number" }, thousandths(number))),
      ]),
    ),
  );
  const sum = h("tr", null, h("th", { scope: "row", colspan: String(head.length - 1) }, "total"), h("td", { class: "number" }, thousandths(total)));
  const foot = total === null ? null : h("tfoot", null, sum);
  const made = h("table", { class: "steps" }, caption, h("thead", null, h("tr", null, ...head)), h("tbody", null, ...rows), foot);
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Step-by-step table: ${title}` }, made);
}

const thousandths = (number) => (number === null ? "" : minus(fixed(number, 3)));
const unrounded = (number) => (number === null ? "" : Number.isInteger(number) ? minus(String(number)) : thousandths(number));
const gradeText = (grade) => (grade === null ? "unjudged" : unrounded(grade));
