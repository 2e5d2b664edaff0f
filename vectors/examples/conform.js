// An nDCG that answers conformance cases: gainful conformance node vectors/examples/conform.js
const gains = { linear: (grade) => grade, exp2: (grade) => 2 ** grade - 1, binary: (grade) => (grade > 0 ? 1 : 0) };
const done = { ideal: "judged", depth: "cutoff", unjudged: "zero", missing: "zero", empty: "zero", negative: "keep", ties: "order" };

const dcg = (list, k) => list.slice(0, k ?? undefined).reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);

function ndcg({ judged, run }, k, gain) {
  const grades = new Map(judged); // not an object: an id may be __proto__
  const ranked = [...(run ?? [])].sort((one, other) => other[1] - one[1]);
  const best = dcg([...grades.values()].map((grade) => Math.max(0, gain(grade))).sort((a, b) => b - a), k);
  return best ? dcg(ranked.map(([doc]) => gain(grades.get(doc) ?? 0)), k) / best : 0;
}

function answer({ id, measure, choices, queries }) {
  const gain = gains[measure.gain];
  const others = Object.keys(choices).filter((name) => choices[name] !== done[name]);
  if (measure.name !== "nDCG" || measure.discount !== "log" || !gain || others.length) return { id, skip: "not done" };
  const judged = queries.filter((query) => query.judged !== null);
  return { id, value: judged.reduce((sum, query) => sum + ndcg(query, measure.k, gain), 0) / judged.length };
}

const lines = require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean);
console.log(lines.map((line) => JSON.stringify(answer(JSON.parse(line)))).join("\n"));
