// Marks the words of a query in a text: the same word, or one that only ends otherwise (bake, baked, baking).

import { element } from "./elements.js";

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const MOST = 5000; // marks in one text: more of them would only keep somebody waiting
const FEW = new Set("a an and are at by for from in is of on or the to with without der die das und le la les et el los y de".split(" "));

function plain(word) {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function stem(word) {
  return word.length > 4 ? word.replace(/(ing|ed|es|e|s)$/u, "") : word;
}

// Returns a function that marks the words of a query in texts, up to a number of marks for all of them together.
export function marker(query) {
  const wanted = new Set();
  for (const [word] of query.matchAll(WORD)) {
    const found = plain(word);
    if (!FEW.has(found)) wanted.add(stem(found));
  }
  let count = 0;
  // One node for all of a text: a long one has more pieces than one call takes arguments.
  return (text) => {
    const parts = document.createDocumentFragment();
    let end = 0;
    if (wanted.size && count < MOST) {
      for (const match of text.matchAll(WORD)) {
        if (!wanted.has(stem(plain(match[0])))) continue;
        parts.append(text.slice(end, match.index), element("mark", {}, match[0]));
        end = match.index + match[0].length;
        count += 1;
        if (count === MOST) break;
      }
    }
    parts.append(text.slice(end));
    return parts;
  };
}
