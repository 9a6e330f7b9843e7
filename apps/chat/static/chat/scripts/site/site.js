/** Scripts of every page of the site. */

import "./menus.js";
import "./palette.js";
import "./theme-switch.js";
import "./service-worker.js";
import "./sign-out.js";
