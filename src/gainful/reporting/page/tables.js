// Tables: captions, scopes, sorting by header buttons, rows in portions.

const PORTION = 100;
const collator = new Intl.Collator(undefined, { numeric: true });

/**
 * A table in a region that scrolls by itself.
 *
 * `columns`: {label, value(row): for sorting, cell(row): what is shown (value if absent), number,
 * head: the row's header, sort: false}. `sorted`: [column, direction] that `rows` already have.
 */
function table({ caption, columns, rows, sorted = null, unseenCaption = false, className = "" }) {
  const view = { rows, sorted, shown: PORTION };
  const head = h("tr", null);
  const body = h("tbody", null);
  const more = h("button", { type: "button", class: "more", onclick: () => portion() });
  const cells = columns.map((column, index) => header(column, () => sortBy(index)));
  head.append(...cells);
  const inner = h(
    "table",
    null,
    h("caption", { class: unseenCaption ? "unseen" : null }, caption),
    h("thead", null, head),
    body,
  );
  const region = h("div", { class: `scroll ${className}`, role: "region", "aria-label": caption, tabindex: "0" }, inner);
  const element = h("div", { class: "table" }, region, more);

  function sortBy(index) {
    const [column, direction] = view.sorted ?? [];
    const first = columns[index].number ? -1 : 1;
    view.sorted = [index, column === index ? -direction : first];
    draw();
  }

  function draw() {
    const rows = view.sorted ? inOrder(view.rows, columns[view.sorted[0]], view.sorted[1]) : view.rows;
    view.ordered = rows;
    cells.forEach((cell, index) => {
      const way = view.sorted?.[0] === index ? view.sorted[1] : 0;
      if (way) cell.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    body.replaceChildren(...rows.slice(0, view.shown).map((row) => rowOf(columns, row)));
    label();
  }

  function portion() {
    const from = view.shown;
    view.shown += PORTION;
    const added = view.ordered.slice(from, view.shown).map((row) => rowOf(columns, row));
    body.append(...added);
    label();
    // The pressed button may be gone, and what it brought is where one wants to be.
    (added[0]?.querySelector("a, button") ?? region).focus({ preventScroll: more.hidden });
  }

  function label() {
    const left = view.ordered.length - view.shown;
    more.hidden = left <= 0;
    if (left > 0) more.textContent = `Show ${Math.min(left, PORTION)} more of ${whole(left)}`;
  }

  draw();
  return {
    element,
    update(rows) {
      view.rows = rows;
      view.shown = PORTION;
      region.scrollTop = 0;
      draw();
    },
    order: () => view.ordered,
  };
}

function header(column, sort) {
  const kind = column.number ? "number" : null;
  if (column.sort === false) return h("th", { scope: "col", class: kind }, column.label);
  const arrow = h("span", { class: "arrow", "aria-hidden": "true" });
  const button = h("button", { type: "button", class: "sort", onclick: sort }, h("span", null, column.label), arrow);
  return h("th", { scope: "col", class: kind }, button);
}

function rowOf(columns, row) {
  const cells = columns.map((column) => {
    const shown = column.cell ? column.cell(row) : plain(column, column.value(row));
    const attributes = { class: column.number ? "number" : (column.kind ?? null) };
    if (column.title) attributes.title = column.title(row);
    if (column.head) return h("th", { scope: "row", ...attributes }, shown);
    attributes["data-label"] = column.label;
    return h("td", attributes, shown);
  });
  const made = h("tr", null, ...cells);
  const go = made.querySelector("a.query-link");
  if (go) {
    made.classList.add("goes");
    made.addEventListener("click", (event) => {
      if (!event.target.closest("a, button") && !String(getSelection())) location.hash = go.hash;
    });
  }
  return made;
}

function plain(column, value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? written(value, column.digits ?? 4) : said(String(value));
}

/** Rows by one column; those without a value are last, either way. */
function inOrder(rows, column, direction) {
  const keyed = rows.map((row) => [column.value(row), row]);
  const compare = ([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * (typeof a === "number" ? a - b : collator.compare(a, b));
  };
  return keyed.sort(compare).map(([, row]) => row);
}

/**
 * A table of plain columns and rows, as Python's tables are; `digits`: the decimals of each column. `named`: columns
 * bear names that people gave, which say nothing of what is in them.
 */
function plainTable(caption, columns, rows, options = {}) {
  const made = columns.map((label, index) => {
    const values = rows.map((row) => row[index]).filter((value) => value !== null);
    const number = values.length > 0 && values.every((value) => typeof value === "number");
    return {
      label,
      number,
      sort: options.sort,
      digits: options.digits[index],
      head: index === 0,
      value: (row) => row[index],
      cell: options.named ? null : cellFor(label, index),
    };
  });
  const className = `${options.className ?? ""} ${columns.length > 9 ? "dense" : ""}`;
  return table({ caption, columns: made, rows, ...options, className });
}

/** How a column of this name is shown, where it is not just its value. */
function cellFor(label, index) {
  if (label === "verdict") return (row) => (row[index] in WORDS ? badge(row[index]) : (row[index] ?? "–"));
  if (label === "difference") return (row) => signed(row[index]);
  return null;
}
