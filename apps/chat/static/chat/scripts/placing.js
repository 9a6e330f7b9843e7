/** Positions popups next to their opener, inside the window. */

const GAP = 6;
const EDGE = 8;

/**
 * Below or above the opener, wherever there is more room.
 * @param {HTMLElement} opened a popover @param {Element} opener @param {Element} ceiling stays visible below a popover above the opener
 */
export function placeBeside(opened, opener, ceiling = opener) {
  const beside = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = opened;
  const isAtEnd = beside.left + beside.right > innerWidth;
  const left = isAtEnd ? beside.right - width : beside.left;
  const isBelow = innerHeight - beside.bottom > Math.min(beside.top, height + GAP + EDGE);
  const top = isBelow ? beside.bottom + GAP : ceiling.getBoundingClientRect().top - height - GAP;
  opened.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
  opened.style.top = `${Math.max(EDGE, Math.min(top, innerHeight - height - EDGE))}px`;
}
