/** On narrow screens, the sections of the settings are a strip, which is scrolled to the current section. */

const current = document.querySelector(".sections [aria-current]");
const strip = current?.closest("ul");
if (current && strip) strip.scrollLeft += current.getBoundingClientRect().left - strip.getBoundingClientRect().left - strip.clientWidth / 3;
