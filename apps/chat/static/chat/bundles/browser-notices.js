import{a,b}from"./chunk-4QDYYO2U.js";import"./chunk-SAT5BOPK.js";export{b as BrowserNotices,a as isOn};
