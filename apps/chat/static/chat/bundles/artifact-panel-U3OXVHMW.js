import{a as v}from"./chunk-UJNV7AR3.js";import{a as p,b as f,c as m}from"./chunk-V4FONBNE.js";import{a as o}from"./chunk-5OVPBSN4.js";import{a as h}from"./chunk-7DWZTKXB.js";import{html as n,LitElement as x,nothing as u,repeat as q}from"../vendor/lit.js";var w="html, body { margin: 0 } body { display: grid; min-height: 100vh; place-items: center; background: #fff } svg { max-width: 100%; max-height: 100vh; height: auto }";function r(s){let t=p(s),e=s.dataset.language??"html";return{title:s.dataset.title||/<title[^>]*>\s*([^<]{1,120}?)\s*<\/title>/i.exec(t)?.[1]||""||(e==="svg"?"Drawing":"Page"),language:e,text:t}}function y(s){let{title:t,language:e}=r(s),c=[...(s.closest("chat-log, main, body")??document).querySelectorAll(`.code[data-language="${e}"]`)].filter(d=>d.querySelector("[data-code=open]")&&r(d).title===t);return{versions:c.map(r),at:Math.max(0,c.indexOf(s))}}function g({language:s,text:t}){return s==="svg"?`<!doctype html><meta charset="utf-8"><style>${w}</style>${t}`:t}var C=new URL("../styles/artifact-panel.css",import.meta.url).href,k=2e3,$=matchMedia("(min-width: 64rem)");function L(s,t){let{versions:e,at:i}=y(s);return b(e.length?e:[r(s)],i,t)}async function P(s,t,e,i){let a=await fetch(s);if(!a.ok)throw new Error(a.statusText);return b([{title:t,language:e,text:await a.text()}],0,i)}async function b(s,t,e){await v(C);let i=document.querySelector("artifact-panel");i instanceof l||(i=new l,document.body.append(i));let a=i;Object.assign(a,{versions:s,at:t,opener:e,isCode:!1}),await a.updateComplete,a.querySelector("h2")?.focus()}var l=class extends x{static properties={versions:{attribute:!1},at:{state:!0},isCode:{state:!0},isFull:{state:!0},copied:{state:!0}};constructor(){super(),this.versions=[],this.at=0,this.isCode=!1,this.isFull=!1,this.copied=!1,this.opener=null}createRenderRoot(){return this}render(){let t=this.versions[this.at];return t?n`<dialog class="artifact ${this.isFull?"full":""}" aria-labelledby="artifact-title" @close=${this.#l} @keydown=${this.#r}>
      <div class="artifact-head">
        <h2 id="artifact-title" tabindex="-1" dir="auto">${t.title}</h2>
        <button type="button" class="quiet artifact-close" title="Close" @click=${this.#t}>${o("x")}<span class="visually-hidden">Close the preview</span></button>
        <div class="artifact-tools">
          <div class="artifact-ways" role="group" aria-label="View">
            <button type="button" class="quiet" aria-pressed=${String(!this.isCode)} @click=${()=>this.isCode=!1}>${o("eye")}Preview</button>
            <button type="button" class="quiet" aria-pressed=${String(this.isCode)} @click=${()=>this.isCode=!0}>${o("code")}Code</button>
          </div>
          ${this.versions.length>1?this.#s():u}
          <button type="button" class="quiet" @click=${()=>this.#o(t)}>${o(this.copied?"check":"copy")}<span aria-live="polite">${this.copied?"Copied":"Copy"}</span></button>
          <button type="button" class="quiet" title="Download" @click=${()=>m(t.text,f(t,t.text))}>
            ${o("download")}<span class="visually-hidden">Download</span>
          </button>
          ${$.matches?n`<button type="button" class="quiet" title="Full size" aria-pressed=${String(this.isFull)} @click=${this.#n}>
                ${o(this.isFull?"minimize-2":"maximize-2")}<span class="visually-hidden">Full size</span>
              </button>`:u}
        </div>
      </div>
      ${this.isCode?this.#a(t):this.#i(t)}
    </dialog>`:u}#s(){let{at:t,versions:e}=this;return n`<div class="artifact-versions" role="group" aria-label="Versions">
      <button type="button" class="quiet" aria-disabled=${String(t===0)} @click=${()=>this.#e(-1)}>
        ${o("chevron-left")}<span class="visually-hidden">Earlier version</span>
      </button>
      <span aria-live="polite"><span class="visually-hidden">Version </span>${t+1}/${e.length}</span>
      <button type="button" class="quiet" aria-disabled=${String(t===e.length-1)} @click=${()=>this.#e(1)}>
        ${o("chevron-right")}<span class="visually-hidden">Later version</span>
      </button>
    </div>`}#e(t){this.versions[this.at+t]&&(this.at+=t)}#i(t){let e=i=>{let a=i.target;a.dataset.filled||(a.dataset.filled="yes",a.contentWindow?.postMessage(g(t),"*"))};return n`${q([t],i=>i,()=>n`<iframe
        sandbox="allow-scripts"
        referrerpolicy="no-referrer"
        src="/frames/artifact/"
        title="Preview of ${t.title}"
        @load=${e}
      ></iframe>`)}`}#a({language:t,text:e}){let i="`".repeat(Math.max(2,...[...e.matchAll(/`+/g)].map(([c])=>c.length))+1),a=`${i}${t==="svg"?"xml":t}
${e}
${i}`;return n`<div class="artifact-code"><markdown-text .text=${a} .complete=${!0}></markdown-text></div>`}updated(){let t=this.querySelector("dialog");!t||t.open||($.matches&&!this.isFull?t.show():t.showModal())}async#o({text:t}){this.copied=await h(t),setTimeout(()=>this.copied=!1,k)}#n(){this.isFull=!this.isFull,this.#t(),this.requestUpdate()}#r(t){t.key==="Escape"&&(t.preventDefault(),this.#t())}#t(){this.querySelector("dialog")?.close()}#l(){this.querySelector("dialog")?.open||(this.remove(),this.opener?.focus())}};customElements.define("artifact-panel",l);export{l as ArtifactPanel,b as open,L as openBlock,P as openFile};
