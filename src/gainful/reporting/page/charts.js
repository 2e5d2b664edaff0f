// Charts: Vega-Lite specifications from Python, drawn when they come into view.

const charts = [];
let printing = false;

const dark = matchMedia("(prefers-color-scheme: dark)");
const themeNow = () => document.documentElement.dataset.theme;

/** Follow the system until someone chooses; `chosen` is "light", "dark" or null. */
function setTheme(chosen) {
  document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
  charts.forEach((chart) => chart.redraw());
}

const nearby = new IntersectionObserver(
  (entries) => entries.forEach((entry) => entry.target.chart.seen(entry.isIntersecting)),
  { rootMargin: "400px 0px" },
);

/**
 * A chart of `report.charts[name]` with the rows that `rows()` returns, and its table.
 *
 * `label()` says in words what it shows. `columns`: [[field, label, number]…] of the table that
 * stands for the chart; null where a table beside it does already. `click(row)` is for pointers;
 * the same must be reachable from a table. `words()`: what the titles of the specification call
 * score, base and run, by their names here; another word means another drawing. `nothing`: what is
 * said where there are no rows, as no scale has room for nothing.
 */
function chart(given) {
  const { name, rows, label, columns = null, click = null, nothing = "Nothing to draw: no query has a score." } = given;
  const place = h("div", { class: `chart ${name}${click ? " clickable" : ""}`, role: "img", "aria-label": label() });
  const instead = h("p", { class: "quiet" }, nothing);
  const element = h("figure", null, place, instead);
  const me = { place, near: false, stale: true, turn: 0, drawn: null };
  place.chart = me;

  const choose = () => {
    place.hidden = !rows().length;
    instead.hidden = !place.hidden;
    element.querySelector("details")?.toggleAttribute("hidden", place.hidden);
  };
  me.seen = (near) => {
    me.near = near;
    if (near && me.stale && !place.hidden) draw(me, given);
  };
  me.redraw = () => {
    me.stale = true;
    if ((me.near || printing) && !place.hidden) draw(me, given);
  };
  me.refresh = () => {
    refreshTable?.();
    place.setAttribute("aria-label", label());
    choose();
    if (place.hidden) me.stale = true; // shown again, it is drawn
    else if (!me.drawn || me.stale || me.words !== JSON.stringify(given.words?.())) me.redraw();
    else me.drawn.view.data("rows", drawableRows(rows())).resize().runAsync();
  };
  const refreshTable = columns ? tableFor(element, rows, label, columns) : null;
  choose();
  charts.push(me);
  nearby.observe(place);
  return { element, refresh: me.refresh };
}

async function draw(me, { name, rows, click, adapt, words }) {
  me.stale = false;
  const turn = (me.turn += 1);
  const values = drawableRows(rows());
  const theme = printing ? "light" : themeNow();
  me.words = JSON.stringify(words?.());
  const spec = named(report.charts[name], words?.() ?? {}, me.place.clientWidth);
  spec.data = { name: "rows", values };
  adapt?.(spec);
  // Vega-Lite ignores a height in steps if the width is the container's, so it is multiplied here.
  if (spec.height?.step) spec.height = spec.height.step * new Set(values.map((row) => (name === "hard" ? row.query : (row.pair ?? row.run)))).size;
  // Drawn beside the old one, so that the page does not jump; only the latest stays. What is read
  // out is the label of the place, not every mark.
  const inner = h("div", { class: "drawing waiting", "aria-hidden": "true" });
  me.place.append(inner);
  const drawn = await vegaEmbed(inner, spec, {
    mode: "vega-lite",
    ast: true,
    actions: false,
    renderer: "svg",
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true, theme: "page" },
    config: { ...report.themes[theme], aria: false, background: "transparent" },
  });
  if (turn !== me.turn) {
    drawn.finalize();
    inner.remove();
    return;
  }
  me.drawn?.finalize();
  me.drawn = drawn;
  inner.classList.remove("waiting");
  me.place.replaceChildren(inner);
  if (click) {
    drawn.view.addEventListener("click", (_, item) => {
      if (item?.datum && item.datum.query !== undefined) click(item.datum);
    });
  }
}

/**
 * A copy of a specification with names in the titles of its axes and in its texts, each shortened to
 * its room. Vega reads these as they are; what it calls a field it reads as code, so no name goes there.
 */
function named(spec, words, width) {
  const copy = (part, room) => {
    if (Array.isArray(part)) return part.map((each) => copy(each, room));
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => {
      if (key === "axis" && typeof value?.title === "string") return [key, { ...value, title: worded(value.title, words, value.titleAngle === 0 ? width : room) }];
      if (key === "mark" && typeof value?.text === "string") return [key, { ...value, text: worded(value.text, words, Math.min(width, LONGEST)) }];
      if (key === "legend" && value?.orient === "top" && width < 460) return [key, { ...value, columns: 2 }];
      return [key, copy(value, key === "y" ? spec.height : key === "x" ? width : room)];
    }));
  };
  return copy(spec, width);
}

const [LETTER, FEWEST, LONGEST] = [7, 11, 420]; // pixels of a letter, letters of a name, pixels of one

/** A title with names in place of words: all of them on the one line that there is room for. */
function worded(title, words, room) {
  const places = (title.match(/\w+/g) ?? []).filter((word) => Object.hasOwn(words, word));
  const rest = title.length - places.join("").length;
  const letters = Math.max(Math.floor((room / LETTER - rest) / (places.length || 1)), FEWEST);
  return title.replace(/\w+/g, (word) => (Object.hasOwn(words, word) ? shortened(words[word], letters) : word));
}

/** A name on one line, without its middle where it is long: names differ at their ends. */
function shortened(name, letters) {
  const line = [...drawable(name).trim().replace(/\s+/g, " ")];
  if (line.length <= letters) return line.join("");
  const head = Math.floor((letters - 1) / 2);
  return `${line.slice(0, head).join("")}…${line.slice(head + 1 - letters).join("")}`;
}

/** A text without what no picture has, and without what parts the lines of a label. */
const drawable = (text) => wellFormed(text).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]/g, "\ufffd");

/** Rows whose texts can be drawn; `lines` are parted already. */
const drawableRows = (rows) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, cell]) => [key, typeof cell === "string" && key !== "lines" ? drawable(cell) : cell])));

/** Add the table that stands for a chart, built when it is first opened. */
function tableFor(element, rows, label, columns) {
  let made = null;
  const details = h("details", { class: "as-table" }, h("summary", null, "Show as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || made) return;
    made = table({
      caption: label(),
      columns: columns.map(([field, text, number], index) => ({
        label: text,
        number,
        head: index === 0,
        digits: number === "whole" ? 0 : 4,
        value: (row) => row[field],
        cell: field === "query" && "index" in (rows()[0] ?? {}) ? (row) => queryLink(row.index) : null,
      })),
      rows: rows(),
      unseenCaption: true,
    });
    details.append(made.element);
  });
  element.append(details);
  return () => made?.update(rows());
}

// Paper is light, and nothing scrolls into view on it.
function beforePrint() {
  if (printing) return;
  printing = true;
  charts.forEach((chart) => chart.redraw());
}

function afterPrint() {
  printing = false;
  if (themeNow() === "dark") charts.forEach((chart) => chart.redraw());
}

addEventListener("beforeprint", beforePrint);
addEventListener("afterprint", afterPrint);
matchMedia("print").addEventListener("change", (event) => (event.matches ? beforePrint() : afterPrint()));
