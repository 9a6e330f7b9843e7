import{a,b}from"./chunk-IAXKKSTC.js";import"./chunk-RJFUTQZP.js";export{b as BrowserNotices,a as isOn};
