import{a as b,b as ge,c as ye,d as we,g as xe}from"./chunk-BMTVTX2T.js";import{a as be}from"./chunk-NAF7DC2P.js";import{b as ke}from"./chunk-DHGCDUUJ.js";import{e as ve}from"./chunk-ISTMGVDN.js";import{a as A,b as st,d as $e}from"./chunk-EMXBBFNF.js";import{a as c}from"./chunk-5OVPBSN4.js";import{a as et}from"./chunk-7DWZTKXB.js";import{c as nt}from"./chunk-GFSGBITY.js";import{c as Z,e as me,g as tt}from"./chunk-IN3SOCHH.js";import{a as q,b as r,c as fe,d as x}from"./chunk-SAT5BOPK.js";function Se(e){requestAnimationFrame(()=>requestAnimationFrame(e))}function Oe(e,{key:t,kind:n,asked:s,due:i}){let o=L(e).find(a=>a.key===t&&a.kind===n);if(o)Object.assign(o,{asked:s,due:i});else{let a={key:t,kind:n,asked:s,due:i,resolved:null,sending:!1};e.parts.push({kind:"interaction",interaction:a})}}function Ee(e,{key:t,kind:n,answer:s,by:i,at:o}){let a=L(e).find(u=>u.key===t&&u.kind===n);a&&Object.assign(a,{resolved:{answer:s,by:i,at:o},sending:!1});let l=n==="client_tool"&&L(e).some(u=>it(u));e.status==="waiting"&&!l&&(e.status="queued")}function L(e){return e.parts.flatMap(t=>t.kind==="interaction"?[t.interaction]:[])}function vr(e){if(e?.status!=="waiting")return;let[t,...n]=L(e).filter(i=>!i.resolved);return t?.kind==="question"&&!n.length&&!t.sending&&(t.asked.input==="text"||t.asked.freeform!==!1)?t:void 0}function Ce(e){if(!e)return;let{status:t}=e;return L(e).find(n=>!n.asked.four_eyes&&!it(n)&&St(n,t))}function it({kind:e,resolved:t}){return e==="client_tool"&&!t}function St({kind:e,resolved:t},n){return!t&&(n==="waiting"||e==="elicitation"&&n==="running")}function W(e){return e==="queued"||e==="running"||e==="waiting"}function S(e){return e.parts.map(t=>t.kind==="text"?t.text:"").join("")}function Te(e,t){switch(e.version+=1,t.type){case"run.status":return Ot(e,t.status);case"message.delta":return Pn(e,t.text);case"stage.opened":return Fn(e,t);case"stage.delta":return Wn(e,t);case"stage.closed":return Gn(e,t);case"attachment.added":e.attachments.push(t.attachment);return;case"annotation.added":e.annotations.push(t.annotation);return;case"notice.added":return Un(e,t.notice,t.text);case"helper.began":return Hn(e,t);case"helper.ended":for(let{subagent:n}of e.steps.values())n?.key===t.key&&(n.state=t.status);return;case"run.continued":e.continued=!0;return;case"answer.restarted":return Bn(e,t);case"interaction.requested":return Oe(e,t);case"interaction.resolved":return Ee(e,t);case"run.error":e.error={text:t.text,reference:t.reference};return;case"message.complete":return zn(e,t.message)}}function Ot(e,t){if(e.status=t,e.version+=1,!W(t))for(let n of e.steps.values())n.state==="running"&&(n.state="stopped"),n.subagent?.state==="running"&&(n.subagent.state="stopped")}function Pn(e,t){let n=e.parts.at(-1);n?.kind==="text"?n.text+=t:e.parts.push({kind:"text",text:t})}function Bn(e,{text:t,attachments:n,annotations:s}){e.attachments=n,e.annotations=s;let i=t.length;if(!S(e).startsWith(t))qe(e,t);else{for(let o of e.parts)o.kind==="text"&&(o.text=o.text.slice(0,i),i-=o.text.length);e.parts=e.parts.filter(o=>o.kind!=="text"||o.text)}}function Un(e,t,n){let s=e.parts.find(i=>i.kind==="notice"&&i.id===t);s?.kind==="notice"?s.text=n:e.parts.push({kind:"notice",id:t,text:n})}function qe(e,t){e.parts=e.parts.filter(n=>n.kind!=="text"),t&&e.parts.push({kind:"text",text:t})}function Fn(e,t){let n=e.steps.get(t.stage);if(n){Object.assign(n,{title:t.title,text:"",length:0,state:"running",attachments:[]});return}let s={id:t.stage,title:t.title,text:"",length:0,state:"running",seconds:null,attachments:[],children:[],unfolded:!1};e.steps.set(s.id,s);let i=t.parent===null?void 0:e.steps.get(t.parent);if(i){i.children.push(s);return}let o=e.parts.at(-1);o?.kind==="steps"?o.steps.push(s):e.parts.push({kind:"steps",steps:[s]})}function Hn(e,{stage:t,key:n,name:s,agent:i}){let o=e.steps.get(t);o&&(o.subagent={key:n,name:s,agent:i,state:"running"})}function Wn(e,t){let n=e.steps.get(t.stage);n&&(t.text&&(n.text+=t.text),t.length&&(n.length=t.length),t.title&&(n.title+=t.title),t.attachment&&n.attachments.push(t.attachment))}function Gn(e,t){let n=e.steps.get(t.stage);n&&(n.state=t.failed?"failed":"done",n.seconds=t.seconds)}function zn(e,t){e.message=t,e.attachments=t.attachments??[],!(t.text===void 0||S(e)===t.text)&&qe(e,t.text)}var Ae=class e{turns=[];title="";todo="";last=0;awaiting=!1;branches={};#t=[];#e=new Map;constructor(t){this.id=t}get running(){let t=this.turns.findLast(n=>n.role==="assistant");return t&&W(t.status)?t:null}take(t){if(t.conversation!==this.id||t.seq<=this.last)return!1;if(this.last=t.seq,this.awaiting=t.type==="message.added",t.type==="todo.changed"&&(this.todo=t.text),t.type==="message.complete"&&(this.todo=t.message.todo??this.todo),t.type==="message.added")this.#o(t.message,t.run);else{if(t.type==="branches.changed")return!0;Te(this.#r(t.run),t)}return!0}expect({id:t,text:n,attachments:s,again:i,edits:o,continues:a}){let l=this.turns.findIndex(m=>m.role==="user"&&m.id===(i??o));if(this.#t=l<0?[]:this.turns.splice(i?l+1:l),i)return;let u={role:"user",id:t,at:this.#i,text:n,attachments:s,sending:!0};a&&(u.sender={kind:"continuation",title:"",untrusted:!1}),this.turns.push(u)}withdraw(t){this.turns=[...this.turns.filter(n=>n.id!==t),...this.#t],this.#t=[]}insert(t){let n=new Set(this.turns.map(({at:i})=>i)),s=t.filter(({at:i})=>!n.has(i)).flatMap(i=>this.#s(i));this.turns=[...this.turns,...s].sort((i,o)=>i.at-o.at)}complete(t,n){let s=this.turns.find(l=>l.role==="assistant"&&l.id===t.run),i=this.#s(t).find(l=>l.role==="assistant");if(s?.role!=="assistant"||i?.role!=="assistant")return;let[o,a]=[s.steps.get(n),i.steps.get(n)];o&&a&&Object.assign(o,{text:a.text,length:0}),s.version+=1}#s({run:t,at:n,events:s}){let i=new e(this.id);i.#e=this.#e;for(let[a,l]of s.entries())i.take({...l,conversation:this.id??"",run:t,seq:a+1});let o=(this.turns.at(-1)?.at??-1)<=n;i.todo&&o&&(this.todo=i.todo);for(let a of i.turns)a.at=n;return i.turns}get isWhole(){return this.turns.every(({at:t},n)=>t<=(this.turns[n-1]?.at??-1)+1)}get#i(){return(this.turns.at(-1)?.at??-1)+1}expire({answers:t}){this.#e=new Map(Object.entries(t).map(([n,s])=>[n,new Set(s)]));for(let n of this.turns)n.role==="assistant"&&(n.expired=this.#e.get(n.id)??new Set,n.version+=1)}settle(){this.awaiting=!1;let t=this.running;t&&Ot(t,"stopped")}#o({id:t,role:n,text:s,attachments:i=[],place:o,sender:a,application:l,left_out:u,created_at:m},v){if(n!=="user")return;this.#t=[];let F=this.turns.find(H=>H.role==="user"&&(H.id===t||H.sending&&(H.text===s||Kn(H,a)))),pe={id:t,run:v,text:s,attachments:i,place:o,sender:a,application:l,left_out:u,created_at:m,sending:!1};F?.role==="user"?Object.assign(F,pe):this.#n(()=>({role:n,at:this.#i,...pe}))}#n(t){let n=this.turns.filter(i=>i.role==="user"&&i.sending);n.length&&(this.turns=this.turns.filter(i=>!n.includes(i)));let s=t();this.turns.push(s);for(let i of n)i.at=this.#i,this.turns.push(i);return s}#r(t){let n=this.turns.find(s=>s.role==="assistant"&&s.id===t);return n?.role==="assistant"?n:this.#n(()=>this.#a(t))}#a(t){let n=this.turns.findLast(s=>s.role==="user");return{role:"assistant",id:t,at:n?.role==="user"&&n.run===t?n.at:this.#i,status:"queued",parts:[],steps:new Map,attachments:[],annotations:[],error:null,message:null,expired:this.#e.get(t)??new Set,continued:!1,version:0}}};function Kn(e,t){return e.sender?.kind==="continuation"&&t?.kind==="continuation"}import{html as Et,nothing as Ct}from"../vendor/lit.js";function Re(e){let{message:t,id:n}=e;if(!t)return Ct;let s=[...Zn(t),...Vn(e),...Qn(e)],i=document.getElementById("main")?.dataset.requests;return!s.length&&!i?Ct:Et`<details class="more-line figures">
    <summary>${c("chevron-right")}<span class="visually-hidden">${r("Details:")}</span>${Xn(t)}</summary>
    <dl>
      ${s.map(([o,a])=>Et`<div><dt dir="auto">${o}</dt><dd dir="auto">${a}</dd></div>`)}
    </dl>
    ${i?Et`<a href="/answers/${n}/requests/" target="_blank" rel="noopener"
          >${r("What the model saw")}<span class="visually-hidden"> ${r("(opens in a new tab)")}</span></a
        >`:Ct}
  </details>`}var Yn=e=>r("{whole} ({some} from the cache)",e),Jn=e=>r("{whole} ({some} for thinking)",e);function Vn({steps:e}){return[...e.values()].flatMap(({title:t,seconds:n})=>{let s=[t.replaceAll("`",""),n===null?"":b(n)];return s[1]?[s]:[]})}function Qn({message:e,attachments:t}){let n=(e?.memories??[]).filter(({action:o})=>o==="recalled"),s=t.filter(({reference_url:o})=>o);return[[r("Files read"),(e?.files_read??[]).join("; ")],[r("From memory"),n.map(({text:o})=>o).join("; ")],[r("Sources"),[...new Set(s.map(({title:o,reference_url:a})=>o||a))].join("; ")]].filter(([,o])=>o)}function Xn({seconds:e,usage:t,costs:n,models:s}){let i=Tt(t);return[e===void 0?"":b(e),i?x("{count} token","{count} tokens",i):"",n?qt(n):""].filter(Boolean).join(" · ")||s?.join(", ")||r("Details")}function Zn({models:e,version:t,usage:n,costs:s,first_text_seconds:i,seconds:o}){return[[e?.length===1?r("Model"):r("Models"),e?.join(", ")],[r("Application version"),t],[r("Input tokens"),n&&Le(n.prompt_tokens,n.cached_tokens,Yn)],[r("Output tokens"),n&&Le(n.completion_tokens,n.reasoning_tokens,Jn)],[r("Cost"),s&&qt(s)],[r("Time to first token"),i===void 0?"":b(i)],[r("Duration"),o===void 0?"":b(o)]].filter(([,l])=>l).map(([l,u])=>[l,String(u)])}function Le(e,t,n){return e?t?n({whole:e,some:t}):e.toLocaleString(q):""}function Tt(e){return e?e.prompt_tokens+e.completion_tokens:0}function qt(e){return Object.entries(e).map(([t,n])=>ts(Number(n),t)).join(" + ")}function ts(e,t){let n=e===0||e>=1?{}:{minimumSignificantDigits:2,maximumSignificantDigits:2};return e.toLocaleString(q,{style:"currency",currency:t,...n})}function Dr(e){let t=e.flatMap(i=>i.role==="assistant"&&i.message?[i.message]:[]),n=t.reduce((i,{usage:o})=>i+Tt(o),0),s={};for(let i of t)for(let[o,a]of Object.entries(i.costs??{}))s[o]=(s[o]??0)+Number(a);return{tokens:n,costs:s,is_partial:t.some(i=>!i.costs&&Tt(i.usage))}}function Nr({tokens:e,costs:t,is_partial:n}){let s=qt(t);return[e?x("{count} token","{count} tokens",e):"",s&&n?r("at least {cost}",{cost:s}):s].filter(Boolean).join(" · ")}import{html as I,LitElement as es,nothing as At}from"../vendor/lit.js";var ns=[["system",r("Instructions")],["tools",r("Tools")],["user",r("Questions")],["assistant",r("Answers")],["tool_results",r("Tool results")]],De={unknown:"",ok:"",warning:r("nearly full"),danger:r("full")},ss=.3,Rt=class extends es{static properties={use:{attribute:!1}};constructor(){super(),this.use=null}createRenderRoot(){return this}render(){let{use:t}=this;return t?.total?I`<details class="gauge" data-state=${t.state}>
      <summary>${this.#t(t)}</summary>
      <div class="gauge-parts">
        <dl>
          ${ns.map(([n,s])=>I`<div><dt>${s}</dt><dd>${Lt(t[n])}</dd></div>`)}
          <div class="gauge-total"><dt>${r("Total")}</dt><dd>${Lt(t.total)}</dd></div>
          ${t.limit?I`<div><dt>${r("Context window")}</dt><dd>${Lt(t.limit)}</dd></div>`:At}
        </dl>
        <p>${r("Token counts are estimates. If a conversation becomes too long, it is shortened for the model, but you can still read all of it.")}</p>
      </div>
    </details>`:At}#t({ratio:t,total:n,state:s}){if(t===null)return I`<span>${x("Context: {count} token","Context: {count} tokens",Number(n))}</span>`;let i=`${Math.round(t*100)} %`,o=De[s]&&`, ${De[s]}`;return I`<meter min="0" max="1" .value=${t} aria-hidden="true"></meter>
      ${s==="ok"?At:c("triangle-alert")}
      <span>${r("Context: {percent}",{percent:i})}${o}</span>`}};customElements.define("chat-gauge",Rt);function Lt(e){return Number(e).toLocaleString(q)}function Ur(e,t,n,s){let i=async()=>{let{id:o}=n.conversation,a=o?await tt(`${s()}${o}/usage/`):null;!a||o!==n.conversation.id||(e.use=a,t.summary=a.summary,n.redraw())};n.addEventListener("switched",()=>{e.use=null,t.summary=null}),n.addEventListener("opened",o=>{o.detail.isNew||Se(()=>{i()})}),n.addEventListener("event",o=>{o.detail.type==="message.complete"&&i()}),n.addEventListener("listed",()=>{(e.use?.ratio??0)>=ss&&i()})}function Ne({text:e}){return I`<details class="summary-block">
    <summary>${c("chevron-right")}${r("Earlier conversation, summarized for the model")}</summary>
    <p class="summary-text" dir="auto">${e}</p>
    <p class="summary-note">${r("The model reads this summary instead of everything above.")}</p>
  </details>`}import{html as T,LitElement as As,nothing as C}from"../vendor/lit.js";import{html as Dt,LitElement as is,nothing as rt}from"../vendor/lit.js";var R=class extends is{static properties={label:{attribute:!1},actions:{attribute:!1},current:{state:!0}};constructor(){super(),this.label="",this.actions=[],this.current=""}createRenderRoot(){return this}render(){let t=this.actions.some(({name:n})=>n===this.current)?this.current:this.actions[0]?.name;return Dt`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#s}>
      ${this.actions.map(n=>this.#t(n,n.name===t))}
    </div>`}focusOn(t){let n=this.#e();(n.find(s=>s.dataset.action===t)??n[0])?.focus()}#t({name:t,icon:n,label:s,run:i,pressed:o,disabled:a,after:l,opensMenu:u},m){let v=({currentTarget:F})=>{!a&&F instanceof HTMLElement&&i(F)};return Dt`<button type="button" class="quiet" data-action=${t} title=${s} aria-label=${s}
        tabindex=${m?0:-1} aria-pressed=${o===void 0?rt:String(o)}
        aria-haspopup=${u?"menu":rt} aria-disabled=${a?"true":rt} @click=${v} @focus=${()=>this.current=t}>
        ${c(n)}
      </button>${l?Dt`<span class="actions-place">${l}</span>`:rt}`}#e(){return[...this.querySelectorAll("button")]}#s(t){let n=this.#e(),s=n.indexOf(document.activeElement),i=getComputedStyle(this).direction==="rtl"?"ArrowLeft":"ArrowRight",o=i==="ArrowLeft"?"ArrowRight":"ArrowLeft",l={[i]:s+1,[o]:s-1,Home:0,End:-1}[t.key];s<0||l===void 0||(t.preventDefault(),n.at(l%n.length)?.focus())}};customElements.define("action-row",R);function ot(e,t,n,s){if(!e)return[];let{ids:i,at:o}=e;return[{name:"previous",icon:"chevron-left",label:t.previous,disabled:n||o===0,run:()=>s(i[o-1]??"","previous"),after:`${o+1}/${i.length}`},{name:"next",icon:"chevron-right",label:t.next,disabled:n||o===i.length-1,run:()=>s(i[o+1]??"","next")}]}function j(e,t,n,s){let i={type:t,message:n,name:s};e.dispatchEvent(new CustomEvent("branch-change",{bubbles:!0,detail:i}))}import{html as d,nothing as It}from"../vendor/lit.js";import{html as y,LitElement as as,nothing as Nt}from"../vendor/lit.js";var _e=[",",";","	","|"];function Ie(e,t){let n=os(e),s=[],i=[],o=0;for(;o<e.length&&s.length<t;){let{cell:a,end:l}=rs(e,o,n);if(i.push(a),o=l,e[o]===n){if(o+=1,o<e.length)continue;i.push("")}e[o]==="\r"&&e[o+1]===`
`&&(o+=1),o+=1,s.push(i),i=[]}return s}function rs(e,t,n){if(e[t]!=='"')return Me(e,t,n);let s="",i=t+1;for(;;){let o=e.indexOf('"',i);if(o<0)return{cell:s+e.slice(i),end:e.length};if(s+=e.slice(i,o),e[o+1]!=='"'){let a=Me(e,o+1,n);return{cell:s+a.cell,end:a.end}}s+='"',i=o+2}}function Me(e,t,n){let s=t;for(;s<e.length&&e[s]!==n&&e[s]!==`
`&&e[s]!=="\r";)s+=1;return{cell:e.slice(t,s),end:s}}function os(e){let[t]=e.split(/\r?\n/,1),n=_e.map(s=>t.split(s).length);return _e[n.indexOf(Math.max(...n))]}var _t=2e5,je=100,ls=/^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i,cs=/^text\/(?:csv|tab-separated-values)$/i;function Pe(e){return ls.test(e.split(";")[0].trim())}var Mt=class extends as{static properties={address:{attribute:!1},name:{attribute:!1},type:{attribute:!1},text:{state:!0},size:{state:!0},problem:{state:!0}};constructor(){super(),this.address="",this.name="",this.type="",this.text=null,this.size=0,this.problem=""}createRenderRoot(){return this}render(){return y`<details class="attachment words" @toggle=${this.#i}>
      <summary>
        ${c("chevron-right")}${c("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#t()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${c("download")}${r("Download")}</a>
        ${/^text\/html\b/i.test(this.type)?y`<button type="button" class="link" @click=${this.#s}>${c("eye")}${r("Preview")}</button>`:Nt}
        ${this.size>_t?y`<span>${r("Only the beginning is shown. Total size: {size}.",{size:ye(this.size)})}</span>`:Nt}
      </p>
    </details>`}#t(){if(this.problem)return y`<p class="field-error" role="alert">${this.problem}</p>`;if(this.text===null)return y`<p class="working">${r("Loading…")}</p>`;if(cs.test(this.type))return this.#e(Ie(this.text,je+1));let t=this.type==="text/markdown"?this.text:us(this.text,this.name);return y`<markdown-text .text=${t} .complete=${!0}></markdown-text>`}#e([t=[],...n]){let s=n.length>=je||this.size>_t;return y`<div class="prose-table table" tabindex="0" role="group" aria-label=${r("Table {name}",{name:this.name})}>
        <table>
          <thead>
            <tr>
              ${t.map(i=>y`<th scope="col">${i}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${n.map(i=>y`<tr>${i.map(o=>y`<td>${o}</td>`)}</tr>`)}
          </tbody>
        </table>
      </div>
      ${s?y`<p class="preview-foot">${x("Showing only the first row","Showing only the first {count} rows",n.length)}</p>`:Nt}`}async#s({currentTarget:t}){let{openFile:n}=await import("./artifact-panel-NDOFCEHL.js");try{await n(this.address,this.name,"html",t)}catch{this.problem=r("The file could not be loaded. Check your connection and try again.")}}async#i(t){if(!(!t.target.open||this.text!==null)){this.problem="";try{let s=await fetch(this.address,{headers:{Range:`bytes=0-${_t-1}`}});if(!s.ok){this.problem=s.status===404?r("The file no longer exists."):r("The file can’t be shown. Download it instead.");return}let i=s.headers.get("Content-Range")?.split("/")[1],o=new Uint8Array(await s.arrayBuffer());this.size=Number(i??o.length),this.text=ds(o)}catch{this.problem=r("The file could not be loaded. Check your connection, then close the preview and open it again.")}}}};customElements.define("file-preview",Mt);function us(e,t){let n=Math.max(2,...[...e.matchAll(/`+/g)].map(([o])=>o.length)),s="`".repeat(n+1),i=t.match(/\.(\w{1,12})$/)?.[1]??"";return`${s}${i}
${e.replace(/\n$/,"")}
${s}`}function ds(e){if(e[0]===255&&e[1]===254)return new TextDecoder("utf-16le").decode(e);if(e[0]===254&&e[1]===255)return new TextDecoder("utf-16be").decode(e);try{return new TextDecoder("utf-8",{fatal:!0}).decode(e,{stream:!0})}catch{return new TextDecoder("windows-1252").decode(e)}}var Be=/^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i,hs=/^(audio|video)\/[\w.+-]+$/i,ps=/^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;function at(e){if(!e.length)return It;let t=e.filter(Ue).length;return d`<ul class="attachments ${t>1?"gallery":""}" aria-label=${r("Attachments")}>
    ${e.map(n=>d`<li>${fs(n)}</li>`)}
  </ul>`}function lt(e){return e?.length?d`<p class="left-out">${c("circle-alert")}<span dir="auto">${r("Not imported: {names}",{names:e.join(", ")})}</span></p>`:It}function Ue(e){return Be.test(e.type??"")?gs(e):""}function fs(e){let{type:t="",data:n}=e,s=Ue(e);if(s)return $s(e,s);let i=hs.exec(t)?.[1].toLowerCase();if(i){let a=bs(e);if(a)return ys(e,i,a)}if(n&&ps.test(t))return ws(e,n);if(n)return xs(e,n);let o=st(e.url??"");return o?ms(e,o.pathname):vs(e)}function ms(e,t){let{type:n=""}=e,s=D(e);if(Pe(n))return d`<file-preview .address=${t} .name=${s} .type=${n}></file-preview>`;let i=n.split(";")[0];return/^application\/pdf$/.test(n)?d`<a class="attachment file" href=${t} target="_blank" rel="noopener">
      ${c("file-text")}${G(e,i)}${c("external-link")}
    </a>`:d`<a class="attachment file" href="${t}?download" download=${s}>
    ${c("file-text")}${G(e,i)}${c("download")}
  </a>`}function gs({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:t&&/^data:image\//i.test(t)?t:t&&Os(t)?A(t)?.href??"":""}function $s(e,t){let n=st(e.url??""),s=D(e),i=d`<img src=${t} alt=${s} loading="lazy" @error=${Ss} />`;return d`<figure class="attachment picture">
    ${n?d`<a href=${n.pathname} target="_blank" rel="noopener" data-zoom>${i}</a>`:d`<button type="button" class="zoom" data-zoom>${i}</button>`}
    <figcaption>
      ${n?d`<a href=${n.pathname} target="_blank" rel="noopener">${s}</a>`:s}
      ${Fe(e)}
    </figcaption>
  </figure>`}function bs({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:st(t??"")?.pathname??""}function ys(e,t,n){let s=D(e);return d`<figure class="attachment media">
    ${t==="audio"?d`<audio controls preload="metadata" src=${n} aria-label=${s}></audio>`:d`<video controls preload="metadata" src=${n} aria-label=${s}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${s}</span>
      <a class="quiet" href=${n.startsWith("data:")?n:`${n}?download`} download=${s} title=${r("Download")}>
        ${c("download")}<span class="visually-hidden">${r("Download {name}",{name:s})}</span>
      </a>
    </figcaption>
  </figure>`}function ws(e,t){let n=e.type==="text/markdown";return d`<details class="attachment words">
    <summary>${c("chevron-right")}${c("file-text")}<span>${D(e)}</span></summary>
    ${n?d`<markdown-text .text=${t} .complete=${!0}></markdown-text>`:d`<pre tabindex="0" role="group" aria-label=${D(e)}>${t}</pre>`}
    ${Fe(e)}
  </details>`}function xs(e,t){let n=`data:application/octet-stream;base64,${t.replace(/^data:[^,]*,/,"")}`,s=D(e),i=d`<a class="attachment file" href=${n} download=${s}>
    ${c("file-text")}${G(e,r("Download"))}
  </a>`;if(!/^text\/html\b/i.test(e.type??""))return i;return d`${i}<button type="button" class="button" @click=${o}>${c("eye")}${r("Preview {name}",{name:s})}</button>`;async function o({currentTarget:a}){let{openText:l}=await import("./artifact-panel-NDOFCEHL.js");await l(s,"html",ks(t),a)}}function ks(e){try{let t=Uint8Array.from(atob(e.replace(/^data:[^,]*,/,"")),n=>n.charCodeAt(0));return new TextDecoder().decode(t)}catch{return e}}function vs(e){let t=e.url??e.reference_url??"",n=A(t),s=c(Be.test(e.type??"")?"image":"file-text");return n?d`<a class="attachment file" href=${n.href} target="_blank" rel="noopener noreferrer">
    ${s}${G(e,n.host)}${c("external-link")}
  </a>`:d`<span class="attachment file">${s}${G(e,t)}</span>`}function G(e,t){return d`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${D(e)}</span>
    <span class="attachment-detail">${t}</span>
  </span>`}function Fe({reference_url:e}){let t=A(e??"");return t?d`<a href=${t.href} target="_blank" rel="noopener noreferrer">${r("Source: {host}",{host:t.host})}</a>`:It}function D({title:e,type:t,url:n}){return e||$e(n??"")||t||r("Attachment")}function Ss(e){let t=e.target;t.hidden=!0,t.closest("figure")?.setAttribute("data-missing","")}function Os(e){return A(e)?.origin===location.origin}import{html as jt,LitElement as Es,nothing as Cs}from"../vendor/lit.js";var He=14,Ts=1400;function We(e){return e?qs(e)?jt`<folded-text .text=${e}></folded-text>`:jt`<p class="question-text" dir="auto">${e}</p>`:Cs}function qs(e){return e.length>Ts||e.split(`
`,He+1).length>He}var Pt=class extends Es{static properties={text:{attribute:!1},unfolded:{type:Boolean,reflect:!0}};constructor(){super(),this.text="",this.unfolded=!1}createRenderRoot(){return this}render(){return jt`<p class="question-text" dir="auto" @scroll=${this.#t}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#e}>
        ${this.unfolded?r("Show less"):r("Show all")}<span class="visually-hidden"> ${r("of the question")}</span>
      </button>`}#t(t){let n=t.target;this.unfolded||!n.scrollTop||(n.scrollTop=0,this.unfolded=!0)}#e(){this.unfolded=!this.unfolded,this.unfolded||this.updateComplete.then(()=>this.scrollIntoView({block:"nearest"}))}};customElements.define("folded-text",Pt);var Ls={previous:r("Previous version of the question"),next:r("Next version of the question")},Rs=2e3,Bt=class extends As{static properties={question:{attribute:!1},state:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},editing:{state:!0},copied:{state:!0}};constructor(){super(),this.question=void 0,this.state="",this.branch=void 0,this.changeable=!1,this.limit=1/0,this.editing=!1,this.copied=!1}createRenderRoot(){return this}render(){let{question:t}=this;if(!t)return C;let{text:n,attachments:s,place:i,sender:o,application:a,left_out:l,created_at:u}=t;return T`${a?T`<p class="handover" dir="auto">${r("{title} answers from here on",{title:a.title})}</p>`:C}
      <h2 class="visually-hidden">${r("Question")}</h2>
      ${u?T`<time class="printed" datetime=${u}>${Ge(u)}</time>`:C}
      ${o?Ns(o):C}
      ${i?T`<p class="question-place" dir="auto">${[i.title,i.narrative].filter(Boolean).join(": ")}</p>`:C}
      ${this.editing?this.#i(t):We(n)} ${at(s)} ${lt(l)}
      ${this.editing?C:this.#t(t)}`}#t(t){return T`<action-row .label=${r("Question actions")} .actions=${this.#e(t)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>`}#e({id:t,text:n}){let s=(o,a)=>j(this,"branch.switch",o,a),i=()=>j(this,"turn.delete",t,"delete");return[...ot(this.branch,Ls,!this.changeable,s),...this.changeable?[{name:"edit",icon:"pencil",label:r("Edit the question"),run:()=>this.edit()}]:[],...n?[{name:"copy",icon:this.copied?"check":"copy",label:r("Copy the question"),run:()=>this.#s(n)}]:[],...this.changeable?[{name:"delete",icon:"trash-2",label:r("Delete question and answer"),run:i}]:[]]}async#s(t){this.copied=await et(t),setTimeout(()=>this.copied=!1,Rs)}#i({text:t,attachments:n}){return T`<form class="question-editor" @submit=${this.#c} @keydown=${this.#a}>
      <textarea aria-label=${r("Edit the question")} dir="auto" rows="3" maxlength=${Number.isFinite(this.limit)?this.limit:C}
        ?required=${!n.length} .defaultValue=${t}></textarea>
      <p class="question-state">${r("Your earlier answers are still there: switch with ‹ 1/2 ›.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#r}>${r("Cancel")}</button>
        <button class="button primary">${r("Send")}</button>
      </div>
    </form>`}edit(){return!this.changeable||this.editing?!1:(this.editing=!0,this.#o(),!0)}async#o(){await this.updateComplete;let t=this.#n();t?.focus(),t?.setSelectionRange(t.value.length,t.value.length),requestAnimationFrame(()=>requestAnimationFrame(()=>t?.scrollIntoView({block:"center"})))}#n(){return this.querySelector("textarea")}async#r(){this.editing=!1,await this.updateComplete;let t=this.querySelector("action-row");t instanceof R&&(await t.updateComplete,t.focusOn("edit"))}#a(t){t.isComposing||(t.key==="Escape"?(t.preventDefault(),this.#r()):nt(t)&&t.target instanceof HTMLTextAreaElement&&(t.preventDefault(),t.currentTarget.requestSubmit()))}#c(t){t.preventDefault();let{question:n}=this,s=this.#n()?.value??"";if(!n||!this.changeable||!(s.trim()||n.attachments.length))return;this.editing=!1;let i={text:s,attachments:n.attachments,edits:n.id};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:i}))}};customElements.define("chat-question",Bt);function Ds(e,t){return e==="alarm"?r("Alarm"):e==="webhook"?r("Sent by the webhook “{title}”",{title:t}):r("Sent by the schedule “{title}”",{title:t})}function Ge(e){return new Date(e).toLocaleString(q,{dateStyle:"medium",timeStyle:"short"})}function Ns({kind:e,title:t,at:n}){let s=Ds(e,t);return T`<p class="question-sender">
    ${c(n?"clock":"settings")}<span dir="auto">${s}</span>
    ${n?T`<time datetime=${n}>${Ge(n)}</time>`:C}
  </p>`}import{html as k,LitElement as mr,nothing as X,repeat as gr}from"../vendor/lit.js";function Ke(e){let t=[];for(let s of e){let i=t.at(-1);if(s.role==="user"&&s.sender?.kind==="continuation"){i?.turn.role==="assistant"&&(i.goesOn=!0);continue}let o=s.role==="assistant"&&i?.turn.role==="assistant"&&i.goesOn;t.push({turn:s,asked:o?i.asked:i?.turn.role==="user"?i.turn:void 0,earlier:o?[...i.earlier,i.turn]:[],goesOn:!1,isLast:!1})}let n=t.at(-1);return n&&(n.isLast=!0),t}function Ye(e){let t=[],n=0,s=-1,i;for(let o of e){let{turn:a}=o;a.at>(i?.at??-1)+1&&(t.push({key:`gap ${n}`,turns:[],missing:i?{after:ze(i)}:{before:ze(a)}}),n+=1,s=-1);let l=Math.floor(a.at/8);l===s?t.at(-1)?.turns.push(o):t.push({key:_s(l,i),turns:[o]}),s=l,i=a}return t}function _s(e,t){return t&&Math.floor(t.at/8)===e?`turns ${e} end`:`turns ${e}`}function ze(e){return e.role==="user"?e.run??"":e.id}function ct(e){return e.role==="user"?e.id:e.message?.id}import{html as Je}from"../vendor/lit.js";function Ve({text:e,cancel:t,confirm:n}){return Je`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${t}>
    <form @submit=${i=>{i.preventDefault(),n()}}>
      <h2 id="turn-deletion-heading">${r("Delete this question?")}</h2>
      ${e?Je`<blockquote dir="auto">${e}</blockquote>`:""}
      <p>${r("The question and all its answers will be permanently deleted. Later questions are kept, but the model no longer reads the deleted messages.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${t}>${r("Cancel")}</button>
        <button class="button danger">${r("Delete")}</button>
      </div>
    </form>
  </dialog>`}import{html as vt,LitElement as ur,nothing as Mn,repeat as dr}from"../vendor/lit.js";import{html as f,LitElement as ir,nothing as g,repeat as rr}from"../vendor/lit.js";import{html as ai,nothing as on}from"../vendor/lit.js";import{html as Ut,nothing as Ft}from"../vendor/lit.js";function Qe(e){let{subagent:t}=e;if(!t)return Ft;let n=s=>Xe(s,"subagent-open",e.id);return Ut`<p class="subagent-buttons">
    ${t.agent?Ut`<span class="subagent-agent">${t.agent}</span>`:Ft}
    <button type="button" class="button" aria-label=${r("Open the sub-agent {name}",{name:t.name})} @click=${n}>${r("Open")}</button>
    ${Ht(e)}
  </p>`}function Ht({subagent:e}){if(e?.state!=="running")return Ft;let t=n=>Xe(n,"subagent-stop",e.key);return Ut`<button type="button" class="button" aria-label=${r("Stop the sub-agent {name}",{name:e.name})} @click=${t}>
    ${c("square")}${r("Stop")}
  </button>`}function Xe(e,t,n){e.target?.dispatchEvent(new CustomEvent(t,{bubbles:!0,detail:n}))}import{html as $,nothing as O,repeat as Vs}from"../vendor/lit.js";import{html as N,nothing as Wt}from"../vendor/lit.js";var Ms=/^\[(\d{1,4})\] (.*\S.*)$/,Is=600;function z(e){return e.map(Ze).filter(n=>n!==null).sort((n,s)=>Number(n.number)-Number(s.number))}function ut(e,t=[]){let n=t.map((s,i)=>ke(i+1,s)).filter(({place:s})=>s);return N`${at(e.filter(s=>!Ze(s)))}
    ${js([...z(e),...n])}`}function Ze({type:e,title:t,url:n,data:s,reference_url:i}){let[,o,a]=Ms.exec(t??"")??[];return e!=="text/plain"||n||!s||s.length>Is||!a?null:{number:o,place:a,sentence:s,address:A(i??"")?.href??""}}function js(e){return e.length?N`<div class="sources">
    <h3>${r("Sources")}</h3>
    <ul>
      ${e.map(t=>N`<li>${Ps(t)}</li>`)}
    </ul>
  </div>`:Wt}function Ps({number:e,place:t,sentence:n,address:s}){return N`<span class="source-number">${e}</span>
    <div dir="auto">
      ${s?N`<a href=${s} target="_blank" rel="noopener noreferrer">${t}</a>${Bs(s)}`:t}
      ${n?N`<q>${n}</q>`:Wt}
    </div>`}function Bs(e){let t=new URL(e);return t.origin===location.origin?Wt:N` (${t.host})`}var Us=/^> #{4,5} (.{1,60}?):?\s*$/,Fs=/^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/,tn=/^(`{3,})/,Hs=/^(`{3,})(?:json)?\n([\s\S]*)\n\1$/;function Gt(e){return nn(e,Us).map(({match:n,lines:s})=>({heading:n?.[1]??"",text:s.join(`
`).trim()}))}function zt(e){let t=nn(e,Fs);return t.some(({match:n})=>!n)?[]:t.map(({match:n,lines:s})=>({name:n?.[1]??"",text:[n?.[2]??"",...s].join(`
`).trim()}))}function dt(e){let t=Hs.exec(e)?.[2]??e;if(!/^\s*[[{]/.test(t))return null;try{return JSON.parse(t)}catch{return null}}function en(e){let n=Gt(e).findLast(({heading:s})=>s==="Error")?.text.split(`
`).find(s=>s.trim()&&!tn.test(s))??"";return n.length>200?`${n.slice(0,199)}…`:n}function nn(e,t){let n=[],s="";for(let i of e.replace(/\r\n?/g,`
`).split(`
`)){let o=tn.exec(i)?.[1]??"",a=s?null:t.exec(i);s&&o.length>=s.length?s="":s||(s=o),a?n.push({match:a,lines:[]}):n.length?n[n.length-1].lines.push(i):i.trim()&&n.push({match:null,lines:[i]})}return n}import{html as h,LitElement as Ws,nothing as ht}from"../vendor/lit.js";var sn=20,pt=1500,Gs=8,zs=3,Ks=/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i,Ys={Request:r("Request"),Response:r("Response"),Result:r("Result"),Error:r("Error"),Sources:r("Sources"),"Status Code":r("Status code")},Kt=class extends Ws{static properties={text:{attribute:!1},complete:{attribute:!1},sources:{attribute:!1},all:{state:!0},raw:{state:!0}};constructor(){super(),this.text="",this.complete=!1,this.sources=[],this.all=!1,this.raw=!1,this.isCut=!1}createRenderRoot(){return this}render(){if(!this.complete)return this.#n(this.text);if(this.raw)return h`<pre class="step-raw" tabindex="0" role="group" aria-label=${r("Raw text")}>${this.text}</pre>${this.#t()}`;this.isCut=!1;let t=Gt(this.text),n=t.map(i=>this.#e(i)),s=!this.isCut&&t.every(({heading:i,text:o})=>!i&&!dt(o)&&!zt(o).length);return h`${n}${s?ht:this.#t()}`}#t(){let t=()=>this.all=!this.all,n=()=>this.raw=!this.raw,s=!this.raw&&(this.isCut||this.all);return h`<div class="step-buttons">
      ${s?h`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${t}>
            ${this.all?r("Show less"):r("Show all")}
          </button>`:ht}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${n}>${r("Raw")}</button>
    </div>`}#e({heading:t,text:n}){return h`${t?h`<h3 class=${t==="Error"?"step-error":""}>${Ys[t]??t}</h3>`:ht} ${this.#s(n)}`}#s(t){let n=zt(t);if(n.length)return this.#c(n.map(i=>[i.name,this.#i(i.text)]));let s=dt(t);return s?this.#r(s,0):this.#o(t)}#i(t){let n=dt(t);return n?this.#r(n,1):t.startsWith("```")?this.#n(t):this.#a(t)}#o(t){return t.length<=pt?this.#n(t):(this.isCut=!0,h`<div class=${this.all?"":"step-cut"}>${this.#n(t)}</div>`)}#n(t){return h`<markdown-text .text=${t} .complete=${this.complete} .sources=${this.sources}></markdown-text>`}#r(t,n){if(t===null||t==="")return h`<span class="step-none">${r("none")}</span>`;if(typeof t!="object")return this.#a(String(t));if(n>zs)return h`<code>${JSON.stringify(t).slice(0,pt)}</code>`;if(!Array.isArray(t))return this.#c(Object.entries(t).map(([i,o])=>[i,this.#r(o,n+1)]));let s=Js(t);return s.length?this.#u(s,t,n):t.length?h`<ul>${this.#l(t).map(i=>h`<li>${this.#r(i,n+1)}</li>`)}</ul>`:h`<span class="step-none">${r("none")}</span>`}#a(t){if(Ks.test(t))return h`<button type="button" class="zoom" data-zoom aria-label=${r("Picture")}><img src=${t} alt="" /></button>`;let n=t.length>pt;return this.isCut||=n,h`<span class="step-string" dir="auto">${n&&!this.all?`${t.slice(0,pt)}…`:t}</span>`}#c(t){return t.length?h`<dl class="step-pairs">
      ${this.#l(t).map(([n,s])=>h`<div><dt dir="auto">${n}</dt><dd>${s}</dd></div>`)}
    </dl>`:h`<span class="step-none">${r("none")}</span>`}#u(t,n,s){return h`<div class="table" tabindex="0" role="group" aria-label=${r("Table: {columns}",{columns:t.join(", ")})}>
      <table>
        <thead><tr>${t.map(i=>h`<th scope="col">${i}</th>`)}</tr></thead>
        <tbody>
          ${this.#l(n).map(i=>h`<tr>${t.map(o=>h`<td>${o in i?this.#r(i[o],s+1):ht}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`}#l(t){return this.isCut||=t.length>sn,this.all?t:t.slice(0,sn)}};customElements.define("step-text",Kt);function Js(e){if(!e.every(s=>s!==null&&typeof s=="object"&&!Array.isArray(s)))return[];let n=[...new Set(e.flatMap(s=>Object.keys(s)))];return n.length<=Gs?n:[]}var Qs={running:{symbol:"loader-circle",words:r("Running")},done:{symbol:"check",words:r("Done")},failed:{symbol:"x",words:r("Failed")},stopped:{symbol:"square",words:r("Stopped")}},rn="Thinking",Xs=200,Zs=r("The model no longer reads this result, but it remains stored and visible.");function K(e,t,n=new Set){return $`<ol class="steps" aria-label=${r("Steps")}>
    ${Vs(e,s=>s.id,s=>ti(s,t,n))}
  </ol>`}function ti(e,t,n){let s=n.has(e.id),i=si(e,s);return $`<li class="step ${s?"expired":""}" data-state=${e.state}
    title=${s?Zs:O}>
    ${ei(e)?ni(e,i,t):$`<div class="step-line">${i}</div>`}
    ${e.state==="failed"&&!e.unfolded?ri(e):O} ${Qe(e)}
    ${e.children.length?K(e.children,t,n):O}
  </li>`}function ei({text:e,attachments:t}){return e!==""||t.length>0}function ni(e,t,n){let s=i=>{e.unfolded=i.target.open,n()};return $`<details .open=${e.unfolded} @toggle=${s}>
    <summary class="step-line">${t}${c("chevron-right")}</summary>
    ${e.unfolded?Yt(e):O}
  </details>`}function si({title:e,state:t,seconds:n,text:s},i){let{symbol:o,words:a}=Qs[t];return e===rn&&t==="running"?ii(s):e===rn&&t==="done"&&n!==null?$`<span class="step-mark">${c("brain")}</span>
      <span class="step-title">${r("Thought for {time}",{time:b(n)})}</span>`:$`<span class="step-mark">${c(o)}</span>
    <span class="step-title" dir="auto">${e}</span>
    <span class="step-state ${t==="done"?"visually-hidden":""}">${a}</span>
    ${i?$`<span class="visually-hidden">${r("(no longer read by the model)")}</span>`:O}
    ${n===null?O:$`<span class="step-time">${b(n)}</span>`}`}function ii(e){let t=e.trimEnd().split(`
`).at(-1)??"";return $`<span class="step-mark">${c("brain")}</span>
    <span class="step-title">${r("Thinking")}…</span>
    <span class="step-thought" dir="auto">${t.slice(-Xs)}</span>`}function ri({text:e}){let t=en(e);return t?$`<p class="step-cause" dir="auto">${t}</p>`:O}function Yt(e){return $`<div class="step-content">
    ${e.text?$`<step-text .text=${e.text} .complete=${e.state!=="running"}
          .sources=${z(e.attachments)}></step-text>`:O}
    ${e.length>e.text.length?oi(e):O}
    ${ut(e.attachments)}
  </div>`}function oi({id:e,text:t,length:n}){let s=({target:o})=>o.dispatchEvent(new CustomEvent("step-rest",{bubbles:!0,detail:e})),i=r("Show all {length} characters (the first {shown} are shown)",{length:n,shown:t.length});return $`<button type="button" class="link step-rest" @click=${s}>${i}</button>`}var li={running:r("Working"),done:r("Done"),failed:r("Failed"),stopped:r("Stopped")};function an(e,{redraw:t,close:n}){let{subagent:s}=e;return s?ai`<dialog class="subagent" aria-labelledby="subagent-name" @close=${n}>
    <header>
      <h2 id="subagent-name" tabindex="-1">${s.name}</h2>
      <p class="subagent-line" role="status">
        ${[s.agent,li[s.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="subagent-read" tabindex="0" role="group" aria-label=${r("Sub-agent activity")}>
      ${Yt(e)} ${e.children.length?K(e.children,t):on}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${Ht(e)}
      <button class="button" autofocus>${r("Close")}</button>
    </form>
  </dialog>`:on}import{html as ln,nothing as ci}from"../vendor/lit.js";var cn={recalled:r("Recalled"),stored:r("Remembered"),changed:r("Changed"),forgotten:r("Forgot"),deleted:r("Deleted everything")};function un(e){return e?.length?ln`<details class="more-line memory-line">
    <summary>${c("chevron-right")}${r("Memory: {what}",{what:ui(e)})}</summary>
    <ul>
      ${e.map(({action:t,text:n})=>ln`<li><b>${cn[t]}</b> <span dir="auto">${n}</span></li>`)}
    </ul>
    <a href="/memory/">${r("Your memories")}</a>
  </details>`:ci}function ui(e){return Object.entries(cn).map(([t,n])=>({action:t,words:n.toLowerCase(),count:di(e,t)})).filter(({count:t})=>t).map(({action:t,words:n,count:s})=>t==="deleted"?n:`${n} ${s}`).join(", ")}function di(e,t){return e.filter(n=>n.action===t).length}function ia(e,t,n){e.hidden=n===null,t.memory=n??!0,e.ariaChecked=String(t.memory)}function ra(e,t,n,s){e.addEventListener("click",async()=>{let{id:i}=t.conversation,o=!t.memory;if(i&&!await Z(`${n()}${i}/memory/`,{on:String(o)})){s({text:r("That didn’t work. Check your connection and try again."),isProblem:!0});return}t.memory=o,e.ariaChecked=String(o),s({text:o?hi:pi,isProblem:!1})})}var hi=r("Memory is on for this conversation, starting with your next message."),pi=r("Memory is off for this conversation, starting with your next message.");import{html as vi,LitElement as Si,nothing as Oi}from"../vendor/lit.js";import{html as _,LitElement as fi,live as mi,nothing as Y}from"../vendor/lit.js";var Jt={rating:"",reason:"",comment:"",shares_transcript:!1},gi=[["wrong",r("Incorrect")],["incomplete",r("Incomplete")],["not_asked",r("Not what I asked for")],["slow",r("Too slow")],["unsafe",r("Unsafe")],["other",r("Something else")]],$i=2e3,dn=100,bi=r("That didn’t work. Check your connection and try again."),ft=new Map,Vt=[],Qt;async function yi(e){return ft.has(e)||(Vt.push(e),Qt??=new Promise(t=>setTimeout(()=>t(wi()),50)),ft.set(e,Qt)),(await ft.get(e))?.get(e)??Jt}async function wi(){let e=Vt;Vt=[],Qt=void 0;let t=new Map;for(let n=0;n<e.length;n+=dn){let s=e.slice(n,n+dn).map(o=>["message",o]),i=await tt(`/feedback/?${new URLSearchParams(s)}`);for(let[o,a]of Object.entries(i?.feedback??{}))t.set(o,a)}return t}function ha(e,t){ft.set(e,Promise.resolve(new Map([[e,t]])));for(let n of document.querySelectorAll("chat-feedback"))n instanceof mt&&n.message===e&&(n.given=t)}function hn(e){return!e||!document.getElementById("main")?.dataset.feedback?Y:_`<chat-feedback .message=${e}></chat-feedback>`}var mt=class extends fi{static properties={message:{attribute:!1},given:{state:!0},isOpen:{state:!0},said:{state:!0},problem:{state:!0}};constructor(){super(),this.message="",this.given=Jt,this.isOpen=!1,this.said="",this.problem=""}createRenderRoot(){return this}willUpdate(t){t.has("message")&&this.#t(this.message)}async#t(t){let n=await yi(t);t===this.message&&!this.given.rating&&(this.given=n)}render(){return _`<span class="thumbs">${this.#e("up",r("Good answer"))}${this.#e("down",r("Bad answer"))}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem?_`<p class="feedback-problem" role="alert">${this.problem}</p>`:Y}
      ${this.isOpen?this.#s():Y}`}#e(t,n){let s=this.given.rating===t;return _`<button
      type="button"
      class="quiet thumb"
      data-rating=${t}
      title=${n}
      aria-pressed=${String(s)}
      aria-expanded=${s?String(this.isOpen):Y}
      @click=${()=>this.#r(t)}
    >
      ${c(`thumbs-${t}`)}<span class="visually-hidden">${n}</span>
    </button>`}#s(){let{rating:t,reason:n,comment:s,shares_transcript:i}=this.given,o=`feedback-${this.message}`;return _`<form class="menu-popover feedback-form" popover aria-label=${r("Your feedback")} @submit=${this.#a} @toggle=${this.#i}>
      ${t==="down"?_`<fieldset class="reasons">
            <legend>${r("What was wrong with the answer? (optional)")}</legend>
            ${gi.map(([a,l])=>_`<label class="reason"><input type="radio" name="reason" value=${a} ?checked=${a===n} />${l}</label>`)}
          </fieldset>`:Y}
      <details class="feedback-comment" ?open=${s!==""||t==="up"}>
        <summary>${c("plus")}${r("Add a comment")}</summary>
        <label class="visually-hidden" for="${o}-comment">${r("Comment (optional)")}</label>
        <textarea id="${o}-comment" name="comment" rows="3" maxlength=${$i} dir="auto"
          .value=${s}></textarea>
      </details>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${mi(i)} aria-describedby="${o}-share" />
        ${r("Include this question and answer")}
      </label>
      <p class="hint" id="${o}-share">
        ${r("Your rating and comment are visible to this app’s administrators. They see the conversation only if you include it.")}
      </p>
      <div class="feedback-buttons">
        <button class="button primary">${r("Send")}</button>
        <button type="button" class="button quiet" @click=${this.#u}>${r("Remove my feedback")}</button>
      </div>
    </form>`}updated(){let t=this.#o,n=this.#n;!t||!n||t.matches(":popover-open")||(t.showPopover(),be(t,n),n===document.activeElement&&t.querySelector("input")?.focus())}#i({newState:t}){t==="closed"?this.isOpen=!1:this.#n&&Object.assign(this.#n,{popoverTargetElement:this.#o,popoverTargetAction:"hide"})}get#o(){return this.querySelector(".feedback-form")}get#n(){return this.querySelector(`[data-rating=${this.given.rating||"up"}]`)}async#r(t){if(this.given.rating===t){this.isOpen=!this.isOpen;return}let n=t==="up"?"":this.given.reason;await this.#c({...this.given,rating:t,reason:n})&&(this.isOpen=!0)}async#a(t){t.preventDefault();let n=new FormData(t.target),s=a=>String(n.get(a)??""),i=n.has("shares_transcript"),o={...this.given,reason:s("reason"),comment:s("comment"),shares_transcript:i};await this.#c(o)&&this.#d()}async#c(t){let{shares_transcript:n,...s}=t,i=await Z(this.#h,n?{...s,shares_transcript:"on"}:s);return this.#l(i,r("Thank you for your feedback.")),i&&(this.given=t),i}async#u(){let t=await me(this.#h);this.#l(t,r("Your feedback was removed.")),t&&(this.#d(),this.given=Jt)}#l(t,n){this.said=t?n:"",this.problem=t?"":bi}#d(){this.isOpen=!1,this.#o?.hidePopover(),this.#n?.focus()}get#h(){return`/messages/${this.message}/feedback/`}};customElements.define("chat-feedback",mt);var Xt=class extends EventTarget{all=[];take(t){JSON.stringify(t)!==JSON.stringify(this.all)&&(this.all=t,this.dispatchEvent(new CustomEvent("change")))}},gt=new Xt;var J=null,pn="speechSynthesis"in window;function fn(e,t){$t();let n=new SpeechSynthesisUtterance(e);n.lang=ki(e),n.onend=n.onerror=()=>{J===t&&(J=null,t())},J=t,speechSynthesis.speak(n)}function $t(){let e=J;J=null,speechSynthesis.cancel(),e?.()}var xi=[[/[\u0590-\u05ff]/,"he"],[/[\u0600-\u06ff]/,"ar"],[/[\u0400-\u04ff]/,"ru"],[/[\u0370-\u03ff]/,"el"],[/[\u3040-\u30ff]/,"ja"],[/[\uac00-\ud7af]/,"ko"],[/[\u4e00-\u9fff]/,"zh"]];function ki(e){let t=e.slice(0,400);return xi.find(([s])=>s.test(t))?.[1]??document.documentElement.lang??""}var Ei={previous:r("Previous answer"),next:r("Next answer")},Ci=2e3,mn="with ",Zt=class extends Si{static properties={answer:{attribute:!1},version:{attribute:!1},earlier:{attribute:!1},asked:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},copied:{state:!0},reading:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.earlier=[],this.asked=void 0,this.branch=void 0,this.changeable=!1,this.copied=!1,this.reading=!1}#t=()=>this.requestUpdate();createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),gt.addEventListener("change",this.#t)}disconnectedCallback(){super.disconnectedCallback(),gt.removeEventListener("change",this.#t),this.reading&&$t()}render(){let{answer:t}=this;return t?vi`<div class="answer-foot">
      <action-row .label=${r("Answer actions")} .actions=${this.#e()}></action-row>
      <row-menu @chosen=${({detail:n})=>this.#o(n)}></row-menu>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>
      ${hn(t.message?.id)} ${Re(t)}
    </div>`:Oi}#e(){let t=(s,i)=>j(this,"branch.switch",s,i);return[...ot(this.branch,Ei,!this.changeable,t),this.#l()!==""&&{name:"copy",icon:this.copied?"check":"copy",label:r("Copy as Markdown"),run:()=>this.#r(this.#l())},this.#n!==""&&{name:"again",icon:"refresh-cw",label:r("Answer again"),run:()=>this.#u(this.#n)},this.reading&&{name:"hush",icon:"square",label:r("Stop reading"),run:()=>this.#a()},this.#s().length>0&&{name:"more",icon:"ellipsis",label:r("More options for this answer"),opensMenu:!0,run:s=>this.#i(s)}].filter(s=>s!==!1)}#s(){let t=this.#l()!=="",n=this.#n?gt.all:[];return[t&&{name:"text",icon:"file-text",words:r("Copy as text")},t&&pn&&{name:"read",icon:"volume-2",words:r("Read aloud")},...n.map(({id:i,title:o})=>({name:`${mn}${i}`,icon:"refresh-cw",words:r("Answer again with {title}",{title:o})})),(n.length>0||!!this.branch)&&this.#n!==""&&!!this.answer?.message&&{name:"compare",icon:"columns-2",words:r("Compare models")},this.#n!==""&&!!this.answer?.message&&{name:"fork",icon:"square-pen",words:r("New chat from here")},this.#n!==""&&{name:"delete",icon:"trash-2",words:r("Delete question and answer")}].filter(i=>i!==!1)}#i(t){let n=this.querySelector("row-menu");n instanceof xe&&n.open(this.#s(),t)}#o(t){t==="text"?this.#r(this.#d()):t==="read"?this.#c():t==="compare"?this.dispatchEvent(new CustomEvent("compare",{bubbles:!0,detail:this.#n})):t==="fork"?this.dispatchEvent(new CustomEvent("fork",{bubbles:!0,detail:this.answer?.message?.id})):t==="delete"?j(this,"turn.delete",this.#n,"delete"):this.#u(this.#n,t.slice(mn.length))}get#n(){return this.changeable&&this.asked&&!this.asked.sending?this.asked.id:""}async#r(t){this.copied=await et(t),setTimeout(()=>this.copied=!1,Ci)}#a(){let t=this.querySelector("action-row");t instanceof R&&t.focusOn("more"),$t()}#c(){fn(this.#d(),()=>this.reading=!1),this.reading=!0}#u(t,n){let s=n?{again:t,deployment:n}:{again:t};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:s}))}#l(){return[...this.earlier,...this.answer?[this.answer]:[]].map(S).join("")}#d(){let t=new Set([...this.earlier,this.answer].map(s=>s?.id));return[...this.closest("chat-log")?.querySelectorAll("chat-answer")??[]].filter(s=>t.has(s.answer?.id)).flatMap(s=>[...s.querySelectorAll(".answer-text")]).map(s=>s.innerText).join(`
`)}};customElements.define("answer-foot",Zt);import{html as B,LitElement as zi,nothing as yt}from"../vendor/lit.js";import{html as P,nothing as vn}from"../vendor/lit.js";import{html as w,nothing as bt}from"../vendor/lit.js";var gn=60;function ee(e,t,n){let s=[...new Set([...Object.keys(e),...Object.keys(t)])];return s.length?w`<div class="arguments">
    ${s.map((i,o)=>Object.hasOwn(t,i)?Ti(i,e[i],t[i],`${n}-${o}`):w`<div class="argument">
            <span class="argument-name">${i}</span>
            <span class="argument-value" dir="auto">${te(e[i])}</span>
          </div>`)}
  </div>`:bt}function $n(e,t,n){let s={};for(let[i,o]of Object.entries(n)){let a=e.elements.namedItem(`argument ${i}`);if(!Ri(a))continue;let l=Ai(a,o);if(a.setCustomValidity(l===bn?r("Enter JSON, such as [1, 2]."):""),!a.reportValidity())return null;l!==void 0&&JSON.stringify(l)!==JSON.stringify(t[i])&&(s[i]=l)}return s}function Ti(e,t,n,s){let i=n.description?w`<span class="hint" id="${s}-hint">${n.description}</span>`:bt;return w`<div class="argument">
    <label class="argument-name" for=${s}>${e}</label>
    ${qi(e,t,n,s)} ${i}
  </div>`}function qi(e,t,n,s){let i=`argument ${e}`,o=n.description?`${s}-hint`:bt,a=yn(n);if(n.enum)return w`<select id=${s} name=${i} aria-describedby=${o}>
      ${t===void 0?w`<option value=""></option>`:bt}
      ${n.enum.map((u,m)=>w`<option value=${m} ?selected=${Li(u,t)}>${te(u)}</option>`)}
    </select>`;if(a==="boolean")return w`<input type="checkbox" id=${s} name=${i} ?checked=${t===!0} aria-describedby=${o} />`;if(a==="integer"||a==="number")return w`<input type="number" id=${s} name=${i} step=${a==="integer"?"1":"any"}
      value=${t??""} ?required=${t!==void 0} aria-describedby=${o} />`;let l=t===void 0?"":te(t);return a==="string"&&l.length<=gn&&!l.includes(`
`)?w`<input id=${s} name=${i} dir="auto" value=${l} aria-describedby=${o} />`:w`<textarea id=${s} name=${i} dir="auto" rows=${Math.min(8,l.split(`
`).length+1)}
    .defaultValue=${l} aria-describedby=${o}></textarea>`}var bn=Symbol("invalid");function Ai(e,t){if(t.enum)return e.value?t.enum[Number(e.value)]:void 0;let n=yn(t);if(n==="boolean"){let s=e;return s.checked===s.defaultChecked?void 0:s.checked}if(!(e instanceof HTMLSelectElement||e.value===e.defaultValue)){if(n==="string")return e.value;if(e.value.trim()!==""){if(n==="integer"||n==="number")return Number(e.value);try{return JSON.parse(e.value)}catch{return bn}}}}function yn({type:e}){return[e].flat().find(t=>t&&t!=="null")??""}function te(e){if(typeof e=="string")return e;let t=JSON.stringify(e)??"";return t.length<=gn?t:JSON.stringify(e,null,2)}function Li(e,t){return JSON.stringify(e)===JSON.stringify(t)}function Ri(e){return e instanceof HTMLInputElement||e instanceof HTMLTextAreaElement||e instanceof HTMLSelectElement}var wn={"read-only":["file-text",r("Only reads data")],changes:["pencil",r("Makes changes")],destructive:["triangle-alert",r("Deletes or overwrites data")]},Di={conversation:r("Don’t ask again in this conversation"),application:r("Don’t ask again in this app")};function Sn({asked:e},t,n,s){let i=e.arguments??{},o=e.editable??{};if(e.four_eyes)return P`${xn(e.because)} ${kn(e.risk)} ${ee(i,{},t)}
      <p class="hint">${r("Another user must approve or deny this call. Ask an administrator of this server.")}</p>`;let a=u=>{let m=$n(u,i,o);if(m===null)return;let v=new FormData(u).get("always");s({outcome:"approved",arguments:m,...v?{always:String(v)}:{}})},l=u=>s({outcome:"denied",reason:String(new FormData(u).get("reason")??"").trim()});return P`<form
    novalidate
    @submit=${u=>{u.preventDefault(),a(u.target)}}
  >
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Tool call")}</legend>
      ${xn(e.because)} ${kn(e.risk)} ${ee(i,o,t)} ${_i(e.always??[],t)}
      <div class="argument">
        <label class="argument-name" for="${t}-reason">${r("Reason for denying (optional)")}</label>
        <input id="${t}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${Ni(l)} />
      </div>
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${r("Approve")}</button>
        <button type="button" class="button" @click=${u=>l(On(u))}>
          ${c("x")}${r("Deny")}
        </button>
      </div>
    </fieldset>
  </form>`}function Ni(e){return t=>{t.key!=="Enter"||t.isComposing||(t.preventDefault(),e(On(t)))}}function On(e){return e.currentTarget.form}function xn(e){return e?P`<p class="because" dir="auto">${c("circle-alert")}<span>${e}</span></p>`:vn}function kn(e){let[t,n]=wn[e]??wn.changes;return P`<p class="risk" data-risk=${e}>${c(t)}${n}</p>`}function _i(e,t){return e.length?P`<fieldset class="choices">
    <legend class="argument-name">${r("Next time")}</legend>
    ${[["",r("Ask again")],...e.map(n=>[n,Di[n]??n])].map(([n,s])=>P`<label class="choice" for="${t}-always-${n}">
        <input type="radio" id="${t}-always-${n}" name="always" value=${n} ?checked=${n===""} />
        <span>${s}</span>
      </label>`)}
  </fieldset>`:vn}import{html as p,nothing as E}from"../vendor/lit.js";var Mi={email:"email",uri:"url",date:"date"};function En({asked:e},t,n,s){let i=e.fields??[];return p`<form @submit=${a=>{a.preventDefault();let l=a.target;s({outcome:"accepted",content:Fi(l,i)})}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      <p class="interaction-question" dir="auto">${e.message}</p>
      ${e.mode==="url"?Ii(e):i.map((a,l)=>Pi(a,`${t}-${l}`))}
      <p class="hint">${r("Your answer is sent to this server. Don’t enter a password.")}</p>
      <div class="interaction-buttons">
        ${e.mode==="url"?ji(e,n,s):p`<button class="button primary">${c("check")}${r("Send")}</button>`}
        <button type="button" class="button" @click=${()=>s({outcome:"declined"})}>${c("x")}${r("Decline")}</button>
        <button type="button" class="button" @click=${()=>s({outcome:"cancelled"})}>${r("Cancel")}</button>
      </div>
    </fieldset>
  </form>`}function Ii({url:e,host:t,repeats:n}){return p`<p>${r("The server is asking you to open a page on this host:")} <strong class="interaction-host">${t}</strong></p>
    <p class="hint argument-value">${e}</p>
    ${n?p`<p class="hint">${r("When you’re done, return to this page and choose “Done”. The tool then runs again.")}</p>`:E}`}function ji(e,t,n){if(!t)return E;let s=()=>n({outcome:"accepted"}),i=o=>p`<a class="button primary" href=${e.url}
    target="_blank" rel="noopener noreferrer" @click=${o?s:E}>${r("Open {host}",{host:e.host})}</a>`;return e.repeats?p`${i(!1)}
    <button type="button" class="button" @click=${s}>${c("check")}${r("Done")}</button>`:i(!0)}function Pi(e,t){let n=e.hint?p`<span class="hint" id="${t}-hint">${e.hint}</span>`:E;return e.type==="choices"?Ui(e,t,n):p`<div class="argument">
    <label class="argument-name" for=${t} dir="auto">${e.label}${e.required||e.type==="boolean"?"":` ${r("(optional)")}`}</label>
    ${Bi(e,t)} ${n}
  </div>`}function Bi(e,t){let{name:n,required:s}=e,i=e.hint?`${t}-hint`:E;return e.type==="boolean"?p`<input type="checkbox" id=${t} name="field ${n}" ?checked=${e.default===!0} aria-describedby=${i} />`:e.type==="choice"?p`<select id=${t} name="field ${n}" ?required=${s} aria-describedby=${i}>
      <option value=""></option>
      ${e.options?.map(({value:o,label:a})=>p`<option value=${o} ?selected=${o===e.default}>${a}</option>`)}
    </select>`:e.type==="string"?p`<input type=${Mi[e.format??""]??"text"} id=${t} name="field ${n}" dir="auto"
      value=${e.default??""} ?required=${s} minlength=${e.least??E} maxlength=${e.most??2e4}
      aria-describedby=${i} />`:p`<input type="number" id=${t} name="field ${n}" step=${e.type==="integer"?"1":"any"}
    value=${e.default??""} ?required=${s} min=${e.least??E} max=${e.most??E}
    aria-describedby=${i} />`}function Ui(e,t,n){let s=Array.isArray(e.default)?e.default:[];return p`<fieldset class="choices" aria-describedby=${e.hint?`${t}-hint`:E}>
    <legend class="argument-name" dir="auto">${e.label}</legend>
    ${e.options?.map(({value:i,label:o},a)=>p`<label class="choice" for="${t}-${a}">
        <input type="checkbox" id="${t}-${a}" name="field ${e.name}" value=${i} ?checked=${s.includes(i)} />
        <span dir="auto">${o}</span>
      </label>`)}
    ${n}
  </fieldset>`}function Fi(e,t){let n=new FormData(e),s=t.map(({name:i,type:o,required:a})=>{let l=n.getAll(`field ${i}`).map(String);return o==="boolean"?[i,l.length>0]:o==="choices"?[i,l.length||a?l:void 0]:l[0]?[i,o==="string"||o==="choice"?l[0]:Number(l[0])]:[i,void 0]});return Object.fromEntries(s.filter(([,i])=>i!==void 0))}import{html as M,nothing as V}from"../vendor/lit.js";function Cn({asked:e},t,n,s,i){let o=e.input!=="text"&&e.options?.length>0;return M`<form @submit=${l=>{l.preventDefault();let u=new FormData(l.target),m=u.getAll("choice").map(String),v=String(u.get("text")??"").trim();i(m.length||v?{outcome:"answered",choices:m,text:v}:null)}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      ${e.title?M`<p class="interaction-question" dir="auto">${e.question}</p>`:V}
      ${o?Hi(e.options,e.input==="multiple",e.question,t):V}
      ${!o||e.freeform!==!1?Wi(o,t):V}
      ${s?M`<p class="field-error" role="alert">${s}</p>`:V}
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${fe("to answer","Answer")}</button>
        <button type="button" class="button" @click=${()=>i({outcome:"skipped",choices:[],text:""})}>
          ${r("Skip")}
        </button>
      </div>
    </fieldset>
  </form>`}function Hi(e,t,n,s){return M`<fieldset class="choices">
    <legend class="visually-hidden">${n}</legend>
    ${e.map(({label:i,description:o},a)=>M`<label class="choice" for="${s}-${a}">
        <input type=${t?"checkbox":"radio"} id="${s}-${a}" name="choice" value=${i} />
        <span dir="auto">${i}${o?M`<span class="hint">${o}</span>`:V}</span>
      </label>`)}
  </fieldset>`}function Wi(e,t){let n=e?r("In your own words (optional)"):r("Your answer");return M`<div class="argument">
    <label class="argument-name" for="${t}-text">${n}</label>
    <textarea id="${t}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${i=>{nt(i)&&(i.preventDefault(),i.target.form?.requestSubmit())}}></textarea>
  </div>`}import{html as Gi}from"../vendor/lit.js";function Tn({asked:e},t,n){return Gi`<p>
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
    </div>`}var se=1e3,Ki=0,ne=class extends zi{static properties={interaction:{attribute:!1},version:{attribute:!1},status:{attribute:!1},problem:{state:!0}};#t=`interaction-${++Ki}`;#e=0;constructor(){super(),this.interaction=void 0,this.version=0,this.status="waiting",this.problem=""}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),this.#e=setInterval(()=>this.#s&&this.requestUpdate(),se)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#e)}get#s(){return this.interaction!==void 0&&!this.interaction.resolved&&!Ji(this.status)}focus(){let t=this.querySelector("section");t?.scrollIntoView({block:"nearest"}),t?.focus({preventScroll:!0})}render(){let{interaction:t}=this;if(!t)return yt;if(t.kind==="client_tool")return this.#s?Qi(t):yt;if(!this.#s)return Xi(t);let{asked:n,due:s}=t;return B`<section class="interaction" tabindex="-1" aria-labelledby="${this.#t}-title" @keydown=${Yi}>
      <div class="interaction-head">
        <h3 id="${this.#t}-title" dir="auto">${ie(n)}</h3>
        ${s===null?yt:B`<span class="time-left" role="timer" aria-live="off">${Vi(s)}</span>`}
      </div>
      ${this.#i(t)}
    </section>`}#i(t){let n=St(t,this.status)&&!t.sending,s=i=>this.#o(t,i);return t.kind==="approval"?Sn(t,this.#t,n,s):t.kind==="question"?Cn(t,this.#t,n,this.problem,s):t.kind==="elicitation"?En(t,this.#t,n,s):t.kind==="sign_in"?Tn(t,n,s):B`<p class="hint">${r("This request can’t be answered on this page.")}</p>`}#o({key:t,kind:n},s){this.problem=s?"":r("Choose or enter an answer, or skip the question."),s&&this.dispatchEvent(new CustomEvent("answer",{bubbles:!0,detail:{key:t,kind:n,answer:s}}))}};customElements.define("chat-interaction",ne);function Yi(e){e.key!=="Escape"||e.isComposing||(e.preventDefault(),document.getElementById("question")?.focus())}function ie(e){return e.title||e.question||e.name||r("Your input is needed")}function Ji(e){return e==="done"||e==="failed"||e==="stopped"}function Vi(e){let t=Math.ceil(e-Date.now()/se);if(t<=0)return r("Timed out");let n=t<10?r("{seconds} s",{seconds:t}):b(t);return r("{time} left",{time:n})}function Qi({asked:e,isHere:t}){return B`<p class="decision">
    ${c("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${ie(e)}</span>
      <span>${t?r("Running on this page"):r("Running on the page where you sent the message")}</span>
    </span>
  </p>`}function Xi(e){let{resolved:t}=e,n=["approved","answered","accepted","connected"].includes(t?.answer.outcome??"");return B`<p class="decision">
    ${c(n?"check":"x")}
    <span>
      <span class="decision-title" dir="auto">${ie(e.asked)}</span>
      <span>${Zi(e)}</span>
      ${t?.answer.always?B`<a href="/approvals/">${r("Start asking again…")}</a>`:yt}
    </span>
  </p>`}function Zi({kind:e,resolved:t}){if(!t)return r("Not decided: the answer ended first.");let{answer:n,by:s,at:i}=t,o=ge(new Date(i*se).toISOString()),a={name:s||r("an unknown user"),moment:o},l=Object.keys(n.arguments??{});switch(n.outcome){case"approved":return l.length?r("Approved by {name}, {moment}, with changes to {names}.",{...a,names:l.join(", ")}):r("Approved by {name}, {moment}.",a);case"denied":return n.reason?r("Denied by {name}, {moment}: {reason}",{...a,reason:n.reason}):r("Denied by {name}, {moment}.",a);case"answered":return r("Answered by {name}, {moment}: {answer}",{...a,answer:[...n.choices??[],n.text].filter(Boolean).join(", ")});case"accepted":return r("Answered by {name}, {moment}.",a);case"declined":return r("Declined by {name}, {moment}.",a);case"cancelled":return r("Canceled by {name}, {moment}.",a);case"lost":return r("Not answered: the call ended first.");case"connected":return r("Connected by {name}, {moment}.",a);case"skipped":return r("Skipped by {name}, {moment}.",a);default:return e==="approval"?r("Nobody decided in time, so the call was denied ({moment}).",{moment:o}):r("Nobody answered in time ({moment}).",{moment:o})}}import{html as U,LitElement as nr,nothing as Q}from"../vendor/lit.js";var re="steps",tr=["none","compact","folded","full"],xt=new EventTarget,qn=wt(er());addEventListener("storage",({key:e,newValue:t})=>{e===re&&Ln(wt(t))});function An(){return qn}function il(e){try{localStorage.setItem(re,wt(e))}catch{}Ln(wt(e))}function Ln(e){qn=e,xt.dispatchEvent(new Event("change"))}function wt(e){return tr.find(t=>t===e)??"folded"}function er(){try{return localStorage.getItem(re)}catch{return null}}var oe=class extends nr{static properties={steps:{attribute:!1},list:{attribute:!1},past:{attribute:!1}};constructor(){super(),this.steps=[],this.list=Q,this.past=!1,this.redraw=()=>this.requestUpdate()}connectedCallback(){super.connectedCallback(),xt.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),xt.removeEventListener("change",this.redraw)}createRenderRoot(){return this}render(){let t=An(),n=this.steps.flatMap(Dn),s=n.findLast(({state:a})=>a==="running"),i=n.filter(({state:a})=>a==="failed").length,o=t==="folded"&&(!this.past||s||i);return t==="full"||t!=="none"&&(o||n.length===1)?this.list:t==="none"?s||i?U`<div class="step activity" data-state=${s?"running":"failed"}><div class="step-line">${Rn(n,s,i)}</div></div>`:Q:U`<details class="step activity" data-state=${s?"running":i?"failed":"done"}>
      <summary class="step-line">${Rn(n,s,i)}${c("chevron-right")}</summary>
      ${this.list}
    </details>`}};customElements.define("step-activity",oe);function Rn(e,t,n){let s=e.reduce((o,a)=>o+(a.seconds??0),0),i=x("{count} step","{count} steps",e.length);return U`<span class="step-mark">${c(t?"loader-circle":n?"x":"check")}</span>
    <span class="step-title" dir="auto">${t?t.title:i}</span>
    ${t?U`<span class="step-state">${i}</span>`:Q}
    ${n?U`<span class="step-state step-failures">${x("{count} failed","{count} failed",n)}</span>`:Q}
    ${t?Q:U`<span class="step-time">${b(s)}</span>`}`}function Dn(e){return[e,...e.children.flatMap(Dn)]}import{html as sr,nothing as Nn}from"../vendor/lit.js";function kt(e){return sr`<p class="working"><span class="dots" aria-hidden="true"></span>${e}</p>`}function _n(e,t){return e?.role!=="user"?Nn:e.sending?kt(r("Sending…")):t?kt(`${r("Thinking")}…`):Nn}var ae=class extends ir{static properties={answer:{attribute:!1},version:{attribute:!1},asked:{attribute:!1},earlier:{attribute:!1},goesOn:{attribute:!1},isLast:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},opened:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.asked=void 0,this.earlier=[],this.goesOn=!1,this.isLast=!1,this.branch=void 0,this.changeable=!1,this.opened="",this.addEventListener("subagent-open",t=>{this.opened=t.detail})}createRenderRoot(){return this}render(){let{answer:t}=this;if(!t)return g;let n=W(t.status);return f`
      ${this.earlier.length?g:f`<h2 class="visually-hidden">${r("Answer")}</h2>`}
      ${rr(t.parts,s=>s,s=>this.#e(t,s,n))}
      ${ut(t.attachments,t.annotations)}
      ${t.continued?f`<p class="notice">${c("refresh-cw")}${r("This answer continued after an interruption.")}</p>`:g}
      ${n?lr(t):this.#s(t)} ${this.#t(t)}
    `}updated(){let t=this.querySelector("dialog.subagent");t instanceof HTMLDialogElement&&!t.open&&t.showModal()}#t(t){let n=t.steps.get(this.opened);return n?an(n,{redraw:()=>this.requestUpdate(),close:()=>this.opened=""}):g}#e(t,n,s){if(n.kind==="steps")return f`<step-activity .steps=${n.steps} .past=${!s||ar(t,n)}
        .list=${K(n.steps,()=>this.requestUpdate(),t.expired)}></step-activity>`;if(n.kind==="notice")return f`<p class="notice" dir="auto">${c("circle-alert")}${n.text}</p>`;if(n.kind==="interaction")return f`<chat-interaction .interaction=${n.interaction} .version=${t.version}
        .status=${t.status}></chat-interaction>`;let i=!s||n!==t.parts.at(-1);return f`<markdown-text class="answer-text" ?data-growing=${!i} .text=${n.text} .complete=${i}
      .annotations=${[...t.annotations]}
      .sources=${z(t.attachments)}></markdown-text>`}#s(t){return f`${t.status==="failed"?this.#a(t):g}
      ${t.status==="stopped"?this.#o(t):g}
      ${t.status==="done"&&!this.goesOn?this.#i(t):g}
      ${lt(t.message?.left_out)} ${un(t.message?.memories)}
      ${this.goesOn?g:f`<answer-foot .answer=${t} .version=${t.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable}></answer-foot>`}`}#i(t){return t.message?.finish_reason!=="length"?or(t):f`<div class="stopped">
      <p class="notice">${c("triangle-alert")}${r("The answer reached the model’s length limit.")}</p>
      ${this.#r(r("Continue"),{continues:t.message.id})}
    </div>`}#o(t){let n=S(t).trim()?r("The answer is incomplete."):r("No answer was written.");return f`<div class="stopped">
      <p class="notice">${c("circle-alert")}<span><strong>${r("Stopped.")}</strong> ${n}</span></p>
      ${this.#n()}
    </div>`}#n(){return this.asked&&!this.asked.sending?this.#r(r("Try again"),{again:this.asked.id}):g}#r(t,n){return!this.isLast||!this.changeable?g:f`<button type="button" class="button" @click=${()=>this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:n}))}>${c("refresh-cw")}${t}</button>`}#a(t){let{error:n}=t;return f`<div class="failure">
      ${c("triangle-alert")}
      <div>
        <p>${n?.text??r("The answer could not be finished.")}</p>
        ${n?.reference?f`<p class="failure-reference">${r("Reference:")} <code>${n.reference}</code></p>`:g}
        ${this.#n()}
      </div>
    </div>`}};customElements.define("chat-answer",ae);function or(e){return e.message&&!S(e).trim()&&!e.attachments.length&&!e.message.left_out?.length?f`<p class="notice">${r("The model returned an empty answer.")}</p>`:g}function ar({parts:e},t){return e.slice(e.indexOf(t)+1).some(({kind:n})=>n==="text")}function lr(e){if(e.status==="waiting"&&Ce(e))return g;let t=e.parts.at(-1),n=[...e.steps.values()].some(({state:i})=>i==="running");return e.status==="running"&&(t?.kind==="text"||t?.kind==="steps"&&n)?g:kt(`${cr(e)}…`)}function cr(e){return e.status==="queued"?r("Queued"):e.status==="waiting"?L(e).some(it)?r("Working on the page"):r("Waiting for another user"):e.parts.length?r("Working"):r("Thinking")}var le=class extends ur{static properties={turns:{attribute:!1,hasChanged:hr},state:{attribute:!1},last:{attribute:!1},branches:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},summary:{attribute:!1},near:{attribute:!1}};constructor(){super(),this.turns=[],this.state="",this.last=!1,this.branches={},this.changeable=!1,this.limit=1/0,this.summary=null,this.near=!0,this.height=0,this.addEventListener("focusout",()=>this.requestUpdate())}createRenderRoot(){return this}place(t,n){this.classList.contains("resting")||(this.height=n),this.near=t}render(){let t=this.#t();return this.classList.toggle("resting",t),this.style.blockSize=t?`${this.height}px`:"",t?this.#e():vt`${dr(this.turns,({turn:n})=>`${n.role} ${n.id}`,n=>n.turn.role==="user"?this.#s(n.turn):this.#i(n.turn,n))}`}#t(){if(this.near||this.last||!this.height||this.contains(document.activeElement))return!1;let t=document.getSelection();return!t||t.isCollapsed||!t.containsNode(this,!0)}#e(){let t=this.turns.map(({turn:n})=>n.role==="user"?n.text:S(n)).join(`
`);return vt`<div hidden="until-found" @beforematch=${()=>this.near=!0}>${t}</div>`}#s(t){return vt`<chat-question
      class="turn question"
      id="message-${t.id}"
      .question=${t}
      .state=${t.sending?"sending":"stored"}
      .branch=${this.branches[t.id]}
      .changeable=${this.changeable&&!t.sending}
      .limit=${this.limit}
    ></chat-question>`}#i(t,{asked:n,earlier:s,goesOn:i,isLast:o}){let a=ct(t);return vt`<chat-answer
        class="turn answer"
        id=${a?`message-${a}`:Mn}
        .answer=${t}
        .version=${t.version}
        .asked=${n}
        .earlier=${s}
        .goesOn=${i}
        .isLast=${o}
        .branch=${this.branches[s[0]?.id??t.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary&&this.summary.after===t.id?Ne(this.summary):Mn}`}};customElements.define("chat-turns",le);function In(e){return e.map(({turn:t})=>t.role==="user"?Number(t.sending):t.version).join()}function hr(e,t){return e.length!==t?.length||e.some((n,s)=>pr(n,t[s]))}function pr(e,t){return e.turn!==t.turn||e.asked!==t.asked||e.earlier.length!==t.earlier.length||e.goesOn!==t.goesOn||e.isLast!==t.isLast}import{html as ce,LitElement as fr,nothing as jn}from"../vendor/lit.js";var de={intro_text:"",auto_submit:!0,chat_message_input_disabled:!1,starters:[]},ue=class extends fr{static properties={offered:{attribute:!1}};constructor(){super(),this.offered=de}createRenderRoot(){return this}render(){let{starters:t,intro_text:n}=this.offered;return t.length?ce`<section class="starters" aria-label=${n||r("Suggestions")}>
      ${n?ce`<h3 dir="auto">${n}</h3>`:jn}
      <ul>
        ${t.map(s=>ce`<li><button type="button" dir="auto" @click=${()=>this.#t(s)}>${s.title}</button></li>`)}
      </ul>
    </section>`:jn}#t(t){this.dispatchEvent(new CustomEvent("starter",{bubbles:!0,detail:t}))}};customElements.define("chat-starters",ue);var $r=200,br=3e3,yr="1200px 0px",wr="800px 0px",he=class extends mr{static properties={turns:{attribute:!1},loaded:{attribute:!1},busy:{attribute:!1},branches:{attribute:!1},deleting:{state:!0},greeting:{attribute:!1},isOnly:{attribute:!1},heading:{attribute:!1},description:{attribute:!1},starters:{attribute:!1},ended:{attribute:!1},application:{attribute:!1},summary:{attribute:!1},problem:{attribute:!1}};#t=new IntersectionObserver(t=>this.#d(t),{rootMargin:yr});#e=Promise.resolve();#s=new IntersectionObserver(t=>this.#h(t),{rootMargin:wr});constructor(){super(),this.turns=[],this.loaded=!0,this.busy=!1,this.branches={},this.deleting=null,this.limit=1/0,this.addEventListener("branch-change",t=>this.#i(t)),this.greeting="",this.isOnly=!1,this.heading="",this.description="",this.application={letters:"",tile:""},this.ended=!1,this.summary=null,this.problem="",this.starters=de}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),addEventListener("beforeprint",this.drawAll),addEventListener("afterprint",this.#l)}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("beforeprint",this.drawAll),removeEventListener("afterprint",this.#l),this.#t.disconnect(),this.#s.disconnect()}render(){return this.loaded?this.turns.length?k`${gr(Ye(Ke(this.turns)),({key:t})=>t,t=>t.missing?this.#f(t.missing):this.#p(t.turns))}
    ${_n(this.turns.at(-1),this.busy)}
    ${this.starters.chat_message_input_disabled&&!this.busy?k`<chat-starters .offered=${this.starters}></chat-starters>`:X}
    ${this.deleting?this.#o(this.deleting):X}`:this.#m():k`<p class="loading working">${r("Loading the conversation…")}</p>`}#i(t){let{type:n,message:s,isConfirmed:i}=t.detail;n!=="turn.delete"||i||(t.stopImmediatePropagation(),this.deleting={message:s,origin:t.target})}#o({message:t,origin:n}){let s=this.turns.find(({id:a})=>a===t),i=()=>{this.deleting=null,n.querySelector("action-row")?.focusOn(n.localName==="answer-foot"?"more":"delete")},o=()=>{this.deleting=null;let a={type:"turn.delete",message:t,name:"delete",isConfirmed:!0};this.dispatchEvent(new CustomEvent("branch-change",{detail:a}))};return Ve({text:s?.role==="user"?s.text.slice(0,$r):"",cancel:i,confirm:o})}updated(){let t=this.querySelector("dialog.turn-deletion");t instanceof HTMLDialogElement&&!t.open&&t.showModal();for(let n of this.#u)this.#t.observe(n);if(this.#s.disconnect(),!this.problem)for(let n of this.querySelectorAll(".gap"))this.#s.observe(n)}keepPlace(t){return this.#n(()=>this.#r(t))}#n(t){let n=this.#e.then(t);return this.#e=n.catch(()=>{}),n}async#r(t){let n=[...this.querySelectorAll(".turn")].find(i=>i.getBoundingClientRect().bottom>0),s=n?.getBoundingClientRect().top??0;t(),await this.#a(),n?.isConnected&&scrollBy({top:n.getBoundingClientRect().top-s,behavior:"instant"})}async#a(){await this.updateComplete,await Promise.all(this.#u.map(n=>n.updateComplete));let t=[...this.querySelectorAll("chat-answer")];await Promise.all(t.map(n=>n.updateComplete))}reveal(t){return this.#n(()=>this.#c(t))}async#c(t){let n=this.turns.find(o=>ct(o)===t);await this.updateComplete;let s=n&&this.#u.find(({turns:o})=>o.some(a=>a.turn===n));if(!s)return!1;s.near=!0,await this.#a();let i=document.getElementById(`message-${t}`);return i?(i.tabIndex=-1,i.scrollIntoView({block:"start",behavior:"instant"}),i.focus({preventScroll:!0}),i.toggleAttribute("data-found",!0),setTimeout(()=>i.removeAttribute("data-found"),br),!0):!1}get#u(){return[...this.querySelectorAll("chat-turns")].map(t=>t)}drawAll=()=>{for(let t of this.#u)t.near=!0;return this.#a()};#l=()=>{this.#t.disconnect(),this.requestUpdate()};#d(t){this.keepPlace(()=>{for(let{target:n,isIntersecting:s,boundingClientRect:i}of t)n.place(s,i.height)})}#h(t){let s=t.find(({isIntersecting:i})=>i)?.target?.missing;s&&this.dispatchEvent(new CustomEvent("gap",{detail:s}))}#p(t){return k`<chat-turns
      .turns=${t}
      .state=${In(t)}
      .last=${t.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy&&!this.ended}
      .limit=${this.limit}
    ></chat-turns>`}#f(t){let n=()=>this.dispatchEvent(new CustomEvent("gap",{detail:t}));return k`<div class="gap" .missing=${t}>
      ${this.problem?k`<p class="notice problem" role="alert">${c("circle-alert")}<span>${this.problem}</span></p>`:X}
      <button type="button" class="button" @click=${n}>${t.after?r("Show the next messages"):r("Show earlier messages")}</button>
    </div>`}#m(){if(this.greeting){let t=k`<p class="description" dir="auto"><strong>${this.heading}</strong> ${this.description}</p>`;return k`<div class="welcome"><h2 dir="auto">${this.greeting}</h2>${this.isOnly?t:X}</div>`}return k`<div class="welcome">
      ${we(this.application,"large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description?k`<p class="description" dir="auto">${this.description}</p>`:X}
    </div>`}};customElements.define("chat-log",he);var xr=2e4;function Xl(e){addEventListener("keydown",t=>{t.key?.toLowerCase()!=="p"||!(t.ctrlKey||t.metaKey)||t.shiftKey||t.altKey||document.querySelector(".turn")&&(t.preventDefault(),e())})}async function Zl(){let e=[...document.querySelectorAll(".code")].filter(n=>n instanceof HTMLElement).filter(ve);if(!e.length)return;let{drawOnPaper:t}=await import("./diagrams-6SRDBUSC.js");await Promise.race([t(e),new Promise(n=>setTimeout(n,xr))])}export{gt as a,L as b,vr as c,Ce as d,it as e,S as f,Se as g,Ae as h,Dr as i,Nr as j,Rt as k,Ur as l,ia as m,ra as n,ne as o,ie as p,Zi as q,at as r,R as s,ha as t,xt as u,An as v,il as w,We as x,Bt as y,ue as z,he as A,Xl as B,Zl as C};
