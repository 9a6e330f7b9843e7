import{a,b,c,d,e}from"./chunk-Z7TPYW5I.js";import"./chunk-IN3SOCHH.js";import"./chunk-TZA5RPAC.js";export{b as SavedForm,c as fill,a as isSignedIn,e as savedForms,d as valuesOf};
