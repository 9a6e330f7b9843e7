import{a as h}from"./chunk-5L3K4F5M.js";import{a as n}from"./chunk-TKCLDTR7.js";import{g as c}from"./chunk-IN3SOCHH.js";import{c as i}from"./chunk-TZA5RPAC.js";import{html as o,LitElement as u,nothing as r}from"../vendor/lit.js";var m=()=>[{name:"days",value:"7",title:i("Last 7 days")},{name:"days",value:"30",title:i("Last 30 days")},{name:"days",value:"365",title:i("Last year")}],d=()=>[{name:"has",value:"files",title:i("Files")},{name:"has",value:"code",title:i("Code")}],p=class extends u{static properties={chosen:{attribute:!1},applications:{state:!0},tags:{state:!0}};constructor(){super(),this.chosen=[],this.applications=[],this.tags=[],this.opener=null}createRenderRoot(){return this}render(){return o`<div class="menu-popover filter-popover" popover role="menu" aria-label=${i("Filters")} @keydown=${this.#p} @toggle=${this.#h}>
      ${this.#e(i("Date"),m())} ${this.#e(i("Contains"),d())} ${this.#e(i("Tag"),this.tags)}
      ${this.#e(i("App"),this.applications)}
      ${this.chosen.length?o`<button type="button" role="menuitem" tabindex="-1" class="filter-clear" @click=${this.#r}>${n("x")}${i("Clear filters")}</button>`:r}
    </div>`}#e(t,e){return e.length?o`<div role="group" aria-label=${t}>
      <p class="menu-heading" aria-hidden="true">${t}</p>
      ${e.map(s=>this.#o(s))}
    </div>`:r}#o(t){let e=this.#i(t);return o`<button
      type="button"
      role=${t.name==="has"?"menuitemcheckbox":"menuitemradio"}
      tabindex="-1"
      aria-checked=${String(e)}
      data-filter="${t.name}=${t.value}"
      @click=${()=>this.#n(t)}
    >
      <span class="choice-option" dir="auto">${t.title}</span>${e?n("check"):r}
    </button>`}#i({name:t,value:e}){return this.chosen.some(s=>s.name===t&&s.value===e)}#n(t){let e=this.chosen.filter(({name:s,value:a})=>s!==t.name||s==="has"&&a!==t.value);this.#a(this.#i(t)?e:[...e,t])}#r(){this.#t?.hidePopover(),this.#a([])}#a(t){this.chosen=t,this.dispatchEvent(new CustomEvent("filtered",{detail:t}))}async open(t){this.opener=t,await this.#l();let e=await c("/conversations/search/filters/");this.applications=(e?.applications??[]).map(({slug:s,title:a})=>({name:"app",value:s,title:a})),this.tags=(e?.tags??[]).map(s=>({name:"tag",value:s,title:s})),await this.updateComplete,this.#t?.matches(":popover-open")&&h(this.#t,t)}async#l(){await this.updateComplete,!(!this.#t||!this.opener)&&(this.#t.showPopover(),h(this.#t,this.opener),(this.#s.find(t=>t.ariaChecked==="true")??this.#s[0])?.focus())}get#t(){return this.querySelector(".filter-popover")}get#s(){return[...this.querySelectorAll("[role^=menuitem]")].filter(t=>t instanceof HTMLElement)}#h({newState:t}){this.opener?.setAttribute("aria-expanded",String(t==="open"))}#p(t){let e=this.#s,s=e.indexOf(document.activeElement),a={ArrowDown:s+1,ArrowUp:s-1,Home:0,End:-1};if(t.key==="Tab")return void this.#t?.hidePopover();t.key==="Escape"&&t.stopPropagation(),t.key in a&&(t.preventDefault(),t.stopPropagation(),e.at(a[t.key]%e.length)?.focus())}};customElements.define("search-filters",p);function y(l,t){return l.length?o`<ul class="search-chips" aria-label=${i("Filters")}>
    ${l.map(e=>o`<li>
        <button type="button" class="button" aria-label=${i("Remove the filter {name}",{name:e.title})} @click=${()=>t(e)}>
          <span dir="auto">${e.title}</span>${n("x")}
        </button>
      </li>`)}
  </ul>`:r}export{p as a,y as b};
