// What if two documents changed places, or one were moved, were removed or had another grade: computed from the worked table.

const KINDS = ["swap", "move", "remove", "regrade"];
const KIND_NAMES = ["Swap two ranks", "Move a document", "Remove a document", "Change a grade"];
const MOST_TERMS = 4; // in a sentence
const SAME = 1e-12; // differences below are due to rounding

/** The controls, the sentence on the effect, and the command that shows the arithmetic. */
function whatIf(detail, query) {
  const runs = names.map((_, run) => run).filter((run) => slotsOf(detail, run).length);
  if (report.what_if.why || !runs.length) {
    const why = report.what_if.why || "no run has a list whose value is a sum";
    if (report.what_if.explained === false) return [h("p", { class: "quiet" }, said(`The value of a changed list can't be computed, because ${why}.`))];
    return [h("p", { class: "quiet" }, said(`This page can't recompute the value of a changed list, because ${why}. This command can (also --move, --remove and --regrade):`)), explainCommand(query, " --swap 1,2")];
  }
  const change = { run: runs.includes(pair.right) ? pair.right : runs[0], kind: 0, first: 0, second: 1, grade: 0 };
  const { gains } = report.what_if;
  const fields = h("div", { class: "what-if" });
  const effect = h("output", { class: "effect" });
  const command = h("div", null);
  const field = (key, label, options) => {
    const made = choice(label, options, change[key], (value) => draw({ [key]: value }));
    made.select.dataset.change = key;
    return made.element;
  };
  const draw = (changes) => {
    Object.assign(change, changes);
    const ranks = slotsOf(detail, change.run).map(([doc], at) => `${at + 1}: ${detail.docs[doc][0]}`);
    for (const key of ["first", "second"]) change[key] = Math.min(change[key], ranks.length - 1);
    const kind = KINDS[change.kind];
    fields.replaceChildren(
      ...(runs.length > 1 ? [field("run", "Run", runs.map((run) => [run, names[run]]))] : []),
      field("kind", "Change", KIND_NAMES),
      field("first", "Rank", ranks),
      ...(["swap", "move"].includes(kind) ? [field("second", kind === "swap" ? "With rank" : "To rank", ranks)] : []),
      ...(kind === "regrade" && gains.length ? [field("grade", "New grade", gains.map(([grade]) => unrounded(grade)))] : []),
    );
    for (const key of Object.keys(changes)) fields.querySelector(`[data-change="${key}"]`).focus();
    effect.textContent = effectOf(detail, change);
    command.replaceChildren(explainCommand(query, ` ${optionOf(change)}`));
  };
  draw({});
  return [fields, h("p", null, effect), command];
}

/** The rows of a list whose terms are known, in rank order; none if the value isn't a sum. */
function slotsOf(detail, run) {
  const { rows, retrieved, total, value, missing } = detail.lists[run];
  if (missing || total === null || value === null) return [];
  const shown = rows.slice(0, retrieved);
  const end = shown.findIndex(([, , , gain, discount]) => gain === null || discount === null);
  return end < 0 ? shown : shown.slice(0, end);
}

function optionOf({ kind, first, second, grade }) {
  if (["swap", "move"].includes(KINDS[kind])) return `--${KINDS[kind]} ${first + 1},${second + 1}`;
  if (KINDS[kind] === "remove") return `--remove ${first + 1}`;
  return `--regrade ${first + 1}=${report.what_if.gains[grade]?.[0] ?? "GRADE"}`;
}

/** What a change does to the value, as `gainful explain` says it. */
function effectOf(detail, change) {
  const measure = report.measures[report.primary];
  const result = afterChange(detail, change);
  if (typeof result === "string") return `This page can't compute that, because ${result}. The command can:`;
  const { what, terms, total, ideal } = result;
  const list = detail.lists[change.run];
  const divided = report.what_if.ideal !== null;
  if (divided && !(ideal > 0)) return `${what} leaves no document with a positive gain, so the policy sets the value.`;
  const value = divided ? total / ideal : total;
  const same = Math.abs(value - list.value) < SAME * Math.max(1, Math.abs(value));
  const [was, now] = [list.value, value].map(threeDecimals);
  const head = same ? `${what} leaves ${measure} at ${now}` : `${what} ${value > list.value ? "raises" : "lowers"} ${measure} from ${was} to ${now} (${withSign(value - list.value)})`;
  const clauses = [termsText(terms)];
  if (divided) clauses.push(totalText(report.what_if.sum, list.total, total), totalText(report.what_if.ideal, list.ideal, ideal));
  return `${head}: ${clauses.join("; ")}.`;
}

/** The changes of the terms by rank, and the sums afterwards; a text says why they aren't known. */
function afterChange(detail, { run, kind, first, second, grade }) {
  const name = KINDS[kind];
  const { why, gains, refused } = { why: "", ...report.what_if };
  if (why || refused[name]) return why || refused[name];
  const list = detail.lists[run];
  const slots = slotsOf(detail, run);
  const now = slots.map(([, , , gain]) => gain);
  let what = "";
  let ideal = list.ideal;
  if (name === "swap") {
    [now[first], now[second]] = [now[second], now[first]];
    what = `Swapping ranks ${first + 1} and ${second + 1}`;
  } else if (name === "move") {
    if (sharesRanks(slots)) return "documents share ranks";
    now.splice(second, 0, ...now.splice(first, 1));
    what = `Moving rank ${first + 1} to rank ${second + 1}`;
  } else if (name === "remove") {
    if (sharesRanks(slots)) return "documents share ranks";
    now.splice(first, 1);
    if (slots.length < list.retrieved) {
      const { cutoff } = report.what_if;
      if (cutoff === null || slots.length < cutoff) return "not all documents down to the cutoff are shown";
      now.push(list.next ?? 0);
    }
    what = `Removing rank ${first + 1}`;
  } else {
    const old = detail.docs[slots[first][0]][1];
    now[first] = gains[grade][1];
    what = `Grading rank ${first + 1} as ${unrounded(gains[grade][0])}`;
    if (ideal !== null) ideal = idealAfter(detail, run, old === null ? 0 : slots[first][3], now[first]);
    if (typeof ideal === "string") return ideal;
  }
  const terms = new Map(); // those of documents that share ranks are added
  for (const [at, [, rank, last, , discount, contribution]] of slots.entries()) {
    const ranks = last === null || last === rank ? `rank ${rank}` : `ranks ${rank}–${last}`;
    terms.set(ranks, (terms.get(ranks) ?? 0) + (at < now.length ? now[at] * discount : 0) - contribution);
  }
  return { what, terms, total: list.total + sum([...terms.values()]), ideal };
}

const sharesRanks = (slots) => slots.some(([, rank, last]) => last !== null && last !== rank);

/** The sum of the ideal if a judged gain were another one. */
function idealAfter(detail, run, old, gain) {
  const { ideal } = detail;
  if (ideal === null || ![null, run].includes(ideal.run)) return "the ideal of this run isn't shown";
  const pool = ideal.rows.map(([, , worth]) => worth).concat(...ideal.rest.map(([worth, count]) => Array(count).fill(worth)));
  const at = pool.indexOf(old);
  if (at >= 0) pool.splice(at, 1);
  if (gain > 0) pool.push(gain);
  pool.sort((a, b) => b - a);
  const discounts = new Map(ideal.rows.map(([, rank, , discount]) => [rank, discount]));
  for (const each of names.keys()) for (const [, rank, last, , discount] of slotsOf(detail, each)) if (last === null || last === rank) discounts.set(rank, discount);
  const within = pool.slice(0, report.what_if.cutoff ?? pool.length);
  if (within.some((_, place) => !discounts.has(place + 1))) return "the discount of a rank isn't shown";
  return sum(within.map((worth, place) => worth * discounts.get(place + 1)));
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function termsText(terms) {
  const gaps = [...terms].filter(([, gap]) => Math.abs(gap) > SAME);
  if (!gaps.length) return "no term changes";
  const texts = gaps.slice(0, MOST_TERMS).map(([ranks, gap]) => `${withSign(gap)} at ${ranks}`);
  if (gaps.length > MOST_TERMS) texts.push(`at ${plural(gaps.length - MOST_TERMS, "more rank")}`);
  const all = texts.length > 1 ? `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}` : texts[0];
  return `the terms change by ${all}${gaps.length > 1 && Math.abs(sum([...terms.values()])) < SAME ? ", which cancel" : ""}`;
}

function totalText(name, before, after) {
  const [was, now] = [before, after].map(threeDecimals);
  return Math.abs(before - after) < SAME * Math.max(1, Math.abs(after)) ? `${name} stays ${now}` : `${name} changes from ${was} to ${now}`;
}

/** Three decimals; four if that is halfway, three digits if the number is small. */
function threeDecimals(number) {
  if (number !== 0 && Math.abs(number) < 0.001) return minus(String(Number(number.toPrecision(3))));
  const text = fixed(number, 3);
  return minus(Math.abs(number - Number(text)) < (0.5 - 1e-9) * 0.001 ? text : fixed(number, 4));
}

const withSign = (gap) => `${gap > 0 ? "+" : "−"}${threeDecimals(Math.abs(gap))}`;
