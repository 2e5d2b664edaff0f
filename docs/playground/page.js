// The page: it draws a state, and makes the next one of what is dragged, typed and chosen.
import {
  CHOICES, DEFAULTS, TOOLS, asTool, bounds, command, compared, differences, effect, figure, formula, fromLink, gainOf, hasBase, measured, moved, notation, python, said, toLink,
} from "./ndcg.js";
import { CHALLENGES, LESSONS, QUERY, STORY, progress, titleOf } from "./lessons.js";

// Where the name of a choice is not its word.
const SHORT = { k: "cutoff", depth: "depth of the ideal" };
const EMBEDDED = new URLSearchParams(location.search).get("embed") === "1";
const HINT = matchMedia("(pointer: coarse)").matches ? "Drag a document by its handle ⠿, or hold its row for a moment. Tap the row for more." : "Drag a document, or change its grade.";
const $ = (id) => document.getElementById(id);
const percent = (share) => `${Math.min(1, Math.max(0, share)) * 100}%`;
const short = (value) => String(+value.toFixed(3)).replace("-", "−");

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const span = (kind, ...children) => element("span", { class: kind }, ...children);
function button(text, act, attributes = {}) {
  const made = element("button", { type: "button", class: "plain", ...attributes }, text);
  made.onclick = act;
  return made;
}

let s = fromLink(STORY[0].link);
let lesson = null;
const solved = new Set();
// The row that was touched last shows all its buttons; the one that is dragged follows the pointer.
let [chosen, drag] = [null, null];
const board = $("board");

const place = (id, of = s) => [...of.list, null, ...of.rest].findIndex((doc) => doc?.id === id);
const docOf = (id) => [...s.list, ...s.rest].find((doc) => doc.id === id);

// Changes. `what` names one, and begins the sentence on its effect; that of a drag is told from where the drag began.
function change(next, what) {
  const sentence = effect(drag?.before ?? s, next, what);
  s = next;
  $("broken").hidden = true;
  $("effect").textContent = sentence;
  draw();
  announce(sentence);
  if (!drag) keep();
}

function edit(id, values, what) {
  const edited = (docs) => docs.map((doc) => (doc.id === id ? { ...doc, ...values } : doc));
  change({ ...s, list: edited(s.list), rest: edited(s.rest) }, what);
}

function move(id, to) {
  const next = moved(s, id, to);
  if (toLink(next) === toLink(s)) return;
  const before = drag?.before ?? s;
  const [from, now] = [before, next].map((each) => each.list.findIndex((doc) => doc.id === id) + 1);
  const pair = [id, before.list[now - 1]?.id];
  const what = !now ? (from ? `Dropping ${id} from the list` : `Moving ${id}`)
    : !from ? `Returning ${id} at rank ${now}`
      : Math.abs(from - now) === 1 ? `Swapping ${(from < now ? pair : pair.reverse()).join(" and ")}`
        : from === now ? `Moving ${id} back` : `Moving ${id} from rank ${from} to rank ${now}`;
  change(next, what);
}

function grade(id, text) {
  const value = Math.min(30, Math.max(-10, Math.round(text * 1e4) / 1e4));
  const old = docOf(id).grade;
  if (text === "" || Number.isNaN(value)) edit(id, { grade: null }, `Marking ${id} as unjudged`);
  else edit(id, { grade: value }, `Grading ${id} ${short(value)}${old === null || old === value ? "" : ` instead of ${short(old)}`}`);
}
const ask = (id) => grade(id, docOf(id).grade === null ? "0" : "");
const step = (id, by) => grade(id, (docOf(id).grade ?? (by > 0 ? -1 : 1)) + by);

function tie(id) {
  const at = place(id);
  if (!at || at >= s.list.length) return;
  const { tied } = s.list[at];
  edit(id, { tied: !tied }, tied ? `Scoring ${id} below ${s.list[at - 1].id}` : `Giving ${id} the same score as ${s.list[at - 1].id}`);
}

function remove(id) {
  if (s.list.length === 1 && place(id) === 0) return;
  // Taken from the end, where nothing ties.
  const next = moved(s, id, Infinity);
  next.rest.pop();
  const row = rowOf(id);
  const near = document.activeElement?.closest(".row") && (row.nextElementSibling ?? row.previousElementSibling);
  change(next, `Removing ${id}`);
  (near?.querySelector(".grip") ?? $("add")).focus();
}

function add() {
  const id = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((letter) => !docOf(letter));
  change({ ...s, list: [...s.list, { id, grade: 0, tied: false }] }, `Adding ${id} at rank ${s.list.length + 1}`);
  rowOf(id).querySelector(".grip").focus();
}

let telling;
function announce(sentence) {
  clearTimeout(telling);
  telling = setTimeout(() => ($("live").textContent = sentence + (lesson && solved.has(lesson) ? " Task done." : "")), 250);
}

// Undo. Each change is an entry of the browser's history, where Back undoes it; an embedded page leaves the history of the
// page around it alone. Changes in quick succession are one, as browsers limit how many entries a page may add.
let [at, past, keeping] = [history.state?.at ?? 0, [], null];
const kind = () => (STORY.includes(lesson) ? `story=${STORY.indexOf(lesson) + 1}` : `challenge=${CHALLENGES.indexOf(lesson) + 1}`);
const address = () => (lesson?.link === toLink(s) ? kind() : toLink(s));
function keep() {
  clearTimeout(keeping);
  keeping = setTimeout(kept, 300);
  $("undo").disabled = false;
}
function kept() {
  clearTimeout(keeping);
  keeping = null;
  at += 1;
  record("pushState");
}
function record(how) {
  const state = { at, link: toLink(s), lesson: LESSONS.indexOf(lesson) };
  past.length = at;
  past[at] = state;
  if (!EMBEDDED) history[how](state, "", `#${address()}`);
  $("undo").disabled = !at;
}
function go(by) {
  if (keeping !== null) kept();
  if (at + by < 0) return;
  if (!EMBEDDED) history.go(by);
  else if (past[at + by]) restore(past[at + by]);
}
function restore(state) {
  at = state.at;
  s = fromLink(state.link);
  lesson = LESSONS[state.lesson] ?? null;
  $("broken").hidden = true;
  show();
}

// The page as a new one: of a lesson, of an entry of the history, of a link.
function show() {
  $("effect").textContent = HINT;
  $("undo").disabled = !at;
  drawLesson();
  draw();
}
function start(next) {
  if (keeping !== null) kept();
  lesson = next;
  s = fromLink(next.link);
  solved.delete(next);
  at += 1;
  record("pushState");
  show();
}

function load() {
  const text = location.hash.slice(1);
  $("broken").hidden = true;
  try {
    const [, name, count] = /^(story|challenge)=(\d+)$/.exec(text || (EMBEDDED ? "" : "story=1")) ?? [];
    const next = (name === "story" ? STORY : CHALLENGES)[count - 1];
    if (next || text) s = fromLink(next?.link ?? decodeURIComponent(text));
    lesson = next ?? null;
  } catch (problem) {
    const why = problem instanceof URIError ? "it is damaged" : problem.message;
    $("broken").textContent = `This link cannot be read: ${why}. The list below is a different one.`;
    $("broken").hidden = false;
  }
  show();
}

addEventListener("popstate", ({ state }) => {
  clearTimeout(keeping);
  keeping = null;
  if (state) return restore(state);
  at += 1;
  load();
  record("replaceState");
});

// What the buttons of a document do, and the keys at its handle.
const ACTIONS = {
  up: (id) => move(id, place(id) - 1), down: (id) => move(id, place(id) + 1),
  less: (id) => step(id, -1), more: (id) => step(id, 1), ask, tie, gone: remove,
};
const KEYS = { ArrowUp: "up", ArrowDown: "down", "-": "less", "+": "more", "?": "ask", u: "ask", "=": "tie", Delete: "gone" };
const idOf = (event) => event.target.closest(".row")?.dataset.id;

// A row is chosen after the click, as it grows on a phone.
board.onclick = (event) => {
  const id = idOf(event);
  ACTIONS[event.target.className]?.(id);
  chosen = id && docOf(id) ? id : null;
  draw();
};
board.oninput = (event) => {
  const { validity, value } = event.target;
  if (!validity.badInput && !/[.-]$/.test(value)) grade(idOf(event), value);
};
addEventListener("keydown", (event) => {
  const { key } = event;
  if (!(event.ctrlKey || event.metaKey) || event.altKey || !["z", "y"].includes(key.toLowerCase())) return;
  event.preventDefault();
  go(key.toLowerCase() === "y" || event.shiftKey ? 1 : -1);
});
board.onkeydown = (event) => {
  const { key, target } = event;
  if (target.className !== "grip" || event.ctrlKey || event.metaKey || event.altKey) return;
  const id = idOf(event);
  if (Object.hasOwn(KEYS, key)) ACTIONS[KEYS[key]](id);
  else if (key === "Home") move(id, 0);
  else if (key === "End") move(id, place(id) < s.list.length ? s.list.length - 1 : s.list.length);
  else if (/^\d$/.test(key)) grade(id, key);
  else return;
  event.preventDefault();
};

// Drawing
function rowOf(id) {
  const there = board.querySelector(`[data-id="${id}"]`);
  if (there) return there;
  const row = $("row").content.firstElementChild.cloneNode(true);
  row.dataset.id = row.querySelector(".name").textContent = id;
  row.querySelector(".title").textContent = titleOf(id);
  for (const part of row.querySelectorAll("[aria-label]")) part.title = part.ariaLabel = part.ariaLabel.replace("#", id);
  return row;
}

// What an unjudged document would add if it had the highest grade.
const could = (doc) => (doc.grade === null ? gainOf(s, +s.scale) * doc.weight : 0);

function bar(part, value, most) {
  part.style.width = percent(most && Math.abs(value) / most);
  part.classList.toggle("loss", value < 0);
}

function barOf(value, most, ...beside) {
  const fill = span("fill");
  bar(fill, value, most);
  return element("span", { class: "bar", "aria-hidden": "true" }, fill, ...beside);
}

function drawBoard(found, most) {
  const all = [...s.list, null, ...s.rest];
  const items = all.map((doc) => (doc ? rowOf(doc.id) : $("line")));
  if (items.some((item, i) => item !== board.children[i]) || items.length !== board.children.length) {
    const before = new Map(items.map((item) => [item, item.isConnected ? item.getBoundingClientRect().top : null]));
    const focused = document.activeElement;
    for (const item of items) for (const each of item.getAnimations()) each.cancel();
    board.replaceChildren(...items);
    if (board.contains(focused)) focused.focus({ preventScroll: true });
    for (const [item, top] of before) {
      const by = top === null || item.dataset.id === drag?.id ? 0 : top - item.getBoundingClientRect().top;
      if (by) slide(item, by);
    }
  }
  const { ranks } = compared(found);
  all.forEach((doc, i) => {
    if (!doc) return;
    const row = items[i];
    const part = (name) => row.querySelector(`.${name}`);
    const listed = i < s.list.length;
    const term = found.rows.find((each) => each.id === doc.id);
    const rank = ranks.find((each) => each.id === doc.id);
    const input = row.querySelector("input");
    row.className = ["row", !listed && "rest", doc.tied && "tied", all[i + 1]?.tied && "ties", listed && doc.grade === null && "open", i + 1 === +s.k && i + 1 < s.list.length && "cut",
      term?.weight === 0 && "below", chosen === doc.id && "chosen", drag?.id === doc.id && "dragged"].filter(Boolean).join(" ");
    part("grip").setAttribute("aria-label", listed ? `Move ${doc.id}, ${titleOf(doc.id)}, rank ${i + 1} of ${s.list.length}` : `Move ${doc.id}, ${titleOf(doc.id)}, not returned`);
    part("rank").textContent = listed ? i + 1 : "–";
    if (document.activeElement !== input || +input.value !== doc.grade) input.value = doc.grade ?? "";
    part("ask").setAttribute("aria-pressed", doc.grade === null);
    part("tie").hidden = !listed || !i;
    part("tie").setAttribute("aria-pressed", doc.tied);
    part("tie").ariaLabel = part("tie").title = listed && i ? `${doc.id} has the same score as ${all[i - 1].id}` : "";
    bar(part("fill"), term?.term ?? 0, most);
    bar(part("could"), term ? could(term) : 0, most);
    bar(part("ghost"), rank?.ideal ?? 0, most);
    part("value").textContent = term ? figure(term.term) : listed ? "left out" : "";
    const cost = rank?.cost ?? 0;
    part("cost").textContent = !rank ? "" : Math.abs(cost) < 5e-4 ? "0" : `${cost > 0 ? "+" : ""}${figure(cost)}`;
    part("cost").classList.toggle("costs", cost <= -5e-4);
    part("cost").classList.toggle("even", Math.abs(cost) < 5e-4);
    part("cost").title = rank ? `This rank earns ${figure(term.term)}; in the ideal, it earns ${figure(rank.ideal)}.` : "";
    part("up").disabled = !i;
    part("gone").disabled = part("down").disabled = listed && s.list.length === 1;
  });
  $("line").textContent = s.rest.length ? "Not returned, but judged: the ideal contains these" : "Not returned: drag a document below this line";
  $("add").disabled = s.list.length + s.rest.length > 15;
}

function slide(item, by) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  item.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 220, easing: "cubic-bezier(.2, .8, .3, 1)" });
}

function drawSum(found) {
  const { unfilled } = compared(found);
  const name = `nDCG${s.k === "all" ? "" : `@${s.k}`}`;
  const lost = 1 - found.ndcg;
  const ranks = unfilled.first === unfilled.last ? `Rank ${unfilled.first} is` : `Ranks ${unfilled.first} to ${unfilled.last} are`;
  const parts = unfilled.last < unfilled.first || found.empty ? [] : [`${ranks} unfilled: ${figure(unfilled.cost)}.`];
  parts.push(found.empty ? `${name} = 0 by convention: there is nothing relevant to find.` : `${name} = 1 ${lost < -5e-4 ? "+" : "−"} ${figure(Math.abs(lost))} = ${figure(found.ndcg)}`);
  $("sum").textContent = parts.join(" ");
}

// The story and its challenges
function drawLesson() {
  document.documentElement.classList.toggle("lesson", lesson !== null);
  const chip = (each, text, label) => button(text, () => start(each), { "aria-label": label, ...(each === lesson ? { "aria-current": "step" } : {}) });
  $("steps").replaceChildren(...STORY.map((each, i) => chip(each, `${i + 1}`, `Step ${i + 1}: ${each.title}`)));
  $("challenges").replaceChildren(...CHALLENGES.map((each) => chip(each, each.title, each.title)));
  if (!lesson) {
    $("lesson").replaceChildren(element("p", {}, "New to nDCG? Five short steps show what it rewards, what it ignores, and why tools disagree about it."),
      element("p", { class: "next" }, button("Start the story", () => start(STORY[0]), { class: "plain primary" })));
    return;
  }
  const step = STORY.indexOf(lesson);
  const next = STORY[step + 1];
  const acts = element("p", { class: "next" }, button("Start over", () => start(lesson)));
  if (step >= 0) acts.append(next ? button(`Next: ${next.title}`, () => start(next), { class: "plain primary" }) : button("To the challenges", () => start(CHALLENGES[0]), { class: "plain primary" }));
  $("lesson").replaceChildren(element("h3", {}, step < 0 ? lesson.title : `${step + 1}. ${lesson.title}`), element("p", {}, lesson.text),
    element("p", { class: "task" }, element("b", { id: "state" }), ` ${lesson.task}`),
    ...(lesson.more ? [element("p", { class: "quiet" }, "Read more: ", element("a", { href: `${document.querySelector(".eyebrow a").getAttribute("href").replace("index.html", "")}${lesson.more[0]}.html` }, lesson.more[1]))] : []), acts);
}

function drawProgress() {
  if (!lesson) return;
  const { done, moves } = progress(LESSONS.indexOf(lesson), s);
  if (done) solved.add(lesson);
  const used = moves === null ? "Only moves count. Undo the other change."
    : moves > lesson.moves ? `${moves} moves are ${moves - lesson.moves} too many.` : `${moves} of ${lesson.moves} ${lesson.moves === 1 ? "move" : "moves"} used.`;
  $("state").textContent = done ? "✓ Done." : lesson.moves && moves !== 0 ? used : "Try it.";
  $("state").parentElement.classList.toggle("done", done);
  [...$("steps").children, ...$("challenges").children].forEach((each, i) => {
    const has = solved.has(LESSONS[i]);
    if (has !== each.classList.contains("solved")) {
      each.classList.toggle("solved", has);
      each.ariaLabel = each.ariaLabel.replace(", done", "") + (has ? ", done" : "");
    }
  });
}

const product = (doc) => `${short(doc.gain)} × ${figure(doc.weight)}`;
function drawTerms(found, most) {
  const cell = (doc, kind) => {
    if (!doc) return element("td");
    const ranks = doc.first < doc.last ? [element("small", {}, `${doc.first}–${doc.last}`)] : [];
    return element("td", { class: `${kind} ${doc.weight ? "" : "below"}` },
      span("sum", span("name", doc.id), ...ranks, span("product", doc.weight ? product(doc) : "below k"), element("b", {}, figure(doc.term))),
      barOf(doc.term, most));
  };
  $("terms").replaceChildren(...Array.from({ length: Math.max(found.rows.length, found.best.length) }, (_, i) =>
    element("tr", {}, element("th", { scope: "row" }, `${i + 1}`), cell(found.rows[i], "mine"), cell(found.best[i], "best"))));
  $("sums").replaceChildren(element("th", { scope: "row" }, "Σ"), element("td", {}, `${notation(s, "DCG")} = ${figure(found.dcg)}`),
    element("td", {}, `${notation(s, "IDCG")} = ${figure(found.idcg)}`));
}

function drawTools(found) {
  $("tools").replaceChildren(...TOOLS.map((tool) => {
    const { ndcg, refusal } = said(s, tool);
    const same = !refusal && Math.abs(ndcg - found.ndcg) < 1e-9;
    const other = asTool(s, tool);
    const why = refusal || same ? [] : differences(s, tool).map((name) => `${SHORT[name] ?? name}: ${CHOICES[name][other[name]] ?? other[name]}`);
    if (found.empty && tool.set.empty) why.push("nothing to find counts as 1");
    const here = span("here");
    here.style.left = percent(found.ndcg);
    return element("tr", { class: refusal ? "refused" : same ? "same" : "other" },
      element("th", { scope: "row" }, tool.name, ...(tool.also ? [element("small", {}, `also ${tool.also}`)] : [])),
      element("td", { class: "figure" }, refusal ? "—" : figure(ndcg)),
      element("td", { class: "track" }, barOf(ndcg ?? 0, 1, here)),
      element("td", { class: "why" }, refusal ?? (same ? "as here" : why.join("; "))));
  }));
}

function worked(name, docs, sum) {
  const terms = docs.filter((doc) => doc.term).map((doc) => product(doc).replace(/^−.*/, "($&)"));
  return `${name} = ${terms.join(" + ") || "0"} = ${figure(sum)}`;
}

function drawWords(found, limits) {
  const [name, dcg, idcg] = ["nDCG", "DCG", "IDCG"].map((each) => notation(s, each));
  const open = s.list.filter((doc) => doc.grade === null).length;
  const lines = [worked(dcg, found.rows, found.dcg), worked(idcg, found.best, found.idcg)];
  lines.push(found.empty ? `${name} = 0, by convention: no document of the ideal has a gain above 0, so there is nothing relevant to find.` : `${name} = ${figure(found.dcg)} / ${figure(found.idcg)} = ${figure(found.ndcg)}`);
  $("worked").replaceChildren(...lines.map((text) => element("p", {}, text)));
  const notes = [];
  if (s.list.some((doc) => doc.tied)) notes.push(`${s.ties === "average" ? "The value is the mean over all orders of documents with equal scores" : `Documents with equal scores are ranked ${CHOICES.ties[s.ties]}`}.`);
  if (open) notes.push(`${open === 1 ? "One document is" : `${open} documents are`} unjudged${s.unjudged === "zero" ? ", with gain 0" : " and left out"}.`);
  if (limits) notes.push(`Whatever grades from ${CHOICES.scale[s.scale]} the judges give, ${name} lies between ${figure(limits.low)} and ${figure(limits.high)}.`);
  else if (open) notes.push("There are no bounds here, because a grade would change the order of the list.");
  if (found.rows.some((doc) => doc.gain < 0)) notes.push(s.negative === "both" ? "A negative gain lowers the value, and also counts in the ideal." : "A negative gain lowers the value; the ideal leaves it out.");
  const range = limits ? `${figure(limits.low)} to ${figure(limits.high)} once all are judged` : "";
  const page = location.href.split(/[?#]/)[0];
  const link = `${page}#${toLink(s)}`;
  const height = 440 + 82 * s.list.length + 53 * s.rest.length;
  const iframe = `<iframe src="${page}?embed=1#${toLink(s).replaceAll("&", "&amp;")}" title="nDCG playground" width="100%" height="${height}" style="border: 0" loading="lazy"></iframe>`;
  $("out").href = link;
  const texts = { iframe, notes: notes.join(" "), range, formula: formula(s), command: command(s), python: python(s), link };
  for (const [id, text] of Object.entries(texts)) $(id).textContent = text;
  Object.assign($("span").style, { left: percent(limits?.low ?? 0), right: percent(1 - (limits?.high ?? 0)) });
  $("mark").style.left = percent(found.ndcg);
}

function draw() {
  const found = measured(s);
  const limits = bounds(s);
  const most = Math.max(...[...found.rows, ...found.best].map((doc) => Math.abs(doc.term)), ...found.rows.map(could));
  const cutoff = s.k === "all" ? "" : `@${s.k}`;
  for (const name of ["cg", "dcg", "idcg", "ndcg"]) $(name).textContent = figure(found[name]);
  for (const label of document.querySelectorAll("[data-at]")) label.textContent = label.dataset.at + cutoff;
  document.querySelector(".unfilled-key").hidden = !found.rows.some((doc) => could(doc));
  drawBoard(found, most);
  drawSum(found);
  drawProgress();
  drawTerms(found, most);
  drawTools(found);
  drawWords(found, limits);
  for (const name of Object.keys(CHOICES)) $(name).value = s[name];
  $("base").disabled = !hasBase(s);
  const set = Object.keys(CHOICES).filter((name) => name !== "k" && s[name] !== DEFAULTS[name]).length;
  $("options").textContent = set ? `Options (${set} changed)` : "Options";
  $("examples").selectedIndex = Math.max(0, [...$("examples").options].findIndex(({ value }) => value === toLink(s)));
}

// Dragging, by the handle or by the row; with a finger, a row has to be held first, as the page scrolls otherwise.
// The board has the pointer, as rows change their place under it.
const HELD = 250;
let holding = null;
function lift(row, { clientY, pointerId }) {
  board.setPointerCapture(pointerId);
  drag = { id: row.dataset.id, before: s, grabbed: clientY - row.getBoundingClientRect().top };
  draw();
}
function letGo() {
  clearTimeout(holding?.timer);
  holding = null;
  if (!drag) return;
  const { id, before } = drag;
  const row = rowOf(id);
  const top = row.getBoundingClientRect().top;
  row.style.transform = "";
  drag = null;
  draw();
  slide(row, top - row.getBoundingClientRect().top);
  if (toLink(s) !== toLink(before)) keep();
}
board.onpointerdown = (event) => {
  const row = event.target.closest(".row");
  const grip = event.target.closest(".grip");
  if (!row || event.button) return;
  if (!grip && event.target.closest("button, input")) return;
  if (event.pointerType === "touch" && !grip) {
    const timer = setTimeout(() => lift(row, event), HELD);
    holding = { timer, y: event.clientY };
    return;
  }
  event.preventDefault();
  if (event.pointerType !== "touch") row.querySelector(".grip").focus({ preventScroll: true });
  lift(row, event);
};
board.onpointermove = (event) => {
  if (holding && !drag && Math.abs(event.clientY - holding.y) > 8) letGo();
  if (!drag) return;
  const { top } = board.getBoundingClientRect();
  const others = [...board.children].filter((item) => item.dataset.id !== drag.id);
  move(drag.id, others.filter((item) => top + item.offsetTop + item.offsetHeight / 2 < event.clientY).length);
  const edge = event.clientY < 90 ? -12 : event.clientY > innerHeight - 60 ? 12 : 0;
  if (edge) scrollBy(0, edge);
  const row = rowOf(drag.id);
  row.style.transform = `translateY(${event.clientY - drag.grabbed - board.getBoundingClientRect().top - row.offsetTop}px)`;
};
board.onpointerup = board.onpointercancel = letGo;
board.addEventListener("touchmove", (event) => drag && event.preventDefault(), { passive: false });
board.oncontextmenu = (event) => drag && event.preventDefault();

async function copy(shown, id) {
  try {
    await navigator.clipboard.writeText($(id).textContent);
    $("live").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren($(id));
    $("live").textContent = "Selected: copy it.";
  }
  const { textContent } = shown;
  shown.textContent = $("live").textContent;
  setTimeout(() => (shown.textContent = textContent), 1500);
}

for (const [name, choices] of Object.entries(CHOICES)) {
  const select = $(name);
  select.append(...Object.entries(choices).map(([value, text]) => element("option", { value }, text)));
  select.onchange = () => change({ ...s, [name]: select.value }, `Setting “${select.labels[0].textContent}” to “${choices[select.value]}”`);
}
$("examples").onchange = ({ target }) => {
  if (!target.value) return;
  lesson = null;
  s = fromLink(target.value);
  kept();
  show();
};
$("add").onclick = add;
$("undo").onclick = () => go(-1);
$("defaults").onclick = () => change({ ...s, ...DEFAULTS, k: s.k }, "Resetting the options");
$("options").onclick = ({ target }) => target.setAttribute("aria-expanded", ($("choices").hidden = !$("choices").hidden) ? "false" : "true");
$("skip").onclick = () => board.querySelector(".grip").focus();
$("list-title").textContent = `Results for “${QUERY}”`;
for (const each of document.querySelectorAll("[data-copy]")) each.onclick = () => copy(each, each.dataset.copy);
$("theme").onclick = () => {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
};
document.documentElement.classList.toggle("embedded", EMBEDDED);
if (history.state?.link && !EMBEDDED) restore(history.state);
else {
  load();
  record("replaceState");
}
