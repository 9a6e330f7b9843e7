import{a as g}from"./chunk-TKCLDTR7.js";import{g as d}from"./chunk-IN3SOCHH.js";import{c as a,e as f}from"./chunk-TZA5RPAC.js";import{html as l,LitElement as b,nothing as p}from"../vendor/lit.js";var $=40,h=class extends b{static properties={asked:{state:!0},tags:{state:!0},problem:{state:!0}};constructor(){super(),this.rows=void 0,this.asked=null,this.tags=[],this.problem="",this.opener=null}createRenderRoot(){return this}async open(t,e){this.opener=document.activeElement,this.rows=t,this.problem="",this.tags=m(e,[]),this.asked=e,await this.updateComplete,this.querySelector("dialog")?.showModal(),this.#t?.focus();let s=await d("/conversations/search/filters/");if(this.asked!==e)return;let n=this.tags.filter(({before:i})=>i===!1);this.tags=m(e,s?.tags??[]);for(let{name:i}of n)this.#n(i)}render(){let{asked:t,tags:e}=this;return t?l`<dialog class="tag-dialog" aria-labelledby="tags-heading" @close=${this.#r}>
      <form @submit=${this.#l}>
        <h2 id="tags-heading">${a("Tags")}</h2>
        <p class="dialog-detail" dir="auto">${w(t)}</p>
        <label for="new-tag">${a("New tag")}</label>
        <div class="tag-field">
          <input id="new-tag" maxlength=${$} dir="auto" autocomplete="off" autocapitalize="off" @keydown=${this.#a} />
          <button type="button" class="button" @click=${this.#e}>${g("plus")}${a("Add")}</button>
        </div>
        ${e.length?l`<fieldset class="folder-choice">
              <legend>${a("Your tags")}</legend>
              ${e.map(s=>this.#o(s))}
            </fieldset>`:l`<p class="history-empty">${a("You have no tags yet.")}</p>`}
        ${this.problem?l`<p class="field-error" role="alert">${this.problem}</p>`:p}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#i}>${a("Cancel")}</button>
          <button class="button primary">${a("Save")}</button>
        </div>
      </form>
    </dialog>`:p}#o(t){let{name:e,now:s}=t;return l`<label>
      <input type="checkbox" .checked=${s===!0} .indeterminate=${s===null} @change=${i=>this.#s(t,i.target.checked)} />
      <span dir="auto">${e}</span>
    </label>`}get#t(){return this.querySelector("#new-tag")}#s(t,e){this.tags=this.tags.map(s=>s===t?{...s,now:e}:s)}#a(t){t.isComposing||t.key!=="Enter"||!this.#t?.value.trim()||(t.preventDefault(),this.#e())}#e(){let t=this.#t;if(t){for(let e of t.value.split(","))this.#n(e);t.value="",t.focus()}}#n(t){let e=t.trim().replace(/^#+/,"").replace(/\s+/g," ").trim();if(!e)return;let s=this.tags.find(n=>n.name.toLowerCase()===e.toLowerCase());s?this.#s(s,!0):this.tags=[{name:e,before:!1,now:!0},...this.tags]}#i(){this.querySelector("dialog")?.close()}#r(){this.asked=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}async#l(t){t.preventDefault();let{asked:e,rows:s}=this;if(!e||!s)return;this.#e();let n=this.tags.filter(({before:u,now:r})=>u!==r),i=u=>n.filter(({now:r})=>r===u).map(({name:r})=>r).join(),c={add_tags:i(!0),remove_tags:i(!1)};this.problem=n.length?await v(s,e,c):"",!this.problem&&(this.#i(),this.dispatchEvent(new CustomEvent("done",{detail:{said:a("Tags saved."),rows:e}})))}};customElements.define("tag-dialog",h);function v(o,t,e){return t.length>1?o.changeAll(t,e):o.arrange(t[0],e)}function m(o,t){let e=[...new Set(o.flatMap(({tags:n})=>n))];return[...e.map(n=>{let i=o.every(({tags:c})=>c.includes(n))?!0:null;return{name:n,before:i,now:i}}),...t.filter(n=>!e.includes(n)).map(n=>({name:n,before:!1,now:!1}))]}function w(o){return o.length>1?f("{count} conversation","{count} conversations",o.length):o[0].title||a("Untitled")}export{h as TagDialog};
