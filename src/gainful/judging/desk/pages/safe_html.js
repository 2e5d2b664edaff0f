// Rebuilds the HTML of a document from a list of permitted elements and attributes. Everything else is left out,
// and nothing is parsed into the page: `parseFromString` runs no script and loads nothing.

import { element } from "./elements.js";

const PERMITTED = new Set(("p br hr ul ol li dl dt dd table caption thead tbody tfoot tr th td blockquote pre code kbd samp var em strong b i u s del ins "
  + "sub sup small q cite abbr figure figcaption details summary div").split(" "));
// A document can't bring headings above those of the page, nor landmarks.
const REPLACED = new Map([["h1", "h3"], ["h2", "h4"], ["h3", "h5"], ["h4", "h6"], ["h5", "h6"], ["h6", "h6"],
  ...["section", "article", "header", "footer", "aside", "nav", "main", "center", "address"].map((name) => [name, "div"])]);
const LEFT_OUT = new Set(("script style template noscript iframe frame frameset object embed applet head title link meta base button input select textarea "
  + "option datalist canvas audio video map dialog").split(" "));
const ATTRIBUTES = { td: ["colspan", "rowspan"], th: ["colspan", "rowspan"], ol: ["start"] };
const XHTML = "http://www.w3.org/1999/xhtml";
const MOST_NODES = 20000;
const MOST_NESTED = 100;
// A form's own properties can be hidden by the names of its fields.
const childrenOf = Object.getOwnPropertyDescriptor(Node.prototype, "childNodes").get;

// `mark` makes a node from a text, `link` from an address and its content, `picture` from an address and a description.
export function safeHtml(source, { mark, link, picture }) {
  const body = new DOMParser().parseFromString(withoutBlocked(source), "text/html").body;
  const made = document.createDocumentFragment();
  let left = MOST_NODES;

  function copyChildren(from, to, depth) {
    for (const child of childrenOf.call(from)) {
      left -= 1;
      if (left < 0 || depth > MOST_NESTED) return;
      if (child.nodeType === Node.TEXT_NODE) to.append(mark(child.data));
      else if (child.nodeType === Node.ELEMENT_NODE && child.namespaceURI === XHTML) copy(child, to, depth);
    }
  }

  function copy(from, to, depth) {
    const name = from.localName;
    if (LEFT_OUT.has(name)) return;
    if (name === "img") {
      to.append(picture(from.getAttribute("src") ?? "", from.getAttribute("alt") ?? ""));
      return;
    }
    if (name === "a") {
      const content = document.createDocumentFragment();
      copyChildren(from, content, depth + 1);
      to.append(link(from.getAttribute("href") ?? "", content));
      return;
    }
    const copied = REPLACED.get(name) ?? (PERMITTED.has(name) ? name : null);
    if (!copied) {
      copyChildren(from, to, depth + 1);
      return;
    }
    const attributes = Object.fromEntries((ATTRIBUTES[name] ?? []).map((each) => [each, /^\d{1,3}$/.exec(from.getAttribute(each) ?? "")?.[0]]));
    if (/^(ltr|rtl|auto)$/i.test(from.getAttribute("dir") ?? "")) attributes.dir = from.getAttribute("dir").toLowerCase();
    if (copied === "details") attributes.open = true;
    const own = element(copied, attributes);
    copyChildren(from, own, depth + 1);
    to.append(copied === "table" ? scrolling(own) : own);
  }

  copyChildren(body, made, 0);
  return made;
}

// The page's policy blocks styles and other base addresses, and the browser would report each one.
function withoutBlocked(source) {
  return source.replace(/<(\/?)(?:style|base)\b/gi, "<$1template").replace(/(<[^<>]*\s)style(?=\s*=)/gi, "$1data-style");
}

// A wide table scrolls on its own, also by keyboard.
export function scrolling(table) {
  return element("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": "Table" }, table);
}
