/** Tells whether a file field of this device opens the camera. */

/** @import { Uploads } from "../files/uploads.js" */

/** Phones and tablets have `capture`; other devices would open a list of files. @param {Uploads | undefined} uploads @returns {boolean} */
export function offersCamera(uploads) {
  return "capture" in HTMLInputElement.prototype && matchMedia("(pointer: coarse)").matches && Boolean(uploads?.takes("image/jpeg"));
}
