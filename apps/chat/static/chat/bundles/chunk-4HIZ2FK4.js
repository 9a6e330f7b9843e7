import{a as T,b as X,c as ie,d as re}from"./chunk-MZYDHHP5.js";import{b as Z,d as oe,f as tt}from"./chunk-TXRJREKV.js";import{a as l}from"./chunk-5OVPBSN4.js";import{a as Q}from"./chunk-7DWZTKXB.js";function ae(e,{key:t,kind:n,asked:s,due:i}){let r=L(e).find(o=>o.key===t&&o.kind===n);if(r)Object.assign(r,{asked:s,due:i});else{let o={key:t,kind:n,asked:s,due:i,resolved:null,sending:!1};e.parts.push({kind:"interaction",interaction:o})}}function le(e,{key:t,kind:n,answer:s,by:i,at:r}){let o=L(e).find(c=>c.key===t&&c.kind===n);o&&Object.assign(o,{resolved:{answer:s,by:i,at:r},sending:!1});let a=n==="client_tool"&&L(e).some(c=>et(c));e.status==="waiting"&&!a&&(e.status="queued")}function L(e){return e.parts.flatMap(t=>t.kind==="interaction"?[t.interaction]:[])}function Ki(e){if(e?.status!=="waiting")return;let[t,...n]=L(e).filter(i=>!i.resolved);return t?.kind==="question"&&!n.length&&!t.sending&&(t.asked.input==="text"||t.asked.freeform!==!1)?t:void 0}function ce(e){if(!e)return;let{status:t}=e;return L(e).find(n=>!n.asked.four_eyes&&!et(n)&&bt(n,t))}function et({kind:e,resolved:t}){return e==="client_tool"&&!t}function bt({kind:e,resolved:t},n){return!t&&(n==="waiting"||e==="elicitation"&&n==="running")}function P(e){return e==="queued"||e==="running"||e==="waiting"}function x(e){return e.parts.map(t=>t.kind==="text"?t.text:"").join("")}function ue(e,t){switch(e.version+=1,t.type){case"run.status":return yt(e,t.status);case"message.delta":return vn(e,t.text);case"stage.opened":return En(e,t);case"stage.delta":return Tn(e,t);case"stage.closed":return Ln(e,t);case"attachment.added":e.attachments.push(t.attachment);return;case"annotation.added":e.annotations.push(t.annotation);return;case"notice.added":return On(e,t.notice,t.text);case"helper.began":return Cn(e,t);case"helper.ended":for(let{helper:n}of e.steps.values())n?.key===t.key&&(n.state=t.status);return;case"run.continued":e.continued=!0;return;case"answer.restarted":return Sn(e,t);case"interaction.requested":return ae(e,t);case"interaction.resolved":return le(e,t);case"run.error":e.error={text:t.text,reference:t.reference};return;case"message.complete":return qn(e,t.message)}}function yt(e,t){if(e.status=t,e.version+=1,!P(t))for(let n of e.steps.values())n.state==="running"&&(n.state="stopped"),n.helper?.state==="running"&&(n.helper.state="stopped")}function vn(e,t){let n=e.parts.at(-1);n?.kind==="text"?n.text+=t:e.parts.push({kind:"text",text:t})}function Sn(e,{text:t,attachments:n,annotations:s}){e.attachments=n,e.annotations=s;let i=t.length;if(!x(e).startsWith(t))de(e,t);else{for(let r of e.parts)r.kind==="text"&&(r.text=r.text.slice(0,i),i-=r.text.length);e.parts=e.parts.filter(r=>r.kind!=="text"||r.text)}}function On(e,t,n){let s=e.parts.find(i=>i.kind==="notice"&&i.id===t);s?.kind==="notice"?s.text=n:e.parts.push({kind:"notice",id:t,text:n})}function de(e,t){e.parts=e.parts.filter(n=>n.kind!=="text"),t&&e.parts.push({kind:"text",text:t})}function En(e,t){let n=e.steps.get(t.stage);if(n){Object.assign(n,{title:t.title,text:"",length:0,state:"running",attachments:[]});return}let s={id:t.stage,title:t.title,text:"",length:0,state:"running",seconds:null,attachments:[],children:[],unfolded:!1};e.steps.set(s.id,s);let i=t.parent===null?void 0:e.steps.get(t.parent);if(i){i.children.push(s);return}let r=e.parts.at(-1);r?.kind==="steps"?r.steps.push(s):e.parts.push({kind:"steps",steps:[s]})}function Cn(e,{stage:t,key:n,name:s,agent:i}){let r=e.steps.get(t);r&&(r.helper={key:n,name:s,agent:i,state:"running"})}function Tn(e,t){let n=e.steps.get(t.stage);n&&(t.text&&(n.text+=t.text),t.length&&(n.length=t.length),t.title&&(n.title+=t.title),t.attachment&&n.attachments.push(t.attachment))}function Ln(e,t){let n=e.steps.get(t.stage);n&&(n.state=t.failed?"failed":"done",n.seconds=t.seconds)}function qn(e,t){e.message=t,e.attachments=t.attachments??[],!(t.text===void 0||x(e)===t.text)&&de(e,t.text)}var he=class e{turns=[];title="";todo="";last=0;awaiting=!1;branches={};#t=[];#e=new Map;constructor(t){this.id=t}get running(){let t=this.turns.findLast(n=>n.role==="assistant");return t&&P(t.status)?t:null}take(t){if(t.conversation!==this.id||t.seq<=this.last)return!1;if(this.last=t.seq,this.awaiting=t.type==="message.added",t.type==="todo.changed"&&(this.todo=t.text),t.type==="message.complete"&&(this.todo=t.message.todo??this.todo),t.type==="message.added")this.#s(t.message,t.run);else if(t.type==="attempt.replaced")this.#n(t.replaced);else{if(t.type==="branches.changed")return!0;ue(this.#a(t.run),t)}return!0}expect({id:t,text:n,attachments:s,again:i,edits:r,continues:o}){let a=this.turns.findIndex(p=>p.role==="user"&&p.id===(i??r));if(this.#t=a<0?[]:this.turns.splice(i?a+1:a),i)return;let c={role:"user",id:t,at:this.#o,text:n,attachments:s,sending:!0};o&&(c.sender={kind:"continuation",title:"",untrusted:!1}),this.turns.push(c)}withdraw(t){this.turns=[...this.turns.filter(n=>n.id!==t),...this.#t],this.#t=[]}#n(t){this.turns=this.turns.filter(n=>(n.role==="user"?n.run:n.id)!==t)}insert(t){let n=new Set(this.turns.map(({at:i})=>i)),s=t.filter(({at:i})=>!n.has(i)).flatMap(i=>this.#r(i));this.turns=[...this.turns,...s].sort((i,r)=>i.at-r.at)}complete(t,n){let s=this.turns.find(a=>a.role==="assistant"&&a.id===t.run),i=this.#r(t).find(a=>a.role==="assistant");if(s?.role!=="assistant"||i?.role!=="assistant")return;let[r,o]=[s.steps.get(n),i.steps.get(n)];r&&o&&Object.assign(r,{text:o.text,length:0}),s.version+=1}#r({run:t,at:n,events:s}){let i=new e(this.id);i.#e=this.#e,s.forEach((o,a)=>i.take({...o,conversation:this.id??"",run:t,seq:a+1}));let r=(this.turns.at(-1)?.at??-1)<=n;i.todo&&r&&(this.todo=i.todo);for(let o of i.turns)o.at=n;return i.turns}get isWhole(){return this.turns.every(({at:t},n)=>t<=(this.turns[n-1]?.at??-1)+1)}get#o(){return(this.turns.at(-1)?.at??-1)+1}expire({answers:t}){this.#e=new Map(Object.entries(t).map(([n,s])=>[n,new Set(s)]));for(let n of this.turns)n.role==="assistant"&&(n.expired=this.#e.get(n.id)??new Set,n.version+=1)}settle(){this.awaiting=!1;let t=this.running;t&&yt(t,"stopped")}#s({id:t,role:n,text:s,attachments:i=[],place:r,sender:o,application:a},c){if(n!=="user")return;this.#t=[];let p=this.turns.find(O=>O.role==="user"&&(O.id===t||O.sending&&(O.text===s||An(O,o)))),w={id:t,run:c,text:s,attachments:i,place:r,sender:o,application:a,sending:!1};p?.role==="user"?Object.assign(p,w):this.#i(()=>({role:n,at:this.#o,...w}))}#i(t){let n=this.turns.filter(i=>i.role==="user"&&i.sending);n.length&&(this.turns=this.turns.filter(i=>!n.includes(i)));let s=t();this.turns.push(s);for(let i of n)i.at=this.#o,this.turns.push(i);return s}#a(t){let n=this.turns.find(s=>s.role==="assistant"&&s.id===t);return n?.role==="assistant"?n:this.#i(()=>this.#l(t))}#l(t){let n=this.turns.findLast(s=>s.role==="user");return{role:"assistant",id:t,at:n?.role==="user"&&n.run===t?n.at:this.#o,status:"queued",parts:[],steps:new Map,attachments:[],annotations:[],error:null,message:null,expired:this.#e.get(t)??new Set,continued:!1,version:0}}};function An(e,t){return e.sender?.kind==="continuation"&&t?.kind==="continuation"}import{html as wt,nothing as xt}from"../vendor/lit.js";function g(e){if(e<.05)return"< 0.1 s";if(e<9.95)return`${e.toFixed(1)} s`;let t=Math.round(e);return t<60?`${t} s`:`${Math.floor(t/60)} min ${t%60} s`}function pe(e){let t=new Date(e);return Number.isNaN(t.getTime())?"":t.toDateString()===new Date().toDateString()?t.toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}):t.toLocaleDateString([],{day:"numeric",month:"short"})}function me(e){let{message:t,id:n}=e;if(!t)return xt;let s=[..._n(t),...Rn(e),...Dn(e)],i=document.getElementById("main")?.dataset.requests;return!s.length&&!i?xt:wt`<details class="more-line figures">
    <summary>${l("chevron-right")}<span class="visually-hidden">Why this answer:</span>${Mn(t)}</summary>
    <dl>
      ${s.map(([r,o])=>wt`<div><dt dir="auto">${r}</dt><dd dir="auto">${o}</dd></div>`)}
    </dl>
    ${i?wt`<a href="/answers/${n}/requests/" target="_blank" rel="noopener"
          >What the model saw<span class="visually-hidden"> (a new tab)</span></a
        >`:xt}
  </details>`}function Rn({steps:e}){return[...e.values()].flatMap(({title:t,seconds:n})=>{let s=[t.replaceAll("`",""),n===null?"":g(n)];return s[1]?[s]:[]})}function Dn({message:e,attachments:t}){let n=(e?.memories??[]).filter(({action:r})=>r==="recalled"),s=t.filter(({reference_url:r})=>r);return[["Files read",(e?.files_read??[]).join("; ")],["From memory",n.map(({text:r})=>r).join("; ")],["Sources",[...new Set(s.map(({title:r,reference_url:o})=>r||o))].join("; ")]].filter(([,r])=>r)}function Mn({seconds:e,usage:t,costs:n,models:s}){let i=kt(t);return[e===void 0?"":g(e),i?`${i.toLocaleString()} tokens`:"",n?vt(n):""].filter(Boolean).join(" · ")||s?.join(", ")||"Details"}function _n({models:e,version:t,usage:n,costs:s,first_text_seconds:i,seconds:r}){return[[e?.length===1?"Model":"Models",e?.join(", ")],["Application version",t],["Tokens in",n&&fe(n.prompt_tokens,n.cached_tokens,"from the cache")],["Tokens out",n&&fe(n.completion_tokens,n.reasoning_tokens,"for thinking")],["Cost",s&&vt(s)],["First text after",i===void 0?"":g(i)],["Duration",r===void 0?"":g(r)]].filter(([,a])=>a).map(([a,c])=>[a,String(c)])}function fe(e,t,n){return e?e.toLocaleString()+(t?`, ${t.toLocaleString()} of them ${n}`:""):""}function kt(e){return e?e.prompt_tokens+e.completion_tokens:0}function vt(e){return Object.entries(e).map(([t,n])=>Nn(Number(n),t)).join(" + ")}function Nn(e,t){let n=e===0||e>=1?{}:{minimumSignificantDigits:2,maximumSignificantDigits:2};return e.toLocaleString([],{style:"currency",currency:t,...n})}function ir(e){let t=e.flatMap(i=>i.role==="assistant"&&i.message?[i.message]:[]),n=t.reduce((i,{usage:r})=>i+kt(r),0),s={};for(let i of t)for(let[r,o]of Object.entries(i.costs??{}))s[r]=(s[r]??0)+Number(o);return{tokens:n,costs:s,is_partial:t.some(i=>!i.costs&&kt(i.usage))}}function rr({tokens:e,costs:t,is_partial:n}){let s=vt(t);return[e?`${e.toLocaleString()} tokens`:"",s&&n?`at least ${s}`:s].filter(Boolean).join(" · ")}import{html as M,LitElement as In,nothing as St}from"../vendor/lit.js";var jn=[["system","Instructions"],["tools","Tools"],["user","Questions"],["assistant","Answers"],["tool_results","Results of tools"]],ge={unknown:"",ok:"",warning:"nearly full",danger:"full"},Bn=.3,Ot=class extends In{static properties={use:{attribute:!1}};constructor(){super(),this.use=null}createRenderRoot(){return this}render(){let{use:t}=this;return t?.total?M`<details class="gauge" data-state=${t.state}>
      <summary>${this.#t(t)}</summary>
      <div class="gauge-parts">
        <dl>
          ${jn.map(([n,s])=>M`<div><dt>${s}</dt><dd>${nt(t[n])}</dd></div>`)}
          <div class="gauge-total"><dt>In all</dt><dd>${nt(t.total)}</dd></div>
          ${t.limit?M`<div><dt>The model reads</dt><dd>${nt(t.limit)}</dd></div>`:St}
        </dl>
        <p>Tokens, estimated. A conversation that becomes too long is shortened for the model; here it stays whole.</p>
      </div>
    </details>`:St}#t({ratio:t,total:n,state:s}){if(t===null)return M`<span>Context: ${nt(n)} tokens</span>`;let i=ge[s]&&`, ${ge[s]}`;return M`<meter min="0" max="1" .value=${t} aria-hidden="true"></meter>
      ${s==="ok"?St:l("triangle-alert")}
      <span>Context: ${Math.round(t*100)}\u00a0%${i}</span>`}};customElements.define("chat-gauge",Ot);function nt(e){return Number(e).toLocaleString()}function ur(e,t,n,s){let i=async()=>{let{id:r}=n.conversation,o=r?await tt(`${s()}${r}/usage/`):null;!o||r!==n.conversation.id||(e.use=o,t.summary=o.summary,n.redraw())};n.addEventListener("switched",()=>{e.use=null,t.summary=null}),n.addEventListener("opened",r=>{r.detail.isNew||i()}),n.addEventListener("event",r=>{r.detail.type==="message.complete"&&i()}),n.addEventListener("listed",()=>{(e.use?.ratio??0)>=Bn&&i()})}function $e({text:e}){return M`<details class="summary-block">
    <summary>${l("chevron-right")}Earlier conversation, summarised for the model</summary>
    <p class="summary-text" dir="auto">${e}</p>
    <p class="summary-note">The model reads this in place of everything above.</p>
  </details>`}import{html as C,LitElement as hs,nothing as E}from"../vendor/lit.js";import{html as Et,LitElement as Pn,nothing as st}from"../vendor/lit.js";var W=class extends Pn{static properties={label:{attribute:!1},actions:{attribute:!1},current:{state:!0}};constructor(){super(),this.label="",this.actions=[],this.current=""}createRenderRoot(){return this}render(){let t=this.actions.some(({name:n})=>n===this.current)?this.current:this.actions[0]?.name;return Et`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#n}>
      ${this.actions.map(n=>this.#t(n,n.name===t))}
    </div>`}focusOn(t){let n=this.#e();(n.find(s=>s.dataset.action===t)??n[0])?.focus()}#t({name:t,icon:n,label:s,run:i,pressed:r,disabled:o,after:a,opensMenu:c},p){let w=({currentTarget:O})=>{!o&&O instanceof HTMLElement&&i(O)};return Et`<button type="button" class="quiet" data-action=${t} title=${s} aria-label=${s}
        tabindex=${p?0:-1} aria-pressed=${r===void 0?st:String(r)}
        aria-haspopup=${c?"menu":st} aria-disabled=${o?"true":st} @click=${w} @focus=${()=>this.current=t}>
        ${l(n)}
      </button>${a?Et`<span class="actions-place">${a}</span>`:st}`}#e(){return[...this.querySelectorAll("button")]}#n(t){let n=this.#e(),s=n.indexOf(document.activeElement),i=getComputedStyle(this).direction==="rtl"?"ArrowLeft":"ArrowRight",r=i==="ArrowLeft"?"ArrowRight":"ArrowLeft",a={[i]:s+1,[r]:s-1,Home:0,End:-1}[t.key];s<0||a===void 0||(t.preventDefault(),n.at(a%n.length)?.focus())}};customElements.define("action-row",W);function it(e,t,n,s){if(!e)return[];let{ids:i,at:r}=e;return[{name:"previous",icon:"chevron-left",label:`Previous ${t}`,disabled:n||r===0,run:()=>s(i[r-1]??"","previous"),after:`${r+1}/${i.length}`},{name:"next",icon:"chevron-right",label:`Next ${t}`,disabled:n||r===i.length-1,run:()=>s(i[r+1]??"","next")}]}function _(e,t,n,s){let i={type:t,message:n,name:s};e.dispatchEvent(new CustomEvent("branch-change",{bubbles:!0,detail:i}))}import{html as u,nothing as Oe}from"../vendor/lit.js";import{html as $,LitElement as Un,nothing as Ct}from"../vendor/lit.js";var be=["bytes","KB","MB","GB","TB"];function ye(e){if(e===1)return"1 byte";let t=e,n=0;for(;t>=1e3&&n<be.length-1;)t/=1e3,n+=1;let s=n>0&&t<10?1:0;return`${t.toLocaleString([],{maximumFractionDigits:s})} ${be[n]}`}var we=[",",";","	","|"];function ke(e,t){let n=Fn(e),s=[],i=[],r=0;for(;r<e.length&&s.length<t;){let{cell:o,end:a}=Wn(e,r,n);if(i.push(o),r=a,e[r]===n){if(r+=1,r<e.length)continue;i.push("")}e[r]==="\r"&&e[r+1]===`
`&&(r+=1),r+=1,s.push(i),i=[]}return s}function Wn(e,t,n){if(e[t]!=='"')return xe(e,t,n);let s="",i=t+1;for(;;){let r=e.indexOf('"',i);if(r<0)return{cell:s+e.slice(i),end:e.length};if(s+=e.slice(i,r),e[r+1]!=='"'){let o=xe(e,r+1,n);return{cell:s+o.cell,end:o.end}}s+='"',i=r+2}}function xe(e,t,n){let s=t;for(;s<e.length&&e[s]!==n&&e[s]!==`
`&&e[s]!=="\r";)s+=1;return{cell:e.slice(t,s),end:s}}function Fn(e){let[t]=e.split(/\r?\n/,1),n=we.map(s=>t.split(s).length);return we[n.indexOf(Math.max(...n))]}var Tt=2e5,ve=100,Hn=/^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i,Gn=/^text\/(?:csv|tab-separated-values)$/i;function Se(e){return Hn.test(e.split(";")[0].trim())}var Lt=class extends Un{static properties={address:{attribute:!1},name:{attribute:!1},type:{attribute:!1},text:{state:!0},size:{state:!0},problem:{state:!0}};constructor(){super(),this.address="",this.name="",this.type="",this.text=null,this.size=0,this.problem=""}createRenderRoot(){return this}render(){return $`<details class="attachment words" @toggle=${this.#r}>
      <summary>
        ${l("chevron-right")}${l("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#t()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${l("download")}Download</a>
        ${/^text\/html\b/i.test(this.type)?$`<button type="button" class="link" @click=${this.#n}>${l("eye")}Preview</button>`:Ct}
        ${this.size>Tt?$`<span>The beginning of ${ye(this.size)}</span>`:Ct}
      </p>
    </details>`}#t(){if(this.problem)return $`<p class="field-error" role="alert">${this.problem}</p>`;if(this.text===null)return $`<p class="working">Loading…</p>`;if(Gn.test(this.type))return this.#e(ke(this.text,ve+1));let t=this.type==="text/markdown"?this.text:zn(this.text,this.name);return $`<markdown-text .text=${t} .complete=${!0}></markdown-text>`}#e([t=[],...n]){let s=n.length>=ve||this.size>Tt;return $`<div class="prose-table table" tabindex="0" role="group" aria-label="Table ${this.name}">
        <table>
          <thead>
            <tr>
              ${t.map(i=>$`<th scope="col">${i}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${n.map(i=>$`<tr>${i.map(r=>$`<td>${r}</td>`)}</tr>`)}
          </tbody>
        </table>
      </div>
      ${s?$`<p class="preview-foot">The first ${n.length} rows</p>`:Ct}`}async#n({currentTarget:t}){let{openFile:n}=await import("./artifact-panel-U3OXVHMW.js");try{await n(this.address,this.name,"html",t)}catch{this.problem="The file could not be loaded. Check the connection and try again."}}async#r(t){if(!(!t.target.open||this.text!==null)){this.problem="";try{let s=await fetch(this.address,{headers:{Range:`bytes=0-${Tt-1}`}});if(!s.ok){this.problem=s.status===404?"The file is no longer there.":"The file cannot be shown.";return}let i=s.headers.get("Content-Range")?.split("/")[1],r=new Uint8Array(await s.arrayBuffer());this.size=Number(i??r.length),this.text=Jn(r)}catch{this.problem="The file could not be loaded. Check the connection, fold this and unfold it again."}}}};customElements.define("file-preview",Lt);function zn(e,t){let n=Math.max(2,...[...e.matchAll(/`+/g)].map(([r])=>r.length)),s="`".repeat(n+1),i=t.match(/\.(\w{1,12})$/)?.[1]??"";return`${s}${i}
${e.replace(/\n$/,"")}
${s}`}function Jn(e){if(e[0]===255&&e[1]===254)return new TextDecoder("utf-16le").decode(e);if(e[0]===254&&e[1]===255)return new TextDecoder("utf-16be").decode(e);try{return new TextDecoder("utf-8",{fatal:!0}).decode(e,{stream:!0})}catch{return new TextDecoder("windows-1252").decode(e)}}var Ee=/^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i,Kn=/^(audio|video)\/[\w.+-]+$/i,Vn=/^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;function rt(e){if(!e.length)return Oe;let t=e.filter(Ce).length;return u`<ul class="attachments ${t>1?"gallery":""}" aria-label="Attachments">
    ${e.map(n=>u`<li>${Yn(n)}</li>`)}
  </ul>`}function Ce(e){return Ee.test(e.type??"")?Xn(e):""}function Yn(e){let{type:t="",data:n}=e,s=Ce(e);if(s)return Zn(e,s);let i=Kn.exec(t)?.[1].toLowerCase();if(i){let o=ts(e);if(o)return es(e,i,o)}if(n&&Vn.test(t))return ns(e,n);if(n)return ss(e,n);let r=X(e.url??"");return r?Qn(e,r.pathname):rs(e)}function Qn(e,t){let{type:n=""}=e,s=q(e);if(Se(n))return u`<file-preview .address=${t} .name=${s} .type=${n}></file-preview>`;let i=n.split(";")[0];return/^application\/pdf$/.test(n)?u`<a class="attachment file" href=${t} target="_blank" rel="noopener">
      ${l("file-text")}${F(e,i)}${l("external-link")}
    </a>`:u`<a class="attachment file" href="${t}?download" download=${s}>
    ${l("file-text")}${F(e,i)}${l("download")}
  </a>`}function Xn({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:t&&/^data:image\//i.test(t)?t:t&&as(t)?T(t)?.href??"":""}function Zn(e,t){let n=X(e.url??""),s=q(e),i=u`<img src=${t} alt=${s} loading="lazy" @error=${os} />`;return u`<figure class="attachment picture">
    ${n?u`<a href=${n.pathname} target="_blank" rel="noopener" data-zoom>${i}</a>`:u`<button type="button" class="zoom" data-zoom>${i}</button>`}
    <figcaption>
      ${n?u`<a href=${n.pathname} target="_blank" rel="noopener">${s}</a>`:s}
      ${Te(e)}
    </figcaption>
  </figure>`}function ts({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:X(t??"")?.pathname??""}function es(e,t,n){let s=q(e);return u`<figure class="attachment media">
    ${t==="audio"?u`<audio controls preload="metadata" src=${n} aria-label=${s}></audio>`:u`<video controls preload="metadata" src=${n} aria-label=${s}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${s}</span>
      <a class="quiet" href=${n.startsWith("data:")?n:`${n}?download`} download=${s} title="Download">
        ${l("download")}<span class="visually-hidden">Download ${s}</span>
      </a>
    </figcaption>
  </figure>`}function ns(e,t){let n=e.type==="text/markdown";return u`<details class="attachment words">
    <summary>${l("chevron-right")}${l("file-text")}<span>${q(e)}</span></summary>
    ${n?u`<markdown-text .text=${t} .complete=${!0}></markdown-text>`:u`<pre tabindex="0" role="group" aria-label=${q(e)}>${t}</pre>`}
    ${Te(e)}
  </details>`}function ss(e,t){let n=`data:application/octet-stream;base64,${t.replace(/^data:[^,]*,/,"")}`,s=q(e),i=u`<a class="attachment file" href=${n} download=${s}>
    ${l("file-text")}${F(e,"Download")}
  </a>`;if(!/^text\/html\b/i.test(e.type??""))return i;return u`${i}<button type="button" class="button" @click=${r}>${l("eye")}Preview ${s}</button>`;async function r({currentTarget:o}){let{open:a}=await import("./artifact-panel-U3OXVHMW.js");await a([{title:s,language:"html",text:is(t)}],0,o)}}function is(e){try{let t=Uint8Array.from(atob(e.replace(/^data:[^,]*,/,"")),n=>n.charCodeAt(0));return new TextDecoder().decode(t)}catch{return e}}function rs(e){let t=e.url??e.reference_url??"",n=T(t),s=l(Ee.test(e.type??"")?"image":"file-text");return n?u`<a class="attachment file" href=${n.href} target="_blank" rel="noopener noreferrer">
    ${s}${F(e,n.host)}${l("external-link")}
  </a>`:u`<span class="attachment file">${s}${F(e,t)}</span>`}function F(e,t){return u`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${q(e)}</span>
    <span class="attachment-detail">${t}</span>
  </span>`}function Te({reference_url:e}){let t=T(e??"");return t?u`<a href=${t.href} target="_blank" rel="noopener noreferrer">Source: ${t.host}</a>`:Oe}function q({title:e,type:t,url:n}){return e||ie(n??"")||t||"Attachment"}function os(e){let t=e.target;t.hidden=!0,t.closest("figure")?.setAttribute("data-missing","")}function as(e){return T(e)?.origin===location.origin}import{html as qt,LitElement as ls,nothing as cs}from"../vendor/lit.js";var Le=14,us=1400;function qe(e){return e?ds(e)?qt`<folded-text .text=${e}></folded-text>`:qt`<p class="question-text" dir="auto">${e}</p>`:cs}function ds(e){return e.length>us||e.split(`
`,Le+1).length>Le}var At=class extends ls{static properties={text:{attribute:!1},unfolded:{type:Boolean,reflect:!0}};constructor(){super(),this.text="",this.unfolded=!1}createRenderRoot(){return this}render(){return qt`<p class="question-text" dir="auto" @scroll=${this.#t}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#e}>
        ${this.unfolded?"Show less":"Show all"}<span class="visually-hidden"> of the question</span>
      </button>`}#t(t){let n=t.target;this.unfolded||!n.scrollTop||(n.scrollTop=0,this.unfolded=!0)}#e(){this.unfolded=!this.unfolded,this.unfolded||this.updateComplete.then(()=>this.scrollIntoView({block:"nearest"}))}};customElements.define("folded-text",At);var ps=2e3,Rt=class extends hs{static properties={question:{attribute:!1},state:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},editing:{state:!0},copied:{state:!0}};constructor(){super(),this.question=void 0,this.state="",this.branch=void 0,this.changeable=!1,this.limit=1/0,this.editing=!1,this.copied=!1}createRenderRoot(){return this}render(){let{question:t}=this;if(!t)return E;let{text:n,attachments:s,place:i,sender:r,sending:o,application:a}=t;return C`${a?C`<p class="handover" dir="auto">From here on: ${a.title}</p>`:E}
      <h2 class="visually-hidden">Question</h2>
      ${r?fs(r):E}
      ${i?C`<p class="question-place" dir="auto">${[i.title,i.narrative].filter(Boolean).join(": ")}</p>`:E}
      ${this.editing?this.#r(t):qe(n)} ${rt(s)}
      ${o?C`<p class="question-state">Sending…</p>`:E}
      ${o||this.editing?E:this.#t(t)}`}#t(t){return C`<action-row .label=${"Actions of the question"} .actions=${this.#e(t)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?"Copied":""}</span>`}#e({id:t,text:n}){let s=(r,o)=>_(this,"branch.switch",r,o),i=()=>_(this,"turn.delete",t,"delete");return[...it(this.branch,"version of the question",!this.changeable,s),...this.changeable?[{name:"edit",icon:"pencil",label:"Edit the question",run:()=>this.edit()}]:[],...n?[{name:"copy",icon:this.copied?"check":"copy",label:"Copy the question",run:()=>this.#n(n)}]:[],...this.changeable?[{name:"delete",icon:"trash-2",label:"Delete question and answer",run:i}]:[]]}async#n(t){this.copied=await Q(t),setTimeout(()=>this.copied=!1,ps)}#r({text:t,attachments:n}){return C`<form class="question-editor" @submit=${this.#l} @keydown=${this.#a}>
      <textarea aria-label="Edit the question" dir="auto" rows="3" maxlength=${Number.isFinite(this.limit)?this.limit:E}
        ?required=${!n.length} .defaultValue=${t}></textarea>
      <p class="question-state">The answers so far stay on a branch of their own.</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#i}>Cancel</button>
        <button class="button primary">Send</button>
      </div>
    </form>`}edit(){return!this.changeable||this.editing?!1:(this.editing=!0,this.#o(),!0)}async#o(){await this.updateComplete;let t=this.#s();t?.focus(),t?.setSelectionRange(t.value.length,t.value.length),requestAnimationFrame(()=>requestAnimationFrame(()=>t?.scrollIntoView({block:"center"})))}#s(){return this.querySelector("textarea")}async#i(){this.editing=!1,await this.updateComplete;let t=this.querySelector("action-row");t instanceof W&&(await t.updateComplete,t.focusOn("edit"))}#a(t){t.isComposing||(t.key==="Escape"?(t.preventDefault(),this.#i()):t.key==="Enter"&&(t.ctrlKey||t.metaKey)&&(t.preventDefault(),t.currentTarget.requestSubmit()))}#l(t){t.preventDefault();let{question:n}=this,s=this.#s()?.value??"";if(!n||!this.changeable||!(s.trim()||n.attachments.length))return;this.editing=!1;let i={text:s,attachments:n.attachments,edits:n.id};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:i}))}};customElements.define("chat-question",Rt);function fs({kind:e,title:t,at:n}){let s=e==="alarm"?"Alarm":`From the ${e} “${t}”`;return C`<p class="question-sender">
    ${l(n?"clock":"settings")}<span dir="auto">${s}</span>
    ${n?C`<time datetime=${n}>${new Date(n).toLocaleString([],{dateStyle:"medium",timeStyle:"short"})}</time>`:E}
  </p>`}import{html as S,LitElement as Fi,nothing as Y,repeat as Ui}from"../vendor/lit.js";function Re(e){let t=[];for(let s of e){let i=t.at(-1);if(s.role==="user"&&s.sender?.kind==="continuation"){i?.turn.role==="assistant"&&(i.goesOn=!0);continue}let r=s.role==="assistant"&&i?.turn.role==="assistant"&&i.goesOn;t.push({turn:s,asked:r?i.asked:i?.turn.role==="user"?i.turn:void 0,earlier:r?[...i.earlier,i.turn]:[],goesOn:!1,isLast:!1})}let n=t.at(-1);return n&&(n.isLast=!0),t}function De(e){let t=[],n=0,s=-1,i;for(let r of e){let{turn:o}=r;o.at>(i?.at??-1)+1&&(t.push({key:`gap ${n}`,turns:[],missing:i?{after:Ae(i)}:{before:Ae(o)}}),n+=1,s=-1);let a=Math.floor(o.at/8);a===s?t.at(-1)?.turns.push(r):t.push({key:ms(a,i),turns:[r]}),s=a,i=o}return t}function ms(e,t){return t&&Math.floor(t.at/8)===e?`turns ${e} end`:`turns ${e}`}function Ae(e){return e.role==="user"?e.run??"":e.id}function ot(e){return e.role==="user"?e.id:e.message?.id}import{html as Me}from"../vendor/lit.js";function _e({text:e,cancel:t,confirm:n}){return Me`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${t}>
    <form @submit=${i=>{i.preventDefault(),n()}}>
      <h2 id="turn-deletion-heading">Delete this question?</h2>
      ${e?Me`<blockquote dir="auto">${e}</blockquote>`:""}
      <p>The question and all its answers will be gone for good. What you asked later stays, and the model reads it without them.</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${t}>Cancel</button>
        <button class="button danger">Delete</button>
      </div>
    </form>
  </dialog>`}import{html as Ne}from"../vendor/lit.js";function Ie({letters:e,tile:t,emoji:n,icon:s},i=""){return Ne`<span class="monogram ${i}" data-tile=${t} ?data-icon=${s||n} aria-hidden="true"
    >${s?Ne`<img src=${s} alt="" />`:n||e}</span
  >`}import{html as $t,LitElement as ji,nothing as xn,repeat as Bi}from"../vendor/lit.js";import{html as h,LitElement as Di,nothing as m,repeat as Mi}from"../vendor/lit.js";import{html as js,nothing as Ge}from"../vendor/lit.js";import{html as Dt,nothing as Mt}from"../vendor/lit.js";function je(e){let{helper:t}=e;if(!t)return Mt;let n=s=>Be(s,"helper-open",e.id);return Dt`<p class="helper-buttons">
    ${t.agent?Dt`<span class="helper-agent">${t.agent}</span>`:Mt}
    <button type="button" class="button" aria-label="Open the helper ${t.name}" @click=${n}>Open</button>
    ${_t(e)}
  </p>`}function _t({helper:e}){if(e?.state!=="running")return Mt;let t=n=>Be(n,"helper-stop",e.key);return Dt`<button type="button" class="button" aria-label="Stop the helper ${e.name}" @click=${t}>
    ${l("square")}Stop
  </button>`}function Be(e,t,n){e.target?.dispatchEvent(new CustomEvent(t,{bubbles:!0,detail:n}))}import{html as b,nothing as k,repeat as Ls}from"../vendor/lit.js";import{html as A,nothing as Nt}from"../vendor/lit.js";var gs=/^\[(\d{1,4})\] (.*\S.*)$/,$s=600;function U(e){return e.map(Pe).filter(n=>n!==null).sort((n,s)=>Number(n.number)-Number(s.number))}function at(e,t=[]){let n=t.map((s,i)=>re(i+1,s)).filter(({place:s})=>s);return A`${rt(e.filter(s=>!Pe(s)))}
    ${bs([...U(e),...n])}`}function Pe({type:e,title:t,url:n,data:s,reference_url:i}){let[,r,o]=gs.exec(t??"")??[];return e!=="text/plain"||n||!s||s.length>$s||!o?null:{number:r,place:o,sentence:s,address:T(i??"")?.href??""}}function bs(e){return e.length?A`<div class="sources">
    <h3>Sources</h3>
    <ul>
      ${e.map(t=>A`<li>${ys(t)}</li>`)}
    </ul>
  </div>`:Nt}function ys({number:e,place:t,sentence:n,address:s}){return A`<span class="source-number">${e}</span>
    <div dir="auto">
      ${s?A`<a href=${s} target="_blank" rel="noopener noreferrer">${t}</a>${ws(s)}`:t}
      ${n?A`<q>${n}</q>`:Nt}
    </div>`}function ws(e){let t=new URL(e);return t.origin===location.origin?Nt:A` (${t.host})`}var xs=/^> #{4,5} (.{1,60}?):?\s*$/,ks=/^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/,We=/^(`{3,})/,vs=/^(`{3,})(?:json)?\n([\s\S]*)\n\1$/;function It(e){return Ue(e,xs).map(({match:n,lines:s})=>({heading:n?.[1]??"",text:s.join(`
`).trim()}))}function jt(e){let t=Ue(e,ks);return t.some(({match:n})=>!n)?[]:t.map(({match:n,lines:s})=>({name:n?.[1]??"",text:[n?.[2]??"",...s].join(`
`).trim()}))}function lt(e){let t=vs.exec(e)?.[2]??e;if(!/^\s*[[{]/.test(t))return null;try{return JSON.parse(t)}catch{return null}}function Fe(e){let n=It(e).findLast(({heading:s})=>s==="Error")?.text.split(`
`).find(s=>s.trim()&&!We.test(s))??"";return n.length>200?`${n.slice(0,199)}…`:n}function Ue(e,t){let n=[],s="";for(let i of e.replace(/\r\n?/g,`
`).split(`
`)){let r=We.exec(i)?.[1]??"",o=s?null:t.exec(i);s&&r.length>=s.length?s="":s||(s=r),o?n.push({match:o,lines:[]}):n.length?n[n.length-1].lines.push(i):i.trim()&&n.push({match:null,lines:[i]})}return n}import{html as d,LitElement as Ss,nothing as ct}from"../vendor/lit.js";var He=20,ut=1500,Os=8,Es=3,Cs=/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i,Bt=class extends Ss{static properties={text:{attribute:!1},complete:{attribute:!1},sources:{attribute:!1},all:{state:!0},raw:{state:!0}};constructor(){super(),this.text="",this.complete=!1,this.sources=[],this.all=!1,this.raw=!1,this.isCut=!1}createRenderRoot(){return this}render(){if(!this.complete)return this.#s(this.text);if(this.raw)return d`<pre class="step-raw" tabindex="0" role="group" aria-label="Raw text">${this.text}</pre>${this.#t()}`;this.isCut=!1;let t=It(this.text),n=t.map(i=>this.#e(i)),s=!this.isCut&&t.every(({heading:i,text:r})=>!i&&!lt(r)&&!jt(r).length);return d`${n}${s?ct:this.#t()}`}#t(){let t=()=>this.all=!this.all,n=()=>this.raw=!this.raw,s=!this.raw&&(this.isCut||this.all);return d`<div class="step-buttons">
      ${s?d`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${t}>
            ${this.all?"Show less":"Show all"}
          </button>`:ct}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${n}>Raw</button>
    </div>`}#e({heading:t,text:n}){return d`${t?d`<h3 class=${t==="Error"?"step-error":""}>${t}</h3>`:ct} ${this.#n(n)}`}#n(t){let n=jt(t);if(n.length)return this.#l(n.map(i=>[i.name,this.#r(i.text)]));let s=lt(t);return s?this.#i(s,0):this.#o(t)}#r(t){let n=lt(t);return n?this.#i(n,1):t.startsWith("```")?this.#s(t):this.#a(t)}#o(t){return t.length<=ut?this.#s(t):(this.isCut=!0,d`<div class=${this.all?"":"step-cut"}>${this.#s(t)}</div>`)}#s(t){return d`<markdown-text .text=${t} .complete=${this.complete} .sources=${this.sources}></markdown-text>`}#i(t,n){if(t===null||t==="")return d`<span class="step-none">none</span>`;if(typeof t!="object")return this.#a(String(t));if(n>Es)return d`<code>${JSON.stringify(t).slice(0,ut)}</code>`;if(!Array.isArray(t))return this.#l(Object.entries(t).map(([i,r])=>[i,this.#i(r,n+1)]));let s=Ts(t);return s.length?this.#c(s,t,n):t.length?d`<ul>${this.#u(t).map(i=>d`<li>${this.#i(i,n+1)}</li>`)}</ul>`:d`<span class="step-none">none</span>`}#a(t){if(Cs.test(t))return d`<button type="button" class="zoom" data-zoom aria-label="Picture"><img src=${t} alt="" /></button>`;let n=t.length>ut;return this.isCut||=n,d`<span class="step-string" dir="auto">${n&&!this.all?`${t.slice(0,ut)}…`:t}</span>`}#l(t){return t.length?d`<dl class="step-pairs">
      ${this.#u(t).map(([n,s])=>d`<div><dt dir="auto">${n}</dt><dd>${s}</dd></div>`)}
    </dl>`:d`<span class="step-none">none</span>`}#c(t,n,s){return d`<div class="table" tabindex="0" role="group" aria-label="Table: ${t.join(", ")}">
      <table>
        <thead><tr>${t.map(i=>d`<th scope="col">${i}</th>`)}</tr></thead>
        <tbody>
          ${this.#u(n).map(i=>d`<tr>${t.map(r=>d`<td>${r in i?this.#i(i[r],s+1):ct}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`}#u(t){return this.isCut||=t.length>He,this.all?t:t.slice(0,He)}};customElements.define("step-text",Bt);function Ts(e){if(!e.every(s=>s!==null&&typeof s=="object"&&!Array.isArray(s)))return[];let n=[...new Set(e.flatMap(s=>Object.keys(s)))];return n.length<=Os?n:[]}var qs={running:{symbol:"loader-circle",words:"Running"},done:{symbol:"check",words:"Done"},failed:{symbol:"x",words:"Failed"},stopped:{symbol:"square",words:"Stopped"}},As="The model does not read this result any more; it stays stored and shown.";function H(e,t,n=new Set){return b`<ol class="steps" aria-label="Steps">
    ${Ls(e,s=>s.id,s=>Rs(s,t,n))}
  </ol>`}function Rs(e,t,n){let s=n.has(e.id),i=_s(e,s);return b`<li class="step ${s?"expired":""}" data-state=${e.state}
    title=${s?As:k}>
    ${Ds(e)?Ms(e,i,t):b`<div class="step-line">${i}</div>`}
    ${e.state==="failed"&&!e.unfolded?Ns(e):k} ${je(e)}
    ${e.children.length?H(e.children,t,n):k}
  </li>`}function Ds({text:e,attachments:t}){return e!==""||t.length>0}function Ms(e,t,n){let s=i=>{e.unfolded=i.target.open,n()};return b`<details .open=${e.unfolded} @toggle=${s}>
    <summary class="step-line">${t}${l("chevron-right")}</summary>
    ${e.unfolded?Pt(e):k}
  </details>`}function _s({title:e,state:t,seconds:n},s){let{symbol:i,words:r}=qs[t];return b`<span class="step-mark">${l(i)}</span>
    <span class="step-title" dir="auto">${e}</span>
    <span class="step-state ${t==="done"?"visually-hidden":""}">${r}</span>
    ${s?b`<span class="visually-hidden">, not read by the model any more</span>`:k}
    ${n===null?k:b`<span class="step-time">${g(n)}</span>`}`}function Ns({text:e}){let t=Fe(e);return t?b`<p class="step-cause" dir="auto">${t}</p>`:k}function Pt(e){return b`<div class="step-content">
    ${e.text?b`<step-text .text=${e.text} .complete=${e.state!=="running"}
          .sources=${U(e.attachments)}></step-text>`:k}
    ${e.length>e.text.length?Is(e):k}
    ${at(e.attachments)}
  </div>`}function Is({id:e,text:t,length:n}){let s=({target:r})=>r.dispatchEvent(new CustomEvent("step-rest",{bubbles:!0,detail:e})),i=`Show all ${n.toLocaleString()} characters; these are the first ${t.length.toLocaleString()}`;return b`<button type="button" class="link step-rest" @click=${s}>${i}</button>`}var Bs={running:"At work",done:"Done",failed:"Failed",stopped:"Stopped"};function ze(e,{redraw:t,close:n}){let{helper:s}=e;return s?js`<dialog class="helper" aria-labelledby="helper-name" @close=${n}>
    <header>
      <h2 id="helper-name" tabindex="-1">${s.name}</h2>
      <p class="helper-line" role="status">
        ${[s.agent,Bs[s.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="helper-read" tabindex="0" role="group" aria-label="What the helper does and says">
      ${Pt(e)} ${e.children.length?H(e.children,t):Ge}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${_t(e)}
      <button class="button" autofocus>Close</button>
    </form>
  </dialog>`:Ge}import{html as Je,nothing as Ps}from"../vendor/lit.js";var Ke={recalled:"Recalled",stored:"Remembered",changed:"Changed",forgotten:"Forgot",deleted:"Deleted everything"};function Ve(e){return e?.length?Je`<details class="more-line memory-line">
    <summary>${l("chevron-right")}Memory: ${Ws(e)}</summary>
    <ul>
      ${e.map(({action:t,text:n})=>Je`<li><b>${Ke[t]}</b> <span dir="auto">${n}</span></li>`)}
    </ul>
    <a href="/memory/">What is remembered about you</a>
  </details>`:Ps}function Ws(e){return Object.entries(Ke).map(([t,n])=>({action:t,words:n.toLowerCase(),count:Fs(e,t)})).filter(({count:t})=>t).map(({action:t,words:n,count:s})=>t==="deleted"?n:`${n} ${s}`).join(", ")}function Fs(e,t){return e.filter(n=>n.action===t).length}function bo(e,t,n){e.hidden=n===null,t.memory=n??!0,e.ariaChecked=String(t.memory)}function yo(e,t,n,s){e.addEventListener("click",async()=>{let{id:i}=t.conversation,r=!t.memory;if(i&&!await Z(`${n()}${i}/memory/`,{on:String(r)})){s({text:"That did not work. Check the connection and try again.",isProblem:!0});return}t.memory=r,e.ariaChecked=String(r),s({text:r?Us:Hs,isProblem:!1})})}var Us="This conversation has memory again, from your next message on.",Hs="This conversation remembers nothing and recalls nothing, from your next message on.";import{html as tn,LitElement as ni,nothing as en}from"../vendor/lit.js";import{html as R,LitElement as Gs,live as zs,nothing as G}from"../vendor/lit.js";var Ft={rating:"",reason:"",comment:"",shares_transcript:!1},Js=[["wrong","It is wrong"],["incomplete","It is incomplete"],["not_asked","It is not what I asked"],["slow","It was too slow"],["unsafe","It is unsafe"],["other","Something else"]],Ks=2e3,Ye=100,Vs="That did not work. Check the connection and try again.",Wt=new Map,Ut=[],Ht;async function Ys(e){return Wt.has(e)||(Ut.push(e),Ht??=new Promise(t=>setTimeout(()=>t(Qs()),50)),Wt.set(e,Ht)),(await Wt.get(e))?.get(e)??Ft}async function Qs(){let e=Ut;Ut=[],Ht=void 0;let t=new Map;for(let n=0;n<e.length;n+=Ye){let s=e.slice(n,n+Ye).map(r=>["message",r]),i=await tt(`/feedback/?${new URLSearchParams(s)}`);for(let[r,o]of Object.entries(i?.feedback??{}))t.set(r,o)}return t}function Qe(e){return!e||!document.getElementById("main")?.dataset.feedback?G:R`<chat-feedback .message=${e}></chat-feedback>`}var Gt=class extends Gs{static properties={message:{attribute:!1},given:{state:!0},isOpen:{state:!0},said:{state:!0},problem:{state:!0}};constructor(){super(),this.message="",this.given=Ft,this.isOpen=!1,this.said="",this.problem=""}createRenderRoot(){return this}willUpdate(t){t.has("message")&&this.#t(this.message)}async#t(t){let n=await Ys(t);t===this.message&&!this.given.rating&&(this.given=n)}render(){return R`<span class="thumbs">${this.#e("up","Good answer")}${this.#e("down","Bad answer")}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem?R`<p class="feedback-problem" role="alert">${this.problem}</p>`:G}
      ${this.isOpen?this.#n():G}`}#e(t,n){let s=this.given.rating===t;return R`<button
      type="button"
      class="quiet thumb"
      data-rating=${t}
      title=${n}
      aria-pressed=${String(s)}
      aria-expanded=${s?String(this.isOpen):G}
      @click=${()=>this.#r(t)}
    >
      ${l(`thumbs-${t}`)}<span class="visually-hidden">${n}</span>
    </button>`}#n(){let{rating:t,reason:n,comment:s,shares_transcript:i}=this.given,r=`feedback-${this.message}`;return R`<form class="feedback-form" aria-label="Your feedback" @submit=${this.#o} @keydown=${this.#l}>
      ${t==="down"?R`<div>
            <label for="${r}-reason">What is wrong with it? (optional)</label>
            <select id="${r}-reason" name="reason">
              <option value="">Choose a reason</option>
              ${Js.map(([o,a])=>R`<option value=${o} ?selected=${o===n}>${a}</option>`)}
            </select>
          </div>`:G}
      <div>
        <label for="${r}-comment">Comment (optional)</label>
        <textarea id="${r}-comment" name="comment" rows="3" maxlength=${Ks} dir="auto"
          .value=${s}></textarea>
      </div>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${zs(i)} aria-describedby="${r}-share" />
        Send this question and answer along
      </label>
      <p class="hint" id="${r}-share">
        Those who operate this application read your rating and your comment. They read the conversation only if you send it
        along.
      </p>
      <div class="feedback-buttons">
        <button class="button primary">Send</button>
        <button type="button" class="button" @click=${()=>this.#c()}>Close</button>
        <button type="button" class="button danger" @click=${this.#i}>Remove my feedback</button>
      </div>
    </form>`}async#r(t){if(this.given.rating===t){this.isOpen=!this.isOpen;return}let n=t==="up"?"":this.given.reason;await this.#s({...this.given,rating:t,reason:n})&&(this.isOpen=!0)}async#o(t){t.preventDefault();let n=new FormData(t.target),s=o=>String(n.get(o)??""),i=n.has("shares_transcript"),r={...this.given,reason:s("reason"),comment:s("comment"),shares_transcript:i};await this.#s(r)&&this.#c()}async#s(t){let{shares_transcript:n,...s}=t,i=await Z(this.#u,n?{...s,shares_transcript:"on"}:s);return this.#a(i,"Thank you for your feedback."),i&&(this.given=t),i}async#i(){let t=await oe(this.#u);this.#a(t,"Your feedback was removed."),t&&(this.#c(),this.given=Ft)}#a(t,n){this.said=t?n:"",this.problem=t?"":Vs}#l(t){t.key==="Escape"&&(t.stopPropagation(),this.#c())}#c(){let t=this.querySelector(`[data-rating=${this.given.rating||"up"}]`);t instanceof HTMLElement&&t.focus(),this.isOpen=!1}get#u(){return`/messages/${this.message}/feedback/`}};customElements.define("chat-feedback",Gt);var zt=class extends EventTarget{all=[];take(t){JSON.stringify(t)!==JSON.stringify(this.all)&&(this.all=t,this.dispatchEvent(new CustomEvent("change")))}},N=new zt;import{html as dt,LitElement as Xs}from"../vendor/lit.js";function To(e,t){let{address:n,pinned:s,archived:i}=e;return[{name:"rename",words:"Rename",icon:"pencil"},!i&&{name:"pin",words:s?"Unpin":"Pin",icon:"pin"},!i&&{name:"go-on",words:"Go on with…",icon:"log-in"},!i&&{name:"move",words:"Move to folder…",icon:"folder"},t&&{name:"share",words:"Share…",icon:"external-link"},{name:"export",words:"Export as Markdown",icon:"download",href:`${n}download/`},{name:"export-json",words:"Export as JSON",icon:"code",href:`${n}download/?format=json`},{name:"print",words:"Print",icon:"file-text"},i?{name:"unarchive",words:"Restore from the archive",icon:"archive-restore"}:{name:"archive",words:"Archive",icon:"archive"},{name:"delete",words:"Delete",icon:"trash-2"}].filter(o=>o!==!1)}function Lo(e,t){return[{name:"folder-content",words:"Instructions and files…",icon:"file-text"},{name:"rename-folder",words:"Rename folder",icon:"pencil"},e!==t[0]&&{name:"folder-up",words:"Move up",icon:"arrow-up"},e!==t.at(-1)&&{name:"folder-down",words:"Move down",icon:"arrow-down"},{name:"delete-folder",words:"Delete folder, keep its conversations",icon:"trash-2"}].filter(s=>s!==!1)}var z=class extends Xs{static properties={items:{state:!0}};constructor(){super(),this.items=[],this.opener=null}createRenderRoot(){return this}render(){return dt`<div class="row-menu" popover role="menu" aria-label="More" @keydown=${this.#r} @toggle=${this.#o}>
      ${this.items.map(t=>this.#t(t))}
    </div>`}#t({name:t,words:n,icon:s,href:i}){let r=dt`${l(s)}${n}`;return i?dt`<a role="menuitem" tabindex="-1" href=${i} download @click=${()=>this.#s()}>${r}</a>`:dt`<button type="button" role="menuitem" tabindex="-1" data-item=${t} @click=${()=>this.#i(t)}>
      ${r}
    </button>`}async open(t,n){this.items=t,this.opener=n,await this.updateComplete;let s=this.#e;s&&(s.showPopover(),Zs(s,n.getBoundingClientRect()),this.#n[0]?.focus())}get#e(){return this.querySelector(".row-menu")}get#n(){return[...this.querySelectorAll("[role=menuitem]")].filter(t=>t instanceof HTMLElement)}#r(t){let n=this.#n,s=n.indexOf(document.activeElement),i={ArrowDown:s+1,ArrowUp:s-1,Home:0,End:-1};t.key==="Tab"&&this.#s(),t.key in i&&(t.preventDefault(),n.at(i[t.key]%n.length)?.focus())}#o(t){let n=t.newState==="open";this.opener?.setAttribute("aria-expanded",String(n)),!n&&this.contains(document.activeElement)&&this.opener?.focus()}#s(){this.opener?.focus(),this.#e?.hidePopover()}#i(t){this.#s(),this.dispatchEvent(new CustomEvent("chosen",{detail:t}))}};customElements.define("row-menu",z);function Zs(e,t){let{offsetWidth:n,offsetHeight:s}=e,r=getComputedStyle(e).direction==="rtl"?t.left:t.right-n,o=t.bottom+4,a=o+s>innerHeight-8?t.top-s-4:o;e.style.left=`${Math.max(8,Math.min(r,innerWidth-n-8))}px`,e.style.top=`${Math.max(8,a)}px`}var J=null,Xe="speechSynthesis"in window;function Ze(e,t){ht();let n=new SpeechSynthesisUtterance(e);n.lang=ei(e),n.onend=n.onerror=()=>{J===t&&(J=null,t())},J=t,speechSynthesis.speak(n)}function ht(){let e=J;J=null,speechSynthesis.cancel(),e?.()}var ti=[[/[\u0590-\u05ff]/,"he"],[/[\u0600-\u06ff]/,"ar"],[/[\u0400-\u04ff]/,"ru"],[/[\u0370-\u03ff]/,"el"],[/[\u3040-\u30ff]/,"ja"],[/[\uac00-\ud7af]/,"ko"],[/[\u4e00-\u9fff]/,"zh"]];function ei(e){let t=e.slice(0,400);return ti.find(([s])=>s.test(t))?.[1]??document.documentElement.lang??""}var si=2e3,Jt=class extends ni{static properties={answer:{attribute:!1},version:{attribute:!1},earlier:{attribute:!1},asked:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},copied:{state:!0},reading:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.earlier=[],this.asked=void 0,this.branch=void 0,this.changeable=!1,this.copied="",this.reading=!1}#t=()=>this.requestUpdate();createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),N.addEventListener("change",this.#t)}disconnectedCallback(){super.disconnectedCallback(),N.removeEventListener("change",this.#t),this.reading&&ht()}render(){let{answer:t}=this;return t?tn`<div class="answer-foot">
      <action-row .label=${"Actions of the answer"} .actions=${this.#e()}></action-row>
      ${N.all.length&&this.changeable?tn`<row-menu @chosen=${({detail:n})=>this.#s(this.asked?.id??"",n)}></row-menu>`:en}
      <span class="visually-hidden" aria-live="polite">${this.copied?"Copied":""}</span>
      ${Qe(t.message?.id)} ${me(t)}
    </div>`:en}#e(){let t=this.#i(),n=this.asked?.sending?"":this.asked?.id??"",s=(i,r)=>_(this,"branch.switch",i,r);return[...it(this.branch,"answer",!this.changeable,s),...t?[this.#n("copy","copy","Copy as Markdown",t),this.#n("text","file-text","Copy as text")]:[],...t&&Xe?[this.#r()]:[],...n&&this.changeable?[{name:"again",icon:"refresh-cw",label:"Answer again",run:()=>this.#s(n)},...N.all.length?[this.#o()]:[],{name:"delete",icon:"trash-2",label:"Delete question and answer",run:()=>_(this,"turn.delete",n,"delete")}]:[]]}#n(t,n,s,i){let r=async()=>{this.copied=await Q(i??this.#a())?t:"",setTimeout(()=>this.copied="",si)};return{name:t,icon:this.copied===t?"check":n,label:s,run:r}}#r(){let t=()=>{if(this.reading)return ht();Ze(this.#a(),()=>this.reading=!1),this.reading=!0},[n,s]=this.reading?["square","Stop reading"]:["volume-2","Read aloud"];return{name:"read",icon:n,label:s,run:t}}#o(){let t=N.all.map(({id:s,title:i})=>({name:s,words:`With ${i}`,icon:"refresh-cw"}));return{name:"again-with",icon:"ellipsis",label:"Answer again with another model",run:s=>{let i=this.querySelector("row-menu");i instanceof z&&i.open(t,s)},opensMenu:!0}}#s(t,n){let s=n?{again:t,deployment:n}:{again:t};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:s}))}#i(){return[...this.earlier,...this.answer?[this.answer]:[]].map(x).join("")}#a(){let t=new Set([...this.earlier,this.answer].map(s=>s?.id));return[...this.closest("chat-log")?.querySelectorAll("chat-answer")??[]].filter(s=>t.has(s.answer?.id)).flatMap(s=>[...s.querySelectorAll(".answer-text")]).map(s=>s.innerText).join(`
`)}};customElements.define("answer-foot",Jt);import{html as j,LitElement as ki,nothing as ft}from"../vendor/lit.js";import{html as I,nothing as un}from"../vendor/lit.js";import{html as y,nothing as pt}from"../vendor/lit.js";var nn=60;function Vt(e,t,n){let s=[...new Set([...Object.keys(e),...Object.keys(t)])];return s.length?y`<div class="arguments">
    ${s.map((i,r)=>Object.hasOwn(t,i)?ii(i,e[i],t[i],`${n}-${r}`):y`<div class="argument">
            <span class="argument-name">${i}</span>
            <span class="argument-value" dir="auto">${Kt(e[i])}</span>
          </div>`)}
  </div>`:pt}function sn(e,t,n){let s={};for(let[i,r]of Object.entries(n)){let o=e.elements.namedItem(`argument ${i}`);if(!li(o))continue;let a=oi(o,r);if(o.setCustomValidity(a===rn?"Write JSON, such as [1, 2].":""),!o.reportValidity())return null;a!==void 0&&JSON.stringify(a)!==JSON.stringify(t[i])&&(s[i]=a)}return s}function ii(e,t,n,s){let i=n.description?y`<span class="hint" id="${s}-hint">${n.description}</span>`:pt;return y`<div class="argument">
    <label class="argument-name" for=${s}>${e}</label>
    ${ri(e,t,n,s)} ${i}
  </div>`}function ri(e,t,n,s){let i=`argument ${e}`,r=n.description?`${s}-hint`:pt,o=on(n);if(n.enum)return y`<select id=${s} name=${i} aria-describedby=${r}>
      ${t===void 0?y`<option value=""></option>`:pt}
      ${n.enum.map((c,p)=>y`<option value=${p} ?selected=${ai(c,t)}>${Kt(c)}</option>`)}
    </select>`;if(o==="boolean")return y`<input type="checkbox" id=${s} name=${i} ?checked=${t===!0} aria-describedby=${r} />`;if(o==="integer"||o==="number")return y`<input type="number" id=${s} name=${i} step=${o==="integer"?"1":"any"}
      value=${t??""} ?required=${t!==void 0} aria-describedby=${r} />`;let a=t===void 0?"":Kt(t);return o==="string"&&a.length<=nn&&!a.includes(`
`)?y`<input id=${s} name=${i} dir="auto" value=${a} aria-describedby=${r} />`:y`<textarea id=${s} name=${i} dir="auto" rows=${Math.min(8,a.split(`
`).length+1)}
    .defaultValue=${a} aria-describedby=${r}></textarea>`}var rn=Symbol("invalid");function oi(e,t){if(t.enum)return e.value?t.enum[Number(e.value)]:void 0;let n=on(t);if(n==="boolean"){let s=e;return s.checked===s.defaultChecked?void 0:s.checked}if(!(e instanceof HTMLSelectElement||e.value===e.defaultValue)){if(n==="string")return e.value;if(e.value.trim()!==""){if(n==="integer"||n==="number")return Number(e.value);try{return JSON.parse(e.value)}catch{return rn}}}}function on({type:e}){return[e].flat().find(t=>t&&t!=="null")??""}function Kt(e){if(typeof e=="string")return e;let t=JSON.stringify(e)??"";return t.length<=nn?t:JSON.stringify(e,null,2)}function ai(e,t){return JSON.stringify(e)===JSON.stringify(t)}function li(e){return e instanceof HTMLInputElement||e instanceof HTMLTextAreaElement||e instanceof HTMLSelectElement}var an={"read-only":["file-text","Only reads"],changes:["pencil","Makes changes"],destructive:["triangle-alert","Destroys or overwrites something"]},ci={conversation:"Do not ask again in this conversation",application:"Do not ask again in this application"};function dn({asked:e},t,n,s){let i=e.arguments??{},r=e.editable??{};if(e.four_eyes)return I`${ln(e.because)} ${cn(e.risk)} ${Vt(i,{},t)}
      <p class="hint">Somebody else has to decide about this: ask the people who run this server.</p>`;let o=c=>{let p=sn(c,i,r);if(p===null)return;let w=new FormData(c).get("always");s({outcome:"approved",arguments:p,...w?{always:String(w)}:{}})},a=c=>s({outcome:"denied",reason:String(new FormData(c).get("reason")??"").trim()});return I`<form
    novalidate
    @submit=${c=>{c.preventDefault(),o(c.target)}}
  >
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">The call</legend>
      ${ln(e.because)} ${cn(e.risk)} ${Vt(i,r,t)} ${di(e.always??[],t)}
      <div class="argument">
        <label class="argument-name" for="${t}-reason">Reason, if you deny it (optional)</label>
        <input id="${t}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${ui(a)} />
      </div>
      <div class="interaction-buttons">
        <button class="button primary">${l("check")}Approve</button>
        <button type="button" class="button" @click=${c=>a(hn(c))}>
          ${l("x")}Deny
        </button>
      </div>
    </fieldset>
  </form>`}function ui(e){return t=>{t.key!=="Enter"||t.isComposing||(t.preventDefault(),e(hn(t)))}}function hn(e){return e.currentTarget.form}function ln(e){return e?I`<p class="because" dir="auto">${l("circle-alert")}<span>${e}</span></p>`:un}function cn(e){let[t,n]=an[e]??an.changes;return I`<p class="risk" data-risk=${e}>${l(t)}${n}</p>`}function di(e,t){return e.length?I`<fieldset class="choices">
    <legend class="argument-name">Next time</legend>
    ${[["","Ask again"],...e.map(n=>[n,ci[n]??n])].map(([n,s])=>I`<label class="choice" for="${t}-always-${n}">
        <input type="radio" id="${t}-always-${n}" name="always" value=${n} ?checked=${n===""} />
        <span>${s}</span>
      </label>`)}
  </fieldset>`:un}import{html as f,nothing as v}from"../vendor/lit.js";var hi={email:"email",uri:"url",date:"date"};function pn({asked:e},t,n,s){let i=e.fields??[];return f`<form @submit=${o=>{o.preventDefault();let a=o.target;s({outcome:"accepted",content:bi(a,i)})}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">Your answer</legend>
      <p class="interaction-question" dir="auto">${e.message}</p>
      ${e.mode==="url"?pi(e):i.map((o,a)=>mi(o,`${t}-${a}`))}
      <p class="hint">What you answer goes to this server. Give it no password.</p>
      <div class="interaction-buttons">
        ${e.mode==="url"?fi(e,n,s):f`<button class="button primary">${l("check")}Send</button>`}
        <button type="button" class="button" @click=${()=>s({outcome:"declined"})}>${l("x")}Decline</button>
        <button type="button" class="button" @click=${()=>s({outcome:"cancelled"})}>Cancel</button>
      </div>
    </fieldset>
  </form>`}function pi({url:e,host:t,repeats:n}){return f`<p>It wants you to open a page of <strong class="interaction-host">${t}</strong>.</p>
    <p class="hint argument-value">${e}</p>
    ${n?f`<p class="hint">Come back when you are done there: then the tool is called again.</p>`:v}`}function fi(e,t,n){if(!t)return v;let s=()=>n({outcome:"accepted"}),i=r=>f`<a class="button primary" href=${e.url}
    target="_blank" rel="noopener noreferrer" @click=${r?s:v}>Open ${e.host}</a>`;return e.repeats?f`${i(!1)}
    <button type="button" class="button" @click=${s}>${l("check")}Done</button>`:i(!0)}function mi(e,t){let n=e.hint?f`<span class="hint" id="${t}-hint">${e.hint}</span>`:v;return e.type==="choices"?$i(e,t,n):f`<div class="argument">
    <label class="argument-name" for=${t} dir="auto">${e.label}${e.required||e.type==="boolean"?"":" (optional)"}</label>
    ${gi(e,t)} ${n}
  </div>`}function gi(e,t){let{name:n,required:s}=e,i=e.hint?`${t}-hint`:v;return e.type==="boolean"?f`<input type="checkbox" id=${t} name="field ${n}" ?checked=${e.default===!0} aria-describedby=${i} />`:e.type==="choice"?f`<select id=${t} name="field ${n}" ?required=${s} aria-describedby=${i}>
      <option value=""></option>
      ${e.options?.map(({value:r,label:o})=>f`<option value=${r} ?selected=${r===e.default}>${o}</option>`)}
    </select>`:e.type==="string"?f`<input type=${hi[e.format??""]??"text"} id=${t} name="field ${n}" dir="auto"
      value=${e.default??""} ?required=${s} minlength=${e.least??v} maxlength=${e.most??2e4}
      aria-describedby=${i} />`:f`<input type="number" id=${t} name="field ${n}" step=${e.type==="integer"?"1":"any"}
    value=${e.default??""} ?required=${s} min=${e.least??v} max=${e.most??v}
    aria-describedby=${i} />`}function $i(e,t,n){let s=Array.isArray(e.default)?e.default:[];return f`<fieldset class="choices" aria-describedby=${e.hint?`${t}-hint`:v}>
    <legend class="argument-name" dir="auto">${e.label}</legend>
    ${e.options?.map(({value:i,label:r},o)=>f`<label class="choice" for="${t}-${o}">
        <input type="checkbox" id="${t}-${o}" name="field ${e.name}" value=${i} ?checked=${s.includes(i)} />
        <span dir="auto">${r}</span>
      </label>`)}
    ${n}
  </fieldset>`}function bi(e,t){let n=new FormData(e),s=t.map(({name:i,type:r,required:o})=>{let a=n.getAll(`field ${i}`).map(String);return r==="boolean"?[i,a.length>0]:r==="choices"?[i,a.length||o?a:void 0]:a[0]?[i,r==="string"||r==="choice"?a[0]:Number(a[0])]:[i,void 0]});return Object.fromEntries(s.filter(([,i])=>i!==void 0))}import{html as D,nothing as K}from"../vendor/lit.js";function fn({asked:e},t,n,s,i){let r=e.input!=="text"&&e.options?.length>0;return D`<form @submit=${a=>{a.preventDefault();let c=new FormData(a.target),p=c.getAll("choice").map(String),w=String(c.get("text")??"").trim();i(p.length||w?{outcome:"answered",choices:p,text:w}:null)}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">Your answer</legend>
      ${e.title?D`<p class="interaction-question" dir="auto">${e.question}</p>`:K}
      ${r?yi(e.options,e.input==="multiple",e.question,t):K}
      ${!r||e.freeform!==!1?wi(r,t):K}
      ${s?D`<p class="field-error" role="alert">${s}</p>`:K}
      <div class="interaction-buttons">
        <button class="button primary">${l("check")}Answer</button>
        <button type="button" class="button" @click=${()=>i({outcome:"skipped",choices:[],text:""})}>
          Skip
        </button>
      </div>
    </fieldset>
  </form>`}function yi(e,t,n,s){return D`<fieldset class="choices">
    <legend class="visually-hidden">${n}</legend>
    ${e.map(({label:i,description:r},o)=>D`<label class="choice" for="${s}-${o}">
        <input type=${t?"checkbox":"radio"} id="${s}-${o}" name="choice" value=${i} />
        <span dir="auto">${i}${r?D`<span class="hint">${r}</span>`:K}</span>
      </label>`)}
  </fieldset>`}function wi(e,t){return D`<div class="argument">
    <label class="argument-name" for="${t}-text">${e?"In your own words (optional)":"Your answer"}</label>
    <textarea id="${t}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${i=>{i.key!=="Enter"||i.shiftKey||i.isComposing||(i.preventDefault(),i.target.form?.requestSubmit())}}></textarea>
  </div>`}import{html as xi}from"../vendor/lit.js";function mn({asked:e},t,n){return xi`<p>
      You sign in at <strong>${e.host}</strong>. Tools then use your account there when they call
      <strong>${e.server}</strong>.
    </p>
    <div class="interaction-buttons">
      <a class="button primary" href="/connect/${encodeURIComponent(e.account)}/" target="_blank" rel="noopener"
        >${l("external-link")}Connect<span class="visually-hidden"> (opens a new tab)</span></a
      >
      <button type="button" class="button" ?disabled=${!t} @click=${()=>n({outcome:"skipped"})}>
        Skip
      </button>
    </div>`}var Qt=1e3,vi=0,Yt=class extends ki{static properties={interaction:{attribute:!1},version:{attribute:!1},status:{attribute:!1},problem:{state:!0}};#t=`interaction-${vi+=1}`;#e=0;constructor(){super(),this.interaction=void 0,this.version=0,this.status="waiting",this.problem=""}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),this.#e=setInterval(()=>this.#n&&this.requestUpdate(),Qt)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#e)}get#n(){return this.interaction!==void 0&&!this.interaction.resolved&&!Oi(this.status)}focus(){let t=this.querySelector("section");t?.scrollIntoView({block:"nearest"}),t?.focus({preventScroll:!0})}render(){let{interaction:t}=this;if(!t)return ft;if(t.kind==="client_tool")return this.#n?Ci(t):ft;if(!this.#n)return Ti(t);let{asked:n,due:s}=t;return j`<section class="interaction" tabindex="-1" aria-labelledby="${this.#t}-title" @keydown=${Si}>
      <div class="interaction-head">
        <h3 id="${this.#t}-title" dir="auto">${Xt(n)}</h3>
        ${s===null?ft:j`<span class="time-left" role="timer" aria-live="off">${Ei(s)}</span>`}
      </div>
      ${this.#r(t)}
    </section>`}#r(t){let n=bt(t,this.status)&&!t.sending,s=i=>this.#o(t,i);return t.kind==="approval"?dn(t,this.#t,n,s):t.kind==="question"?fn(t,this.#t,n,this.problem,s):t.kind==="elicitation"?pn(t,this.#t,n,s):t.kind==="sign_in"?mn(t,n,s):j`<p class="hint">This cannot be answered on this page.</p>`}#o({key:t,kind:n},s){this.problem=s?"":"Choose or write something, or skip the question.",s&&this.dispatchEvent(new CustomEvent("answer",{bubbles:!0,detail:{key:t,kind:n,answer:s}}))}};customElements.define("chat-interaction",Yt);function Si(e){e.key!=="Escape"||e.isComposing||(e.preventDefault(),document.getElementById("question")?.focus())}function Xt(e){return e.title||e.question||e.name||"The answer needs you"}function Oi(e){return e==="done"||e==="failed"||e==="stopped"}function Ei(e){let t=Math.ceil(e-Date.now()/Qt);return t>0?`${g(t).replace(/\.0 s$/," s")} left`:"The time is over"}function Ci({asked:e,isHere:t}){return j`<p class="decision">
    ${l("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${Xt(e)}</span>
      <span>${t?"On this page":"On the page that asked"}</span>
    </span>
  </p>`}function Ti(e){let{resolved:t}=e,n=["approved","answered","accepted","connected"].includes(t?.answer.outcome??"");return j`<p class="decision">
    ${l(n?"check":"x")}
    <span>
      <span class="decision-title" dir="auto">${Xt(e.asked)}</span>
      <span>${Li(e)}</span>
      ${t?.answer.always?j`<a href="/approvals/">Ask again from now on…</a>`:ft}
    </span>
  </p>`}function Li({kind:e,resolved:t}){if(!t)return"Not decided: the answer ended before.";let{answer:n,by:s,at:i}=t,r=pe(new Date(i*Qt).toISOString()),o=`by ${s||"nobody"}, ${r}`,a=Object.keys(n.arguments??{});switch(n.outcome){case"approved":return`Approved ${o}${a.length?`, with changed ${a.join(", ")}`:""}.`;case"denied":return`Denied ${o}${n.reason?`: ${n.reason}`:"."}`;case"answered":return`Answered ${o}: ${[...n.choices??[],n.text].filter(Boolean).join(", ")}`;case"accepted":return`Answered ${o}.`;case"declined":return`Declined ${o}.`;case"cancelled":return`Cancelled ${o}.`;case"lost":return"Not answered: the call ended before.";case"connected":return`Connected ${o}.`;case"skipped":return`Skipped ${o}.`;default:return e==="approval"?`Nobody decided in time, so it was not done (${r}).`:`Nobody answered in time (${r}).`}}import{html as B,LitElement as Ri,nothing as V}from"../vendor/lit.js";var Zt="steps",qi=["none","compact","full"],gt=new EventTarget,gn=mt(Ai());addEventListener("storage",({key:e,newValue:t})=>{e===Zt&&bn(mt(t))});function $n(){return gn}function ha(e){try{localStorage.setItem(Zt,mt(e))}catch{}bn(mt(e))}function bn(e){gn=e,gt.dispatchEvent(new Event("change"))}function mt(e){return qi.find(t=>t===e)??"full"}function Ai(){try{return localStorage.getItem(Zt)}catch{return null}}var te=class extends Ri{static properties={steps:{attribute:!1},list:{attribute:!1}};constructor(){super(),this.steps=[],this.list=V,this.redraw=()=>this.requestUpdate()}connectedCallback(){super.connectedCallback(),gt.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),gt.removeEventListener("change",this.redraw)}createRenderRoot(){return this}render(){let t=$n(),n=this.steps.flatMap(wn);if(t==="full"||t==="compact"&&n.length===1)return this.list;let s=n.findLast(({state:r})=>r==="running"),i=n.filter(({state:r})=>r==="failed").length;return t==="none"?s||i?B`<div class="step activity" data-state=${s?"running":"failed"}><div class="step-line">${yn(n,s,i)}</div></div>`:V:B`<details class="step activity" data-state=${s?"running":i?"failed":"done"}>
      <summary class="step-line">${yn(n,s,i)}${l("chevron-right")}</summary>
      ${this.list}
    </details>`}};customElements.define("step-activity",te);function yn(e,t,n){let s=e.reduce((r,o)=>r+(o.seconds??0),0),i=e.length===1?"1 step":`${e.length} steps`;return B`<span class="step-mark">${l(t?"loader-circle":n?"x":"check")}</span>
    <span class="step-title" dir="auto">${t?t.title:i}</span>
    ${t?B`<span class="step-state">${i}</span>`:V}
    ${n?B`<span class="step-state step-failures">${n===1?"1 failed":`${n} failed`}</span>`:V}
    ${t?V:B`<span class="step-time">${g(s)}</span>`}`}function wn(e){return[e,...e.children.flatMap(wn)]}var ee=class extends Di{static properties={answer:{attribute:!1},version:{attribute:!1},asked:{attribute:!1},earlier:{attribute:!1},goesOn:{attribute:!1},isLast:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},opened:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.asked=void 0,this.earlier=[],this.goesOn=!1,this.isLast=!1,this.branch=void 0,this.changeable=!1,this.opened="",this.addEventListener("helper-open",t=>{this.opened=t.detail})}createRenderRoot(){return this}render(){let{answer:t}=this;if(!t)return m;let n=P(t.status);return h`
      ${this.earlier.length?m:h`<h2 class="visually-hidden">Answer</h2>`}
      ${Mi(t.parts,s=>s,s=>this.#e(t,s,n))}
      ${at(t.attachments,t.annotations)}
      ${t.continued?h`<p class="notice">${l("refresh-cw")}Continued after an interruption.</p>`:m}
      ${n?_i(t):this.#n(t)} ${this.#t(t)}
    `}updated(){let t=this.querySelector("dialog.helper");t instanceof HTMLDialogElement&&!t.open&&t.showModal()}#t(t){let n=t.steps.get(this.opened);return n?ze(n,{redraw:()=>this.requestUpdate(),close:()=>this.opened=""}):m}#e(t,n,s){if(n.kind==="steps")return h`<step-activity .steps=${n.steps}
        .list=${H(n.steps,()=>this.requestUpdate(),t.expired)}></step-activity>`;if(n.kind==="notice")return h`<p class="notice" dir="auto">${l("circle-alert")}${n.text}</p>`;if(n.kind==="interaction")return h`<chat-interaction .interaction=${n.interaction} .version=${t.version}
        .status=${t.status}></chat-interaction>`;let i=!s||n!==t.parts.at(-1);return h`<markdown-text class="answer-text" .text=${n.text} .complete=${i}
      .annotations=${[...t.annotations]}
      .sources=${U(t.attachments)}></markdown-text>`}#n(t){return h`${t.status==="failed"?this.#a(t):m}
      ${t.status==="stopped"?this.#o(t):m}
      ${t.status==="done"&&!this.goesOn?this.#r(t):m}
      ${Ve(t.message?.memories)}
      ${this.goesOn?m:h`<answer-foot .answer=${t} .version=${t.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable}></answer-foot>`}`}#r(t){return t.message?.finish_reason!=="length"?Ni(t):h`<div class="stopped">
      <p class="notice">${l("triangle-alert")}Cut off: the answer became too long for the model.</p>
      ${this.#i("Continue",{continues:t.message.id})}
    </div>`}#o(t){let n=x(t).trim()?"The answer is not complete.":"There is no answer.";return h`<div class="stopped">
      <p class="notice">${l("circle-alert")}<span><strong>Stopped.</strong> ${n}</span></p>
      ${this.#s()}
    </div>`}#s(){return this.asked&&!this.asked.sending?this.#i("Try again",{again:this.asked.id}):m}#i(t,n){return!this.isLast||!this.changeable?m:h`<button type="button" class="button" @click=${()=>this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:n}))}>${l("refresh-cw")}${t}</button>`}#a(t){let{error:n}=t;return h`<div class="failure">
      ${l("triangle-alert")}
      <div>
        <p>${n?.text??"The answer could not be finished."}</p>
        ${n?.reference?h`<p class="failure-reference">Reference: <code>${n.reference}</code></p>`:m}
        ${this.#s()}
      </div>
    </div>`}};customElements.define("chat-answer",ee);function _i(e){let t=Ii(e);return h`<p class="working"><span class="dots" aria-hidden="true"></span>${t}…</p>`}function Ni(e){return e.message&&!x(e).trim()&&!e.attachments.length?h`<p class="notice">The model had nothing to say.</p>`:m}function Ii(e){return e.status==="queued"?"Waiting for its turn":e.status==="waiting"?ce(e)?"Waiting for you":L(e).some(et)?"Working on the page":"Waiting for somebody else":e.parts.length?"Working":"Thinking"}var ne=class extends ji{static properties={turns:{attribute:!1,hasChanged:Pi},state:{attribute:!1},last:{attribute:!1},branches:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},summary:{attribute:!1},near:{attribute:!1}};constructor(){super(),this.turns=[],this.state="",this.last=!1,this.branches={},this.changeable=!1,this.limit=1/0,this.summary=null,this.near=!0,this.height=0,this.addEventListener("focusout",()=>this.requestUpdate())}createRenderRoot(){return this}place(t,n){this.classList.contains("resting")||(this.height=n),this.near=t}render(){let t=this.#t();return this.classList.toggle("resting",t),this.style.blockSize=t?`${this.height}px`:"",t?this.#e():$t`${Bi(this.turns,({turn:n})=>`${n.role} ${n.id}`,n=>n.turn.role==="user"?this.#n(n.turn):this.#r(n.turn,n))}`}#t(){if(this.near||this.last||!this.height||this.contains(document.activeElement))return!1;let t=document.getSelection();return!t||t.isCollapsed||!t.containsNode(this,!0)}#e(){let t=this.turns.map(({turn:n})=>n.role==="user"?n.text:x(n)).join(`
`);return $t`<div hidden="until-found" @beforematch=${()=>this.near=!0}>${t}</div>`}#n(t){return $t`<chat-question
      class="turn question"
      id="message-${t.id}"
      .question=${t}
      .state=${t.sending?"sending":"stored"}
      .branch=${this.branches[t.id]}
      .changeable=${this.changeable&&!t.sending}
      .limit=${this.limit}
    ></chat-question>`}#r(t,{asked:n,earlier:s,goesOn:i,isLast:r}){let o=ot(t);return $t`<chat-answer
        class="turn answer"
        id=${o?`message-${o}`:xn}
        .answer=${t}
        .version=${t.version}
        .asked=${n}
        .earlier=${s}
        .goesOn=${i}
        .isLast=${r}
        .branch=${this.branches[s[0]?.id??t.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary&&this.summary.after===t.id?$e(this.summary):xn}`}};customElements.define("chat-turns",ne);function kn(e){return e.map(({turn:t})=>t.role==="user"?Number(t.sending):t.version).join()}function Pi(e,t){return e.length!==t?.length||e.some((n,s)=>Wi(n,t[s]))}function Wi(e,t){return e.turn!==t.turn||e.asked!==t.asked||e.earlier.length!==t.earlier.length||e.goesOn!==t.goesOn||e.isLast!==t.isLast}var Hi=200,Gi=3e3,zi="1200px 0px",Ji="800px 0px",se=class extends Fi{static properties={turns:{attribute:!1},loaded:{attribute:!1},busy:{attribute:!1},branches:{attribute:!1},deleting:{state:!0},heading:{attribute:!1},description:{attribute:!1},starters:{attribute:!1},ended:{attribute:!1},application:{attribute:!1},summary:{attribute:!1},problem:{attribute:!1}};#t=new IntersectionObserver(t=>this.#l(t),{rootMargin:zi});#e=new IntersectionObserver(t=>this.#c(t),{rootMargin:Ji});constructor(){super(),this.turns=[],this.loaded=!0,this.busy=!1,this.branches={},this.deleting=null,this.limit=1/0,this.addEventListener("branch-change",t=>this.#n(t)),this.heading="",this.description="",this.application={letters:"",tile:""},this.ended=!1,this.summary=null,this.problem="",this.starters={intro_text:"",auto_submit:!0,chat_message_input_disabled:!1,starters:[]}}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),addEventListener("beforeprint",this.#i),addEventListener("afterprint",this.#a)}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("beforeprint",this.#i),removeEventListener("afterprint",this.#a),this.#t.disconnect(),this.#e.disconnect()}render(){return this.loaded?this.turns.length?S`${Ui(De(Re(this.turns)),({key:t})=>t,t=>t.missing?this.#h(t.missing):this.#u(t.turns))}
    ${this.starters.chat_message_input_disabled&&!this.busy?this.#d():Y}
    ${this.deleting?this.#r(this.deleting):Y}`:this.#p():S`<p class="loading working">Loading the conversation…</p>`}#n(t){let{type:n,message:s,isConfirmed:i}=t.detail;n!=="turn.delete"||i||(t.stopImmediatePropagation(),this.deleting={message:s,origin:t.target})}#r({message:t,origin:n}){let s=this.turns.find(({id:o})=>o===t),i=()=>{this.deleting=null,n.querySelector("action-row")?.focusOn("delete")},r=()=>{this.deleting=null;let o={type:"turn.delete",message:t,name:"delete",isConfirmed:!0};this.dispatchEvent(new CustomEvent("branch-change",{detail:o}))};return _e({text:s?.role==="user"?s.text.slice(0,Hi):"",cancel:i,confirm:r})}updated(){let t=this.querySelector("dialog.turn-deletion");t instanceof HTMLDialogElement&&!t.open&&t.showModal();for(let n of this.#s)this.#t.observe(n);if(this.#e.disconnect(),!this.problem)for(let n of this.querySelectorAll(".gap"))this.#e.observe(n)}async keepPlace(t){let n=[...this.querySelectorAll(".turn")].find(i=>i.getBoundingClientRect().bottom>0),s=n?.getBoundingClientRect().top??0;t(),await this.#o(),n?.isConnected&&scrollBy({top:n.getBoundingClientRect().top-s,behavior:"instant"})}async#o(){await this.updateComplete,await Promise.all(this.#s.map(n=>n.updateComplete));let t=[...this.querySelectorAll("chat-answer")];await Promise.all(t.map(n=>n.updateComplete))}async reveal(t){let n=this.turns.find(r=>ot(r)===t);await this.updateComplete;let s=n&&this.#s.find(({turns:r})=>r.some(o=>o.turn===n));if(!s)return!1;s.near=!0,await this.#o();let i=document.getElementById(`message-${t}`);return i?(i.tabIndex=-1,i.scrollIntoView({block:"start",behavior:"instant"}),i.focus({preventScroll:!0}),i.toggleAttribute("data-found",!0),setTimeout(()=>i.removeAttribute("data-found"),Gi),!0):!1}get#s(){return[...this.querySelectorAll("chat-turns")].map(t=>t)}#i=()=>{for(let t of this.#s)t.near=!0};#a=()=>{this.#t.disconnect(),this.requestUpdate()};#l(t){this.keepPlace(()=>{for(let{target:n,isIntersecting:s,boundingClientRect:i}of t)n.place(s,i.height)})}#c(t){let s=t.find(({isIntersecting:i})=>i)?.target?.missing;s&&this.dispatchEvent(new CustomEvent("gap",{detail:s}))}#u(t){return S`<chat-turns
      .turns=${t}
      .state=${kn(t)}
      .last=${t.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy&&!this.ended}
      .limit=${this.limit}
    ></chat-turns>`}#h(t){let n=()=>this.dispatchEvent(new CustomEvent("gap",{detail:t}));return S`<div class="gap" .missing=${t}>
      ${this.problem?S`<p class="notice problem" role="alert">${l("circle-alert")}<span>${this.problem}</span></p>`:Y}
      <button type="button" class="button" @click=${n}>${t.after?"Show the next messages":"Show earlier messages"}</button>
    </div>`}#p(){return S`<div class="welcome">
      ${Ie(this.application,"large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description?S`<p class="description" dir="auto">${this.description}</p>`:Y}
      ${this.#d()}
    </div>`}#d(){let{starters:t,intro_text:n}=this.starters;return t.length?S`<section class="starters" aria-labelledby="starters-heading">
      <h3 id="starters-heading">${n||"Start with"}</h3>
      <ul>
        ${t.map(s=>S`<li>
            <button type="button" @click=${()=>this.#f(s)}>
              <span dir="auto">${s.title}</span>${l("arrow-up")}
            </button>
          </li>`)}
      </ul>
    </section>`:Y}#f(t){this.dispatchEvent(new CustomEvent("starter",{detail:t}))}};customElements.define("chat-log",se);export{N as a,L as b,Ki as c,ce as d,et as e,x as f,he as g,pe as h,ir as i,rr as j,Ot as k,ur as l,bo as m,yo as n,Yt as o,Xt as p,Li as q,ye as r,Ie as s,To as t,Lo as u,rt as v,W as w,gt as x,$n as y,ha as z,qe as A,Rt as B,se as C};
