/** The list of the settings: it marks the section that the URL names, and on narrow screens, where it is a strip, it is scrolled there. */

const links = [...document.querySelectorAll(".sections a")].filter((link) => link instanceof HTMLAnchorElement);

function mark() {
  const named = links.find(({ hash, pathname }) => hash !== "" && hash === location.hash && pathname === location.pathname);
  if (!named) return;
  for (const link of links) link.removeAttribute("aria-current");
  named.setAttribute("aria-current", "page");
}

addEventListener("hashchange", mark);
mark();

const current = document.querySelector(".sections [aria-current]");
const strip = current?.closest("ul");
if (current && strip) strip.scrollLeft += current.getBoundingClientRect().left - strip.getBoundingClientRect().left - strip.clientWidth / 3;
