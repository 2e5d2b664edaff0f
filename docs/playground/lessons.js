// What the page teaches: recipes as documents, a story in five steps, and challenges.
import { CHOICES, TOOLS, fromLink, measured, said } from "./ndcg.js";

export const QUERY = "quick dinner tonight";
const RECIPES = [
  "Asparagus omelette", "Bean chilli", "Carbonara", "Duck confit", "Enchiladas", "Fried rice", "Gnocchi with sage",
  "Halloumi wraps", "Instant ramen", "Jambalaya", "Kedgeree", "Lasagne", "Minestrone", "Niçoise salad", "Onion tart",
  "Pufferfish at home", "Quesadillas", "Risotto", "Shakshuka", "Tofu stir-fry", "Udon soup", "Vegetable curry",
  "Waldorf salad", "XO noodles", "Yellow dal", "Ziti bake",
];
export const titleOf = (id) => RECIPES.find((title) => title.startsWith(id));

const rankOf = (s, id) => s.list.findIndex((doc) => doc.id === id) + 1;
const gradeOf = (s, id) => [...s.list, ...s.rest].find((doc) => doc.id === id)?.grade;
const saidBy = (s, name) => said(s, TOOLS.find((tool) => tool.name === name)).ndcg;
const close = (a, b) => Math.abs(a - b) < 1e-9;

// A lesson is a list, what to read, a task, and whether a state fulfils it; `more` is a page to read next.
export const STORY = [
  {
    title: "Order", link: "list=A3,B2,C3,D0,E1,F2&k=6",
    text: `Somebody searched for “${QUERY}” and got these six recipes, best first. A judge graded each from 0 (useless) to 3 (perfect). Adding up the grades gives the cumulated gain, CG: 11, whatever the order. DCG and nDCG also reward good recipes for being near the top.`,
    task: "Duck confit takes two days. Drag it to the last rank and watch nDCG rise while CG stays at 11.",
    reached: (s) => s.list.length > 1 && rankOf(s, "D") === s.list.length,
    more: ["understand/ndcg", "nDCG, step by step"],
  },
  {
    title: "Discount", link: "list=A3,B2,C3,D0,E1,F2&k=6",
    text: "Readers get less patient with every rank. DCG therefore divides each gain by log₂(rank + 1): rank 1 counts in full, rank 2 for 63%, rank 3 for half. The bars show what is left of each grade.",
    task: "Swap Carbonara (rank 3) and Duck confit (rank 4). DCG falls from 6.861 to 6.653.",
    reached: (s) => rankOf(s, "D") === 3 && rankOf(s, "C") === 4,
    more: ["understand/logarithm", "Which logarithm?"],
  },
  {
    title: "Ideal", link: "list=A3,B2,C3,D0,E1,F2&rest=G3,H2&k=6",
    text: "nDCG divides DCG by the DCG of the ideal: the best order of every judged recipe. The outlines show what the ideal earns at each rank, and the number on the right is what the rank costs you. Two good recipes were never returned, so no order of the other six reaches 1.",
    task: "Drag Gnocchi with sage from below the line up to rank 2.",
    reached: (s) => rankOf(s, "G") === 2,
    more: ["understand/missing_documents", "Documents that were not returned"],
  },
  {
    title: "Unjudged", link: "list=A3,B_,C2,D_,E1&rest=F2&k=5",
    text: "Nobody has judged the bean chilli or the duck confit. Most tools silently count them as 0. The striped bars show what they might be worth, and the band at the top shows every value that nDCG could still take.",
    task: "Give both a grade, and the band shrinks to a point.",
    reached: (s) => [gradeOf(s, "B"), gradeOf(s, "D")].every(Number.isFinite),
    more: ["understand/unjudged_documents", "Unjudged documents"],
  },
  {
    title: "Tools disagree", link: "list=A1,B2,C0,U_&rest=X3&k=4",
    text: "Twelve tools score this one list in six different ways: gdeval says 0.308, trec_eval 0.475, LightGBM 0.797, scikit-learn 0.860. They all call it nDCG, but they differ in gain, discount, ideal and ties. So always say which nDCG you mean. The table of tools below explains every difference.",
    task: "Open Options, then change the gain and the ideal until the page shows LightGBM’s 0.797.",
    reached: (s) => close(saidBy(s, "LightGBM"), measured(s).ndcg),
    more: ["reference/dialects", "How each tool computes nDCG"],
  },
];

// A challenge with `moves` allows so many, and nothing else.
export const CHALLENGES = [
  {
    title: "Reach 0.9 in two moves", link: "list=A3,B2,C3,D0,E1,F2&rest=G3,H2&k=6", moves: 2,
    text: "Eight judged recipes, six of them returned.",
    task: "Reach nDCG@6 = 0.9. One move is not enough.",
    reached: (s) => measured(s).ndcg >= 0.9,
  },
  {
    title: "Reach 1 in three moves", link: "list=D0,B2,E1,A3,C3&k=5", moves: 3,
    text: "Everything relevant was returned, almost upside down.",
    task: "Put the list into a perfect order.",
    reached: (s) => measured(s).ndcg === 1,
  },
  {
    title: "Move, and change nothing", link: "list=A3,B2,C2,D0,E1&rest=F3&k=3", moves: 1,
    text: "nDCG doesn’t notice every change.",
    task: "Change the order of the list and keep nDCG@3 at exactly 0.893.",
    reached: (s, start) => s.list.some((doc, i) => doc.id !== start.list[i]?.id) && close(measured(s).ndcg, measured(start).ndcg),
  },
  {
    title: "Judge more, score less", link: "list=A3,B2,C1,D0,U_&k=5",
    text: "A perfect score, and a recipe that nobody has judged.",
    task: "Grade the udon soup, and nothing else, so that nDCG@5 falls below 0.95.",
    reached: (s, start) => measured(s).ndcg < 0.95 && gradeOf(s, "U") !== null && movesBetween(start, { ...s, list: s.list.map((doc) => (doc.id === "U" ? { ...doc, grade: null } : doc)) }) === 0,
  },
  {
    title: "Make two tools agree", link: "list=A1,B2,C0&rest=X3&k=4", moves: 1,
    text: "trec_eval says 0.475 and scikit-learn says 0.860.",
    task: "Move one recipe so that both tools report the same number.",
    reached: (s) => close(saidBy(s, "trec_eval"), saidBy(s, "scikit-learn")),
  },
];

export const LESSONS = [...STORY, ...CHALLENGES];

// The length of the longest common subsequence of two lists of ids.
function common(one, other) {
  let row = Array(other.length + 1).fill(0);
  for (const id of one) row = row.reduce((next, above, i) => [...next, i && (id === other[i - 1] ? row[i - 1] + 1 : Math.max(above, next[i - 1]))], []);
  return row.at(-1);
}

// How few documents have to move to make one state of another; null where grades, ties or choices differ as well.
export function movesBetween(one, other) {
  const all = (s) => [...s.list, ...s.rest];
  const besides = (s) => [...all(s).map((doc) => `${doc.id}${doc.grade}${doc.tied}`).sort(), ...Object.keys(CHOICES).map((name) => s[name])].join();
  if (besides(one) !== besides(other)) return null;
  const ids = (docs) => docs.map((doc) => doc.id);
  const unreturned = ids(one.rest).filter((id) => ids(other.rest).includes(id));
  return all(one).length - common(ids(one.list), ids(other.list)) - unreturned.length;
}

// What a state has achieved in a lesson: whether the task is done, and in how many moves (null: not by moves alone).
export function progress(index, s) {
  const lesson = LESSONS[index];
  const start = fromLink(lesson.link);
  const moves = movesBetween(start, s);
  const fair = !lesson.moves || (moves !== null && moves <= lesson.moves);
  return { done: fair && lesson.reached(s, start), moves };
}
