// Shows what a document contains: plain text, Markdown or HTML, its links, images and fields. Scripts and styles of a
// document never reach the page, and images load only from hosts that the lead has permitted.

import { element } from "./elements.js";
import { ADDRESS, markdown, withoutPunctuation } from "./markdown.js";
import { marker } from "./query_words.js";
import { safeHtml } from "./safe_html.js";

const STARTS_AS_HTML = /^\s*<(?:!doctype html|html|body|article|section|main|div|p|h[1-6]|ul|ol|dl|table|blockquote|pre|figure|span|a|b|strong|em|i|br|hr)\b[^>]*>/i;
const HTML_ENDS = /<\/[a-z][a-z0-9]*\s*>/i;
const MARKDOWN_SIGNS = [/^ {0,3}#{1,6} \S/m, /^ {0,3}```/m, /!?\[[^\]\n]{1,300}\]\((?:https?:|data:image)/, /\*\*[^\s*][^*\n]{0,300}\*\*/, /^ {0,3}[-*+] \S.*\n {0,3}[-*+] \S/m, /^ {0,3}\|.*\|\s*\n {0,3}\|[ :|-]+\|/m];
const IMAGE_DATA = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;
const IMAGE_FILE = /\.(?:png|jpe?g|gif|webp|avif|svg)(?:[?#]|$)/i;
const IMAGE_FIELD = /image|img|photo|picture|thumbnail|cover/i;
const SHOWN_FIELDS = 8;

// The format of a text: the one that the lead has set, or the one that it looks like.
export function formatOf(text, setting) {
  if (setting && setting !== "auto") return setting;
  if (STARTS_AS_HTML.test(text.slice(0, 2000)) && HTML_ENDS.test(text)) return "html";
  return MARKDOWN_SIGNS.some((sign) => sign.test(text)) ? "markdown" : "text";
}

function addressOf(text, schemes) {
  try {
    const address = new URL(text.trim());
    return schemes.includes(address.protocol) ? address : null;
  } catch {
    return null; // also addresses relative to a site that isn't here
  }
}

function link(href, content) {
  const address = addressOf(href, ["https:", "http:", "mailto:"]);
  if (!address) return element("span", {}, content);
  return element("a", { href: address.href, target: "_blank", rel: "noopener noreferrer nofollow", title: address.href.slice(0, 300) }, content);
}

function pictures(hosts) {
  return (source, description) => {
    const address = addressOf(source, ["https:", "http:"]);
    if (IMAGE_DATA.test(source.trim()) || (address && hosts.includes(address.origin))) {
      return element("img", { src: source.trim(), alt: description || "Image of the document", loading: "lazy", referrerpolicy: "no-referrer" });
    }
    return element("span", { class: "image-link" }, "Image: ", address ? link(address.href, description || address.hostname) : description || "not included");
  };
}

function withLinks(text, mark) {
  const made = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(new RegExp(ADDRESS.source, "g"))) {
    const address = withoutPunctuation(match[0]);
    made.append(mark(text.slice(end, match.index)), link(address, address));
    end = match.index + address.length;
  }
  made.append(mark(text.slice(end)));
  return made;
}

// The content of a text, and the format that it is shown in.
export function content(text, { query = "", setting = "auto", hosts = [] } = {}) {
  const format = formatOf(text, setting);
  const mark = marker(query);
  const how = { mark, link, picture: pictures(hosts) };
  if (format !== "text") {
    try {
      const made = format === "html" ? safeHtml(text, how) : markdown(text, how);
      if (made.textContent.trim() || made.querySelector("img")) return { format, made: element("div", { class: "rich" }, made) };
    } catch {
      // what can't be rendered is shown as it was written
    }
  }
  return { format: "text", made: element("div", { class: "as-written" }, withLinks(text, mark)) };
}

// The other columns of a document's table, such as a price or a photo.
export function fieldsOf(fields, { query = "", hosts = [] } = {}) {
  const entries = Object.entries(fields ?? {});
  if (!entries.length) return null;
  const [mark, picture] = [marker(query), pictures(hosts)];
  const value = (name, text) => {
    const isAddress = addressOf(text, ["https:", "http:"]);
    if (IMAGE_DATA.test(text) || (isAddress && (IMAGE_FILE.test(text) || IMAGE_FIELD.test(name)))) return picture(text, name);
    return withLinks(text, mark);
  };
  const list = (some) => element("dl", { class: "fields-of-document" }, ...some.map(([name, text]) => element("div", {}, element("dt", { dir: "auto" }, name), element("dd", { dir: "auto" }, value(name, text)))));
  const [first, rest] = [entries.slice(0, SHOWN_FIELDS), entries.slice(SHOWN_FIELDS)];
  return element("div", {}, list(first), rest.length ? element("details", {}, element("summary", {}, `${rest.length} more fields`), list(rest)) : null);
}

// A text with a button that switches to the way it was written: whoever judges can see everything.
export function showContent(box, text, how) {
  const { format, made } = content(text, how);
  box.replaceChildren(made);
  if (format === "text") return;
  const source = element("button", { type: "button", class: "text-button", "aria-pressed": "false" }, "Show source");
  source.addEventListener("click", () => {
    const on = source.getAttribute("aria-pressed") === "false";
    source.setAttribute("aria-pressed", String(on));
    box.replaceChildren(on ? content(text, { ...how, setting: "text" }).made : made, source);
    source.focus();
  });
  box.append(source);
}
