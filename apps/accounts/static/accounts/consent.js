/** The field of the page on which a user connects a program. */

import { offerChoiceFields } from "../chat/scripts/choice-fields.js";

offerChoiceFields();
