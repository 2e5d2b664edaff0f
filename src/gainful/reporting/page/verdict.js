// The verdict: the winner in one line, the intervals, and a row for each comparison; then the runs.

function verdictSection() {
  if (!compared) return null;
  const headline = h("p", { class: "headline" });
  const tally = h("p", { class: "lead" });
  const doubts = h("div", null);
  const intervals = chart({
    name: "intervals",
    rows: () => verdictsNow().map((each) => ({
      pair: pairName(each),
      lines: linesOf(each),
      measure: each.measure,
      base: each.baseline,
      run: each.run,
      difference: each.difference,
      low: each.low,
      high: each.high,
      verdict: each.word,
    })),
    label: () => `Difference of ${measureName()} from ${report.baseline}, with its interval, for each run; the table below has the numbers`,
    adapt: oneMeasure,
  });
  const listed = table({
    caption: `Comparisons with ${report.baseline}`,
    unseenCaption: true,
    columns: verdictColumns(),
    rows: verdictsNow(),
    sorted: verdictsNow().every(againstBaseline) ? [2, -1] : null,
    className: "comparisons",
  });
  const draw = () => {
    headline.replaceChildren(...headlineOf(verdictsNow().filter(againstBaseline)));
    tally.replaceChildren(...tallyOf(verdictsNow().filter(againstBaseline)));
    listed.update(verdictsNow());
    doubts.replaceChildren(...[notesList(qualifications())].filter(Boolean));
    intervals.refresh();
  };
  on(["measure"], draw);
  const made = section("verdict", "Verdict", headline, tally, intervals.element, listed.element, doubts, report.method ? h("p", { class: "quiet method" }, report.method) : null);
  draw();
  return made;
}

const againstBaseline = (verdict) => verdict.baseline === report.baseline;
const pairName = (verdict) => (againstBaseline(verdict) ? verdict.run : `${verdict.run} − ${verdict.baseline}`);

/** The measure is named above the chart, so the labels of its rows need only the run. */
function oneMeasure(spec) {
  const label = spec.transform?.find((step) => step.as === "label");
  if (label) Object.assign(label, { calculate: "datum.lines" });
  const arrows = { higher: (words) => ` (${words} →)`, lower: (words) => ` (← ${words})`, neither: () => "" };
  const axes = spec.layer.map(({ encoding }) => encoding?.x?.axis).filter((axis) => typeof axis?.title === "string");
  axes.forEach((axis) => (axis.title = axis.title.replace(/ \((.*) →\)$/, (_, words) => arrows[betterValues()](words))));
  if (verdictsNow().every(againstBaseline)) {
    if (spec.height?.step) spec.height = { step: 30 };
    return;
  }
  axes.forEach((axis) => (axis.title = `run − baseline${arrows[betterValues()]("run better")}`));
}

/** The label of a comparison in the chart: two names take two lines. */
const linesOf = (verdict) => (againstBaseline(verdict) ? drawable(verdict.run) : `${drawable(verdict.run)}\u2028− ${drawable(verdict.baseline)}`);

/** Name the winner, or say that there is no clear one. `verdicts` are sorted by their difference. */
function headlineOf(verdicts) {
  const [top] = verdicts;
  if (!top) return [];
  const winner = verdicts.find(({ word }) => word === "better");
  const base = said(report.baseline, { class: "name" });
  const name = said((winner ?? top).run, { class: "name" });
  const by = h("span", { class: "figure" }, signed((winner ?? top).difference, 3));
  const range = ` (${intervalText(winner ?? top, 3)})`;
  if (winner) {
    const ahead = winner === top ? [] : ["; ", said(top.run, { class: "name" }), " scores higher, but is ", badge(top.word)];
    return [winner === top ? "Best: " : "Better: ", name, ", ", by, " over ", base, range, ...ahead, "."];
  }
  if (top.word === "equivalent") return [name, " and ", base, " are ", badge(top.word), ": ", by, range, "."];
  if (top.word === "worse") return ["Best: ", base, ", the baseline; the closest run is ", name, ", ", by, range, "."];
  const clause = top.difference > 0 ? [name, " leads ", base] : top.difference < 0 ? [base, " leads ", name] : [name, " and ", base, " have the same score"];
  const lead = top.difference ? [" by ", h("span", { class: "figure" }, written(Math.abs(top.difference), 3))] : [];
  const ahead = top.difference < 0 && top.low !== null ? { ...top, low: -top.high, high: -top.low } : top;
  return ["No clear winner: ", ...clause, ...lead, ` (${intervalText(ahead, 3)}), which is `, badge(top.word), "."];
}

/** The interval of a difference, as in "95% 0.028 to 0.288". */
function intervalText({ low, high, level }, digits) {
  if (low === null || high === null) return "too few queries for an interval";
  const end = (number) => minus(fixed(number + 0, digits));
  return `${percent(level)} ${end(low)} to ${end(high)}`;
}

const percent = (share) => `${Number((100 * share).toPrecision(4))}%`;

/** What the headline is about, and how many runs got which verdict. */
function tallyOf(verdicts) {
  if (!verdicts.length) return [];
  const about = [h("span", { class: "name" }, measureName()), ` on ${plural(verdicts[0].queries, "query", "queries")}.`];
  if (verdicts.length === 1) return about;
  const parts = Object.keys(WORDS).flatMap((key) => {
    const count = verdicts.filter(({ word }) => word === key).length;
    return count ? [[`${whole(count)} `, badge(key)]] : [];
  });
  const joined = parts.flatMap((part, at) => (at ? [", ", ...part] : part));
  return [...about, ` ${plural(verdicts.length, "run")} compared with `, said(report.baseline, { class: "name" }), ": ", ...joined, "."];
}

/** Where the judgments may have decided a comparison, and why. */
const qualifications = () =>
  verdictsNow().flatMap((verdict) => (verdict.qualification ? [`${pairName(verdict)}: ${verdict.word}, but ${verdict.qualification}.`] : []));

function verdictColumns() {
  const level = report.verdicts.length ? percent(report.verdicts[0].level) : "95%";
  const needed = report.verdicts.some(({ queries_needed: count }) => count);
  return [
    { label: "run", head: true, value: pairName, cell: (verdict) => said(pairName(verdict), { class: "name" }) },
    { label: "verdict", value: ({ word }) => word, cell: ({ word }) => badge(word) },
    { label: "difference", number: true, value: ({ difference }) => difference, cell: ({ difference }) => signed(difference) },
    { label: `${level} interval`, number: true, value: ({ low }) => low, cell: ({ low, high }) => (low === null || high === null ? "too few queries" : `${signed(low)} to ${signed(high)}`) },
    { label: "p", number: true, value: ({ p }) => p, cell: ({ p }) => (p === null ? "–" : p < 0.0001 ? "< 0.0001" : fixed(p)) },
    { label: "mean", number: true, value: ({ run_mean: mean }) => mean },
    { label: "queries better, same, worse", kind: "outcomes", value: ({ wins, losses }) => wins - losses, cell: record },
    ...(needed ? [{ label: "queries to decide", number: true, digits: 0, value: ({ queries_needed: count }) => count, cell: ({ queries_needed: count }) => (count ? `about ${whole(count)}` : "–") }] : []),
  ];
}

/** How many queries went which way: a bar of three parts with the numbers. */
function record({ wins, ties, losses }) {
  const parts = [["up", wins], ["even", ties], ["down", losses]].map(([kind, count]) => {
    const part = h("span", { class: kind });
    part.style.flexGrow = count;
    return part;
  });
  return h("div", { class: "record" }, h("span", null, `${whole(wins)}, ${whole(ties)}, ${whole(losses)}`), h("span", { class: "record-bar", "aria-hidden": "true" }, ...parts));
}

function runsSection() {
  const columns = [
    { label: "run", head: true, value: (run) => names[run], cell: runCell },
    ...report.measures.map((name, measure) => ({
      label: name,
      number: true,
      value: (run) => report.runs[run].means[measure],
      cell: (run) => meanCell(run, measure),
      title: (run) => report.runs[run].signatures[measure],
    })),
  ];
  const over = `Means over ${plural(report.kept.of, "query", "queries")}`;
  const made = table({
    caption: compared ? `${over}; marks compare with ${report.baseline}` : over,
    columns,
    rows: names.map((_, run) => run),
    sorted: names.length > 1 ? [1 + report.primary, -1] : null,
    className: "runs",
  });
  return section("runs", "Runs and measures", made.element, notesList(report.means), legend());
}

function runCell(run) {
  const tag = run === baseline ? h("span", { class: "tag" }, "baseline") : null;
  const name = said(names[run], { class: "name" });
  return h("div", { class: "run" }, name, tag, ...(measured ? signatureCard(run) : []));
}

/** A button that opens the signatures of a run. A pointer also finds them on the numbers. */
function signatureCard(run) {
  const id = `signature-${run}`;
  const items = report.runs[run].signatures.map((text) => h("li", null, h("code", null, said(text))));
  const facts = Object.entries(report.runs[run].coverage).map(([name, text]) => h("li", null, `${name}: `, said(text)));
  const close = h("button", { type: "button", class: "plain", popovertarget: id, popovertargetaction: "hide" }, "Close");
  const card = h("div", { id, popover: "auto", class: "card", role: "dialog", "aria-label": `Signatures of ${names[run]}` }, h("h3", null, said(names[run])), h("ul", { class: "signatures" }, ...items), h("ul", { class: "notes facts-of-run" }, ...facts), close);
  const button = h("button", { type: "button", class: "info", popovertarget: id, "aria-label": `Signatures of ${names[run]}` }, "i");
  return [button, card];
}

function meanCell(run, measure) {
  const { means, best, marks } = report.runs[run];
  const mean = means[measure];
  const all = report.runs.map((each) => each.means[measure]).filter((each) => each !== null);
  const number = h(best[measure] && names.length > 1 ? "strong" : "span", null, written(mean));
  const mark = marks[measure]
    ? h("span", { class: `mark ${marks[measure]}` }, icon(marks[measure]), hidden(` ${WORDS[marks[measure]].text}`))
    : h("span", { class: "mark" });
  // A full bar is the column's largest mean; a bar cannot show negative means.
  const meter = names.length > 1 && mean !== null && Math.min(...all) >= 0 && Math.max(...all) > 0 ? bar(mean / Math.max(...all)) : null;
  return h("div", { class: "mean" }, h("span", null, number, mark), meter);
}

function legend() {
  const occurring = new Set(report.runs.flatMap(({ marks }) => marks));
  const words = Object.keys(WORDS).filter((key) => occurring.has(key));
  const marks = words.map((key) => h("li", null, h("span", { class: `mark ${key}` }, icon(key)), ` ${WORDS[key].text}`));
  const compare = words.length ? [h("span", null, "Compared with the baseline, after correction:"), h("ul", null, ...marks)] : [];
  const bold = names.length > 1 ? h("span", null, h("strong", null, "Bold"), ": the best in its column.") : null;
  const signature = measured ? h("span", { class: "on-screen" }, "Hover over a number, or click ", h("span", { class: "info" }, "i"), ", to see its signature.") : null;
  return h("div", { class: "legend" }, ...compare, bold, signature);
}
