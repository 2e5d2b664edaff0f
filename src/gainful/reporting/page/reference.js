// What the numbers rest on: curves, distributions, slices, coverage, policy, signatures.

function curveSection() {
  if (!report.curve) return null;
  const { measure, rows, why } = report.curve;
  const drawn = chart({
    name: "curve",
    rows: () => rows,
    label: () => `Mean ${measure} of each run at each cutoff k`,
    columns: [["run", "run"], ["k", "k", "whole"], ["value", measure, true]],
    words: () => ({ nDCG: measure }),
    nothing: "There is nothing to draw: no run has a mean.",
  });
  return section("curve", `${measure} over k`, lead("How the mean changes with the number of ranks that count."), drawn.element, notesList(why ? [why] : []));
}

function distributionSection() {
  const rows = () =>
    names.flatMap((run, at) =>
      report.scores[state.measure][at].flatMap((score, query) =>
        score === null ? [] : [{ run, score, query: report.queries[query].id }]));
  const drawn = chart({
    name: "distribution",
    rows,
    label: () => `How the scores of the queries under ${measureName()} are spread, for each run`,
    columns: [["query", "query"], ["run", "run"], ["score", "score", true]],
    words: () => ({ score: measureName() }),
  });
  on(["measure"], () => drawn.refresh());
  return section("scores", "Distribution of scores", lead("How many queries have which score; a mean can hide two crowds."), drawn.element);
}

function slicesSection() {
  if (!report.slices || !report.slices.rows.length) return null;
  const { columns, rows, notes, digits } = report.slices;
  const text = lead("The same comparison within groups of queries.");
  const made = plainTable("Differences within slices of the queries", columns, rows, { unseenCaption: true, className: "tall", digits });
  return section("slices", "Slices", text, made.element, notesList(notes));
}

function coverageSection() {
  const { columns, rows, notes, digits } = report.coverage;
  const text = lead(measured ? "What was there to be measured, and how far the numbers could move if every document had a grade." : "What was there to be compared.");
  const made = plainTable("What each run covers", columns, rows, { unseenCaption: true, sort: false, digits });
  return section("coverage", "Coverage", text, made.element, notesList(notes));
}

function policySection() {
  const columns = [
    { label: "choice", head: true, sort: false, value: ({ name }) => name },
    { label: "answer", sort: false, value: ({ answer }) => answer, cell: answerCell },
    { label: "what it means", sort: false, kind: "wrap", value: ({ meaning }) => meaning },
  ];
  const made = report.policy.length && table({ caption: "Choices that are not a measure's", columns, rows: report.policy, unseenCaption: true });
  const settings = report.settings ? [h("h3", null, "Settings of the comparison"), h("p", null, h("code", null, said(report.settings)))] : [];
  const shown = new Set([...report.verdicts.map(({ sentence }) => sentence), `settings: ${report.settings}`, report.method]);
  const notes = report.notes.filter((note) => note && !shown.has(note) && !note.startsWith("policy: "));
  return section(
    "policy",
    "Policy and signatures",
    lead("Everything that pins the numbers down: with the same files and these choices, they come out the same."),
    ...(made ? [made.element] : []),
    ...settings,
    ...(measured ? [h("details", { class: "all-signatures" }, h("summary", null, `Signatures of all ${plural(names.length * report.measures.length, "number")}`), h("dl", { class: "signatures" }, ...report.runs.flatMap(signaturesOf)))] : []),
    ...(notes.length ? [h("h3", null, "Notes"), notesList(notes)] : []),
  );
}

function answerCell(choice) {
  const tag = choice.default ? null : h("span", { class: "tag" }, "not the default");
  return h("span", null, h("code", null, String(choice.answer)), " ", tag);
}

function signaturesOf({ name, signatures }) {
  return [h("dt", null, said(name, { class: "name" })), ...signatures.map((text) => h("dd", null, h("code", null, said(text))))];
}
