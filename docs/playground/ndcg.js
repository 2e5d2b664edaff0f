// nDCG of one list, as gainful computes it: pure functions of a state, for the page and for Node.
//
// A state has `list`, the documents as they were returned, each {id, grade, tied}, and `rest`, the documents that
// were not. A grade of null is no judgment; `tied` says that the score is that of the document above. All else is
// one word or number for each of CHOICES.

const ROUNDING = 32 * Number.EPSILON;
const words = (values, word = String) => Object.fromEntries(values.map((value) => [value, word(value)]));
const upTo = (n, made) => Array.from({ length: n }, (_, i) => made(i + 1));

// What can be chosen, the default first, each with the words of the page.
export const CHOICES = {
  k: { all: "whole list", ...words(upTo(16, (k) => k)) },
  gain: { linear: "g", exp2: "2ᵍ − 1", binary: "1 if g > 0" },
  discount: {
    log: "1/log(i + 1)", jarvelin: "1/max(1, log i), Järvelin–Kekäläinen", reciprocal: "1/i",
    "power(0.5)": "1/√i", "power(2)": "1/i²", none: "none",
  },
  base: words([2, "e", 3, 5, 10]),
  ideal: { judged: "all judged", retrieved: "returned only" },
  ties: {
    doc: "by name, Z first", average: "averaged", best: "best first", worst: "worst first",
    order: "as listed", doc_ascending: "by name, A first",
  },
  depth: { cutoff: "cut at k", all: "not cut", retrieved: "cut at the number returned" },
  unjudged: { zero: "gain 0", condense: "left out of the list" },
  negative: { keep: "costs in the list", zero: "counts as 0", both: "costs in the ideal, too" },
  scale: words([1, 2, 3, 4, 5], (most) => `0 to ${most}`),
};
const MEASURE = ["gain", "discount", "base", "ideal", "depth"];
const POLICY = ["ties", "unjudged", "negative"];
// Keys that are numbers come first in an object, whatever the order.
const FIRST = { k: "all", scale: "3" };
export const DEFAULTS = words(Object.keys(CHOICES), (name) => FIRST[name] ?? Object.keys(CHOICES[name])[0]);
export const hasBase = (s) => s.discount === "log" || s.discount === "jarvelin";
const cutoff = (s) => (s.k === "all" ? Infinity : +s.k);
const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

export function gainOf(s, grade) {
  let gain = grade ?? 0;
  if (typeof s.gain === "function") gain = s.gain(gain);
  if (s.gain === "binary") gain = +(gain > 0);
  if (s.gain === "exp2") gain = Number.isInteger(gain) ? 2 ** gain - 1 : Math.expm1(gain * Math.LN2);
  return s.negative === "zero" ? Math.max(gain, 0) : gain;
}

export function discountOf(s, rank) {
  if (typeof s.discount === "function") return s.discount(rank);
  const b = s.base === "e" ? Math.E : +s.base;
  const log = (x) => (b === 2 ? Math.log2(x) : b === 10 ? Math.log10(x) : Math.log(x) / Math.log(b));
  if (s.discount === "log") return 1 / log(rank + 1);
  if (s.discount === "jarvelin") return rank <= b ? 1 : 1 / log(rank);
  if (s.discount === "reciprocal") return 1 / rank;
  return s.discount === "none" ? 1 : rank ** -s.discount.slice(6, -1);
}

const points = (text) => Array.from(text, (each) => each.codePointAt(0));
function byId(one, other) {
  const [a, b] = [points(one.id), points(other.id)];
  const i = a.findIndex((each, place) => each !== b[place]);
  return i < 0 ? a.length - b.length : a[i] - (b[i] ?? -1);
}
const ORDERS = {
  doc: (a, b) => byId(b, a),
  doc_ascending: byId,
  best: (a, b) => b.gain - a.gain,
  worst: (a, b) => a.gain - b.gain,
};

// What the ranks from 1 to a depth are worth.
const discounts = (s, depth) => upTo(depth, (rank) => discountOf(s, rank));

// The list in the order that is measured: first and last possible rank, the mean discount of those down to the
// cutoff (weight), and the share of them (part).
export function ranked(s) {
  let block = 0;
  const docs = s.list
    .map((doc, i) => ({ ...doc, block: i && doc.tied ? block : ++block, gain: gainOf(s, doc.grade) }))
    .filter((doc) => s.unjudged !== "condense" || doc.grade !== null)
    .sort((a, b) => a.block - b.block || (ORDERS[s.ties]?.(a, b) ?? 0));
  const table = discounts(s, Math.min(docs.length, cutoff(s)));
  docs.forEach((doc, i) => {
    const together = (other) => (s.ties === "average" ? other.block === doc.block : other === doc);
    doc.first = docs.findIndex(together) + 1;
    doc.last = docs.findLastIndex(together) + 1;
    const near = table.slice(doc.first - 1, doc.last);
    const size = doc.last - doc.first + 1;
    doc.part = near.length / size;
    doc.weight = total(near) / size;
    doc.term = doc.gain * doc.weight;
  });
  return docs;
}

// What the ideal is made of, the best first; it is cut later.
function pool(s, docs) {
  const others = s.rest.map((doc) => ({ ...doc, gain: gainOf(s, doc.grade) }));
  const all = s.ideal === "retrieved" ? docs : [...docs, ...others].filter((doc) => doc.grade !== null);
  return all.filter((doc) => s.negative === "both" || doc.gain >= 0).sort((a, b) => b.gain - a.gain);
}
const depthOf = (s, returned) => ({ all: Infinity, retrieved: Math.min(cutoff(s), returned) })[s.depth] ?? cutoff(s);

// The quotient, where the ideal is more than rounding: `size` is the sum of its absolute terms.
function divided(s, dcg, idcg, size) {
  if (idcg <= ROUNDING * size) return { idcg: -idcg <= ROUNDING * size ? 0 : idcg, empty: true, ndcg: s.empty === "one" ? 1 : 0 };
  const quotient = dcg / idcg;
  return { idcg, empty: false, ndcg: Math.abs(quotient - 1) <= ROUNDING ? 1 : quotient };
}

// All values of a state, with the terms of the list (rows) and of its ideal (best).
export function measured(s) {
  const rows = ranked(s);
  const best = pool(s, rows).slice(0, depthOf(s, rows.length)).map((doc, i) => {
    const weight = discountOf(s, i + 1);
    return { ...doc, first: i + 1, last: i + 1, weight, term: doc.gain * weight };
  });
  const sum = (docs, worth) => total(docs.map(worth));
  const dcg = sum(rows, (doc) => doc.term);
  const [idcg, size] = [sum(best, (doc) => doc.term), sum(best, (doc) => Math.abs(doc.term))];
  return { rows, best, cg: sum(rows, (doc) => doc.gain * doc.part), dcg, ...divided(s, dcg, idcg, size) };
}

// The list next to its ideal: what the ideal earns at the ranks of each document, what these ranks cost in nDCG, and what
// the ranks cost that the list leaves unfilled. All costs together are nDCG − 1; without an ideal there are none.
export function compared({ rows, best, idcg, empty }) {
  const cost = (earned, ideal) => (empty ? 0 : (earned - ideal) / idcg);
  const earns = (from, to) => total(best.slice(from - 1, to).map((doc) => doc.term));
  const ranks = rows.map(({ id, first, last, term }) => {
    const ideal = earns(first, last) / (last - first + 1);
    return { id, ideal, cost: cost(term, ideal) };
  });
  return { ranks, unfilled: { first: rows.length + 1, last: best.length, cost: cost(0, earns(rows.length + 1, best.length)) } };
}

// What a change does to CG, DCG and nDCG, in a sentence that begins with the change.
export function effect(before, after, change) {
  const [old, now] = [measured(before), measured(after)];
  const label = (name) => name + (after.k === "all" || before.k !== after.k ? "" : `@${after.k}`);
  const [moved, kept] = [[], []];
  for (const name of ["DCG", "nDCG", "CG"]) {
    const [from, to] = [old, now].map((values) => values[name.toLowerCase()]);
    if (Math.abs(from - to) < 1e-9) kept.push(label(name));
    else moved.push(from.toFixed(3) === to.toFixed(3) ? `${label(name)} by less than 0.001` : `${label(name)} from ${figure(from)} to ${figure(to)}`);
  }
  const listed = (words) => [words.slice(0, -1).join(", "), words.at(-1)].filter(Boolean).join(" and ");
  if (!moved.length) return `${change} changes none of ${listed(kept)}.`;
  return `${change} changes ${listed(moved)}.${kept.length ? ` ${listed(kept)} ${kept.length > 1 ? "stay" : "stays"} the same.` : ""}`;
}
export const figure = (value) => value.toFixed(Math.abs(value) < 100 ? 3 : 1).replace("-", "−");

// The lowest and the highest nDCG over all whole grades that the unjudged documents of the list may have; null
// where none is unjudged, or where a grade would change the order. The ideal does not tell the unknown documents
// apart, so of all ways to give out some grades the highest DCG has the best of them at the largest weights, and
// the lowest has them at the smallest: grades that fall with the weight, or rise with it, are all there is to try.
export function bounds(s) {
  const rows = ranked(s);
  const judgedRows = rows.filter((doc) => doc.grade !== null);
  if (judgedRows.length === s.list.length || s.unjudged !== "zero" || s.ties === "best" || s.ties === "worst") return null;
  const weights = rows.filter((doc) => doc.grade === null).map((doc) => doc.weight).sort((a, b) => b - a);
  const levels = [...new Set(upTo(+s.scale + 1, (grade) => gainOf(s, grade - 1)))].reverse();
  const known = pool(s, judgedRows).map((doc) => doc.gain);
  const table = discounts(s, Math.min(depthOf(s, rows.length), known.length + weights.length));
  const sum = total(judgedRows.map((doc) => doc.term));
  const chosen = [...weights];
  let [low, high] = [Infinity, -Infinity];
  const tried = (place, from) => {
    if (place < chosen.length) {
      for (let level = from; level < levels.length; level++) {
        chosen[place] = levels[level];
        tried(place + 1, level);
      }
      return;
    }
    let [i, j, idcg, size, most, least] = [0, 0, 0, 0, sum, sum];
    for (const worth of table) {
      const gain = j === chosen.length || known[i] >= chosen[j] ? known[i++] : chosen[j++];
      idcg += gain * worth;
      size += Math.abs(gain * worth);
    }
    chosen.forEach((gain, at) => {
      most += gain * weights[at];
      least += gain * weights[chosen.length - 1 - at];
    });
    high = Math.max(high, divided(s, most, idcg, size).ndcg);
    low = Math.min(low, divided(s, least, idcg, size).ndcg);
  };
  tried(0, 0);
  return { low, high };
}

// Tools that differ: the parameters and choices of each, and the grades that it takes. `also` measure the same here.
const LIST = { ideal: "retrieved" };
const GIVEN = { ties: "order" };
const WHOLE = { whole: true };
export const TOOLS = [
  { name: "trec_eval", also: "pytrec_eval, ir_measures, BEIR, MTEB", grades: WHOLE, set: { negative: "zero" } },
  { name: "gdeval", set: { gain: "exp2", negative: "zero" }, k: 20, grades: { whole: true, most: 4 }, empty: "left out" },
  { name: "ranx", grades: WHOLE, set: { ...GIVEN, negative: "zero" } },
  { name: "scikit-learn", grades: { least: 0 }, set: { ...LIST, ties: "average" } },
  { name: "torchmetrics", set: { ...LIST, ties: "average", negative: "both" } },
  { name: "LightGBM", also: "XGBoost", grades: { whole: true, least: 0, most: 30 }, set: { ...LIST, ...GIVEN, gain: "exp2", empty: "one" } },
  { name: "CatBoost", set: { ...LIST, ties: "worst", negative: "both", empty: "one" } },
  { name: "Elasticsearch", also: "OpenSearch", k: 10, set: { ...GIVEN, gain: "exp2", depth: "retrieved", negative: "both" } },
  { name: "LensKit", set: { ...GIVEN, discount: "jarvelin", negative: "both" } },
  { name: "Spark MLlib", set: { ...GIVEN, gain: "binary" } },
  { name: "LlamaIndex", set: { ...GIVEN, gain: "binary", depth: "all" }, empty: "refused" },
  { name: "Haystack", set: { ...GIVEN, depth: "all", negative: "both" } },
];

// The state as a tool takes it.
export const asTool = (s, tool) => ({
  ...s, ...DEFAULTS, scale: s.scale, k: s.k === "all" ? String(tool.k ?? "all") : s.k, ...tool.set,
});

// What a tool says: {ndcg}, or {refusal} in words.
export function said(s, tool) {
  const { whole, least = -Infinity, most = Infinity } = tool.grades ?? {};
  const given = tool.set.ideal === "retrieved" ? s.list : [...s.list, ...s.rest];
  const wrong = given.find(({ grade: g }) => g !== null && ((whole && !Number.isInteger(g)) || g < least || g > most));
  if (wrong) {
    const range = most < Infinity ? ` ${least < 0 ? "up" : `from ${least}`} to ${most}` : least < 0 ? "" : ` from ${least}`;
    return { refusal: `accepts ${whole ? "whole " : ""}grades${range}` };
  }
  const found = measured(asTool(s, tool));
  return found.empty && tool.empty ? { refusal: `${tool.empty}: nothing to find` } : { ndcg: found.ndcg };
}

// The choices of a tool that are not those of the state, and move the value here: each alone, from either side.
export function differences(s, tool) {
  const other = asTool(s, tool);
  const [mine, its] = [measured(s).ndcg, measured(other).ndcg];
  const moves = (name) => measured({ ...s, [name]: other[name] }).ndcg !== mine || measured({ ...other, [name]: s[name] }).ndcg !== its;
  return Object.keys(CHOICES).filter((name) => s[name] !== other[name] && moves(name));
}

// The DCG in one line.
export function formula(s) {
  const gain = { linear: "gᵢ", exp2: "(2^gᵢ − 1)", binary: "[gᵢ > 0]" }[s.gain];
  const log = `log${{ 2: "₂", 3: "₃", 5: "₅", 10: "₁₀", e: "ₑ" }[s.base]}`;
  const by = { log: ` / ${log}(i + 1)`, jarvelin: ` / max(1, ${log} i)`, reciprocal: " / i", "power(0.5)": " / √i", "power(2)": " / i²", none: "" };
  return `DCG = Σ ${gain}${by[s.discount]}`;
}

// The measure in gainful's notation, and the choices of the policy that are not its defaults.
export function notation(s, name = "nDCG") {
  const own = { CG: ["gain"], DCG: MEASURE.slice(0, 3) }[name] ?? MEASURE;
  const set = own.filter((each) => s[each] !== DEFAULTS[each] && (each !== "base" || hasBase(s)));
  return name + (set.length ? `(${set.map((each) => `${each}=${s[each]}`).join(", ")})` : "") + (s.k === "all" ? "" : `@${s.k}`);
}
const policy = (s) => POLICY.filter((each) => s[each] !== DEFAULTS[each]).map((each) => [each, s[each]]);

const judged = (s) => [...s.list, ...s.rest].filter((doc) => doc.grade !== null);
function scores(s) {
  let score = s.list.length + 1;
  return s.list.map((doc, i) => [doc.id, i && doc.tied ? score : --score]);
}

// The same state for gainful, in Python and as commands.
export function python(s) {
  const dict = (pairs) => `{${pairs.map(([key, value]) => `"${key}": ${typeof value === "number" ? value : `"${value}"`}`).join(", ")}}`;
  const chosen = policy(s);
  return [
    "import gainful as gf",
    `judgments = {"q": ${dict(judged(s).map((doc) => [doc.id, doc.grade]))}}`,
    `run = {"q": ${dict(scores(s))}}`,
    `print(gf.explain(judgments, run, "${notation(s)}", query="q"${chosen.length ? `, policy=${dict(chosen)}` : ""}))`,
  ].join("\n");
}

export function command(s) {
  const options = `-m "${notation(s)}"${policy(s).map(([name, word]) => ` --${name} ${word}`).join("")}`;
  const grades = s.list.map((doc) => doc.grade);
  if (!grades.includes(null) && grades[0] >= 0 && !s.list.some((doc) => doc.tied)) {
    const others = s.rest.filter((doc) => doc.grade !== null).map((doc) => doc.grade);
    return `gainful explain ${grades} ${others.length ? `--judged ${[...grades, ...others]} ` : ""}${options.replace(/ --(ties|unjudged) \w+/g, "")}`;
  }
  const lines = (rows) => rows.map((row) => `${row.join(" ")}\\n`).join("");
  return [
    `printf '${lines(judged(s).map((doc) => ["q", 0, doc.id, doc.grade]))}' > judgments.qrels`,
    `printf '${lines(scores(s).map(([id, score], i) => ["q", "Q0", id, i + 1, score, "list"]))}' > list.run`,
    `gainful explain judgments.qrels list.run --query q ${options}`,
  ].join("\n");
}

// The document `id` at a place of [list, the line, rest] without it. Between tied documents it ties, too.
export function moved(s, id, place) {
  const all = [...s.list, null, ...s.rest].map((doc) => doc && { ...doc });
  const from = all.findIndex((doc) => doc?.id === id);
  const [doc] = all.splice(from, 1);
  if (all[from] && !doc.tied) all[from].tied = false;
  all.splice(Math.max(0, Math.min(place, all.length)), 0, doc);
  doc.tied = Boolean(all[all.indexOf(doc) + 1]?.tied);
  all[0] && (all[0].tied = false);
  const line = all.indexOf(null);
  return line ? { ...s, list: all.slice(0, line), rest: all.slice(line + 1) } : s;
}

// A state as the text of a link, and back. Any other text is an error that says why.
const MOST = 16;
const shown = (docs) => docs.map((doc, i) => `${i ? (doc.tied ? "~" : ",") : ""}${doc.id}${doc.grade ?? "_"}`).join("");
export function toLink(s) {
  const set = Object.keys(CHOICES).filter((name) => s[name] !== DEFAULTS[name]);
  return [`list=${shown(s.list)}`, ...(s.rest.length ? [`rest=${shown(s.rest)}`] : []), ...set.map((name) => `${name}=${s[name]}`)].join("&");
}

export function fromLink(text) {
  const s = { ...DEFAULTS, list: [], rest: [] };
  const seen = new Set();
  for (const pair of text.split("&")) {
    const [name, value = ""] = pair.split("=");
    if (seen.has(name)) throw Error(`“${name}” appears twice`);
    seen.add(name);
    if (name === "list" || name === "rest") {
      s[name] = value.split(/(?=[,~])/).map((item) => {
        const found = /^([,~]?)([A-Z])(_|-?\d{1,3}(?:\.\d{1,4})?)$/.exec(item);
        if (!found) throw Error(`“${item.slice(0, 40)}” is not a document`);
        const grade = found[3] === "_" ? null : +found[3];
        if (grade < -10 || grade > 30) throw Error(`grade ${grade} is not from −10 to 30`);
        return { id: found[2], grade, tied: name === "list" && found[1] === "~" };
      });
    } else if (Object.hasOwn(CHOICES, name) && Object.hasOwn(CHOICES[name], value)) s[name] = value;
    else throw Error(`“${pair.slice(0, 40)}” is not a choice`);
  }
  const ids = [...s.list, ...s.rest].map((doc) => doc.id);
  if (!s.list.length) throw Error("it has no list");
  if (ids.length > MOST) throw Error(`it has more than ${MOST} documents`);
  if (new Set(ids).size < ids.length) throw Error("a document appears twice");
  return s;
}
