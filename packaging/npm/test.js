// The package on the conformance vectors, which stand beside it in the repository, and on bad input.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { cg, dcg, discount, evaluate, gain, idcg, measure, ndcg } from "./index.js";

const VECTORS = new URL("../../vectors/", import.meta.url);
const cases = readdirSync(VECTORS).filter((name) => name.endsWith(".json"))
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, VECTORS), "utf8")).cases);

const table = (rows) => { const gains = new Map(rows); return (grade) => gains.get(grade) ?? 0; };
// What this package leaves to gainful itself.
const LEFT_OUT = {
  "another measure": ({ measure: { name } }) => !["CG", "DCG", "IDCG", "nDCG"].includes(name),
  "no judgments": ({ queries }) => queries.some(({ judged }) => judged === null),
  duplicates: ({ choices }) => "duplicates" in choices,
  "the query's own document": ({ choices }) => "drop_self" in choices,
  "single precision": ({ choices }) => choices.precision === "single",
  "a missing query that doesn't count": ({ choices }) => (choices.missing ?? "zero") !== "zero",
  "unfilled ranks": ({ choices }) => (choices.absent ?? "zero") !== "zero",
  "unjudged documents": ({ choices }) => !["zero", "condense"].includes(choices.unjudged ?? "zero"),
  "negative grades": ({ choices }) => ["error", "unjudged"].includes(choices.negative),
  "empty queries": ({ choices }) => !["zero", "one"].includes(choices.empty ?? "zero"),
};
const NAMES = ["ideal", "ties", "depth", "unjudged", "negative", "empty"];

function optionsOf({ measure: { k, gain, discount, base, exponent }, choices }) {
  const chosen = Object.fromEntries(NAMES.filter((name) => name in choices).map((name) => [name, choices[name]]));
  return {
    ...chosen, k, base,
    gain: Array.isArray(gain) ? table(gain) : gain,
    discount: Array.isArray(discount) ? (rank) => discount[rank - 1] ?? 0 : discount === "power" ? `power(${exponent})` : discount,
  };
}

const close = (found, expected, id) => assert.ok(Math.abs(found - expected) <= 1e-12 * Math.max(1, Math.abs(expected)), `${id}: ${found} is not ${expected}`);
let count = 0;
const leftOut = {};
for (const one of cases) {
  const reason = Object.keys(LEFT_OUT).find((name) => LEFT_OUT[name](one));
  if (reason) { leftOut[reason] = (leftOut[reason] ?? 0) + 1; continue; }
  const judgments = new Map(one.queries.map(({ query, judged }) => [query, judged]));
  const run = new Map(one.queries.map(({ query, run }) => [query, run ?? []]));
  const { mean, queries } = evaluate(judgments, run, optionsOf(one));
  const name = one.measure.name.toLowerCase();
  close(mean[name], one.expect.value, one.id);
  for (const [query, expected] of Object.entries(one.expect.queries)) close(queries[query][name], expected, `${one.id}, ${query}`);
  count += 1;
}
assert.ok(count > 0.7 * cases.length, `only ${count} of ${cases.length} vectors`);
assert.deepEqual(Object.keys(leftOut).sort(), Object.keys(LEFT_OUT).sort());

// By hand: 3 + 2/log2(3) + 3/2 + 0 + 1/log2(6) + 2/log2(7).
const list = [3, 2, 3, 0, 1, 2];
close(dcg(list), 3 + 2 / Math.log2(3) + 3 / 2 + 1 / Math.log2(6) + 2 / Math.log2(7), "dcg");
assert.equal(cg(list), 11);
assert.equal(ndcg(list).toFixed(3), "0.961");
assert.equal(ndcg(list, { judged: [...list, 3, 2], k: 6 }).toFixed(3), "0.785");
assert.equal(dcg(list, { gain: "exp2" }).toFixed(3), "13.848");
assert.equal(idcg([0, 1]), 1);
assert.equal(gain(3, { gain: "exp2" }), 7);
assert.equal(discount(3), 0.5);
assert.equal(measure({ a: 1 }, ["b", "a"]).ndcg.toFixed(4), "0.6309");
const shop = evaluate({ shoes: { d1: 3, d2: 1 }, hats: { d7: 2 } }, { shoes: { d2: 0.9, d1: 0.4 }, hats: ["d9", "d7"] }, { k: 10 });
assert.equal(shop.queries.shoes.ndcg.toFixed(3), "0.797");
assert.equal(shop.mean.ndcg.toFixed(3), "0.714");

const refused = (call, words) => assert.throws(call, (problem) => words.every((word) => problem.message.includes(word)));
refused(() => ndcg(list, { k: 0 }), ["k", "whole number"]);
refused(() => ndcg(list, { gain: "exp" }), ["gain", "exp2", "function"]);
refused(() => ndcg(list, { gains: "exp2" }), ["gains", "no such option"]);
refused(() => ndcg([1, NaN]), ["grades[1]", "finite"]);
refused(() => ndcg([3, 3], { judged: [3] }), ["judged", "3"]);
refused(() => evaluate({ q: { a: 1 } }, { q: ["a", "a"] }), ["query q", "twice"]);
refused(() => evaluate({}, {}), ["judgments"]);
console.log(`${count} of ${cases.length} vectors, and the package's own tests, pass`);
