// The desk without a server: the documents are in the page, and acts stay in the browser until they are downloaded.

import { byId, remember, remembered } from "./elements.js";

const data = JSON.parse(byId("data").textContent);
const place = `desk:offline:${data.me.study}:${data.me.name}`;
let done = remembered(place, []);

// What is said of each document now, as the server would derive it.
function states() {
  const undone = new Set(done.filter((act) => act.kind === "undo").map((act) => act.of));
  const found = new Map();
  for (const act of done) if (act.kind !== "undo" && !undone.has(act.key)) found.set(act.item, act.kind);
  return found;
}

function download() {
  const text = JSON.stringify({ format: data.format, study: data.me.study, assessor: data.me.name, proof: data.proof, acts: done }, null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "grades.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

byId("download").hidden = false;
byId("download").addEventListener("click", download);

export const server = {
  end: ["All documents judged", "You have judged all documents of this page. Download your grades and send the file to the lead."],
  async me() {
    const found = states();
    const counted = data.tasks.filter((task) => !task.practice);
    const judged = counted.filter((task) => found.has(task.item) && found.get(task.item) !== "later").length;
    return { ...data.me, done: judged, left: counted.length - judged };
  },
  async next(count) {
    const found = states();
    const fresh = data.tasks.filter((task) => !found.has(task.item));
    const later = data.tasks.filter((task) => found.get(task.item) === "later");
    const tasks = [...fresh, ...later].slice(0, count);
    const queries = {};
    for (const task of data.tasks.filter((each) => !each.practice)) {
      const counts = queries[task.query] ??= { done: 0, left: 0 };
      counts[found.has(task.item) && found.get(task.item) !== "later" ? "done" : "left"] += 1;
    }
    return { tasks, queries };
  },
  async act(acts) {
    const known = new Map(done.map((act, index) => [act.key, index + 1]));
    const confirmed = acts.map((act) => {
      if (!known.has(act.key)) known.set(act.key, done.push(act));
      return { key: act.key, event: known.get(act.key), item: act.item, grade: act.grade ?? null };
    });
    if (!remember(place, done)) throw new Error("This browser can’t store data.");
    return { confirmed, refused: [] };
  },
};
