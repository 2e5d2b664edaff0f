// The page: it draws a state, and makes another one of what is dragged, typed and chosen.
import {
  CHOICES, TOOLS, asTool, bounds, command, differences, formula, fromLink, gainOf, hasBase, measured, moved, notation, python, said, toLink,
} from "./ndcg.js";

const EXAMPLES = {
  "A list and its ideal": "list=A3,B2,C3,D0,E1,F2&rest=G3,H2&k=6",
  "Two unjudged documents": "list=A2,B_,C3,D_,E0,F1&rest=G2&k=5",
  "Equal scores": "list=A0~B2~C3~D1,E2,F0&k=3&ties=average",
  "A harmful document": "list=A2,B-2,C3,D0,E1&rest=F1&k=5",
  "A list that is too short": "list=A1&rest=B1,C1,D1,E1&k=5",
  "Where tools disagree": "list=A1,B2,C0,U_&rest=X3&k=4",
  "Järvelin and Kekäläinen": "list=A3,B2,C3,D0,E0,F1,G2,H2,I3,J0&discount=jarvelin",
};
const LABELS = {
  k: "Cutoff k", gain: "Gain of grade g", discount: "Discount at rank i", base: "Base of the log", ideal: "Ideal of",
  ties: "Order of ties", depth: "Depth of the ideal", unjudged: "Unjudged documents", negative: "Negative gain", scale: "Possible grades",
};
const SHORT = { ...LABELS, k: "cutoff", gain: "gain", discount: "discount", base: "base", ideal: "ideal", ties: "ties", depth: "ideal", unjudged: "unjudged", negative: "negative" };
const $ = (id) => document.getElementById(id);
const number = (value) => value.toFixed(Math.abs(value) < 100 ? 3 : 1).replace("-", "−");
const inside = (value) => Math.min(1, Math.max(0, value));
const short = (value) => String(+value.toFixed(3)).replace("-", "−");

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

let s = fromLink(Object.values(EXAMPLES)[0]);
let dragged = null;
const rows = new Map(); // id → row
const line = element("li", { class: "line" }, "Not returned");

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
  const next = moved(s, id, Infinity); // the last, where nothing ties
  next.rest.pop();
  const near = document.activeElement?.closest(".row") && (rows.get(id).nextElementSibling ?? rows.get(id).previousElementSibling);
  change(next, `${id} is gone.`);
  (near?.querySelector(".grip") ?? $("add")).focus();
}

function add() {
  const id = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((letter) => !docOf(letter));
  change({ ...s, list: [...s.list, { id, grade: 0, tied: false }] }, `${id} is at rank ${s.list.length + 1}.`);
  rows.get(id).querySelector(".grip").focus();
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

// Drawing
function makeRow(id) {
  const button = (kind, text, action, label, more = {}) => element("button", { type: "button", class: kind, "aria-label": label, title: label, onclick: action, ...more }, text);
  const far = { tabindex: -1 }; // has a key at the handle or in the field
  const input = element("input", { type: "number", step: "any", min: -10, max: 30, placeholder: "?", "aria-label": `Grade of ${id}` });
  input.addEventListener("input", () => input.validity.badInput || /[.-]$/.test(input.value) || grade(id, input.value));
  const row = element("li", { class: "row", "data-id": id },
    button("grip", "⠿", () => {}, "", { "aria-describedby": "keys", onkeydown: (event) => press(event, id) }),
    element("span", { class: "rank" }), element("span", { class: "name" }, id),
    element("span", { class: "grade" },
      button("less", "−", () => step(id, -1), `Lower the grade of ${id}`, far), input, button("more", "+", () => step(id, 1), `Raise the grade of ${id}`, far)),
    button("ask", "?", () => ask(id), `${id} is unjudged`), button("tie", "=", () => tie(id), ""),
    element("span", { class: "bar", "aria-hidden": "true" }, element("span", { class: "could" }), element("span", { class: "fill" })),
    element("span", { class: "value" }),
    element("span", { class: "steps" },
      button("up", "↑", () => move(id, place(id) - 1), `Move ${id} up`, far), button("down", "↓", () => move(id, place(id) + 1), `Move ${id} down`, far),
      button("gone", "×", () => remove(id), `Remove ${id}`, far)));
  rows.set(id, row);
  return row;
}

function press(event, id) {
  const { key } = event;
  const to = { ArrowUp: place(id) - 1, ArrowDown: place(id) + 1, Home: 0, End: place(id) < s.list.length ? s.list.length - 1 : s.list.length }[key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (to !== undefined) move(id, Math.max(0, to));
  else if (/^\d$/.test(key)) grade(id, key);
  else if (key === "?" || key === "u") ask(id);
  else if (key === "+" || key === "-") step(id, key === "+" ? 1 : -1);
  else if (key === "=") tie(id);
  else if (key === "Delete") remove(id);
  else return;
  event.preventDefault();
}

function bar(part, value, most) {
  part.style.width = `${most ? Math.min(100, (Math.abs(value) / most) * 100) : 0}%`;
  part.classList.toggle("loss", value < 0);
}

function drawBoard(found, most) {
  const all = [...s.list, null, ...s.rest];
  const items = all.map((doc) => (doc ? (rows.get(doc.id) ?? makeRow(doc.id)) : line));
  const board = $("board");
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
    const row = rows.get(doc.id);
    const part = (name) => row.querySelector(`.${name}`);
    const listed = i < s.list.length;
    const term = found.rows.find((each) => each.id === doc.id);
    const open = listed && doc.grade === null;
    const input = row.querySelector("input");
    row.className = ["row", listed || "rest", doc.tied && "tied", all[i + 1]?.tied && "ties", open && "open", listed && i + 1 === +s.k && i + 1 < s.list.length && "cut",
      term?.weight === 0 && "below", dragged === doc.id && "dragged"].filter((each) => typeof each === "string").join(" ");
    part("grip").setAttribute("aria-label", listed ? `Move ${doc.id}, rank ${i + 1} of ${s.list.length}` : `Move ${doc.id}, not returned`);
    part("rank").textContent = listed ? i + 1 : "–";
    if (document.activeElement !== input || +input.value !== doc.grade) input.value = doc.grade ?? "";
    part("ask").setAttribute("aria-pressed", doc.grade === null);
    part("tie").hidden = !listed || !i;
    part("tie").setAttribute("aria-pressed", doc.tied);
    part("tie").ariaLabel = part("tie").title = listed && i ? `${doc.id} has the score of ${all[i - 1].id}` : "";
    bar(part("fill"), term?.term ?? 0, most);
    bar(part("could"), open && term ? gainOf(s, +s.scale) * term.weight : 0, most);
    part("value").textContent = term ? number(term.term) : listed ? "left out" : "";
    part("up").disabled = !i;
    part("gone").disabled = part("down").disabled = listed && s.list.length === 1;
  });
  for (const [id, row] of rows) if (!row.isConnected) rows.delete(id);
  line.textContent = s.rest.length ? "Not returned — judged, so the ideal may have them" : "Not returned — drag a document below this line";
  $("add").disabled = s.list.length + s.rest.length > 15;
}

function drawTerms(found, most) {
  const cell = (doc, kind) => {
    if (!doc) return element("td");
    const ranks = doc.first < doc.last ? [element("small", {}, `${doc.first}–${doc.last}`)] : [];
    const fill = element("span", { class: "fill" });
    bar(fill, doc.term, most);
    return element("td", { class: `${kind} ${doc.weight ? "" : "below"}` },
      element("span", { class: "sum" }, element("span", { class: "name" }, doc.id), ...ranks, element("span", { class: "product" }, doc.weight ? `${short(doc.gain)} × ${number(doc.weight)}` : "below k"), element("b", {}, number(doc.term))),
      element("span", { class: "bar", "aria-hidden": "true" }, fill));
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
    const why = refusal || same ? [] : differences(s, tool).map((name) => `${SHORT[name]}: ${CHOICES[name][other[name]] ?? other[name]}`);
    if (found.empty && tool.set.empty) why.push("nothing to find counts as 1");
    const fill = element("span", { class: "fill" });
    const here = element("span", { class: "here" });
    bar(fill, ndcg ?? 0, 1);
    here.style.left = `${inside(found.ndcg) * 100}%`;
    return element("tr", { class: refusal ? "refused" : same ? "same" : "other" },
      element("th", { scope: "row" }, tool.name, ...(tool.also ? [element("small", {}, `also ${tool.also}`)] : [])),
      element("td", { class: "figure" }, refusal ? "—" : number(ndcg)),
      element("td", { class: "track" }, element("span", { class: "bar", "aria-hidden": "true" }, fill, here)),
      element("td", { class: "why" }, refusal ?? (same ? "as here" : why.join("; "))));
  }));
}

function worked(name, docs, sum) {
  const terms = docs.filter((doc) => doc.term).map((doc) => `${short(doc.gain)} × ${number(doc.weight)}`.replace(/^−.*/, "($&)"));
  return `${name} = ${terms.join(" + ") || "0"} = ${number(sum)}`;
}

function drawWords(found, limits) {
  const [name, dcg, idcg] = ["nDCG", "DCG", "IDCG"].map((each) => notation(s, each));
  const open = s.list.filter((doc) => doc.grade === null).length;
  const many = open === 1 ? "One unjudged document" : `${open} unjudged documents`;
  const lines = [worked(dcg, found.rows, found.dcg), worked(idcg, found.best, found.idcg)];
  lines.push(found.empty ? `${name} = 0, by convention: the ideal is not above 0.` : `${name} = ${number(found.dcg)} / ${number(found.idcg)} = ${number(found.ndcg)}`);
  $("worked").replaceChildren(...lines.map((text) => element("p", {}, text)));
  const notes = found.empty ? ["No document of the ideal has a gain above 0: there is nothing to find."] : [];
  if (s.list.some((doc) => doc.tied)) notes.push(`Equal scores stand ${{ doc: "by name, the last letter first", doc_ascending: "by name, the first letter first", average: "in every order: the value is the mean over all of them", best: "with the best grade first", worst: "with the worst grade first", order: "as they are listed" }[s.ties]}.`);
  if (open) notes.push(`${many} ${s.unjudged === "zero" ? (open === 1 ? "counts" : "count") + " as gain 0" : (open === 1 ? "is" : "are") + " left out"}.`);
  if (limits) notes.push(`Whatever grades ${CHOICES.scale[s.scale]} ${open === 1 ? "it has" : "they have"}, ${name} lies between ${number(limits.low)} and ${number(limits.high)}.`);
  else if (open) notes.push("There are no bounds here, because a grade would change the order of the list.");
  if (found.rows.some((doc) => doc.gain < 0)) notes.push(s.negative === "both" ? "A negative gain costs, in the ideal as well." : "A negative gain costs in the list, and the ideal leaves it out.");
  $("notes").textContent = notes.join(" ");
  $("formula").textContent = formula(s);
  $("command").textContent = command(s);
  $("python").textContent = python(s);
  $("link").textContent = location.href.split("#")[0] + `#${toLink(s)}`;
  const span = (from, to) => Object.assign($("span").style, { left: `${from * 100}%`, width: `${(to - from) * 100}%` });
  span(inside(limits?.low ?? 0), inside(limits?.high ?? 0));
  $("mark").style.left = `${inside(found.ndcg) * 100}%`;
  $("range").textContent = limits ? `${number(limits.low)} to ${number(limits.high)} once all are judged` : "";
}

function draw() {
  const found = measured(s);
  const limits = bounds(s);
  const most = Math.max(...[...found.rows, ...found.best].map((doc) => Math.abs(doc.term)), ...found.rows.map((doc) => (doc.grade === null ? gainOf(s, +s.scale) * doc.weight : 0)));
  const at = s.k === "all" ? "" : `@${s.k}`;
  for (const name of ["cg", "dcg", "idcg", "ndcg"]) $(name).textContent = number(found[name]);
  for (const label of document.querySelectorAll("[data-at]")) label.textContent = label.dataset.at + at;
  drawBoard(found, most);
  drawTerms(found, most);
  drawTools(found);
  drawWords(found, limits);
  for (const name of Object.keys(CHOICES)) $(name).value = s[name];
  $("base").disabled = !hasBase(s);
  $("examples").value = Object.keys(EXAMPLES).find((name) => EXAMPLES[name] === toLink(s)) ?? "";
}

// Dragging: the board has the pointer, as rows change their place under it.
const board = $("board");
board.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest(".grip");
  if (!grip || event.button) return;
  event.preventDefault();
  grip.focus({ preventScroll: true });
  board.setPointerCapture(event.pointerId);
  dragged = grip.closest(".row").dataset.id;
  draw();
});
board.addEventListener("pointermove", (event) => {
  if (dragged === null) return;
  const { top } = board.getBoundingClientRect();
  const others = [...board.children].filter((item) => item.dataset.id !== dragged);
  move(dragged, others.filter((item) => top + item.offsetTop + item.offsetHeight / 2 < event.clientY).length);
  const edge = event.clientY < 90 ? -12 : event.clientY > innerHeight - 60 ? 12 : 0;
  if (edge) scrollBy(0, edge);
});
for (const end of ["pointerup", "pointercancel"]) {
  board.addEventListener(end, () => {
    dragged = null;
    draw();
  });
}

async function copy(button, id) {
  try {
    await navigator.clipboard.writeText($(id).textContent);
    $("live").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren($(id)); // to be copied by hand
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

for (const [name, words] of Object.entries(CHOICES)) {
  const select = element("select", { id: name, onchange: () => change({ ...s, [name]: select.value }, `${LABELS[name]}: ${words[select.value]}.`) },
    ...Object.entries(words).map(([value, text]) => element("option", { value }, text)));
  $(["depth", "unjudged", "negative", "scale"].includes(name) ? "further" : "settings").append(element("div", { class: "field" }, element("label", { for: name }, LABELS[name]), select));
}
$("examples").append(...Object.keys(EXAMPLES).map((name) => element("option", { value: name }, name)));
$("examples").addEventListener("change", (event) => event.target.value && change(fromLink(EXAMPLES[event.target.value]), `${event.target.value}.`));
$("add").addEventListener("click", add);
$("skip").addEventListener("click", () => board.querySelector(".grip").focus());
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button, button.dataset.copy));
$("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark" || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
addEventListener("hashchange", load);
load();
