/** Scripts of every page of the site. */

import { showErrorsAtFields } from "../field-errors.js";
import "./file-inputs.js";
import "./menus.js";
import "./palette.js";
import "./theme-switch.js";
import "./service-worker.js";
import "./sign-out.js";

showErrorsAtFields();
