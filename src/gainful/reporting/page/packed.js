// The details of queries, which come deflated in groups: a group is unpacked when it is asked for.

const groupOf = new Map(report.packed.groups.flatMap(([queries], group) => queries.map((query) => [query, group])));
const unpacked = new Map();

/** The detail of a query, in time; null where the page has none. */
async function detailOf(query) {
  const group = groupOf.get(query);
  if (group === undefined) return null;
  if (!unpacked.has(group)) unpacked.set(group, unpack(report.packed.groups[group][1]));
  return (await unpacked.get(group))[query];
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
