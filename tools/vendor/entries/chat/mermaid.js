import mermaid from "mermaid";

globalThis.mermaid = mermaid;
