// What the lead sets up: settings, words of grades, practice, grades from elsewhere, taking grades back.

import { byId, counted, element, fileContent, replace } from "./elements.js";
import { newKey } from "./outbox.js";
import { server } from "./transport.js";

let settings = null;
let shownAtFirst = {}; // what the form of settings had before somebody changed it
let largest = Infinity;

// Ask the server from a form, and say beside its button how it went.
async function sent(form, line, ask, told) {
  const button = form.querySelector("button:not([type=button])");
  button.disabled = true;
  line.className = "quiet";
  line.textContent = "…";
  try {
    line.textContent = told(await ask());
  } catch (problem) {
    line.className = "wrong";
    line.textContent = problem.status || problem.own ? problem.message : "The desk doesn’t respond.";
  }
  button.disabled = false;
}

function onSubmit(id, line, ask, told) {
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    sent(byId(id), byId(line), ask, told);
  });
}

async function chosenFile(id) {
  const [file] = byId(id).files;
  if (!file) return null;
  if (file.size > largest) throw Object.assign(new Error(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB; the limit is ${largest / 1e6} MB.`), { own: true });
  return { name: file.name, content: await fileContent(file) };
}

function showSettings(told) {
  settings = told;
  largest = told.largest_file;
  byId("set-title").value = told.title;
  byId("set-order").value = told.order;
  byId("set-overlap").value = told.overlap;
  byId("set-share").value = Number((100 * told.overlap_share).toFixed(6));
  byId("set-ranks").checked = told.show_ranks;
  byId("set-tags").value = told.tags.join("\n");
  byId("set-format").value = told.doc_format;
  byId("set-hosts").value = told.image_hosts.join("\n");
  const two = told.compare.length ? told.compare : told.runs;
  for (const [place, id] of ["set-base", "set-run"].entries()) {
    replace(byId(id), ...told.runs.map((name) => element("option", { value: name, dir: "auto" }, name)));
    byId(id).value = two[place] ?? "";
    byId(id).closest("label").hidden = told.runs.length < 2;
  }
  byId("set-measure").value = told.measure;
  replace(byId("measures"), ...told.measures.map((name) => element("option", { value: name })));
  shownAtFirst = inForm();
}

function linesOf(id) {
  return byId(id).value.split("\n").map((line) => line.trim()).filter((line) => line);
}

function inForm() {
  return {
    title: byId("set-title").value, order: byId("set-order").value, overlap: Number(byId("set-overlap").value), measure: byId("set-measure").value,
    overlap_share: Number(byId("set-share").value) / 100, show_ranks: byId("set-ranks").checked,
    doc_format: byId("set-format").value, tags: linesOf("set-tags"), image_hosts: linesOf("set-hosts"),
    compare: settings.runs.length < 2 ? [] : [byId("set-base").value, byId("set-run").value],
  };
}

// Only what was changed here: another lead may have changed the rest meanwhile.
function changedSettings() {
  return Object.fromEntries(Object.entries(inForm()).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(shownAtFirst[name])));
}

function changedGrades() {
  const rows = [...byId("grade-fields").children].filter((row) => [...row.querySelectorAll("input")].some((field) => field.value !== field.defaultValue));
  return rows.map((row) => ({ value: Number(row.dataset.grade), word: row.querySelector(".word").value, key: row.querySelector(".key").value }));
}

function showGrades(scale) {
  replace(byId("grade-fields"), ...scale.map((grade) => element("div", { class: "grade-row", "data-grade": grade.value },
    element("b", {}, grade.value),
    element("input", { class: "word", value: grade.word, maxlength: 100, dir: "auto", autocomplete: "off", "aria-label": `Label for grade ${grade.value}` }),
    element("input", { class: "key", value: grade.key, maxlength: 1, required: true, autocomplete: "off", spellcheck: "false", "aria-label": `Shortcut for grade ${grade.value}` }))));
}

function showPractice(told) {
  if (!told.practice_count) {
    replace(byId("practice-set"), element("p", {}, "No practice documents yet."));
    return;
  }
  const row = (each) => element("li", {},
    element("b", {}, each.answer), " ", element("bdi", {}, each.title || each.doc), " for ", element("bdi", {}, each.query_text || each.query),
    each.has_text ? null : element("span", { class: "wrong" }, " · no text"),
    each.feedback ? element("p", { class: "quiet", dir: "auto" }, each.feedback) : null);
  document.body.dataset.practice = told.practice_count;
  replace(byId("practice-set"), element("details", {},
    element("summary", {}, `${counted(told.practice_count, "document")} with known answers`),
    element("ol", { class: "disputes" }, ...told.practice.map(row))));
}

function options(select, first, values) {
  const before = select.value;
  replace(select, element("option", { value: "" }, first), ...values.map(([value, word]) => element("option", { value, dir: "auto" }, word)));
  select.value = values.some(([value]) => String(value) === before) ? before : "";
}

// The choices of what is taken back follow the study.
export function offerToTakeBack(progress, guideline) {
  if (byId("reset").contains(document.activeElement)) return; // not under somebody's hands
  options(byId("reset-assessor"), "everybody", progress.assessors.map((each) => [each.name, each.name]));
  options(byId("reset-query"), "every query", progress.queries.map((each) => [each.query, each.query]));
  const versions = Array.from({ length: Math.max(0, guideline) }, (_, place) => place + 1);
  options(byId("reset-guideline"), "at any time", versions.map((version) => [version, `before version ${version} of the guideline`]));
}

function toTakeBack() {
  return {
    assessor: byId("reset-assessor").value || null,
    query: byId("reset-query").value || null,
    before_guideline: Number(byId("reset-guideline").value) || null,
  };
}

function kindsOf(found) {
  const words = { grade: (n) => counted(n, "grade"), cannot: (n) => `${n} “can’t judge”`, later: (n) => `${n} “later”`, note: (n) => counted(n, "note"), settled: (n) => counted(n, "settlement") };
  return Object.entries(found.kinds).map(([kind, count]) => words[kind](count)).join(", ");
}

// Whether somebody says yes to a number.
function confirmed(asked, found) {
  const dialog = byId("confirm");
  const of = [asked.assessor ?? "everybody", asked.query === null ? "every query" : `the query ${asked.query}`];
  const before = asked.before_guideline === null ? "" : ` given before version ${asked.before_guideline} of the guideline`;
  replace(byId("confirm-text"), `${kindsOf(found)} of `, element("bdi", {}, of[0]), " for ", element("bdi", {}, of[1]), `${before}. Their documents will be judged again; the record keeps everything.`);
  byId("confirm-yes").textContent = `Revoke ${kindsOf(found)}`;
  dialog.returnValue = "";
  dialog.showModal();
  byId("confirm-no").focus(); // a key pressed too often takes nothing back
  return new Promise((answer) => dialog.addEventListener("close", () => answer(dialog.returnValue === "yes"), { once: true }));
}

async function takeBack() {
  const asked = toTakeBack();
  if (Object.values(asked).every((value) => value === null)) {
    throw Object.assign(new Error("Choose an assessor, a query or a version of the guideline."), { own: true });
  }
  const found = await server.post("/api/lead/reset", asked);
  if (!found.count) return "No matching grades.";
  if (!(await confirmed(asked, found))) return "Nothing was revoked.";
  const done = await server.post("/api/lead/reset", { ...asked, count: found.count, key: newKey() });
  return `Revoked: ${kindsOf({ ...found, count: done.count })}.`;
}

// `changed` is called when something that the page shows may be another.
export async function setUp(changed) {
  const found = await server.get("/api/lead/settings");
  showSettings(found);
  showGrades(found.scale);
  showPractice(found);
  const then = (text) => {
    changed();
    return text;
  };
  onSubmit("settings", "settings-said", () => server.post("/api/lead/settings", changedSettings()), (told) => {
    showSettings(told);
    return then("Saved.");
  });
  onSubmit("grades-form", "grades-said", () => server.post("/api/lead/grades", { grades: changedGrades() }), (told) => {
    showGrades(told.scale);
    return then("Saved.");
  });
  onSubmit("practice", "practice-said", async () => server.post("/api/lead/practice", {
    answers: await chosenFile("practice-answers"), queries: await chosenFile("practice-queries"), docs: await chosenFile("practice-docs"),
  }), (told) => {
    byId("practice").reset();
    showPractice(told);
    return then(`The practice set now has ${counted(told.count, "document")}.`);
  });
  onSubmit("import", "import-said", async () => server.post("/api/lead/import", {
    name: byId("import-name").value, role: byId("import-role").value, grades: await chosenFile("import-grades"),
  }), (told) => {
    byId("import").reset();
    return then(`${counted(told.count, "new or changed grade")} by ${told.name}.`);
  });
  onSubmit("reset", "reset-said", takeBack, then);
  byId("confirm-yes").addEventListener("click", () => byId("confirm").close("yes"));
  byId("confirm-no").addEventListener("click", () => byId("confirm").close(""));
  return settings;
}
