import{a,b}from"./chunk-LZL3HB6Q.js";import"./chunk-5L3K4F5M.js";import"./chunk-5OVPBSN4.js";import"./chunk-IN3SOCHH.js";import"./chunk-TZA5RPAC.js";export{a as SearchFilters,b as filterChips};
