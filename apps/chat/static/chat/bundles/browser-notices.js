import{a,b}from"./chunk-KYYLKWJ2.js";import"./chunk-GDVCXHG5.js";export{b as BrowserNotices,a as isOn};
