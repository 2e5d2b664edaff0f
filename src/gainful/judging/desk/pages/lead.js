// The lead's page: how far the study is, what its grades come to, and who takes part.

import { content, fieldsOf, showContent } from "./document_content.js";
import { byId, counted, element, remember, remembered, replace, setTheme, swatch } from "./elements.js";
import { offerToTakeBack, setUp } from "./lead_setup.js";
import { newKey } from "./outbox.js";
import { Refused, server } from "./transport.js";

const SHORT = 400; // characters of a text that is always open
const EVERY = 4000; // milliseconds between two looks at the progress

let me = null;
let version = null; // of what was measured when the standing was last asked for
let guideline = 0; // its last version
let begun = 0; // the version that the text in the form began with
let disputes = { count: -1, shown: [] };

function warn(text) {
  if (byId("alert").textContent !== text) byId("alert").textContent = text; // else it would be read out at every look
}

function say(text) {
  byId("said").textContent = text;
}

function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

function table(caption, heads, rows) {
  const cell = (part, place, name) => {
    const numeric = heads[place].numeric;
    // A text of another direction stays in its column.
    const content = numeric || part instanceof Node ? part : element("bdi", {}, part);
    return element(name, { class: numeric ? "number" : "", scope: name === "th" ? "row" : null }, content);
  };
  return element("table", {},
    element("caption", {}, element("span", { class: "unseen" }, caption)),
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", class: head.numeric ? "number" : "" }, head.name)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((part, place) => cell(part, place, place ? "td" : "th"))))));
}

const COLUMN = (name) => ({ name, numeric: true });
const TEXT = (name) => ({ name, numeric: false });

function showProgress(progress) {
  byId("progress").max = Math.max(progress.items, 1);
  byId("progress").value = progress.done;
  byId("count").textContent = `${progress.done} of ${progress.items} documents, ${progress.grades} grades`;
  replace(byId("queries"), table("Documents of each query",
    [TEXT("Query"), TEXT("Share"), COLUMN("Done"), COLUMN("Documents"), COLUMN("Graded"), COLUMN("By several"), COLUMN("Can’t judge")],
    progress.queries.map((each) => [each.query, share(each.done, each.items), each.done, each.items, each.graded, `${each.several} of ${each.shared}`, each.cannot])));
  offerToTakeBack(progress, guideline);
  showSteps(progress);
  const people = progress.assessors.map((each) => [
    each.name, each.revoked ? "revoked" : { judgments: "imported" }[each.role] ?? each.role, each.done, each.left, each.cannot, each.later,
    each.practised ? `${each.right} of ${each.practised}` : "–", number(each.pace, 1), inviteAgain(each)]);
  if (!byId("assessors").contains(document.activeElement) || document.activeElement === document.body) {
    replace(byId("assessors"), element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Assessors" }, table("Progress of each assessor", [
      TEXT("Name"), TEXT("Role"), COLUMN("Graded"), COLUMN("Left"), COLUMN("Can’t judge"), COLUMN("Later"), COLUMN("Practice score"), COLUMN("Per minute"), TEXT("Invitation"),
    ], people)));
  }
}

// What a new study needs before people can judge, until there are grades.
function showSteps(progress) {
  const judging = progress.assessors.filter((each) => each.role === "assessor" && !each.revoked);
  const graded = progress.assessors.some((each) => ["assessor", "lead"].includes(each.role) && each.done);
  const steps = [
    [guideline > 0, "#guideline-part", "Write a guideline", "what each grade means for your queries, with examples"],
    [graded || remembered(stepsPlace("checked"), false), "#settings-part", "Check the settings", "the measure, the order, and how many people judge each document"],
    [Number(document.body.dataset.practice ?? 0) > 0, "#practice-part", "Add practice documents (optional)", "so that everybody starts from the same understanding"],
    [judging.length > 0, "#invite-part", "Invite assessors", "each person needs only a link"],
    [graded, "/", "Judge a few documents yourself", "unclear points of the guideline show up quickly"],
  ];
  const needed = steps.filter((_, place) => place !== 2);
  byId("steps-part").hidden = needed.every(([isDone]) => isDone) || remembered(stepsPlace("hidden"), false);
  const focused = document.activeElement?.closest("#steps") ? document.activeElement.getAttribute("href") : null;
  replace(byId("steps"), ...steps.map(([isDone, href, title, why]) => element("li", { class: isDone ? "done" : "" },
    element("a", { href }, title), element("span", { class: "unseen" }, isDone ? " (done)" : ""), element("span", { class: "quiet" }, `: ${why}`))));
  if (focused) byId("steps").querySelector(`a[href="${focused}"]`).focus();
}

function stepsPlace(what) {
  return `desk:${me.study}:steps:${what}`;
}

function inviteAgain(person) {
  if (!["assessor", "lead"].includes(person.role) || person.name === me.name) return "";
  const again = element("button", { type: "button", class: "plain" }, "New link", element("span", { class: "unseen" }, ` for ${person.name}`));
  again.addEventListener("click", () => invite(person.name, person.role));
  const back = element("button", { type: "button", class: "plain" }, "Revoke link", element("span", { class: "unseen" }, ` of ${person.name}`));
  back.addEventListener("click", () => done(server.post("/api/lead/revoke", { name: person.name }), () => {
    back.blur();
    look();
  }));
  return element("span", { class: "others" }, again, person.revoked ? null : back);
}

async function done(asked, then) {
  warn("");
  try {
    then(await asked);
  } catch (problem) {
    warn(problem.status ? problem.message : "The desk doesn’t respond.");
  }
}

function invite(name, role) {
  done(server.post("/api/lead/invite", { name, role }), (told) => {
    const link = `${location.origin}${told.path}`;
    const copy = element("button", { type: "button", class: "plain" }, "Copy");
    copy.addEventListener("click", () => navigator.clipboard?.writeText(link).then(() => say("Copied")));
    byId("invited").hidden = false;
    replace(byId("invited"), "For ", element("b", {}, element("bdi", {}, told.name)), " (shown only once): ", element("code", {}, link), " ", copy);
    byId("invite-name").value = "";
    look();
  });
}

function share(part, whole) {
  return element("progress", { max: Math.max(whole, 1), value: part, "aria-hidden": "true" });
}

function range(low, value, high) {
  const bar = element("span", { class: "range", "aria-hidden": "true" });
  const spread = element("i");
  spread.style.left = `${100 * low}%`;
  spread.style.width = `${Math.max(0.5, 100 * (high - low))}%`;
  const mark = element("b");
  mark.style.left = `${100 * value}%`;
  bar.append(spread, mark);
  return bar;
}

function showStanding(standing) {
  if (!standing.runs.length) {
    replace(byId("standing"), element("p", { class: "quiet" }, "No grades yet."));
    return;
  }
  const least = Math.min(0, ...standing.runs.map((run) => run.low));
  const most = Math.max(1, ...standing.runs.map((run) => run.high));
  const at = (value) => (value - least) / (most - least);
  const rows = standing.runs.map((run) => [
    run.run, number(run.value), `${number(run.low)} to ${number(run.high)}`, range(at(run.low), at(run.value), at(run.high)),
    run.seen ? `${Math.floor((100 * run.judged) / run.seen)}%` : "–"]);
  replace(byId("standing"),
    element("p", {}, `${standing.queries} of ${standing.of_queries} queries have grades; the others don’t count yet.`),
    element("p", { class: "quiet" }, `${standing.runs[0].measure} with the grades so far, and the range that it must be in, whatever the missing grades are:`),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" }, table(
      "Runs with their bounds",
      [TEXT("Run"), COLUMN("So far"), COLUMN("Range"), TEXT("Bounds"), COLUMN("Judged")], rows)),
    element("ul", { class: "disputes" }, ...standing.pairs.map(pairOf)));
}

// A sentence in which names of another direction do not turn round what stands beside them.
function isolated(sentence, names) {
  let parts = [sentence];
  for (const name of names) {
    parts = parts.flatMap((part) => (part instanceof Node ? [part]
      : part.split(name).flatMap((piece, place) => (place ? [element("bdi", {}, name), piece] : [piece]))));
  }
  return parts;
}

function pairOf(pair) {
  const needed = pair.grades_needed === 0 ? "No missing grade can reverse it."
    : pair.grades_needed === null ? pair.why
    : `About ${pair.grades_needed} more ${pair.grades_needed === 1 ? "grade" : "grades"} would make its sign certain if the difference stays the same.`;
  const between = pair.low === null ? "" : ` The difference, ${number(pair.difference)}, is between ${number(pair.low)} and ${number(pair.high)}.`;
  return element("li", {},
    element("p", {}, element("span", { class: `badge ${pair.verdict}` }, pair.verdict), " ", ...isolated(pair.sentence, [pair.run, pair.baseline])),
    element("p", { class: "quiet" }, `${needed}${between}`));
}

function showAgreement(told) {
  const rows = told.coefficients.map((each) => [each.title, number(each.value), `${number(each.low)} to ${number(each.high)}`]);
  const coefficients = table("Coefficients of agreement", [TEXT("Coefficient"), COLUMN("Value"), COLUMN("95% interval")], rows);
  const wasOpen = byId("agreement").querySelector("details")?.open ?? false;
  replace(byId("agreement"), element("p", { class: rows.length ? "headline" : "quiet", dir: "auto" }, told.told),
    told.more ? element("p", { class: "quiet", dir: "auto" }, told.more) : "",
    ...(rows.length ? [element("details", { open: wasOpen }, element("summary", {}, "All coefficients"),
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Agreement" }, coefficients))] : []));
}

function textOf(document) {
  const how = { query: document.query_text, setting: me.doc_format, hosts: me.image_hosts };
  const box = element("div", { dir: "auto", class: "quiet text" });
  const text = element("div");
  if (document.text) showContent(text, document.text, how);
  else text.append("This document has no text.");
  box.append(...[fieldsOf(document.fields, how), text].filter(Boolean));
  return box;
}

function showDisputed(found) {
  if (byId("disputed").contains(document.activeElement) && found.shown.length && disputes.count === found.count) return; // not under somebody's hands
  disputes = found;
  replace(byId("disputed"), ...found.shown.map((each) => {
    const names = byId("show-names").checked;
    const given = Object.entries(each.grades).map(([name, grade]) => (names ? [element("bdi", {}, name), ": ", swatch(me.scale, grade), String(grade)] : [swatch(me.scale, grade), String(grade)]));
    const buttons = me.scale.map((grade) => {
      const button = element("button", { type: "button", class: "plain" }, swatch(me.scale, grade.value), element("b", {}, grade.value), grade.word ? element("bdi", {}, grade.word) : null,
        element("span", { class: "unseen" }, ` for ${each.title || each.doc}`));
      button.addEventListener("click", () => settle(each, grade.value));
      return button;
    });
    const hangs = each.flips ? ` · decides ${each.flips} ${each.flips === 1 ? "verdict" : "verdicts"}` : "";
    return element("li", {},
      element("p", {}, element("b", {}, element("bdi", {}, each.title || each.doc)), " for ", element("bdi", {}, each.query_text || each.query)),
      each.text.length > SHORT ? element("details", {}, element("summary", {}, "Text"), textOf(each)) : textOf(each),
      element("p", {}, "Grades: ", element("b", {}, ...given.flatMap((parts, place) => (place ? [", ", ...parts] : parts))), hangs),
      element("div", { class: "others", role: "group", "aria-label": "Settle" }, ...buttons));
  }));
  byId("disputed-count").hidden = !found.count;
  byId("disputed-count").textContent = found.count;
  byId("disputed-title").textContent = found.count > found.shown.length ? `To settle: ${found.count}, the first ${found.shown.length} here`
    : found.count ? `To settle: ${found.count}` : "Nothing to settle";
}

function settle(dispute, grade) {
  done(server.post("/api/lead/adjudicate", { key: newKey(), item: dispute.item, grade, guideline }), () => {
    say(`Settled: ${grade}, ${dispute.title || dispute.doc}`);
    document.activeElement?.blur();
    look();
  });
}

function showSettled(found) {
  const count = found.settled_count;
  const list = byId("settled-list");
  list.hidden = !count;
  list.querySelector("summary").textContent = count > found.settled.length ? `Settled: ${count}, the last ${found.settled.length} here` : `Settled: ${count}`;
  replace(byId("settled"), ...found.settled.map((each) => {
    const undo = element("button", { type: "button", class: "plain" }, "Undo", element("span", { class: "unseen" }, ` the grade of ${each.title || each.doc}`));
    undo.addEventListener("click", () => unsettle(each));
    return element("li", { class: "others" }, undo, element("span", {}, element("b", {}, each.grade), " ", element("bdi", {}, each.title || each.doc), " for ", element("bdi", {}, each.query_text || each.query)));
  }));
}

function unsettle(settled) {
  done(server.post("/api/lead/unsettle", { key: newKey(), item: settled.item, guideline }), () => {
    say(`Undone: ${settled.grade}, ${settled.title || settled.doc}`);
    byId("settled-list").querySelector("summary").focus();
    look();
  });
}

async function lookAtDisputed() {
  const names = byId("show-names").checked ? "shown" : "hidden";
  const found = await server.get(`/api/lead/disputed?names=${names}`);
  showDisputed(found);
  showSettled(found);
}

// One look at a time; who asks meanwhile has another one after it.
async function look() {
  clearTimeout(look.timer);
  if (look.now) {
    look.again = true;
    return look.now;
  }
  look.again = false;
  look.now = lookOnce().finally(() => {
    look.now = null;
    look.timer = setTimeout(look, look.again ? 0 : EVERY);
  });
  return look.now;
}

async function lookOnce() {
  try {
    const progress = await server.get("/api/lead/progress");
    if (byId("alert").dataset.lost) {
      delete byId("alert").dataset.lost;
      warn("");
    }
    showProgress(progress);
    if (progress.version !== version) {
      version = progress.version;
      showStanding(await server.get("/api/lead/standing"));
      showAgreement(await server.get("/api/lead/agreement"));
      byId("design-told").textContent = (await server.get("/api/lead/sampling")).told;
      await lookAtDisputed();
      document.body.dataset.measured = progress.grades; // all that the page shows is of so many, or more
    }
  } catch (problem) {
    warn(problem.status ? problem.message : "No connection to the desk. Trying again.");
    byId("alert").dataset.lost = "1";
    version = null;
  }
}

// One tab at a time. The address names the tab, or a part inside one, so that links and the Back button work.
function openTab() {
  const named = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  const open = named?.closest(".tab") ?? byId("overview");
  for (const tab of document.querySelectorAll(".tab")) tab.hidden = tab !== open;
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.hash === `#${open.id}`) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  if (open.id === "setup") remember(stepsPlace("checked"), true);
  if (named && named !== open) {
    named.scrollIntoView();
    named.focus({ preventScroll: true });
  } else scrollTo(0, 0);
}

function showGuideline() {
  if (!byId("guideline-preview").open) return;
  replace(byId("guideline-shown"), content(byId("guideline").value || "Nothing to preview.", { setting: "markdown", hosts: me.image_hosts }).made);
}

async function saveGuideline() {
  try {
    const told = await server.post("/api/lead/guideline", { text: byId("guideline").value, version: begun });
    byId("guideline-newer").hidden = true;
    return told;
  } catch (problem) {
    if (problem.status === 409) showNewer((await server.me()).guideline);
    throw problem;
  }
}

// Another lead was faster: both texts are there, and who saves again has seen it.
function showNewer(newer) {
  begun = guideline = newer.version;
  const other = byId("guideline-newer");
  other.hidden = false;
  other.open = true;
  other.querySelector("summary").textContent = `Version ${newer.version}, saved in the meantime`;
  other.querySelector("p").textContent = newer.text;
  byId("guideline-version").textContent = `Not saved. Save again to add your text after version ${newer.version}.`;
}

// Not a plain link: what cannot be had says why on this page.
async function download(path) {
  const answer = await fetch(path, { headers: { "X-Desk": "1" }, credentials: "same-origin" });
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, told.error ?? "The desk sent an unexpected response.", null);
  }
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "download";
  const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`Downloaded: ${name}`);
}

// A line of qrels has no place for a name.
function offerFormats() {
  const { by, format, rule } = byId("export").elements;
  const each = by.value === "assessor";
  const qrels = format.querySelector("option"); // the first
  if (each && format.value === qrels.value) format.value = "csv";
  qrels.disabled = rule.disabled = each;
  byId("export-told").textContent = each ? "Grades by assessor need a table format; qrels have no column for names." : "";
}

async function renewed() {
  me = await server.me();
  byId("title").textContent = me.title;
  document.title = `${me.title} · lead`;
  disputes.count = -1; // its buttons have the words of the grades
  version = null;
  look();
}

async function begin() {
  setTheme();
  byId("alert-close").onclick = () => warn("");
  try {
    me = await server.me();
    await setUp(renewed);
  } catch (problem) {
    warn(problem.status ? problem.message : "The desk doesn’t respond. Trying again.");
    if (!problem.status || problem.status >= 500 || problem.status === 429) setTimeout(begin, 3000);
    return;
  }
  warn("");
  document.title = `${me.title} · lead`;
  byId("title").textContent = me.title;
  byId("guideline").value = me.guideline.text;
  begun = guideline = me.guideline.version;
  byId("guideline-version").textContent = me.guideline.version ? `Version ${me.guideline.version}` : "No guideline yet.";
  byId("invite").addEventListener("submit", (event) => {
    event.preventDefault();
    invite(byId("invite-name").value, byId("invite-role").value);
  });
  byId("guideline-form").addEventListener("submit", (event) => {
    event.preventDefault();
    done(saveGuideline(), (told) => {
      byId("guideline-version").textContent = `Version ${told.version}, saved`;
      begun = guideline = told.version;
      look();
    });
  });
  byId("show-names").checked = remembered("desk:names", false);
  byId("show-names").addEventListener("change", () => {
    remember("desk:names", byId("show-names").checked);
    disputes.count = -1;
    done(lookAtDisputed(), () => {});
  });
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => done(download(button.dataset.download), () => {}));
  }
  byId("export").elements.by.addEventListener("change", offerFormats);
  offerFormats(); // browsers keep what was chosen before a reload
  byId("export").addEventListener("submit", (event) => {
    event.preventDefault();
    done(download(`/api/lead/export?${new URLSearchParams(new FormData(byId("export")))}`), () => {});
  });
  byId("guideline-preview").addEventListener("toggle", showGuideline);
  byId("guideline").addEventListener("input", showGuideline);
  byId("steps-close").addEventListener("click", () => {
    remember(stepsPlace("hidden"), true);
    byId("steps-part").hidden = true;
  });
  addEventListener("hashchange", openTab);
  openTab();
  document.addEventListener("visibilitychange", () => document.hidden || look());
  await look();
  document.body.dataset.ready = "1";
}

begin();
