import{a as v}from"./chunk-UJNV7AR3.js";import{a as f,b as m,c as $}from"./chunk-LH7Y4AU2.js";import{a as r}from"./chunk-5OVPBSN4.js";import{a as h}from"./chunk-7DWZTKXB.js";import{b as e}from"./chunk-GDVCXHG5.js";import{html as n,LitElement as q,nothing as d,repeat as C}from"../vendor/lit.js";var x="html, body { margin: 0 } body { display: grid; min-height: 100vh; place-items: center; background: #fff } svg { max-width: 100%; max-height: 100vh; height: auto }";function l(i){let t=f(i),s=i.dataset.language??"html";return{title:i.dataset.title||/<title[^>]*>\s*([^<]{1,120}?)\s*<\/title>/i.exec(t)?.[1]||""||(s==="svg"?e("Drawing"):e("Page")),language:s,text:t}}function g(i){let{title:t,language:s}=l(i),u=[...(i.closest("chat-log, main, body")??document).querySelectorAll(`.code[data-language="${s}"]`)].filter(p=>p.querySelector("[data-code=open]")&&l(p).title===t);return{versions:u.map(l),at:Math.max(0,u.indexOf(i))}}function y({language:i,text:t}){return i==="svg"?`<!doctype html><meta charset="utf-8"><style>${x}</style>${t}`:t}var k=new URL("../styles/artifact-panel.css",import.meta.url).href,F=2e3,b=matchMedia("(min-width: 64rem)");function A(i,t){let{versions:s,at:a}=g(i);return w(s.length?s:[l(i)],a,t)}async function B(i,t,s,a){let o=await fetch(i);if(!o.ok)throw new Error(o.statusText);return w([{title:t,language:s,text:await o.text()}],0,a)}async function w(i,t,s){await v(k);let a=document.querySelector("artifact-panel");a instanceof c||(a=new c,document.body.append(a));let o=a;Object.assign(o,{versions:i,at:t,opener:s,isCode:!1}),await o.updateComplete,o.querySelector("h2")?.focus()}var c=class extends q{static properties={versions:{attribute:!1},at:{state:!0},isCode:{state:!0},isFull:{state:!0},copied:{state:!0}};constructor(){super(),this.versions=[],this.at=0,this.isCode=!1,this.isFull=!1,this.copied=!1,this.opener=null}createRenderRoot(){return this}render(){let t=this.versions[this.at];return t?n`<dialog class="artifact ${this.isFull?"full":""}" aria-labelledby="artifact-title" @close=${this.#l} @keydown=${this.#n}>
      <div class="artifact-head">
        <h2 id="artifact-title" tabindex="-1" dir="auto">${t.title}</h2>
        <button type="button" class="quiet artifact-close" title=${e("Close")} @click=${this.#t}>${r("x")}<span class="visually-hidden">${e("Close the preview")}</span></button>
        <div class="artifact-tools">
          <div class="artifact-ways" role="group" aria-label=${e("View")}>
            <button type="button" class="quiet" aria-pressed=${String(!this.isCode)} @click=${()=>this.isCode=!1}>${r("eye")}${e("Preview")}</button>
            <button type="button" class="quiet" aria-pressed=${String(this.isCode)} @click=${()=>this.isCode=!0}>${r("code")}${e("Code")}</button>
          </div>
          ${this.versions.length>1?this.#s():d}
          <button type="button" class="quiet" @click=${()=>this.#o(t)}>${r(this.copied?"check":"copy")}<span aria-live="polite">${this.copied?e("Copied"):e("Copy")}</span></button>
          <button type="button" class="quiet" title=${e("Download")} @click=${()=>$(t.text,m(t,t.text))}>
            ${r("download")}<span class="visually-hidden">${e("Download")}</span>
          </button>
          ${b.matches?n`<button type="button" class="quiet" title=${e("Full size")} aria-pressed=${String(this.isFull)} @click=${this.#r}>
                ${r(this.isFull?"minimize-2":"maximize-2")}<span class="visually-hidden">${e("Full size")}</span>
              </button>`:d}
        </div>
      </div>
      ${this.isCode?this.#a(t):this.#i(t)}
    </dialog>`:d}#s(){let{at:t,versions:s}=this;return n`<div class="artifact-versions" role="group" aria-label=${e("Versions")}>
      <button type="button" class="quiet" aria-disabled=${String(t===0)} @click=${()=>this.#e(-1)}>
        ${r("chevron-left")}<span class="visually-hidden">${e("Earlier version")}</span>
      </button>
      <span aria-live="polite"><span class="visually-hidden">${e("Version")} </span>${t+1}/${s.length}</span>
      <button type="button" class="quiet" aria-disabled=${String(t===s.length-1)} @click=${()=>this.#e(1)}>
        ${r("chevron-right")}<span class="visually-hidden">${e("Later version")}</span>
      </button>
    </div>`}#e(t){this.versions[this.at+t]&&(this.at+=t)}#i(t){let s=a=>{let o=a.target;o.dataset.filled||(o.dataset.filled="yes",o.contentWindow?.postMessage(y(t),"*"))};return n`${C([t],a=>a,()=>n`<iframe
        sandbox="allow-scripts"
        referrerpolicy="no-referrer"
        src="/frames/artifact/"
        title=${e("Preview of {title}",{title:t.title})}
        @load=${s}
      ></iframe>`)}`}#a({language:t,text:s}){let a="`".repeat(Math.max(2,...[...s.matchAll(/`+/g)].map(([u])=>u.length))+1),o=`${a}${t==="svg"?"xml":t}
${s}
${a}`;return n`<div class="artifact-code"><markdown-text .text=${o} .complete=${!0}></markdown-text></div>`}updated(){let t=this.querySelector("dialog");!t||t.open||(b.matches&&!this.isFull?t.show():t.showModal())}async#o({text:t}){this.copied=await h(t),setTimeout(()=>this.copied=!1,F)}#r(){this.isFull=!this.isFull,this.#t(),this.requestUpdate()}#n(t){t.key==="Escape"&&(t.preventDefault(),this.#t())}#t(){this.querySelector("dialog")?.close()}#l(){this.querySelector("dialog")?.open||(this.remove(),this.opener?.focus())}};customElements.define("artifact-panel",c);export{c as ArtifactPanel,w as open,A as openBlock,B as openFile};
