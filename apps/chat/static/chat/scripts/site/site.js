/** What every page of the site does. */

import "./menus.js";
import "./sections.js";
import "./theme-switch.js";
import "./service-worker.js";
import "./sign-out.js";
