// The assessor's page: shows a document, takes an answer, goes on. Nothing here waits for the server.

import { byId, element, remember, remembered, replace, setTheme } from "./elements.js";
import { Keys } from "./keys.js";
import { newKey, Outbox } from "./outbox.js";
import { marked } from "./query_words.js";
import { Queue } from "./queue.js";
import { server } from "./transport.js";

const REMEMBERED = 100; // acts that can be undone
const PACE = 10 * 60 * 1000; // milliseconds
const WHY = { query: "the query is unclear", document: "the document is unclear", loading: "it does not load" };

let me = null;
let outbox = null;
let queue = null;
let keys = null;
let acts = []; // what was done here, the last at the end
let shown = null; // the task on the page
let since = 0;
let hidden = 0;
let hiddenSince = null;
let unsure = false; // whether acts of another page may be counted twice
const tags = new Set();

function say(text) {
  byId("said").textContent = text;
  const flash = byId("flash");
  flash.textContent = text;
  flash.classList.remove("on");
  void flash.offsetWidth; // so that it begins anew
  flash.classList.add("on");
}

function warn(text) {
  byId("alert").textContent = text;
}

function wordOf(value) {
  const grade = me.scale.find((each) => each.value === value);
  return grade?.word ? `${value}, ${grade.word}` : String(value);
}

function told(act) {
  if (act.kind === "grade") return wordOf(act.grade);
  if (act.kind === "cannot") return `cannot judge: ${WHY[act.why]}`;
  return "later";
}

function keep() {
  acts = acts.slice(-REMEMBERED);
  remember(`desk:${me.name_of_store}:acts`, acts);
}

// What is shown

function show() {
  const task = queue.first;
  byId("work").hidden = byId("end").hidden = true;
  document.querySelector(".ask").hidden = !task;
  if (!task) {
    shown = null;
    byId("end").hidden = false;
    byId("end-text").textContent = queue.asking
      ? "The next documents are on their way."
      : "Everything that is yours to judge is judged. Documents that others hold may come free: look again later.";
    showLists();
    return;
  }
  byId("work").hidden = false;
  if (shown?.item !== task.item) {
    const other = shown?.query !== task.query;
    shown = task;
    since = performance.now();
    hidden = 0;
    hiddenSince = document.hidden ? since : null;
    byId("query-id").textContent = task.query;
    byId("query").textContent = task.query_text || task.query;
    byId("description").textContent = task.description ?? "";
    byId("description").hidden = !task.description;
    byId("doc-id").textContent = task.doc;
    byId("practice").hidden = !task.practice;
    byId("doc-title").textContent = "";
    byId("doc-title").append(...marked(task.title || task.doc, task.query_text ?? ""));
    const text = byId("text");
    replace(text, ...(task.text ? marked(task.text, task.query_text ?? "") : [element("p", { class: "quiet" }, "There is no text of this document.")]));
    byId("note").value = task.note ?? "";
    tags.clear();
    showTags();
    openWords(false);
    byId("document").focus({ preventScroll: true });
    scrollTo(0, 0);
    byId("document").scrollTop = 0;
    if (other) say(`Query: ${task.query_text || task.query}`);
  }
  showLists();
}

function showGrades() {
  const buttons = me.scale.map((grade) => {
    const button = element("button", { type: "button", class: "grade", "data-grade": grade.value },
      element("span", { class: "value" }, grade.value), grade.word ? element("span", { class: "word", dir: "auto" }, grade.word) : null,
      element("kbd", { "data-of": `grade:${grade.value}` }));
    button.addEventListener("click", () => act({ kind: "grade", grade: grade.value }));
    return button;
  });
  replace(byId("grades"), ...buttons);
}

function showKeys() {
  for (const label of document.querySelectorAll("kbd[data-of]")) {
    label.textContent = keys.of(label.dataset.of);
    label.hidden = !label.textContent;
  }
}

function showTags() {
  replace(byId("tags"), ...me.tags.map((tag) => {
    const button = element("button", { type: "button", class: "chip", "aria-pressed": String(tags.has(tag)), dir: "auto" }, tag);
    button.addEventListener("click", () => {
      if (!tags.delete(tag)) tags.add(tag);
      button.setAttribute("aria-pressed", String(tags.has(tag)));
    });
    return button;
  }));
}

function showCounts() {
  const total = me.done + me.left;
  const bar = byId("progress");
  bar.max = Math.max(total, 1);
  bar.value = me.done;
  byId("count").textContent = `${me.done} of ${total}`;
  const times = acts.map((act) => act.time).filter((time) => time > Date.now() - PACE);
  const minutes = (times.at(-1) - times[0]) / 60000;
  byId("pace").textContent = minutes > 0.25 ? `${((times.length - 1) / minutes).toFixed(1)} a minute` : "";
}

function showLists() {
  showCounts();
  const same = queue.tasks.slice(1).filter((task) => task.query === shown?.query);
  replace(byId("next-documents"), ...same.map((task) => {
    const button = element("button", { type: "button", class: "plain", dir: "auto" }, task.title || task.doc);
    button.addEventListener("click", () => {
      queue.putFirst(task);
      show();
    });
    return element("li", {}, button, element("p", { class: "quiet", dir: "auto" }, (task.text ?? "").slice(0, 160)));
  }));
  byId("next-list").hidden = !same.length;
  replace(byId("history"), ...acts.toReversed().slice(0, 30).map((each) => {
    const button = element("button", { type: "button", class: "plain" }, "Undo", element("span", { class: "unseen" }, ` ${each.task.title || each.task.doc}`));
    button.addEventListener("click", () => undo(each));
    return element("li", {},
      element("span", { class: "what" }, element("b", { dir: "auto" }, told(each)), " ", element("span", { dir: "auto" }, each.task.title || each.task.doc)),
      element("span", { class: "quiet" }, each.event ? "saved" : "on its way"), button);
  }));
  byId("history-list").hidden = !acts.length;
}

function openWords(open) {
  byId("words").hidden = !open;
  document.querySelector("[data-action=note]").setAttribute("aria-expanded", String(open));
}

// What is done

function act(what) {
  if (!shown) return;
  const task = shown;
  const note = byId("note").value.trim();
  const spent = performance.now() - since - hidden;
  const made = { key: newKey(), item: task.item, ...what, ms: Math.round(Math.max(spent, 0)), position: task.position };
  if (note && note !== (task.note ?? "")) made.note = note;
  if (tags.size) made.tags = [...tags];
  acts.push({ key: made.key, kind: made.kind, grade: made.grade, why: made.why, task, time: Date.now(), event: null });
  keep();
  queue.take(task.item);
  outbox.put(made);
  if (counts(made, task)) count(1);
  say(`${told(made)}: ${task.title || task.doc}`);
  show();
}

function counts(act, task) {
  return act.kind !== "later" && !task.practice;
}

function count(by) {
  me.done += by;
  me.left = Math.max(0, me.left - by);
}

// Acts that waited when the page was opened may have been taken already: the server's count is right once none waits.
async function recount() {
  const before = acts.length;
  const told = await server.me().catch(() => null);
  if (!told || outbox.acts.size || acts.length !== before) return;
  unsure = false;
  me.done = told.done;
  me.left = told.left;
  showCounts();
}

function undo(which = acts.at(-1)) {
  if (!which) {
    say("There is nothing to undo");
    return;
  }
  acts = acts.filter((each) => each !== which);
  keep();
  if (counts(which, which.task)) count(-1);
  queue.putFirst(which.task);
  outbox.put({ key: newKey(), item: which.task.item, kind: "undo", of: which.key, event: which.event });
  say(`Undone: ${told(which)}`);
  show();
}

const DO = {
  undo: () => undo(),
  later: () => act({ kind: "later" }),
  cannot: () => shown && byId("cannot").showModal(),
  note: () => {
    openWords(byId("words").hidden);
    if (!byId("words").hidden) byId("note").focus();
  },
  guideline: () => byId("guideline").toggleAttribute("open"),
  list: () => byId("next-list").toggleAttribute("open"),
  history: () => byId("history-list").toggleAttribute("open"),
  help: () => openKeys(),
  more: () => queue.fill(true),
};

function pressed(action) {
  if (action.startsWith("grade:")) act({ kind: "grade", grade: Number(action.slice(6)) });
  else DO[action]();
}

function openKeys() {
  const draw = (action) => {
    showKeys();
    replace(byId("key-fields"), ...keys.fields(draw));
    byId("keys-on").checked = keys.on;
    if (action) byId("key-fields").querySelectorAll("input")[Object.keys(keys.first).indexOf(action)].focus();
  };
  draw();
  if (!byId("keys").open) byId("keys").showModal();
}

// What the server says

const heard = {
  confirmed(act, answer) {
    queue.confirmed(act.item);
    const known = acts.find((each) => each.key === act.key);
    if (known) known.event = answer.event;
    keep();
    if (answer.feedback) tellFeedback(act, answer.feedback, known);
    showLists();
  },
  refused(act, why) {
    const known = acts.find((each) => each.key === act.key);
    acts = acts.filter((each) => each !== known);
    keep();
    if (known && counts(known, known.task)) count(-1);
    warn(`Not recorded (${known ? `${told(act)}, ${known.task.title || known.task.doc}` : act.kind}): ${why}`);
    showLists();
  },
  state(name, waiting, message) {
    const line = byId("saved");
    line.dataset.state = name;
    line.textContent = name === "saved" ? "All saved" : name === "sending" ? `Saving ${waiting}` : `No connection: ${waiting} kept in this browser`;
    if (message) {
      warn(message);
      byId("alert").dataset.problem = "1";
    } else if (name === "saved") clearProblem();
    if (name === "saved" && unsure) recount();
    if (name === "saved" && document.body.dataset.ready && !queue.first) queue.fill(true); // what was put off is there again
    if (waiting && !outbox?.kept) warn("This browser keeps nothing: leave the page open until all is saved.");
  },
};

function tellFeedback(act, feedback, known) {
  const right = feedback.right ? "as the lead does" : `the lead gives ${wordOf(feedback.answer)}`;
  const text = `Practice: you gave ${wordOf(act.grade)} to ${known?.task.title || known?.task.doc || "it"}, ${right}. ${feedback.text}`;
  byId("feedback").textContent = text;
  byId("feedback").classList.toggle("right", feedback.right);
}

function clearProblem() {
  const line = byId("alert");
  if (line.dataset.problem) {
    line.textContent = "";
    delete line.dataset.problem;
  }
}

function queueChanged(problem) {
  if (problem?.status) {
    warn(problem.message);
    byId("alert").dataset.problem = "1";
  } else if (!problem) clearProblem();
  show();
  if (problem && queue.tasks.length < 2) setTimeout(() => queue.fill(true), problem.wait ? problem.wait * 1000 : 2000);
}

function listen() {
  for (const button of document.querySelectorAll("[data-action]")) button.addEventListener("click", () => DO[button.dataset.action]());
  for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
  for (const button of document.querySelectorAll("[data-why]")) {
    button.addEventListener("click", () => {
      byId("cannot").close();
      act({ kind: "cannot", why: button.dataset.why });
    });
  }
  byId("cannot").addEventListener("keydown", (event) => {
    event.stopPropagation(); // the same key must not judge the next document
    byId("cannot").querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
  byId("note").addEventListener("keydown", (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey)) {
      event.preventDefault();
      byId("document").focus();
    }
  });
  byId("open-keys").addEventListener("click", openKeys);
  byId("keys-on").addEventListener("change", () => {
    keys.on = byId("keys-on").checked;
    keys.save();
    showKeys();
  });
  byId("keys-reset").addEventListener("click", () => {
    keys.reset();
    openKeys();
  });
  document.addEventListener("visibilitychange", () => {
    const now = performance.now();
    if (document.hidden) hiddenSince = now;
    else if (hiddenSince !== null) {
      hidden += now - hiddenSince;
      hiddenSince = null;
    }
  });
}

async function begin() {
  setTheme();
  try {
    me = await server.me();
  } catch (problem) {
    warn(problem.status ? problem.message : "The desk does not answer. This page tries again.");
    if (!problem.status || problem.status >= 500 || problem.status === 429) setTimeout(begin, 3000);
    return;
  }
  warn("");
  me.name_of_store = `${me.study}:${me.name}`;
  document.title = `${me.title} · judging desk`;
  byId("title").textContent = me.title;
  byId("to-lead").hidden = me.role !== "lead";
  byId("guideline-text").textContent = me.guideline.text || "There is none: judge how well the document answers the query.";
  byId("guideline").open = matchMedia("(min-width: 60rem)").matches;
  acts = remembered(`desk:${me.name_of_store}:acts`, []);
  keys = new Keys(me.name_of_store, me.scale, pressed);
  outbox = new Outbox(me.name_of_store, server, heard);
  queue = new Queue(server, outbox, queueChanged);
  unsure = outbox.acts.size > 0;
  for (const each of outbox.waiting) {
    if (each.kind === "grade" || each.kind === "cannot") count(1);
    else if (each.kind === "undo") count(-1);
  }
  showGrades();
  showKeys();
  listen();
  outbox.tell();
  outbox.send();
  await queue.fill(true);
  document.body.dataset.ready = "1";
}

begin();
