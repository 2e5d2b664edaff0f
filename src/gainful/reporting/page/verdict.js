// The verdict in words, with the intervals; and the table of runs and measures.

function verdictSection() {
  if (!compared) return null;
  const headline = h("p", { class: "headline" });
  const list = h("ul", { class: "verdicts" });
  const intervals = chart({
    name: "intervals",
    rows: () => verdictsNow().map((each) => ({
      pair: pairName(each),
      lines: linesOf(each),
      measure: each.measure,
      base: each.base,
      run: each.run,
      difference: each.difference,
      low: each.low,
      high: each.high,
      verdict: each.word,
    })),
    label: () => `Difference of ${measureName()} from ${report.baseline}, with its interval, for each run; the sentences below have the numbers`,
    columns: [["pair", "run"], ["difference", "difference", true], ["low", "low", true], ["high", "high", true], ["verdict", "verdict"]],
    adapt: oneMeasure,
  });
  const draw = () => {
    headline.replaceChildren(...headlineOf(verdictsNow().filter(({ base }) => base === report.baseline)));
    list.replaceChildren(...verdictsNow().map(verdictItem));
    intervals.refresh();
  };
  on(["measure"], draw);
  const made = section("verdict", "Verdict", headline, intervals.element, list);
  draw();
  return made;
}

const pairName = ({ base, run }) => (base === report.baseline ? run : `${run} − ${base}`);

/** The measure stands above the chart, so the labels of its rows need only the run. */
function oneMeasure(spec) {
  const label = spec.transform?.find((step) => step.as === "label");
  if (label) Object.assign(label, { calculate: "datum.lines" });
  if (verdictsNow().every(({ base }) => base === report.baseline)) {
    if (spec.height?.step) spec.height = { step: 30 };
    return;
  }
  const axes = spec.layer.map(({ encoding }) => encoding?.x?.axis).filter((axis) => axis?.title);
  axes.forEach((axis) => (axis.title = "run − base (run better →)"));
}

/** What a comparison is called beside the chart: two names stand on two lines. */
const linesOf = ({ base, run }) => (base === report.baseline ? drawable(run) : `${drawable(run)}\u2028− ${drawable(base)}`);

/** Say what became of the runs, in one line. */
function headlineOf(verdicts) {
  const base = said(report.baseline, { class: "name" });
  if (verdicts.length === 1) {
    const [{ run, word, qualification }] = verdicts;
    const name = said(run, { class: "name" });
    const on = [" on ", h("span", { class: "name" }, measureName()), ...(qualification ? [", but ", said(qualification)] : []), "."];
    if (wordKey(word) === "undecided") return ["The difference between ", name, " and ", base, " is ", badge(word), ...on];
    if (wordKey(word) === "equivalent") return [name, " and ", base, " are ", badge(word), ...on];
    return [name, " is ", badge(word), " than ", base, ...on];
  }
  const parts = [];
  for (const key of Object.keys(WORDS)) {
    const count = verdicts.filter(({ word }) => wordKey(word) === key).length;
    if (count) parts.push(parts.length ? ", " : "", `${whole(count)} `, badge(key));
  }
  const many = plural(verdicts.length, "run");
  const doubted = verdicts.filter(({ qualification }) => qualification).length;
  const doubt = doubted ? ` The judgments favour one of the runs in ${doubted} of ${plural(verdicts.length, "comparison")}.` : "";
  return [h("span", { class: "name" }, measureName()), ` of ${many} against `, base, ": ", ...parts, `.${doubt}`];
}

function verdictItem(verdict) {
  const { wins, ties, losses } = verdict;
  return h(
    "li",
    null,
    h("div", { class: "verdict-head" }, badge(verdict.word), said(pairName(verdict), { class: "name" }), h("span", { class: "figure" }, signed(verdict.difference))),
    h("p", null, ...marked(verdict)),
    record(wins, ties, losses),
  );
}

/** The sentence, its word marked. Names may hold any word, so it is looked for where it stands. */
function marked({ sentence, word, run, base }) {
  const places = [`${run} is ${word} than`, `${run} and ${base} are ${word} `, `${run} and ${base} is ${word} `];
  for (const place of places) {
    const at = sentence.indexOf(place);
    if (at < 0) continue;
    const from = at + place.lastIndexOf(word);
    const rest = sentence.slice(from + word.length);
    return [said(sentence.slice(0, from)), h("strong", { class: `word ${wordKey(word)}` }, icon(word), ` ${word}`), said(rest)];
  }
  return [said(sentence)];
}

/** How many queries went which way, as a bar of three parts with the numbers beside it. */
function record(wins, ties, losses) {
  const parts = [["up", wins], ["even", ties], ["down", losses]].map(([kind, count]) => {
    const part = h("span", { class: kind });
    part.style.flexGrow = count;
    return part;
  });
  const text = `${plural(wins, "query", "queries")} better, ${whole(ties)} the same, ${whole(losses)} worse`;
  return h("div", { class: "record" }, h("span", { class: "record-bar", "aria-hidden": "true" }, ...parts), h("span", null, text));
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
    caption: compared ? `${over}; marks against ${report.baseline}` : over,
    columns,
    rows: names.map((_, run) => run),
    className: "runs",
  });
  return section("runs", "Runs and measures", made.element, notesList(report.means), legend());
}

function runCell(run) {
  const tag = run === baseline ? h("span", { class: "tag" }, "baseline") : null;
  const name = said(names[run], { class: "name" });
  return h("div", { class: "run" }, name, tag, ...(measured ? signatureCard(run) : []));
}

/** A button and what it opens: the signatures of a run, which a pointer sees on its numbers. */
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
    ? h("span", { class: `mark ${wordKey(marks[measure])}` }, icon(marks[measure]), hidden(` ${WORDS[wordKey(marks[measure])].text}`))
    : h("span", { class: "mark" });
  // The length is against the column's largest; a bar cannot show what is below 0.
  const meter = names.length > 1 && mean !== null && Math.min(...all) >= 0 && Math.max(...all) > 0 ? bar(mean / Math.max(...all)) : null;
  return h("div", { class: "mean" }, h("span", null, number, mark), meter);
}

function legend() {
  const marks = Object.keys(WORDS).map((key) => h("li", null, h("span", { class: `mark ${key}` }, icon(key)), ` ${WORDS[key].text}`));
  const compare = compared ? [h("span", null, "Against the baseline, after correction:"), h("ul", null, ...marks)] : [];
  const bold = names.length > 1 ? h("span", null, h("strong", null, "Bold"), ": the best of its column.") : null;
  const signature = measured ? h("span", { class: "on-screen" }, "The signature of a number is on it, and behind ", h("span", { class: "info" }, "i"), ".") : null;
  return h("div", { class: "legend" }, ...compare, bold, signature);
}
