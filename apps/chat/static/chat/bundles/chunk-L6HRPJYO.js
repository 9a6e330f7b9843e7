import{html as r}from"../vendor/lit.js";function m({letters:n,tile:e,emoji:t,icon:a},i=""){return r`<span class="monogram ${i}" data-tile=${e} ?data-icon=${a||t} aria-hidden="true"
    >${a?r`<img src=${a} alt="" />`:t||n}</span
  >`}export{m as a};
