// Elements. Texts become text nodes, always: nothing here parses markup.

/** Make an element; `on` functions listen, the rest are attributes (null and false: none). */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Text that people wrote, in its own direction. */
const said = (text, attributes = {}) => h("bdi", attributes, text);

const hidden = (text) => h("span", { class: "unseen" }, text);

function section(id, title, ...children) {
  const heading = h("h2", { id: `${id}-title` }, title);
  return h("section", { id, "aria-labelledby": `${id}-title` }, heading, ...children);
}

/** Notes, one per line; null if there are none. */
const notesList = (notes) => (notes.length ? h("ul", { class: "notes" }, ...notes.map((note) => h("li", null, said(note)))) : null);

const lead = (...children) => h("p", { class: "lead" }, ...children);

let fields = 0;

/** A labelled choice among `options`, by their index or by [value, text]. */
function choice(label, options, value, change) {
  const id = `field-${(fields += 1)}`;
  const made = options.map((option, index) => {
    const [key, text] = Array.isArray(option) ? option : [index, option];
    return h("option", { value: key, selected: key === value }, text);
  });
  const select = h("select", { id, onchange: () => change(Number(select.value)) }, ...made);
  const element = h("div", { class: "field" }, h("label", { for: id }, label), select);
  return { element, select, show: (index) => (select.value = index) };
}

// The verdicts; higher and lower are for measures of which neither is better. Each has a symbol, the same as in the charts, so that no meaning depends on colour.
const WORDS = {
  better: { icon: "▲", text: "better" },
  worse: { icon: "▼", text: "worse" },
  higher: { icon: "▲", text: "higher" },
  lower: { icon: "▼", text: "lower" },
  equivalent: { icon: "◆", text: "equivalent" },
  inconclusive: { icon: "●", text: "inconclusive" },
};

function icon(word) {
  return h("span", { class: "icon", "aria-hidden": "true" }, WORDS[word].icon);
}

/** A verdict with its sign. */
function badge(word) {
  return h("span", { class: `badge ${word}` }, icon(word), WORDS[word].text);
}

/** A bar whose length is a share of its place; decoration beside a number that is written out. */
function bar(share, kind = "") {
  const fill = h("span", { class: "fill" });
  fill.style.width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
  return h("span", { class: `meter ${kind}`, "aria-hidden": "true" }, fill);
}

/** A bar to the left or right of the middle. */
function lean(share) {
  const fill = h("span", { class: share < 0 ? "fill down" : "fill up" });
  const half = Math.min(Math.abs(share), 1) * 50;
  fill.style.width = `${half}%`;
  fill.style.left = share < 0 ? `${50 - half}%` : "50%";
  return h("span", { class: "lean", "aria-hidden": "true" }, fill);
}

/** A link to a query's detail. */
function queryLink(query, text = report.queries[query].id) {
  return h("a", { class: "query-link", href: queryHash(query) }, said(text));
}

const queryHash = (query) => `#query=${encodeURIComponent(wellFormed(report.queries[query].id))}`;

/** Half of a surrogate pair cannot stand in an address. */
const wellFormed = (text) => text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

// Grades, coloured from the lowest to the highest that occur.
const [lowest, highest] = report.packed.grades;

/** A grade as a chip: the number in text on its colour; a dash for none. */
function chip(grade, title = null) {
  if (grade === null) {
    return h("span", { class: "chip none", title }, h("span", { "aria-hidden": "true" }, "–"), hidden("unjudged"));
  }
  const share = (grade - lowest) / (highest - lowest);
  const text = Number.isInteger(grade) ? String(grade) : String(Number(grade.toPrecision(3)));
  const element = h("span", { class: "chip", title }, hidden("grade "), minus(text));
  for (const theme of ["light", "dark"]) {
    const colours = report.themes.grades[theme];
    if (!colours.length) continue;
    const colour = between(colours, share);
    element.style.setProperty(`--${theme}`, colour);
    element.style.setProperty(`--${theme}-ink`, inkOn(colour));
  }
  return element;
}

/** The colour at a share of the way through some: few grades stand as far apart as they can. */
function between(colours, share) {
  const place = share * (colours.length - 1);
  const [from, to] = [Math.floor(place), Math.ceil(place)].map((at) => colours[at]);
  const mixed = [1, 3, 5].map((at) => {
    const [one, other] = [from, to].map((colour) => parseInt(colour.slice(at, at + 2), 16));
    return Math.round(one + (other - one) * (place % 1)).toString(16).padStart(2, "0");
  });
  return `#${mixed.join("")}`;
}

/** Black or white, whichever reads better on a colour #rrggbb. */
function inkOn(colour) {
  const channel = (at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return light > 0.179 ? "#000000" : "#ffffff";
}
