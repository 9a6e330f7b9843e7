/** On a phone the menu is opened and closed by a finger too; its buttons do the same. */

/** The part of the window in which a move that opens begins: at its very side it is the browser's own. */
const BEGINNING = 0.4;
/** Pixels that a finger has to go, and how many times as far along as across. */
const FAR = 56;
const STRAIGHT = 2;
/** What a finger moves something in: a caret, a place in a film. */
const OWN_MOVES = "input, textarea, select, audio, video, iframe";

/**
 * @param {HTMLElement} sidebar a popover that stands where lines begin
 * @param {HTMLElement} opener is seen where the sidebar is one
 */
export function offerSwipes(sidebar, opener) {
  /** @type {{x: number, y: number, wasOpen: boolean} | null} */
  let from = null;

  addEventListener("touchstart", ({ touches, target }) => {
    from = touches.length === 1 && opener.checkVisibility() && mayBegin(touches[0].clientX, target) ? { ...at(touches[0]), wasOpen: isOpen() } : null;
  }, { passive: true });
  addEventListener("touchmove", ({ touches }) => {
    if (touches.length > 1) from = null; // two fingers make the page larger
  }, { passive: true });
  addEventListener("touchcancel", () => (from = null));
  addEventListener("touchend", ({ changedTouches }) => {
    if (!from) return;
    const to = at(changedTouches[0]);
    const along = (to.x - from.x) * (isFromTheRight() ? -1 : 1);
    const isStraight = Math.abs(along) > FAR && Math.abs(along) > STRAIGHT * Math.abs(to.y - from.y);
    // A finger beside it has closed it already.
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

/** Whether the finger moves what is below it. @param {EventTarget | null} target */
function movesItself(target) {
  if (target instanceof Element && target.closest(OWN_MOVES)) return true;
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement) {
    if (element.scrollWidth > element.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(element).overflowX)) return true;
  }
  return false;
}
