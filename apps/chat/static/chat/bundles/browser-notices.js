import{a,b}from"./chunk-6UCLAC2L.js";import"./chunk-GDVCXHG5.js";export{b as BrowserNotices,a as isOn};
