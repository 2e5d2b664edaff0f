// A table that is wider than the page can be scrolled by keyboard, too. The theme makes the frames of tables late.
function reach() {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
    else frame.removeAttribute("tabindex");
  }
}

addEventListener("resize", reach);
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
reach();
