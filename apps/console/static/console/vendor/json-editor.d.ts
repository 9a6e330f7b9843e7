/** The library has no types, and its editors are changed in ways that it does not know. */
declare const JSONEditor: any;
export default JSONEditor;
