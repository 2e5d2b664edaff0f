// What can be scrolled sideways can be reached with the keyboard.
window.addEventListener("load", () => {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0
  }
})
