/** What browsers do and happy-dom does not, as far as the scripts of the pages need it. */

/** Names of nodes that are no elements. */
const NAMES = { 3: "#text", 4: "#cdata-section", 8: "#comment", 9: "#document", 11: "#document-fragment" };

const GLOBALS = { structuredClone, TextDecoderStream, TextEncoder };

/** @param {any} window a new window */
export function fillGaps(window) {
  for (const [name, value] of Object.entries(GLOBALS)) window[name] ??= value;
  window.TextDecoder = decoderClass(window);
  const { Element, HTMLTableElement, HTMLTableCellElement, HTMLTableRowElement, HTMLTableSectionElement, Node } = window;
  const elementName = Object.getOwnPropertyDescriptor(Element.prototype, "nodeName").get;
  // The sanitizer reads names with the accessor of `Node`, which is empty in happy-dom.
  getter(Node, "nodeName", function () {
    return this.nodeType === 1 ? elementName.call(this) : (NAMES[this.nodeType] ?? "");
  });
  fillPopovers(window);
  const below = (...names) =>
    function () {
      return [...this.children].filter(({ localName }) => names.includes(localName));
    };
  getter(HTMLTableElement, "tHead", function () {
    return below("thead").call(this)[0] ?? null;
  });
  getter(HTMLTableElement, "tBodies", below("tbody"));
  getter(HTMLTableElement, "rows", function () {
    return [...this.querySelectorAll("tr")];
  });
  getter(HTMLTableSectionElement, "rows", below("tr"));
  getter(HTMLTableRowElement, "cells", below("td", "th"));
  getter(HTMLTableCellElement, "cellIndex", function () {
    return this.parentElement.cells.indexOf(this);
  });
}

/** What is open is marked, and found by the pseudo-classes that happy-dom does not know. */
function fillPopovers({ document, Event, HTMLElement }) {
  const { prototype } = HTMLElement;
  const set = (element, isOpen) => {
    if (element.hasAttribute("data-popover-open") === isOpen) return;
    element.toggleAttribute("data-popover-open", isOpen);
    element.dispatchEvent(Object.assign(new Event("toggle"), { newState: isOpen ? "open" : "closed" }));
  };
  prototype.showPopover = function () {
    set(this, true);
  };
  prototype.hidePopover = function () {
    set(this, false);
  };
  prototype.togglePopover = function () {
    set(this, !this.hasAttribute("data-popover-open"));
  };
  const known = (selector) => selector.replaceAll(":popover-open", "[data-popover-open]").replaceAll("dialog:modal", "dialog[open]");
  const element = document.createElement("p");
  for (const [node, name] of [[document, "querySelector"], [element, "querySelector"], [element, "matches"]]) {
    const prototype = ownerOf(node, name);
    const { [name]: native } = prototype;
    if (native.knowsPopovers) continue; // windows share some classes
    prototype[name] = function (selector) {
      return native.call(this, known(selector));
    };
    prototype[name].knowsPopovers = true;
  }
}

/** The prototype that has a method of an object. */
function ownerOf(object, name) {
  return Object.hasOwn(object, name) ? object : ownerOf(Object.getPrototypeOf(object), name);
}

/** Its errors are those of the window, which scripts tell by their class. */
function decoderClass(window) {
  return class extends TextDecoder {
    decode(...given) {
      try {
        return super.decode(...given);
      } catch (error) {
        throw new window.TypeError(error.message);
      }
    }
  };
}

function getter(kind, name, get) {
  Object.defineProperty(kind.prototype, name, { get, configurable: true });
}
