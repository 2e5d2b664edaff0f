// The state of the page: the payload, the current choices, and the format of numbers.

const report = JSON.parse(document.getElementById("payload").textContent);
const names = report.runs.map((run) => run.name);
const baseline = report.baseline === null ? -1 : names.indexOf(report.baseline);
const compared = baseline >= 0 && names.length > 1;

const state = {
  measure: report.primary,
  run: preferred(),
  base: Math.max(baseline, 0),
  filter: "",
  losses: false,
  query: null,
};

const listeners = [];

/** Call `listener` whenever the value of one of `keys` changes. */
function on(keys, listener) {
  listeners.push([keys, listener]);
}

function set(changes) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  Object.assign(state, changes);
  for (const [keys, listener] of listeners) {
    if (keys.some((key) => changed.includes(key))) listener();
  }
}

/** The run that is first compared with the baseline: the one with the highest mean. */
function preferred() {
  if (!compared) return 0;
  const mean = (run) => report.runs[run].means[report.primary] ?? -Infinity;
  const others = names.map((_, run) => run).filter((run) => run !== baseline);
  return others.reduce((best, run) => (mean(run) > mean(best) ? run : best));
}

/** The runs by their mean of the first measure, the best first: their order in charts, and so their colours. */
const ranking = names
  .map((_, run) => run)
  .sort((a, b) => (report.runs[b].means[report.primary] ?? -Infinity) - (report.runs[a].means[report.primary] ?? -Infinity) || a - b);

const measureName = () => report.measures[state.measure];
/** Which values of the measure are better: higher, lower or neither. */
const betterValues = () => report.better[state.measure];
const scoreOf = (run, query, measure = state.measure) => report.scores[measure][run][query];

/** The only subtraction on the page, of two scores computed in Python. */
function differenceOf(base, run, query, measure = state.measure) {
  const [from, to] = [scoreOf(base, query, measure), scoreOf(run, query, measure)];
  return from === null || to === null ? null : to - from;
}

/** The verdicts under the chosen measure: comparisons with the baseline first, then the other pairs. */
function verdictsNow() {
  const aside = (verdict) => Number(verdict.baseline !== report.baseline);
  return report.verdicts
    .filter(({ measure }) => measure === measureName())
    .sort((a, b) => aside(a) - aside(b) || b.difference - a.difference);
}

/** Scores computed elsewhere have no documents, policy or signature. */
const measured = report.runs.some(({ signatures }) => signatures.some(Boolean));

const folded = report.queries.map(({ id, text }) => `${id}\n${text ?? ""}`.toLowerCase());

/** The queries whose id or text contains every word of the filter; if only losses are wanted, those the run lost. */
function filtered() {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  return report.queries
    .map((_, query) => query)
    .filter((query) => words.every((word) => folded[query].includes(word)) && (!state.losses || differenceOf(baseline, state.run, query) < 0));
}

/** A number with so many decimals, rounded as Python rounds: half goes to the even digit. */
function fixed(number, digits = 4) {
  const nearest = number.toFixed(digits);
  if (Math.abs(number) >= 1e15 || !"13579".includes(nearest.at(-1))) return nearest;
  const long = number.toFixed(digits + 30);
  const cut = long.length - 30;
  return /^50+$/.test(long.slice(cut)) ? long.slice(0, cut) : nearest;
}

/** A number for a table: whole numbers without decimals unless the column has others. */
function written(number, digits = 4) {
  if (number === null || number === undefined) return "–";
  if (digits === 0) return minus(whole(number));
  if (number !== 0 && (Math.abs(number) < 0.5 * 10 ** -digits || Math.abs(number) >= 1e9)) {
    return minus(String(Number(number.toPrecision(2))));
  }
  return minus(fixed(number, digits));
}

/** A difference: always with its sign. */
function signed(number, digits = 4) {
  if (number === null || number === undefined) return "–";
  return (number >= 0 ? "+" : "") + written(number, digits);
}

/** A formula with minus signs in place of hyphens before numbers. */
const typeset = (text) => text.replace(/(?<=\s)-(?=\d)/g, "−");
const minus = (text) => text.replace(/^-/, "−");
const whole = (number) => number.toLocaleString("en");
const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;
