// The passages of a query, as the chunks of a run contain them.

/** The evidence of a query: for each of these runs, its passages with the parts that chunks contain. */
function evidenceOf(detail, runs) {
  if (!detail.evidence) return [];
  const { passages, unit, of } = detail.evidence;
  const lists = runs.map((run) => evidenceOfRun(passages, run));
  return [
    h("h3", null, "Evidence"),
    lead(`Marked text is in a retrieved chunk, with the rank of the first one. Underlined text was not retrieved. Offsets count ${unit}.${of > passages.length ? ` Only the first ${passages.length} of ${whole(of)} passages are shown.` : ""}`),
    h("div", { class: "evidence" }, ...lists),
  ];
}

function evidenceOfRun(passages, run) {
  const own = passages.filter(({ runs }) => runs[run]);
  const items = own.map((passage) => h("li", null, passageHead(passage), h("p", { class: "passage", dir: "auto" }, ...passageText(passage, run))));
  const title = compared ? h("h4", null, said(names[run])) : null;
  return h("div", null, title, items.length ? h("ul", null, ...items) : h("p", { class: "quiet" }, "The chunks of this run are not known."));
}

function passageHead({ doc, start, end, group }) {
  const of = group === null ? "" : `, group ${group}`;
  return h("div", { class: "quiet" }, said(doc), ` ${whole(start)}–${whole(end)}${of}`);
}

function passageText({ before, after, runs }, run) {
  const parts = runs[run].flatMap(([text, start, end, rank, first, last]) => {
    const words = text ?? `${whole(start)}–${whole(end)}`;
    if (rank === null) return [h("span", { class: "missed" }, words), hidden(" (not retrieved)"), " "];
    const chunk = `the chunk at rank ${rank}, ${whole(first)}–${whole(last)}`;
    return [h("mark", { title: `In ${chunk}` }, words), h("sup", { title: `In ${chunk}` }, `rank ${rank}`), " "];
  });
  return [before ? h("span", { class: "quiet" }, before) : null, ...parts, after ? h("span", { class: "quiet" }, after) : null];
}
