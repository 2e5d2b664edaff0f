// CG, DCG and nDCG of lists and of runs. The arithmetic is in ndcg.js, which the playground uses, too.
import { CHOICES, DEFAULTS, discountOf, gainOf, measured } from "./ndcg.js";

const OPTIONS = ["k", "gain", "discount", "base", "ideal", "ties", "depth", "unjudged", "negative", "empty"];
const ALLOWED = { ...CHOICES, empty: { zero: "0", one: "1" } };
const POWER = /^power\((\d+(\.\d+)?)\)$/;

function settings(options = {}) {
  const chosen = { ...DEFAULTS, empty: "zero" };
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!OPTIONS.includes(name)) throw new TypeError(`${name}: no such option. Options: ${OPTIONS.join(", ")}.`);
    chosen[name] = read(name, value);
  }
  return chosen;
}

function read(name, value) {
  if (name === "k") {
    if (value === null || value === Infinity) return "all";
    if (Number.isInteger(value) && value > 0) return value;
    throw new RangeError(`k: expected a whole number from 1, found ${value}.`);
  }
  if (name === "base") {
    if (value === "e" || (Number.isFinite(+value) && +value > 1)) return value;
    throw new RangeError(`base: expected "e" or a number above 1, found ${value}.`);
  }
  if ((name === "gain" || name === "discount") && typeof value === "function") return value;
  if (name === "discount" && POWER.test(value)) return value;
  if (typeof value === "string" && Object.hasOwn(ALLOWED[name], value)) return value;
  const more = name === "gain" || name === "discount" ? ", or a function" : "";
  throw new RangeError(`${name}: expected ${Object.keys(ALLOWED[name]).join(", ")}${more}, found ${value}.`);
}

function number(value, where) {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError(`${where}: expected a finite number, found ${value}.`);
}

const pairs = (given) => (given instanceof Map ? [...given] : Array.isArray(given) ? given : Object.entries(given));

// A list of grades in the order that was returned; null is a document without a grade.
function stateOfList(grades, { judged, ...options }) {
  const state = settings({ ties: "order", ...options });
  const list = Array.from(grades, (grade, i) => ({ id: `${i}`, grade: grade === null ? null : number(grade, `grades[${i}]`), tied: false }));
  const rest = [];
  if (judged !== undefined) {
    const left = new Map();
    for (const [i, grade] of [...judged].entries()) left.set(number(grade, `judged[${i}]`), (left.get(grade) ?? 0) + 1);
    for (const { grade } of list) {
      if (grade === null || (grade === 0 && !left.get(0))) continue;
      if (!left.get(grade)) throw new RangeError(`judged: expected all known grades, including the list's; the list has more grades ${grade}.`);
      left.set(grade, left.get(grade) - 1);
    }
    for (const [grade, count] of left) for (let i = 0; i < count; i++) rest.push({ id: `judged ${grade} ${i}`, grade });
  }
  return { ...state, list, rest };
}

// One query: grades and scores by document, as objects, Maps or arrays of pairs; or documents in order.
function stateOfQuery(judged, run, options, where) {
  const grades = new Map(pairs(judged).map(([id, grade]) => [`${id}`, number(grade, `${where}, grade of ${id}`)]));
  const ordered = Array.isArray(run) && !run.some(Array.isArray);
  const scored = ordered ? run.map((id, i) => [id, -i]) : pairs(run);
  const ranked = scored.map(([id, score]) => [`${id}`, number(score, `${where}, score of ${id}`)]);
  const returned = new Set(ranked.map(([id]) => id));
  if (returned.size < ranked.length) throw new RangeError(`${where}: a document is listed twice.`);
  ranked.sort((one, other) => other[1] - one[1]);
  const list = ranked.map(([id, score], i) => ({ id, grade: grades.get(id) ?? null, tied: i > 0 && score === ranked[i - 1][1] }));
  const rest = [...grades].filter(([id]) => !returned.has(id)).map(([id, grade]) => ({ id, grade }));
  return { ...settings(options), list, rest };
}

const values = (state) => {
  const { cg, dcg, idcg, ndcg } = measured(state);
  return { cg, dcg, idcg, ndcg };
};

export const cg = (grades, options = {}) => values(stateOfList(grades, options)).cg;
export const dcg = (grades, options = {}) => values(stateOfList(grades, options)).dcg;
export const idcg = (grades, options = {}) => values(stateOfList(grades, options)).idcg;
export const ndcg = (grades, options = {}) => values(stateOfList(grades, options)).ndcg;

export const gain = (grade, options = {}) => gainOf(settings(options), number(grade, "grade"));
export const discount = (rank, options = {}) => discountOf(settings(options), rank);

// All values of one query.
export const measure = (judged, run, options = {}) => values(stateOfQuery(judged, run, options, "the query"));

// All values of each judged query, and their means. A judged query without results counts as 0; others are ignored.
export function evaluate(judgments, run, options = {}) {
  const lists = new Map(pairs(run).map(([query, documents]) => [`${query}`, documents]));
  const queries = Object.fromEntries(
    pairs(judgments).map(([query, judged]) => {
      const where = `query ${query}`;
      return [query, values(stateOfQuery(judged, lists.get(`${query}`) ?? [], options, where))];
    }),
  );
  const rows = Object.values(queries);
  if (!rows.length) throw new RangeError("judgments: expected at least one query.");
  const mean = (name) => rows.reduce((sum, row) => sum + row[name], 0) / rows.length;
  return { queries, mean: { cg: mean("cg"), dcg: mean("dcg"), idcg: mean("idcg"), ndcg: mean("ndcg") } };
}
