import{a as O,b as J,c as Zt,d as te}from"./chunk-IWUFCYMG.js";import{b as Y,d as ee,f as Q}from"./chunk-TXRJREKV.js";import{a as l}from"./chunk-5OVPBSN4.js";import{a as V}from"./chunk-7DWZTKXB.js";import{html as pt,LitElement as gn,nothing as ft}from"../vendor/lit.js";var j=class extends gn{static properties={label:{attribute:!1},actions:{attribute:!1},current:{state:!0}};constructor(){super(),this.label="",this.actions=[],this.current=""}createRenderRoot(){return this}render(){let t=this.actions.some(({name:n})=>n===this.current)?this.current:this.actions[0]?.name;return pt`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#n}>
      ${this.actions.map(n=>this.#t(n,n.name===t))}
    </div>`}focusOn(t){let n=this.#e();(n.find(s=>s.dataset.action===t)??n[0])?.focus()}#t({name:t,icon:n,label:s,run:i,pressed:r,disabled:o,after:a},c){let p=()=>{o||i()};return pt`<button type="button" class="quiet" data-action=${t} title=${s} aria-label=${s}
        tabindex=${c?0:-1} aria-pressed=${r===void 0?ft:String(r)}
        aria-disabled=${o?"true":ft} @click=${p} @focus=${()=>this.current=t}>
        ${l(n)}
      </button>${a?pt`<span class="actions-place">${a}</span>`:ft}`}#e(){return[...this.querySelectorAll("button")]}#n(t){let n=this.#e(),s=n.indexOf(document.activeElement),i=getComputedStyle(this).direction==="rtl"?"ArrowLeft":"ArrowRight",r=i==="ArrowLeft"?"ArrowRight":"ArrowLeft",a={[i]:s+1,[r]:s-1,Home:0,End:-1}[t.key];s<0||a===void 0||(t.preventDefault(),n.at(a%n.length)?.focus())}};customElements.define("action-row",j);function X(e,t,n,s){if(!e)return[];let{ids:i,at:r}=e;return[{name:"previous",icon:"chevron-left",label:`Previous ${t}`,disabled:n||r===0,run:()=>s(i[r-1]??"","previous"),after:`${r+1}/${i.length}`},{name:"next",icon:"chevron-right",label:`Next ${t}`,disabled:n||r===i.length-1,run:()=>s(i[r+1]??"","next")}]}function D(e,t,n,s){let i={type:t,message:n,name:s};e.dispatchEvent(new CustomEvent("branch-change",{bubbles:!0,detail:i}))}function ne(e,{key:t,kind:n,asked:s,due:i}){let r=E(e).find(o=>o.key===t&&o.kind===n);if(r)Object.assign(r,{asked:s,due:i});else{let o={key:t,kind:n,asked:s,due:i,resolved:null,sending:!1};e.parts.push({kind:"interaction",interaction:o})}}function se(e,{key:t,kind:n,answer:s,by:i,at:r}){let o=E(e).find(c=>c.key===t&&c.kind===n);o&&Object.assign(o,{resolved:{answer:s,by:i,at:r},sending:!1});let a=n==="client_tool"&&E(e).some(c=>Z(c));e.status==="waiting"&&!a&&(e.status="queued")}function E(e){return e.parts.flatMap(t=>t.kind==="interaction"?[t.interaction]:[])}function Gi(e){if(e?.status!=="waiting")return;let[t,...n]=E(e).filter(i=>!i.resolved);return t?.kind==="question"&&!n.length&&!t.sending&&(t.asked.input==="text"||t.asked.freeform!==!1)?t:void 0}function ie(e){if(!e)return;let{status:t}=e;return E(e).find(n=>!n.asked.four_eyes&&!Z(n)&&mt(n,t))}function Z({kind:e,resolved:t}){return e==="client_tool"&&!t}function mt({kind:e,resolved:t},n){return!t&&(n==="waiting"||e==="elicitation"&&n==="running")}function B(e){return e==="queued"||e==="running"||e==="waiting"}function x(e){return e.parts.map(t=>t.kind==="text"?t.text:"").join("")}function re(e,t){switch(e.version+=1,t.type){case"run.status":return gt(e,t.status);case"message.delta":return $n(e,t.text);case"stage.opened":return wn(e,t);case"stage.delta":return kn(e,t);case"stage.closed":return vn(e,t);case"attachment.added":e.attachments.push(t.attachment);return;case"annotation.added":e.annotations.push(t.annotation);return;case"notice.added":return yn(e,t.notice,t.text);case"helper.began":return xn(e,t);case"helper.ended":for(let{helper:n}of e.steps.values())n?.key===t.key&&(n.state=t.status);return;case"run.continued":e.continued=!0;return;case"answer.restarted":return bn(e,t);case"interaction.requested":return ne(e,t);case"interaction.resolved":return se(e,t);case"run.error":e.error={text:t.text,reference:t.reference};return;case"message.complete":return Sn(e,t.message)}}function gt(e,t){if(e.status=t,e.version+=1,!B(t))for(let n of e.steps.values())n.state==="running"&&(n.state="stopped"),n.helper?.state==="running"&&(n.helper.state="stopped")}function $n(e,t){let n=e.parts.at(-1);n?.kind==="text"?n.text+=t:e.parts.push({kind:"text",text:t})}function bn(e,{text:t,attachments:n,annotations:s}){e.attachments=n,e.annotations=s;let i=t.length;if(!x(e).startsWith(t))oe(e,t);else{for(let r of e.parts)r.kind==="text"&&(r.text=r.text.slice(0,i),i-=r.text.length);e.parts=e.parts.filter(r=>r.kind!=="text"||r.text)}}function yn(e,t,n){let s=e.parts.find(i=>i.kind==="notice"&&i.id===t);s?.kind==="notice"?s.text=n:e.parts.push({kind:"notice",id:t,text:n})}function oe(e,t){e.parts=e.parts.filter(n=>n.kind!=="text"),t&&e.parts.push({kind:"text",text:t})}function wn(e,t){let n=e.steps.get(t.stage);if(n){Object.assign(n,{title:t.title,text:"",length:0,state:"running",attachments:[]});return}let s={id:t.stage,title:t.title,text:"",length:0,state:"running",seconds:null,attachments:[],children:[],unfolded:!1};e.steps.set(s.id,s);let i=t.parent===null?void 0:e.steps.get(t.parent);if(i){i.children.push(s);return}let r=e.parts.at(-1);r?.kind==="steps"?r.steps.push(s):e.parts.push({kind:"steps",steps:[s]})}function xn(e,{stage:t,key:n,name:s,agent:i}){let r=e.steps.get(t);r&&(r.helper={key:n,name:s,agent:i,state:"running"})}function kn(e,t){let n=e.steps.get(t.stage);n&&(t.text&&(n.text+=t.text),t.length&&(n.length=t.length),t.title&&(n.title+=t.title),t.attachment&&n.attachments.push(t.attachment))}function vn(e,t){let n=e.steps.get(t.stage);n&&(n.state=t.failed?"failed":"done",n.seconds=t.seconds)}function Sn(e,t){e.message=t,e.attachments=t.attachments??[],!(t.text===void 0||x(e)===t.text)&&oe(e,t.text)}var ae=class e{turns=[];title="";todo="";last=0;awaiting=!1;branches={};#t=[];#e=new Map;constructor(t){this.id=t}get running(){let t=this.turns.findLast(n=>n.role==="assistant");return t&&B(t.status)?t:null}take(t){if(t.conversation!==this.id||t.seq<=this.last)return!1;if(this.last=t.seq,this.awaiting=t.type==="message.added",t.type==="todo.changed"&&(this.todo=t.text),t.type==="message.complete"&&(this.todo=t.message.todo??this.todo),t.type==="message.added")this.#s(t.message,t.run);else if(t.type==="attempt.replaced")this.#n(t.replaced);else{if(t.type==="branches.changed")return!0;re(this.#o(t.run),t)}return!0}expect({id:t,text:n,attachments:s,again:i,edits:r,continues:o}){let a=this.turns.findIndex(p=>p.role==="user"&&p.id===(i??r));if(this.#t=a<0?[]:this.turns.splice(i?a+1:a),i)return;let c={role:"user",id:t,at:this.#r,text:n,attachments:s,sending:!0};o&&(c.sender={kind:"continuation",title:"",untrusted:!1}),this.turns.push(c)}withdraw(t){this.turns=[...this.turns.filter(n=>n.id!==t),...this.#t],this.#t=[]}#n(t){this.turns=this.turns.filter(n=>(n.role==="user"?n.run:n.id)!==t)}insert(t){let n=new Set(this.turns.map(({at:i})=>i)),s=t.filter(({at:i})=>!n.has(i)).flatMap(i=>this.#i(i));this.turns=[...this.turns,...s].sort((i,r)=>i.at-r.at)}complete(t,n){let s=this.turns.find(a=>a.role==="assistant"&&a.id===t.run),i=this.#i(t).find(a=>a.role==="assistant");if(s?.role!=="assistant"||i?.role!=="assistant")return;let[r,o]=[s.steps.get(n),i.steps.get(n)];r&&o&&Object.assign(r,{text:o.text,length:0}),s.version+=1}#i({run:t,at:n,events:s}){let i=new e(this.id);i.#e=this.#e,s.forEach((o,a)=>i.take({...o,conversation:this.id??"",run:t,seq:a+1}));let r=(this.turns.at(-1)?.at??-1)<=n;i.todo&&r&&(this.todo=i.todo);for(let o of i.turns)o.at=n;return i.turns}get isWhole(){return this.turns.every(({at:t},n)=>t<=(this.turns[n-1]?.at??-1)+1)}get#r(){return(this.turns.at(-1)?.at??-1)+1}expire({answers:t}){this.#e=new Map(Object.entries(t).map(([n,s])=>[n,new Set(s)]));for(let n of this.turns)n.role==="assistant"&&(n.expired=this.#e.get(n.id)??new Set,n.version+=1)}settle(){this.awaiting=!1;let t=this.running;t&&gt(t,"stopped")}#s({id:t,role:n,text:s,attachments:i=[],place:r,sender:o},a){if(n!=="user")return;this.#t=[];let c=this.turns.find(g=>g.role==="user"&&(g.id===t||g.sending&&(g.text===s||On(g,o)))),p={id:t,run:a,text:s,attachments:i,place:r,sender:o,sending:!1};c?.role==="user"?Object.assign(c,p):this.turns.push({role:n,at:this.#r,...p})}#o(t){let n=this.turns.find(r=>r.role==="assistant"&&r.id===t);if(n?.role==="assistant")return n;let s=this.turns.findLast(r=>r.role==="user"),i={role:"assistant",id:t,at:s?.role==="user"&&s.run===t?s.at:this.#r,status:"queued",parts:[],steps:new Map,attachments:[],annotations:[],error:null,message:null,expired:this.#e.get(t)??new Set,continued:!1,version:0};return this.turns.push(i),i}};function On(e,t){return e.sender?.kind==="continuation"&&t?.kind==="continuation"}import{html as $t,nothing as bt}from"../vendor/lit.js";function $(e){if(e<.05)return"< 0.1 s";if(e<9.95)return`${e.toFixed(1)} s`;let t=Math.round(e);return t<60?`${t} s`:`${Math.floor(t/60)} min ${t%60} s`}function le(e){let t=new Date(e);return Number.isNaN(t.getTime())?"":t.toDateString()===new Date().toDateString()?t.toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}):t.toLocaleDateString([],{day:"numeric",month:"short"})}function ue(e){let{message:t,id:n}=e;if(!t)return bt;let s=[...Ln(t),...En(e),...Cn(e)],i=document.getElementById("main")?.dataset.requests;return!s.length&&!i?bt:$t`<details class="more-line figures">
    <summary>${l("chevron-right")}<span class="visually-hidden">Why this answer:</span>${Tn(t)}</summary>
    <dl>
      ${s.map(([r,o])=>$t`<div><dt dir="auto">${r}</dt><dd dir="auto">${o}</dd></div>`)}
    </dl>
    ${i?$t`<a href="/answers/${n}/requests/" target="_blank" rel="noopener"
          >What the model saw<span class="visually-hidden"> (a new tab)</span></a
        >`:bt}
  </details>`}function En({steps:e}){return[...e.values()].flatMap(({title:t,seconds:n})=>{let s=[t.replaceAll("`",""),n===null?"":$(n)];return s[1]?[s]:[]})}function Cn({message:e,attachments:t}){let n=(e?.memories??[]).filter(({action:r})=>r==="recalled"),s=t.filter(({reference_url:r})=>r);return[["From memory",n.map(({text:r})=>r).join("; ")],["Sources",[...new Set(s.map(({title:r,reference_url:o})=>r||o))].join("; ")]].filter(([,r])=>r)}function Tn({seconds:e,usage:t,costs:n,models:s}){let i=yt(t);return[e===void 0?"":$(e),i?`${i.toLocaleString()} tokens`:"",n?wt(n):""].filter(Boolean).join(" · ")||s?.join(", ")||"Details"}function Ln({models:e,version:t,usage:n,costs:s,first_text_seconds:i,seconds:r}){return[[e?.length===1?"Model":"Models",e?.join(", ")],["Application version",t],["Tokens in",n&&ce(n.prompt_tokens,n.cached_tokens,"from the cache")],["Tokens out",n&&ce(n.completion_tokens,n.reasoning_tokens,"for thinking")],["Cost",s&&wt(s)],["First text after",i===void 0?"":$(i)],["Duration",r===void 0?"":$(r)]].filter(([,a])=>a).map(([a,c])=>[a,String(c)])}function ce(e,t,n){return e?e.toLocaleString()+(t?`, ${t.toLocaleString()} of them ${n}`:""):""}function yt(e){return e?e.prompt_tokens+e.completion_tokens:0}function wt(e){return Object.entries(e).map(([t,n])=>qn(Number(n),t)).join(" + ")}function qn(e,t){let n=e===0||e>=1?{}:{minimumSignificantDigits:2,maximumSignificantDigits:2};return e.toLocaleString([],{style:"currency",currency:t,...n})}function tr(e){let t=e.flatMap(i=>i.role==="assistant"&&i.message?[i.message]:[]),n=t.reduce((i,{usage:r})=>i+yt(r),0),s={};for(let i of t)for(let[r,o]of Object.entries(i.costs??{}))s[r]=(s[r]??0)+Number(o);return{tokens:n,costs:s,is_partial:t.some(i=>!i.costs&&yt(i.usage))}}function er({tokens:e,costs:t,is_partial:n}){let s=wt(t);return[e?`${e.toLocaleString()} tokens`:"",s&&n?`at least ${s}`:s].filter(Boolean).join(" · ")}import{html as _,LitElement as An,nothing as xt}from"../vendor/lit.js";var Rn=[["system","Instructions"],["tools","Tools"],["user","Questions"],["assistant","Answers"],["tool_results","Results of tools"]],de={unknown:"",ok:"",warning:"nearly full",danger:"full"},Dn=.3,kt=class extends An{static properties={use:{attribute:!1}};constructor(){super(),this.use=null}createRenderRoot(){return this}render(){let{use:t}=this;return t?.total?_`<details class="gauge" data-state=${t.state}>
      <summary>${this.#t(t)}</summary>
      <div class="gauge-parts">
        <dl>
          ${Rn.map(([n,s])=>_`<div><dt>${s}</dt><dd>${tt(t[n])}</dd></div>`)}
          <div class="gauge-total"><dt>In all</dt><dd>${tt(t.total)}</dd></div>
          ${t.limit?_`<div><dt>The model reads</dt><dd>${tt(t.limit)}</dd></div>`:xt}
        </dl>
        <p>Tokens, estimated. A conversation that becomes too long is shortened for the model; here it stays whole.</p>
      </div>
    </details>`:xt}#t({ratio:t,total:n,state:s}){if(t===null)return _`<span>Context: ${tt(n)} tokens</span>`;let i=de[s]&&`, ${de[s]}`;return _`<meter min="0" max="1" .value=${t} aria-hidden="true"></meter>
      ${s==="ok"?xt:l("triangle-alert")}
      <span>Context: ${Math.round(t*100)}\u00a0%${i}</span>`}};customElements.define("chat-gauge",kt);function tt(e){return Number(e).toLocaleString()}function or(e,t,n,s){let i=async()=>{let{id:r}=n.conversation,o=r?await Q(`${s()}${r}/usage/`):null;!o||r!==n.conversation.id||(e.use=o,t.summary=o.summary,n.redraw())};n.addEventListener("switched",()=>{e.use=null,t.summary=null}),n.addEventListener("opened",r=>{r.detail.isNew||i()}),n.addEventListener("event",r=>{r.detail.type==="message.complete"&&i()}),n.addEventListener("listed",()=>{(e.use?.ratio??0)>=Dn&&i()})}function he({text:e}){return _`<details class="summary-block">
    <summary>${l("chevron-right")}Earlier conversation, summarised for the model</summary>
    <p class="summary-text" dir="auto">${e}</p>
    <p class="summary-note">The model reads this in place of everything above.</p>
  </details>`}import{html as L,LitElement as rs,nothing as T}from"../vendor/lit.js";import{html as u,nothing as we}from"../vendor/lit.js";import{html as b,LitElement as Nn,nothing as vt}from"../vendor/lit.js";var pe=["bytes","KB","MB","GB","TB"];function fe(e){if(e===1)return"1 byte";let t=e,n=0;for(;t>=1e3&&n<pe.length-1;)t/=1e3,n+=1;let s=n>0&&t<10?1:0;return`${t.toLocaleString([],{maximumFractionDigits:s})} ${pe[n]}`}var me=[",",";","	","|"];function $e(e,t){let n=Mn(e),s=[],i=[],r=0;for(;r<e.length&&s.length<t;){let{cell:o,end:a}=_n(e,r,n);if(i.push(o),r=a,e[r]===n){if(r+=1,r<e.length)continue;i.push("")}e[r]==="\r"&&e[r+1]===`
`&&(r+=1),r+=1,s.push(i),i=[]}return s}function _n(e,t,n){if(e[t]!=='"')return ge(e,t,n);let s="",i=t+1;for(;;){let r=e.indexOf('"',i);if(r<0)return{cell:s+e.slice(i),end:e.length};if(s+=e.slice(i,r),e[r+1]!=='"'){let o=ge(e,r+1,n);return{cell:s+o.cell,end:o.end}}s+='"',i=r+2}}function ge(e,t,n){let s=t;for(;s<e.length&&e[s]!==n&&e[s]!==`
`&&e[s]!=="\r";)s+=1;return{cell:e.slice(t,s),end:s}}function Mn(e){let[t]=e.split(/\r?\n/,1),n=me.map(s=>t.split(s).length);return me[n.indexOf(Math.max(...n))]}var St=2e5,be=100,In=/^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i,jn=/^text\/(?:csv|tab-separated-values)$/i;function ye(e){return In.test(e.split(";")[0].trim())}var Ot=class extends Nn{static properties={address:{attribute:!1},name:{attribute:!1},type:{attribute:!1},text:{state:!0},size:{state:!0},problem:{state:!0}};constructor(){super(),this.address="",this.name="",this.type="",this.text=null,this.size=0,this.problem=""}createRenderRoot(){return this}render(){return b`<details class="attachment words" @toggle=${this.#i}>
      <summary>
        ${l("chevron-right")}${l("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#t()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${l("download")}Download</a>
        ${/^text\/html\b/i.test(this.type)?b`<button type="button" class="link" @click=${this.#n}>${l("eye")}Preview</button>`:vt}
        ${this.size>St?b`<span>The beginning of ${fe(this.size)}</span>`:vt}
      </p>
    </details>`}#t(){if(this.problem)return b`<p class="field-error" role="alert">${this.problem}</p>`;if(this.text===null)return b`<p class="working">Loading…</p>`;if(jn.test(this.type))return this.#e($e(this.text,be+1));let t=this.type==="text/markdown"?this.text:Bn(this.text,this.name);return b`<markdown-text .text=${t} .complete=${!0}></markdown-text>`}#e([t=[],...n]){let s=n.length>=be||this.size>St;return b`<div class="prose-table table" tabindex="0" role="group" aria-label="Table ${this.name}">
        <table>
          <thead>
            <tr>
              ${t.map(i=>b`<th scope="col">${i}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${n.map(i=>b`<tr>${i.map(r=>b`<td>${r}</td>`)}</tr>`)}
          </tbody>
        </table>
      </div>
      ${s?b`<p class="preview-foot">The first ${n.length} rows</p>`:vt}`}async#n({currentTarget:t}){let{openFile:n}=await import("./artifact-panel-U3OXVHMW.js");try{await n(this.address,this.name,"html",t)}catch{this.problem="The file could not be loaded. Check the connection and try again."}}async#i(t){if(!(!t.target.open||this.text!==null)){this.problem="";try{let s=await fetch(this.address,{headers:{Range:`bytes=0-${St-1}`}});if(!s.ok){this.problem=s.status===404?"The file is no longer there.":"The file cannot be shown.";return}let i=s.headers.get("Content-Range")?.split("/")[1],r=new Uint8Array(await s.arrayBuffer());this.size=Number(i??r.length),this.text=Pn(r)}catch{this.problem="The file could not be loaded. Check the connection, fold this and unfold it again."}}}};customElements.define("file-preview",Ot);function Bn(e,t){let n=Math.max(2,...[...e.matchAll(/`+/g)].map(([r])=>r.length)),s="`".repeat(n+1),i=t.match(/\.(\w{1,12})$/)?.[1]??"";return`${s}${i}
${e.replace(/\n$/,"")}
${s}`}function Pn(e){if(e[0]===255&&e[1]===254)return new TextDecoder("utf-16le").decode(e);if(e[0]===254&&e[1]===255)return new TextDecoder("utf-16be").decode(e);try{return new TextDecoder("utf-8",{fatal:!0}).decode(e,{stream:!0})}catch{return new TextDecoder("windows-1252").decode(e)}}var xe=/^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i,Wn=/^(audio|video)\/[\w.+-]+$/i,Fn=/^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;function et(e){if(!e.length)return we;let t=e.filter(ke).length;return u`<ul class="attachments ${t>1?"gallery":""}" aria-label="Attachments">
    ${e.map(n=>u`<li>${Un(n)}</li>`)}
  </ul>`}function ke(e){return xe.test(e.type??"")?zn(e):""}function Un(e){let{type:t="",data:n}=e,s=ke(e);if(s)return Hn(e,s);let i=Wn.exec(t)?.[1].toLowerCase();if(i){let o=Kn(e);if(o)return Vn(e,i,o)}if(n&&Fn.test(t))return Jn(e,n);if(n)return Yn(e,n);let r=J(e.url??"");return r?Gn(e,r.pathname):Xn(e)}function Gn(e,t){let{type:n=""}=e,s=C(e);if(ye(n))return u`<file-preview .address=${t} .name=${s} .type=${n}></file-preview>`;let i=n.split(";")[0];return/^application\/pdf$/.test(n)?u`<a class="attachment file" href=${t} target="_blank" rel="noopener">
      ${l("file-text")}${P(e,i)}${l("external-link")}
    </a>`:u`<a class="attachment file" href="${t}?download" download=${s}>
    ${l("file-text")}${P(e,i)}${l("download")}
  </a>`}function zn({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:t&&/^data:image\//i.test(t)?t:t&&ts(t)?O(t)?.href??"":""}function Hn(e,t){let n=J(e.url??""),s=C(e),i=u`<img src=${t} alt=${s} loading="lazy" @error=${Zn} />`;return u`<figure class="attachment picture">
    ${n?u`<a href=${n.pathname} target="_blank" rel="noopener" data-zoom>${i}</a>`:u`<button type="button" class="zoom" data-zoom>${i}</button>`}
    <figcaption>
      ${n?u`<a href=${n.pathname} target="_blank" rel="noopener">${s}</a>`:s}
      ${ve(e)}
    </figcaption>
  </figure>`}function Kn({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:J(t??"")?.pathname??""}function Vn(e,t,n){let s=C(e);return u`<figure class="attachment media">
    ${t==="audio"?u`<audio controls preload="metadata" src=${n} aria-label=${s}></audio>`:u`<video controls preload="metadata" src=${n} aria-label=${s}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${s}</span>
      <a class="quiet" href=${n.startsWith("data:")?n:`${n}?download`} download=${s} title="Download">
        ${l("download")}<span class="visually-hidden">Download ${s}</span>
      </a>
    </figcaption>
  </figure>`}function Jn(e,t){let n=e.type==="text/markdown";return u`<details class="attachment words">
    <summary>${l("chevron-right")}${l("file-text")}<span>${C(e)}</span></summary>
    ${n?u`<markdown-text .text=${t} .complete=${!0}></markdown-text>`:u`<pre tabindex="0" role="group" aria-label=${C(e)}>${t}</pre>`}
    ${ve(e)}
  </details>`}function Yn(e,t){let n=`data:application/octet-stream;base64,${t.replace(/^data:[^,]*,/,"")}`,s=C(e),i=u`<a class="attachment file" href=${n} download=${s}>
    ${l("file-text")}${P(e,"Download")}
  </a>`;if(!/^text\/html\b/i.test(e.type??""))return i;return u`${i}<button type="button" class="button" @click=${r}>${l("eye")}Preview ${s}</button>`;async function r({currentTarget:o}){let{open:a}=await import("./artifact-panel-U3OXVHMW.js");await a([{title:s,language:"html",text:Qn(t)}],0,o)}}function Qn(e){try{let t=Uint8Array.from(atob(e.replace(/^data:[^,]*,/,"")),n=>n.charCodeAt(0));return new TextDecoder().decode(t)}catch{return e}}function Xn(e){let t=e.url??e.reference_url??"",n=O(t),s=l(xe.test(e.type??"")?"image":"file-text");return n?u`<a class="attachment file" href=${n.href} target="_blank" rel="noopener noreferrer">
    ${s}${P(e,n.host)}${l("external-link")}
  </a>`:u`<span class="attachment file">${s}${P(e,t)}</span>`}function P(e,t){return u`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${C(e)}</span>
    <span class="attachment-detail">${t}</span>
  </span>`}function ve({reference_url:e}){let t=O(e??"");return t?u`<a href=${t.href} target="_blank" rel="noopener noreferrer">Source: ${t.host}</a>`:we}function C({title:e,type:t,url:n}){return e||Zt(n??"")||t||"Attachment"}function Zn(e){let t=e.target;t.hidden=!0,t.closest("figure")?.setAttribute("data-missing","")}function ts(e){return O(e)?.origin===location.origin}import{html as Et,LitElement as es,nothing as ns}from"../vendor/lit.js";var Se=14,ss=1400;function Oe(e){return e?is(e)?Et`<folded-text .text=${e}></folded-text>`:Et`<p class="question-text" dir="auto">${e}</p>`:ns}function is(e){return e.length>ss||e.split(`
`,Se+1).length>Se}var Ct=class extends es{static properties={text:{attribute:!1},unfolded:{type:Boolean,reflect:!0}};constructor(){super(),this.text="",this.unfolded=!1}createRenderRoot(){return this}render(){return Et`<p class="question-text" dir="auto" @scroll=${this.#t}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#e}>
        ${this.unfolded?"Show less":"Show all"}<span class="visually-hidden"> of the question</span>
      </button>`}#t(t){let n=t.target;this.unfolded||!n.scrollTop||(n.scrollTop=0,this.unfolded=!0)}#e(){this.unfolded=!this.unfolded,this.unfolded||this.updateComplete.then(()=>this.scrollIntoView({block:"nearest"}))}};customElements.define("folded-text",Ct);var os=2e3,Tt=class extends rs{static properties={question:{attribute:!1},state:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},editing:{state:!0},copied:{state:!0}};constructor(){super(),this.question=void 0,this.state="",this.branch=void 0,this.changeable=!1,this.limit=1/0,this.editing=!1,this.copied=!1}createRenderRoot(){return this}render(){let{question:t}=this;if(!t)return T;let{text:n,attachments:s,place:i,sender:r,sending:o}=t;return L`<h2 class="visually-hidden">Question</h2>
      ${r?as(r):T}
      ${i?L`<p class="question-place" dir="auto">${[i.title,i.narrative].filter(Boolean).join(": ")}</p>`:T}
      ${this.editing?this.#i(t):Oe(n)} ${et(s)}
      ${o?L`<p class="question-state">Sending…</p>`:T}
      ${o||this.editing?T:this.#t(t)}`}#t(t){return L`<action-row .label=${"Actions of the question"} .actions=${this.#e(t)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?"Copied":""}</span>`}#e({id:t,text:n}){let s=(r,o)=>D(this,"branch.switch",r,o),i=()=>D(this,"turn.delete",t,"delete");return[...X(this.branch,"version of the question",!this.changeable,s),...this.changeable?[{name:"edit",icon:"pencil",label:"Edit the question",run:()=>this.edit()}]:[],...n?[{name:"copy",icon:this.copied?"check":"copy",label:"Copy the question",run:()=>this.#n(n)}]:[],...this.changeable?[{name:"delete",icon:"trash-2",label:"Delete question and answer",run:i}]:[]]}async#n(t){this.copied=await V(t),setTimeout(()=>this.copied=!1,os)}#i({text:t,attachments:n}){return L`<form class="question-editor" @submit=${this.#l} @keydown=${this.#a}>
      <textarea aria-label="Edit the question" dir="auto" rows="3" maxlength=${Number.isFinite(this.limit)?this.limit:T}
        ?required=${!n.length} .defaultValue=${t}></textarea>
      <p class="question-state">The answers so far stay on a branch of their own.</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#o}>Cancel</button>
        <button class="button primary">Send</button>
      </div>
    </form>`}edit(){return!this.changeable||this.editing?!1:(this.editing=!0,this.#r(),!0)}async#r(){await this.updateComplete;let t=this.#s();t?.focus(),t?.setSelectionRange(t.value.length,t.value.length),requestAnimationFrame(()=>requestAnimationFrame(()=>t?.scrollIntoView({block:"center"})))}#s(){return this.querySelector("textarea")}async#o(){this.editing=!1,await this.updateComplete;let t=this.querySelector("action-row");t instanceof j&&(await t.updateComplete,t.focusOn("edit"))}#a(t){t.isComposing||(t.key==="Escape"?(t.preventDefault(),this.#o()):t.key==="Enter"&&(t.ctrlKey||t.metaKey)&&(t.preventDefault(),t.currentTarget.requestSubmit()))}#l(t){t.preventDefault();let{question:n}=this,s=this.#s()?.value??"";if(!n||!this.changeable||!(s.trim()||n.attachments.length))return;this.editing=!1;let i={text:s,attachments:n.attachments,edits:n.id};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:i}))}};customElements.define("chat-question",Tt);function as({kind:e,title:t,at:n}){let s=e==="alarm"?"Alarm":`From the ${e} “${t}”`;return L`<p class="question-sender">
    ${l(n?"clock":"settings")}<span dir="auto">${s}</span>
    ${n?L`<time datetime=${n}>${new Date(n).toLocaleString([],{dateStyle:"medium",timeStyle:"short"})}</time>`:T}
  </p>`}import{html as S,LitElement as Mi,nothing as K,repeat as Ni}from"../vendor/lit.js";function Ce(e){let t=[];for(let s of e){let i=t.at(-1);if(s.role==="user"&&s.sender?.kind==="continuation"){i?.turn.role==="assistant"&&(i.goesOn=!0);continue}let r=s.role==="assistant"&&i?.turn.role==="assistant"&&i.goesOn;t.push({turn:s,asked:r?i.asked:i?.turn.role==="user"?i.turn:void 0,earlier:r?[...i.earlier,i.turn]:[],goesOn:!1,isLast:!1})}let n=t.at(-1);return n&&(n.isLast=!0),t}function Te(e){let t=[],n=0,s=-1,i;for(let r of e){let{turn:o}=r;o.at>(i?.at??-1)+1&&(t.push({key:`gap ${n}`,turns:[],missing:i?{after:Ee(i)}:{before:Ee(o)}}),n+=1,s=-1);let a=Math.floor(o.at/8);a===s?t.at(-1)?.turns.push(r):t.push({key:ls(a,i),turns:[r]}),s=a,i=o}return t}function ls(e,t){return t&&Math.floor(t.at/8)===e?`turns ${e} end`:`turns ${e}`}function Ee(e){return e.role==="user"?e.run??"":e.id}function nt(e){return e.role==="user"?e.id:e.message?.id}import{html as Le}from"../vendor/lit.js";function qe({text:e,cancel:t,confirm:n}){return Le`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${t}>
    <form @submit=${i=>{i.preventDefault(),n()}}>
      <h2 id="turn-deletion-heading">Delete this question?</h2>
      ${e?Le`<blockquote dir="auto">${e}</blockquote>`:""}
      <p>The question and all its answers will be gone for good. What you asked later stays, and the model reads it without them.</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${t}>Cancel</button>
        <button class="button danger">Delete</button>
      </div>
    </form>
  </dialog>`}import{html as Ae}from"../vendor/lit.js";function Re({letters:e,tile:t,emoji:n,icon:s},i=""){return Ae`<span class="monogram ${i}" data-tile=${t} ?data-icon=${s||n} aria-hidden="true"
    >${s?Ae`<img src=${s} alt="" />`:n||e}</span
  >`}import{html as ht,LitElement as Ai,nothing as fn,repeat as Ri}from"../vendor/lit.js";import{html as h,LitElement as Ei,nothing as m,repeat as Ci}from"../vendor/lit.js";import{html as As,nothing as Pe}from"../vendor/lit.js";import{html as Lt,nothing as qt}from"../vendor/lit.js";function De(e){let{helper:t}=e;if(!t)return qt;let n=s=>_e(s,"helper-open",e.id);return Lt`<p class="helper-buttons">
    ${t.agent?Lt`<span class="helper-agent">${t.agent}</span>`:qt}
    <button type="button" class="button" aria-label="Open the helper ${t.name}" @click=${n}>Open</button>
    ${At(e)}
  </p>`}function At({helper:e}){if(e?.state!=="running")return qt;let t=n=>_e(n,"helper-stop",e.key);return Lt`<button type="button" class="button" aria-label="Stop the helper ${e.name}" @click=${t}>
    ${l("square")}Stop
  </button>`}function _e(e,t,n){e.target?.dispatchEvent(new CustomEvent(t,{bubbles:!0,detail:n}))}import{html as y,nothing as k,repeat as ks}from"../vendor/lit.js";import{html as q,nothing as Rt}from"../vendor/lit.js";var cs=/^\[(\d{1,4})\] (.*\S.*)$/,us=600;function W(e){return e.map(Me).filter(n=>n!==null).sort((n,s)=>Number(n.number)-Number(s.number))}function st(e,t=[]){let n=t.map((s,i)=>te(i+1,s)).filter(({place:s})=>s);return q`${et(e.filter(s=>!Me(s)))}
    ${ds([...W(e),...n])}`}function Me({type:e,title:t,url:n,data:s,reference_url:i}){let[,r,o]=cs.exec(t??"")??[];return e!=="text/plain"||n||!s||s.length>us||!o?null:{number:r,place:o,sentence:s,address:O(i??"")?.href??""}}function ds(e){return e.length?q`<div class="sources">
    <h3>Sources</h3>
    <ul>
      ${e.map(t=>q`<li>${hs(t)}</li>`)}
    </ul>
  </div>`:Rt}function hs({number:e,place:t,sentence:n,address:s}){return q`<span class="source-number">${e}</span>
    <div dir="auto">
      ${s?q`<a href=${s} target="_blank" rel="noopener noreferrer">${t}</a>${ps(s)}`:t}
      ${n?q`<q>${n}</q>`:Rt}
    </div>`}function ps(e){let t=new URL(e);return t.origin===location.origin?Rt:q` (${t.host})`}var fs=/^> #{4,5} (.{1,60}?):?\s*$/,ms=/^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/,Ne=/^(`{3,})/,gs=/^(`{3,})(?:json)?\n([\s\S]*)\n\1$/;function Dt(e){return je(e,fs).map(({match:n,lines:s})=>({heading:n?.[1]??"",text:s.join(`
`).trim()}))}function _t(e){let t=je(e,ms);return t.some(({match:n})=>!n)?[]:t.map(({match:n,lines:s})=>({name:n?.[1]??"",text:[n?.[2]??"",...s].join(`
`).trim()}))}function it(e){let t=gs.exec(e)?.[2]??e;if(!/^\s*[[{]/.test(t))return null;try{return JSON.parse(t)}catch{return null}}function Ie(e){let n=Dt(e).findLast(({heading:s})=>s==="Error")?.text.split(`
`).find(s=>s.trim()&&!Ne.test(s))??"";return n.length>200?`${n.slice(0,199)}…`:n}function je(e,t){let n=[],s="";for(let i of e.replace(/\r\n?/g,`
`).split(`
`)){let r=Ne.exec(i)?.[1]??"",o=s?null:t.exec(i);s&&r.length>=s.length?s="":s||(s=r),o?n.push({match:o,lines:[]}):n.length?n[n.length-1].lines.push(i):i.trim()&&n.push({match:null,lines:[i]})}return n}import{html as d,LitElement as $s,nothing as rt}from"../vendor/lit.js";var Be=20,ot=1500,bs=8,ys=3,ws=/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i,Mt=class extends $s{static properties={text:{attribute:!1},complete:{attribute:!1},sources:{attribute:!1},all:{state:!0},raw:{state:!0}};constructor(){super(),this.text="",this.complete=!1,this.sources=[],this.all=!1,this.raw=!1,this.isCut=!1}createRenderRoot(){return this}render(){if(!this.complete)return this.#s(this.text);if(this.raw)return d`<pre class="step-raw" tabindex="0" role="group" aria-label="Raw text">${this.text}</pre>${this.#t()}`;this.isCut=!1;let t=Dt(this.text),n=t.map(i=>this.#e(i)),s=!this.isCut&&t.every(({heading:i,text:r})=>!i&&!it(r)&&!_t(r).length);return d`${n}${s?rt:this.#t()}`}#t(){let t=()=>this.all=!this.all,n=()=>this.raw=!this.raw,s=!this.raw&&(this.isCut||this.all);return d`<div class="step-buttons">
      ${s?d`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${t}>
            ${this.all?"Show less":"Show all"}
          </button>`:rt}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${n}>Raw</button>
    </div>`}#e({heading:t,text:n}){return d`${t?d`<h3 class=${t==="Error"?"step-error":""}>${t}</h3>`:rt} ${this.#n(n)}`}#n(t){let n=_t(t);if(n.length)return this.#l(n.map(i=>[i.name,this.#i(i.text)]));let s=it(t);return s?this.#o(s,0):this.#r(t)}#i(t){let n=it(t);return n?this.#o(n,1):t.startsWith("```")?this.#s(t):this.#a(t)}#r(t){return t.length<=ot?this.#s(t):(this.isCut=!0,d`<div class=${this.all?"":"step-cut"}>${this.#s(t)}</div>`)}#s(t){return d`<markdown-text .text=${t} .complete=${this.complete} .sources=${this.sources}></markdown-text>`}#o(t,n){if(t===null||t==="")return d`<span class="step-none">none</span>`;if(typeof t!="object")return this.#a(String(t));if(n>ys)return d`<code>${JSON.stringify(t).slice(0,ot)}</code>`;if(!Array.isArray(t))return this.#l(Object.entries(t).map(([i,r])=>[i,this.#o(r,n+1)]));let s=xs(t);return s.length?this.#c(s,t,n):t.length?d`<ul>${this.#u(t).map(i=>d`<li>${this.#o(i,n+1)}</li>`)}</ul>`:d`<span class="step-none">none</span>`}#a(t){if(ws.test(t))return d`<button type="button" class="zoom" data-zoom aria-label="Picture"><img src=${t} alt="" /></button>`;let n=t.length>ot;return this.isCut||=n,d`<span class="step-string" dir="auto">${n&&!this.all?`${t.slice(0,ot)}…`:t}</span>`}#l(t){return t.length?d`<dl class="step-pairs">
      ${this.#u(t).map(([n,s])=>d`<div><dt dir="auto">${n}</dt><dd>${s}</dd></div>`)}
    </dl>`:d`<span class="step-none">none</span>`}#c(t,n,s){return d`<div class="table" tabindex="0" role="group" aria-label="Table: ${t.join(", ")}">
      <table>
        <thead><tr>${t.map(i=>d`<th scope="col">${i}</th>`)}</tr></thead>
        <tbody>
          ${this.#u(n).map(i=>d`<tr>${t.map(r=>d`<td>${r in i?this.#o(i[r],s+1):rt}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`}#u(t){return this.isCut||=t.length>Be,this.all?t:t.slice(0,Be)}};customElements.define("step-text",Mt);function xs(e){if(!e.every(s=>s!==null&&typeof s=="object"&&!Array.isArray(s)))return[];let n=[...new Set(e.flatMap(s=>Object.keys(s)))];return n.length<=bs?n:[]}var vs={running:{symbol:"loader-circle",words:"Running"},done:{symbol:"check",words:"Done"},failed:{symbol:"x",words:"Failed"},stopped:{symbol:"square",words:"Stopped"}},Ss="The model does not read this result any more; it stays stored and shown.";function F(e,t,n=new Set){return y`<ol class="steps" aria-label="Steps">
    ${ks(e,s=>s.id,s=>Os(s,t,n))}
  </ol>`}function Os(e,t,n){let s=n.has(e.id),i=Ts(e,s);return y`<li class="step ${s?"expired":""}" data-state=${e.state}
    title=${s?Ss:k}>
    ${Es(e)?Cs(e,i,t):y`<div class="step-line">${i}</div>`}
    ${e.state==="failed"&&!e.unfolded?Ls(e):k} ${De(e)}
    ${e.children.length?F(e.children,t,n):k}
  </li>`}function Es({text:e,attachments:t}){return e!==""||t.length>0}function Cs(e,t,n){let s=i=>{e.unfolded=i.target.open,n()};return y`<details .open=${e.unfolded} @toggle=${s}>
    <summary class="step-line">${t}${l("chevron-right")}</summary>
    ${e.unfolded?Nt(e):k}
  </details>`}function Ts({title:e,state:t,seconds:n},s){let{symbol:i,words:r}=vs[t];return y`<span class="step-mark">${l(i)}</span>
    <span class="step-title" dir="auto">${e}</span>
    <span class="step-state ${t==="done"?"visually-hidden":""}">${r}</span>
    ${s?y`<span class="visually-hidden">, not read by the model any more</span>`:k}
    ${n===null?k:y`<span class="step-time">${$(n)}</span>`}`}function Ls({text:e}){let t=Ie(e);return t?y`<p class="step-cause" dir="auto">${t}</p>`:k}function Nt(e){return y`<div class="step-content">
    ${e.text?y`<step-text .text=${e.text} .complete=${e.state!=="running"}
          .sources=${W(e.attachments)}></step-text>`:k}
    ${e.length>e.text.length?qs(e):k}
    ${st(e.attachments)}
  </div>`}function qs({id:e,text:t,length:n}){let s=({target:r})=>r.dispatchEvent(new CustomEvent("step-rest",{bubbles:!0,detail:e})),i=`Show all ${n.toLocaleString()} characters; these are the first ${t.length.toLocaleString()}`;return y`<button type="button" class="link step-rest" @click=${s}>${i}</button>`}var Rs={running:"At work",done:"Done",failed:"Failed",stopped:"Stopped"};function We(e,{redraw:t,close:n}){let{helper:s}=e;return s?As`<dialog class="helper" aria-labelledby="helper-name" @close=${n}>
    <header>
      <h2 id="helper-name" tabindex="-1">${s.name}</h2>
      <p class="helper-line" role="status">
        ${[s.agent,Rs[s.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="helper-read" tabindex="0" role="group" aria-label="What the helper does and says">
      ${Nt(e)} ${e.children.length?F(e.children,t):Pe}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${At(e)}
      <button class="button" autofocus>Close</button>
    </form>
  </dialog>`:Pe}import{html as Fe,nothing as Ds}from"../vendor/lit.js";var Ue={recalled:"Recalled",stored:"Remembered",changed:"Changed",forgotten:"Forgot",deleted:"Deleted everything"};function Ge(e){return e?.length?Fe`<details class="more-line memory-line">
    <summary>${l("chevron-right")}Memory: ${_s(e)}</summary>
    <ul>
      ${e.map(({action:t,text:n})=>Fe`<li><b>${Ue[t]}</b> <span dir="auto">${n}</span></li>`)}
    </ul>
    <a href="/memory/">What is remembered about you</a>
  </details>`:Ds}function _s(e){return Object.entries(Ue).map(([t,n])=>({action:t,words:n.toLowerCase(),count:Ms(e,t)})).filter(({count:t})=>t).map(({action:t,words:n,count:s})=>t==="deleted"?n:`${n} ${s}`).join(", ")}function Ms(e,t){return e.filter(n=>n.action===t).length}function uo(e,t,n){e.hidden=n===null,t.memory=n??!0,e.ariaChecked=String(t.memory)}function ho(e,t,n,s){e.addEventListener("click",async()=>{let{id:i}=t.conversation,r=!t.memory;if(i&&!await Y(`${n()}${i}/memory/`,{on:String(r)})){s({text:"That did not work. Check the connection and try again.",isProblem:!0});return}t.memory=r,e.ariaChecked=String(r),s({text:r?Ns:Is,isProblem:!1})})}var Ns="This conversation has memory again, from your next message on.",Is="This conversation remembers nothing and recalls nothing, from your next message on.";import{html as Ks,LitElement as Vs,nothing as Js}from"../vendor/lit.js";import{html as A,LitElement as js,live as Bs,nothing as U}from"../vendor/lit.js";var jt={rating:"",reason:"",comment:"",shares_transcript:!1},Ps=[["wrong","It is wrong"],["incomplete","It is incomplete"],["not_asked","It is not what I asked"],["slow","It was too slow"],["unsafe","It is unsafe"],["other","Something else"]],Ws=2e3,ze=100,Fs="That did not work. Check the connection and try again.",It=new Map,Bt=[],Pt;async function Us(e){return It.has(e)||(Bt.push(e),Pt??=new Promise(t=>setTimeout(()=>t(Gs()),50)),It.set(e,Pt)),(await It.get(e))?.get(e)??jt}async function Gs(){let e=Bt;Bt=[],Pt=void 0;let t=new Map;for(let n=0;n<e.length;n+=ze){let s=e.slice(n,n+ze).map(r=>["message",r]),i=await Q(`/feedback/?${new URLSearchParams(s)}`);for(let[r,o]of Object.entries(i?.feedback??{}))t.set(r,o)}return t}function He(e){return!e||!document.getElementById("main")?.dataset.feedback?U:A`<chat-feedback .message=${e}></chat-feedback>`}var Wt=class extends js{static properties={message:{attribute:!1},given:{state:!0},isOpen:{state:!0},said:{state:!0},problem:{state:!0}};constructor(){super(),this.message="",this.given=jt,this.isOpen=!1,this.said="",this.problem=""}createRenderRoot(){return this}willUpdate(t){t.has("message")&&this.#t(this.message)}async#t(t){let n=await Us(t);t===this.message&&!this.given.rating&&(this.given=n)}render(){return A`<span class="thumbs">${this.#e("up","Good answer")}${this.#e("down","Bad answer")}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem?A`<p class="feedback-problem" role="alert">${this.problem}</p>`:U}
      ${this.isOpen?this.#n():U}`}#e(t,n){let s=this.given.rating===t;return A`<button
      type="button"
      class="quiet thumb"
      data-rating=${t}
      title=${n}
      aria-pressed=${String(s)}
      aria-expanded=${s?String(this.isOpen):U}
      @click=${()=>this.#i(t)}
    >
      ${l(`thumbs-${t}`)}<span class="visually-hidden">${n}</span>
    </button>`}#n(){let{rating:t,reason:n,comment:s,shares_transcript:i}=this.given,r=`feedback-${this.message}`;return A`<form class="feedback-form" aria-label="Your feedback" @submit=${this.#r} @keydown=${this.#l}>
      ${t==="down"?A`<div>
            <label for="${r}-reason">What is wrong with it? (optional)</label>
            <select id="${r}-reason" name="reason">
              <option value="">Choose a reason</option>
              ${Ps.map(([o,a])=>A`<option value=${o} ?selected=${o===n}>${a}</option>`)}
            </select>
          </div>`:U}
      <div>
        <label for="${r}-comment">Comment (optional)</label>
        <textarea id="${r}-comment" name="comment" rows="3" maxlength=${Ws} dir="auto"
          .value=${s}></textarea>
      </div>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${Bs(i)} aria-describedby="${r}-share" />
        Send this question and answer along
      </label>
      <p class="hint" id="${r}-share">
        Those who operate this application read your rating and your comment. They read the conversation only if you send it
        along.
      </p>
      <div class="feedback-buttons">
        <button class="button primary">Send</button>
        <button type="button" class="button" @click=${()=>this.#c()}>Close</button>
        <button type="button" class="button danger" @click=${this.#o}>Remove my feedback</button>
      </div>
    </form>`}async#i(t){if(this.given.rating===t){this.isOpen=!this.isOpen;return}let n=t==="up"?"":this.given.reason;await this.#s({...this.given,rating:t,reason:n})&&(this.isOpen=!0)}async#r(t){t.preventDefault();let n=new FormData(t.target),s=o=>String(n.get(o)??""),i=n.has("shares_transcript"),r={...this.given,reason:s("reason"),comment:s("comment"),shares_transcript:i};await this.#s(r)&&this.#c()}async#s(t){let{shares_transcript:n,...s}=t,i=await Y(this.#u,n?{...s,shares_transcript:"on"}:s);return this.#a(i,"Thank you for your feedback."),i&&(this.given=t),i}async#o(){let t=await ee(this.#u);this.#a(t,"Your feedback was removed."),t&&(this.#c(),this.given=jt)}#a(t,n){this.said=t?n:"",this.problem=t?"":Fs}#l(t){t.key==="Escape"&&(t.stopPropagation(),this.#c())}#c(){let t=this.querySelector(`[data-rating=${this.given.rating||"up"}]`);t instanceof HTMLElement&&t.focus(),this.isOpen=!1}get#u(){return`/messages/${this.message}/feedback/`}};customElements.define("chat-feedback",Wt);var G=null,Ke="speechSynthesis"in window;function Ve(e,t){at();let n=new SpeechSynthesisUtterance(e);n.lang=Hs(e),n.onend=n.onerror=()=>{G===t&&(G=null,t())},G=t,speechSynthesis.speak(n)}function at(){let e=G;G=null,speechSynthesis.cancel(),e?.()}var zs=[[/[\u0590-\u05ff]/,"he"],[/[\u0600-\u06ff]/,"ar"],[/[\u0400-\u04ff]/,"ru"],[/[\u0370-\u03ff]/,"el"],[/[\u3040-\u30ff]/,"ja"],[/[\uac00-\ud7af]/,"ko"],[/[\u4e00-\u9fff]/,"zh"]];function Hs(e){let t=e.slice(0,400);return zs.find(([s])=>s.test(t))?.[1]??document.documentElement.lang??""}var Ys=2e3,Ft=class extends Vs{static properties={answer:{attribute:!1},version:{attribute:!1},earlier:{attribute:!1},asked:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},copied:{state:!0},reading:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.earlier=[],this.asked=void 0,this.branch=void 0,this.changeable=!1,this.copied="",this.reading=!1}createRenderRoot(){return this}disconnectedCallback(){super.disconnectedCallback(),this.reading&&at()}render(){let{answer:t}=this;return t?Ks`<div class="answer-foot">
      <action-row .label=${"Actions of the answer"} .actions=${this.#t()}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?"Copied":""}</span>
      ${He(t.message?.id)} ${ue(t)}
    </div>`:Js}#t(){let t=this.#r(),n=this.asked?.sending?"":this.asked?.id??"",s=(i,r)=>D(this,"branch.switch",i,r);return[...X(this.branch,"answer",!this.changeable,s),...t?[this.#e("copy","copy","Copy as Markdown",t),this.#e("text","file-text","Copy as text")]:[],...t&&Ke?[this.#n()]:[],...n&&this.changeable?[{name:"again",icon:"refresh-cw",label:"Answer again",run:()=>this.#i(n)},{name:"delete",icon:"trash-2",label:"Delete question and answer",run:()=>D(this,"turn.delete",n,"delete")}]:[]]}#e(t,n,s,i){let r=async()=>{this.copied=await V(i??this.#s())?t:"",setTimeout(()=>this.copied="",Ys)};return{name:t,icon:this.copied===t?"check":n,label:s,run:r}}#n(){let t=()=>{if(this.reading)return at();Ve(this.#s(),()=>this.reading=!1),this.reading=!0},[n,s]=this.reading?["square","Stop reading"]:["volume-2","Read aloud"];return{name:"read",icon:n,label:s,run:t}}#i(t){this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:{again:t}}))}#r(){return[...this.earlier,...this.answer?[this.answer]:[]].map(x).join("")}#s(){let t=new Set([...this.earlier,this.answer].map(s=>s?.id));return[...this.closest("chat-log")?.querySelectorAll("chat-answer")??[]].filter(s=>t.has(s.answer?.id)).flatMap(s=>[...s.querySelectorAll(".answer-text")]).map(s=>s.innerText).join(`
`)}};customElements.define("answer-foot",Ft);import{html as N,LitElement as mi,nothing as ct}from"../vendor/lit.js";import{html as M,nothing as nn}from"../vendor/lit.js";import{html as w,nothing as lt}from"../vendor/lit.js";var Je=60;function Gt(e,t,n){let s=[...new Set([...Object.keys(e),...Object.keys(t)])];return s.length?w`<div class="arguments">
    ${s.map((i,r)=>Object.hasOwn(t,i)?Qs(i,e[i],t[i],`${n}-${r}`):w`<div class="argument">
            <span class="argument-name">${i}</span>
            <span class="argument-value" dir="auto">${Ut(e[i])}</span>
          </div>`)}
  </div>`:lt}function Ye(e,t,n){let s={};for(let[i,r]of Object.entries(n)){let o=e.elements.namedItem(`argument ${i}`);if(!ei(o))continue;let a=Zs(o,r);if(o.setCustomValidity(a===Qe?"Write JSON, such as [1, 2].":""),!o.reportValidity())return null;a!==void 0&&JSON.stringify(a)!==JSON.stringify(t[i])&&(s[i]=a)}return s}function Qs(e,t,n,s){let i=n.description?w`<span class="hint" id="${s}-hint">${n.description}</span>`:lt;return w`<div class="argument">
    <label class="argument-name" for=${s}>${e}</label>
    ${Xs(e,t,n,s)} ${i}
  </div>`}function Xs(e,t,n,s){let i=`argument ${e}`,r=n.description?`${s}-hint`:lt,o=Xe(n);if(n.enum)return w`<select id=${s} name=${i} aria-describedby=${r}>
      ${t===void 0?w`<option value=""></option>`:lt}
      ${n.enum.map((c,p)=>w`<option value=${p} ?selected=${ti(c,t)}>${Ut(c)}</option>`)}
    </select>`;if(o==="boolean")return w`<input type="checkbox" id=${s} name=${i} ?checked=${t===!0} aria-describedby=${r} />`;if(o==="integer"||o==="number")return w`<input type="number" id=${s} name=${i} step=${o==="integer"?"1":"any"}
      value=${t??""} ?required=${t!==void 0} aria-describedby=${r} />`;let a=t===void 0?"":Ut(t);return o==="string"&&a.length<=Je&&!a.includes(`
`)?w`<input id=${s} name=${i} dir="auto" value=${a} aria-describedby=${r} />`:w`<textarea id=${s} name=${i} dir="auto" rows=${Math.min(8,a.split(`
`).length+1)}
    .defaultValue=${a} aria-describedby=${r}></textarea>`}var Qe=Symbol("invalid");function Zs(e,t){if(t.enum)return e.value?t.enum[Number(e.value)]:void 0;let n=Xe(t);if(n==="boolean"){let s=e;return s.checked===s.defaultChecked?void 0:s.checked}if(!(e instanceof HTMLSelectElement||e.value===e.defaultValue)){if(n==="string")return e.value;if(e.value.trim()!==""){if(n==="integer"||n==="number")return Number(e.value);try{return JSON.parse(e.value)}catch{return Qe}}}}function Xe({type:e}){return[e].flat().find(t=>t&&t!=="null")??""}function Ut(e){if(typeof e=="string")return e;let t=JSON.stringify(e)??"";return t.length<=Je?t:JSON.stringify(e,null,2)}function ti(e,t){return JSON.stringify(e)===JSON.stringify(t)}function ei(e){return e instanceof HTMLInputElement||e instanceof HTMLTextAreaElement||e instanceof HTMLSelectElement}var Ze={"read-only":["file-text","Only reads"],changes:["pencil","Makes changes"],destructive:["triangle-alert","Destroys or overwrites something"]},ni={conversation:"Do not ask again in this conversation",application:"Do not ask again in this application"};function sn({asked:e},t,n,s){let i=e.arguments??{},r=e.editable??{};if(e.four_eyes)return M`${tn(e.because)} ${en(e.risk)} ${Gt(i,{},t)}
      <p class="hint">Somebody else has to decide about this: ask the people who run this server.</p>`;let o=c=>{let p=Ye(c,i,r);if(p===null)return;let g=new FormData(c).get("always");s({outcome:"approved",arguments:p,...g?{always:String(g)}:{}})},a=c=>s({outcome:"denied",reason:String(new FormData(c).get("reason")??"").trim()});return M`<form
    novalidate
    @submit=${c=>{c.preventDefault(),o(c.target)}}
  >
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">The call</legend>
      ${tn(e.because)} ${en(e.risk)} ${Gt(i,r,t)} ${ii(e.always??[],t)}
      <div class="argument">
        <label class="argument-name" for="${t}-reason">Reason, if you deny it (optional)</label>
        <input id="${t}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${si(a)} />
      </div>
      <div class="interaction-buttons">
        <button class="button primary">${l("check")}Approve</button>
        <button type="button" class="button" @click=${c=>a(rn(c))}>
          ${l("x")}Deny
        </button>
      </div>
    </fieldset>
  </form>`}function si(e){return t=>{t.key!=="Enter"||t.isComposing||(t.preventDefault(),e(rn(t)))}}function rn(e){return e.currentTarget.form}function tn(e){return e?M`<p class="because" dir="auto">${l("circle-alert")}<span>${e}</span></p>`:nn}function en(e){let[t,n]=Ze[e]??Ze.changes;return M`<p class="risk" data-risk=${e}>${l(t)}${n}</p>`}function ii(e,t){return e.length?M`<fieldset class="choices">
    <legend class="argument-name">Next time</legend>
    ${[["","Ask again"],...e.map(n=>[n,ni[n]??n])].map(([n,s])=>M`<label class="choice" for="${t}-always-${n}">
        <input type="radio" id="${t}-always-${n}" name="always" value=${n} ?checked=${n===""} />
        <span>${s}</span>
      </label>`)}
  </fieldset>`:nn}import{html as f,nothing as v}from"../vendor/lit.js";var ri={email:"email",uri:"url",date:"date"};function on({asked:e},t,n,s){let i=e.fields??[];return f`<form @submit=${o=>{o.preventDefault();let a=o.target;s({outcome:"accepted",content:di(a,i)})}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">Your answer</legend>
      <p class="interaction-question" dir="auto">${e.message}</p>
      ${e.mode==="url"?oi(e):i.map((o,a)=>li(o,`${t}-${a}`))}
      <p class="hint">What you answer goes to this server. Give it no password.</p>
      <div class="interaction-buttons">
        ${e.mode==="url"?ai(e,n,s):f`<button class="button primary">${l("check")}Send</button>`}
        <button type="button" class="button" @click=${()=>s({outcome:"declined"})}>${l("x")}Decline</button>
        <button type="button" class="button" @click=${()=>s({outcome:"cancelled"})}>Cancel</button>
      </div>
    </fieldset>
  </form>`}function oi({url:e,host:t,repeats:n}){return f`<p>It wants you to open a page of <strong class="interaction-host">${t}</strong>.</p>
    <p class="hint argument-value">${e}</p>
    ${n?f`<p class="hint">Come back when you are done there: then the tool is called again.</p>`:v}`}function ai(e,t,n){if(!t)return v;let s=()=>n({outcome:"accepted"}),i=r=>f`<a class="button primary" href=${e.url}
    target="_blank" rel="noopener noreferrer" @click=${r?s:v}>Open ${e.host}</a>`;return e.repeats?f`${i(!1)}
    <button type="button" class="button" @click=${s}>${l("check")}Done</button>`:i(!0)}function li(e,t){let n=e.hint?f`<span class="hint" id="${t}-hint">${e.hint}</span>`:v;return e.type==="choices"?ui(e,t,n):f`<div class="argument">
    <label class="argument-name" for=${t} dir="auto">${e.label}${e.required||e.type==="boolean"?"":" (optional)"}</label>
    ${ci(e,t)} ${n}
  </div>`}function ci(e,t){let{name:n,required:s}=e,i=e.hint?`${t}-hint`:v;return e.type==="boolean"?f`<input type="checkbox" id=${t} name="field ${n}" ?checked=${e.default===!0} aria-describedby=${i} />`:e.type==="choice"?f`<select id=${t} name="field ${n}" ?required=${s} aria-describedby=${i}>
      <option value=""></option>
      ${e.options?.map(({value:r,label:o})=>f`<option value=${r} ?selected=${r===e.default}>${o}</option>`)}
    </select>`:e.type==="string"?f`<input type=${ri[e.format??""]??"text"} id=${t} name="field ${n}" dir="auto"
      value=${e.default??""} ?required=${s} minlength=${e.least??v} maxlength=${e.most??2e4}
      aria-describedby=${i} />`:f`<input type="number" id=${t} name="field ${n}" step=${e.type==="integer"?"1":"any"}
    value=${e.default??""} ?required=${s} min=${e.least??v} max=${e.most??v}
    aria-describedby=${i} />`}function ui(e,t,n){let s=Array.isArray(e.default)?e.default:[];return f`<fieldset class="choices" aria-describedby=${e.hint?`${t}-hint`:v}>
    <legend class="argument-name" dir="auto">${e.label}</legend>
    ${e.options?.map(({value:i,label:r},o)=>f`<label class="choice" for="${t}-${o}">
        <input type="checkbox" id="${t}-${o}" name="field ${e.name}" value=${i} ?checked=${s.includes(i)} />
        <span dir="auto">${r}</span>
      </label>`)}
    ${n}
  </fieldset>`}function di(e,t){let n=new FormData(e),s=t.map(({name:i,type:r,required:o})=>{let a=n.getAll(`field ${i}`).map(String);return r==="boolean"?[i,a.length>0]:r==="choices"?[i,a.length||o?a:void 0]:a[0]?[i,r==="string"||r==="choice"?a[0]:Number(a[0])]:[i,void 0]});return Object.fromEntries(s.filter(([,i])=>i!==void 0))}import{html as R,nothing as z}from"../vendor/lit.js";function an({asked:e},t,n,s,i){let r=e.input!=="text"&&e.options?.length>0;return R`<form @submit=${a=>{a.preventDefault();let c=new FormData(a.target),p=c.getAll("choice").map(String),g=String(c.get("text")??"").trim();i(p.length||g?{outcome:"answered",choices:p,text:g}:null)}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">Your answer</legend>
      ${e.title?R`<p class="interaction-question" dir="auto">${e.question}</p>`:z}
      ${r?hi(e.options,e.input==="multiple",e.question,t):z}
      ${!r||e.freeform!==!1?pi(r,t):z}
      ${s?R`<p class="field-error" role="alert">${s}</p>`:z}
      <div class="interaction-buttons">
        <button class="button primary">${l("check")}Answer</button>
        <button type="button" class="button" @click=${()=>i({outcome:"skipped",choices:[],text:""})}>
          Skip
        </button>
      </div>
    </fieldset>
  </form>`}function hi(e,t,n,s){return R`<fieldset class="choices">
    <legend class="visually-hidden">${n}</legend>
    ${e.map(({label:i,description:r},o)=>R`<label class="choice" for="${s}-${o}">
        <input type=${t?"checkbox":"radio"} id="${s}-${o}" name="choice" value=${i} />
        <span dir="auto">${i}${r?R`<span class="hint">${r}</span>`:z}</span>
      </label>`)}
  </fieldset>`}function pi(e,t){return R`<div class="argument">
    <label class="argument-name" for="${t}-text">${e?"In your own words (optional)":"Your answer"}</label>
    <textarea id="${t}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${i=>{i.key!=="Enter"||i.shiftKey||i.isComposing||(i.preventDefault(),i.target.form?.requestSubmit())}}></textarea>
  </div>`}import{html as fi}from"../vendor/lit.js";function ln({asked:e},t,n){return fi`<p>
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
    </div>`}var Ht=1e3,gi=0,zt=class extends mi{static properties={interaction:{attribute:!1},version:{attribute:!1},status:{attribute:!1},problem:{state:!0}};#t=`interaction-${gi+=1}`;#e=0;constructor(){super(),this.interaction=void 0,this.version=0,this.status="waiting",this.problem=""}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),this.#e=setInterval(()=>this.#n&&this.requestUpdate(),Ht)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#e)}get#n(){return this.interaction!==void 0&&!this.interaction.resolved&&!bi(this.status)}focus(){let t=this.querySelector("section");t?.scrollIntoView({block:"nearest"}),t?.focus({preventScroll:!0})}render(){let{interaction:t}=this;if(!t)return ct;if(t.kind==="client_tool")return this.#n?wi(t):ct;if(!this.#n)return xi(t);let{asked:n,due:s}=t;return N`<section class="interaction" tabindex="-1" aria-labelledby="${this.#t}-title" @keydown=${$i}>
      <div class="interaction-head">
        <h3 id="${this.#t}-title" dir="auto">${Kt(n)}</h3>
        ${s===null?ct:N`<span class="time-left" role="timer" aria-live="off">${yi(s)}</span>`}
      </div>
      ${this.#i(t)}
    </section>`}#i(t){let n=mt(t,this.status)&&!t.sending,s=i=>this.#r(t,i);return t.kind==="approval"?sn(t,this.#t,n,s):t.kind==="question"?an(t,this.#t,n,this.problem,s):t.kind==="elicitation"?on(t,this.#t,n,s):t.kind==="sign_in"?ln(t,n,s):N`<p class="hint">This cannot be answered on this page.</p>`}#r({key:t,kind:n},s){this.problem=s?"":"Choose or write something, or skip the question.",s&&this.dispatchEvent(new CustomEvent("answer",{bubbles:!0,detail:{key:t,kind:n,answer:s}}))}};customElements.define("chat-interaction",zt);function $i(e){e.key!=="Escape"||e.isComposing||(e.preventDefault(),document.getElementById("question")?.focus())}function Kt(e){return e.title||e.question||e.name||"The answer needs you"}function bi(e){return e==="done"||e==="failed"||e==="stopped"}function yi(e){let t=Math.ceil(e-Date.now()/Ht);return t>0?`${$(t).replace(/\.0 s$/," s")} left`:"The time is over"}function wi({asked:e,isHere:t}){return N`<p class="decision">
    ${l("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${Kt(e)}</span>
      <span>${t?"On this page":"On the page that asked"}</span>
    </span>
  </p>`}function xi(e){let{resolved:t}=e,n=["approved","answered","accepted","connected"].includes(t?.answer.outcome??"");return N`<p class="decision">
    ${l(n?"check":"x")}
    <span>
      <span class="decision-title" dir="auto">${Kt(e.asked)}</span>
      <span>${ki(e)}</span>
      ${t?.answer.always?N`<a href="/approvals/">Ask again from now on…</a>`:ct}
    </span>
  </p>`}function ki({kind:e,resolved:t}){if(!t)return"Not decided: the answer ended before.";let{answer:n,by:s,at:i}=t,r=le(new Date(i*Ht).toISOString()),o=`by ${s||"nobody"}, ${r}`,a=Object.keys(n.arguments??{});switch(n.outcome){case"approved":return`Approved ${o}${a.length?`, with changed ${a.join(", ")}`:""}.`;case"denied":return`Denied ${o}${n.reason?`: ${n.reason}`:"."}`;case"answered":return`Answered ${o}: ${[...n.choices??[],n.text].filter(Boolean).join(", ")}`;case"accepted":return`Answered ${o}.`;case"declined":return`Declined ${o}.`;case"cancelled":return`Cancelled ${o}.`;case"lost":return"Not answered: the call ended before.";case"connected":return`Connected ${o}.`;case"skipped":return`Skipped ${o}.`;default:return e==="approval"?`Nobody decided in time, so it was not done (${r}).`:`Nobody answered in time (${r}).`}}import{html as I,LitElement as Oi,nothing as H}from"../vendor/lit.js";var Vt="steps",vi=["none","compact","full"],dt=new EventTarget,cn=ut(Si());addEventListener("storage",({key:e,newValue:t})=>{e===Vt&&dn(ut(t))});function un(){return cn}function Qo(e){try{localStorage.setItem(Vt,ut(e))}catch{}dn(ut(e))}function dn(e){cn=e,dt.dispatchEvent(new Event("change"))}function ut(e){return vi.find(t=>t===e)??"full"}function Si(){try{return localStorage.getItem(Vt)}catch{return null}}var Jt=class extends Oi{static properties={steps:{attribute:!1},list:{attribute:!1}};constructor(){super(),this.steps=[],this.list=H,this.redraw=()=>this.requestUpdate()}connectedCallback(){super.connectedCallback(),dt.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),dt.removeEventListener("change",this.redraw)}createRenderRoot(){return this}render(){let t=un(),n=this.steps.flatMap(pn);if(t==="full"||t==="compact"&&n.length===1)return this.list;let s=n.findLast(({state:r})=>r==="running"),i=n.filter(({state:r})=>r==="failed").length;return t==="none"?s||i?I`<div class="step activity" data-state=${s?"running":"failed"}><div class="step-line">${hn(n,s,i)}</div></div>`:H:I`<details class="step activity" data-state=${s?"running":i?"failed":"done"}>
      <summary class="step-line">${hn(n,s,i)}${l("chevron-right")}</summary>
      ${this.list}
    </details>`}};customElements.define("step-activity",Jt);function hn(e,t,n){let s=e.reduce((r,o)=>r+(o.seconds??0),0),i=e.length===1?"1 step":`${e.length} steps`;return I`<span class="step-mark">${l(t?"loader-circle":n?"x":"check")}</span>
    <span class="step-title" dir="auto">${t?t.title:i}</span>
    ${t?I`<span class="step-state">${i}</span>`:H}
    ${n?I`<span class="step-state step-failures">${n===1?"1 failed":`${n} failed`}</span>`:H}
    ${t?H:I`<span class="step-time">${$(s)}</span>`}`}function pn(e){return[e,...e.children.flatMap(pn)]}var Yt=class extends Ei{static properties={answer:{attribute:!1},version:{attribute:!1},asked:{attribute:!1},earlier:{attribute:!1},goesOn:{attribute:!1},isLast:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},opened:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.asked=void 0,this.earlier=[],this.goesOn=!1,this.isLast=!1,this.branch=void 0,this.changeable=!1,this.opened="",this.addEventListener("helper-open",t=>{this.opened=t.detail})}createRenderRoot(){return this}render(){let{answer:t}=this;if(!t)return m;let n=B(t.status);return h`
      ${this.earlier.length?m:h`<h2 class="visually-hidden">Answer</h2>`}
      ${Ci(t.parts,s=>s,s=>this.#e(t,s,n))}
      ${st(t.attachments,t.annotations)}
      ${t.continued?h`<p class="notice">${l("refresh-cw")}Continued after an interruption.</p>`:m}
      ${n?Ti(t):this.#n(t)} ${this.#t(t)}
    `}updated(){let t=this.querySelector("dialog.helper");t instanceof HTMLDialogElement&&!t.open&&t.showModal()}#t(t){let n=t.steps.get(this.opened);return n?We(n,{redraw:()=>this.requestUpdate(),close:()=>this.opened=""}):m}#e(t,n,s){if(n.kind==="steps")return h`<step-activity .steps=${n.steps}
        .list=${F(n.steps,()=>this.requestUpdate(),t.expired)}></step-activity>`;if(n.kind==="notice")return h`<p class="notice" dir="auto">${l("circle-alert")}${n.text}</p>`;if(n.kind==="interaction")return h`<chat-interaction .interaction=${n.interaction} .version=${t.version}
        .status=${t.status}></chat-interaction>`;let i=!s||n!==t.parts.at(-1);return h`<markdown-text class="answer-text" .text=${n.text} .complete=${i}
      .annotations=${[...t.annotations]}
      .sources=${W(t.attachments)}></markdown-text>`}#n(t){return h`${t.status==="failed"?this.#a(t):m}
      ${t.status==="stopped"?this.#r(t):m}
      ${t.status==="done"&&!this.goesOn?this.#i(t):m}
      ${Ge(t.message?.memories)}
      ${this.goesOn?m:h`<answer-foot .answer=${t} .version=${t.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable}></answer-foot>`}`}#i(t){return t.message?.finish_reason!=="length"?Li(t):h`<div class="stopped">
      <p class="notice">${l("triangle-alert")}Cut off: the answer became too long for the model.</p>
      ${this.#o("Continue",{continues:t.message.id})}
    </div>`}#r(t){let n=x(t).trim()?"The answer is not complete.":"There is no answer.";return h`<div class="stopped">
      <p class="notice">${l("circle-alert")}<span><strong>Stopped.</strong> ${n}</span></p>
      ${this.#s()}
    </div>`}#s(){return this.asked&&!this.asked.sending?this.#o("Try again",{again:this.asked.id}):m}#o(t,n){return!this.isLast||!this.changeable?m:h`<button type="button" class="button" @click=${()=>this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:n}))}>${l("refresh-cw")}${t}</button>`}#a(t){let{error:n}=t;return h`<div class="failure">
      ${l("triangle-alert")}
      <div>
        <p>${n?.text??"The answer could not be finished."}</p>
        ${n?.reference?h`<p class="failure-reference">Reference: <code>${n.reference}</code></p>`:m}
        ${this.#s()}
      </div>
    </div>`}};customElements.define("chat-answer",Yt);function Ti(e){let t=qi(e);return h`<p class="working"><span class="dots" aria-hidden="true"></span>${t}…</p>`}function Li(e){return e.message&&!x(e).trim()&&!e.attachments.length?h`<p class="notice">The model had nothing to say.</p>`:m}function qi(e){return e.status==="queued"?"Waiting for its turn":e.status==="waiting"?ie(e)?"Waiting for you":E(e).some(Z)?"Working on the page":"Waiting for somebody else":e.parts.length?"Working":"Thinking"}var Qt=class extends Ai{static properties={turns:{attribute:!1,hasChanged:Di},state:{attribute:!1},last:{attribute:!1},branches:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},summary:{attribute:!1},near:{attribute:!1}};constructor(){super(),this.turns=[],this.state="",this.last=!1,this.branches={},this.changeable=!1,this.limit=1/0,this.summary=null,this.near=!0,this.height=0,this.addEventListener("focusout",()=>this.requestUpdate())}createRenderRoot(){return this}place(t,n){this.classList.contains("resting")||(this.height=n),this.near=t}render(){let t=this.#t();return this.classList.toggle("resting",t),this.style.blockSize=t?`${this.height}px`:"",t?this.#e():ht`${Ri(this.turns,({turn:n})=>`${n.role} ${n.id}`,n=>n.turn.role==="user"?this.#n(n.turn):this.#i(n.turn,n))}`}#t(){if(this.near||this.last||!this.height||this.contains(document.activeElement))return!1;let t=document.getSelection();return!t||t.isCollapsed||!t.containsNode(this,!0)}#e(){let t=this.turns.map(({turn:n})=>n.role==="user"?n.text:x(n)).join(`
`);return ht`<div hidden="until-found" @beforematch=${()=>this.near=!0}>${t}</div>`}#n(t){return ht`<chat-question
      class="turn question"
      id="message-${t.id}"
      .question=${t}
      .state=${t.sending?"sending":"stored"}
      .branch=${this.branches[t.id]}
      .changeable=${this.changeable&&!t.sending}
      .limit=${this.limit}
    ></chat-question>`}#i(t,{asked:n,earlier:s,goesOn:i,isLast:r}){let o=nt(t);return ht`<chat-answer
        class="turn answer"
        id=${o?`message-${o}`:fn}
        .answer=${t}
        .version=${t.version}
        .asked=${n}
        .earlier=${s}
        .goesOn=${i}
        .isLast=${r}
        .branch=${this.branches[s[0]?.id??t.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary&&this.summary.after===t.id?he(this.summary):fn}`}};customElements.define("chat-turns",Qt);function mn(e){return e.map(({turn:t})=>t.role==="user"?Number(t.sending):t.version).join()}function Di(e,t){return e.length!==t?.length||e.some((n,s)=>_i(n,t[s]))}function _i(e,t){return e.turn!==t.turn||e.asked!==t.asked||e.earlier.length!==t.earlier.length||e.goesOn!==t.goesOn||e.isLast!==t.isLast}var Ii=200,ji=3e3,Bi="1200px 0px",Pi="800px 0px",Xt=class extends Mi{static properties={turns:{attribute:!1},loaded:{attribute:!1},busy:{attribute:!1},branches:{attribute:!1},deleting:{state:!0},heading:{attribute:!1},description:{attribute:!1},starters:{attribute:!1},ended:{attribute:!1},application:{attribute:!1},summary:{attribute:!1},problem:{attribute:!1}};#t=new IntersectionObserver(t=>this.#l(t),{rootMargin:Bi});#e=new IntersectionObserver(t=>this.#c(t),{rootMargin:Pi});constructor(){super(),this.turns=[],this.loaded=!0,this.busy=!1,this.branches={},this.deleting=null,this.limit=1/0,this.addEventListener("branch-change",t=>this.#n(t)),this.heading="",this.description="",this.application={letters:"",tile:""},this.ended=!1,this.summary=null,this.problem="",this.starters={intro_text:"",auto_submit:!0,chat_message_input_disabled:!1,starters:[]}}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),addEventListener("beforeprint",this.#o),addEventListener("afterprint",this.#a)}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("beforeprint",this.#o),removeEventListener("afterprint",this.#a),this.#t.disconnect(),this.#e.disconnect()}render(){return this.loaded?this.turns.length?S`${Ni(Te(Ce(this.turns)),({key:t})=>t,t=>t.missing?this.#h(t.missing):this.#u(t.turns))}
    ${this.starters.chat_message_input_disabled&&!this.busy?this.#d():K}
    ${this.deleting?this.#i(this.deleting):K}`:this.#p():S`<p class="loading working">Loading the conversation…</p>`}#n(t){let{type:n,message:s,isConfirmed:i}=t.detail;n!=="turn.delete"||i||(t.stopImmediatePropagation(),this.deleting={message:s,origin:t.target})}#i({message:t,origin:n}){let s=this.turns.find(({id:o})=>o===t),i=()=>{this.deleting=null,n.querySelector("action-row")?.focusOn("delete")},r=()=>{this.deleting=null;let o={type:"turn.delete",message:t,name:"delete",isConfirmed:!0};this.dispatchEvent(new CustomEvent("branch-change",{detail:o}))};return qe({text:s?.role==="user"?s.text.slice(0,Ii):"",cancel:i,confirm:r})}updated(){let t=this.querySelector("dialog.turn-deletion");t instanceof HTMLDialogElement&&!t.open&&t.showModal();for(let n of this.#s)this.#t.observe(n);if(this.#e.disconnect(),!this.problem)for(let n of this.querySelectorAll(".gap"))this.#e.observe(n)}async keepPlace(t){let n=[...this.querySelectorAll(".turn")].find(i=>i.getBoundingClientRect().bottom>0),s=n?.getBoundingClientRect().top??0;t(),await this.#r(),n?.isConnected&&scrollBy({top:n.getBoundingClientRect().top-s,behavior:"instant"})}async#r(){await this.updateComplete,await Promise.all(this.#s.map(n=>n.updateComplete));let t=[...this.querySelectorAll("chat-answer")];await Promise.all(t.map(n=>n.updateComplete))}async reveal(t){let n=this.turns.find(r=>nt(r)===t);await this.updateComplete;let s=n&&this.#s.find(({turns:r})=>r.some(o=>o.turn===n));if(!s)return!1;s.near=!0,await this.#r();let i=document.getElementById(`message-${t}`);return i?(i.tabIndex=-1,i.scrollIntoView({block:"start",behavior:"instant"}),i.focus({preventScroll:!0}),i.toggleAttribute("data-found",!0),setTimeout(()=>i.removeAttribute("data-found"),ji),!0):!1}get#s(){return[...this.querySelectorAll("chat-turns")].map(t=>t)}#o=()=>{for(let t of this.#s)t.near=!0};#a=()=>{this.#t.disconnect(),this.requestUpdate()};#l(t){this.keepPlace(()=>{for(let{target:n,isIntersecting:s,boundingClientRect:i}of t)n.place(s,i.height)})}#c(t){let s=t.find(({isIntersecting:i})=>i)?.target?.missing;s&&this.dispatchEvent(new CustomEvent("gap",{detail:s}))}#u(t){return S`<chat-turns
      .turns=${t}
      .state=${mn(t)}
      .last=${t.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy&&!this.ended}
      .limit=${this.limit}
    ></chat-turns>`}#h(t){let n=()=>this.dispatchEvent(new CustomEvent("gap",{detail:t}));return S`<div class="gap" .missing=${t}>
      ${this.problem?S`<p class="notice problem" role="alert">${l("circle-alert")}<span>${this.problem}</span></p>`:K}
      <button type="button" class="button" @click=${n}>${t.after?"Show the next messages":"Show earlier messages"}</button>
    </div>`}#p(){return S`<div class="welcome">
      ${Re(this.application,"large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description?S`<p class="description" dir="auto">${this.description}</p>`:K}
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
    </section>`:K}#f(t){this.dispatchEvent(new CustomEvent("starter",{detail:t}))}};customElements.define("chat-log",Xt);export{j as a,E as b,Gi as c,ie as d,Z as e,x as f,ae as g,le as h,tr as i,er as j,kt as k,or as l,uo as m,ho as n,zt as o,Kt as p,ki as q,fe as r,Re as s,et as t,dt as u,un as v,Qo as w,Oe as x,Tt as y,Xt as z};
