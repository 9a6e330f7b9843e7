/** The list of the settings: it marks the section that the reader sees, and on narrow screens, where it is a strip, it is scrolled there. */

/** A section is read once its beginning is this near to the top of the window, in pixels; a link leads closer. */
const READ_FROM = 200;

const links = [...document.querySelectorAll(".sections a")].filter((link) => link instanceof HTMLAnchorElement);
/** The link to the page itself. */
const whole = document.querySelector(".sections [aria-current]");
const sections = links.flatMap((link) => {
  const section = link.hash && link.pathname === location.pathname ? document.getElementById(link.hash.slice(1)) : null;
  return section ? [{ link, section }] : [];
});

/** @type {Element | null} */
let marked = null;
/** The hash of the section that the reader chose. */
let chosen = "";

function mark() {
  const read = readSection()?.link ?? whole;
  if (!read || read === marked) return;
  marked = read;
  for (const link of links) link.removeAttribute("aria-current");
  marked.setAttribute("aria-current", "page");
  const strip = marked.closest("ul");
  if (strip) strip.scrollLeft += marked.getBoundingClientRect().left - strip.getBoundingClientRect().left - strip.clientWidth / 3;
}

/** The section at the top of the view, or the one that the reader chose: near the end of the page, it cannot get to the top. */
function readSection() {
  const above = sections.filter(({ section }) => section.getBoundingClientRect().top < READ_FROM);
  return sections.find(({ link }) => link.hash === chosen) ?? above.at(-1);
}

function choose() {
  chosen = location.hash;
  mark();
}

/** A choice ends once the reader scrolls on. */
function follow() {
  const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
  const top = sections.find(({ link }) => link.hash === chosen)?.section.getBoundingClientRect().top ?? -1;
  if (!isAtEnd && (top < 0 || top >= READ_FROM)) chosen = "";
  mark();
}

if (whole) {
  addEventListener("scroll", follow, { passive: true });
  addEventListener("hashchange", choose);
  for (const { link } of sections) link.addEventListener("click", () => requestAnimationFrame(choose)); // also if the URL stays the same
  choose();
}
