// The manifest as text, in a code editor with the schema.

import {
  Compartment,
  EditorState,
  EditorView,
  basicSetup,
  forceLinting,
  jsonSchema,
  lintGutter,
  linter,
  oneDark,
} from "../vendor/code-editor.js";

/**
 * @import { PlacedFinding } from "./findings.js"
 * @import { Diagnostic } from "../vendor/code-editor.js"
 */

const SOURCE = "check";
const DELAY_MS = 600;

export class TextMode {
  isSetting = false;

  /**
   * `onEdit(text)` is called after every edit; `check(text)` resolves to findings or null.
   * @param {{panel: HTMLElement, textarea: HTMLTextAreaElement, schema: object, onEdit: (text: string) => void, check: (text: string) => Promise<PlacedFinding[] | null>, isReadOnly?: boolean}} options
   */
  constructor({ panel, textarea, schema, onEdit, check, isReadOnly = false }) {
    this.look = new Compartment();
    this.check = check;
    this.view = new EditorView({
      parent: panel,
      state: EditorState.create({
        doc: textarea.value,
        extensions: [
          basicSetup,
          jsonSchema(schema),
          linter((view) => this.lint(view), { delay: DELAY_MS, ...onlyOurs }),
          lintGutter(onlyOurs),
          EditorView.lineWrapping,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({
            tabindex: "0",
            "aria-label": "Manifest as JSON. To leave the editor, press Escape, then Tab.",
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.isSetting) onEdit(this.text);
          }),
          this.look.of([]),
        ],
      }),
    });
    followTheme((isDark) => {
      this.view.dispatch({ effects: this.look.reconfigure(isDark ? oneDark : []) });
    });
    textarea.hidden = true;
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    if (text === this.text) return;
    this.isSetting = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.isSetting = false;
  }

  /** @param {EditorView} view @returns {Promise<Diagnostic[]>} */
  async lint(view) {
    const findings = (await this.check(view.state.doc.toString())) ?? [];
    return findings.map((finding) => ({ ...this.range(finding), ...described(finding) }));
  }

  lintNow() {
    forceLinting(this.view);
  }

  /** @param {PlacedFinding} finding */
  range({ line, column }) {
    const { doc } = this.view.state;
    const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return { from: Math.min(found.from + column - 1, found.to), to: found.to };
  }

  /** @param {PlacedFinding} finding */
  goTo(finding) {
    const { from } = this.range(finding);
    this.view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    this.view.focus();
  }
}

/** @param {PlacedFinding} finding */
const described = ({ severity, path, message }) => ({
  severity,
  message: path ? `${path}: ${message}` : message,
  source: SOURCE,
});

/**
 * The schema's own messages are less exact than the server's and would be duplicates.
 * @param {readonly Diagnostic[]} diagnostics
 */
const ours = (diagnostics) => diagnostics.filter(({ source }) => source === SOURCE);
const onlyOurs = { markerFilter: ours, tooltipFilter: ours };

/** @param {(isDark: boolean) => void} apply */
function followTheme(apply) {
  const root = document.documentElement;
  /** @type {boolean | null} */
  let isDark = null;
  const look = () => {
    if (isDark === root.classList.contains("dark")) return;
    isDark = root.classList.contains("dark");
    apply(isDark);
  };
  new MutationObserver(look).observe(root, { attributeFilter: ["class"] });
  look();
}
