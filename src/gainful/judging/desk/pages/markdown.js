// Renders Markdown as elements: headings, lists, quotes, code, tables, emphasis, links and images.
// HTML inside Markdown is shown as text.

import { element } from "./elements.js";
import { scrolling } from "./safe_html.js";

const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const CODE = /`+/y;
const TARGET = "<?(data:image/[a-z+.-]{1,20};base64,[A-Za-z0-9+/=]+|[^\\s<>()]{1,2000}(?:\\([^\\s<>()]{0,200}\\)[^\\s<>()]{0,200})?)>?";
const LINK = new RegExp(`(!?)\\[([^\\[\\]]{0,1000})\\]\\(\\s{0,3}${TARGET}(?:\\s{1,3}(?:"[^"]{0,300}"|'[^']{0,300}'))?\\s{0,3}\\)`, "y");
const LINKED_IMAGE = new RegExp(`\\[!\\[([^\\[\\]]{0,1000})\\]\\(${TARGET}\\)\\]\\(${TARGET}\\)`, "y");
export const ADDRESS = /https?:\/\/[^\s<>"'`]{1,2000}/y;
const EMPHASIS = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const LONGEST_EMPHASIS = 2000; // characters
const DEEPEST = 12; // quotes and lists inside each other
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*$/;

// The end of an address in a sentence isn't part of it.
export function withoutPunctuation(address) {
  const end = address.replace(/[.,;:!?*_]+$/, "");
  return end.endsWith(")") && !end.includes("(") ? end.slice(0, -1) : end;
}

export function markdown(source, { mark, link, picture }) {
  function inline(text, to, depth = 0) {
    let [at, plainFrom] = [0, 0];
    const unclosed = new Set(); // runs of backticks that nothing closes
    const put = (until, node, next) => {
      if (until > plainFrom) to.append(mark(text.slice(plainFrom, until)));
      if (node) to.append(node);
      at = plainFrom = next;
    };
    const here = (pattern) => {
      pattern.lastIndex = at;
      return pattern.exec(text);
    };
    while (at < text.length) {
      const character = text[at];
      let match;
      if (character === "\\" && (match = here(ESCAPED))) put(at, mark(match[1]), at + 2);
      else if (character === "\n") put(text.slice(plainFrom, at).replace(/[ \\]+$/, "").length + plainFrom, element("br"), at + 1);
      else if (character === "`" && (match = here(CODE))) {
        const length = match[0].length;
        let end = unclosed.has(length) ? -1 : text.indexOf(match[0], at + length);
        while (end >= 0 && text[end + length] === "`") {
          let after = end;
          while (text[after] === "`") after += 1;
          end = text.indexOf(match[0], after);
        }
        if (end < 0) {
          unclosed.add(length);
          at += length;
        } else put(at, element("code", {}, mark(text.slice(at + length, end).trim())), end + length);
      } else if (character === "[" && (match = here(LINKED_IMAGE))) put(at, link(match[3], picture(match[2], match[1])), at + match[0].length);
      else if ((character === "[" || character === "!") && (match = here(LINK))) {
        const content = document.createDocumentFragment();
        if (!match[1]) inline(match[2], content, depth + 1);
        put(at, match[1] ? picture(match[3], match[2]) : link(match[3], content), at + match[0].length);
      } else if (character === "h" && (match = here(ADDRESS))) {
        const address = withoutPunctuation(match[0]);
        put(at, link(address, address), at + address.length);
      } else if ("*_~".includes(character) && depth < DEEPEST) {
        const found = emphasised(text, at);
        if (found) {
          const made = element(found.name);
          inline(text.slice(at + found.mark.length, found.end), made, depth + 1);
          put(at, made, found.end + found.mark.length);
        } else {
          const run = character;
          while (text[at] === run) at += 1;
        }
      } else at += 1;
    }
    put(text.length, null, text.length);
  }

  function blocks(lines, to, depth) {
    let at = 0;
    while (at < lines.length) {
      const line = lines[at];
      if (!line.trim()) at += 1;
      else if (FENCE.test(line)) at = fenced(lines, at, to);
      else if (HEADING.test(line)) {
        const [, signs, text = ""] = HEADING.exec(line);
        heading(signs.length, text.trim().replace(/(^|\s)#+$/, ""), to);
        at += 1;
      } else if (isRule(line)) {
        to.append(element("hr"));
        at += 1;
      } else if (QUOTE.test(line) && depth < DEEPEST) at = quoted(lines, at, to, depth);
      else if (ITEM.test(line) && depth < DEEPEST) at = listed(lines, at, to, depth);
      else if (isTable(lines, at)) at = tabled(lines, at, to);
      else at = paragraph(lines, at, to);
    }
  }

  function heading(level, text, to) {
    const made = element(`h${Math.min(level + 2, 6)}`); // below those of the page
    inline(text, made);
    to.append(made);
  }

  function fenced(lines, first, to) {
    const [, sign] = FENCE.exec(lines[first]);
    let at = first + 1;
    while (at < lines.length && !(lines[at].trim().startsWith(sign) && !lines[at].trim().replaceAll(sign[0], ""))) at += 1;
    to.append(element("pre", {}, element("code", {}, mark(lines.slice(first + 1, at).join("\n")))));
    return at + 1;
  }

  function quoted(lines, first, to, depth) {
    let at = first;
    while (at < lines.length && QUOTE.test(lines[at])) at += 1;
    const made = element("blockquote");
    blocks(lines.slice(first, at).map((line) => line.replace(QUOTE, "")), made, depth + 1);
    to.append(made);
    return at;
  }

  function listed(lines, first, to, depth) {
    const ordered = /\d/.test(ITEM.exec(lines[first])[2]);
    const start = ordered ? Number.parseInt(ITEM.exec(lines[first])[2], 10) : 1;
    const list = element(ordered ? "ol" : "ul", { start: start === 1 ? null : start });
    let at = first;
    while (at < lines.length) {
      const match = ITEM.exec(lines[at]);
      if (!match || /\d/.test(match[2]) !== ordered || isRule(lines[at])) break;
      const indent = match[1].length + match[2].length + Math.min(Math.max(match[3].length, 1), 4);
      const own = [lines[at].slice(match[0].length)];
      at += 1;
      while (at < lines.length) {
        const line = lines[at];
        const lead = line.length - line.trimStart().length;
        const blank = !line.trim();
        if (blank && !(lines[at + 1]?.trim() && lines[at + 1].length - lines[at + 1].trimStart().length >= 2)) break;
        if (!blank && lead < 2 && (startsBlock(line) || !own.at(-1).trim())) break;
        own.push(blank ? "" : line.slice(Math.min(lead, indent)));
        at += 1;
      }
      const item = element("li");
      blocks(own, item, depth + 1);
      list.append(item);
      while (at < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1] ?? "")) at += 1;
    }
    to.append(list);
    return at;
  }

  function tabled(lines, first, to) {
    const row = (line, name) => {
      const made = element("tr");
      for (const cell of cellsOf(line)) {
        const own = element(name, name === "th" ? { scope: "col" } : {});
        inline(cell, own);
        made.append(own);
      }
      return made;
    };
    let at = first + 2;
    while (at < lines.length && lines[at].trim() && lines[at].includes("|")) at += 1;
    to.append(scrolling(element("table", {}, element("thead", {}, row(lines[first], "th")),
      element("tbody", {}, ...lines.slice(first + 2, at).map((line) => row(line, "td"))))));
    return at;
  }

  function paragraph(lines, first, to) {
    let at = first + 1;
    while (at < lines.length && lines[at].trim() && !startsBlock(lines[at]) && !UNDERLINE.test(lines[at]) && !isTable(lines, at)) at += 1;
    const underline = at < lines.length ? UNDERLINE.exec(lines[at]) : null;
    const text = lines.slice(first, at).map((line) => line.trimStart()).join("\n").trimEnd();
    if (underline && at === first + 1) {
      heading(underline[1][0] === "=" ? 1 : 2, text, to);
      return at + 1;
    }
    const made = element("p");
    inline(text, made);
    to.append(made);
    return at;
  }

  const made = document.createDocumentFragment();
  blocks(source.replace(/\r\n?/g, "\n").replaceAll("\t", "    ").split("\n"), made, 0);
  return made;
}

function startsBlock(line) {
  return FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || isRule(line);
}

function isRule(line) {
  return line.length < 200 && /^([-*_])\1{2,}$/.test(line.replace(/\s/g, ""));
}

function cellsOf(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

function isTable(lines, at) {
  const below = lines[at + 1];
  return Boolean(lines[at].includes("|") && below?.includes("|") && cellsOf(below).every((cell) => /^:?-+:?$/.test(cell)));
}

// The words between two marks of emphasis, if those at a place begin any.
function emphasised(text, at) {
  for (const [mark, name] of EMPHASIS) {
    if (!text.startsWith(mark, at)) continue;
    const begins = text[at + mark.length];
    if (begins === undefined || /\s/.test(begins) || (mark[0] === "_" && /\w/.test(text[at - 1] ?? ""))) continue;
    const within = text.slice(0, at + LONGEST_EMPHASIS);
    let end = within.indexOf(mark, at + mark.length + 1);
    // A closing mark follows a word; one inside a longer run, or inside a word for underscores, closes nothing.
    while (end > 0 && (/\s/.test(text[end - 1]) || (mark.length === 1 && text[end + 1] === mark) || (mark[0] === "_" && /\w/.test(text[end + mark.length] ?? "")))) {
      end = within.indexOf(mark, end + (text[end + 1] === mark[0] ? 2 : 1));
    }
    if (end > 0) return { mark, name, end };
  }
  return null;
}
