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
