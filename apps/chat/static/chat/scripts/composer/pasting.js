/** Pasted content: long texts become files, and pictures get a name. */

const LONG_TEXT = 4_000;
const MANY_LINES = 80;

/** @param {string} text */
export function isLong(text) {
  return text.length > LONG_TEXT || text.split("\n", MANY_LINES + 1).length > MANY_LINES;
}

/** @param {string} text */
export function textFile(text) {
  return new File([text], `pasted-text-${stamp()}.txt`, { type: "text/plain" });
}

/** Browsers name every pasted picture `image.png`. @param {Iterable<File>} files @returns {File[]} */
export function named(files) {
  return [...files].map((file, place) => {
    if (file.name && !/^image\.\w+$/.test(file.name)) return file;
    const ending = file.type.split("/")[1]?.replace(/\W.*$/, "") || "png";
    const number = place ? `-${place + 1}` : "";
    return new File([file], `pasted-picture-${stamp()}${number}.${ending}`, { type: file.type });
  });
}

/** The current time, such as 2026-11-25-221530. */
function stamp() {
  const now = new Date();
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join("-");
  return `${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}
