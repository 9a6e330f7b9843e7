import{c as i}from"./chunk-TZA5RPAC.js";import{html as l,LitElement as u,nothing as m}from"../vendor/lit.js";var n=/\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_ -]{0,49}?)\s*\}\}/gu,c=20;function h(r){return[...new Set([...r.matchAll(n)].map(([,t])=>t))].slice(0,c)}function f(r,t){return r.replace(n,(e,o)=>t.get(o)??e)}var s=class extends u{static properties={prompt:{attribute:!1}};constructor(t){super(),this.isSendKey=t,this.prompt=null}createRenderRoot(){return this}updated(){let t=this.querySelector("dialog");t&&!t.open&&t.showModal()}render(){let{prompt:t}=this;return t?l`<dialog class="prompt-dialog" aria-labelledby="prompt-dialog-heading" @close=${this.#r}>
      <form @submit=${this.#e} @keydown=${this.#t}>
        <h2 id="prompt-dialog-heading" dir="auto">${t.title}</h2>
        ${h(t.text).map((e,o)=>l`<div class="prompt-field">
            <label for="prompt-field-${o}" dir="auto">${e}</label>
            <textarea id="prompt-field-${o}" name=${e} rows="1" dir="auto"></textarea>
          </div>`)}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#o}>${i("Cancel")}</button>
          <button class="button primary">${i("Insert")}</button>
        </div>
      </form>
    </dialog>`:m}#t(t){!this.isSendKey(t)||!(t.target instanceof HTMLTextAreaElement)||(t.preventDefault(),t.target.form?.requestSubmit())}#e(t){t.preventDefault();let e=new FormData(t.target),o=new Map([...e].map(([p,d])=>[p,String(d)])),a=f(this.prompt?.text??"",o);this.prompt=null,this.dispatchEvent(new CustomEvent("filled",{detail:a}))}#o(){this.querySelector("dialog")?.close()}#r(){this.prompt&&(this.prompt=null,this.dispatchEvent(new CustomEvent("left")))}};customElements.define("prompt-dialog",s);export{s as PromptDialog,f as filledIn,h as variablesOf};
