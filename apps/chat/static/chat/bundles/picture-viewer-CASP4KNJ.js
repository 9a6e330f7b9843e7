import{a as r}from"./chunk-UJNV7AR3.js";import{a as s}from"./chunk-5OVPBSN4.js";import{html as a,LitElement as n,nothing as l}from"../vendor/lit.js";var u=new URL("../styles/picture-viewer.css",import.meta.url).href;async function m(o){await r(u);let t=o.closest("chat-answer, .turn, markdown-text")??document.body,e=new i;e.places=[...t.querySelectorAll("[data-zoom]")].filter(c=>c.querySelector("img")),e.at=Math.max(0,e.places.indexOf(o)),document.body.append(e)}var i=class extends n{static properties={at:{state:!0},isWhole:{state:!0}};constructor(){super(),this.places=[],this.at=0,this.isWhole=!1}createRenderRoot(){return this}render(){let t=this.places[this.at]?.querySelector("img");if(!t)return l;let e=this.places.length>1;return a`<dialog class="picture-viewer" aria-label="Picture" @close=${this.#a} @keydown=${this.#s} @click=${this.#o}>
      <div class="picture-head">
        <p class="picture-words" dir="auto" aria-live="polite">
          ${e?a`<span class="picture-number">Picture ${this.at+1} of ${this.places.length}</span>`:l}
          ${t.alt}
        </p>
        <button type="button" class="quiet" aria-pressed=${String(this.isWhole)} title="Actual size" @click=${()=>this.isWhole=!this.isWhole}>
          ${s(this.isWhole?"zoom-out":"zoom-in")}<span class="visually-hidden">Actual size</span>
        </button>
        <a class="quiet" href=${t.src} download title="Download">${s("download")}<span class="visually-hidden">Download</span></a>
        <button type="button" class="quiet" title="Close" autofocus @click=${this.#e}>${s("x")}<span class="visually-hidden">Close</span></button>
      </div>
      <div class="picture-space ${this.isWhole?"whole":""}" tabindex="0" role="group" aria-label="Picture">
        <img src=${t.src} alt=${t.alt} />
      </div>
      ${e?a`<nav aria-label="Pictures">
            <button type="button" class="button" ?disabled=${this.at===0} @click=${()=>this.#t(-1)}>${s("chevron-left")}Previous</button>
            <button type="button" class="button" ?disabled=${this.at===this.places.length-1} @click=${()=>this.#t(1)}>Next${s("chevron-right")}</button>
          </nav>`:l}
    </dialog>`}updated(){let t=this.querySelector("dialog");t&&!t.open&&t.showModal()}#s(t){let e=t.key==="ArrowLeft";!e&&t.key!=="ArrowRight"||this.isWhole||(t.preventDefault(),this.#t(e===(getComputedStyle(this).direction==="ltr")?-1:1))}#t(t){let e=this.at+t;this.places[e]&&(this.at=e,this.isWhole=!1,this.updateComplete.then(()=>{this.contains(document.activeElement)||this.#i()?.focus()}))}#i(){return this.querySelector("nav button:not(:disabled)")}#o(t){t.target instanceof Element&&t.target.matches("dialog, .picture-space")&&this.#e()}#e(){this.querySelector("dialog")?.close()}#a(){let t=this.places[this.at];this.remove(),t?.focus()}};customElements.define("picture-viewer",i);export{i as PictureViewer,m as view};
