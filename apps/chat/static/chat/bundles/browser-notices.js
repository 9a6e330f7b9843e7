import{a,b}from"./chunk-RGUY57RR.js";export{b as BrowserNotices,a as isOn};
