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

function mark() {
  const read = readSection()?.link ?? whole;
  if (!read || read === marked) return;
  marked = read;
  for (const link of links) link.removeAttribute("aria-current");
  marked.setAttribute("aria-current", "page");
  const strip = marked.closest("ul");
  if (strip) strip.scrollLeft += marked.getBoundingClientRect().left - strip.getBoundingClientRect().left - strip.clientWidth / 3;
}

/** The end of the page may be too near for its last sections to reach the top: there, the one that the URL names comes first. */
function readSection() {
  const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
  const read = sections.filter(({ section }) => section.getBoundingClientRect().top < (isAtEnd ? innerHeight : READ_FROM));
  const named = read.find(({ link, section }) => link.hash === location.hash && section.getBoundingClientRect().bottom > 0);
  return isAtEnd && named ? named : read.at(-1);
}

if (whole) {
  for (const event of ["scroll", "hashchange"]) addEventListener(event, mark, { passive: true });
  mark();
}
