import{a as c}from"./chunk-UJNV7AR3.js";import{a as i}from"./chunk-TKCLDTR7.js";import{c as s}from"./chunk-TZA5RPAC.js";import{html as l,LitElement as u,nothing as r}from"../vendor/lit.js";var h=new URL("../styles/picture-viewer.css",import.meta.url).href;async function b(a){await c(h);let t=a.closest("chat-answer, .turn, markdown-text")??document.body,e=new o;e.places=[...t.querySelectorAll("[data-zoom]")].filter(n=>n.querySelector("img")),e.at=Math.max(0,e.places.indexOf(a)),document.body.append(e)}var o=class extends u{static properties={at:{state:!0},isWhole:{state:!0}};constructor(){super(),this.places=[],this.at=0,this.isWhole=!1}createRenderRoot(){return this}render(){let t=this.places[this.at]?.querySelector("img");if(!t)return r;let e=this.places.length>1;return l`<dialog class="picture-viewer" aria-label=${s("Picture")} @close=${this.#a} @keydown=${this.#s} @click=${this.#o}>
      <div class="picture-head">
        <p class="picture-words" dir="auto" aria-live="polite">
          ${e?l`<span class="picture-number">${s("Image {number} of {count}",{number:this.at+1,count:this.places.length})}</span>`:r}
          ${t.alt}
        </p>
        <button type="button" class="quiet" aria-pressed=${String(this.isWhole)} title=${s("Actual size")} @click=${()=>this.isWhole=!this.isWhole}>
          ${i(this.isWhole?"zoom-out":"zoom-in")}<span class="visually-hidden">${s("Actual size")}</span>
        </button>
        <a class="quiet" href=${t.src} download title=${s("Download")}>${i("download")}<span class="visually-hidden">${s("Download")}</span></a>
        <button type="button" class="quiet" title=${s("Close")} autofocus @click=${this.#e}>${i("x")}<span class="visually-hidden">${s("Close")}</span></button>
      </div>
      <div class="picture-space ${this.isWhole?"whole":""}" tabindex="0" role="group" aria-label=${s("Picture")}>
        <img src=${t.src} alt=${t.alt} />
      </div>
      ${e?l`<nav aria-label=${s("Images")}>
            <button type="button" class="button" ?disabled=${this.at===0} @click=${()=>this.#t(-1)}>${i("chevron-left")}${s("Previous")}</button>
            <button type="button" class="button" ?disabled=${this.at===this.places.length-1} @click=${()=>this.#t(1)}>${s("Next")}${i("chevron-right")}</button>
          </nav>`:r}
    </dialog>`}updated(){let t=this.querySelector("dialog");t&&!t.open&&t.showModal()}#s(t){let e=t.key==="ArrowLeft";!e&&t.key!=="ArrowRight"||this.isWhole||(t.preventDefault(),this.#t(e===(getComputedStyle(this).direction==="ltr")?-1:1))}#t(t){let e=this.at+t;this.places[e]&&(this.at=e,this.isWhole=!1,this.updateComplete.then(()=>{this.contains(document.activeElement)||this.#i()?.focus()}))}#i(){return this.querySelector("nav button:not(:disabled)")}#o(t){t.target instanceof Element&&t.target.matches("dialog, .picture-space")&&this.#e()}#e(){this.querySelector("dialog")?.close()}#a(){let t=this.places[this.at];this.remove(),t?.focus()}};customElements.define("picture-viewer",o);export{o as PictureViewer,b as view};
