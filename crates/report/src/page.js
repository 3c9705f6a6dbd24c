"use strict";
(() => {
  // Pictures have a narrow form for small screens, which waits in a template.
  const small = matchMedia("(max-width: 700px)");
  const fit = () => {
    for (const picture of document.querySelectorAll(".picture")) {
      const template = picture.querySelector(":scope > template");
      const shown = picture.querySelector(":scope > svg");
      if (!template || !shown) continue;
      picture.wide ??= shown;
      picture.narrow ??= template.content.firstElementChild;
      const wanted = small.matches ? picture.narrow : picture.wide;
      if (shown !== wanted) shown.replaceWith(wanted);
    }
    // A box that is wider than its place is scrolled by keys, too.
    for (const box of document.querySelectorAll(".table, .picture")) {
      const wide = box.scrollWidth > box.clientWidth;
      for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "Scrolls sideways"]]) {
        if (wide) box.setAttribute(name, value);
        else box.removeAttribute(name);
      }
    }
    document.dispatchEvent(new Event("segue-fitted"));
  };
  small.addEventListener("change", fit);
  addEventListener("resize", fit);
  document.addEventListener("segue-shown", fit); // the explorer has put others into the page
  // A handoff other than the one shown waits in a template, too.
  for (const select of document.querySelectorAll("select[data-shows]")) {
    const place = document.getElementById(select.dataset.shows);
    const first = [...place.childNodes];
    const show = () => {
      const template = document.getElementById(select.value);
      place.replaceChildren(...(template ? [template.content.cloneNode(true)] : first));
      fit();
    };
    select.addEventListener("change", show);
    if (select.selectedIndex > 0) show(); // a browser that remembers the choice
  }
  fit();
})();
