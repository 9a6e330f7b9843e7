import{a,b}from"./chunk-6CVTC5JD.js";import"./chunk-NAF7DC2P.js";import"./chunk-5OVPBSN4.js";import"./chunk-IN3SOCHH.js";import"./chunk-TZA5RPAC.js";export{a as SearchFilters,b as filterChips};
