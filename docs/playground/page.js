// The page: it draws a state, and makes another one of what is dragged, typed and chosen.
import {
  CHOICES, TOOLS, asTool, bounds, command, differences, formula, fromLink, gainOf, hasBase, measured, moved, notation, python, said, toLink,
} from "./ndcg.js";

// Where the name of a choice is not its word.
const SHORT = { k: "cutoff", depth: "ideal" };
const $ = (id) => document.getElementById(id);
const number = (value) => value.toFixed(Math.abs(value) < 100 ? 3 : 1).replace("-", "−");
const percent = (share) => `${Math.min(1, Math.max(0, share)) * 100}%`;
const short = (value) => String(+value.toFixed(3)).replace("-", "−");

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const span = (kind, ...children) => element("span", { class: kind }, ...children);

let s = fromLink($("examples").options[1].value);
let dragged = null;
const board = $("board");

const place = (id) => [...s.list, null, ...s.rest].findIndex((doc) => doc?.id === id);
const docOf = (id) => [...s.list, ...s.rest].find((doc) => doc.id === id);

// Changes
function change(next, what) {
  s = next;
  $("broken").hidden = true;
  draw();
  keep();
  tell(what);
}

function edit(id, values, what) {
  const edited = (docs) => docs.map((doc) => (doc.id === id ? { ...doc, ...values } : doc));
  change({ ...s, list: edited(s.list), rest: edited(s.rest) }, what);
}

function move(id, to) {
  const next = moved(s, id, to);
  if (toLink(next) === toLink(s)) return;
  const rank = next.list.findIndex((doc) => doc.id === id) + 1;
  change(next, rank ? `${id} is at rank ${rank}.` : `${id} is not returned.`);
}

function grade(id, text) {
  const value = Math.min(30, Math.max(-10, Math.round(text * 1e4) / 1e4));
  if (text === "" || Number.isNaN(value)) edit(id, { grade: null }, `${id} is unjudged.`);
  else edit(id, { grade: value }, `${id} has grade ${value}.`);
}
const ask = (id) => grade(id, docOf(id).grade === null ? "0" : "");
const step = (id, by) => grade(id, (docOf(id).grade ?? (by > 0 ? -1 : 1)) + by);

function tie(id) {
  const at = place(id);
  if (!at || at >= s.list.length) return;
  const { tied } = s.list[at];
  edit(id, { tied: !tied }, tied ? `${id} is below ${s.list[at - 1].id}.` : `${id} has the score of ${s.list[at - 1].id}.`);
}

function remove(id) {
  if (s.list.length === 1 && place(id) === 0) return;
  // Taken from the end, where nothing ties.
  const next = moved(s, id, Infinity);
  next.rest.pop();
  const row = rowOf(id);
  const near = document.activeElement?.closest(".row") && (row.nextElementSibling ?? row.previousElementSibling);
  change(next, `${id} is gone.`);
  (near?.querySelector(".grip") ?? $("add")).focus();
}

function add() {
  const id = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((letter) => !docOf(letter));
  change({ ...s, list: [...s.list, { id, grade: 0, tied: false }] }, `${id} is at rank ${s.list.length + 1}.`);
  rowOf(id).querySelector(".grip").focus();
}

let telling, keeping;
function tell(what) {
  clearTimeout(telling);
  telling = setTimeout(() => ($("live").textContent = `${what} ${notation(s)} is ${number(measured(s).ndcg)}.`), 250);
}

// Browsers refuse to be told of a new address too often.
function keep() {
  clearTimeout(keeping);
  keeping = setTimeout(() => history.replaceState(null, "", `#${toLink(s)}`), 200);
}

// What the buttons of a document do, and the keys at its handle.
const ACTIONS = {
  up: (id) => move(id, place(id) - 1), down: (id) => move(id, place(id) + 1),
  less: (id) => step(id, -1), more: (id) => step(id, 1), ask, tie, gone: remove,
};
const KEYS = { ArrowUp: "up", ArrowDown: "down", "-": "less", "+": "more", "?": "ask", u: "ask", "=": "tie", Delete: "gone" };
const idOf = (event) => event.target.closest(".row")?.dataset.id;

board.onclick = (event) => ACTIONS[event.target.className]?.(idOf(event));
board.oninput = (event) => {
  const { validity, value } = event.target;
  if (!validity.badInput && !/[.-]$/.test(value)) grade(idOf(event), value);
};
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
    const before = new Map(items.map((item) => [item, item.isConnected ? item.offsetTop : null]));
    const focused = document.activeElement;
    board.replaceChildren(...items);
    if (board.contains(focused)) focused.focus({ preventScroll: true });
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
      for (const [item, top] of before) {
        const by = top === null ? 0 : top - item.offsetTop;
        if (by) item.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 160, easing: "ease-out" });
      }
    }
  }
  all.forEach((doc, i) => {
    if (!doc) return;
    const row = items[i];
    const part = (name) => row.querySelector(`.${name}`);
    const listed = i < s.list.length;
    const term = found.rows.find((each) => each.id === doc.id);
    const input = row.querySelector("input");
    row.className = ["row", !listed && "rest", doc.tied && "tied", all[i + 1]?.tied && "ties", listed && doc.grade === null && "open", i + 1 === +s.k && i + 1 < s.list.length && "cut",
      term?.weight === 0 && "below", dragged === doc.id && "dragged"].filter(Boolean).join(" ");
    part("grip").setAttribute("aria-label", listed ? `Move ${doc.id}, rank ${i + 1} of ${s.list.length}` : `Move ${doc.id}, not returned`);
    part("rank").textContent = listed ? i + 1 : "–";
    if (document.activeElement !== input || +input.value !== doc.grade) input.value = doc.grade ?? "";
    part("ask").setAttribute("aria-pressed", doc.grade === null);
    part("tie").hidden = !listed || !i;
    part("tie").setAttribute("aria-pressed", doc.tied);
    part("tie").ariaLabel = part("tie").title = listed && i ? `${doc.id} has the score of ${all[i - 1].id}` : "";
    bar(part("fill"), term?.term ?? 0, most);
    bar(part("could"), term ? could(term) : 0, most);
    part("value").textContent = term ? number(term.term) : listed ? "left out" : "";
    part("up").disabled = !i;
    part("gone").disabled = part("down").disabled = listed && s.list.length === 1;
  });
  $("line").textContent = s.rest.length ? "Not returned — judged, so the ideal may have them" : "Not returned — drag a document below this line";
  $("add").disabled = s.list.length + s.rest.length > 15;
}

const product = (doc) => `${short(doc.gain)} × ${number(doc.weight)}`;
function drawTerms(found, most) {
  const cell = (doc, kind) => {
    if (!doc) return element("td");
    const ranks = doc.first < doc.last ? [element("small", {}, `${doc.first}–${doc.last}`)] : [];
    return element("td", { class: `${kind} ${doc.weight ? "" : "below"}` },
      span("sum", span("name", doc.id), ...ranks, span("product", doc.weight ? product(doc) : "below k"), element("b", {}, number(doc.term))),
      barOf(doc.term, most));
  };
  $("terms").replaceChildren(...Array.from({ length: Math.max(found.rows.length, found.best.length) }, (_, i) =>
    element("tr", {}, element("th", { scope: "row" }, `${i + 1}`), cell(found.rows[i], "mine"), cell(found.best[i], "best"))));
  $("sums").replaceChildren(element("th", { scope: "row" }, "Σ"), element("td", {}, `${notation(s, "DCG")} = ${number(found.dcg)}`),
    element("td", {}, `${notation(s, "IDCG")} = ${number(found.idcg)}`));
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
      element("td", { class: "figure" }, refusal ? "—" : number(ndcg)),
      element("td", { class: "track" }, barOf(ndcg ?? 0, 1, here)),
      element("td", { class: "why" }, refusal ?? (same ? "as here" : why.join("; "))));
  }));
}

function worked(name, docs, sum) {
  const terms = docs.filter((doc) => doc.term).map((doc) => product(doc).replace(/^−.*/, "($&)"));
  return `${name} = ${terms.join(" + ") || "0"} = ${number(sum)}`;
}

function drawWords(found, limits) {
  const [name, dcg, idcg] = ["nDCG", "DCG", "IDCG"].map((each) => notation(s, each));
  const open = s.list.filter((doc) => doc.grade === null).length;
  const lines = [worked(dcg, found.rows, found.dcg), worked(idcg, found.best, found.idcg)];
  lines.push(found.empty ? `${name} = 0, by convention: no document of the ideal has a gain above 0, so there is nothing to find.` : `${name} = ${number(found.dcg)} / ${number(found.idcg)} = ${number(found.ndcg)}`);
  $("worked").replaceChildren(...lines.map((text) => element("p", {}, text)));
  const notes = [];
  if (s.list.some((doc) => doc.tied)) notes.push(`Equal scores stand ${s.ties === "average" ? "in every order: the value is the mean over all of them" : CHOICES.ties[s.ties]}.`);
  if (open) notes.push(`${open === 1 ? "One document is" : `${open} documents are`} unjudged${s.unjudged === "zero" ? ", with gain 0" : " and left out"}.`);
  if (limits) notes.push(`Whatever grades from ${CHOICES.scale[s.scale]} the judges give, ${name} lies between ${number(limits.low)} and ${number(limits.high)}.`);
  else if (open) notes.push("There are no bounds here, because a grade would change the order of the list.");
  if (found.rows.some((doc) => doc.gain < 0)) notes.push(s.negative === "both" ? "A negative gain costs, in the ideal as well." : "A negative gain costs in the list, and the ideal leaves it out.");
  const range = limits ? `${number(limits.low)} to ${number(limits.high)} once all are judged` : "";
  const link = `${location.href.split("#")[0]}#${toLink(s)}`;
  const texts = { notes: notes.join(" "), range, formula: formula(s), command: command(s), python: python(s), link };
  for (const [id, text] of Object.entries(texts)) $(id).textContent = text;
  Object.assign($("span").style, { left: percent(limits?.low ?? 0), right: percent(1 - (limits?.high ?? 0)) });
  $("mark").style.left = percent(found.ndcg);
}

function draw() {
  const found = measured(s);
  const limits = bounds(s);
  const most = Math.max(...[...found.rows, ...found.best].map((doc) => Math.abs(doc.term)), ...found.rows.map(could));
  const at = s.k === "all" ? "" : `@${s.k}`;
  for (const name of ["cg", "dcg", "idcg", "ndcg"]) $(name).textContent = number(found[name]);
  for (const label of document.querySelectorAll("[data-at]")) label.textContent = label.dataset.at + at;
  drawBoard(found, most);
  drawTerms(found, most);
  drawTools(found);
  drawWords(found, limits);
  for (const name of Object.keys(CHOICES)) $(name).value = s[name];
  $("base").disabled = !hasBase(s);
  $("examples").selectedIndex = Math.max(0, [...$("examples").options].findIndex(({ value }) => value === toLink(s)));
}

// Dragging: the board has the pointer, as rows change their place under it.
board.onpointerdown = (event) => {
  const grip = event.target.closest(".grip");
  if (!grip || event.button) return;
  event.preventDefault();
  grip.focus({ preventScroll: true });
  board.setPointerCapture(event.pointerId);
  dragged = grip.closest(".row").dataset.id;
  draw();
};
board.onpointermove = (event) => {
  if (dragged === null) return;
  const { top } = board.getBoundingClientRect();
  const others = [...board.children].filter((item) => item.dataset.id !== dragged);
  move(dragged, others.filter((item) => top + item.offsetTop + item.offsetHeight / 2 < event.clientY).length);
  const edge = event.clientY < 90 ? -12 : event.clientY > innerHeight - 60 ? 12 : 0;
  if (edge) scrollBy(0, edge);
};
board.onpointerup = board.onpointercancel = () => {
  dragged = null;
  draw();
};

async function copy(button, id) {
  try {
    await navigator.clipboard.writeText($(id).textContent);
    $("live").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren($(id));
    $("live").textContent = "Selected: copy it.";
  }
  const { textContent } = button;
  button.textContent = $("live").textContent;
  setTimeout(() => (button.textContent = textContent), 1500);
}

function load() {
  try {
    if (location.hash.length > 1) s = fromLink(decodeURIComponent(location.hash.slice(1)));
    $("broken").hidden = true;
  } catch (problem) {
    const why = problem instanceof URIError ? "it is damaged" : problem.message;
    $("broken").textContent = `This link cannot be read: ${why}. The list below is another one.`;
    $("broken").hidden = false;
  }
  draw();
}

for (const [name, choices] of Object.entries(CHOICES)) {
  const select = $(name);
  select.append(...Object.entries(choices).map(([value, text]) => element("option", { value }, text)));
  select.onchange = () => change({ ...s, [name]: select.value }, `${select.labels[0].textContent}: ${choices[select.value]}.`);
}
$("examples").onchange = ({ target }) => target.value && change(fromLink(target.value), `${target.selectedOptions[0].text}.`);
$("add").onclick = add;
$("skip").onclick = () => board.querySelector(".grip").focus();
for (const button of document.querySelectorAll("[data-copy]")) button.onclick = () => copy(button, button.dataset.copy);
$("theme").onclick = () => {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
};
addEventListener("hashchange", load);
load();
