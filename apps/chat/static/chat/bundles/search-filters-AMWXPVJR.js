import{a,b}from"./chunk-FMY55RJF.js";import"./chunk-5L3K4F5M.js";import"./chunk-TKCLDTR7.js";import"./chunk-IN3SOCHH.js";import"./chunk-TZA5RPAC.js";export{a as SearchFilters,b as filterChips};
