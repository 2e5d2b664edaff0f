// Ranked lists of a query: the grades of all runs at a glance, and two lists side by side.

/** For each run its value and the grades of its list, rank by rank; below them the ideal. */
function gradeStrips(detail, query) {
  const largest = Math.max(...detail.lists.map(({ value }) => value ?? 0));
  const rows = detail.lists.map((list, run) => {
    const tag = run === baseline ? h("span", { class: "tag" }, "baseline") : null;
    return h(
      "tr",
      { role: "row" },
      h("th", { scope: "row", role: "rowheader" }, said(names[run], { class: "name" }), tag),
      h("td", { class: "number", role: "cell" }, written(scoreOf(run, query, report.primary)), bar(list.value > 0 ? list.value / largest : 0)),
      h("td", { role: "cell" }, strip(detail, list.rows, list)),
    );
  });
  if (detail.ideal) {
    const whose = detail.ideal.run === null ? null : [" of ", said(names[detail.ideal.run], { class: "name" })];
    const head = h("th", { scope: "row", role: "rowheader" }, h("i", null, "ideal"), ...(whose ?? []));
    rows.push(h("tr", { class: "ideal", role: "row" }, head, h("td", { role: "cell" }), h("td", { role: "cell" }, strip(detail, detail.ideal.rows))));
  }
  const columns = ["run", report.measures[report.primary], "grades in rank order"].map((text, index) =>
    h("th", { scope: "col", role: "columnheader", class: index === 1 ? "number" : null }, text));
  const caption = h("caption", { class: "unseen" }, "Score and grades of every run");
  // The roles are said because a small screen lays the rows out as blocks.
  const head = h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...columns));
  return h("table", { class: "strips", role: "table" }, caption, head, h("tbody", { role: "rowgroup" }, ...rows));
}

function strip(detail, rows, list = null) {
  if (list?.missing) return h("span", { class: "quiet" }, "no list for this query");
  if (list?.below === null) return h("span", { class: "quiet" }, "saved scores, without documents");
  if (!rows.length) return h("span", { class: "quiet" }, "empty");
  const chips = rows.map(([doc, rank]) => {
    const [id, grade] = doc === null ? ["no document", null] : detail.docs[doc];
    return h("li", null, chip(grade, `${rank}: ${id}`));
  });
  return h("ol", { class: "strip" }, ...chips);
}

/** Two lists side by side, with the choice which. */
function sideBySide(detail, pair, change) {
  const sides = compared ? ["left", "right"] : ["right"];
  const made = sides.map((side) => {
    const other = side === "left" ? pair.right : pair.left;
    const label = side === "left" ? "First list" : "Second list";
    const field = compared ? choice(label, names, pair[side], (run) => change({ [side]: run })) : null;
    const list = rankedList(detail, pair[side], compared && other !== pair[side] ? other : null, side);
    if (field) field.select.dataset.side = side;
    return h("div", { class: "side" }, field?.element, list);
  });
  return h("div", { class: compared ? "sides" : "sides alone" }, ...made);
}

/** One list: rank, document, grade, where it is in the other list, its part in the difference. */
function rankedList(detail, run, other, side) {
  const list = detail.lists[run];
  const title = [said(names[run], { class: "name" }), " ", h("span", { class: "figure" }, written(list.value))];
  const heading = h("h4", null, ...title);
  if (list.missing) return h("div", null, heading, h("p", { class: "quiet" }, "This run has no list for this query."));
  if (list.below === null) return h("div", null, heading, h("p", { class: "quiet" }, "Saved scores, without documents."));
  const parts = other === null ? null : partsOf(detail, run, other);
  const largest = Math.max(...(parts ? [...parts.values()].map(Math.abs) : []), 0) || 1;
  const rows = list.rows.map((row) => {
    const [doc, first, last] = row;
    const part = parts?.get(doc) ?? 0;
    return h(
      "tr",
      null,
      h("td", { class: "rank" }, rankText(first, last)),
      h("td", { class: "doc" }, docCell(detail.docs[doc])),
      h("td", null, chip(detail.docs[doc][1])),
      other === null ? null : h("td", { class: "moved" }, movedCell(detail, doc, first, other, side)),
      parts ? h("td", { class: "number" }, part ? h("div", { class: "leaning" }, signed(part), lean(part / largest)) : h("span", { class: "quiet" }, "0")) : null,
    );
  });
  const columns = ["rank", "document", "grade", ...(other === null ? [] : [side === "left" ? "moves to" : "came from"]), ...(parts ? ["share"] : [])];
  const head = columns.map((text) => h("th", { scope: "col", class: text === "share" ? "number" : null }, text));
  const caption = h("caption", { class: "unseen" }, `The list of ${names[run]}`);
  const made = h("table", { class: "ranked" }, caption, h("thead", null, h("tr", null, ...head)), h("tbody", null, ...rows));
  const region = h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `The list of ${names[run]}` }, made);
  const more = list.more > 0 ? h("p", { class: "quiet" }, `${plural(list.more, "document")} of ${whole(list.retrieved)} are below the last rank shown.`) : null;
  return h("div", null, heading, list.rows.length ? region : h("p", { class: "quiet" }, "The list is empty."), more);
}

const rankText = (first, last) => (last === null || first === last ? String(first) : `${first}–${last}`);

function docCell([id, , title, snippet]) {
  return h(
    "div",
    null,
    title ? h("div", { class: "doc-title" }, said(title)) : null,
    h("div", { class: title ? "doc-id quiet" : "doc-id" }, said(id)),
    snippet ? h("div", { class: "snippet", dir: "auto" }, snippet) : null,
  );
}

/** Each document's share of the difference, which is known between the baseline and any other run. */
function partsOf(detail, run, other) {
  const pair = [run, other];
  if (!detail.parts || !pair.includes(baseline)) return null;
  const parts = detail.parts[run === baseline ? other : run];
  return parts ? new Map(parts.map(([doc, , , part]) => [doc, part])) : null;
}

/** The rank of a document in a run: a number, null if it is not there, undefined if not known. */
function rankIn(detail, run, doc) {
  const { rows, below } = detail.lists[run];
  const row = rows.find(([each]) => each === doc);
  if (row) return row[1];
  if (below === null) return undefined;
  const at = below.findIndex((each, place) => place % 2 === 0 && each === doc);
  return at < 0 ? null : below[at + 1];
}

function movedCell(detail, doc, rank, other, side) {
  const there = rankIn(detail, other, doc);
  const words = side === "left" ? { none: "gone", at: "now" } : { none: "new", at: "was" };
  if (there === null) return h("span", { class: `move ${side === "left" ? "down" : "up"}` }, words.none);
  if (there === undefined) return h("span", { class: "move quiet" }, "not known");
  if (there === rank) return h("span", { class: "move quiet" }, "same");
  const up = side === "left" ? there < rank : rank < there;
  const arrow = h("span", { "aria-hidden": "true" }, up ? "↑ " : "↓ ");
  return h("span", { class: `move ${up ? "up" : "down"}` }, arrow, `${words.at} ${there}`);
}
