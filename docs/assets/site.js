// What the copy button of a block of code copies: the commands and the code that a reader types, without
// prompts and output. Blocks without prompts are copied whole.
function typed(text) {
  const lines = text.split("\n")
  const python = lines.some((line) => line.startsWith(">>> "))
  if (python) return lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4)).join("\n")
  const commands = []
  let continued = false
  for (const line of lines) {
    if (continued || line.startsWith("$ ")) commands.push(continued ? line.replace(/^> /, "") : line.slice(2))
    continued = (continued || line.startsWith("$ ")) && line.endsWith("\\")
  }
  return commands.length ? commands.join("\n") : null
}

function copyTyped() {
  for (const button of document.querySelectorAll(".md-code__button[data-clipboard-target]:not([data-clipboard-text])")) {
    const text = typed(document.querySelector(button.dataset.clipboardTarget)?.textContent ?? "")
    if (text !== null) button.dataset.clipboardText = text
  }
}

// What can be scrolled sideways can be relemented with the keyboard. The theme makes the frames of tables late.
function relement() {
  for (const element of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, div.arithmatex")) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0
    else element.removeAttribute("tabindex")
  }
  // The buttons of a block of code are no way through the site.
  for (const element of document.querySelectorAll("nav.md-code__nav")) element.role = "group"
}

addEventListener("resize", relement)
function prepare() {
  relement()
  copyTyped()
}

new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true })
prepare()

// Formulas are typeset by KaTeX, which only pages with formulas load.
const formulas = document.querySelectorAll(".arithmatex")

function typeset() {
  for (const element of formulas) {
    const tex = element.textContent.trim().slice(2, -2)  // between \( and \), or \[ and \]
    katex.render(tex, element, { displayMode: element.tagName === "DIV" })
  }
  relement()
}

if (formulas.length) {
  const folder = new URL("katex/", document.currentScript.src)
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("katex.min.css", folder) })
  const script = Object.assign(document.createElement("script"), { src: new URL("katex.min.js", folder), onload: typeset })
  document.head.append(style, script)
}
