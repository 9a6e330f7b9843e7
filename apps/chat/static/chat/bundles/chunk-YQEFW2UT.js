import{a as L,b as et,c as ce,d as ue}from"./chunk-UDZI24PU.js";import{b as nt,d as de,f as st}from"./chunk-TXRJREKV.js";import{a as c}from"./chunk-5OVPBSN4.js";import{a as tt}from"./chunk-7DWZTKXB.js";import{a as g,b as r,c as le,d as $}from"./chunk-GDVCXHG5.js";function he(e){requestAnimationFrame(()=>requestAnimationFrame(e))}function pe(e,{key:t,kind:n,asked:s,due:i}){let o=A(e).find(a=>a.key===t&&a.kind===n);if(o)Object.assign(o,{asked:s,due:i});else{let a={key:t,kind:n,asked:s,due:i,resolved:null,sending:!1};e.parts.push({kind:"interaction",interaction:a})}}function fe(e,{key:t,kind:n,answer:s,by:i,at:o}){let a=A(e).find(u=>u.key===t&&u.kind===n);a&&Object.assign(a,{resolved:{answer:s,by:i,at:o},sending:!1});let l=n==="client_tool"&&A(e).some(u=>it(u));e.status==="waiting"&&!l&&(e.status="queued")}function A(e){return e.parts.flatMap(t=>t.kind==="interaction"?[t.interaction]:[])}function ur(e){if(e?.status!=="waiting")return;let[t,...n]=A(e).filter(i=>!i.resolved);return t?.kind==="question"&&!n.length&&!t.sending&&(t.asked.input==="text"||t.asked.freeform!==!1)?t:void 0}function me(e){if(!e)return;let{status:t}=e;return A(e).find(n=>!n.asked.four_eyes&&!it(n)&&xt(n,t))}function it({kind:e,resolved:t}){return e==="client_tool"&&!t}function xt({kind:e,resolved:t},n){return!t&&(n==="waiting"||e==="elicitation"&&n==="running")}function U(e){return e==="queued"||e==="running"||e==="waiting"}function S(e){return e.parts.map(t=>t.kind==="text"?t.text:"").join("")}function ge(e,t){switch(e.version+=1,t.type){case"run.status":return kt(e,t.status);case"message.delta":return Rn(e,t.text);case"stage.opened":return Nn(e,t);case"stage.delta":return In(e,t);case"stage.closed":return jn(e,t);case"attachment.added":e.attachments.push(t.attachment);return;case"annotation.added":e.annotations.push(t.annotation);return;case"notice.added":return Mn(e,t.notice,t.text);case"helper.began":return _n(e,t);case"helper.ended":for(let{helper:n}of e.steps.values())n?.key===t.key&&(n.state=t.status);return;case"run.continued":e.continued=!0;return;case"answer.restarted":return Dn(e,t);case"interaction.requested":return pe(e,t);case"interaction.resolved":return fe(e,t);case"run.error":e.error={text:t.text,reference:t.reference};return;case"message.complete":return Bn(e,t.message)}}function kt(e,t){if(e.status=t,e.version+=1,!U(t))for(let n of e.steps.values())n.state==="running"&&(n.state="stopped"),n.helper?.state==="running"&&(n.helper.state="stopped")}function Rn(e,t){let n=e.parts.at(-1);n?.kind==="text"?n.text+=t:e.parts.push({kind:"text",text:t})}function Dn(e,{text:t,attachments:n,annotations:s}){e.attachments=n,e.annotations=s;let i=t.length;if(!S(e).startsWith(t))$e(e,t);else{for(let o of e.parts)o.kind==="text"&&(o.text=o.text.slice(0,i),i-=o.text.length);e.parts=e.parts.filter(o=>o.kind!=="text"||o.text)}}function Mn(e,t,n){let s=e.parts.find(i=>i.kind==="notice"&&i.id===t);s?.kind==="notice"?s.text=n:e.parts.push({kind:"notice",id:t,text:n})}function $e(e,t){e.parts=e.parts.filter(n=>n.kind!=="text"),t&&e.parts.push({kind:"text",text:t})}function Nn(e,t){let n=e.steps.get(t.stage);if(n){Object.assign(n,{title:t.title,text:"",length:0,state:"running",attachments:[]});return}let s={id:t.stage,title:t.title,text:"",length:0,state:"running",seconds:null,attachments:[],children:[],unfolded:!1};e.steps.set(s.id,s);let i=t.parent===null?void 0:e.steps.get(t.parent);if(i){i.children.push(s);return}let o=e.parts.at(-1);o?.kind==="steps"?o.steps.push(s):e.parts.push({kind:"steps",steps:[s]})}function _n(e,{stage:t,key:n,name:s,agent:i}){let o=e.steps.get(t);o&&(o.helper={key:n,name:s,agent:i,state:"running"})}function In(e,t){let n=e.steps.get(t.stage);n&&(t.text&&(n.text+=t.text),t.length&&(n.length=t.length),t.title&&(n.title+=t.title),t.attachment&&n.attachments.push(t.attachment))}function jn(e,t){let n=e.steps.get(t.stage);n&&(n.state=t.failed?"failed":"done",n.seconds=t.seconds)}function Bn(e,t){e.message=t,e.attachments=t.attachments??[],!(t.text===void 0||S(e)===t.text)&&$e(e,t.text)}var be=class e{turns=[];title="";todo="";last=0;awaiting=!1;branches={};#t=[];#e=new Map;constructor(t){this.id=t}get running(){let t=this.turns.findLast(n=>n.role==="assistant");return t&&U(t.status)?t:null}take(t){if(t.conversation!==this.id||t.seq<=this.last)return!1;if(this.last=t.seq,this.awaiting=t.type==="message.added",t.type==="todo.changed"&&(this.todo=t.text),t.type==="message.complete"&&(this.todo=t.message.todo??this.todo),t.type==="message.added")this.#o(t.message,t.run);else{if(t.type==="branches.changed")return!0;ge(this.#r(t.run),t)}return!0}expect({id:t,text:n,attachments:s,again:i,edits:o,continues:a}){let l=this.turns.findIndex(p=>p.role==="user"&&p.id===(i??o));if(this.#t=l<0?[]:this.turns.splice(i?l+1:l),i)return;let u={role:"user",id:t,at:this.#i,text:n,attachments:s,sending:!0};a&&(u.sender={kind:"continuation",title:"",untrusted:!1}),this.turns.push(u)}withdraw(t){this.turns=[...this.turns.filter(n=>n.id!==t),...this.#t],this.#t=[]}insert(t){let n=new Set(this.turns.map(({at:i})=>i)),s=t.filter(({at:i})=>!n.has(i)).flatMap(i=>this.#n(i));this.turns=[...this.turns,...s].sort((i,o)=>i.at-o.at)}complete(t,n){let s=this.turns.find(l=>l.role==="assistant"&&l.id===t.run),i=this.#n(t).find(l=>l.role==="assistant");if(s?.role!=="assistant"||i?.role!=="assistant")return;let[o,a]=[s.steps.get(n),i.steps.get(n)];o&&a&&Object.assign(o,{text:a.text,length:0}),s.version+=1}#n({run:t,at:n,events:s}){let i=new e(this.id);i.#e=this.#e;for(let[a,l]of s.entries())i.take({...l,conversation:this.id??"",run:t,seq:a+1});let o=(this.turns.at(-1)?.at??-1)<=n;i.todo&&o&&(this.todo=i.todo);for(let a of i.turns)a.at=n;return i.turns}get isWhole(){return this.turns.every(({at:t},n)=>t<=(this.turns[n-1]?.at??-1)+1)}get#i(){return(this.turns.at(-1)?.at??-1)+1}expire({answers:t}){this.#e=new Map(Object.entries(t).map(([n,s])=>[n,new Set(s)]));for(let n of this.turns)n.role==="assistant"&&(n.expired=this.#e.get(n.id)??new Set,n.version+=1)}settle(){this.awaiting=!1;let t=this.running;t&&kt(t,"stopped")}#o({id:t,role:n,text:s,attachments:i=[],place:o,sender:a,application:l},u){if(n!=="user")return;this.#t=[];let p=this.turns.find(T=>T.role==="user"&&(T.id===t||T.sending&&(T.text===s||Pn(T,a)))),v={id:t,run:u,text:s,attachments:i,place:o,sender:a,application:l,sending:!1};p?.role==="user"?Object.assign(p,v):this.#s(()=>({role:n,at:this.#i,...v}))}#s(t){let n=this.turns.filter(i=>i.role==="user"&&i.sending);n.length&&(this.turns=this.turns.filter(i=>!n.includes(i)));let s=t();this.turns.push(s);for(let i of n)i.at=this.#i,this.turns.push(i);return s}#r(t){let n=this.turns.find(s=>s.role==="assistant"&&s.id===t);return n?.role==="assistant"?n:this.#s(()=>this.#a(t))}#a(t){let n=this.turns.findLast(s=>s.role==="user");return{role:"assistant",id:t,at:n?.role==="user"&&n.run===t?n.at:this.#i,status:"queued",parts:[],steps:new Map,attachments:[],annotations:[],error:null,message:null,expired:this.#e.get(t)??new Set,continued:!1,version:0}}};function Pn(e,t){return e.sender?.kind==="continuation"&&t?.kind==="continuation"}import{html as vt,nothing as St}from"../vendor/lit.js";function y(e){if(e<.05)return r("< {seconds} s",{seconds:ye(.1)});if(e<9.95)return r("{seconds} s",{seconds:ye(e)});let t=Math.round(e);return t<60?r("{seconds} s",{seconds:t}):r("{minutes} min {seconds} s",{minutes:Math.floor(t/60),seconds:t%60})}function we(e){let t=new Date(e);return Number.isNaN(t.getTime())?"":t.toDateString()===new Date().toDateString()?t.toLocaleTimeString(g,{hour:"2-digit",minute:"2-digit"}):t.toLocaleDateString(g,{day:"numeric",month:"short"})}function ye(e){return e.toLocaleString(g,{minimumFractionDigits:1,maximumFractionDigits:1})}function ke(e){let{message:t,id:n}=e;if(!t)return St;let s=[...zn(t),...Un(e),...Hn(e)],i=document.getElementById("main")?.dataset.requests;return!s.length&&!i?St:vt`<details class="more-line figures">
    <summary>${c("chevron-right")}<span class="visually-hidden">${r("Why this answer:")}</span>${Gn(t)}</summary>
    <dl>
      ${s.map(([o,a])=>vt`<div><dt dir="auto">${o}</dt><dd dir="auto">${a}</dd></div>`)}
    </dl>
    ${i?vt`<a href="/answers/${n}/requests/" target="_blank" rel="noopener"
          >${r("What the model saw")}<span class="visually-hidden"> ${r("(a new tab)")}</span></a
        >`:St}
  </details>`}var Fn=e=>r("{whole}, {some} of them from the cache",e),Wn=e=>r("{whole}, {some} of them for thinking",e);function Un({steps:e}){return[...e.values()].flatMap(({title:t,seconds:n})=>{let s=[t.replaceAll("`",""),n===null?"":y(n)];return s[1]?[s]:[]})}function Hn({message:e,attachments:t}){let n=(e?.memories??[]).filter(({action:o})=>o==="recalled"),s=t.filter(({reference_url:o})=>o);return[[r("Files read"),(e?.files_read??[]).join("; ")],[r("From memory"),n.map(({text:o})=>o).join("; ")],[r("Sources"),[...new Set(s.map(({title:o,reference_url:a})=>o||a))].join("; ")]].filter(([,o])=>o)}function Gn({seconds:e,usage:t,costs:n,models:s}){let i=Et(t);return[e===void 0?"":y(e),i?$("{count} token","{count} tokens",i):"",n?Ot(n):""].filter(Boolean).join(" · ")||s?.join(", ")||r("Details")}function zn({models:e,version:t,usage:n,costs:s,first_text_seconds:i,seconds:o}){return[[e?.length===1?r("Model"):r("Models"),e?.join(", ")],[r("Application version"),t],[r("Tokens in"),n&&xe(n.prompt_tokens,n.cached_tokens,Fn)],[r("Tokens out"),n&&xe(n.completion_tokens,n.reasoning_tokens,Wn)],[r("Cost"),s&&Ot(s)],[r("First text after"),i===void 0?"":y(i)],[r("Duration"),o===void 0?"":y(o)]].filter(([,l])=>l).map(([l,u])=>[l,String(u)])}function xe(e,t,n){return e?t?n({whole:e,some:t}):e.toLocaleString(g):""}function Et(e){return e?e.prompt_tokens+e.completion_tokens:0}function Ot(e){return Object.entries(e).map(([t,n])=>Jn(Number(n),t)).join(" + ")}function Jn(e,t){let n=e===0||e>=1?{}:{minimumSignificantDigits:2,maximumSignificantDigits:2};return e.toLocaleString(g,{style:"currency",currency:t,...n})}function kr(e){let t=e.flatMap(i=>i.role==="assistant"&&i.message?[i.message]:[]),n=t.reduce((i,{usage:o})=>i+Et(o),0),s={};for(let i of t)for(let[o,a]of Object.entries(i.costs??{}))s[o]=(s[o]??0)+Number(a);return{tokens:n,costs:s,is_partial:t.some(i=>!i.costs&&Et(i.usage))}}function vr({tokens:e,costs:t,is_partial:n}){let s=Ot(t);return[e?$("{count} token","{count} tokens",e):"",s&&n?r("at least {cost}",{cost:s}):s].filter(Boolean).join(" · ")}import{html as I,LitElement as Kn,nothing as Ct}from"../vendor/lit.js";var Vn=[["system",r("Instructions")],["tools",r("Tools")],["user",r("Questions")],["assistant",r("Answers")],["tool_results",r("Results of tools")]],ve={unknown:"",ok:"",warning:r("nearly full"),danger:r("full")},Yn=.3,Lt=class extends Kn{static properties={use:{attribute:!1}};constructor(){super(),this.use=null}createRenderRoot(){return this}render(){let{use:t}=this;return t?.total?I`<details class="gauge" data-state=${t.state}>
      <summary>${this.#t(t)}</summary>
      <div class="gauge-parts">
        <dl>
          ${Vn.map(([n,s])=>I`<div><dt>${s}</dt><dd>${Tt(t[n])}</dd></div>`)}
          <div class="gauge-total"><dt>${r("In all")}</dt><dd>${Tt(t.total)}</dd></div>
          ${t.limit?I`<div><dt>${r("The model reads")}</dt><dd>${Tt(t.limit)}</dd></div>`:Ct}
        </dl>
        <p>${r("Tokens, estimated. A conversation that becomes too long is shortened for the model; here it stays whole.")}</p>
      </div>
    </details>`:Ct}#t({ratio:t,total:n,state:s}){if(t===null)return I`<span>${$("Context: {count} token","Context: {count} tokens",Number(n))}</span>`;let i=`${Math.round(t*100)} %`,o=ve[s]&&`, ${ve[s]}`;return I`<meter min="0" max="1" .value=${t} aria-hidden="true"></meter>
      ${s==="ok"?Ct:c("triangle-alert")}
      <span>${r("Context: {percent}",{percent:i})}${o}</span>`}};customElements.define("chat-gauge",Lt);function Tt(e){return Number(e).toLocaleString(g)}function Ar(e,t,n,s){let i=async()=>{let{id:o}=n.conversation,a=o?await st(`${s()}${o}/usage/`):null;!a||o!==n.conversation.id||(e.use=a,t.summary=a.summary,n.redraw())};n.addEventListener("switched",()=>{e.use=null,t.summary=null}),n.addEventListener("opened",o=>{o.detail.isNew||he(()=>{i()})}),n.addEventListener("event",o=>{o.detail.type==="message.complete"&&i()}),n.addEventListener("listed",()=>{(e.use?.ratio??0)>=Yn&&i()})}function Se({text:e}){return I`<details class="summary-block">
    <summary>${c("chevron-right")}${r("Earlier conversation, summarised for the model")}</summary>
    <p class="summary-text" dir="auto">${e}</p>
    <p class="summary-note">${r("The model reads this in place of everything above.")}</p>
  </details>`}import{html as D,LitElement as vs,nothing as R}from"../vendor/lit.js";import{html as At,LitElement as Qn,nothing as rt}from"../vendor/lit.js";var H=class extends Qn{static properties={label:{attribute:!1},actions:{attribute:!1},current:{state:!0}};constructor(){super(),this.label="",this.actions=[],this.current=""}createRenderRoot(){return this}render(){let t=this.actions.some(({name:n})=>n===this.current)?this.current:this.actions[0]?.name;return At`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#n}>
      ${this.actions.map(n=>this.#t(n,n.name===t))}
    </div>`}focusOn(t){let n=this.#e();(n.find(s=>s.dataset.action===t)??n[0])?.focus()}#t({name:t,icon:n,label:s,run:i,pressed:o,disabled:a,after:l,opensMenu:u},p){let v=({currentTarget:T})=>{!a&&T instanceof HTMLElement&&i(T)};return At`<button type="button" class="quiet" data-action=${t} title=${s} aria-label=${s}
        tabindex=${p?0:-1} aria-pressed=${o===void 0?rt:String(o)}
        aria-haspopup=${u?"menu":rt} aria-disabled=${a?"true":rt} @click=${v} @focus=${()=>this.current=t}>
        ${c(n)}
      </button>${l?At`<span class="actions-place">${l}</span>`:rt}`}#e(){return[...this.querySelectorAll("button")]}#n(t){let n=this.#e(),s=n.indexOf(document.activeElement),i=getComputedStyle(this).direction==="rtl"?"ArrowLeft":"ArrowRight",o=i==="ArrowLeft"?"ArrowRight":"ArrowLeft",l={[i]:s+1,[o]:s-1,Home:0,End:-1}[t.key];s<0||l===void 0||(t.preventDefault(),n.at(l%n.length)?.focus())}};customElements.define("action-row",H);function ot(e,t,n,s){if(!e)return[];let{ids:i,at:o}=e;return[{name:"previous",icon:"chevron-left",label:t.previous,disabled:n||o===0,run:()=>s(i[o-1]??"","previous"),after:`${o+1}/${i.length}`},{name:"next",icon:"chevron-right",label:t.next,disabled:n||o===i.length-1,run:()=>s(i[o+1]??"","next")}]}function j(e,t,n,s){let i={type:t,message:n,name:s};e.dispatchEvent(new CustomEvent("branch-change",{bubbles:!0,detail:i}))}import{html as d,nothing as Re}from"../vendor/lit.js";import{html as w,LitElement as ts,nothing as qt}from"../vendor/lit.js";var Ee=[e=>r("{value} KB",{value:e}),e=>r("{value} MB",{value:e}),e=>r("{value} GB",{value:e}),e=>r("{value} TB",{value:e})];function Oe(e){if(e<1e3)return $("{count} byte","{count} bytes",e);let t=e/1e3,n=0;for(;t>=1e3&&n<Ee.length-1;)t/=1e3,n+=1;return Ee[n](t.toLocaleString(g,{maximumFractionDigits:t<10?1:0}))}var Ce=[",",";","	","|"];function Le(e,t){let n=Zn(e),s=[],i=[],o=0;for(;o<e.length&&s.length<t;){let{cell:a,end:l}=Xn(e,o,n);if(i.push(a),o=l,e[o]===n){if(o+=1,o<e.length)continue;i.push("")}e[o]==="\r"&&e[o+1]===`
`&&(o+=1),o+=1,s.push(i),i=[]}return s}function Xn(e,t,n){if(e[t]!=='"')return Te(e,t,n);let s="",i=t+1;for(;;){let o=e.indexOf('"',i);if(o<0)return{cell:s+e.slice(i),end:e.length};if(s+=e.slice(i,o),e[o+1]!=='"'){let a=Te(e,o+1,n);return{cell:s+a.cell,end:a.end}}s+='"',i=o+2}}function Te(e,t,n){let s=t;for(;s<e.length&&e[s]!==n&&e[s]!==`
`&&e[s]!=="\r";)s+=1;return{cell:e.slice(t,s),end:s}}function Zn(e){let[t]=e.split(/\r?\n/,1),n=Ce.map(s=>t.split(s).length);return Ce[n.indexOf(Math.max(...n))]}var Rt=2e5,Ae=100,es=/^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i,ns=/^text\/(?:csv|tab-separated-values)$/i;function qe(e){return es.test(e.split(";")[0].trim())}var Dt=class extends ts{static properties={address:{attribute:!1},name:{attribute:!1},type:{attribute:!1},text:{state:!0},size:{state:!0},problem:{state:!0}};constructor(){super(),this.address="",this.name="",this.type="",this.text=null,this.size=0,this.problem=""}createRenderRoot(){return this}render(){return w`<details class="attachment words" @toggle=${this.#i}>
      <summary>
        ${c("chevron-right")}${c("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#t()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${c("download")}${r("Download")}</a>
        ${/^text\/html\b/i.test(this.type)?w`<button type="button" class="link" @click=${this.#n}>${c("eye")}${r("Preview")}</button>`:qt}
        ${this.size>Rt?w`<span>${r("The beginning of {size}",{size:Oe(this.size)})}</span>`:qt}
      </p>
    </details>`}#t(){if(this.problem)return w`<p class="field-error" role="alert">${this.problem}</p>`;if(this.text===null)return w`<p class="working">${r("Loading…")}</p>`;if(ns.test(this.type))return this.#e(Le(this.text,Ae+1));let t=this.type==="text/markdown"?this.text:ss(this.text,this.name);return w`<markdown-text .text=${t} .complete=${!0}></markdown-text>`}#e([t=[],...n]){let s=n.length>=Ae||this.size>Rt;return w`<div class="prose-table table" tabindex="0" role="group" aria-label=${r("Table {name}",{name:this.name})}>
        <table>
          <thead>
            <tr>
              ${t.map(i=>w`<th scope="col">${i}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${n.map(i=>w`<tr>${i.map(o=>w`<td>${o}</td>`)}</tr>`)}
          </tbody>
        </table>
      </div>
      ${s?w`<p class="preview-foot">${$("The first row","The first {count} rows",n.length)}</p>`:qt}`}async#n({currentTarget:t}){let{openFile:n}=await import("./artifact-panel-DWOAY7N5.js");try{await n(this.address,this.name,"html",t)}catch{this.problem=r("The file could not be loaded. Check the connection and try again.")}}async#i(t){if(!(!t.target.open||this.text!==null)){this.problem="";try{let s=await fetch(this.address,{headers:{Range:`bytes=0-${Rt-1}`}});if(!s.ok){this.problem=s.status===404?r("The file is no longer there."):r("The file cannot be shown.");return}let i=s.headers.get("Content-Range")?.split("/")[1],o=new Uint8Array(await s.arrayBuffer());this.size=Number(i??o.length),this.text=is(o)}catch{this.problem=r("The file could not be loaded. Check the connection, fold this and unfold it again.")}}}};customElements.define("file-preview",Dt);function ss(e,t){let n=Math.max(2,...[...e.matchAll(/`+/g)].map(([o])=>o.length)),s="`".repeat(n+1),i=t.match(/\.(\w{1,12})$/)?.[1]??"";return`${s}${i}
${e.replace(/\n$/,"")}
${s}`}function is(e){if(e[0]===255&&e[1]===254)return new TextDecoder("utf-16le").decode(e);if(e[0]===254&&e[1]===255)return new TextDecoder("utf-16be").decode(e);try{return new TextDecoder("utf-8",{fatal:!0}).decode(e,{stream:!0})}catch{return new TextDecoder("windows-1252").decode(e)}}var De=/^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i,rs=/^(audio|video)\/[\w.+-]+$/i,os=/^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;function at(e){if(!e.length)return Re;let t=e.filter(Me).length;return d`<ul class="attachments ${t>1?"gallery":""}" aria-label=${r("Attachments")}>
    ${e.map(n=>d`<li>${as(n)}</li>`)}
  </ul>`}function Me(e){return De.test(e.type??"")?cs(e):""}function as(e){let{type:t="",data:n}=e,s=Me(e);if(s)return us(e,s);let i=rs.exec(t)?.[1].toLowerCase();if(i){let a=ds(e);if(a)return hs(e,i,a)}if(n&&os.test(t))return ps(e,n);if(n)return fs(e,n);let o=et(e.url??"");return o?ls(e,o.pathname):gs(e)}function ls(e,t){let{type:n=""}=e,s=q(e);if(qe(n))return d`<file-preview .address=${t} .name=${s} .type=${n}></file-preview>`;let i=n.split(";")[0];return/^application\/pdf$/.test(n)?d`<a class="attachment file" href=${t} target="_blank" rel="noopener">
      ${c("file-text")}${G(e,i)}${c("external-link")}
    </a>`:d`<a class="attachment file" href="${t}?download" download=${s}>
    ${c("file-text")}${G(e,i)}${c("download")}
  </a>`}function cs({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:t&&/^data:image\//i.test(t)?t:t&&bs(t)?L(t)?.href??"":""}function us(e,t){let n=et(e.url??""),s=q(e),i=d`<img src=${t} alt=${s} loading="lazy" @error=${$s} />`;return d`<figure class="attachment picture">
    ${n?d`<a href=${n.pathname} target="_blank" rel="noopener" data-zoom>${i}</a>`:d`<button type="button" class="zoom" data-zoom>${i}</button>`}
    <figcaption>
      ${n?d`<a href=${n.pathname} target="_blank" rel="noopener">${s}</a>`:s}
      ${Ne(e)}
    </figcaption>
  </figure>`}function ds({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:et(t??"")?.pathname??""}function hs(e,t,n){let s=q(e);return d`<figure class="attachment media">
    ${t==="audio"?d`<audio controls preload="metadata" src=${n} aria-label=${s}></audio>`:d`<video controls preload="metadata" src=${n} aria-label=${s}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${s}</span>
      <a class="quiet" href=${n.startsWith("data:")?n:`${n}?download`} download=${s} title=${r("Download")}>
        ${c("download")}<span class="visually-hidden">${r("Download {name}",{name:s})}</span>
      </a>
    </figcaption>
  </figure>`}function ps(e,t){let n=e.type==="text/markdown";return d`<details class="attachment words">
    <summary>${c("chevron-right")}${c("file-text")}<span>${q(e)}</span></summary>
    ${n?d`<markdown-text .text=${t} .complete=${!0}></markdown-text>`:d`<pre tabindex="0" role="group" aria-label=${q(e)}>${t}</pre>`}
    ${Ne(e)}
  </details>`}function fs(e,t){let n=`data:application/octet-stream;base64,${t.replace(/^data:[^,]*,/,"")}`,s=q(e),i=d`<a class="attachment file" href=${n} download=${s}>
    ${c("file-text")}${G(e,r("Download"))}
  </a>`;if(!/^text\/html\b/i.test(e.type??""))return i;return d`${i}<button type="button" class="button" @click=${o}>${c("eye")}${r("Preview {name}",{name:s})}</button>`;async function o({currentTarget:a}){let{open:l}=await import("./artifact-panel-DWOAY7N5.js");await l([{title:s,language:"html",text:ms(t)}],0,a)}}function ms(e){try{let t=Uint8Array.from(atob(e.replace(/^data:[^,]*,/,"")),n=>n.charCodeAt(0));return new TextDecoder().decode(t)}catch{return e}}function gs(e){let t=e.url??e.reference_url??"",n=L(t),s=c(De.test(e.type??"")?"image":"file-text");return n?d`<a class="attachment file" href=${n.href} target="_blank" rel="noopener noreferrer">
    ${s}${G(e,n.host)}${c("external-link")}
  </a>`:d`<span class="attachment file">${s}${G(e,t)}</span>`}function G(e,t){return d`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${q(e)}</span>
    <span class="attachment-detail">${t}</span>
  </span>`}function Ne({reference_url:e}){let t=L(e??"");return t?d`<a href=${t.href} target="_blank" rel="noopener noreferrer">${r("Source: {host}",{host:t.host})}</a>`:Re}function q({title:e,type:t,url:n}){return e||ce(n??"")||t||r("Attachment")}function $s(e){let t=e.target;t.hidden=!0,t.closest("figure")?.setAttribute("data-missing","")}function bs(e){return L(e)?.origin===location.origin}import{html as Mt,LitElement as ys,nothing as ws}from"../vendor/lit.js";var _e=14,xs=1400;function Ie(e){return e?ks(e)?Mt`<folded-text .text=${e}></folded-text>`:Mt`<p class="question-text" dir="auto">${e}</p>`:ws}function ks(e){return e.length>xs||e.split(`
`,_e+1).length>_e}var Nt=class extends ys{static properties={text:{attribute:!1},unfolded:{type:Boolean,reflect:!0}};constructor(){super(),this.text="",this.unfolded=!1}createRenderRoot(){return this}render(){return Mt`<p class="question-text" dir="auto" @scroll=${this.#t}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#e}>
        ${this.unfolded?r("Show less"):r("Show all")}<span class="visually-hidden"> ${r("of the question")}</span>
      </button>`}#t(t){let n=t.target;this.unfolded||!n.scrollTop||(n.scrollTop=0,this.unfolded=!0)}#e(){this.unfolded=!this.unfolded,this.unfolded||this.updateComplete.then(()=>this.scrollIntoView({block:"nearest"}))}};customElements.define("folded-text",Nt);var Ss={previous:r("Previous version of the question"),next:r("Next version of the question")},Es=2e3,_t=class extends vs{static properties={question:{attribute:!1},state:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},editing:{state:!0},copied:{state:!0}};constructor(){super(),this.question=void 0,this.state="",this.branch=void 0,this.changeable=!1,this.limit=1/0,this.editing=!1,this.copied=!1}createRenderRoot(){return this}render(){let{question:t}=this;if(!t)return R;let{text:n,attachments:s,place:i,sender:o,application:a}=t;return D`${a?D`<p class="handover" dir="auto">${r("From here on: {title}",{title:a.title})}</p>`:R}
      <h2 class="visually-hidden">${r("Question")}</h2>
      ${o?Cs(o):R}
      ${i?D`<p class="question-place" dir="auto">${[i.title,i.narrative].filter(Boolean).join(": ")}</p>`:R}
      ${this.editing?this.#i(t):Ie(n)} ${at(s)}
      ${this.editing?R:this.#t(t)}`}#t(t){return D`<action-row .label=${r("Actions of the question")} .actions=${this.#e(t)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>`}#e({id:t,text:n}){let s=(o,a)=>j(this,"branch.switch",o,a),i=()=>j(this,"turn.delete",t,"delete");return[...ot(this.branch,Ss,!this.changeable,s),...this.changeable?[{name:"edit",icon:"pencil",label:r("Edit the question"),run:()=>this.edit()}]:[],...n?[{name:"copy",icon:this.copied?"check":"copy",label:r("Copy the question"),run:()=>this.#n(n)}]:[],...this.changeable?[{name:"delete",icon:"trash-2",label:r("Delete question and answer"),run:i}]:[]]}async#n(t){this.copied=await tt(t),setTimeout(()=>this.copied=!1,Es)}#i({text:t,attachments:n}){return D`<form class="question-editor" @submit=${this.#u} @keydown=${this.#a}>
      <textarea aria-label=${r("Edit the question")} dir="auto" rows="3" maxlength=${Number.isFinite(this.limit)?this.limit:R}
        ?required=${!n.length} .defaultValue=${t}></textarea>
      <p class="question-state">${r("The answers so far stay on a branch of their own.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#r}>${r("Cancel")}</button>
        <button class="button primary">${r("Send")}</button>
      </div>
    </form>`}edit(){return!this.changeable||this.editing?!1:(this.editing=!0,this.#o(),!0)}async#o(){await this.updateComplete;let t=this.#s();t?.focus(),t?.setSelectionRange(t.value.length,t.value.length),requestAnimationFrame(()=>requestAnimationFrame(()=>t?.scrollIntoView({block:"center"})))}#s(){return this.querySelector("textarea")}async#r(){this.editing=!1,await this.updateComplete;let t=this.querySelector("action-row");t instanceof H&&(await t.updateComplete,t.focusOn("edit"))}#a(t){t.isComposing||(t.key==="Escape"?(t.preventDefault(),this.#r()):t.key==="Enter"&&(t.ctrlKey||t.metaKey)&&(t.preventDefault(),t.currentTarget.requestSubmit()))}#u(t){t.preventDefault();let{question:n}=this,s=this.#s()?.value??"";if(!n||!this.changeable||!(s.trim()||n.attachments.length))return;this.editing=!1;let i={text:s,attachments:n.attachments,edits:n.id};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:i}))}};customElements.define("chat-question",_t);function Os(e,t){return e==="alarm"?r("Alarm"):e==="webhook"?r("From the webhook “{title}”",{title:t}):r("From the schedule “{title}”",{title:t})}function Cs({kind:e,title:t,at:n}){let s=Os(e,t);return D`<p class="question-sender">
    ${c(n?"clock":"settings")}<span dir="auto">${s}</span>
    ${n?D`<time datetime=${n}>${new Date(n).toLocaleString(g,{dateStyle:"medium",timeStyle:"short"})}</time>`:R}
  </p>`}import{html as C,LitElement as sr,nothing as Z,repeat as ir}from"../vendor/lit.js";function Be(e){let t=[];for(let s of e){let i=t.at(-1);if(s.role==="user"&&s.sender?.kind==="continuation"){i?.turn.role==="assistant"&&(i.goesOn=!0);continue}let o=s.role==="assistant"&&i?.turn.role==="assistant"&&i.goesOn;t.push({turn:s,asked:o?i.asked:i?.turn.role==="user"?i.turn:void 0,earlier:o?[...i.earlier,i.turn]:[],goesOn:!1,isLast:!1})}let n=t.at(-1);return n&&(n.isLast=!0),t}function Pe(e){let t=[],n=0,s=-1,i;for(let o of e){let{turn:a}=o;a.at>(i?.at??-1)+1&&(t.push({key:`gap ${n}`,turns:[],missing:i?{after:je(i)}:{before:je(a)}}),n+=1,s=-1);let l=Math.floor(a.at/8);l===s?t.at(-1)?.turns.push(o):t.push({key:Ts(l,i),turns:[o]}),s=l,i=a}return t}function Ts(e,t){return t&&Math.floor(t.at/8)===e?`turns ${e} end`:`turns ${e}`}function je(e){return e.role==="user"?e.run??"":e.id}function lt(e){return e.role==="user"?e.id:e.message?.id}import{html as Fe}from"../vendor/lit.js";function We({text:e,cancel:t,confirm:n}){return Fe`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${t}>
    <form @submit=${i=>{i.preventDefault(),n()}}>
      <h2 id="turn-deletion-heading">${r("Delete this question?")}</h2>
      ${e?Fe`<blockquote dir="auto">${e}</blockquote>`:""}
      <p>${r("The question and all its answers will be gone for good. What you asked later stays, and the model reads it without them.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${t}>${r("Cancel")}</button>
        <button class="button danger">${r("Delete")}</button>
      </div>
    </form>
  </dialog>`}import{html as Ue}from"../vendor/lit.js";function He({letters:e,tile:t,emoji:n,icon:s},i=""){return Ue`<span class="monogram ${i}" data-tile=${t} ?data-icon=${s||n} aria-hidden="true"
    >${s?Ue`<img src=${s} alt="" />`:n||e}</span
  >`}import{html as wt,LitElement as Zi,nothing as An,repeat as tr}from"../vendor/lit.js";import{html as m,LitElement as Vi,nothing as b,repeat as Yi}from"../vendor/lit.js";import{html as Xs,nothing as Xe}from"../vendor/lit.js";import{html as It,nothing as jt}from"../vendor/lit.js";function Ge(e){let{helper:t}=e;if(!t)return jt;let n=s=>ze(s,"helper-open",e.id);return It`<p class="helper-buttons">
    ${t.agent?It`<span class="helper-agent">${t.agent}</span>`:jt}
    <button type="button" class="button" aria-label=${r("Open the helper {name}",{name:t.name})} @click=${n}>${r("Open")}</button>
    ${Bt(e)}
  </p>`}function Bt({helper:e}){if(e?.state!=="running")return jt;let t=n=>ze(n,"helper-stop",e.key);return It`<button type="button" class="button" aria-label=${r("Stop the helper {name}",{name:e.name})} @click=${t}>
    ${c("square")}${r("Stop")}
  </button>`}function ze(e,t,n){e.target?.dispatchEvent(new CustomEvent(t,{bubbles:!0,detail:n}))}import{html as x,nothing as E,repeat as Us}from"../vendor/lit.js";import{html as M,nothing as Pt}from"../vendor/lit.js";var Ls=/^\[(\d{1,4})\] (.*\S.*)$/,As=600;function z(e){return e.map(Je).filter(n=>n!==null).sort((n,s)=>Number(n.number)-Number(s.number))}function ct(e,t=[]){let n=t.map((s,i)=>ue(i+1,s)).filter(({place:s})=>s);return M`${at(e.filter(s=>!Je(s)))}
    ${qs([...z(e),...n])}`}function Je({type:e,title:t,url:n,data:s,reference_url:i}){let[,o,a]=Ls.exec(t??"")??[];return e!=="text/plain"||n||!s||s.length>As||!a?null:{number:o,place:a,sentence:s,address:L(i??"")?.href??""}}function qs(e){return e.length?M`<div class="sources">
    <h3>${r("Sources")}</h3>
    <ul>
      ${e.map(t=>M`<li>${Rs(t)}</li>`)}
    </ul>
  </div>`:Pt}function Rs({number:e,place:t,sentence:n,address:s}){return M`<span class="source-number">${e}</span>
    <div dir="auto">
      ${s?M`<a href=${s} target="_blank" rel="noopener noreferrer">${t}</a>${Ds(s)}`:t}
      ${n?M`<q>${n}</q>`:Pt}
    </div>`}function Ds(e){let t=new URL(e);return t.origin===location.origin?Pt:M` (${t.host})`}var Ms=/^> #{4,5} (.{1,60}?):?\s*$/,Ns=/^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/,Ke=/^(`{3,})/,_s=/^(`{3,})(?:json)?\n([\s\S]*)\n\1$/;function Ft(e){return Ye(e,Ms).map(({match:n,lines:s})=>({heading:n?.[1]??"",text:s.join(`
`).trim()}))}function Wt(e){let t=Ye(e,Ns);return t.some(({match:n})=>!n)?[]:t.map(({match:n,lines:s})=>({name:n?.[1]??"",text:[n?.[2]??"",...s].join(`
`).trim()}))}function ut(e){let t=_s.exec(e)?.[2]??e;if(!/^\s*[[{]/.test(t))return null;try{return JSON.parse(t)}catch{return null}}function Ve(e){let n=Ft(e).findLast(({heading:s})=>s==="Error")?.text.split(`
`).find(s=>s.trim()&&!Ke.test(s))??"";return n.length>200?`${n.slice(0,199)}…`:n}function Ye(e,t){let n=[],s="";for(let i of e.replace(/\r\n?/g,`
`).split(`
`)){let o=Ke.exec(i)?.[1]??"",a=s?null:t.exec(i);s&&o.length>=s.length?s="":s||(s=o),a?n.push({match:a,lines:[]}):n.length?n[n.length-1].lines.push(i):i.trim()&&n.push({match:null,lines:[i]})}return n}import{html as h,LitElement as Is,nothing as dt}from"../vendor/lit.js";var Qe=20,ht=1500,js=8,Bs=3,Ps=/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i,Fs={Request:r("Request"),Response:r("Response"),Result:r("Result"),Error:r("Error"),Sources:r("Sources"),"Status Code":r("Status code")},Ut=class extends Is{static properties={text:{attribute:!1},complete:{attribute:!1},sources:{attribute:!1},all:{state:!0},raw:{state:!0}};constructor(){super(),this.text="",this.complete=!1,this.sources=[],this.all=!1,this.raw=!1,this.isCut=!1}createRenderRoot(){return this}render(){if(!this.complete)return this.#s(this.text);if(this.raw)return h`<pre class="step-raw" tabindex="0" role="group" aria-label=${r("Raw text")}>${this.text}</pre>${this.#t()}`;this.isCut=!1;let t=Ft(this.text),n=t.map(i=>this.#e(i)),s=!this.isCut&&t.every(({heading:i,text:o})=>!i&&!ut(o)&&!Wt(o).length);return h`${n}${s?dt:this.#t()}`}#t(){let t=()=>this.all=!this.all,n=()=>this.raw=!this.raw,s=!this.raw&&(this.isCut||this.all);return h`<div class="step-buttons">
      ${s?h`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${t}>
            ${this.all?r("Show less"):r("Show all")}
          </button>`:dt}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${n}>${r("Raw")}</button>
    </div>`}#e({heading:t,text:n}){return h`${t?h`<h3 class=${t==="Error"?"step-error":""}>${Fs[t]??t}</h3>`:dt} ${this.#n(n)}`}#n(t){let n=Wt(t);if(n.length)return this.#u(n.map(i=>[i.name,this.#i(i.text)]));let s=ut(t);return s?this.#r(s,0):this.#o(t)}#i(t){let n=ut(t);return n?this.#r(n,1):t.startsWith("```")?this.#s(t):this.#a(t)}#o(t){return t.length<=ht?this.#s(t):(this.isCut=!0,h`<div class=${this.all?"":"step-cut"}>${this.#s(t)}</div>`)}#s(t){return h`<markdown-text .text=${t} .complete=${this.complete} .sources=${this.sources}></markdown-text>`}#r(t,n){if(t===null||t==="")return h`<span class="step-none">${r("none")}</span>`;if(typeof t!="object")return this.#a(String(t));if(n>Bs)return h`<code>${JSON.stringify(t).slice(0,ht)}</code>`;if(!Array.isArray(t))return this.#u(Object.entries(t).map(([i,o])=>[i,this.#r(o,n+1)]));let s=Ws(t);return s.length?this.#l(s,t,n):t.length?h`<ul>${this.#c(t).map(i=>h`<li>${this.#r(i,n+1)}</li>`)}</ul>`:h`<span class="step-none">${r("none")}</span>`}#a(t){if(Ps.test(t))return h`<button type="button" class="zoom" data-zoom aria-label=${r("Picture")}><img src=${t} alt="" /></button>`;let n=t.length>ht;return this.isCut||=n,h`<span class="step-string" dir="auto">${n&&!this.all?`${t.slice(0,ht)}…`:t}</span>`}#u(t){return t.length?h`<dl class="step-pairs">
      ${this.#c(t).map(([n,s])=>h`<div><dt dir="auto">${n}</dt><dd>${s}</dd></div>`)}
    </dl>`:h`<span class="step-none">${r("none")}</span>`}#l(t,n,s){return h`<div class="table" tabindex="0" role="group" aria-label=${r("Table: {columns}",{columns:t.join(", ")})}>
      <table>
        <thead><tr>${t.map(i=>h`<th scope="col">${i}</th>`)}</tr></thead>
        <tbody>
          ${this.#c(n).map(i=>h`<tr>${t.map(o=>h`<td>${o in i?this.#r(i[o],s+1):dt}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`}#c(t){return this.isCut||=t.length>Qe,this.all?t:t.slice(0,Qe)}};customElements.define("step-text",Ut);function Ws(e){if(!e.every(s=>s!==null&&typeof s=="object"&&!Array.isArray(s)))return[];let n=[...new Set(e.flatMap(s=>Object.keys(s)))];return n.length<=js?n:[]}var Hs={running:{symbol:"loader-circle",words:r("Running")},done:{symbol:"check",words:r("Done")},failed:{symbol:"x",words:r("Failed")},stopped:{symbol:"square",words:r("Stopped")}},Gs=r("The model does not read this result any more; it stays stored and shown.");function J(e,t,n=new Set){return x`<ol class="steps" aria-label=${r("Steps")}>
    ${Us(e,s=>s.id,s=>zs(s,t,n))}
  </ol>`}function zs(e,t,n){let s=n.has(e.id),i=Vs(e,s);return x`<li class="step ${s?"expired":""}" data-state=${e.state}
    title=${s?Gs:E}>
    ${Js(e)?Ks(e,i,t):x`<div class="step-line">${i}</div>`}
    ${e.state==="failed"&&!e.unfolded?Ys(e):E} ${Ge(e)}
    ${e.children.length?J(e.children,t,n):E}
  </li>`}function Js({text:e,attachments:t}){return e!==""||t.length>0}function Ks(e,t,n){let s=i=>{e.unfolded=i.target.open,n()};return x`<details .open=${e.unfolded} @toggle=${s}>
    <summary class="step-line">${t}${c("chevron-right")}</summary>
    ${e.unfolded?Ht(e):E}
  </details>`}function Vs({title:e,state:t,seconds:n},s){let{symbol:i,words:o}=Hs[t];return x`<span class="step-mark">${c(i)}</span>
    <span class="step-title" dir="auto">${e}</span>
    <span class="step-state ${t==="done"?"visually-hidden":""}">${o}</span>
    ${s?x`<span class="visually-hidden">${r(", not read by the model any more")}</span>`:E}
    ${n===null?E:x`<span class="step-time">${y(n)}</span>`}`}function Ys({text:e}){let t=Ve(e);return t?x`<p class="step-cause" dir="auto">${t}</p>`:E}function Ht(e){return x`<div class="step-content">
    ${e.text?x`<step-text .text=${e.text} .complete=${e.state!=="running"}
          .sources=${z(e.attachments)}></step-text>`:E}
    ${e.length>e.text.length?Qs(e):E}
    ${ct(e.attachments)}
  </div>`}function Qs({id:e,text:t,length:n}){let s=({target:o})=>o.dispatchEvent(new CustomEvent("step-rest",{bubbles:!0,detail:e})),i=r("Show all {length} characters; these are the first {shown}",{length:n,shown:t.length});return x`<button type="button" class="link step-rest" @click=${s}>${i}</button>`}var Zs={running:r("At work"),done:r("Done"),failed:r("Failed"),stopped:r("Stopped")};function Ze(e,{redraw:t,close:n}){let{helper:s}=e;return s?Xs`<dialog class="helper" aria-labelledby="helper-name" @close=${n}>
    <header>
      <h2 id="helper-name" tabindex="-1">${s.name}</h2>
      <p class="helper-line" role="status">
        ${[s.agent,Zs[s.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="helper-read" tabindex="0" role="group" aria-label=${r("What the helper does and says")}>
      ${Ht(e)} ${e.children.length?J(e.children,t):Xe}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${Bt(e)}
      <button class="button" autofocus>${r("Close")}</button>
    </form>
  </dialog>`:Xe}import{html as tn,nothing as ti}from"../vendor/lit.js";var en={recalled:r("Recalled"),stored:r("Remembered"),changed:r("Changed"),forgotten:r("Forgot"),deleted:r("Deleted everything")};function nn(e){return e?.length?tn`<details class="more-line memory-line">
    <summary>${c("chevron-right")}${r("Memory: {what}",{what:ei(e)})}</summary>
    <ul>
      ${e.map(({action:t,text:n})=>tn`<li><b>${en[t]}</b> <span dir="auto">${n}</span></li>`)}
    </ul>
    <a href="/memory/">${r("What is remembered about you")}</a>
  </details>`:ti}function ei(e){return Object.entries(en).map(([t,n])=>({action:t,words:n.toLowerCase(),count:ni(e,t)})).filter(({count:t})=>t).map(({action:t,words:n,count:s})=>t==="deleted"?n:`${n} ${s}`).join(", ")}function ni(e,t){return e.filter(n=>n.action===t).length}function Yo(e,t,n){e.hidden=n===null,t.memory=n??!0,e.ariaChecked=String(t.memory)}function Qo(e,t,n,s){e.addEventListener("click",async()=>{let{id:i}=t.conversation,o=!t.memory;if(i&&!await nt(`${n()}${i}/memory/`,{on:String(o)})){s({text:r("That did not work. Check the connection and try again."),isProblem:!0});return}t.memory=o,e.ariaChecked=String(o),s({text:o?si:ii,isProblem:!1})})}var si=r("This conversation has memory again, from your next message on."),ii=r("This conversation remembers nothing and recalls nothing, from your next message on.");import{html as ln,LitElement as gi,nothing as cn}from"../vendor/lit.js";import{html as N,LitElement as ri,live as oi,nothing as K}from"../vendor/lit.js";var zt={rating:"",reason:"",comment:"",shares_transcript:!1},ai=[["wrong",r("It is wrong")],["incomplete",r("It is incomplete")],["not_asked",r("It is not what I asked")],["slow",r("It was too slow")],["unsafe",r("It is unsafe")],["other",r("Something else")]],li=2e3,sn=100,ci=r("That did not work. Check the connection and try again."),Gt=new Map,Jt=[],Kt;async function ui(e){return Gt.has(e)||(Jt.push(e),Kt??=new Promise(t=>setTimeout(()=>t(di()),50)),Gt.set(e,Kt)),(await Gt.get(e))?.get(e)??zt}async function di(){let e=Jt;Jt=[],Kt=void 0;let t=new Map;for(let n=0;n<e.length;n+=sn){let s=e.slice(n,n+sn).map(o=>["message",o]),i=await st(`/feedback/?${new URLSearchParams(s)}`);for(let[o,a]of Object.entries(i?.feedback??{}))t.set(o,a)}return t}function rn(e){return!e||!document.getElementById("main")?.dataset.feedback?K:N`<chat-feedback .message=${e}></chat-feedback>`}var Vt=class extends ri{static properties={message:{attribute:!1},given:{state:!0},isOpen:{state:!0},said:{state:!0},problem:{state:!0}};constructor(){super(),this.message="",this.given=zt,this.isOpen=!1,this.said="",this.problem=""}createRenderRoot(){return this}willUpdate(t){t.has("message")&&this.#t(this.message)}async#t(t){let n=await ui(t);t===this.message&&!this.given.rating&&(this.given=n)}render(){return N`<span class="thumbs">${this.#e("up",r("Good answer"))}${this.#e("down",r("Bad answer"))}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem?N`<p class="feedback-problem" role="alert">${this.problem}</p>`:K}
      ${this.isOpen?this.#n():K}`}#e(t,n){let s=this.given.rating===t;return N`<button
      type="button"
      class="quiet thumb"
      data-rating=${t}
      title=${n}
      aria-pressed=${String(s)}
      aria-expanded=${s?String(this.isOpen):K}
      @click=${()=>this.#i(t)}
    >
      ${c(`thumbs-${t}`)}<span class="visually-hidden">${n}</span>
    </button>`}#n(){let{rating:t,reason:n,comment:s,shares_transcript:i}=this.given,o=`feedback-${this.message}`;return N`<form class="feedback-form" aria-label=${r("Your feedback")} @submit=${this.#o} @keydown=${this.#u}>
      ${t==="down"?N`<div>
            <label for="${o}-reason">${r("What is wrong with it? (optional)")}</label>
            <select id="${o}-reason" name="reason">
              <option value="">${r("Choose a reason")}</option>
              ${ai.map(([a,l])=>N`<option value=${a} ?selected=${a===n}>${l}</option>`)}
            </select>
          </div>`:K}
      <div>
        <label for="${o}-comment">${r("Comment (optional)")}</label>
        <textarea id="${o}-comment" name="comment" rows="3" maxlength=${li} dir="auto"
          .value=${s}></textarea>
      </div>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${oi(i)} aria-describedby="${o}-share" />
        ${r("Send this question and answer along")}
      </label>
      <p class="hint" id="${o}-share">
        ${r("Those who operate this application read your rating and your comment. They read the conversation only if you send it along.")}
      </p>
      <div class="feedback-buttons">
        <button class="button primary">${r("Send")}</button>
        <button type="button" class="button" @click=${()=>this.#l()}>${r("Close")}</button>
        <button type="button" class="button danger" @click=${this.#r}>${r("Remove my feedback")}</button>
      </div>
    </form>`}async#i(t){if(this.given.rating===t){this.isOpen=!this.isOpen;return}let n=t==="up"?"":this.given.reason;await this.#s({...this.given,rating:t,reason:n})&&(this.isOpen=!0)}async#o(t){t.preventDefault();let n=new FormData(t.target),s=a=>String(n.get(a)??""),i=n.has("shares_transcript"),o={...this.given,reason:s("reason"),comment:s("comment"),shares_transcript:i};await this.#s(o)&&this.#l()}async#s(t){let{shares_transcript:n,...s}=t,i=await nt(this.#c,n?{...s,shares_transcript:"on"}:s);return this.#a(i,r("Thank you for your feedback.")),i&&(this.given=t),i}async#r(){let t=await de(this.#c);this.#a(t,r("Your feedback was removed.")),t&&(this.#l(),this.given=zt)}#a(t,n){this.said=t?n:"",this.problem=t?"":ci}#u(t){t.key==="Escape"&&(t.stopPropagation(),this.#l())}#l(){let t=this.querySelector(`[data-rating=${this.given.rating||"up"}]`);t instanceof HTMLElement&&t.focus(),this.isOpen=!1}get#c(){return`/messages/${this.message}/feedback/`}};customElements.define("chat-feedback",Vt);var Yt=class extends EventTarget{all=[];take(t){JSON.stringify(t)!==JSON.stringify(this.all)&&(this.all=t,this.dispatchEvent(new CustomEvent("change")))}},B=new Yt;import{html as pt,LitElement as hi}from"../vendor/lit.js";function la(e,t){let{address:n,pinned:s,archived:i}=e;return[{name:"rename",words:r("Rename"),icon:"pencil"},!i&&{name:"pin",words:s?r("Unpin"):r("Pin"),icon:"pin"},!i&&{name:"go-on",words:r("Go on with…"),icon:"log-in"},!i&&{name:"move",words:r("Move to folder…"),icon:"folder"},t&&{name:"share",words:r("Share…"),icon:"external-link"},{name:"export",words:r("Export as Markdown"),icon:"download",href:`${n}download/`},{name:"export-json",words:r("Export as JSON"),icon:"code",href:`${n}download/?format=json`},{name:"print",words:r("Print"),icon:"file-text"},i?{name:"unarchive",words:r("Restore from the archive"),icon:"archive-restore"}:{name:"archive",words:r("Archive"),icon:"archive"},{name:"delete",words:r("Delete"),icon:"trash-2"}].filter(a=>a!==!1)}function ca(e,t){return[{name:"folder-content",words:r("Instructions and files…"),icon:"file-text"},{name:"rename-folder",words:r("Rename folder"),icon:"pencil"},e!==t[0]&&{name:"folder-up",words:r("Move up"),icon:"arrow-up"},e!==t.at(-1)&&{name:"folder-down",words:r("Move down"),icon:"arrow-down"},{name:"delete-folder",words:r("Delete folder, keep its conversations"),icon:"trash-2"}].filter(s=>s!==!1)}var V=class extends hi{static properties={items:{state:!0}};constructor(){super(),this.items=[],this.opener=null}createRenderRoot(){return this}render(){return pt`<div class="row-menu" popover role="menu" aria-label=${r("More")} @keydown=${this.#i} @toggle=${this.#o}>
      ${this.items.map(t=>this.#t(t))}
    </div>`}#t({name:t,words:n,icon:s,href:i}){let o=pt`${c(s)}${n}`;return i?pt`<a role="menuitem" tabindex="-1" href=${i} download @click=${()=>this.#s()}>${o}</a>`:pt`<button type="button" role="menuitem" tabindex="-1" data-item=${t} @click=${()=>this.#r(t)}>
      ${o}
    </button>`}async open(t,n){this.items=t,this.opener=n,await this.updateComplete;let s=this.#e;s&&(s.showPopover(),pi(s,n.getBoundingClientRect()),this.#n[0]?.focus())}get#e(){return this.querySelector(".row-menu")}get#n(){return[...this.querySelectorAll("[role=menuitem]")].filter(t=>t instanceof HTMLElement)}#i(t){let n=this.#n,s=n.indexOf(document.activeElement),i={ArrowDown:s+1,ArrowUp:s-1,Home:0,End:-1};t.key==="Tab"&&this.#s(),t.key in i&&(t.preventDefault(),n.at(i[t.key]%n.length)?.focus())}#o(t){let n=t.newState==="open";this.opener?.setAttribute("aria-expanded",String(n)),!n&&this.contains(document.activeElement)&&this.opener?.focus()}#s(){this.opener?.focus(),this.#e?.hidePopover()}#r(t){this.#s(),this.dispatchEvent(new CustomEvent("chosen",{detail:t}))}};customElements.define("row-menu",V);function pi(e,t){let{offsetWidth:n,offsetHeight:s}=e,o=getComputedStyle(e).direction==="rtl"?t.left:t.right-n,a=t.bottom+4,l=a+s>innerHeight-8?t.top-s-4:a;e.style.left=`${Math.max(8,Math.min(o,innerWidth-n-8))}px`,e.style.top=`${Math.max(8,l)}px`}var Y=null,on="speechSynthesis"in window;function an(e,t){ft();let n=new SpeechSynthesisUtterance(e);n.lang=mi(e),n.onend=n.onerror=()=>{Y===t&&(Y=null,t())},Y=t,speechSynthesis.speak(n)}function ft(){let e=Y;Y=null,speechSynthesis.cancel(),e?.()}var fi=[[/[\u0590-\u05ff]/,"he"],[/[\u0600-\u06ff]/,"ar"],[/[\u0400-\u04ff]/,"ru"],[/[\u0370-\u03ff]/,"el"],[/[\u3040-\u30ff]/,"ja"],[/[\uac00-\ud7af]/,"ko"],[/[\u4e00-\u9fff]/,"zh"]];function mi(e){let t=e.slice(0,400);return fi.find(([s])=>s.test(t))?.[1]??document.documentElement.lang??""}var $i={previous:r("Previous answer"),next:r("Next answer")},bi=2e3,Qt=class extends gi{static properties={answer:{attribute:!1},version:{attribute:!1},earlier:{attribute:!1},asked:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},copied:{state:!0},reading:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.earlier=[],this.asked=void 0,this.branch=void 0,this.changeable=!1,this.copied="",this.reading=!1}#t=()=>this.requestUpdate();createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),B.addEventListener("change",this.#t)}disconnectedCallback(){super.disconnectedCallback(),B.removeEventListener("change",this.#t),this.reading&&ft()}render(){let{answer:t}=this;return t?ln`<div class="answer-foot">
      <action-row .label=${r("Actions of the answer")} .actions=${this.#e()}></action-row>
      ${B.all.length&&this.changeable?ln`<row-menu @chosen=${({detail:n})=>this.#s(this.asked?.id??"",n)}></row-menu>`:cn}
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>
      ${rn(t.message?.id)} ${ke(t)}
    </div>`:cn}#e(){let t=this.#r(),n=this.asked?.sending?"":this.asked?.id??"",s=(i,o)=>j(this,"branch.switch",i,o);return[...ot(this.branch,$i,!this.changeable,s),...t?[this.#n("copy","copy",r("Copy as Markdown"),t),this.#n("text","file-text",r("Copy as text"))]:[],...t&&on?[this.#i()]:[],...n&&this.changeable?[{name:"again",icon:"refresh-cw",label:r("Answer again"),run:()=>this.#s(n)},...B.all.length?[this.#o()]:[],{name:"delete",icon:"trash-2",label:r("Delete question and answer"),run:()=>j(this,"turn.delete",n,"delete")}]:[]]}#n(t,n,s,i){let o=async()=>{this.copied=await tt(i??this.#a())?t:"",setTimeout(()=>this.copied="",bi)};return{name:t,icon:this.copied===t?"check":n,label:s,run:o}}#i(){let t=()=>{if(this.reading)return ft();an(this.#a(),()=>this.reading=!1),this.reading=!0},[n,s]=this.reading?["square",r("Stop reading")]:["volume-2",r("Read aloud")];return{name:"read",icon:n,label:s,run:t}}#o(){let t=B.all.map(({id:s,title:i})=>({name:s,words:r("With {title}",{title:i}),icon:"refresh-cw"})),n=s=>{let i=this.querySelector("row-menu");i instanceof V&&i.open(t,s)};return{name:"again-with",icon:"ellipsis",label:r("Answer again with another model"),run:n,opensMenu:!0}}#s(t,n){let s=n?{again:t,deployment:n}:{again:t};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:s}))}#r(){return[...this.earlier,...this.answer?[this.answer]:[]].map(S).join("")}#a(){let t=new Set([...this.earlier,this.answer].map(s=>s?.id));return[...this.closest("chat-log")?.querySelectorAll("chat-answer")??[]].filter(s=>t.has(s.answer?.id)).flatMap(s=>[...s.querySelectorAll(".answer-text")]).map(s=>s.innerText).join(`
`)}};customElements.define("answer-foot",Qt);import{html as F,LitElement as Ii,nothing as gt}from"../vendor/lit.js";import{html as P,nothing as $n}from"../vendor/lit.js";import{html as k,nothing as mt}from"../vendor/lit.js";var un=60;function Zt(e,t,n){let s=[...new Set([...Object.keys(e),...Object.keys(t)])];return s.length?k`<div class="arguments">
    ${s.map((i,o)=>Object.hasOwn(t,i)?yi(i,e[i],t[i],`${n}-${o}`):k`<div class="argument">
            <span class="argument-name">${i}</span>
            <span class="argument-value" dir="auto">${Xt(e[i])}</span>
          </div>`)}
  </div>`:mt}function dn(e,t,n){let s={};for(let[i,o]of Object.entries(n)){let a=e.elements.namedItem(`argument ${i}`);if(!vi(a))continue;let l=xi(a,o);if(a.setCustomValidity(l===hn?r("Write JSON, such as [1, 2]."):""),!a.reportValidity())return null;l!==void 0&&JSON.stringify(l)!==JSON.stringify(t[i])&&(s[i]=l)}return s}function yi(e,t,n,s){let i=n.description?k`<span class="hint" id="${s}-hint">${n.description}</span>`:mt;return k`<div class="argument">
    <label class="argument-name" for=${s}>${e}</label>
    ${wi(e,t,n,s)} ${i}
  </div>`}function wi(e,t,n,s){let i=`argument ${e}`,o=n.description?`${s}-hint`:mt,a=pn(n);if(n.enum)return k`<select id=${s} name=${i} aria-describedby=${o}>
      ${t===void 0?k`<option value=""></option>`:mt}
      ${n.enum.map((u,p)=>k`<option value=${p} ?selected=${ki(u,t)}>${Xt(u)}</option>`)}
    </select>`;if(a==="boolean")return k`<input type="checkbox" id=${s} name=${i} ?checked=${t===!0} aria-describedby=${o} />`;if(a==="integer"||a==="number")return k`<input type="number" id=${s} name=${i} step=${a==="integer"?"1":"any"}
      value=${t??""} ?required=${t!==void 0} aria-describedby=${o} />`;let l=t===void 0?"":Xt(t);return a==="string"&&l.length<=un&&!l.includes(`
`)?k`<input id=${s} name=${i} dir="auto" value=${l} aria-describedby=${o} />`:k`<textarea id=${s} name=${i} dir="auto" rows=${Math.min(8,l.split(`
`).length+1)}
    .defaultValue=${l} aria-describedby=${o}></textarea>`}var hn=Symbol("invalid");function xi(e,t){if(t.enum)return e.value?t.enum[Number(e.value)]:void 0;let n=pn(t);if(n==="boolean"){let s=e;return s.checked===s.defaultChecked?void 0:s.checked}if(!(e instanceof HTMLSelectElement||e.value===e.defaultValue)){if(n==="string")return e.value;if(e.value.trim()!==""){if(n==="integer"||n==="number")return Number(e.value);try{return JSON.parse(e.value)}catch{return hn}}}}function pn({type:e}){return[e].flat().find(t=>t&&t!=="null")??""}function Xt(e){if(typeof e=="string")return e;let t=JSON.stringify(e)??"";return t.length<=un?t:JSON.stringify(e,null,2)}function ki(e,t){return JSON.stringify(e)===JSON.stringify(t)}function vi(e){return e instanceof HTMLInputElement||e instanceof HTMLTextAreaElement||e instanceof HTMLSelectElement}var fn={"read-only":["file-text",r("Only reads")],changes:["pencil",r("Makes changes")],destructive:["triangle-alert",r("Destroys or overwrites something")]},Si={conversation:r("Do not ask again in this conversation"),application:r("Do not ask again in this application")};function bn({asked:e},t,n,s){let i=e.arguments??{},o=e.editable??{};if(e.four_eyes)return P`${mn(e.because)} ${gn(e.risk)} ${Zt(i,{},t)}
      <p class="hint">${r("Somebody else has to decide about this: ask the people who run this server.")}</p>`;let a=u=>{let p=dn(u,i,o);if(p===null)return;let v=new FormData(u).get("always");s({outcome:"approved",arguments:p,...v?{always:String(v)}:{}})},l=u=>s({outcome:"denied",reason:String(new FormData(u).get("reason")??"").trim()});return P`<form
    novalidate
    @submit=${u=>{u.preventDefault(),a(u.target)}}
  >
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("The call")}</legend>
      ${mn(e.because)} ${gn(e.risk)} ${Zt(i,o,t)} ${Oi(e.always??[],t)}
      <div class="argument">
        <label class="argument-name" for="${t}-reason">${r("Reason, if you deny it (optional)")}</label>
        <input id="${t}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${Ei(l)} />
      </div>
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${r("Approve")}</button>
        <button type="button" class="button" @click=${u=>l(yn(u))}>
          ${c("x")}${r("Deny")}
        </button>
      </div>
    </fieldset>
  </form>`}function Ei(e){return t=>{t.key!=="Enter"||t.isComposing||(t.preventDefault(),e(yn(t)))}}function yn(e){return e.currentTarget.form}function mn(e){return e?P`<p class="because" dir="auto">${c("circle-alert")}<span>${e}</span></p>`:$n}function gn(e){let[t,n]=fn[e]??fn.changes;return P`<p class="risk" data-risk=${e}>${c(t)}${n}</p>`}function Oi(e,t){return e.length?P`<fieldset class="choices">
    <legend class="argument-name">${r("Next time")}</legend>
    ${[["",r("Ask again")],...e.map(n=>[n,Si[n]??n])].map(([n,s])=>P`<label class="choice" for="${t}-always-${n}">
        <input type="radio" id="${t}-always-${n}" name="always" value=${n} ?checked=${n===""} />
        <span>${s}</span>
      </label>`)}
  </fieldset>`:$n}import{html as f,nothing as O}from"../vendor/lit.js";var Ci={email:"email",uri:"url",date:"date"};function wn({asked:e},t,n,s){let i=e.fields??[];return f`<form @submit=${a=>{a.preventDefault();let l=a.target;s({outcome:"accepted",content:Di(l,i)})}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      <p class="interaction-question" dir="auto">${e.message}</p>
      ${e.mode==="url"?Ti(e):i.map((a,l)=>Ai(a,`${t}-${l}`))}
      <p class="hint">${r("What you answer goes to this server. Give it no password.")}</p>
      <div class="interaction-buttons">
        ${e.mode==="url"?Li(e,n,s):f`<button class="button primary">${c("check")}${r("Send")}</button>`}
        <button type="button" class="button" @click=${()=>s({outcome:"declined"})}>${c("x")}${r("Decline")}</button>
        <button type="button" class="button" @click=${()=>s({outcome:"cancelled"})}>${r("Cancel")}</button>
      </div>
    </fieldset>
  </form>`}function Ti({url:e,host:t,repeats:n}){return f`<p>${r("It wants you to open a page of this host:")} <strong class="interaction-host">${t}</strong></p>
    <p class="hint argument-value">${e}</p>
    ${n?f`<p class="hint">${r("Come back when you are done there: then the tool is called again.")}</p>`:O}`}function Li(e,t,n){if(!t)return O;let s=()=>n({outcome:"accepted"}),i=o=>f`<a class="button primary" href=${e.url}
    target="_blank" rel="noopener noreferrer" @click=${o?s:O}>${r("Open {host}",{host:e.host})}</a>`;return e.repeats?f`${i(!1)}
    <button type="button" class="button" @click=${s}>${c("check")}${r("Done")}</button>`:i(!0)}function Ai(e,t){let n=e.hint?f`<span class="hint" id="${t}-hint">${e.hint}</span>`:O;return e.type==="choices"?Ri(e,t,n):f`<div class="argument">
    <label class="argument-name" for=${t} dir="auto">${e.label}${e.required||e.type==="boolean"?"":" (optional)"}</label>
    ${qi(e,t)} ${n}
  </div>`}function qi(e,t){let{name:n,required:s}=e,i=e.hint?`${t}-hint`:O;return e.type==="boolean"?f`<input type="checkbox" id=${t} name="field ${n}" ?checked=${e.default===!0} aria-describedby=${i} />`:e.type==="choice"?f`<select id=${t} name="field ${n}" ?required=${s} aria-describedby=${i}>
      <option value=""></option>
      ${e.options?.map(({value:o,label:a})=>f`<option value=${o} ?selected=${o===e.default}>${a}</option>`)}
    </select>`:e.type==="string"?f`<input type=${Ci[e.format??""]??"text"} id=${t} name="field ${n}" dir="auto"
      value=${e.default??""} ?required=${s} minlength=${e.least??O} maxlength=${e.most??2e4}
      aria-describedby=${i} />`:f`<input type="number" id=${t} name="field ${n}" step=${e.type==="integer"?"1":"any"}
    value=${e.default??""} ?required=${s} min=${e.least??O} max=${e.most??O}
    aria-describedby=${i} />`}function Ri(e,t,n){let s=Array.isArray(e.default)?e.default:[];return f`<fieldset class="choices" aria-describedby=${e.hint?`${t}-hint`:O}>
    <legend class="argument-name" dir="auto">${e.label}</legend>
    ${e.options?.map(({value:i,label:o},a)=>f`<label class="choice" for="${t}-${a}">
        <input type="checkbox" id="${t}-${a}" name="field ${e.name}" value=${i} ?checked=${s.includes(i)} />
        <span dir="auto">${o}</span>
      </label>`)}
    ${n}
  </fieldset>`}function Di(e,t){let n=new FormData(e),s=t.map(({name:i,type:o,required:a})=>{let l=n.getAll(`field ${i}`).map(String);return o==="boolean"?[i,l.length>0]:o==="choices"?[i,l.length||a?l:void 0]:l[0]?[i,o==="string"||o==="choice"?l[0]:Number(l[0])]:[i,void 0]});return Object.fromEntries(s.filter(([,i])=>i!==void 0))}import{html as _,nothing as Q}from"../vendor/lit.js";function xn({asked:e},t,n,s,i){let o=e.input!=="text"&&e.options?.length>0;return _`<form @submit=${l=>{l.preventDefault();let u=new FormData(l.target),p=u.getAll("choice").map(String),v=String(u.get("text")??"").trim();i(p.length||v?{outcome:"answered",choices:p,text:v}:null)}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      ${e.title?_`<p class="interaction-question" dir="auto">${e.question}</p>`:Q}
      ${o?Mi(e.options,e.input==="multiple",e.question,t):Q}
      ${!o||e.freeform!==!1?Ni(o,t):Q}
      ${s?_`<p class="field-error" role="alert">${s}</p>`:Q}
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${le("to answer","Answer")}</button>
        <button type="button" class="button" @click=${()=>i({outcome:"skipped",choices:[],text:""})}>
          ${r("Skip")}
        </button>
      </div>
    </fieldset>
  </form>`}function Mi(e,t,n,s){return _`<fieldset class="choices">
    <legend class="visually-hidden">${n}</legend>
    ${e.map(({label:i,description:o},a)=>_`<label class="choice" for="${s}-${a}">
        <input type=${t?"checkbox":"radio"} id="${s}-${a}" name="choice" value=${i} />
        <span dir="auto">${i}${o?_`<span class="hint">${o}</span>`:Q}</span>
      </label>`)}
  </fieldset>`}function Ni(e,t){let n=e?r("In your own words (optional)"):r("Your answer");return _`<div class="argument">
    <label class="argument-name" for="${t}-text">${n}</label>
    <textarea id="${t}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${i=>{i.key!=="Enter"||i.shiftKey||i.isComposing||(i.preventDefault(),i.target.form?.requestSubmit())}}></textarea>
  </div>`}import{html as _i}from"../vendor/lit.js";function kn({asked:e},t,n){return _i`<p>
      ${r("You sign in at this host:")} <strong>${e.host}</strong>. ${r("Tools then use your account there when they call:")}
      <strong>${e.server}</strong>.
    </p>
    <div class="interaction-buttons">
      <a class="button primary" href="/connect/${encodeURIComponent(e.account)}/" target="_blank" rel="noopener"
        >${c("external-link")}${r("Connect")}<span class="visually-hidden"> ${r("(opens a new tab)")}</span></a
      >
      <button type="button" class="button" ?disabled=${!t} @click=${()=>n({outcome:"skipped"})}>
        ${r("Skip")}
      </button>
    </div>`}var ee=1e3,ji=0,te=class extends Ii{static properties={interaction:{attribute:!1},version:{attribute:!1},status:{attribute:!1},problem:{state:!0}};#t=`interaction-${++ji}`;#e=0;constructor(){super(),this.interaction=void 0,this.version=0,this.status="waiting",this.problem=""}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),this.#e=setInterval(()=>this.#n&&this.requestUpdate(),ee)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#e)}get#n(){return this.interaction!==void 0&&!this.interaction.resolved&&!Pi(this.status)}focus(){let t=this.querySelector("section");t?.scrollIntoView({block:"nearest"}),t?.focus({preventScroll:!0})}render(){let{interaction:t}=this;if(!t)return gt;if(t.kind==="client_tool")return this.#n?Wi(t):gt;if(!this.#n)return Ui(t);let{asked:n,due:s}=t;return F`<section class="interaction" tabindex="-1" aria-labelledby="${this.#t}-title" @keydown=${Bi}>
      <div class="interaction-head">
        <h3 id="${this.#t}-title" dir="auto">${ne(n)}</h3>
        ${s===null?gt:F`<span class="time-left" role="timer" aria-live="off">${Fi(s)}</span>`}
      </div>
      ${this.#i(t)}
    </section>`}#i(t){let n=xt(t,this.status)&&!t.sending,s=i=>this.#o(t,i);return t.kind==="approval"?bn(t,this.#t,n,s):t.kind==="question"?xn(t,this.#t,n,this.problem,s):t.kind==="elicitation"?wn(t,this.#t,n,s):t.kind==="sign_in"?kn(t,n,s):F`<p class="hint">${r("This cannot be answered on this page.")}</p>`}#o({key:t,kind:n},s){this.problem=s?"":r("Choose or write something, or skip the question."),s&&this.dispatchEvent(new CustomEvent("answer",{bubbles:!0,detail:{key:t,kind:n,answer:s}}))}};customElements.define("chat-interaction",te);function Bi(e){e.key!=="Escape"||e.isComposing||(e.preventDefault(),document.getElementById("question")?.focus())}function ne(e){return e.title||e.question||e.name||r("The answer needs you")}function Pi(e){return e==="done"||e==="failed"||e==="stopped"}function Fi(e){let t=Math.ceil(e-Date.now()/ee);if(t<=0)return r("The time is over");let n=t<10?r("{seconds} s",{seconds:t}):y(t);return r("{time} left",{time:n})}function Wi({asked:e,isHere:t}){return F`<p class="decision">
    ${c("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${ne(e)}</span>
      <span>${t?r("On this page"):r("On the page that asked")}</span>
    </span>
  </p>`}function Ui(e){let{resolved:t}=e,n=["approved","answered","accepted","connected"].includes(t?.answer.outcome??"");return F`<p class="decision">
    ${c(n?"check":"x")}
    <span>
      <span class="decision-title" dir="auto">${ne(e.asked)}</span>
      <span>${Hi(e)}</span>
      ${t?.answer.always?F`<a href="/approvals/">${r("Ask again from now on…")}</a>`:gt}
    </span>
  </p>`}function Hi({kind:e,resolved:t}){if(!t)return r("Not decided: the answer ended before.");let{answer:n,by:s,at:i}=t,o=we(new Date(i*ee).toISOString()),a={name:s||r("nobody"),moment:o},l=Object.keys(n.arguments??{});switch(n.outcome){case"approved":return l.length?r("Approved by {name}, {moment}, with changed {names}.",{...a,names:l.join(", ")}):r("Approved by {name}, {moment}.",a);case"denied":return n.reason?r("Denied by {name}, {moment}: {reason}",{...a,reason:n.reason}):r("Denied by {name}, {moment}.",a);case"answered":return r("Answered by {name}, {moment}: {answer}",{...a,answer:[...n.choices??[],n.text].filter(Boolean).join(", ")});case"accepted":return r("Answered by {name}, {moment}.",a);case"declined":return r("Declined by {name}, {moment}.",a);case"cancelled":return r("Cancelled by {name}, {moment}.",a);case"lost":return r("Not answered: the call ended before.");case"connected":return r("Connected by {name}, {moment}.",a);case"skipped":return r("Skipped by {name}, {moment}.",a);default:return e==="approval"?r("Nobody decided in time, so it was not done ({moment}).",{moment:o}):r("Nobody answered in time ({moment}).",{moment:o})}}import{html as W,LitElement as Ji,nothing as X}from"../vendor/lit.js";var se="steps",Gi=["none","compact","full"],bt=new EventTarget,vn=$t(zi());addEventListener("storage",({key:e,newValue:t})=>{e===se&&En($t(t))});function Sn(){return vn}function Za(e){try{localStorage.setItem(se,$t(e))}catch{}En($t(e))}function En(e){vn=e,bt.dispatchEvent(new Event("change"))}function $t(e){return Gi.find(t=>t===e)??"full"}function zi(){try{return localStorage.getItem(se)}catch{return null}}var ie=class extends Ji{static properties={steps:{attribute:!1},list:{attribute:!1}};constructor(){super(),this.steps=[],this.list=X,this.redraw=()=>this.requestUpdate()}connectedCallback(){super.connectedCallback(),bt.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),bt.removeEventListener("change",this.redraw)}createRenderRoot(){return this}render(){let t=Sn(),n=this.steps.flatMap(Cn);if(t==="full"||t==="compact"&&n.length===1)return this.list;let s=n.findLast(({state:o})=>o==="running"),i=n.filter(({state:o})=>o==="failed").length;return t==="none"?s||i?W`<div class="step activity" data-state=${s?"running":"failed"}><div class="step-line">${On(n,s,i)}</div></div>`:X:W`<details class="step activity" data-state=${s?"running":i?"failed":"done"}>
      <summary class="step-line">${On(n,s,i)}${c("chevron-right")}</summary>
      ${this.list}
    </details>`}};customElements.define("step-activity",ie);function On(e,t,n){let s=e.reduce((o,a)=>o+(a.seconds??0),0),i=$("{count} step","{count} steps",e.length);return W`<span class="step-mark">${c(t?"loader-circle":n?"x":"check")}</span>
    <span class="step-title" dir="auto">${t?t.title:i}</span>
    ${t?W`<span class="step-state">${i}</span>`:X}
    ${n?W`<span class="step-state step-failures">${$("{count} failed","{count} failed",n)}</span>`:X}
    ${t?X:W`<span class="step-time">${y(s)}</span>`}`}function Cn(e){return[e,...e.children.flatMap(Cn)]}import{html as Ki,nothing as Tn}from"../vendor/lit.js";function yt(e){return Ki`<p class="working"><span class="dots" aria-hidden="true"></span>${e}</p>`}function Ln(e,t){return e?.role!=="user"?Tn:e.sending?yt(r("Sending…")):t?yt(`${r("Thinking")}…`):Tn}var re=class extends Vi{static properties={answer:{attribute:!1},version:{attribute:!1},asked:{attribute:!1},earlier:{attribute:!1},goesOn:{attribute:!1},isLast:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},opened:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.asked=void 0,this.earlier=[],this.goesOn=!1,this.isLast=!1,this.branch=void 0,this.changeable=!1,this.opened="",this.addEventListener("helper-open",t=>{this.opened=t.detail})}createRenderRoot(){return this}render(){let{answer:t}=this;if(!t)return b;let n=U(t.status);return m`
      ${this.earlier.length?b:m`<h2 class="visually-hidden">${r("Answer")}</h2>`}
      ${Yi(t.parts,s=>s,s=>this.#e(t,s,n))}
      ${ct(t.attachments,t.annotations)}
      ${t.continued?m`<p class="notice">${c("refresh-cw")}${r("Continued after an interruption.")}</p>`:b}
      ${n?yt(`${Xi(t)}…`):this.#n(t)} ${this.#t(t)}
    `}updated(){let t=this.querySelector("dialog.helper");t instanceof HTMLDialogElement&&!t.open&&t.showModal()}#t(t){let n=t.steps.get(this.opened);return n?Ze(n,{redraw:()=>this.requestUpdate(),close:()=>this.opened=""}):b}#e(t,n,s){if(n.kind==="steps")return m`<step-activity .steps=${n.steps}
        .list=${J(n.steps,()=>this.requestUpdate(),t.expired)}></step-activity>`;if(n.kind==="notice")return m`<p class="notice" dir="auto">${c("circle-alert")}${n.text}</p>`;if(n.kind==="interaction")return m`<chat-interaction .interaction=${n.interaction} .version=${t.version}
        .status=${t.status}></chat-interaction>`;let i=!s||n!==t.parts.at(-1);return m`<markdown-text class="answer-text" .text=${n.text} .complete=${i}
      .annotations=${[...t.annotations]}
      .sources=${z(t.attachments)}></markdown-text>`}#n(t){return m`${t.status==="failed"?this.#a(t):b}
      ${t.status==="stopped"?this.#o(t):b}
      ${t.status==="done"&&!this.goesOn?this.#i(t):b}
      ${nn(t.message?.memories)}
      ${this.goesOn?b:m`<answer-foot .answer=${t} .version=${t.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable}></answer-foot>`}`}#i(t){return t.message?.finish_reason!=="length"?Qi(t):m`<div class="stopped">
      <p class="notice">${c("triangle-alert")}${r("Cut off: the answer became too long for the model.")}</p>
      ${this.#r(r("Continue"),{continues:t.message.id})}
    </div>`}#o(t){let n=S(t).trim()?r("The answer is not complete."):r("There is no answer.");return m`<div class="stopped">
      <p class="notice">${c("circle-alert")}<span><strong>${r("Stopped.")}</strong> ${n}</span></p>
      ${this.#s()}
    </div>`}#s(){return this.asked&&!this.asked.sending?this.#r(r("Try again"),{again:this.asked.id}):b}#r(t,n){return!this.isLast||!this.changeable?b:m`<button type="button" class="button" @click=${()=>this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:n}))}>${c("refresh-cw")}${t}</button>`}#a(t){let{error:n}=t;return m`<div class="failure">
      ${c("triangle-alert")}
      <div>
        <p>${n?.text??r("The answer could not be finished.")}</p>
        ${n?.reference?m`<p class="failure-reference">${r("Reference:")} <code>${n.reference}</code></p>`:b}
        ${this.#s()}
      </div>
    </div>`}};customElements.define("chat-answer",re);function Qi(e){return e.message&&!S(e).trim()&&!e.attachments.length?m`<p class="notice">${r("The model had nothing to say.")}</p>`:b}function Xi(e){return e.status==="queued"?r("Waiting for its turn"):e.status==="waiting"?me(e)?r("Waiting for you"):A(e).some(it)?r("Working on the page"):r("Waiting for somebody else"):e.parts.length?r("Working"):r("Thinking")}var oe=class extends Zi{static properties={turns:{attribute:!1,hasChanged:er},state:{attribute:!1},last:{attribute:!1},branches:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},summary:{attribute:!1},near:{attribute:!1}};constructor(){super(),this.turns=[],this.state="",this.last=!1,this.branches={},this.changeable=!1,this.limit=1/0,this.summary=null,this.near=!0,this.height=0,this.addEventListener("focusout",()=>this.requestUpdate())}createRenderRoot(){return this}place(t,n){this.classList.contains("resting")||(this.height=n),this.near=t}render(){let t=this.#t();return this.classList.toggle("resting",t),this.style.blockSize=t?`${this.height}px`:"",t?this.#e():wt`${tr(this.turns,({turn:n})=>`${n.role} ${n.id}`,n=>n.turn.role==="user"?this.#n(n.turn):this.#i(n.turn,n))}`}#t(){if(this.near||this.last||!this.height||this.contains(document.activeElement))return!1;let t=document.getSelection();return!t||t.isCollapsed||!t.containsNode(this,!0)}#e(){let t=this.turns.map(({turn:n})=>n.role==="user"?n.text:S(n)).join(`
`);return wt`<div hidden="until-found" @beforematch=${()=>this.near=!0}>${t}</div>`}#n(t){return wt`<chat-question
      class="turn question"
      id="message-${t.id}"
      .question=${t}
      .state=${t.sending?"sending":"stored"}
      .branch=${this.branches[t.id]}
      .changeable=${this.changeable&&!t.sending}
      .limit=${this.limit}
    ></chat-question>`}#i(t,{asked:n,earlier:s,goesOn:i,isLast:o}){let a=lt(t);return wt`<chat-answer
        class="turn answer"
        id=${a?`message-${a}`:An}
        .answer=${t}
        .version=${t.version}
        .asked=${n}
        .earlier=${s}
        .goesOn=${i}
        .isLast=${o}
        .branch=${this.branches[s[0]?.id??t.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary&&this.summary.after===t.id?Se(this.summary):An}`}};customElements.define("chat-turns",oe);function qn(e){return e.map(({turn:t})=>t.role==="user"?Number(t.sending):t.version).join()}function er(e,t){return e.length!==t?.length||e.some((n,s)=>nr(n,t[s]))}function nr(e,t){return e.turn!==t.turn||e.asked!==t.asked||e.earlier.length!==t.earlier.length||e.goesOn!==t.goesOn||e.isLast!==t.isLast}var rr=200,or=3e3,ar="1200px 0px",lr="800px 0px",ae=class extends sr{static properties={turns:{attribute:!1},loaded:{attribute:!1},busy:{attribute:!1},branches:{attribute:!1},deleting:{state:!0},heading:{attribute:!1},description:{attribute:!1},starters:{attribute:!1},ended:{attribute:!1},application:{attribute:!1},summary:{attribute:!1},problem:{attribute:!1}};#t=new IntersectionObserver(t=>this.#p(t),{rootMargin:ar});#e=Promise.resolve();#n=new IntersectionObserver(t=>this.#f(t),{rootMargin:lr});constructor(){super(),this.turns=[],this.loaded=!0,this.busy=!1,this.branches={},this.deleting=null,this.limit=1/0,this.addEventListener("branch-change",t=>this.#i(t)),this.heading="",this.description="",this.application={letters:"",tile:""},this.ended=!1,this.summary=null,this.problem="",this.starters={intro_text:"",auto_submit:!0,chat_message_input_disabled:!1,starters:[]}}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),addEventListener("beforeprint",this.#c),addEventListener("afterprint",this.#d)}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("beforeprint",this.#c),removeEventListener("afterprint",this.#d),this.#t.disconnect(),this.#n.disconnect()}render(){return this.loaded?this.turns.length?C`${ir(Pe(Be(this.turns)),({key:t})=>t,t=>t.missing?this.#g(t.missing):this.#m(t.turns))}
    ${Ln(this.turns.at(-1),this.busy)}
    ${this.starters.chat_message_input_disabled&&!this.busy?this.#h():Z}
    ${this.deleting?this.#o(this.deleting):Z}`:this.#$():C`<p class="loading working">${r("Loading the conversation…")}</p>`}#i(t){let{type:n,message:s,isConfirmed:i}=t.detail;n!=="turn.delete"||i||(t.stopImmediatePropagation(),this.deleting={message:s,origin:t.target})}#o({message:t,origin:n}){let s=this.turns.find(({id:a})=>a===t),i=()=>{this.deleting=null,n.querySelector("action-row")?.focusOn("delete")},o=()=>{this.deleting=null;let a={type:"turn.delete",message:t,name:"delete",isConfirmed:!0};this.dispatchEvent(new CustomEvent("branch-change",{detail:a}))};return We({text:s?.role==="user"?s.text.slice(0,rr):"",cancel:i,confirm:o})}updated(){let t=this.querySelector("dialog.turn-deletion");t instanceof HTMLDialogElement&&!t.open&&t.showModal();for(let n of this.#l)this.#t.observe(n);if(this.#n.disconnect(),!this.problem)for(let n of this.querySelectorAll(".gap"))this.#n.observe(n)}keepPlace(t){return this.#s(()=>this.#r(t))}#s(t){let n=this.#e.then(t);return this.#e=n.catch(()=>{}),n}async#r(t){let n=[...this.querySelectorAll(".turn")].find(i=>i.getBoundingClientRect().bottom>0),s=n?.getBoundingClientRect().top??0;t(),await this.#a(),n?.isConnected&&scrollBy({top:n.getBoundingClientRect().top-s,behavior:"instant"})}async#a(){await this.updateComplete,await Promise.all(this.#l.map(n=>n.updateComplete));let t=[...this.querySelectorAll("chat-answer")];await Promise.all(t.map(n=>n.updateComplete))}reveal(t){return this.#s(()=>this.#u(t))}async#u(t){let n=this.turns.find(o=>lt(o)===t);await this.updateComplete;let s=n&&this.#l.find(({turns:o})=>o.some(a=>a.turn===n));if(!s)return!1;s.near=!0,await this.#a();let i=document.getElementById(`message-${t}`);return i?(i.tabIndex=-1,i.scrollIntoView({block:"start",behavior:"instant"}),i.focus({preventScroll:!0}),i.toggleAttribute("data-found",!0),setTimeout(()=>i.removeAttribute("data-found"),or),!0):!1}get#l(){return[...this.querySelectorAll("chat-turns")].map(t=>t)}#c=()=>{for(let t of this.#l)t.near=!0};#d=()=>{this.#t.disconnect(),this.requestUpdate()};#p(t){this.keepPlace(()=>{for(let{target:n,isIntersecting:s,boundingClientRect:i}of t)n.place(s,i.height)})}#f(t){let s=t.find(({isIntersecting:i})=>i)?.target?.missing;s&&this.dispatchEvent(new CustomEvent("gap",{detail:s}))}#m(t){return C`<chat-turns
      .turns=${t}
      .state=${qn(t)}
      .last=${t.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy&&!this.ended}
      .limit=${this.limit}
    ></chat-turns>`}#g(t){let n=()=>this.dispatchEvent(new CustomEvent("gap",{detail:t}));return C`<div class="gap" .missing=${t}>
      ${this.problem?C`<p class="notice problem" role="alert">${c("circle-alert")}<span>${this.problem}</span></p>`:Z}
      <button type="button" class="button" @click=${n}>${t.after?r("Show the next messages"):r("Show earlier messages")}</button>
    </div>`}#$(){return C`<div class="welcome">
      ${He(this.application,"large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description?C`<p class="description" dir="auto">${this.description}</p>`:Z}
      ${this.#h()}
    </div>`}#h(){let{starters:t,intro_text:n}=this.starters;return t.length?C`<section class="starters" aria-labelledby="starters-heading">
      <h3 id="starters-heading" dir="auto">${n||r("Start with")}</h3>
      <ul>
        ${t.map(s=>C`<li>
            <button type="button" @click=${()=>this.#b(s)}>
              <span dir="auto">${s.title}</span>${c("arrow-up")}
            </button>
          </li>`)}
      </ul>
    </section>`:Z}#b(t){this.dispatchEvent(new CustomEvent("starter",{detail:t}))}};customElements.define("chat-log",ae);export{B as a,A as b,ur as c,me as d,it as e,S as f,he as g,be as h,we as i,kr as j,vr as k,Lt as l,Ar as m,Yo as n,Qo as o,te as p,ne as q,Hi as r,Oe as s,He as t,la as u,ca as v,at as w,H as x,bt as y,Sn as z,Za as A,Ie as B,_t as C,ae as D};
