// A query in full, in a dialog that has an address: #query=ID.

const dialog = document.getElementById("detail");
const pair = { left: Math.max(baseline, 0), right: state.run };

on(["run"], () => (pair.right = state.run));

const LONG = 60; // letters of an id that has a line or two at most

let turn = 0; // what was asked for last is shown, whatever is unpacked first
let shownAt = ""; // the address of what is shown

/** Show what the address asks for, when it is there in full. */
async function followAddress() {
  const mine = (turn += 1);
  const asked = /^#query=(.*)$/s.exec(location.hash);
  if (!asked) return dialog.open ? dialog.close() : undefined;
  const id = decoded(asked[1]);
  const query = report.queries.findIndex((each) => wellFormed(each.id) === id);
  if (!groupOf.has(query)) return show(query < 0 ? unknownQuery(id) : queryDetail(query, leftOut(query)));
  const body = await detailOf(query).then((detail) => keptDetail(detail, query), () => notUnpacked(query));
  if (mine === turn) show(queryDetail(query, body));
}

function show(content) {
  dialog.replaceChildren(...content);
  shownAt = location.hash;
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  dialog.querySelector("h2").focus();
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray % that nobody encoded
  }
}

dialog.addEventListener("close", () => {
  // It comes a little after closing: another query may have been asked for since.
  const asked = location.hash.startsWith("#query=") && location.hash !== shownAt;
  if (dialog.open || asked) return;
  turn += 1;
  dialog.replaceChildren();
  if (location.hash.startsWith("#query=")) history.replaceState(null, "", "#");
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // beside its content: the backdrop
});

const closeButton = () => h("button", { type: "button", class: "plain close", onclick: () => dialog.close() }, "Close");

/** The title with what stands beside it; a long id gets the room it needs, and scrolls with the rest. */
function detailHead(id, ...buttons) {
  const title = h("h2", { id: "detail-title", tabindex: "-1" }, h("span", { class: "eyebrow" }, "Query "), said(id));
  return h("div", { class: `detail-head${id.length > LONG ? " long" : ""}` }, title, h("div", { class: "steps-nav" }, ...buttons));
}

function unknownQuery(id) {
  return [h("div", { class: "detail" }, detailHead(id, closeButton()), h("p", null, "This report has no query with this id."))];
}

function queryDetail(query, body) {
  const { id, text, judged } = report.queries[query];
  const head = detailHead(id, ...neighbours(query), closeButton());
  const words = text === null ? null : h("p", { class: "query-text", dir: "auto" }, text);
  const facts = judged === null ? null : h("p", { class: "quiet" }, `${plural(judged, "judged document")}.`);
  return [h("div", { class: "detail" }, head, words, facts, ...body)];
}

/** To the queries before and after, in the order of the table. */
function neighbours(query) {
  const order = shownOrder();
  const at = order.indexOf(query);
  const step = (label, sign, to) => {
    const go = to === undefined || at < 0 ? null : () => location.replace(queryHash(to));
    return h("button", { type: "button", class: "plain", disabled: go === null, "aria-label": `${label} query`, title: `${label} query`, onclick: go ?? (() => {}) }, sign);
  };
  return [step("Previous", "←", order[at - 1]), step("Next", "→", order[at + 1])];
}

function keptDetail(detail, query) {
  const lists = h("div", null);
  const workings = h("div", null);
  const evidence = h("div", null);
  const draw = () => {
    lists.replaceChildren(sideBySide(detail, pair, (changes) => {
      Object.assign(pair, changes);
      draw();
      lists.querySelector(`select[data-side="${Object.keys(changes)[0]}"]`).focus();
    }));
    const runs = compared ? [...new Set([pair.left, pair.right])] : [0];
    workings.replaceChildren(...workedTables(detail, runs));
    evidence.replaceChildren(...evidenceOf(detail, runs));
    note.textContent = partsNote(detail);
    note.hidden = !note.textContent;
  };
  const note = h("p", { class: "quiet" });
  draw();
  return [
    gradeStrips(detail, query),
    evidence,
    h("h3", null, compared ? "Ranked lists" : "Ranked list"),
    lists,
    note,
    h("h3", null, "How the score is computed"),
    workings,
    h("h3", null, "What if the list changed?"),
    ...whatIf(detail, query),
    ...otherMeasures(query),
  ];
}

function partsNote(detail) {
  if (!compared || pair.left === pair.right) return "";
  const measure = report.measures[report.primary];
  if (!detail.parts?.some(Boolean)) return `${measure} isn't a sum over documents, so the difference cannot be shared among them.`;
  if (![pair.left, pair.right].includes(baseline)) return `Shares are only known for differences from the baseline, ${report.baseline}: choose it as one of the lists.`;
  const run = names[pair.left === baseline ? pair.right : pair.left];
  return `Share: the document's contribution to the difference in ${measure}, ${run} − ${report.baseline}.`;
}

/** The values of the query under every measure. */
function otherMeasures(query) {
  const rows = names.map((name, run) => [name, ...report.measures.map((_, measure) => scoreOf(run, query, measure))]);
  const made = plainTable("Scores of this query: every run, every measure", ["run", ...report.measures], rows, { unseenCaption: true, digits: rows[0].map(() => 4) });
  return [h("h3", null, report.measures.length > 1 ? "All measures" : "All runs"), made.element];
}

function leftOut(query) {
  const { queries, of, why } = report.kept;
  if (!measured) return [h("p", null, said(`There are no ranked lists to show: ${why}.`)), ...otherMeasures(query)];
  return workedElsewhere(query, `This page contains the ranked lists of ${whole(queries)} of ${plural(of, "query", "queries")}${why ? `: ${why}` : ""}. `);
}

const notUnpacked = (query) => workedElsewhere(query, "This browser is too old to decompress the ranked lists. ");

function workedElsewhere(query, reason) {
  return [
    h("p", null, said(reason), "This command shows the arithmetic of the query:"),
    explainCommand(query),
    ...otherMeasures(query),
  ];
}

function explainCommand(query, more = "") {
  const command = `gainful explain JUDGMENTS RUN --query ${shellWord(report.queries[query].id)} -m ${shellWord(report.measures[report.primary])}${more}`;
  return h("pre", { class: "command", tabindex: "0" }, h("code", null, command));
}

const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`);
