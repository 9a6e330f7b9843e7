/** On a phone, a swipe also opens and closes the menu. */

/** The share of the window's width in which an opening swipe begins; the edge itself belongs to the browser. */
const BEGINNING = 0.4;
/** The minimum distance in pixels, and the minimum ratio of horizontal to vertical movement. */
const FAR = 56;
const STRAIGHT = 2;
/** Elements that handle swipes themselves, such as sliders and video controls. */
const OWN_MOVES = "input, textarea, select, audio, video, iframe";

/**
 * @param {HTMLElement} sidebar a popover at the start edge
 * @param {HTMLElement} opener is visible if the sidebar is a popover
 */
export function offerSwipes(sidebar, opener) {
  /** @type {{x: number, y: number, wasOpen: boolean} | null} */
  let from = null;

  addEventListener("touchstart", ({ touches, target }) => {
    from = touches.length === 1 && opener.checkVisibility() && mayBegin(touches[0].clientX, target) ? { ...at(touches[0]), wasOpen: isOpen() } : null;
  }, { passive: true });
  addEventListener("touchmove", ({ touches }) => {
    if (touches.length > 1) from = null; // Two fingers zoom the page.
  }, { passive: true });
  addEventListener("touchcancel", () => (from = null));
  addEventListener("touchend", ({ changedTouches }) => {
    if (!from) return;
    const to = at(changedTouches[0]);
    const along = (to.x - from.x) * (isFromTheRight() ? -1 : 1);
    const isStraight = Math.abs(along) > FAR && Math.abs(along) > STRAIGHT * Math.abs(to.y - from.y);
    // A touch outside has already closed it.
    const selects = !(getSelection()?.isCollapsed ?? true);
    if (isStraight && !selects && along > 0 !== from.wasOpen && isOpen() === from.wasOpen) sidebar.togglePopover();
    from = null;
  });

  const isOpen = () => sidebar.matches(":popover-open");

  /** @param {number} x @param {EventTarget | null} target */
  function mayBegin(x, target) {
    if (document.querySelector("dialog:modal") || (visualViewport?.scale ?? 1) > 1) return false;
    return isOpen() || ((isFromTheRight() ? innerWidth - x : x) < innerWidth * BEGINNING && !movesItself(target));
  }
}

/** @param {Touch} touch */
function at({ clientX, clientY }) {
  return { x: clientX, y: clientY };
}

function isFromTheRight() {
  return document.documentElement.dir === "rtl";
}

/** True if the finger scrolls an element below it. @param {EventTarget | null} target */
function movesItself(target) {
  if (target instanceof Element && target.closest(OWN_MOVES)) return true;
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement) {
    if (element.scrollWidth > element.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(element).overflowX)) return true;
  }
  return false;
}
