import{a as y,b as W,c as ke,f as Se,g as Oe}from"./chunk-5LVHU2E5.js";import{a as rt}from"./chunk-5L3K4F5M.js";import{b as Ee}from"./chunk-34VWYVAV.js";import{e as Te}from"./chunk-6M7SENTB.js";import{a as q,b as ot,d as ve}from"./chunk-EMXBBFNF.js";import{a as c,c as xe}from"./chunk-TKCLDTR7.js";import{a as st}from"./chunk-7DWZTKXB.js";import{c as it}from"./chunk-GFSGBITY.js";import{c as et,e as ye,g as nt}from"./chunk-IN3SOCHH.js";import{b as F,c as r,d as we,e as x}from"./chunk-TZA5RPAC.js";function Ce(e){requestAnimationFrame(()=>requestAnimationFrame(e))}function qe(e,{key:t,kind:n,asked:s,due:i}){let o=A(e).find(a=>a.key===t&&a.kind===n);if(o)Object.assign(o,{asked:s,due:i});else{let a={key:t,kind:n,asked:s,due:i,resolved:null,sending:!1};e.parts.push({kind:"interaction",interaction:a})}}function Ae(e,{key:t,kind:n,answer:s,by:i,at:o}){let a=A(e).find(u=>u.key===t&&u.kind===n);a&&Object.assign(a,{resolved:{answer:s,by:i,at:o},sending:!1});let l=n==="client_tool"&&A(e).some(u=>at(u));e.status==="waiting"&&!l&&(e.status="queued")}function A(e){return e.parts.flatMap(t=>t.kind==="interaction"?[t.interaction]:[])}function Le({parts:e}){let t=new Map;for(let[n,s]of e.entries()){if(s.kind!=="interaction"||s.interaction.kind!=="approval")continue;let{asked:i,resolved:o}=s.interaction;if(o?.answer.outcome!=="approved"||o.answer.always)continue;let a=e.slice(n).find(({kind:u})=>u!=="interaction"),l=a?.kind==="steps"?a.steps.find(({id:u,title:p})=>p===i.title&&!t.has(u)):void 0;l&&t.set(l.id,s.interaction)}return t}function Ar(e){if(e?.status!=="waiting")return;let[t,...n]=A(e).filter(i=>!i.resolved);return t?.kind==="question"&&!n.length&&!t.sending&&(t.asked.input==="text"||t.asked.freeform!==!1)?t:void 0}function Re(e){if(!e)return;let{status:t}=e;return A(e).find(n=>!n.asked.four_eyes&&!at(n)&&Ct(n,t))}function at({kind:e,resolved:t}){return e==="client_tool"&&!t}function Ct({kind:e,resolved:t},n){return!t&&(n==="waiting"||e==="elicitation"&&n==="running")}function z(e){return e==="queued"||e==="running"||e==="waiting"}function E(e){return e.parts.map(t=>t.kind==="text"?t.text:"").join("")}function Ne(e,t){switch(e.version+=1,t.type){case"run.status":return qt(e,t.status);case"message.delta":return Un(e,t.text);case"stage.opened":return zn(e,t);case"stage.delta":return Kn(e,t);case"stage.closed":return Yn(e,t);case"attachment.added":e.attachments.push(t.attachment);return;case"annotation.added":e.annotations.push(t.annotation);return;case"notice.added":return Wn(e,t.notice,t.text);case"helper.began":return Gn(e,t);case"helper.ended":for(let{subagent:n}of e.steps.values())n?.key===t.key&&(n.state=t.status);return;case"run.continued":e.continued=!0;return;case"answer.restarted":return Fn(e,t);case"interaction.requested":return qe(e,t);case"interaction.resolved":return Ae(e,t);case"run.error":e.error={text:t.text,reference:t.reference};return;case"message.complete":return Jn(e,t.message)}}function qt(e,t){if(e.status=t,e.version+=1,!z(t))for(let n of e.steps.values())n.state==="running"&&(n.state="stopped"),n.subagent?.state==="running"&&(n.subagent.state="stopped")}function Un(e,t){let n=e.parts.at(-1);n?.kind==="text"?n.text+=t:e.parts.push({kind:"text",text:t})}function Fn(e,{text:t,attachments:n,annotations:s}){e.attachments=n,e.annotations=s;let i=t.length;if(!E(e).startsWith(t))De(e,t);else{for(let o of e.parts)o.kind==="text"&&(o.text=o.text.slice(0,i),i-=o.text.length);e.parts=e.parts.filter(o=>o.kind!=="text"||o.text)}}function Wn(e,t,n){let s=e.parts.find(i=>i.kind==="notice"&&i.id===t);s?.kind==="notice"?s.text=n:e.parts.push({kind:"notice",id:t,text:n})}function De(e,t){e.parts=e.parts.filter(n=>n.kind!=="text"),t&&e.parts.push({kind:"text",text:t})}function zn(e,t){let n=e.steps.get(t.stage);if(n){Object.assign(n,{title:t.title,text:"",length:0,state:"running",attachments:[]});return}let s={id:t.stage,title:t.title,text:"",length:0,state:"running",seconds:null,attachments:[],children:[],unfolded:!1};e.steps.set(s.id,s);let i=t.parent===null?void 0:e.steps.get(t.parent);if(i){i.children.push(s);return}let o=e.parts.at(-1);o?.kind==="steps"?o.steps.push(s):e.parts.push({kind:"steps",steps:[s]})}function Gn(e,{stage:t,key:n,name:s,agent:i}){let o=e.steps.get(t);o&&(o.subagent={key:n,name:s,agent:i,state:"running"})}function Kn(e,t){let n=e.steps.get(t.stage);n&&(t.text&&(n.text+=t.text),t.length&&(n.length=t.length),t.title&&(n.title+=t.title),t.attachment&&n.attachments.push(t.attachment))}function Yn(e,t){let n=e.steps.get(t.stage);n&&(n.state=t.failed?"failed":"done",n.seconds=t.seconds)}function Jn(e,t){e.message=t,e.attachments=t.attachments??[],!(t.text===void 0||E(e)===t.text)&&De(e,t.text)}var _e=class e{turns=[];title="";todo="";last=0;awaiting=!1;branches={};#t=[];#e=new Map;constructor(t){this.id=t}get running(){let t=this.turns.findLast(n=>n.role==="assistant");return t&&z(t.status)?t:null}take(t){if(t.conversation!==this.id||t.seq<=this.last)return!1;if(this.last=t.seq,this.awaiting=t.type==="message.added",t.type==="todo.changed"&&(this.todo=t.text),t.type==="message.complete"&&(this.todo=t.message.todo??this.todo),t.type==="message.added")this.#o(t.message,t.run);else{if(t.type==="branches.changed")return!0;Ne(this.#r(t.run),t)}return!0}expect({id:t,text:n,attachments:s,again:i,edits:o,continues:a}){let l=this.turns.findIndex(p=>p.role==="user"&&p.id===(i??o));if(this.#t=l<0?[]:this.turns.splice(i?l+1:l),i)return;let u={role:"user",id:t,at:this.#i,text:n,attachments:s,sending:!0};a&&(u.sender={kind:"continuation",title:"",untrusted:!1}),this.turns.push(u)}withdraw(t){this.turns=[...this.turns.filter(n=>n.id!==t),...this.#t],this.#t=[]}insert(t){let n=new Set(this.turns.map(({at:i})=>i)),s=t.filter(({at:i})=>!n.has(i)).flatMap(i=>this.#s(i));this.turns=[...this.turns,...s].sort((i,o)=>i.at-o.at)}complete(t,n){let s=this.turns.find(l=>l.role==="assistant"&&l.id===t.run),i=this.#s(t).find(l=>l.role==="assistant");if(s?.role!=="assistant"||i?.role!=="assistant")return;let[o,a]=[s.steps.get(n),i.steps.get(n)];o&&a&&Object.assign(o,{text:a.text,length:0}),s.version+=1}#s({run:t,at:n,events:s}){let i=new e(this.id);i.#e=this.#e;for(let[a,l]of s.entries())i.take({...l,conversation:this.id??"",run:t,seq:a+1});let o=(this.turns.at(-1)?.at??-1)<=n;i.todo&&o&&(this.todo=i.todo);for(let a of i.turns)a.at=n;return i.turns}get isWhole(){return this.turns.every(({at:t},n)=>t<=(this.turns[n-1]?.at??-1)+1)}get#i(){return(this.turns.at(-1)?.at??-1)+1}expire({answers:t}){this.#e=new Map(Object.entries(t).map(([n,s])=>[n,new Set(s)]));for(let n of this.turns)n.role==="assistant"&&(n.expired=this.#e.get(n.id)??new Set,n.version+=1)}settle(){this.awaiting=!1;let t=this.running;t&&qt(t,"stopped")}#o({id:t,role:n,text:s,attachments:i=[],place:o,sender:a,application:l,left_out:u,created_at:p},O){if(n!=="user")return;this.#t=[];let H=this.turns.find(U=>U.role==="user"&&(U.id===t||U.sending&&(U.text===s||Vn(U,a)))),be={id:t,run:O,text:s,attachments:i,place:o,sender:a,application:l,left_out:u,created_at:p,sending:!1};H?.role==="user"?Object.assign(H,be):this.#n(()=>({role:n,at:this.#i,...be}))}#n(t){let n=this.turns.filter(i=>i.role==="user"&&i.sending);n.length&&(this.turns=this.turns.filter(i=>!n.includes(i)));let s=t();this.turns.push(s);for(let i of n)i.at=this.#i,this.turns.push(i);return s}#r(t){let n=this.turns.find(s=>s.role==="assistant"&&s.id===t);return n?.role==="assistant"?n:this.#n(()=>this.#a(t))}#a(t){let n=this.turns.findLast(s=>s.role==="user");return{role:"assistant",id:t,at:n?.role==="user"&&n.run===t?n.at:this.#i,status:"queued",parts:[],steps:new Map,attachments:[],annotations:[],error:null,message:null,expired:this.#e.get(t)??new Set,continued:!1,version:0}}};function Vn(e,t){return e.sender?.kind==="continuation"&&t?.kind==="continuation"}import{html as At,nothing as Lt}from"../vendor/lit.js";function Ie(e){let{message:t,id:n}=e;if(!t)return Lt;let s=[...ns(t),...Zn(e),...ts(e)],i=document.getElementById("main")?.dataset.requests;return!s.length&&!i?Lt:At`<details class="more-line figures">
    <summary>${c("chevron-right")}<span class="visually-hidden">${r("Details:")}</span>${es(t)}</summary>
    <dl>
      ${s.map(([o,a])=>At`<div><dt dir="auto">${o}</dt><dd dir="auto">${a}</dd></div>`)}
    </dl>
    ${i?At`<a href="/answers/${n}/requests/" target="_blank" rel="noopener"
          >${r("What the model saw")}<span class="visually-hidden"> ${r("(opens in a new tab)")}</span></a
        >`:Lt}
  </details>`}var Qn=e=>r("{whole} ({some} from the cache)",e),Xn=e=>r("{whole} ({some} for thinking)",e);function Zn({steps:e}){return[...e.values()].flatMap(({title:t,seconds:n})=>{let s=[t.replaceAll("`",""),n===null?"":y(n)];return s[1]?[s]:[]})}function ts({message:e,attachments:t}){let n=(e?.memories??[]).filter(({action:o})=>o==="recalled"),s=t.filter(({reference_url:o})=>o);return[[r("Files read"),(e?.files_read??[]).join("; ")],[r("From memory"),n.map(({text:o})=>o).join("; ")],[r("Sources"),[...new Set(s.map(({title:o,reference_url:a})=>o||a))].join("; ")]].filter(([,o])=>o)}function es({seconds:e,usage:t,costs:n,models:s}){let i=Rt(t);return[e===void 0?"":y(e),i?x("{count} token","{count} tokens",i):"",n?Nt(n):""].filter(Boolean).join(" · ")||s?.join(", ")||r("Details")}function ns({models:e,version:t,usage:n,costs:s,first_text_seconds:i,seconds:o}){return[[e?.length===1?r("Model"):r("Models"),e?.join(", ")],[r("App version"),t],[r("Input tokens"),n&&Me(n.prompt_tokens,n.cached_tokens,Qn)],[r("Output tokens"),n&&Me(n.completion_tokens,n.reasoning_tokens,Xn)],[r("Cost"),s&&Nt(s)],[r("Time to first token"),i===void 0?"":y(i)],[r("Duration"),o===void 0?"":y(o)]].filter(([,l])=>l).map(([l,u])=>[l,String(u)])}function Me(e,t,n){return e?t?n({whole:e,some:t}):e.toLocaleString(F):""}function Rt(e){return e?e.prompt_tokens+e.completion_tokens:0}function Nt(e){return Object.entries(e).map(([t,n])=>ss(Number(n),t)).join(" + ")}function ss(e,t){let n=e===0||e>=1?{}:{minimumSignificantDigits:2,maximumSignificantDigits:2};return e.toLocaleString(F,{style:"currency",currency:t,...n})}function Br(e){let t=e.flatMap(i=>i.role==="assistant"&&i.message?[i.message]:[]),n=t.reduce((i,{usage:o})=>i+Rt(o),0),s={};for(let i of t)for(let[o,a]of Object.entries(i.costs??{}))s[o]=(s[o]??0)+Number(a);return{tokens:n,costs:s,is_partial:t.some(i=>!i.costs&&Rt(i.usage))}}function Hr({tokens:e,costs:t,is_partial:n}){let s=Nt(t);return[e?x("{count} token","{count} tokens",e):"",s&&n?r("at least {cost}",{cost:s}):s].filter(Boolean).join(" · ")}import{html as M,LitElement as is,nothing as Dt}from"../vendor/lit.js";var rs=[["system",r("Instructions")],["tools",r("Tools")],["user",r("Questions")],["assistant",r("Answers")],["tool_results",r("Tool results")]],je={unknown:"",ok:"",warning:r("nearly full"),danger:r("full")},os=.3,Mt=class extends is{static properties={use:{attribute:!1}};constructor(){super(),this.use=null}createRenderRoot(){return this}render(){let{use:t}=this;return t?.total?M`<div class="gauge" data-state=${t.state}>
      <button type="button" class="quiet" popovertarget="gauge-parts">${this.#e(t)}</button>
      <div id="gauge-parts" class="menu-popover gauge-parts" role="group" aria-label=${r("Context")} popover @toggle=${this.#t}>
        <dl>
          ${rs.map(([n,s])=>M`<div><dt>${s}</dt><dd>${_t(t[n])}</dd></div>`)}
          <div class="gauge-total"><dt>${r("Total")}</dt><dd>${_t(t.total)}</dd></div>
          ${t.limit?M`<div><dt>${r("Context window")}</dt><dd>${_t(t.limit)}</dd></div>`:Dt}
        </dl>
        <p>${r("Token counts are estimates. If a conversation becomes too long, it is shortened for the model, but you can still read all of it.")}</p>
      </div>
    </div>`:Dt}#t({newState:t,target:n}){let[s,i]=[n,this.querySelector("button")];t==="open"&&i&&rt(s,i,this.closest(".dock")?.querySelector("chat-composer")??i)}#e({ratio:t,total:n,state:s}){if(t===null)return M`<span>${x("Context: {count} token","Context: {count} tokens",Number(n))}</span>`;let i=`${Math.round(t*100)} %`,o=je[s]&&`, ${je[s]}`;return M`<meter min="0" max="1" .value=${t} aria-hidden="true"></meter>
      ${s==="ok"?Dt:c("triangle-alert")}
      <span>${r("Context: {percent}",{percent:i})}${o}</span>`}};customElements.define("chat-gauge",Mt);function _t(e){return Number(e).toLocaleString(F)}function Jr(e,t,n,s){let i=async()=>{let{id:o}=n.conversation,a=o?await nt(`${s()}${o}/usage/`):null;!a||o!==n.conversation.id||(e.use=a,t.summary=a.summary,n.redraw())};n.addEventListener("switched",()=>{e.use=null,t.summary=null}),n.addEventListener("opened",o=>{o.detail.isNew||Ce(()=>{i()})}),n.addEventListener("event",o=>{o.detail.type==="message.complete"&&i()}),n.addEventListener("listed",()=>{(e.use?.ratio??0)>=os&&i()})}function Pe({text:e}){return M`<details class="summary-block">
    <summary>${c("chevron-right")}${r("Earlier conversation, summarized for the model")}</summary>
    <p class="summary-text" dir="auto">${e}</p>
    <p class="summary-note">${r("The model reads this summary instead of everything above.")}</p>
  </details>`}import{html as C,LitElement as Ns,nothing as T}from"../vendor/lit.js";import{html as It,LitElement as as,nothing as lt}from"../vendor/lit.js";var L=class extends as{static properties={label:{attribute:!1},actions:{attribute:!1},current:{state:!0}};constructor(){super(),this.label="",this.actions=[],this.current=""}createRenderRoot(){return this}render(){let t=this.actions.some(({name:n})=>n===this.current)?this.current:this.actions[0]?.name;return It`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#s}>
      ${this.actions.map(n=>this.#t(n,n.name===t))}
    </div>`}focusOn(t){let n=this.#e();(n.find(s=>s.dataset.action===t)??n[0])?.focus()}#t({name:t,icon:n,label:s,run:i,pressed:o,disabled:a,after:l,opensMenu:u},p){let O=({currentTarget:H})=>{!a&&H instanceof HTMLElement&&i(H)};return It`<button type="button" class="quiet" data-action=${t} title=${s} aria-label=${s}
        tabindex=${p?0:-1} aria-pressed=${o===void 0?lt:String(o)}
        aria-haspopup=${u?"menu":lt} aria-disabled=${a?"true":lt} @click=${O} @focus=${()=>this.current=t}>
        ${c(n)}
      </button>${l?It`<span class="actions-place">${l}</span>`:lt}`}#e(){return[...this.querySelectorAll("button")]}#s(t){let n=this.#e(),s=n.indexOf(document.activeElement),i=getComputedStyle(this).direction==="rtl"?"ArrowLeft":"ArrowRight",o=i==="ArrowLeft"?"ArrowRight":"ArrowLeft",l={[i]:s+1,[o]:s-1,Home:0,End:-1}[t.key];s<0||l===void 0||(t.preventDefault(),n.at(l%n.length)?.focus())}};customElements.define("action-row",L);function ct(e,t,n,s){if(!e)return[];let{ids:i,at:o}=e;return[{name:"previous",icon:"chevron-left",label:t.previous,disabled:n||o===0,run:()=>s(i[o-1]??"","previous"),after:`${o+1}/${i.length}`},{name:"next",icon:"chevron-right",label:t.next,disabled:n||o===i.length-1,run:()=>s(i[o+1]??"","next")}]}function I(e,t,n,s){let i={type:t,message:n,name:s};e.dispatchEvent(new CustomEvent("branch-change",{bubbles:!0,detail:i}))}import{html as d,nothing as Ht}from"../vendor/lit.js";import{html as w,LitElement as us,nothing as jt}from"../vendor/lit.js";var Be=[",",";","	","|"];function Ue(e,t){let n=cs(e),s=[],i=[],o=0;for(;o<e.length&&s.length<t;){let{cell:a,end:l}=ls(e,o,n);if(i.push(a),o=l,e[o]===n){if(o+=1,o<e.length)continue;i.push("")}e[o]==="\r"&&e[o+1]===`
`&&(o+=1),o+=1,s.push(i),i=[]}return s}function ls(e,t,n){if(e[t]!=='"')return He(e,t,n);let s="",i=t+1;for(;;){let o=e.indexOf('"',i);if(o<0)return{cell:s+e.slice(i),end:e.length};if(s+=e.slice(i,o),e[o+1]!=='"'){let a=He(e,o+1,n);return{cell:s+a.cell,end:a.end}}s+='"',i=o+2}}function He(e,t,n){let s=t;for(;s<e.length&&e[s]!==n&&e[s]!==`
`&&e[s]!=="\r";)s+=1;return{cell:e.slice(t,s),end:s}}function cs(e){let[t]=e.split(/\r?\n/,1),n=Be.map(s=>t.split(s).length);return Be[n.indexOf(Math.max(...n))]}var Pt=2e5,Fe=100,ds=/^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i,hs=/^text\/(?:csv|tab-separated-values)$/i;function We(e){return ds.test(e.split(";")[0].trim())}var Bt=class extends us{static properties={address:{attribute:!1},name:{attribute:!1},type:{attribute:!1},text:{state:!0},size:{state:!0},problem:{state:!0}};constructor(){super(),this.address="",this.name="",this.type="",this.text=null,this.size=0,this.problem=""}createRenderRoot(){return this}render(){return w`<details class="attachment words" @toggle=${this.#i}>
      <summary>
        ${c("chevron-right")}${c("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#t()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${c("download")}${r("Download")}</a>
        ${/^text\/html\b/i.test(this.type)?w`<button type="button" class="link" @click=${this.#s}>${c("eye")}${r("Preview")}</button>`:jt}
        ${this.size>Pt?w`<span>${r("Only the beginning is shown. Total size: {size}.",{size:ke(this.size)})}</span>`:jt}
      </p>
    </details>`}#t(){if(this.problem)return w`<p class="field-error" role="alert">${this.problem}</p>`;if(this.text===null)return w`<p class="working">${r("Loading…")}</p>`;if(hs.test(this.type))return this.#e(Ue(this.text,Fe+1));let t=this.type==="text/markdown"?this.text:ps(this.text,this.name);return w`<markdown-text .text=${t} .complete=${!0}></markdown-text>`}#e([t=[],...n]){let s=n.length>=Fe||this.size>Pt;return w`<div class="prose-table table" tabindex="0" role="group" aria-label=${r("Table {name}",{name:this.name})}>
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
      ${s?w`<p class="preview-foot">${x("Showing only the first row","Showing only the first {count} rows",n.length)}</p>`:jt}`}async#s({currentTarget:t}){let{openFile:n}=await import("./artifact-panel-6KIIZRBQ.js");try{await n(this.address,this.name,"html",t)}catch{this.problem=r("The file could not be loaded. Check your connection and try again.")}}async#i(t){if(!(!t.target.open||this.text!==null)){this.problem="";try{let s=await fetch(this.address,{headers:{Range:`bytes=0-${Pt-1}`}});if(!s.ok){this.problem=s.status===404?r("The file no longer exists."):r("The file can’t be shown. Download it instead.");return}let i=s.headers.get("Content-Range")?.split("/")[1],o=new Uint8Array(await s.arrayBuffer());this.size=Number(i??o.length),this.text=fs(o)}catch{this.problem=r("The file could not be loaded. Check your connection, then close the preview and open it again.")}}}};customElements.define("file-preview",Bt);function ps(e,t){let n=Math.max(2,...[...e.matchAll(/`+/g)].map(([o])=>o.length)),s="`".repeat(n+1),i=t.match(/\.(\w{1,12})$/)?.[1]??"";return`${s}${i}
${e.replace(/\n$/,"")}
${s}`}function fs(e){if(e[0]===255&&e[1]===254)return new TextDecoder("utf-16le").decode(e);if(e[0]===254&&e[1]===255)return new TextDecoder("utf-16be").decode(e);try{return new TextDecoder("utf-8",{fatal:!0}).decode(e,{stream:!0})}catch{return new TextDecoder("windows-1252").decode(e)}}var ze=/^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i,ms=/^(audio|video)\/[\w.+-]+$/i,gs=/^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;function ut(e){if(!e.length)return Ht;let t=e.filter(Ge).length;return d`<ul class="attachments ${t>1?"gallery":""}" aria-label=${r("Attachments")}>
    ${e.map(n=>d`<li>${$s(n)}</li>`)}
  </ul>`}function dt(e){return e?.length?d`<p class="left-out">${c("circle-alert")}<span dir="auto">${r("Not imported: {names}",{names:e.join(", ")})}</span></p>`:Ht}function Ge(e){return ze.test(e.type??"")?ys(e):""}function $s(e){let{type:t="",data:n}=e,s=Ge(e);if(s)return ws(e,s);let i=ms.exec(t)?.[1].toLowerCase();if(i){let a=xs(e);if(a)return vs(e,i,a)}if(n&&gs.test(t))return ks(e,n);if(n)return Ss(e,n);let o=ot(e.url??"");return o?bs(e,o.pathname):Es(e)}function bs(e,t){let{type:n=""}=e,s=R(e);if(We(n))return d`<file-preview .address=${t} .name=${s} .type=${n}></file-preview>`;let i=n.split(";")[0];return/^application\/pdf$/.test(n)?d`<a class="attachment file" href=${t} target="_blank" rel="noopener">
      ${c("file-text")}${G(e,i)}${c("external-link")}
    </a>`:d`<a class="attachment file" href="${t}?download" download=${s}>
    ${c("file-text")}${G(e,i)}${c("download")}
  </a>`}function ys({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:t&&/^data:image\//i.test(t)?t:t&&Cs(t)?q(t)?.href??"":""}function ws(e,t){let n=ot(e.url??""),s=R(e),i=d`<img src=${t} alt=${s} loading="lazy" @error=${Ts} />`;return d`<figure class="attachment picture">
    ${n?d`<a href=${n.pathname} target="_blank" rel="noopener" data-zoom>${i}</a>`:d`<button type="button" class="zoom" data-zoom>${i}</button>`}
    <p class="picture-missing">${c("image")}${r("This image can’t be shown.")}</p>
    <figcaption>
      ${n?d`<a href=${n.pathname} target="_blank" rel="noopener">${s}</a>`:s}
      ${Ke(e)}
    </figcaption>
  </figure>`}function xs({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:ot(t??"")?.pathname??""}function vs(e,t,n){let s=R(e);return d`<figure class="attachment media">
    ${t==="audio"?d`<audio controls preload="metadata" src=${n} aria-label=${s}></audio>`:d`<video controls preload="metadata" src=${n} aria-label=${s}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${s}</span>
      <a class="quiet" href=${n.startsWith("data:")?n:`${n}?download`} download=${s} title=${r("Download")}>
        ${c("download")}<span class="visually-hidden">${r("Download {name}",{name:s})}</span>
      </a>
    </figcaption>
  </figure>`}function ks(e,t){let n=e.type==="text/markdown";return d`<details class="attachment words">
    <summary>${c("chevron-right")}${c("file-text")}<span>${R(e)}</span></summary>
    ${n?d`<markdown-text .text=${t} .complete=${!0}></markdown-text>`:d`<pre tabindex="0" role="group" aria-label=${R(e)}>${t}</pre>`}
    ${Ke(e)}
  </details>`}function Ss(e,t){let n=`data:application/octet-stream;base64,${t.replace(/^data:[^,]*,/,"")}`,s=R(e),i=d`<a class="attachment file" href=${n} download=${s}>
    ${c("file-text")}${G(e,r("Download"))}
  </a>`;if(!/^text\/html\b/i.test(e.type??""))return i;return d`${i}<button type="button" class="button" @click=${o}>${c("eye")}${r("Preview {name}",{name:s})}</button>`;async function o({currentTarget:a}){let{openText:l}=await import("./artifact-panel-6KIIZRBQ.js");await l(s,"html",Os(t),a)}}function Os(e){try{let t=Uint8Array.from(atob(e.replace(/^data:[^,]*,/,"")),n=>n.charCodeAt(0));return new TextDecoder().decode(t)}catch{return e}}function Es(e){let t=e.url??e.reference_url??"",n=q(t),s=c(ze.test(e.type??"")?"image":"file-text");return n?d`<a class="attachment file" href=${n.href} target="_blank" rel="noopener noreferrer">
    ${s}${G(e,n.host)}${c("external-link")}
  </a>`:d`<span class="attachment file">${s}${G(e,t)}</span>`}function G(e,t){return d`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${R(e)}</span>
    <span class="attachment-detail">${t}</span>
  </span>`}function Ke({reference_url:e}){let t=q(e??"");return t?d`<a href=${t.href} target="_blank" rel="noopener noreferrer">${r("Source: {host}",{host:t.host})}</a>`:Ht}function R({title:e,type:t,url:n}){return e||ve(n??"")||t||r("Attachment")}function Ts(e){let t=e.target;t.closest("[data-zoom]")?.removeAttribute("data-zoom"),t.closest("figure")?.setAttribute("data-missing","")}function Cs(e){return q(e)?.origin===location.origin}import{html as Ut,LitElement as qs,nothing as As}from"../vendor/lit.js";var Ye=14,Ls=1400;function Je(e){return e?Rs(e)?Ut`<folded-text .text=${e}></folded-text>`:Ut`<p class="question-text" dir="auto">${e}</p>`:As}function Rs(e){return e.length>Ls||e.split(`
`,Ye+1).length>Ye}var Ft=class extends qs{static properties={text:{attribute:!1},unfolded:{type:Boolean,reflect:!0}};constructor(){super(),this.text="",this.unfolded=!1}createRenderRoot(){return this}render(){return Ut`<p class="question-text" dir="auto" @scroll=${this.#t}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#e}>
        ${this.unfolded?r("Show less"):r("Show all")}<span class="visually-hidden"> ${r("of the question")}</span>
      </button>`}#t(t){let n=t.target;this.unfolded||!n.scrollTop||(n.scrollTop=0,this.unfolded=!0)}#e(){this.unfolded=!this.unfolded,this.unfolded||this.updateComplete.then(()=>this.scrollIntoView({block:"nearest"}))}};customElements.define("folded-text",Ft);var Ds={previous:r("Previous version of the question"),next:r("Next version of the question")},_s=2e3,Wt=class extends Ns{static properties={question:{attribute:!1},state:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},editing:{state:!0},copied:{state:!0}};constructor(){super(),this.question=void 0,this.state="",this.branch=void 0,this.changeable=!1,this.limit=1/0,this.editing=!1,this.copied=!1}createRenderRoot(){return this}render(){let{question:t}=this;if(!t)return T;let{text:n,attachments:s,place:i,sender:o,application:a,left_out:l,created_at:u}=t;return C`${a?C`<p class="handover" dir="auto">${r("{title} answers from here on",{title:a.title})}</p>`:T}
      <h2 class="visually-hidden">${r("Question")}</h2>
      ${u?C`<time class="printed" datetime=${u}>${W(u)}</time>`:T}
      ${o?Is(o):T}
      ${i?C`<p class="question-place" dir="auto">${[i.title,i.narrative].filter(Boolean).join(": ")}</p>`:T}
      ${this.editing?this.#i(t):Je(n)} ${ut(s)} ${dt(l)}
      ${this.editing?T:this.#t(t)}`}#t(t){return C`<action-row .label=${r("Question actions")} .actions=${this.#e(t)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>`}#e({id:t,text:n}){let s=(o,a)=>I(this,"branch.switch",o,a),i=()=>I(this,"turn.delete",t,"delete");return[...ct(this.branch,Ds,!this.changeable,s),...this.changeable?[{name:"edit",icon:"pencil",label:r("Edit the question"),run:()=>this.edit()}]:[],...n?[{name:"copy",icon:this.copied?"check":"copy",label:r("Copy the question"),run:()=>this.#s(n)}]:[],...this.changeable?[{name:"delete",icon:"trash-2",label:r("Delete question and answer"),run:i}]:[]]}async#s(t){this.copied=await st(t),setTimeout(()=>this.copied=!1,_s)}#i({text:t,attachments:n}){return C`<form class="question-editor" @submit=${this.#l} @keydown=${this.#a}>
      <textarea aria-label=${r("Edit the question")} dir="auto" rows="3" maxlength=${Number.isFinite(this.limit)?this.limit:T}
        ?required=${!n.length} .defaultValue=${t}></textarea>
      <p class="question-state">${r("Your earlier answers are still there: switch with ‹ 1/2 ›.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#r}>${r("Cancel")}</button>
        <button class="button primary">${r("Send")}</button>
      </div>
    </form>`}edit(){return!this.changeable||this.editing?!1:(this.editing=!0,this.#o(),!0)}async#o(){await this.updateComplete;let t=this.#n();t?.focus(),t?.setSelectionRange(t.value.length,t.value.length),requestAnimationFrame(()=>requestAnimationFrame(()=>t?.scrollIntoView({block:"center"})))}#n(){return this.querySelector("textarea")}async#r(){this.editing=!1,await this.updateComplete;let t=this.querySelector("action-row");t instanceof L&&(await t.updateComplete,t.focusOn("edit"))}#a(t){t.isComposing||(t.key==="Escape"?(t.preventDefault(),this.#r()):it(t)&&t.target instanceof HTMLTextAreaElement&&(t.preventDefault(),t.currentTarget.requestSubmit()))}#l(t){t.preventDefault();let{question:n}=this,s=this.#n()?.value??"";if(!n||!this.changeable||!(s.trim()||n.attachments.length))return;this.editing=!1;let i={text:s,attachments:n.attachments,edits:n.id};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:i}))}};customElements.define("chat-question",Wt);function Ms(e,t){return e==="alarm"?r("Alarm"):e==="webhook"?r("Sent by the webhook “{title}”",{title:t}):r("Sent by the schedule “{title}”",{title:t})}function Is({kind:e,title:t,at:n}){let s=Ms(e,t);return C`<p class="question-sender">
    ${c(n?"clock":"settings")}<span dir="auto">${s}</span>
    ${n?C`<time datetime=${n}>${W(n)}</time>`:T}
  </p>`}import{html as S,LitElement as vr,nothing as tt,repeat as kr}from"../vendor/lit.js";function Qe(e){let t=[];for(let s of e){let i=t.at(-1);if(s.role==="user"&&s.sender?.kind==="continuation"){i?.turn.role==="assistant"&&(i.goesOn=!0);continue}let o=s.role==="assistant"&&i?.turn.role==="assistant"&&i.goesOn;t.push({turn:s,asked:o?i.asked:i?.turn.role==="user"?i.turn:void 0,earlier:o?[...i.earlier,i.turn]:[],goesOn:!1,isLast:!1})}let n=t.at(-1);return n&&(n.isLast=!0),t}function Xe(e){let t=[],n=0,s=-1,i;for(let o of e){let{turn:a}=o;a.at>(i?.at??-1)+1&&(t.push({key:`gap ${n}`,turns:[],missing:i?{after:Ve(i)}:{before:Ve(a)}}),n+=1,s=-1);let l=Math.floor(a.at/8);l===s?t.at(-1)?.turns.push(o):t.push({key:js(l,i),turns:[o]}),s=l,i=a}return t}function js(e,t){return t&&Math.floor(t.at/8)===e?`turns ${e} end`:`turns ${e}`}function Ve(e){return e.role==="user"?e.run??"":e.id}function ht(e){return e.role==="user"?e.id:e.message?.id}import{html as Ze}from"../vendor/lit.js";function tn({text:e,cancel:t,confirm:n}){return Ze`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${t}>
    <form @submit=${i=>{i.preventDefault(),n()}}>
      <h2 id="turn-deletion-heading">${r("Delete this question?")}</h2>
      ${e?Ze`<blockquote dir="auto">${e}</blockquote>`:""}
      <p>${r("The question and all its answers will be permanently deleted. Later questions are kept, but the model no longer reads the deleted messages.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${t}>${r("Cancel")}</button>
        <button class="button danger">${r("Delete")}</button>
      </div>
    </form>
  </dialog>`}import{html as Tt,LitElement as $r,nothing as Pn,repeat as br}from"../vendor/lit.js";import{html as m,LitElement as dr,nothing as g,repeat as hr}from"../vendor/lit.js";import{html as Bi,nothing as vn}from"../vendor/lit.js";import{html as zt,nothing as Gt}from"../vendor/lit.js";function en(e){let{subagent:t}=e;if(!t)return Gt;let n=s=>nn(s,"subagent-open",e.id);return zt`<p class="subagent-buttons">
    ${t.agent?zt`<span class="subagent-agent">${t.agent}</span>`:Gt}
    <button type="button" class="button" aria-label=${r("Open the sub-agent {name}",{name:t.name})} @click=${n}>${r("Open")}</button>
    ${Kt(e)}
  </p>`}function Kt({subagent:e}){if(e?.state!=="running")return Gt;let t=n=>nn(n,"subagent-stop",e.key);return zt`<button type="button" class="button" aria-label=${r("Stop the sub-agent {name}",{name:e.name})} @click=${t}>
    ${c("square")}${r("Stop")}
  </button>`}function nn(e,t,n){e.target?.dispatchEvent(new CustomEvent(t,{bubbles:!0,detail:n}))}import{html as $,nothing as k,repeat as Ti}from"../vendor/lit.js";import{html as P,LitElement as ri,nothing as ft}from"../vendor/lit.js";import{html as j,nothing as dn}from"../vendor/lit.js";import{html as b,nothing as pt}from"../vendor/lit.js";var sn=60,Ps=400;function Jt(e,t,n,s={}){let i=[...new Set([...Object.keys(e),...Object.keys(t)])];return i.length?b`<div class="arguments">
    ${i.map((o,a)=>{let l=s[o]??o;return Object.hasOwn(t,o)?Bs(o,l,e[o],t[o],`${n}-${a}`):b`<div class="argument">
            <span class="argument-name" dir="auto">${l}</span>
            ${Fs(l,e[o])}
          </div>`})}
  </div>`:pt}function rn(e,t,n){let s={};for(let[i,o]of Object.entries(n)){let a=e.elements.namedItem(`argument ${i}`);if(!zs(a))continue;let l=Us(a,o);if(a.setCustomValidity(l===on?r("Enter JSON, such as [1, 2]."):""),!a.reportValidity())return null;l!==void 0&&JSON.stringify(l)!==JSON.stringify(t[i])&&(s[i]=l)}return s}function Bs(e,t,n,s,i){let o=s.description?b`<span class="hint" id="${i}-hint" dir="auto">${s.description}</span>`:pt;return b`<div class="argument">
    <label class="argument-name" for=${i} dir="auto">${t}</label>
    ${Hs(e,n,s,i)} ${o}
  </div>`}function Hs(e,t,n,s){let i=`argument ${e}`,o=n.description?`${s}-hint`:pt,a=an(n);if(n.enum)return b`<select id=${s} name=${i} aria-describedby=${o}>
      ${t===void 0?b`<option value=""></option>`:pt}
      ${n.enum.map((u,p)=>b`<option value=${p} ?selected=${Ws(u,t)}>${Yt(u)}</option>`)}
    </select>`;if(a==="boolean")return b`<input type="checkbox" id=${s} name=${i} ?checked=${t===!0} aria-describedby=${o} />`;if(a==="integer"||a==="number")return b`<input type="number" id=${s} name=${i} step=${a==="integer"?"1":"any"}
      value=${t??""} ?required=${t!==void 0} aria-describedby=${o} />`;let l=t===void 0?"":Yt(t);return a==="string"&&l.length<=sn&&!l.includes(`
`)?b`<input id=${s} name=${i} dir="auto" value=${l} aria-describedby=${o} />`:b`<textarea id=${s} name=${i} dir="auto" rows=${Math.min(8,l.split(`
`).length+1)}
    .defaultValue=${l} aria-describedby=${o}></textarea>`}var on=Symbol("invalid");function Us(e,t){if(t.enum)return e.value?t.enum[Number(e.value)]:void 0;let n=an(t);if(n==="boolean"){let s=e;return s.checked===s.defaultChecked?void 0:s.checked}if(!(e instanceof HTMLSelectElement||e.value===e.defaultValue)){if(n==="string")return e.value;if(e.value.trim()!==""){if(n==="integer"||n==="number")return Number(e.value);try{return JSON.parse(e.value)}catch{return on}}}}function an({type:e}){return[e].flat().find(t=>t&&t!=="null")??""}function Fs(e,t){let n=Yt(t),s=typeof t=="object"&&t!==null,i=s?"argument-value argument-code":"argument-value";return n.length<=Ps&&!n.includes(`
`)?b`<span class=${i} dir="auto">${n}</span>`:b`<div class=${i} dir=${s?"ltr":"auto"} tabindex="0" role="group" aria-label=${e}>${n}</div>`}function Yt(e){if(typeof e=="string")return e;let t=JSON.stringify(e)??"";return t.length<=sn?t:JSON.stringify(e,null,2)}function Ws(e,t){return JSON.stringify(e)===JSON.stringify(t)}function zs(e){return e instanceof HTMLInputElement||e instanceof HTMLTextAreaElement||e instanceof HTMLSelectElement}var ln={"read-only":["file-text",r("Only reads data")],changes:["pencil",r("Makes changes")],destructive:["triangle-alert",r("Deletes or overwrites data")]},Gs={conversation:r("Don’t ask again in this conversation"),application:r("Don’t ask again in this app")};function hn({asked:e},t,n,s){let i=e.arguments??{},o=e.editable??{};if(e.four_eyes)return j`${cn(e.because)} ${un(e.risk)} ${Jt(i,{},t,e.labels)}
      <p class="hint">${r("Another user must approve or deny this call. Ask an administrator of this server.")}</p>`;let a=u=>{let p=rn(u,i,o);if(p===null)return;let O=new FormData(u).get("always");s({outcome:"approved",arguments:p,...O?{always:String(O)}:{}})},l=u=>s({outcome:"denied",reason:String(new FormData(u).get("reason")??"").trim()});return j`<form
    novalidate
    @submit=${u=>{u.preventDefault(),a(u.target)}}
  >
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Tool call")}</legend>
      ${cn(e.because)} ${un(e.risk)} ${Jt(i,o,t,e.labels)}
      ${Ys(e.always??[],t)}
      <details class="more-field">
        <summary>${c("plus")}${r("Reason for denying (optional)")}</summary>
        <label class="argument-name" for="${t}-reason">${r("Reason for denying (optional)")}</label>
        <input id="${t}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${Ks(l)} />
      </details>
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${r("Approve")}</button>
        <button type="button" class="button" @click=${u=>l(pn(u))}>
          ${c("x")}${r("Deny")}
        </button>
      </div>
    </fieldset>
  </form>`}function Ks(e){return t=>{t.key!=="Enter"||t.isComposing||(t.preventDefault(),e(pn(t)))}}function pn(e){return e.currentTarget.form}function cn(e){return e?j`<p class="because">${c("circle-alert")}<span dir="auto">${e}</span></p>`:dn}function un(e){let[t,n]=ln[e]??ln.changes;return j`<p class="risk" data-risk=${e}>${c(t)}${n}</p>`}function Ys(e,t){return e.length?j`<div class="arguments">
    <div class="argument">
      <label class="argument-name" for="${t}-always">${r("Next time")}</label>
      <select id="${t}-always" name="always">
        <option value="">${r("Ask again")}</option>
        ${e.map(n=>j`<option value=${n}>${Gs[n]??n}</option>`)}
      </select>
    </div>
  </div>`:dn}import{html as f,nothing as v}from"../vendor/lit.js";var Js={email:"email",uri:"url",date:"date"};function fn({asked:e},t,n,s){let i=e.fields??[];return f`<form @submit=${a=>{a.preventDefault();let l=a.target;s({outcome:"accepted",content:ei(l,i)})}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      <p class="interaction-question" dir="auto">${e.message}</p>
      ${e.mode==="url"?Vs(e):f`${i.map((a,l)=>Xs(a,`${t}-${l}`))}
            <p class="hint">${r("Your answer is sent to this server. Don’t enter a password.")}</p>`}
      <div class="interaction-buttons">
        ${e.mode==="url"?Qs(e,n,s):f`<button class="button primary">${c("check")}${r("Send")}</button>`}
        <button type="button" class="button" @click=${()=>s({outcome:"declined"})}>${c("x")}${r("Decline")}</button>
        <button type="button" class="button" @click=${()=>s({outcome:"cancelled"})}>${r("Cancel")}</button>
      </div>
    </fieldset>
  </form>`}function Vs({url:e,host:t,repeats:n}){return f`<p>${r("The server is asking you to open a page on this host:")} <strong class="interaction-host">${t}</strong></p>
    <p class="hint argument-value">${e}</p>
    ${n?f`<p class="hint">${r("When you’re done, return to this page and choose “Done”. The tool then runs again.")}</p>`:v}`}function Qs(e,t,n){if(!t)return v;let s=()=>n({outcome:"accepted"}),i=o=>f`<a class="button primary" href=${e.url}
    target="_blank" rel="noopener noreferrer" @click=${o?s:v}>${r("Open {host}",{host:e.host})}</a>`;return e.repeats?f`${i(!1)}
    <button type="button" class="button" @click=${s}>${c("check")}${r("Done")}</button>`:i(!0)}function Xs(e,t){let n=e.hint?f`<span class="hint" id="${t}-hint" dir="auto">${e.hint}</span>`:v;return e.type==="choices"?ti(e,t,n):e.type==="boolean"?f`<div class="choices">
      <label class="choice" for=${t}>
        <input type="checkbox" id=${t} name="field ${e.name}" ?checked=${e.default===!0} aria-describedby=${e.hint?`${t}-hint`:v} />
        <span dir="auto">${e.label}</span>
      </label>
      ${n}
    </div>`:f`<div class="argument">
    <label class="argument-name" for=${t} dir="auto">${e.label}${e.required?"":` ${r("(optional)")}`}</label>
    ${Zs(e,t)} ${n}
  </div>`}function Zs(e,t){let{name:n,required:s}=e,i=e.hint?`${t}-hint`:v;return e.type==="choice"?f`<select id=${t} name="field ${n}" ?required=${s} aria-describedby=${i}>
      <option value=""></option>
      ${e.options?.map(({value:o,label:a})=>f`<option value=${o} ?selected=${o===e.default}>${a}</option>`)}
    </select>`:e.type==="string"?f`<input type=${Js[e.format??""]??"text"} id=${t} name="field ${n}" dir="auto"
      value=${e.default??""} ?required=${s} minlength=${e.least??v} maxlength=${e.most??2e4}
      aria-describedby=${i} />`:f`<input type="number" id=${t} name="field ${n}" step=${e.type==="integer"?"1":"any"}
    value=${e.default??""} ?required=${s} min=${e.least??v} max=${e.most??v}
    aria-describedby=${i} />`}function ti(e,t,n){let s=Array.isArray(e.default)?e.default:[];return f`<fieldset class="choices" aria-describedby=${e.hint?`${t}-hint`:v}>
    <legend class="argument-name" dir="auto">${e.label}</legend>
    ${e.options?.map(({value:i,label:o},a)=>f`<label class="choice" for="${t}-${a}">
        <input type="checkbox" id="${t}-${a}" name="field ${e.name}" value=${i} ?checked=${s.includes(i)} />
        <span dir="auto">${o}</span>
      </label>`)}
    ${n}
  </fieldset>`}function ei(e,t){let n=new FormData(e),s=t.map(({name:i,type:o,required:a})=>{let l=n.getAll(`field ${i}`).map(String);return o==="boolean"?[i,l.length>0]:o==="choices"?[i,l.length||a?l:void 0]:l[0]?[i,o==="string"||o==="choice"?l[0]:Number(l[0])]:[i,void 0]});return Object.fromEntries(s.filter(([,i])=>i!==void 0))}import{html as N,nothing as K}from"../vendor/lit.js";function mn({asked:e},t,n,s,i){let o=e.input!=="text"&&e.options?.length>0;return N`<form @submit=${l=>{l.preventDefault();let u=new FormData(l.target),p=u.getAll("choice").map(String),O=String(u.get("text")??"").trim();i(p.length||O?{outcome:"answered",choices:p,text:O}:null)}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      ${e.title?N`<p class="interaction-question" dir="auto">${e.question}</p>`:K}
      ${o?ni(e.options,e.input==="multiple",e.question,t):K}
      ${!o||e.freeform!==!1?si(o,t):K}
      ${s?N`<p class="field-error" role="alert">${s}</p>`:K}
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${we("to answer","Answer")}</button>
        <button type="button" class="button" @click=${()=>i({outcome:"skipped",choices:[],text:""})}>
          ${r("Skip")}
        </button>
      </div>
    </fieldset>
  </form>`}function ni(e,t,n,s){return N`<fieldset class="choices">
    <legend class="visually-hidden">${n}</legend>
    ${e.map(({label:i,description:o},a)=>N`<label class="choice" for="${s}-${a}">
        <input type=${t?"checkbox":"radio"} id="${s}-${a}" name="choice" value=${i} />
        <span dir="auto">${i}${o?N`<span class="hint">${o}</span>`:K}</span>
      </label>`)}
  </fieldset>`}function si(e,t){let n=e?r("In your own words (optional)"):r("Your answer");return N`<div class="argument">
    <label class="argument-name" for="${t}-text">${n}</label>
    <textarea id="${t}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${i=>{it(i)&&(i.preventDefault(),i.target.form?.requestSubmit())}}></textarea>
  </div>`}import{html as ii}from"../vendor/lit.js";function gn({asked:e},t,n){return ii`<p>
      ${r("You’ll sign in on this host:")} <strong>${e.host}</strong>. ${r("Tools can then use your account on this server:")}
      <strong>${e.server}</strong>.
    </p>
    <div class="interaction-buttons">
      <a class="button primary" href="/connect/${encodeURIComponent(e.account)}/" target="_blank" rel="noopener"
        >${c("external-link")}${r("Connect")}<span class="visually-hidden"> ${r("(opens in a new tab)")}</span></a
      >
      <button type="button" class="button" ?disabled=${!t} @click=${()=>n({outcome:"skipped"})}>
        ${r("Skip")}
      </button>
    </div>`}var Qt=1e3,oi=0,Vt=class extends ri{static properties={interaction:{attribute:!1},version:{attribute:!1},status:{attribute:!1},problem:{state:!0}};#t=`interaction-${++oi}`;#e=0;constructor(){super(),this.interaction=void 0,this.version=0,this.status="waiting",this.problem=""}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),this.#e=setInterval(()=>this.#s&&this.requestUpdate(),Qt)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#e)}get#s(){return this.interaction!==void 0&&!this.interaction.resolved&&!li(this.status)}focus(){let t=this.querySelector("section");t?.scrollIntoView({block:"nearest"}),t?.focus({preventScroll:!0})}render(){let{interaction:t}=this;if(!t)return ft;if(t.kind==="client_tool")return this.#s?ui(t):ft;if(!this.#s)return di(t);let{asked:n,due:s}=t;return P`<section class="interaction" tabindex="-1" aria-labelledby="${this.#t}-title" @keydown=${ai}>
      <div class="interaction-head">
        <h3 id="${this.#t}-title" dir="auto">${Xt(n)}</h3>
        ${s===null?ft:P`<span class="time-left" role="timer" aria-live="off">${ci(s)}</span>`}
      </div>
      ${this.#i(t)}
    </section>`}#i(t){let n=Ct(t,this.status)&&!t.sending,s=i=>this.#o(t,i);return t.kind==="approval"?hn(t,this.#t,n,s):t.kind==="question"?mn(t,this.#t,n,this.problem,s):t.kind==="elicitation"?fn(t,this.#t,n,s):t.kind==="sign_in"?gn(t,n,s):P`<p class="hint">${r("This request can’t be answered on this page.")}</p>`}#o({key:t,kind:n},s){this.problem=s?"":r("Choose or enter an answer, or skip the question."),s&&this.dispatchEvent(new CustomEvent("answer",{bubbles:!0,detail:{key:t,kind:n,answer:s}}))}};customElements.define("chat-interaction",Vt);function ai(e){e.key!=="Escape"||e.isComposing||(e.preventDefault(),document.getElementById("question")?.focus())}function Xt(e){return e.title||e.question||e.name||r("Your input is needed")}function li(e){return e==="done"||e==="failed"||e==="stopped"}function ci(e){let t=Math.ceil(e-Date.now()/Qt);if(t<=0)return r("Timed out");let n=t<10?r("{seconds} s",{seconds:t}):y(t);return r("{time} left",{time:n})}function ui({asked:e,isHere:t}){return P`<p class="decision">
    ${c("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${Xt(e)}</span>
      <span>${t?r("Running on this page"):r("Running on the page where you sent the message")}</span>
    </span>
  </p>`}function di(e){let{resolved:t}=e,n=["approved","answered","accepted","connected"].includes(t?.answer.outcome??"");return P`<p class="decision" data-outcome=${n?"yes":"no"}>
    ${c(n?"check":"x")}
    <span>
      <span class="decision-title" dir="auto">${Xt(e.asked)}</span>
      <span>${Zt(e)}</span>
      ${t?.answer.always?P`<a href="/approvals/">${r("Start asking again…")}</a>`:ft}
    </span>
  </p>`}function Zt({kind:e,resolved:t,asked:n}){if(!t)return r("Not decided: the answer ended first.");let{answer:s,by:i,at:o}=t,a=W(new Date(o*Qt).toISOString()),l={name:i||r("an unknown user"),moment:a},u=Object.keys(s.arguments??{}).map(p=>n?.labels?.[p]??p);switch(s.outcome){case"approved":return u.length?r("Approved by {name}, {moment}, with changes to {names}.",{...l,names:u.join(", ")}):r("Approved by {name}, {moment}.",l);case"denied":return s.reason?r("Denied by {name}, {moment}: {reason}",{...l,reason:s.reason}):r("Denied by {name}, {moment}.",l);case"answered":return r("Answered by {name}, {moment}: {answer}",{...l,answer:[...s.choices??[],s.text].filter(Boolean).join(", ")});case"accepted":return r("Answered by {name}, {moment}.",l);case"declined":return r("Declined by {name}, {moment}.",l);case"cancelled":return r("Canceled by {name}, {moment}.",l);case"lost":return r("Not answered: the call ended first.");case"connected":return r("Connected by {name}, {moment}.",l);case"skipped":return r("Skipped by {name}, {moment}.",l);default:return e==="approval"?r("Nobody decided in time, so the call was denied ({moment}).",{moment:a}):r("Nobody answered in time ({moment}).",{moment:a})}}import{html as D,nothing as te}from"../vendor/lit.js";var hi=/^\[(\d{1,4})\] (.*\S.*)$/,pi=600;function Y(e){return e.map($n).filter(n=>n!==null).sort((n,s)=>Number(n.number)-Number(s.number))}function mt(e,t=[]){let n=t.map((s,i)=>Ee(i+1,s)).filter(({place:s})=>s);return D`${ut(e.filter(s=>!$n(s)))}
    ${fi([...Y(e),...n])}`}function $n({type:e,title:t,url:n,data:s,reference_url:i}){let[,o,a]=hi.exec(t??"")??[];return e!=="text/plain"||n||!s||s.length>pi||!a?null:{number:o,place:a,sentence:s,address:q(i??"")?.href??""}}function fi(e){return e.length?D`<div class="sources">
    <h3>${r("Sources")}</h3>
    <ul>
      ${e.map(t=>D`<li>${mi(t)}</li>`)}
    </ul>
  </div>`:te}function mi({number:e,place:t,sentence:n,address:s}){return D`<span class="source-number">${e}</span>
    <div dir="auto">
      ${s?D`<a href=${s} target="_blank" rel="noopener noreferrer">${t}</a>${gi(s)}`:t}
      ${n?D`<q>${n}</q>`:te}
    </div>`}function gi(e){let t=new URL(e);return t.origin===location.origin?te:D` (${t.host})`}var $i=/^> #{4,5} (.{1,60}?):?\s*$/,bi=/^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/,bn=/^(`{3,})/,yi=/^(`{3,})(?:json)?\n([\s\S]*)\n\1$/,wi=/^[A-Za-z][\w-]*_[\w-]*: (?=\S)/;function ee(e){return wn(e,$i).map(({match:n,lines:s})=>({heading:n?.[1]??"",text:s.join(`
`).trim()}))}function ne(e){let t=wn(e,bi);return t.some(({match:n})=>!n)?[]:t.map(({match:n,lines:s})=>({name:n?.[1]??"",text:[n?.[2]??"",...s].join(`
`).trim()}))}function gt(e){let t=yi.exec(e)?.[2]??e;if(!/^\s*[[{]/.test(t))return null;try{return JSON.parse(t)}catch{return null}}function yn(e){let n=(ee(e).findLast(({heading:s})=>s==="Error")?.text.split(`
`).find(s=>s.trim()&&!bn.test(s))??"").replace(wi,"");return n.length>200?`${n.slice(0,199)}…`:n}function wn(e,t){let n=[],s="";for(let i of e.replace(/\r\n?/g,`
`).split(`
`)){let o=bn.exec(i)?.[1]??"",a=s?null:t.exec(i);s&&o.length>=s.length?s="":s||(s=o),a?n.push({match:a,lines:[]}):n.length?n[n.length-1].lines.push(i):i.trim()&&n.push({match:null,lines:[i]})}return n}import{html as h,LitElement as xi,nothing as $t}from"../vendor/lit.js";var xn=20,bt=1500,vi=8,ki=3,Si=/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i,Oi={Request:r("Request"),Response:r("Response"),Result:r("Result"),Error:r("Error"),Sources:r("Sources"),"Status Code":r("Status code")},se=class extends xi{static properties={text:{attribute:!1},complete:{attribute:!1},sources:{attribute:!1},all:{state:!0},raw:{state:!0}};constructor(){super(),this.text="",this.complete=!1,this.sources=[],this.all=!1,this.raw=!1,this.isCut=!1}createRenderRoot(){return this}render(){if(!this.complete)return this.#n(this.text);if(this.raw)return h`<pre class="step-raw" tabindex="0" role="group" aria-label=${r("Raw text")}>${this.text}</pre>${this.#t()}`;this.isCut=!1;let t=ee(this.text),n=t.map(i=>this.#e(i)),s=!this.isCut&&t.every(({heading:i,text:o})=>!i&&!gt(o)&&!ne(o).length);return h`${n}${s?$t:this.#t()}`}#t(){let t=()=>this.all=!this.all,n=()=>this.raw=!this.raw,s=!this.raw&&(this.isCut||this.all);return h`<div class="step-buttons">
      ${s?h`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${t}>
            ${this.all?r("Show less"):r("Show all")}
          </button>`:$t}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${n}>${r("Raw")}</button>
    </div>`}#e({heading:t,text:n}){return h`${t?h`<h3 class=${t==="Error"?"step-error":""}>${Oi[t]??t}</h3>`:$t} ${this.#s(n)}`}#s(t){let n=ne(t);if(n.length)return this.#l(n.map(i=>[i.name,this.#i(i.text)]));let s=gt(t);return s?this.#r(s,0):this.#o(t)}#i(t){let n=gt(t);return n?this.#r(n,1):t.startsWith("```")?this.#n(t):this.#a(t)}#o(t){return t.length<=bt?this.#n(t):(this.isCut=!0,h`<div class=${this.all?"":"step-cut"}>${this.#n(t)}</div>`)}#n(t){return h`<markdown-text .text=${t} .complete=${this.complete} .sources=${this.sources}></markdown-text>`}#r(t,n){if(t===null||t==="")return h`<span class="step-none">${r("none")}</span>`;if(typeof t!="object")return this.#a(String(t));if(n>ki)return h`<code>${JSON.stringify(t).slice(0,bt)}</code>`;if(!Array.isArray(t))return this.#l(Object.entries(t).map(([i,o])=>[i,this.#r(o,n+1)]));let s=Ei(t);return s.length?this.#u(s,t,n):t.length?h`<ul>${this.#c(t).map(i=>h`<li>${this.#r(i,n+1)}</li>`)}</ul>`:h`<span class="step-none">${r("none")}</span>`}#a(t){if(Si.test(t))return h`<button type="button" class="zoom" data-zoom aria-label=${r("Picture")}><img src=${t} alt="" /></button>`;let n=t.length>bt;return this.isCut||=n,h`<span class="step-string" dir="auto">${n&&!this.all?`${t.slice(0,bt)}…`:t}</span>`}#l(t){return t.length?h`<dl class="step-pairs">
      ${this.#c(t).map(([n,s])=>h`<div><dt dir="auto">${n}</dt><dd>${s}</dd></div>`)}
    </dl>`:h`<span class="step-none">${r("none")}</span>`}#u(t,n,s){return h`<div class="table" tabindex="0" role="group" aria-label=${r("Table: {columns}",{columns:t.join(", ")})}>
      <table>
        <thead><tr>${t.map(i=>h`<th scope="col">${i}</th>`)}</tr></thead>
        <tbody>
          ${this.#c(n).map(i=>h`<tr>${t.map(o=>h`<td>${o in i?this.#r(i[o],s+1):$t}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`}#c(t){return this.isCut||=t.length>xn,this.all?t:t.slice(0,xn)}};customElements.define("step-text",se);function Ei(e){if(!e.every(s=>s!==null&&typeof s=="object"&&!Array.isArray(s)))return[];let n=[...new Set(e.flatMap(s=>Object.keys(s)))];return n.length<=vi?n:[]}var Ci={running:{symbol:"loader-circle",words:r("Running")},done:{symbol:"check",words:r("Done")},failed:{symbol:"x",words:r("Failed")},stopped:{symbol:"square",words:r("Stopped")}},J="Thinking",qi=1,Ai=200,Li=r("The model no longer reads this result, but it remains stored and visible.");function V(e,t,n=new Set,s=new Map){return $`<ol class="steps" aria-label=${r("Steps")}>
    ${Ti(e,i=>i.id,i=>Ri(i,t,n,s))}
  </ol>`}function Ri(e,t,n,s){let i=n.has(e.id),o=_i(e,i,s.get(e.id));return $`<li class="step ${i?"expired":""}" data-state=${e.state}
    title=${i?Li:k}>
    ${Ni(e)?Di(e,o,t):$`<div class="step-line">${o}</div>`}
    ${e.state==="failed"&&!e.unfolded?ji(e):k} ${en(e)}
    ${e.children.length?V(e.children,t,n,s):k}
  </li>`}function Ni({text:e,attachments:t}){return e!==""||t.length>0}function Di(e,t,n){let s=i=>{e.unfolded=i.target.open,n()};return $`<details .open=${e.unfolded} @toggle=${s}>
    <summary class="step-line">${t}${c("chevron-right")}</summary>
    ${e.unfolded?ie(e):k}
  </details>`}function _i({title:e,state:t,seconds:n,text:s},i,o){let{symbol:a,words:l}=Ci[t];return e===J&&t==="running"?Ii(s):e===J&&t==="done"?$`<span class="step-mark">${c("brain")}</span> <span class="step-title">${Mi(n)}</span>`:$`<span class="step-mark">${c(a)}</span>
    <span class="step-title" dir="auto">${e===J?r("Thoughts"):e}</span>
    ${o?$`<span class="step-decision">${Zt(o)}</span>`:k}
    <span class="step-state ${t==="done"?"visually-hidden":""}">${l}</span>
    ${i?$`<span class="visually-hidden">${r("(no longer read by the model)")}</span>`:k}
    ${n===null?k:$`<span class="step-time">${y(n)}</span>`}`}function Mi(e){return e===null?r("Thoughts"):e<qi?r("Thought for a moment"):r("Thought for {time}",{time:y(e)})}function Ii(e){let t=e.trimEnd().split(`
`).at(-1)??"";return $`<span class="step-mark">${c("brain")}</span>
    <span class="step-title">${r("Thinking")}…</span>
    <span class="step-thought" dir="auto">${t.slice(-Ai)}</span>`}function ji({text:e}){let t=yn(e);return t?$`<p class="step-cause" dir="auto">${t}</p>`:k}function ie(e){return $`<div class="step-content">
    ${e.text?$`<step-text .text=${e.text} .complete=${e.state!=="running"}
          .sources=${Y(e.attachments)}></step-text>`:k}
    ${e.length>e.text.length?Pi(e):k}
    ${mt(e.attachments)}
  </div>`}function Pi({id:e,text:t,length:n}){let s=({target:o})=>o.dispatchEvent(new CustomEvent("step-rest",{bubbles:!0,detail:e})),i=r("Show all {length} characters (the first {shown} are shown)",{length:n,shown:t.length});return $`<button type="button" class="link step-rest" @click=${s}>${i}</button>`}var Hi={running:r("Working"),done:r("Done"),failed:r("Failed"),stopped:r("Stopped")};function kn(e,{redraw:t,close:n}){let{subagent:s}=e;return s?Bi`<dialog class="subagent" aria-labelledby="subagent-name" @close=${n}>
    <header>
      <h2 id="subagent-name" tabindex="-1">${s.name}</h2>
      <p class="subagent-line" role="status">
        ${[s.agent,Hi[s.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="subagent-read" tabindex="0" role="group" aria-label=${r("Sub-agent activity")}>
      ${ie(e)} ${e.children.length?V(e.children,t):vn}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${Kt(e)}
      <button class="button" autofocus>${r("Close")}</button>
    </form>
  </dialog>`:vn}import{html as Sn,nothing as Ui}from"../vendor/lit.js";var On={recalled:r("Recalled"),stored:r("Remembered"),changed:r("Changed"),forgotten:r("Forgot"),deleted:r("Deleted everything")};function En(e){return e?.length?Sn`<details class="more-line memory-line">
    <summary>${c("chevron-right")}${r("Memory: {what}",{what:Fi(e)})}</summary>
    <ul>
      ${e.map(({action:t,text:n})=>Sn`<li><b>${On[t]}</b> <span dir="auto">${n}</span></li>`)}
    </ul>
    <a href="/memory/">${r("Your memories")}</a>
  </details>`:Ui}function Fi(e){return Object.entries(On).map(([t,n])=>({action:t,words:n.toLowerCase(),count:Wi(e,t)})).filter(({count:t})=>t).map(({action:t,words:n,count:s})=>t==="deleted"?n:`${n} ${s}`).join(", ")}function Wi(e,t){return e.filter(n=>n.action===t).length}function za(e,t,n){e.hidden=n===null,t.memory=n??!0,e.ariaChecked=String(t.memory)}function Ga(e,t,n,s){e.addEventListener("click",async()=>{let{id:i}=t.conversation,o=!t.memory;if(i&&!await et(`${n()}${i}/memory/`,{on:String(o)})){s({text:r("That didn’t work. Check your connection and try again."),isProblem:!0});return}t.memory=o,e.ariaChecked=String(o),s({text:o?zi:Gi,isProblem:!1})})}var zi=r("Memory is on for this conversation, starting with your next message."),Gi=r("Memory is off for this conversation, starting with your next message.");var re="steps",Ki=["none","compact","folded","full"],wt=new EventTarget,Tn=yt(Yi());addEventListener("storage",({key:e,newValue:t})=>{e===re&&Cn(yt(t))});function xt(){return Tn}function Ya(e){try{localStorage.setItem(re,yt(e))}catch{}Cn(yt(e))}function Cn(e){Tn=e,wt.dispatchEvent(new Event("change"))}function yt(e){return Ki.find(t=>t===e)??"folded"}function Yi(){try{return localStorage.getItem(re)}catch{return null}}import{html as ir,LitElement as rr,nothing as Nn}from"../vendor/lit.js";import{html as _,LitElement as Ji,live as Vi,nothing as Q}from"../vendor/lit.js";var oe={rating:"",reason:"",comment:"",shares_transcript:!1},Qi=[["wrong",r("Incorrect")],["incomplete",r("Incomplete")],["not_asked",r("Not what I asked for")],["slow",r("Too slow")],["unsafe",r("Unsafe")],["other",r("Something else")]],Xi=2e3,qn=100,Zi=r("That didn’t work. Check your connection and try again."),vt=new Map,ae=[],le;async function tr(e){return vt.has(e)||(ae.push(e),le??=new Promise(t=>setTimeout(()=>t(er()),50)),vt.set(e,le)),(await vt.get(e))?.get(e)??oe}async function er(){let e=ae;ae=[],le=void 0;let t=new Map;for(let n=0;n<e.length;n+=qn){let s=e.slice(n,n+qn).map(o=>["message",o]),i=await nt(`/feedback/?${new URLSearchParams(s)}`);for(let[o,a]of Object.entries(i?.feedback??{}))t.set(o,a)}return t}function el(e,t){vt.set(e,Promise.resolve(new Map([[e,t]])));for(let n of document.querySelectorAll("chat-feedback"))n instanceof kt&&n.message===e&&(n.given=t)}function An(e){return!e||!document.getElementById("main")?.dataset.feedback?Q:_`<chat-feedback .message=${e}></chat-feedback>`}var kt=class extends Ji{static properties={message:{attribute:!1},given:{state:!0},isOpen:{state:!0},said:{state:!0},problem:{state:!0}};constructor(){super(),this.message="",this.given=oe,this.isOpen=!1,this.said="",this.problem=""}createRenderRoot(){return this}willUpdate(t){t.has("message")&&this.#t(this.message)}async#t(t){let n=await tr(t);t===this.message&&!this.given.rating&&(this.given=n)}render(){return _`<span class="thumbs">${this.#e("up",r("Good answer"))}${this.#e("down",r("Bad answer"))}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem?_`<p class="feedback-problem" role="alert">${this.problem}</p>`:Q}
      ${this.isOpen?this.#s():Q}`}#e(t,n){let s=this.given.rating===t;return _`<button
      type="button"
      class="quiet thumb"
      data-rating=${t}
      title=${n}
      aria-pressed=${String(s)}
      aria-expanded=${s?String(this.isOpen):Q}
      @click=${()=>this.#r(t)}
    >
      ${c(`thumbs-${t}`)}<span class="visually-hidden">${n}</span>
    </button>`}#s(){let{rating:t,reason:n,comment:s,shares_transcript:i}=this.given,o=`feedback-${this.message}`;return _`<form class="menu-popover feedback-form" popover aria-label=${r("Your feedback")} @submit=${this.#a} @toggle=${this.#i}>
      ${t==="down"?_`<fieldset class="reasons">
            <legend>${r("What was wrong with the answer? (optional)")}</legend>
            ${Qi.map(([a,l])=>_`<label class="reason"><input type="radio" name="reason" value=${a} ?checked=${a===n} />${l}</label>`)}
          </fieldset>`:Q}
      <details class="more-field" ?open=${s!==""||t==="up"}>
        <summary>${c("plus")}${r("Add a comment")}</summary>
        <label class="visually-hidden" for="${o}-comment">${r("Comment (optional)")}</label>
        <textarea id="${o}-comment" name="comment" rows="3" maxlength=${Xi} dir="auto"
          .value=${s}></textarea>
      </details>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${Vi(i)} aria-describedby="${o}-share" />
        ${r("Include this question and answer")}
      </label>
      <p class="hint" id="${o}-share">
        ${r("Your rating and comment are visible to this app’s administrators. They see the conversation only if you include it.")}
      </p>
      <div class="feedback-buttons">
        <button class="button primary">${r("Send")}</button>
        <button type="button" class="button quiet" @click=${this.#u}>${r("Remove my feedback")}</button>
      </div>
    </form>`}updated(){let t=this.#o,n=this.#n;!t||!n||t.matches(":popover-open")||(t.showPopover(),rt(t,n),n===document.activeElement&&t.querySelector("input")?.focus())}#i({newState:t}){t==="closed"?this.isOpen=!1:this.#n&&Object.assign(this.#n,{popoverTargetElement:this.#o,popoverTargetAction:"hide"})}get#o(){return this.querySelector(".feedback-form")}get#n(){return this.querySelector(`[data-rating=${this.given.rating||"up"}]`)}async#r(t){if(this.given.rating===t){this.isOpen=!this.isOpen;return}let n=t==="up"?"":this.given.reason;await this.#l({...this.given,rating:t,reason:n})&&(this.isOpen=!0)}async#a(t){t.preventDefault();let n=new FormData(t.target),s=a=>String(n.get(a)??""),i=n.has("shares_transcript"),o={...this.given,reason:s("reason"),comment:s("comment"),shares_transcript:i};await this.#l(o)&&this.#d()}async#l(t){let{shares_transcript:n,...s}=t,i=await et(this.#h,n?{...s,shares_transcript:"on"}:s);return this.#c(i,r("Thank you for your feedback.")),i&&(this.given=t),i}async#u(){let t=await ye(this.#h);this.#c(t,r("Your feedback was removed.")),t&&(this.#d(),this.given=oe)}#c(t,n){this.said=t?n:"",this.problem=t?"":Zi}#d(){this.isOpen=!1,this.#o?.hidePopover(),this.#n?.focus()}get#h(){return`/messages/${this.message}/feedback/`}};customElements.define("chat-feedback",kt);var ce=class extends EventTarget{all=[];take(t){JSON.stringify(t)!==JSON.stringify(this.all)&&(this.all=t,this.dispatchEvent(new CustomEvent("change")))}},St=new ce;var X=null,Ln="speechSynthesis"in window;function Rn(e,t){Ot();let n=new SpeechSynthesisUtterance(e);n.lang=sr(e),n.onend=n.onerror=()=>{X===t&&(X=null,t())},X=t,speechSynthesis.speak(n)}function Ot(){let e=X;X=null,speechSynthesis.cancel(),e?.()}var nr=[[/[\u0590-\u05ff]/,"he"],[/[\u0600-\u06ff]/,"ar"],[/[\u0400-\u04ff]/,"ru"],[/[\u0370-\u03ff]/,"el"],[/[\u3040-\u30ff]/,"ja"],[/[\uac00-\ud7af]/,"ko"],[/[\u4e00-\u9fff]/,"zh"]];function sr(e){let t=e.slice(0,400);return nr.find(([s])=>s.test(t))?.[1]??document.documentElement.lang??""}var or={previous:r("Previous answer"),next:r("Next answer")},ar=2e3,Dn="with ",ue=class extends rr{static properties={answer:{attribute:!1},version:{attribute:!1},earlier:{attribute:!1},asked:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},offersRetry:{attribute:!1},copied:{state:!0},reading:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.earlier=[],this.asked=void 0,this.branch=void 0,this.changeable=!1,this.offersRetry=!1,this.copied=!1,this.reading=!1}#t=()=>this.requestUpdate();createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),St.addEventListener("change",this.#t)}disconnectedCallback(){super.disconnectedCallback(),St.removeEventListener("change",this.#t),this.reading&&Ot()}render(){let{answer:t}=this;return t?ir`<div class="answer-foot">
      <action-row .label=${r("Answer actions")} .actions=${this.#e()}></action-row>
      <row-menu @chosen=${({detail:n})=>this.#o(n)}></row-menu>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>
      ${t.status==="failed"?Nn:An(t.message?.id)} ${Ie(t)}
    </div>`:Nn}#e(){let t=(s,i)=>I(this,"branch.switch",s,i);return[...ct(this.branch,or,!this.changeable,t),this.#c()!==""&&{name:"copy",icon:this.copied?"check":"copy",label:r("Copy as Markdown"),run:()=>this.#r(this.#c())},this.#n!==""&&!this.offersRetry&&{name:"again",icon:"refresh-cw",label:r("Answer again"),run:()=>this.#u(this.#n)},this.reading&&{name:"hush",icon:"square",label:r("Stop reading"),run:()=>this.#a()},this.#s().length>0&&{name:"more",icon:"ellipsis",label:r("More options for this answer"),opensMenu:!0,run:s=>this.#i(s)}].filter(s=>s!==!1)}#s(){let t=this.#c()!=="",n=this.#n?St.all:[];return Se([[t&&{name:"text",icon:"file-text",words:r("Copy as text")},t&&Ln&&{name:"read",icon:"volume-2",words:r("Read aloud")}],[...n.map(({id:s,title:i})=>({name:`${Dn}${s}`,icon:"refresh-cw",words:r("Answer again with {title}",{title:i})})),(n.length>0||!!this.branch)&&this.#n!==""&&!!this.answer?.message&&{name:"compare",icon:"columns-2",words:r("Compare models")},this.#n!==""&&!!this.answer?.message&&{name:"fork",icon:"square-pen",words:r("New chat from here")}],[this.#n!==""&&{name:"delete",icon:"trash-2",words:r("Delete question and answer"),deletes:!0}]])}#i(t){let n=this.querySelector("row-menu");n instanceof Oe&&n.open(this.#s(),t)}#o(t){t==="text"?this.#r(this.#d()):t==="read"?this.#l():t==="compare"?this.dispatchEvent(new CustomEvent("compare",{bubbles:!0,detail:this.#n})):t==="fork"?this.dispatchEvent(new CustomEvent("fork",{bubbles:!0,detail:this.answer?.message?.id})):t==="delete"?I(this,"turn.delete",this.#n,"delete"):this.#u(this.#n,t.slice(Dn.length))}get#n(){return this.changeable&&this.asked&&!this.asked.sending?this.asked.id:""}async#r(t){this.copied=await st(t),setTimeout(()=>this.copied=!1,ar)}#a(){let t=this.querySelector("action-row");t instanceof L&&t.focusOn("more"),Ot()}#l(){Rn(this.#d(),()=>this.reading=!1),this.reading=!0}#u(t,n){let s=n?{again:t,deployment:n}:{again:t};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:s}))}#c(){return[...this.earlier,...this.answer?[this.answer]:[]].map(E).join("")}#d(){let t=new Set([...this.earlier,this.answer].map(s=>s?.id));return[...this.closest("chat-log")?.querySelectorAll("chat-answer")??[]].filter(s=>t.has(s.answer?.id)).flatMap(s=>[...s.querySelectorAll(".answer-text")]).map(s=>s.innerText).join(`
`)}};customElements.define("answer-foot",ue);import{html as B,LitElement as lr,nothing as Z}from"../vendor/lit.js";var de=class extends lr{static properties={steps:{attribute:!1},list:{attribute:!1},past:{attribute:!1}};constructor(){super(),this.steps=[],this.list=Z,this.past=!1,this.redraw=()=>this.requestUpdate()}connectedCallback(){super.connectedCallback(),wt.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),wt.removeEventListener("change",this.redraw)}createRenderRoot(){return this}render(){let t=xt(),n=this.steps.flatMap(Mn),s=n.findLast(({state:a})=>a==="running"),i=n.filter(({state:a})=>a==="failed").length,o=t==="folded"&&(!this.past||s||i);return t==="full"||t!=="none"&&(o||n.length===1)?this.list:t==="none"?s||i?B`<div class="step activity" data-state=${s?"running":"failed"}><div class="step-line">${_n(n,s,i)}</div></div>`:Z:B`<details class="step activity" data-state=${s?"running":i?"failed":"done"}>
      <summary class="step-line">${_n(n,s,i)}${c("chevron-right")}</summary>
      ${this.list}
    </details>`}};customElements.define("step-activity",de);function _n(e,t,n){let s=e.reduce((o,a)=>o+(a.seconds??0),0),i=x("{count} step","{count} steps",e.length);return B`<span class="step-mark">${c(t?"loader-circle":n?"x":"check")}</span>
    <span class="step-title" dir="auto">${t?cr(t):i}</span>
    ${t?B`<span class="step-state">${i}</span>`:Z}
    ${n?B`<span class="step-state step-failures">${x("{count} failed","{count} failed",n)}</span>`:Z}
    ${t?Z:B`<span class="step-time">${y(s)}</span>`}`}function cr({title:e}){return e===J?`${r("Thinking")}…`:e}function Mn(e){return[e,...e.children.flatMap(Mn)]}import{html as ur,nothing as In}from"../vendor/lit.js";function Et(e){return ur`<p class="working"><span class="dots" aria-hidden="true"></span>${e}</p>`}function jn(e,t,n){return e?.role!=="user"?In:e.sending?Et(n?r("Sending…"):r("Will be sent when you’re back online.")):t?Et(`${r("Thinking")}…`):In}var he=class extends dr{static properties={answer:{attribute:!1},version:{attribute:!1},asked:{attribute:!1},earlier:{attribute:!1},goesOn:{attribute:!1},isLast:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},opened:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.asked=void 0,this.earlier=[],this.goesOn=!1,this.isLast=!1,this.branch=void 0,this.changeable=!1,this.opened="",this.addEventListener("subagent-open",t=>{this.opened=t.detail})}createRenderRoot(){return this}render(){let{answer:t}=this;if(!t)return g;let n=z(t.status),s=xt()==="none"?new Map:Le(t);return m`
      ${this.earlier.length?g:m`<h2 class="visually-hidden">${r("Answer")}</h2>`}
      ${hr(t.parts,i=>i,i=>this.#e(t,i,n,s))}
      ${mt(t.attachments,t.annotations)}
      ${t.continued?m`<p class="notice">${c("refresh-cw")}${r("This answer continued after an interruption.")}</p>`:g}
      ${n?mr(t):this.#s(t)} ${this.#t(t)}
    `}updated(){let t=this.querySelector("dialog.subagent");t instanceof HTMLDialogElement&&!t.open&&t.showModal()}#t(t){let n=t.steps.get(this.opened);return n?kn(n,{redraw:()=>this.requestUpdate(),close:()=>this.opened=""}):g}#e(t,n,s,i){if(n.kind==="steps")return m`<step-activity .steps=${n.steps} .past=${!s||fr(t,n)}
        .list=${V(n.steps,()=>this.requestUpdate(),t.expired,i)}></step-activity>`;if(n.kind==="notice")return m`<p class="notice" dir="auto">${c("circle-alert")}${n.text}</p>`;if(n.kind==="interaction"&&[...i.values()].includes(n.interaction))return g;if(n.kind==="interaction")return m`<chat-interaction .interaction=${n.interaction} .version=${t.version}
        .status=${t.status}></chat-interaction>`;let o=!s||n!==t.parts.at(-1);return m`<markdown-text class="answer-text" ?data-growing=${!o} .text=${n.text} .complete=${o}
      .annotations=${[...t.annotations]}
      .sources=${Y(t.attachments)}></markdown-text>`}#s(t){return m`${t.status==="failed"?this.#l(t):g}
      ${t.status==="stopped"?this.#o(t):g}
      ${t.status==="done"&&!this.goesOn?this.#i(t):g}
      ${dt(t.message?.left_out)} ${En(t.message?.memories)}
      ${this.goesOn?g:m`<answer-foot .answer=${t} .version=${t.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable} .offersRetry=${this.#r(t)}></answer-foot>`}`}#i(t){return t.message?.finish_reason!=="length"?pr(t):m`<div class="stopped">
      <p class="notice">${c("triangle-alert")}${r("The answer reached the model’s length limit.")}</p>
      ${this.isLast&&this.changeable?this.#a(r("Continue"),{continues:t.message.id}):g}
    </div>`}#o(t){let n=E(t).trim()?r("The answer is incomplete."):r("No answer was written.");return m`<div class="stopped">
      <p class="notice">${c("circle-alert")}<span><strong>${r("Stopped.")}</strong> ${n}</span></p>
      ${this.#n(t)}
    </div>`}#n(t){return this.asked&&this.#r(t)?this.#a(r("Try again"),{again:this.asked.id}):g}#r({status:t}){return(t==="failed"||t==="stopped")&&this.isLast&&this.changeable&&this.asked!==void 0&&!this.asked.sending}#a(t,n){return m`<button type="button" class="button" @click=${()=>this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:n}))}>${c("refresh-cw")}${t}</button>`}#l(t){let{error:n}=t;return m`<div class="failure">
      ${c("triangle-alert")}
      <div>
        <p>${n?.text??r("The answer could not be finished.")}</p>
        ${n?.reference?m`<p class="failure-reference">${r("Reference:")} <code>${n.reference}</code></p>`:g}
        ${this.#n(t)}
      </div>
    </div>`}};customElements.define("chat-answer",he);function pr(e){return e.message&&!E(e).trim()&&!e.attachments.length&&!e.message.left_out?.length?m`<p class="notice">${r("The model returned an empty answer.")}</p>`:g}function fr({parts:e},t){return e.slice(e.indexOf(t)+1).some(({kind:n})=>n==="text")}function mr(e){if(e.status==="waiting"&&Re(e))return g;let t=e.parts.at(-1),n=[...e.steps.values()].some(({state:i})=>i==="running");return e.status==="running"&&(t?.kind==="text"||t?.kind==="steps"&&n)?g:Et(`${gr(e)}…`)}function gr(e){return e.status==="queued"?r("Queued"):e.status==="waiting"?A(e).some(at)?r("Working on the page"):r("Waiting for another user"):e.parts.length?r("Working"):r("Thinking")}var pe=class extends $r{static properties={turns:{attribute:!1,hasChanged:yr},state:{attribute:!1},last:{attribute:!1},branches:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},summary:{attribute:!1},near:{attribute:!1}};constructor(){super(),this.turns=[],this.state="",this.last=!1,this.branches={},this.changeable=!1,this.limit=1/0,this.summary=null,this.near=!0,this.height=0,this.addEventListener("focusout",()=>this.requestUpdate())}createRenderRoot(){return this}place(t,n){this.classList.contains("resting")||(this.height=n),this.near=t}render(){let t=this.#t();return this.classList.toggle("resting",t),this.style.blockSize=t?`${this.height}px`:"",t?this.#e():Tt`${br(this.turns,({turn:n})=>`${n.role} ${n.id}`,n=>n.turn.role==="user"?this.#s(n.turn):this.#i(n.turn,n))}`}#t(){if(this.near||this.last||!this.height||this.contains(document.activeElement))return!1;let t=document.getSelection();return!t||t.isCollapsed||!t.containsNode(this,!0)}#e(){let t=this.turns.map(({turn:n})=>n.role==="user"?n.text:E(n)).join(`
`);return Tt`<div hidden="until-found" @beforematch=${()=>this.near=!0}>${t}</div>`}#s(t){return Tt`<chat-question
      class="turn question"
      id="message-${t.id}"
      .question=${t}
      .state=${t.sending?"sending":"stored"}
      .branch=${this.branches[t.id]}
      .changeable=${this.changeable&&!t.sending}
      .limit=${this.limit}
    ></chat-question>`}#i(t,{asked:n,earlier:s,goesOn:i,isLast:o}){let a=ht(t);return Tt`<chat-answer
        class="turn answer"
        id=${a?`message-${a}`:Pn}
        .answer=${t}
        .version=${t.version}
        .asked=${n}
        .earlier=${s}
        .goesOn=${i}
        .isLast=${o}
        .branch=${this.branches[s[0]?.id??t.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary&&this.summary.after===t.id?Pe(this.summary):Pn}`}};customElements.define("chat-turns",pe);function Bn(e){return e.map(({turn:t})=>t.role==="user"?Number(t.sending):t.version).join()}function yr(e,t){return e.length!==t?.length||e.some((n,s)=>wr(n,t[s]))}function wr(e,t){return e.turn!==t.turn||e.asked!==t.asked||e.earlier.length!==t.earlier.length||e.goesOn!==t.goesOn||e.isLast!==t.isLast}import{html as fe,LitElement as xr,nothing as Hn}from"../vendor/lit.js";var ge={intro_text:"",auto_submit:!0,chat_message_input_disabled:!1,starters:[]},me=class extends xr{static properties={offered:{attribute:!1}};constructor(){super(),this.offered=ge}createRenderRoot(){return this}render(){let{starters:t,intro_text:n}=this.offered;return t.length?fe`<section class="starters" aria-label=${n||r("Suggestions")}>
      ${n?fe`<h3 dir="auto">${n}</h3>`:Hn}
      <ul>
        ${t.map(s=>fe`<li><button type="button" dir="auto" @click=${()=>this.#t(s)}>${s.title}</button></li>`)}
      </ul>
    </section>`:Hn}#t(t){this.dispatchEvent(new CustomEvent("starter",{bubbles:!0,detail:t}))}};customElements.define("chat-starters",me);var Sr=200,Or=3e3,Er="1200px 0px",Tr="800px 0px",$e=class extends vr{static properties={turns:{attribute:!1},loaded:{attribute:!1},busy:{attribute:!1},connected:{attribute:!1},branches:{attribute:!1},deleting:{state:!0},greeting:{attribute:!1},isOnly:{attribute:!1},heading:{attribute:!1},description:{attribute:!1},starters:{attribute:!1},ended:{attribute:!1},application:{attribute:!1},summary:{attribute:!1},problem:{attribute:!1}};#t=new IntersectionObserver(t=>this.#d(t),{rootMargin:Er});#e=Promise.resolve();#s=new IntersectionObserver(t=>this.#h(t),{rootMargin:Tr});constructor(){super(),this.turns=[],this.loaded=!0,this.busy=!1,this.connected=!0,this.branches={},this.deleting=null,this.limit=1/0,this.addEventListener("branch-change",t=>this.#i(t)),this.greeting="",this.isOnly=!1,this.heading="",this.description="",this.application={letters:"",tile:""},this.ended=!1,this.summary=null,this.problem="",this.starters=ge}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),addEventListener("beforeprint",this.drawAll),addEventListener("afterprint",this.#c)}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("beforeprint",this.drawAll),removeEventListener("afterprint",this.#c),this.#t.disconnect(),this.#s.disconnect()}render(){return this.loaded?this.turns.length?S`${kr(Xe(Qe(this.turns)),({key:t})=>t,t=>t.missing?this.#f(t.missing):this.#p(t.turns))}
    ${jn(this.turns.at(-1),this.busy,this.connected)}
    ${this.starters.chat_message_input_disabled&&!this.busy?S`<chat-starters .offered=${this.starters}></chat-starters>`:tt}
    ${this.deleting?this.#o(this.deleting):tt}`:this.#m():S`<p class="loading working">${r("Loading the conversation…")}</p>`}#i(t){let{type:n,message:s,isConfirmed:i}=t.detail;n!=="turn.delete"||i||(t.stopImmediatePropagation(),this.deleting={message:s,origin:t.target})}#o({message:t,origin:n}){let s=this.turns.find(({id:a})=>a===t),i=()=>{this.deleting=null,n.querySelector("action-row")?.focusOn(n.localName==="answer-foot"?"more":"delete")},o=()=>{this.deleting=null;let a={type:"turn.delete",message:t,name:"delete",isConfirmed:!0};this.dispatchEvent(new CustomEvent("branch-change",{detail:a}))};return tn({text:s?.role==="user"?s.text.slice(0,Sr):"",cancel:i,confirm:o})}updated(){let t=this.querySelector("dialog.turn-deletion");t instanceof HTMLDialogElement&&!t.open&&t.showModal();for(let n of this.#u)this.#t.observe(n);if(this.#s.disconnect(),!this.problem)for(let n of this.querySelectorAll(".gap"))this.#s.observe(n)}keepPlace(t){return this.#n(()=>this.#r(t))}#n(t){let n=this.#e.then(t);return this.#e=n.catch(()=>{}),n}async#r(t){let n=[...this.querySelectorAll(".turn")].find(i=>i.getBoundingClientRect().bottom>0),s=n?.getBoundingClientRect().top??0;t(),await this.#a(),n?.isConnected&&scrollBy({top:n.getBoundingClientRect().top-s,behavior:"instant"})}async#a(){await this.updateComplete,await Promise.all(this.#u.map(n=>n.updateComplete));let t=[...this.querySelectorAll("chat-answer")];await Promise.all(t.map(n=>n.updateComplete))}reveal(t){return this.#n(()=>this.#l(t))}async#l(t){let n=this.turns.find(o=>ht(o)===t);await this.updateComplete;let s=n&&this.#u.find(({turns:o})=>o.some(a=>a.turn===n));if(!s)return!1;s.near=!0,await this.#a();let i=document.getElementById(`message-${t}`);return i?(i.tabIndex=-1,i.scrollIntoView({block:"start",behavior:"instant"}),i.focus({preventScroll:!0}),i.toggleAttribute("data-found",!0),setTimeout(()=>i.removeAttribute("data-found"),Or),!0):!1}get#u(){return[...this.querySelectorAll("chat-turns")].map(t=>t)}drawAll=()=>{for(let t of this.#u)t.near=!0;return this.#a()};#c=()=>{this.#t.disconnect(),this.requestUpdate()};#d(t){this.keepPlace(()=>{for(let{target:n,isIntersecting:s,boundingClientRect:i}of t)n.place(s,i.height)})}#h(t){let s=t.find(({isIntersecting:i})=>i)?.target?.missing;s&&this.dispatchEvent(new CustomEvent("gap",{detail:s}))}#p(t){return S`<chat-turns
      .turns=${t}
      .state=${Bn(t)}
      .last=${t.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy&&!this.ended}
      .limit=${this.limit}
    ></chat-turns>`}#f(t){let n=()=>this.dispatchEvent(new CustomEvent("gap",{detail:t}));return S`<div class="gap" .missing=${t}>
      ${this.problem?S`<p class="notice problem" role="alert">${c("circle-alert")}<span>${this.problem}</span></p>`:tt}
      <button type="button" class="button" @click=${n}>${t.after?r("Show the next messages"):r("Show earlier messages")}</button>
    </div>`}#m(){if(this.greeting){let t=S`<p class="description" dir="auto"><strong dir="auto">${this.heading}</strong>${this.description}</p>`;return S`<div class="welcome"><h2 dir="auto">${this.greeting}</h2>${this.isOnly?t:tt}</div>`}return S`<div class="welcome">
      ${xe(this.application,"large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description?S`<p class="description" dir="auto">${this.description}</p>`:tt}
    </div>`}};customElements.define("chat-log",$e);var Cr=2e4;function cc(e){addEventListener("keydown",t=>{t.key?.toLowerCase()!=="p"||!(t.ctrlKey||t.metaKey)||t.shiftKey||t.altKey||document.querySelector(".turn")&&(t.preventDefault(),e())})}async function uc(){let e=[...document.querySelectorAll(".code")].filter(n=>n instanceof HTMLElement).filter(Te);if(!e.length)return;let{drawOnPaper:t}=await import("./diagrams-IIXJ2FIA.js");await Promise.race([t(e),new Promise(n=>setTimeout(n,Cr))])}export{St as a,A as b,Ar as c,Re as d,at as e,E as f,Ce as g,_e as h,Br as i,Hr as j,Mt as k,Jr as l,za as m,Ga as n,Vt as o,Xt as p,Zt as q,ut as r,wt as s,xt as t,Ya as u,L as v,el as w,Je as x,Wt as y,me as z,$e as A,cc as B,uc as C};
