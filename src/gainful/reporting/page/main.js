// The page: its head, its sections in order, and the address that it follows.

function head() {
  const facts = [
    plural(names.length, "run"),
    ...(compared ? [["baseline ", said(report.baseline, { class: "name" })]] : []),
    plural(report.queries.length, "query", "queries"),
    plural(report.measures.length, "measure"),
    h("time", { datetime: report.created }, report.created),
  ];
  const list = facts.map((fact) => h("li", null, ...[fact].flat()));
  const runs = names.map((name) => h("li", null, said(name)));
  document.getElementById("top").append(
    h("p", { class: "eyebrow" }, "gainful report"),
    h("h1", { dir: "auto", class: report.title.length > LONG ? "long" : null }, report.title),
    h("ul", { class: "facts" }, ...list),
    h("ul", { class: "run-names", "aria-label": "Runs" }, ...runs),
  );
}

function navigation(sections) {
  const links = sections.map(({ id }) => h("li", null, h("a", { href: `#${id}` }, id[0].toUpperCase() + id.slice(1))));
  const measure = choice("Measure", report.measures, state.measure, (index) => set({ measure: index }));
  measure.select.id = "measure";
  measure.element.querySelector("label").htmlFor = "measure";
  on(["measure"], () => measure.show(state.measure));
  document.getElementById("bar").append(h("div", { class: "inside" }, h("ul", { class: "links" }, ...links), h("div", { class: "choices" }, measure.element, themeSwitch())));
}

/** Light or dark: follows the system until the button is pressed. */
function themeSwitch() {
  let chosen = null;
  const sign = h("span", { "aria-hidden": "true" });
  const button = h("button", { type: "button", id: "theme", class: "plain", onclick: () => follow(themeNow() === "dark" ? "light" : "dark") }, sign);
  const follow = (wanted) => {
    chosen = wanted;
    setTheme(chosen);
    sign.textContent = themeNow() === "dark" ? "☀" : "☾";
    const other = themeNow() === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `Change to ${other} colours`);
    button.title = `Change to ${other} colours`;
  };
  dark.addEventListener("change", () => chosen ?? follow(null));
  follow(null);
  return button;
}

function foot() {
  document.getElementById("foot").append(h("p", null, `Made with gainful ${report.version}. Everything is in this file, and no data leaves it.`));
}

function start() {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  head();
  const sections = [
    verdictSection(),
    runsSection(),
    queriesSection(),
    heatmapSection(),
    scatterSection(),
    curveSection(),
    distributionSection(),
    slicesSection(),
    assessorsSection(),
    logSection(),
    coverageSection(),
    policySection(),
    downloadsSection(),
  ].filter(Boolean);
  document.getElementById("main").append(...sections);
  navigation(sections);
  foot();
  addEventListener("hashchange", followAddress);
  followAddress();
}

start();
