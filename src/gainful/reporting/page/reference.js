// Details behind the numbers: curves, distributions, slices, coverage, policy, signatures.

function curveSection() {
  if (!report.curve) return null;
  const { measure, rows, why, level } = report.curve;
  const interval = ({ low, high }) => (low === undefined || low === null ? "none" : `${written(low)} to ${written(high)}`);
  const shown = ranking.flatMap((run) => rows.filter((row) => row.run === names[run]).map((row) => ({ ...row, interval: interval(row) })));
  const banded = shown.some(({ low }) => low !== undefined && low !== null);
  const drawn = chart({
    name: "curve",
    rows: () => shown,
    label: () => `Mean ${measure} of each run at each cutoff k`,
    columns: [["run", "run"], ["k", "k", "whole"], ["value", measure, true], ...(banded ? [["interval", `${percent(level)} interval`]] : [])],
    words: () => ({ nDCG: measure }),
    nothing: "Nothing to draw: no run has a mean.",
  });
  const bands = banded ? ` Bands are ${percent(level)} intervals of each mean.` : "";
  const overlap = banded && compared ? " They may overlap even if a difference is clear, because all runs share the same hard and easy queries." : "";
  return section("curve", `${measure} over k`, lead(`How the mean changes with the number of ranks that count.${bands}${overlap}`), drawn.element, notesList(why ? [why] : []));
}

function distributionSection() {
  const rows = () =>
    ranking.flatMap((run) =>
      report.scores[state.measure][run].flatMap((score, query) =>
        score === null ? [] : [{ run: names[run], score, query: report.queries[query].id }]));
  const drawn = chart({
    name: "distribution",
    rows,
    label: () => `Distribution of each run's scores under ${measureName()}`,
    columns: [["query", "query"], ["run", "run"], ["score", "score", true]],
    words: () => ({ score: measureName() }),
  });
  on(["measure"], () => drawn.refresh());
  return section("scores", "Distribution of scores", lead("How per-query scores are distributed. The same mean can hide two very different groups."), drawn.element);
}

function slicesSection() {
  if (!report.slices || !report.slices.rows.length) return null;
  const { columns, rows, notes, digits } = report.slices;
  const text = lead("The same comparisons within groups of queries.");
  const made = plainTable("Differences by slice", columns, rows, { unseenCaption: true, className: "tall", digits });
  return section("slices", "Slices", text, made.element, notesList(notes));
}

function coverageSection() {
  const { columns, rows, notes, digits, unjudged, bounds } = report.coverage;
  const text = lead(measured ? "Which queries and documents could be scored, and how far the numbers could move if every document had a grade." : "Which queries each run covers.");
  const made = plainTable("Coverage of each run", columns, rows, { unseenCaption: true, sort: false, digits });
  return section("coverage", "Coverage", text, made.element, notesList(notes), ...boundsPart(bounds ?? []), ...unjudgedPart(unjudged ?? []));
}

/** How far the means could move, and the estimates between these bounds. */
function boundsPart(rows) {
  if (!rows.some(({ lowest, highest }) => lowest < highest)) return [];
  const measure = report.measures[report.primary];
  const shown = ranking.flatMap((run) => rows.filter((row) => row.run === names[run]));
  const estimated = shown.some(({ estimate }) => estimate !== null);
  const inside = estimated ? [["estimate", "estimate", true], ["low", "low", true], ["high", "high", true]] : [];
  const drawn = chart({
    name: "bounds",
    rows: () => shown,
    label: () => `The lowest and highest possible mean ${measure} of each run${estimated ? ", and estimates between them" : ""}`,
    columns: [["run", "run"], ["lowest", "at least", true], ["highest", "at most", true], ["value", "unjudged as 0", true], ...inside],
    words: () => ({ score: measure }),
  });
  const thick = estimated ? " The thick line is the interval of the estimate, and the dot is the estimate." : "";
  const text = lead(`The thin line reaches from the lowest to the highest possible mean, whatever the grades of the unjudged documents; the mark on it is the mean if these documents score 0.${thick}`);
  return [h("h3", null, "How far the means could move"), text, drawn.element];
}

/** Where in the lists the unjudged documents are. */
function unjudgedPart(rows) {
  if (!rows.some(({ share }) => share > 0)) return [];
  const shown = ranking.flatMap((run) => rows.filter((row) => row.run === names[run]));
  const drawn = chart({
    name: "unjudged",
    rows: () => shown,
    label: () => "Share of unjudged documents at each rank, for each run",
    columns: [["run", "run"], ["rank", "rank", "whole"], ["documents", "documents", "whole"], ["share", "unjudged", true]],
  });
  const text = lead("Unjudged documents score 0. A run with more of them near the top may be better than its score.");
  return [h("h3", null, "Unjudged documents by rank"), text, drawn.element];
}

function policySection() {
  const columns = [
    { label: "choice", head: true, sort: false, value: ({ name }) => name },
    { label: "setting", sort: false, value: ({ answer }) => answer, cell: answerCell },
    { label: "meaning", sort: false, kind: "wrap", value: ({ meaning }) => meaning },
  ];
  const made = report.policy.length && table({ caption: "Policy choices", columns, rows: report.policy, unseenCaption: true });
  const settings = report.settings ? [h("h3", null, "Settings of the comparison"), h("p", null, h("code", null, said(report.settings)))] : [];
  const shown = new Set([...report.verdicts.map(({ sentence }) => sentence), `settings: ${report.settings}`, report.method]);
  const notes = report.notes.filter((note) => note && !shown.has(note) && !note.startsWith("policy: "));
  return section(
    "policy",
    "Policy and signatures",
    lead("Everything needed to reproduce the numbers: the same files with these settings give the same results."),
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
