// Query by query: the differences with their filter and table, and the scatter of two runs.

const runsBut = (left) => names.map((name, run) => [run, name]).filter(([run]) => run !== left);

/** The queries in the order of their difference, the best first, as rows for a chart. */
function differenceRows() {
  const rows = filtered()
    .map((query) => ({
      index: query,
      query: report.queries[query].id,
      text: report.queries[query].text ?? "",
      difference: differenceOf(baseline, state.run, query),
      base: scoreOf(baseline, query),
      run: scoreOf(state.run, query),
    }))
    .filter(({ difference }) => difference !== null)
    .sort((a, b) => b.difference - a.difference);
  return rows.map((row, place) => ({ ...row, place }));
}

function queriesSection() {
  const bars = compared ? differenceChart() : null;
  const listed = queryTable();
  const count = h("p", { class: "count", role: "status", "aria-live": "polite" });
  const filter = filterField();
  const draw = () => {
    bars?.refresh();
    listed.refresh();
    count.textContent = countText();
  };
  on(["measure", "run", "filter", "losses"], draw);
  const run = compared ? runChoice("Run") : null;
  const controls = h("div", { class: "controls" }, run, filter, compared ? lossesOnly() : null, count);
  const title = compared ? "Differences by query" : "Scores by query";
  count.textContent = countText();
  const explain = compared
    ? lead("Every query, from the largest gain to the largest loss compared with ", said(report.baseline), ". Click a bar or a query to see its ranked lists and the arithmetic.")
    : lead("Click a query to see its ranked list and the arithmetic.");
  return section("queries", title, explain, controls, bars?.element, listed.place);
}

function countText() {
  const [found, all] = [filtered().length, report.queries.length];
  return found === all ? plural(all, "query", "queries") : `${whole(found)} of ${plural(all, "query", "queries")}`;
}

function runChoice(label) {
  const field = choice(label, runsBut(baseline), state.run, (run) => set({ run }));
  on(["run"], () => field.show(state.run));
  return field.element;
}

function filterField() {
  const input = h("input", {
    id: "filter",
    type: "search",
    placeholder: "id or text",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    oninput: () => set({ filter: input.value }),
  });
  return h("div", { class: "field" }, h("label", { for: "filter" }, "Filter"), input);
}

/** A checkbox that hides every query on which the run is not worse than the baseline. */
function lossesOnly() {
  const box = h("input", { id: "losses", type: "checkbox", onchange: () => set({ losses: box.checked }) });
  return h("label", { class: "check", for: "losses" }, box, "Losses only");
}

function differenceChart() {
  return chart({
    name: "differences",
    rows: differenceRows,
    label: () => `Difference of ${measureName()} by query, ${names[state.run]} minus ${report.baseline}, in descending order; the table below has the numbers`,
    click: ({ index }) => (location.hash = queryHash(index)),
    words: () => ({ score: measureName(), base: report.baseline, run: names[state.run] }),
    nothing: "Nothing to draw: none of these queries has a score for both runs.",
  });
}

/** The table is made anew when its columns are others: another run, another measure. */
function queryTable() {
  const place = h("div", null);
  let [made, key] = [null, null];
  const refresh = () => {
    const now = `${state.measure} ${state.run}`;
    const rows = compared ? differenceRows().map(({ index }) => index).concat(withoutDifference()) : filtered();
    if (made && key === now) return made.update(rows);
    key = now;
    made = table({
      caption: compared ? `${measureName()} by query: ${report.baseline} and ${names[state.run]}` : `${measureName()} by query`,
      columns: queryColumns(),
      rows,
      sorted: compared ? [3, -1] : [1, 1],
      className: "tall",
    });
    shownOrder = made.order;
    place.replaceChildren(made.element);
  };
  refresh();
  return { place, refresh };
}

/** The order in which the table shows the queries: that of the arrows in a query's detail. */
let shownOrder = () => [];

const withoutDifference = () => filtered().filter((query) => differenceOf(baseline, state.run, query) === null);

function queryColumns() {
  const score = (run) => ({ label: names[run], number: true, value: (query) => scoreOf(run, query) });
  const largest = Math.max(...report.queries.map((_, query) => Math.abs(compared ? (differenceOf(baseline, state.run, query) ?? 0) : 0)));
  const difference = (query) => differenceOf(baseline, state.run, query);
  return [
    { label: "query", head: true, kind: "wrap", value: (query) => report.queries[query].id, cell: queryCell },
    ...(compared ? [score(baseline), score(state.run)] : [score(0)]),
    ...(compared ? [{ label: "difference", number: true, value: difference, cell: (query) => h("div", { class: "leaning in-line" }, signed(difference(query)), lean((difference(query) ?? 0) / (largest || 1))) }] : []),
    ...(measured ? [{ label: "judged", number: true, digits: 0, value: (query) => report.queries[query].judged }] : []),
  ];
}

function queryCell(query) {
  const { text } = report.queries[query];
  return h("div", null, queryLink(query), text === null ? null : h("div", { class: "query-words", dir: "auto" }, text));
}

const [COLUMNS, HARD] = [400, 10]; // the most queries of the heat map, and of the hard ones

/** Every query under every run: a heat map, and the queries on which even the best run scores low. */
function heatmapSection() {
  if (names.length < 2) return null;
  const heat = chart({
    name: "heat",
    rows: heatRows,
    label: () => `${measureName()} of each query under each run, from the hardest query to the easiest`,
    columns: [["query", "query"], ["run", "run"], ["score", "score", true]],
    click: ({ index }) => (location.hash = queryHash(index)),
  });
  const hard = chart({
    name: "hard",
    rows: hardRows,
    label: () => `${measureName()} of every run on the ${HARD} queries whose best score is lowest`,
    columns: [["query", "query"], ["run", "run"], ["score", "score", true]],
    click: ({ index }) => (location.hash = queryHash(index)),
    words: () => ({ score: measureName() }),
  });
  const text = h("p", { class: "lead" });
  const draw = (again = true) => {
    const shown = new Set(heatRows().map(({ index }) => index)).size;
    const which = shown < report.queries.length ? ` The ${whole(shown)} queries on which the runs differ most are shown.` : "";
    text.textContent = `Each column is a query, and a stronger colour is a higher score. A column that is faint throughout is hard for every run.${which}`;
    if (again) [heat, hard].forEach((each) => each.refresh());
  };
  on(["measure"], draw);
  draw(false);
  const advice = lead("The queries whose best score over all runs is lowest. Another ranking may not help here: check the query, its judgments and the collection.");
  return section("heatmap", "Queries by run", text, heat.element, h("h3", null, "Hard for every run"), advice, hard.element);
}

/** The scores of a query under each run, and their mean, highest and range; null if no run has one. */
function scoresOf(query) {
  const scores = names.map((_, run) => scoreOf(run, query));
  const known = scores.filter((score) => score !== null);
  if (!known.length) return null;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return { query, scores, high, range: high - low, mean: known.reduce((sum, score) => sum + score, 0) / known.length };
}

const allScores = () => report.queries.map((_, query) => scoresOf(query)).filter(Boolean);

function heatRows() {
  const all = allScores();
  const shown = all.length > COLUMNS ? all.sort((a, b) => b.range - a.range).slice(0, COLUMNS) : all;
  return runRows(shown.sort((a, b) => a.mean - b.mean));
}

const hardRows = () => runRows(allScores().sort((a, b) => a.high - b.high || a.mean - b.mean).slice(0, HARD));

/** A row for each of these queries and each run, the runs by their mean. */
function runRows(queries) {
  return ranking.flatMap((run) =>
    queries.flatMap(({ query, scores }, place) => {
      const { id, text } = report.queries[query];
      return scores[run] === null ? [] : [{ index: query, query: id, text: text ?? "", run: names[run], score: scores[run], place }];
    }));
}

/** Two runs, query against query. */
function scatterSection() {
  if (!compared) return null;
  const pair = { x: baseline, y: state.run };
  const tally = h("ul", { class: "tally" });
  const rows = () =>
    report.queries
      .map(({ id, text }, query) => {
        const difference = differenceOf(pair.x, pair.y, query);
        const ahead = betterValues() === "lower" ? -difference : difference;
        const outcome = ahead > 0 ? "better" : ahead < 0 ? "worse" : "same";
        const [base, run] = [scoreOf(pair.x, query), scoreOf(pair.y, query)];
        return { index: query, query: id, text: text ?? "", base, run, outcome };
      })
      .filter(({ base, run }) => base !== null && run !== null);
  const drawn = chart({
    name: "scatter",
    rows,
    label: () => `${measureName()} of every query: ${names[pair.x]} across, ${names[pair.y]} upwards`,
    columns: [["query", "query"], ["base", "across", true], ["run", "upwards", true], ["outcome", "outcome"]],
    click: ({ index }) => (location.hash = queryHash(index)),
    words: () => ({ score: measureName(), base: names[pair.x], run: names[pair.y] }),
  });
  const across = choice("Across", names, pair.x, (run) => show({ x: run }));
  const upwards = choice("Upwards", names, pair.y, (run) => show({ y: run }));
  const count = (wanted) => rows().filter(({ outcome }) => outcome === wanted).length;
  const show = (changes, again = true) => {
    Object.assign(pair, changes);
    across.show(pair.x);
    upwards.show(pair.y);
    const word = betterValues() === "neither" ? " higher" : " better";
    tally.replaceChildren(
      tallied("better", count("better"), said(names[pair.y]), word),
      tallied("inconclusive", count("same"), "the same"),
      tallied("worse", count("worse"), said(names[pair.x]), word),
    );
    if (again) drawn.refresh();
  };
  on(["measure"], () => show({}));
  on(["run"], () => show({ y: state.run }));
  show({}, false);
  const aside = h("div", null, h("div", { class: "controls" }, across.element, upwards.element), tally);
  const text = lead("Each point is a query. Above the diagonal, the run on the vertical axis scores higher.");
  return section("scatter", "Two runs, query against query", text, h("div", { class: "beside" }, aside, drawn.element));
}

function tallied(kind, count, ...what) {
  return h("li", null, h("span", { class: `amount ${kind}` }, whole(count)), h("span", { class: "wrap" }, ...what));
}
