// What can be scrolled sideways can be reached with the keyboard. The theme makes the frames of tables late.
function reach() {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0
    else each.removeAttribute("tabindex")
  }
  // The buttons of a block of code are no way through the site.
  for (const each of document.querySelectorAll("nav.md-code__nav")) each.role = "group"
}

addEventListener("resize", reach)
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true })
reach()
