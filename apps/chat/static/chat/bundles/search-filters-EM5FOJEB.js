import{a,b}from"./chunk-FQ7IAU7T.js";import"./chunk-NAF7DC2P.js";import"./chunk-5OVPBSN4.js";import"./chunk-IN3SOCHH.js";import"./chunk-GDVCXHG5.js";export{a as SearchFilters,b as filterChips};
