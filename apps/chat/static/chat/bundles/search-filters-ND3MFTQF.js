import{a as r}from"./chunk-NAF7DC2P.js";import{a as n}from"./chunk-5OVPBSN4.js";import{g as l}from"./chunk-IN3SOCHH.js";import{b as i}from"./chunk-GDVCXHG5.js";import{html as a,LitElement as c,nothing as h}from"../vendor/lit.js";var u=()=>[{name:"days",value:"7",title:i("Last 7 days")},{name:"days",value:"30",title:i("Last 30 days")},{name:"days",value:"365",title:i("Last year")}],m=()=>[{name:"has",value:"files",title:i("Files")},{name:"has",value:"code",title:i("Code")}],p=class extends c{static properties={chosen:{attribute:!1},applications:{state:!0}};constructor(){super(),this.chosen=[],this.applications=[],this.opener=null}createRenderRoot(){return this}render(){return a`<div class="menu-popover filter-popover" popover role="menu" aria-label=${i("Filters")} @keydown=${this.#l} @toggle=${this.#p}>
      ${this.#e(i("Date"),u())} ${this.#e(i("Contains"),m())} ${this.#e(i("App"),this.applications)}
      ${this.chosen.length?a`<button type="button" role="menuitem" tabindex="-1" class="filter-clear" @click=${this.#r}>${n("x")}${i("Clear filters")}</button>`:h}
    </div>`}#e(t,e){return e.length?a`<div role="group" aria-label=${t}>
      <p class="menu-heading" aria-hidden="true">${t}</p>
      ${e.map(s=>this.#a(s))}
    </div>`:h}#a(t){let e=this.#i(t);return a`<button
      type="button"
      role=${t.name==="has"?"menuitemcheckbox":"menuitemradio"}
      tabindex="-1"
      aria-checked=${String(e)}
      data-filter="${t.name}=${t.value}"
      @click=${()=>this.#n(t)}
    >
      <span class="choice-option" dir="auto">${t.title}</span>${e?n("check"):h}
    </button>`}#i({name:t,value:e}){return this.chosen.some(s=>s.name===t&&s.value===e)}#n(t){let e=this.chosen.filter(({name:s,value:o})=>s!==t.name||s==="has"&&o!==t.value);this.#o(this.#i(t)?e:[...e,t])}#r(){this.#t?.hidePopover(),this.#o([])}#o(t){this.chosen=t,this.dispatchEvent(new CustomEvent("filtered",{detail:t}))}async open(t){this.opener=t,await this.#h();let e=await l("/conversations/search/filters/");this.applications=(e?.applications??[]).map(({slug:s,title:o})=>({name:"app",value:s,title:o})),await this.updateComplete,this.#t?.matches(":popover-open")&&r(this.#t,t)}async#h(){await this.updateComplete,!(!this.#t||!this.opener)&&(this.#t.showPopover(),r(this.#t,this.opener),(this.#s.find(t=>t.ariaChecked==="true")??this.#s[0])?.focus())}get#t(){return this.querySelector(".filter-popover")}get#s(){return[...this.querySelectorAll("[role^=menuitem]")].filter(t=>t instanceof HTMLElement)}#p({newState:t}){this.opener?.setAttribute("aria-expanded",String(t==="open"))}#l(t){let e=this.#s,s=e.indexOf(document.activeElement),o={ArrowDown:s+1,ArrowUp:s-1,Home:0,End:-1};if(t.key==="Tab")return void this.#t?.hidePopover();t.key==="Escape"&&t.stopPropagation(),t.key in o&&(t.preventDefault(),t.stopPropagation(),e.at(o[t.key]%e.length)?.focus())}};customElements.define("search-filters",p);export{p as SearchFilters};
