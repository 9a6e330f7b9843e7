import{a as p}from"./chunk-A3TJOXKL.js";import"./chunk-NAF7DC2P.js";import{a as l}from"./chunk-5OVPBSN4.js";import{b as e}from"./chunk-SAT5BOPK.js";import{html as s,nothing as i}from"../vendor/lit.js";var a=class extends p{static properties={sources:{attribute:!1},tools:{attribute:!1}};constructor(){super(),this.sources=[],this.tools=[]}render(){return s`<div class="menu-popover add-popover" popover role="menu" aria-label=${e("Add")} @keydown=${this.press} @toggle=${this.toggled}>
      ${this.sources.includes("files")?this.#t("files",e("Attach files"),"paperclip"):i}
      ${this.sources.includes("photo")?this.#t("photo",e("Take a photo"),"camera"):i}
      ${this.tools.length?s`<div role="group" aria-label=${e("Tools")}>
            <p class="menu-heading" aria-hidden="true">${e("Tools")}</p>
            ${this.tools.map(t=>this.#e(t))}
          </div>`:i}
    </div>`}#e({name:t,title:r,detail:o,on:n}){let c=()=>this.dispatchEvent(new CustomEvent("tool",{detail:{name:t,on:!n},bubbles:!0}));return s`<button type="button" class="switch" role="menuitemcheckbox" tabindex="-1" aria-checked=${String(n)} data-tool=${t} @click=${c}>
      <span class="choice-option" dir="auto">${r}${o?s`<small>${o}</small>`:i}</span>
      <span class="switch-track" aria-hidden="true"></span>
    </button>`}#t(t,r,o){return s`<button type="button" role="menuitem" tabindex="-1" @click=${()=>this.#s(t)}>${l(o)}${r}</button>`}#s(t){this.dispatchEvent(new CustomEvent("chosen",{detail:t})),this.menu?.hidePopover()}press(t){t.key==="Escape"&&t.stopPropagation(),super.press(t)}};customElements.define("add-menu",a);export{a as AddMenu};
