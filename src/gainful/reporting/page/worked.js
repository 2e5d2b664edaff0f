// The arithmetic of a query, as `gainful explain` writes it.

const STEPS = ["i", "doc", "grade", "gain", "discount", "contribution", "sum"];

function workedTables(detail, runs) {
  const measure = report.measures[report.primary];
  if (!detail.lists.some(({ total }) => total !== null)) {
    const values = runs.map((run) => h("li", null, said(detail.conclusions[run])));
    return [lead(`${measure} is not a sum over ranks, so there is no table of its steps.`), h("ul", { class: "conclusions" }, ...values)];
  }
  const lists = runs.map((run) => {
    const { rows, total, missing } = detail.lists[run];
    const steps = rows.map(([doc, first, last, ...numbers]) => [rankText(first, last), detail.docs[doc], numbers]);
    const made = missing ? h("h4", null, said(names[run], { class: "name" })) : stepsTable(names[run], steps, total);
    return h("div", { class: "worked" }, made, h("p", { class: "conclusion" }, said(detail.conclusions[run])));
  });
  const ideal = detail.ideal ? h("div", { class: "worked" }, idealTable(detail)) : null;
  return [lead(said(detail.conventions)), h("div", { class: "workings" }, ...lists, ideal)];
}

function idealTable(detail) {
  const steps = detail.ideal.rows.map(([doc, rank, ...numbers]) => [String(rank), doc === null ? null : detail.docs[doc], numbers]);
  return stepsTable(`${idealName(detail)}: ${detail.ideal.pool}, best first`, steps, detail.ideal.total);
}

/** Whose ideal it is, where each run has its own. */
const idealName = ({ ideal }) => (ideal.run === null ? "the ideal" : `the ideal of ${names[ideal.run]}`);

function stepsTable(title, steps, total) {
  const caption = h("caption", null, said(title));
  const head = STEPS.map((name, at) => h("th", { scope: "col", class: at === 1 ? null : "number" }, name));
  const rows = steps.map(([rank, doc, [gain, ...numbers]]) =>
    h(
      "tr",
      null,
      h("td", { class: "number" }, rank),
      h("td", { class: "doc-id" }, doc ? said(doc[0]) : ""),
      h("td", { class: "number" }, doc ? gradeText(doc[1]) : ""),
      h("td", { class: "number" }, unrounded(gain)),
      ...numbers.map((number) => h("td", { class: "number" }, thousandths(number))),
    ),
  );
  const foot = h("tr", null, h("th", { scope: "row", colspan: "6" }, "total"), h("td", { class: "number" }, thousandths(total)));
  const made = h("table", { class: "steps" }, caption, h("thead", null, h("tr", null, ...head)), h("tbody", null, ...rows), h("tfoot", null, foot));
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Worked table: ${title}` }, made);
}

const thousandths = (number) => (number === null ? "" : minus(fixed(number, 3)));
const unrounded = (number) => (number === null ? "" : Number.isInteger(number) ? minus(String(number)) : thousandths(number));
const gradeText = (grade) => (grade === null ? "unjudged" : unrounded(grade));
