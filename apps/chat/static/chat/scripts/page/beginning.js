/** A new conversation: the message box is in the middle, with suggestions below it. */

import { markAllApps, offerAllApps } from "./all-apps.js";
import { filterApplications } from "./application-filter.js";
import { follower } from "./parts.js";

const GLIDE = { duration: 240, easing: "cubic-bezier(0.2, 0, 0, 1)" };
const still = matchMedia("(prefers-reduced-motion: reduce)");

filterApplications();
offerAllApps();
follower.isPaused = isFresh();

/** The first message moves the message box to the bottom. @param {boolean} fresh true if there are no messages yet */
export function beginOrContinue(fresh) {
  if (fresh === isFresh()) return;
  const dock = document.querySelector(".dock");
  const before = dock?.getBoundingClientRect().top ?? 0;
  document.body.classList.toggle("fresh", fresh);
  markAllApps();
  follower.isPaused = fresh;
  if (fresh) {
    scrollTo({ top: 0, behavior: "instant" });
    return;
  }
  follower.follow();
  const moved = before - (dock?.getBoundingClientRect().top ?? 0);
  if (moved && !still.matches) dock?.animate([{ translate: `0 ${moved}px` }, { translate: "0" }], GLIDE);
}

function isFresh() {
  return document.body.classList.contains("fresh");
}
