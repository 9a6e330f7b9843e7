import{a,b}from"./chunk-IJXRNHSN.js";import"./chunk-NAF7DC2P.js";import"./chunk-5OVPBSN4.js";import"./chunk-IN3SOCHH.js";import"./chunk-SAT5BOPK.js";export{a as SearchFilters,b as filterChips};
