import{a,b}from"./chunk-BD3BAXDX.js";import"./chunk-GDVCXHG5.js";export{b as BrowserNotices,a as isOn};
