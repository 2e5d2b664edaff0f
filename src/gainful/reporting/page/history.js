// The history's page: a chart for each measure, the real changes below it, and all entries as a table.

const report = JSON.parse(document.getElementById("payload").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
// Blue and orange come last, because they mark rises and falls.
const COLOURS = [["#0f7f66", "#4cc9a8"], ["#7a4fb0", "#b99bea"], ["#8a6d00", "#d9b944"], ["#a8325e", "#f08bb1"], ["#1f6fb5", "#6db4f5"], ["#c2500f", "#f59458"]];
const MARGIN = { top: 34, right: 14, bottom: 26, left: 52 };
const HEIGHT = 300;
const LETTER = 6.6; // width in pixels, of labels

const colour = (run) => COLOURS[report.runs.indexOf(run) % COLOURS.length][dark.matches ? 1 : 0];
const fixed = (number) => number.toFixed(4);
const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(4)}`;
const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);
const when = (title) => title.replace(/ 00:00$/, ""); // of an entry without a label
const minute = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");

/** Make an element; texts become text nodes, always: nothing here parses markup. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

/** Text that people wrote, in its own direction. */
const said = (text) => h("bdi", null, text);

function section(id, title, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Round steps between two numbers, about `count` of them. */
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, at) => (first + at) * step);
}

function pointsOf(measure) {
  return report.entries
    .map((entry, place) => ({ ...entry, place, mean: entry.means[measure], ends: entry.intervals[measure] }))
    .filter((point) => point.mean !== undefined);
}

/** Draw the chart of a measure at a width. */
function drawn(measure, width) {
  const points = pointsOf(measure);
  const changes = report.changes.filter((change) => change.measure === measure);
  const values = points.flatMap((point) => [point.mean, ...(point.ends ?? [])]);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  [low, high] = [low - room, high + room];
  const times = points.map((point) => point.time);
  const [start, end] = [Math.min(...times), Math.max(...times)];
  const inner = width - MARGIN.left - MARGIN.right;
  const x = (time) => MARGIN.left + (end > start ? (time - start) / (end - start) : 0.5) * inner;
  const y = (value) => HEIGHT - MARGIN.bottom - ((value - low) / (high - low)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${measure} over time; the table of entries has all numbers` });
  const steps = ticks(low, high, 5);
  const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(steps.length > 1 ? steps[1] - steps[0] : 0.1) + 1e-9)));
  for (const value of steps) {
    picture.append(
      svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      svg("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(decimals)),
    );
  }
  const shown = end > start ? Math.max(2, Math.min(6, Math.floor(inner / 110))) : 1;
  for (let at = 0; at < shown; at += 1) {
    const time = shown > 1 ? start + ((end - start) * at) / (shown - 1) : start;
    const anchor = shown === 1 ? "middle" : at === 0 ? "start" : at === shown - 1 ? "end" : "middle";
    const text = end - start < 172800 * shown ? minute(time).slice(5) : day(time);
    picture.append(svg("text", { x: x(time), y: HEIGHT - 6, "text-anchor": anchor }, text));
  }
  releases(points, x, width, picture);
  for (const run of report.runs) {
    const own = points.filter((point) => point.run === run);
    const banded = own.filter((point) => point.ends);
    if (banded.length > 1) {
      const upper = banded.map((point) => `${x(point.time)},${y(point.ends[1])}`);
      const lower = banded.map((point) => `${x(point.time)},${y(point.ends[0])}`).reverse();
      picture.append(svg("polygon", { class: "band", fill: colour(run), points: [...upper, ...lower].join(" ") }));
    }
    picture.append(svg("polyline", { class: "line", stroke: colour(run), points: own.map((point) => `${x(point.time)},${y(point.mean)}`).join(" ") }));
    if (own.length <= 60) {
      for (const point of own) picture.append(svg("circle", { class: "dot", r: 3.5, fill: colour(run), cx: x(point.time), cy: y(point.mean) }));
    }
  }
  for (const change of changes) {
    const point = points.find((each) => each.place === change.place);
    const up = change.difference > 0;
    const [left, top] = [x(point.time), y(point.mean) + (up ? -9 : 9)];
    const shape = up ? `M${left - 7},${top} l7,-11 l7,11 z` : `M${left - 7},${top} l7,11 l7,-11 z`;
    picture.append(svg("path", { class: `mark ${up ? "up" : "down"}`, d: shape }));
  }
  return { picture, points, x, y };
}

/** The labels of releases, as many as fit. */
function releases(points, x, width, picture) {
  let free = 0;
  const labels = new Map(points.filter((point) => point.label).map((point) => [point.label, x(point.time)]));
  for (const [label, left] of labels) {
    const text = label.length > 16 ? `${label.slice(0, 15)}…` : label;
    const size = text.length * LETTER;
    const begin = Math.min(Math.max(left - size / 2, MARGIN.left), width - size - 2);
    if (begin < free) continue;
    free = begin + size + 10;
    picture.append(
      svg("line", { class: "release", x1: left, x2: left, y1: MARGIN.top - 8, y2: HEIGHT - MARGIN.bottom }),
      svg("text", { x: begin, y: MARGIN.top - 16 }, text),
    );
  }
}

/** A chart that follows the width of the window, with the numbers of the point under the pointer. */
function chart(measure) {
  const tip = h("div", { class: "tip", hidden: true });
  const holder = h("div", { class: "chart" });
  let current = null;
  function draw() {
    current = drawn(measure, Math.max(holder.clientWidth, 280));
    holder.replaceChildren(current.picture, tip);
  }
  function show(event) {
    const box = current.picture.getBoundingClientRect();
    const scale = current.picture.viewBox.baseVal.width / box.width;
    const [left, top] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const away = (point) => Math.abs(current.x(point.time) - left) * 3 + Math.abs(current.y(point.mean) - top);
    const point = current.points.reduce((best, each) => (away(each) < away(best) ? each : best));
    const ends = point.ends ? ` (${fixed(point.ends[0])} to ${fixed(point.ends[1])})` : "";
    const lines = [`${measure} ${fixed(point.mean)}${ends}`, report.runs.length > 1 ? point.run : "", point.label, `${minute(point.time)} UTC`, point.commit.slice(0, 12)];
    tip.replaceChildren(...lines.filter(Boolean).map((line) => h("div", null, said(line))));
    tip.hidden = false;
    const place = current.x(point.time) / scale;
    tip.style.left = `${Math.max(0, Math.min(place + 12, box.width - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, current.y(point.mean) / scale - tip.offsetHeight - 16)}px`;
  }
  holder.addEventListener("pointermove", show);
  holder.addEventListener("pointerdown", show);
  holder.addEventListener("pointerleave", () => { tip.hidden = true; });
  new ResizeObserver(draw).observe(holder);
  dark.addEventListener("change", draw);
  return holder;
}

function key() {
  if (report.runs.length < 2) return null;
  return h("p", { class: "key" }, ...report.runs.map((run) => {
    const item = h("span", null, said(run));
    const paint = () => item.style.setProperty("--mine", colour(run));
    dark.addEventListener("change", paint);
    paint();
    return item;
  }));
}

const number = (text) => h("td", { class: "number" }, text);

function table(columns, rows) {
  const head = h("tr", null, ...columns.map((column, at) => h("th", { scope: "col", class: at && columns.numbers ? "number" : null }, said(column))));
  return h("div", { class: "scroll", tabindex: "0" }, h("table", null, h("thead", null, head), h("tbody", null, ...rows)));
}

function changeItem(change) {
  const up = change.difference > 0;
  const entry = report.entries[change.place];
  const ends = change.low === null ? "" : ` (${Math.round(report.level * 100)}% interval ${signed(change.low)} to ${signed(change.high)})`;
  const cause = { run: "from the run", judgments: "from new judgments", "run or judgments": "from the run or from new judgments, which can't be told apart: the old run was not measured again", policy: "from another policy" }[change.cause];
  const rows = change.moved.map(([query, before, after]) => h("tr", null, h("th", { scope: "row" }, said(query)), number(fixed(before)), number(fixed(after)), number(signed(after - before))));
  return h("li", null,
    h("p", null,
      h("span", { class: up ? "up" : "down", "aria-hidden": "true" }, up ? "▲ " : "▼ "),
      h("strong", null, said(when(change.after))), report.runs.length > 1 ? [" · ", said(change.run)] : [], ` · ${day(entry.time)}`),
    h("p", null, `${change.measure} ${up ? "rose" : "fell"} by ${fixed(Math.abs(change.difference))}${ends} since `, said(when(change.before)), `, ${cause}.`),
    h("details", null,
      h("summary", null, `Queries behind it: ${change.changed} of ${change.queries} changed`),
      table(Object.assign(["query", "before", "after", "change"], { numbers: true }), rows)),
  );
}

function measureSection(measure, at) {
  const changes = report.changes.filter((change) => change.measure === measure);
  const words = changes.length ? `${changes.length} real change${changes.length === 1 ? "" : "s"}` : "No real change";
  return section(`measure-${at}`, measure, key(), chart(measure), h("h3", null, words), h("ul", { class: "found" }, ...changes.sort((one, other) => other.place - one.place).map(changeItem)));
}

/** The last entry of each run. */
function latestSection() {
  const last = new Map(report.entries.map((entry) => [entry.run, entry]));
  const cell = (entry, measure) => {
    const ends = entry.intervals[measure];
    const range = ends ? h("small", null, ` ${fixed(ends[0])} to ${fixed(ends[1])}`) : "";
    return h("td", { class: "number" }, entry.means[measure] === undefined ? "" : fixed(entry.means[measure]), range);
  };
  const rows = [...last.values()].map((entry) => h("tr", null,
    h("th", { scope: "row" }, said(entry.run)), h("td", null, [entry.label, day(entry.time)].filter(Boolean).map(said).flatMap((part, at) => (at ? [" · ", part] : [part]))),
    ...report.measures.map((measure) => cell(entry, measure))));
  const head = h("tr", null, ...["run", "measured", ...report.measures].map((column, at) => h("th", { scope: "col", class: at > 1 ? "number" : null }, said(column))));
  return section("latest", "Latest", h("div", { class: "scroll", tabindex: "0" }, h("table", null, h("thead", null, head), h("tbody", null, ...rows))));
}

function entriesSection() {
  const rows = [...report.entries].reverse().map((entry) => h("tr", null,
    h("td", null, minute(entry.time)), h("td", null, said(entry.run)), h("td", null, said(entry.label)), h("td", null, said(entry.commit.slice(0, 12))),
    ...report.measures.map((measure) => number(entry.means[measure] === undefined ? "" : fixed(entry.means[measure])))));
  const all = h("details", null, h("summary", null, `All entries (${report.entries.length})`), table(["time (UTC)", "run", "label", "commit", ...report.measures], rows));
  return section("entries", "Entries", all);
}

const level = Math.round((1 - report.level) * 100);
document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
dark.addEventListener("change", () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; });
document.getElementById("main").append(
  h("h1", null, said(report.title)),
  h("p", { class: "lead" }, `${report.entries.length} ${report.entries.length === 1 ? "entry" : "entries"}. Bands are 95% intervals of each mean. ▲ and ▼ mark real changes between consecutive entries: over all ${report.looks} comparisons, the probability of marking any where a run did not change is at most ${level}%.`),
  report.entries.length ? latestSection() : h("p", null, "The history has no entries yet."),
  ...report.measures.map(measureSection),
  entriesSection(),
);
