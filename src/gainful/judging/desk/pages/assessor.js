// The assessor's page: shows a document, records an answer, continues. Nothing here waits for the server.

import { content, fieldsOf, showContent } from "./document_content.js";
import { byId, element, remember, remembered, replace, setTheme, shareOfScale, swatch } from "./elements.js";
import { Keys } from "./keys.js";
import { newKey, Outbox } from "./outbox.js";
import { marker } from "./query_words.js";
import { Queue } from "./queue.js";
import { server } from "./transport.js";

const REMEMBERED = 100; // acts that can be undone
const PACE = 10 * 60 * 1000; // milliseconds
const WHY = { query: "the query is unclear", document: "the document is unclear", loading: "it doesn’t load" };

const LOST = ["No connection", "You have judged all documents loaded on this page. More will follow when the desk is reachable again; your grades are saved in this browser."];
const COMING = ["One moment", "Loading the next documents."];
const NONE = ["Nothing to judge right now", "You have judged all your documents. Documents assigned to others may become available: check again later."];

let me = null;
let outbox = null;
let queue = null;
let keys = null;
let acts = []; // what was done here, the last at the end
let shown = null; // the task on the page
let listed = false; // whether there is a list, instead of one document at a time
let chosen = null; // the item of the list that somebody has gone to
let drawn = ""; // what the list shows
const drafts = new Map(); // item -> note and tags that go out with its grade
let since = 0;
let hidden = 0;
let hiddenSince = null;
let unsure = false; // whether acts of another page may be counted twice
const tags = new Set();
const perQuery = new Map(); // query -> how many of its documents are done, and left

// Says something to a screen reader; what somebody has just done is also shown below the buttons.
function say(text, { shown: visible = true } = {}) {
  byId("said").textContent = text;
  if (visible) byId("flash").textContent = text;
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
  if (act.kind === "cannot") return `can’t judge: ${WHY[act.why]}`;
  return "later";
}

function keep() {
  acts = acts.slice(-REMEMBERED);
  remember(`desk:${me.name_of_store}:acts`, acts);
}

// What is shown

function current() {
  return queue.tasks.find((task) => task.item === chosen) ?? queue.first;
}

// At which ranks of which runs a document stands, the best first; nothing, unless the lead shows it.
function ranksOf(task) {
  const best = Object.entries(task.ranks ?? {}).sort((one, other) => one[1] - other[1]);
  return best.flatMap(([run, rank], place) => [place ? ", " : " · rank ", String(rank), " in ", element("bdi", {}, run)]);
}

function ofProblem(problem) {
  return problem.status ? ["The desk can’t provide a document", problem.message] : LOST;
}

function ofQuery(task) {
  return queue.tasks.filter((each) => each.query === task.query);
}

function show() {
  const task = current();
  document.body.dataset.ahead = queue.tasks.length;
  byId("work").hidden = byId("end").hidden = true;
  document.querySelector(".ask").hidden = !task;
  if (!task) {
    shown = null;
    byId("end").hidden = false;
    const [title, text] = queue.problem ? ofProblem(queue.problem) : queue.asking ? COMING : server.end ?? NONE;
    byId("end-title").textContent = title;
    byId("end-text").textContent = text;
    showLists();
    return;
  }
  byId("work").hidden = false;
  if (shown?.item !== task.item) {
    const other = shown?.query !== task.query;
    // Before anything changes: the page never has the text of one document under the name of another.
    const title = marker(task.query_text ?? "")(task.title || task.doc);
    const fields = fieldsOf(task.fields, howShown(task));
    const text = element("div");
    fillText(text, task);
    if (shown && queue.tasks.includes(shown)) drafts.set(shown.item, { note: byId("note").value, tags: [...tags] });
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
    replace(byId("ranks"), ...ranksOf(task));
    replace(byId("doc-title"), title);
    replace(byId("text"), text);
    replace(byId("fields"), ...(fields ? [fields] : []));
    const draft = drafts.get(task.item);
    byId("note").value = draft?.note ?? task.note ?? "";
    tags.clear();
    for (const tag of draft?.tags ?? []) tags.add(tag);
    showTags();
    openWords(false);
    if (other) say(`Query: ${task.query_text || task.query}`, { shown: false });
    showView();
    if (!listed) {
      byId("document").focus({ preventScroll: true });
      scrollTo(0, 0);
    } else byId("list").querySelector("[aria-current]").focus();
  } else showView();
  showLists();
}

// One document at a time, or all that are here of this query; what is pressed concerns the one that is marked.
function showView() {
  byId("document").hidden = listed;
  byId("list").hidden = !listed;
  byId("open-view").setAttribute("aria-pressed", String(listed));
  const drawing = `${shown.item}: ${ofQuery(shown).map((task) => task.item)}`;
  if (!listed || drawing === drawn) return;
  drawn = drawing;
  const focused = byId("list").contains(document.activeElement);
  replace(byId("list"), ...ofQuery(shown).map((task) => {
    const here = task.item === shown.item;
    const entry = element("li", { tabindex: "-1", "aria-current": here ? "true" : null, "data-item": task.item },
      element("p", { class: "eyebrow" }, task.practice ? "Practice · " : "", "Document ", element("bdi", {}, task.doc), ...ranksOf(task)),
      element("h2", { dir: "auto" }, marker(task.query_text ?? "")(task.title || task.doc)),
      here ? fieldsOf(task.fields, howShown(task)) : null, textOf(task));
    if (!here) {
      const take = element("button", { type: "button", class: "plain" }, "Judge this document", element("span", { class: "unseen" }, `: ${task.title || task.doc}`));
      take.addEventListener("click", () => goTo(task));
      entry.append(take);
    }
    return entry;
  }));
  if (focused) byId("list").querySelector("[aria-current]").focus({ preventScroll: true });
}

function textOf(task) {
  const box = element("div", { class: "text", dir: "auto" });
  fillText(box, task);
  return box;
}

function howShown(task) {
  return { query: task.query_text ?? "", setting: me.doc_format, hosts: me.image_hosts };
}

function fillText(box, task) {
  if (task.text) showContent(box, task.text, howShown(task));
  else if (!Object.keys(task.fields ?? {}).length) replace(box, element("p", { class: "quiet" }, "This document has no text."));
}

function goTo(task) {
  chosen = task.item;
  show();
}

function step(by) {
  if (!listed || !shown) return false;
  const here = ofQuery(shown);
  const task = here[here.findIndex((each) => each.item === shown.item) + by];
  if (task) goTo(task);
  return true;
}

function changeView() {
  listed = !listed;
  remember("desk:list", listed);
  chosen = shown?.item ?? null;
  show();
  if (!shown) return;
  say(listed ? "List of the next documents" : "One document at a time");
  (listed ? byId("list").querySelector("[aria-current]") : byId("document")).focus({ preventScroll: !listed });
}

function showGrades() {
  const buttons = me.scale.map((grade) => {
    const button = element("button", { type: "button", class: "grade", "data-grade": grade.value },
      element("span", { class: "value" }, grade.value), grade.word ? element("span", { class: "word" }, element("bdi", {}, grade.word)) : null,
      element("kbd", { "data-of": `grade:${grade.value}` }));
    button.style.setProperty("--share", shareOfScale(me.scale, grade.value));
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
  const pace = (times.length - 1) / minutes;
  byId("pace").textContent = minutes > 0.25 ? `${pace.toFixed(1)} per minute${me.left ? `, about ${timeOf(me.left / pace)} left` : ""}` : "";
  showPlace();
}

function timeOf(minutes) {
  if (minutes < 60) return `${Math.max(1, Math.round(minutes))} min`;
  const rounded = Math.round(minutes / 10) * 10;
  return `${Math.floor(rounded / 60)} h${rounded % 60 ? ` ${rounded % 60} min` : ""}`;
}

// Which document of its query this is, such as 3 of 15.
function showPlace() {
  const counts = shown && !shown.practice ? perQuery.get(shown.query) : null;
  const of = counts ? counts.done + counts.left : 0;
  byId("query-place").textContent = of ? ` · ${Math.min(counts.done + 1, of)} of ${of} for this query` : "";
}

// The server's counts of a query, and the acts that it has not taken yet.
function learnQueries(told) {
  for (const [query, { done, left }] of Object.entries(told ?? {})) {
    if (perQuery.has(query)) continue;
    const waiting = new Set(outbox.waiting.map((each) => each.key));
    const more = acts.filter((each) => waiting.has(each.key) && each.task.query === query && counts(each, each.task)).length;
    perQuery.set(query, { done: done + more, left: Math.max(0, left - more) });
  }
}

function showLists() {
  showCounts();
  replace(byId("history"), ...acts.toReversed().slice(0, 30).map((each) => {
    const button = element("button", { type: "button", class: "plain" }, "Undo", element("span", { class: "unseen" }, ` ${each.task.title || each.task.doc}`));
    button.addEventListener("click", () => undo(each));
    return element("li", {},
      element("span", { class: "what" }, each.kind === "grade" ? swatch(me.scale, each.grade) : null, element("b", { dir: "auto" }, told(each)), " ", element("span", { dir: "auto" }, each.task.title || each.task.doc)),
      element("span", { class: "quiet" }, each.event ? "saved" : "saving"), button);
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
  const here = ofQuery(task);
  const place = here.findIndex((each) => each.item === task.item);
  chosen = listed ? (here[place + 1] ?? here[place - 1])?.item ?? null : null;
  const note = byId("note").value.trim();
  const spent = performance.now() - since - hidden;
  const made = { key: newKey(), item: task.item, ...what, ms: Math.round(Math.max(spent, 0)), position: task.position, guideline: me.guideline.version };
  if (note && note !== (task.note ?? "")) made.note = note;
  if (tags.size) made.tags = [...tags];
  acts.push({ key: made.key, kind: made.kind, grade: made.grade, why: made.why, task, time: Date.now(), event: null });
  keep();
  drafts.delete(task.item);
  if (!task.practice) byId("feedback").textContent = ""; // it was about another document
  queue.take(task.item);
  outbox.put(made);
  if (counts(made, task)) count(1, task);
  say(`${told(made)}: ${task.title || task.doc}`);
  show();
}

function counts(act, task) {
  return act.kind !== "later" && !task.practice;
}

function count(by, task) {
  me.done += by;
  me.left = Math.max(0, me.left - by);
  const own = perQuery.get(task?.query);
  if (!own) return;
  own.done += by;
  own.left = Math.max(0, own.left - by);
}

// Acts that waited when the page was opened may have been taken already: the server's count is right once none waits.
async function recount() {
  const before = acts.length;
  const told = await server.me().catch(() => null);
  if (!told || outbox.acts.size || acts.length !== before) return;
  unsure = false;
  me.done = told.done;
  me.left = told.left;
  perQuery.clear();
  queue.fill(true);
  showCounts();
}

function undo(which = acts.at(-1)) {
  if (!which) {
    say("Nothing to undo");
    return;
  }
  acts = acts.filter((each) => each !== which);
  keep();
  if (counts(which, which.task)) count(-1, which.task);
  if (which.task.practice) byId("feedback").textContent = ""; // it would tell the answer
  queue.putFirst(which.task);
  chosen = which.task.item;
  outbox.put({ key: newKey(), item: which.task.item, kind: "undo", of: which.key, event: which.event, guideline: me.guideline.version });
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
  list: changeView,
  down: () => step(1),
  up: () => step(-1),
  history: () => byId("history-list").toggleAttribute("open"),
  help: () => openKeys(),
  more: () => queue.fill(true),
};

function pressed(action) {
  if (action.startsWith("grade:")) act({ kind: "grade", grade: Number(action.slice(6)) });
  else return DO[action]();
  return true;
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
    if (answer.feedback && known) tellFeedback(act, answer.feedback, known.task); // else it is undone by now
    showLists();
  },
  refused(act, why) {
    const known = acts.find((each) => each.key === act.key);
    acts = acts.filter((each) => each !== known);
    keep();
    if (known && counts(known, known.task)) count(-1, known.task);
    warn(`Not recorded (${known ? `${told(act)}, ${known.task.title || known.task.doc}` : act.kind}): ${why}`);
    showLists();
  },
  state(name, waiting, message) {
    const line = byId("saved");
    line.dataset.state = name;
    line.textContent = name === "saved" ? "All saved" : name === "sending" ? `Saving ${waiting}`
      : `${message ? "Not saved" : "No connection"}: ${waiting} saved in this browser`;
    if (message) {
      warn(message);
      byId("alert").dataset.problem = "1";
    } else if (name === "saved") clearProblem();
    if (name === "saved" && unsure) recount();
    if (name === "saved" && document.body.dataset.ready && !queue.first) queue.fill(true); // what was put off is there again
    if (waiting && !outbox?.kept) warn("This browser can’t store data: keep this page open until everything is saved.");
  },
};

function tellFeedback(act, feedback, task) {
  const right = feedback.right ? ", the same as the lead" : `; the lead’s grade is ${wordOf(feedback.answer)}`;
  const text = `Practice: you graded ${task.title || task.doc} ${wordOf(act.grade)}${right}. ${feedback.text}`;
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

// What the lead may change meanwhile.
function showFacts() {
  document.title = `${me.title} · judging desk`;
  byId("title").textContent = me.title;
  for (const tag of tags) if (!me.tags.includes(tag)) tags.delete(tag);
  if (shown) showTags();
  const guideline = me.guideline.text || "There is no guideline. Judge how well the document answers the query.";
  replace(byId("guideline-text"), content(guideline, { setting: "markdown", hosts: me.image_hosts }).made);
}

// Every answer has a mark of these; another one means that they have changed.
async function heardMark(mark) {
  if (!mark || mark === me.mark || heardMark.asking) return;
  heardMark.asking = true;
  const told = await server.me().catch(() => null);
  heardMark.asking = false;
  if (!told) return;
  const newer = told.guideline.version !== me.guideline.version;
  Object.assign(me, { title: told.title, doc_format: told.doc_format, scale: told.scale, guideline: told.guideline, tags: told.tags, mark: told.mark });
  showFacts();
  showGrades();
  keys.setScale(me.scale);
  showKeys();
  if (newer) {
    byId("guideline").open = true;
    byId("feedback").classList.remove("right");
    byId("feedback").textContent = `The guideline has changed to version ${me.guideline.version}.`;
  }
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
      (listed ? byId("list").querySelector("[aria-current]") : byId("document")).focus();
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
    warn(problem.status ? problem.message : "The desk doesn’t respond. Trying again.");
    if (!problem.status || problem.status >= 500 || problem.status === 429) setTimeout(begin, 3000);
    return;
  }
  warn("");
  me.name_of_store = `${me.study}:${me.name}`;
  byId("to-lead").hidden = me.role !== "lead";
  listed = remembered("desk:list", false);
  showFacts();
  byId("guideline").open = matchMedia("(min-width: 60rem)").matches;
  acts = remembered(`desk:${me.name_of_store}:acts`, []);
  keys = new Keys(me.name_of_store, me.scale, pressed);
  const asked = {
    ...server,
    next: (count) => server.next(count).then((told) => (heardMark(told.mark), learnQueries(told.queries), told)),
    act: (made) => server.act(made).then((told) => (heardMark(told.mark), told)),
  };
  outbox = new Outbox(me.name_of_store, asked, heard);
  queue = new Queue(asked, outbox, queueChanged);
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
