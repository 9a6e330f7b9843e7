import{a as y,b as W,c as ye,f as xe}from"./chunk-PKY4W2OP.js";import{a as we}from"./chunk-L6HRPJYO.js";import{a as be}from"./chunk-NAF7DC2P.js";import{b as ve}from"./chunk-VP6NPNYI.js";import{e as ke}from"./chunk-3WGNEYW4.js";import{a as A,b as it,d as $e}from"./chunk-EMXBBFNF.js";import{a as l}from"./chunk-5OVPBSN4.js";import{a as nt}from"./chunk-7DWZTKXB.js";import{c as st}from"./chunk-GFSGBITY.js";import{c as tt,e as me,g as et}from"./chunk-IN3SOCHH.js";import{b as H,c as r,d as ge,e as x}from"./chunk-TZA5RPAC.js";function Se(e){requestAnimationFrame(()=>requestAnimationFrame(e))}function Oe(e,{key:t,kind:n,asked:s,due:i}){let o=q(e).find(a=>a.key===t&&a.kind===n);if(o)Object.assign(o,{asked:s,due:i});else{let a={key:t,kind:n,asked:s,due:i,resolved:null,sending:!1};e.parts.push({kind:"interaction",interaction:a})}}function Ee(e,{key:t,kind:n,answer:s,by:i,at:o}){let a=q(e).find(u=>u.key===t&&u.kind===n);a&&Object.assign(a,{resolved:{answer:s,by:i,at:o},sending:!1});let c=n==="client_tool"&&q(e).some(u=>rt(u));e.status==="waiting"&&!c&&(e.status="queued")}function q(e){return e.parts.flatMap(t=>t.kind==="interaction"?[t.interaction]:[])}function Sr(e){if(e?.status!=="waiting")return;let[t,...n]=q(e).filter(i=>!i.resolved);return t?.kind==="question"&&!n.length&&!t.sending&&(t.asked.input==="text"||t.asked.freeform!==!1)?t:void 0}function Ce(e){if(!e)return;let{status:t}=e;return q(e).find(n=>!n.asked.four_eyes&&!rt(n)&&Ot(n,t))}function rt({kind:e,resolved:t}){return e==="client_tool"&&!t}function Ot({kind:e,resolved:t},n){return!t&&(n==="waiting"||e==="elicitation"&&n==="running")}function z(e){return e==="queued"||e==="running"||e==="waiting"}function O(e){return e.parts.map(t=>t.kind==="text"?t.text:"").join("")}function Te(e,t){switch(e.version+=1,t.type){case"run.status":return Et(e,t.status);case"message.delta":return jn(e,t.text);case"stage.opened":return Un(e,t);case"stage.delta":return Hn(e,t);case"stage.closed":return Wn(e,t);case"attachment.added":e.attachments.push(t.attachment);return;case"annotation.added":e.annotations.push(t.annotation);return;case"notice.added":return Bn(e,t.notice,t.text);case"helper.began":return Fn(e,t);case"helper.ended":for(let{subagent:n}of e.steps.values())n?.key===t.key&&(n.state=t.status);return;case"run.continued":e.continued=!0;return;case"answer.restarted":return Pn(e,t);case"interaction.requested":return Oe(e,t);case"interaction.resolved":return Ee(e,t);case"run.error":e.error={text:t.text,reference:t.reference};return;case"message.complete":return zn(e,t.message)}}function Et(e,t){if(e.status=t,e.version+=1,!z(t))for(let n of e.steps.values())n.state==="running"&&(n.state="stopped"),n.subagent?.state==="running"&&(n.subagent.state="stopped")}function jn(e,t){let n=e.parts.at(-1);n?.kind==="text"?n.text+=t:e.parts.push({kind:"text",text:t})}function Pn(e,{text:t,attachments:n,annotations:s}){e.attachments=n,e.annotations=s;let i=t.length;if(!O(e).startsWith(t))Ae(e,t);else{for(let o of e.parts)o.kind==="text"&&(o.text=o.text.slice(0,i),i-=o.text.length);e.parts=e.parts.filter(o=>o.kind!=="text"||o.text)}}function Bn(e,t,n){let s=e.parts.find(i=>i.kind==="notice"&&i.id===t);s?.kind==="notice"?s.text=n:e.parts.push({kind:"notice",id:t,text:n})}function Ae(e,t){e.parts=e.parts.filter(n=>n.kind!=="text"),t&&e.parts.push({kind:"text",text:t})}function Un(e,t){let n=e.steps.get(t.stage);if(n){Object.assign(n,{title:t.title,text:"",length:0,state:"running",attachments:[]});return}let s={id:t.stage,title:t.title,text:"",length:0,state:"running",seconds:null,attachments:[],children:[],unfolded:!1};e.steps.set(s.id,s);let i=t.parent===null?void 0:e.steps.get(t.parent);if(i){i.children.push(s);return}let o=e.parts.at(-1);o?.kind==="steps"?o.steps.push(s):e.parts.push({kind:"steps",steps:[s]})}function Fn(e,{stage:t,key:n,name:s,agent:i}){let o=e.steps.get(t);o&&(o.subagent={key:n,name:s,agent:i,state:"running"})}function Hn(e,t){let n=e.steps.get(t.stage);n&&(t.text&&(n.text+=t.text),t.length&&(n.length=t.length),t.title&&(n.title+=t.title),t.attachment&&n.attachments.push(t.attachment))}function Wn(e,t){let n=e.steps.get(t.stage);n&&(n.state=t.failed?"failed":"done",n.seconds=t.seconds)}function zn(e,t){e.message=t,e.attachments=t.attachments??[],!(t.text===void 0||O(e)===t.text)&&Ae(e,t.text)}var qe=class e{turns=[];title="";todo="";last=0;awaiting=!1;branches={};#t=[];#e=new Map;constructor(t){this.id=t}get running(){let t=this.turns.findLast(n=>n.role==="assistant");return t&&z(t.status)?t:null}take(t){if(t.conversation!==this.id||t.seq<=this.last)return!1;if(this.last=t.seq,this.awaiting=t.type==="message.added",t.type==="todo.changed"&&(this.todo=t.text),t.type==="message.complete"&&(this.todo=t.message.todo??this.todo),t.type==="message.added")this.#o(t.message,t.run);else{if(t.type==="branches.changed")return!0;Te(this.#r(t.run),t)}return!0}expect({id:t,text:n,attachments:s,again:i,edits:o,continues:a}){let c=this.turns.findIndex(m=>m.role==="user"&&m.id===(i??o));if(this.#t=c<0?[]:this.turns.splice(i?c+1:c),i)return;let u={role:"user",id:t,at:this.#i,text:n,attachments:s,sending:!0};a&&(u.sender={kind:"continuation",title:"",untrusted:!1}),this.turns.push(u)}withdraw(t){this.turns=[...this.turns.filter(n=>n.id!==t),...this.#t],this.#t=[]}insert(t){let n=new Set(this.turns.map(({at:i})=>i)),s=t.filter(({at:i})=>!n.has(i)).flatMap(i=>this.#s(i));this.turns=[...this.turns,...s].sort((i,o)=>i.at-o.at)}complete(t,n){let s=this.turns.find(c=>c.role==="assistant"&&c.id===t.run),i=this.#s(t).find(c=>c.role==="assistant");if(s?.role!=="assistant"||i?.role!=="assistant")return;let[o,a]=[s.steps.get(n),i.steps.get(n)];o&&a&&Object.assign(o,{text:a.text,length:0}),s.version+=1}#s({run:t,at:n,events:s}){let i=new e(this.id);i.#e=this.#e;for(let[a,c]of s.entries())i.take({...c,conversation:this.id??"",run:t,seq:a+1});let o=(this.turns.at(-1)?.at??-1)<=n;i.todo&&o&&(this.todo=i.todo);for(let a of i.turns)a.at=n;return i.turns}get isWhole(){return this.turns.every(({at:t},n)=>t<=(this.turns[n-1]?.at??-1)+1)}get#i(){return(this.turns.at(-1)?.at??-1)+1}expire({answers:t}){this.#e=new Map(Object.entries(t).map(([n,s])=>[n,new Set(s)]));for(let n of this.turns)n.role==="assistant"&&(n.expired=this.#e.get(n.id)??new Set,n.version+=1)}settle(){this.awaiting=!1;let t=this.running;t&&Et(t,"stopped")}#o({id:t,role:n,text:s,attachments:i=[],place:o,sender:a,application:c,left_out:u,created_at:m},S){if(n!=="user")return;this.#t=[];let U=this.turns.find(F=>F.role==="user"&&(F.id===t||F.sending&&(F.text===s||Gn(F,a)))),fe={id:t,run:S,text:s,attachments:i,place:o,sender:a,application:c,left_out:u,created_at:m,sending:!1};U?.role==="user"?Object.assign(U,fe):this.#n(()=>({role:n,at:this.#i,...fe}))}#n(t){let n=this.turns.filter(i=>i.role==="user"&&i.sending);n.length&&(this.turns=this.turns.filter(i=>!n.includes(i)));let s=t();this.turns.push(s);for(let i of n)i.at=this.#i,this.turns.push(i);return s}#r(t){let n=this.turns.find(s=>s.role==="assistant"&&s.id===t);return n?.role==="assistant"?n:this.#n(()=>this.#a(t))}#a(t){let n=this.turns.findLast(s=>s.role==="user");return{role:"assistant",id:t,at:n?.role==="user"&&n.run===t?n.at:this.#i,status:"queued",parts:[],steps:new Map,attachments:[],annotations:[],error:null,message:null,expired:this.#e.get(t)??new Set,continued:!1,version:0}}};function Gn(e,t){return e.sender?.kind==="continuation"&&t?.kind==="continuation"}import{html as Ct,nothing as Tt}from"../vendor/lit.js";function Re(e){let{message:t,id:n}=e;if(!t)return Tt;let s=[...Xn(t),...Jn(e),...Vn(e)],i=document.getElementById("main")?.dataset.requests;return!s.length&&!i?Tt:Ct`<details class="more-line figures">
    <summary>${l("chevron-right")}<span class="visually-hidden">${r("Details:")}</span>${Qn(t)}</summary>
    <dl>
      ${s.map(([o,a])=>Ct`<div><dt dir="auto">${o}</dt><dd dir="auto">${a}</dd></div>`)}
    </dl>
    ${i?Ct`<a href="/answers/${n}/requests/" target="_blank" rel="noopener"
          >${r("What the model saw")}<span class="visually-hidden"> ${r("(opens in a new tab)")}</span></a
        >`:Tt}
  </details>`}var Kn=e=>r("{whole} ({some} from the cache)",e),Yn=e=>r("{whole} ({some} for thinking)",e);function Jn({steps:e}){return[...e.values()].flatMap(({title:t,seconds:n})=>{let s=[t.replaceAll("`",""),n===null?"":y(n)];return s[1]?[s]:[]})}function Vn({message:e,attachments:t}){let n=(e?.memories??[]).filter(({action:o})=>o==="recalled"),s=t.filter(({reference_url:o})=>o);return[[r("Files read"),(e?.files_read??[]).join("; ")],[r("From memory"),n.map(({text:o})=>o).join("; ")],[r("Sources"),[...new Set(s.map(({title:o,reference_url:a})=>o||a))].join("; ")]].filter(([,o])=>o)}function Qn({seconds:e,usage:t,costs:n,models:s}){let i=At(t);return[e===void 0?"":y(e),i?x("{count} token","{count} tokens",i):"",n?qt(n):""].filter(Boolean).join(" · ")||s?.join(", ")||r("Details")}function Xn({models:e,version:t,usage:n,costs:s,first_text_seconds:i,seconds:o}){return[[e?.length===1?r("Model"):r("Models"),e?.join(", ")],[r("Application version"),t],[r("Input tokens"),n&&Le(n.prompt_tokens,n.cached_tokens,Kn)],[r("Output tokens"),n&&Le(n.completion_tokens,n.reasoning_tokens,Yn)],[r("Cost"),s&&qt(s)],[r("Time to first token"),i===void 0?"":y(i)],[r("Duration"),o===void 0?"":y(o)]].filter(([,c])=>c).map(([c,u])=>[c,String(u)])}function Le(e,t,n){return e?t?n({whole:e,some:t}):e.toLocaleString(H):""}function At(e){return e?e.prompt_tokens+e.completion_tokens:0}function qt(e){return Object.entries(e).map(([t,n])=>Zn(Number(n),t)).join(" + ")}function Zn(e,t){let n=e===0||e>=1?{}:{minimumSignificantDigits:2,maximumSignificantDigits:2};return e.toLocaleString(H,{style:"currency",currency:t,...n})}function Nr(e){let t=e.flatMap(i=>i.role==="assistant"&&i.message?[i.message]:[]),n=t.reduce((i,{usage:o})=>i+At(o),0),s={};for(let i of t)for(let[o,a]of Object.entries(i.costs??{}))s[o]=(s[o]??0)+Number(a);return{tokens:n,costs:s,is_partial:t.some(i=>!i.costs&&At(i.usage))}}function _r({tokens:e,costs:t,is_partial:n}){let s=qt(t);return[e?x("{count} token","{count} tokens",e):"",s&&n?r("at least {cost}",{cost:s}):s].filter(Boolean).join(" · ")}import{html as M,LitElement as ts,nothing as Lt}from"../vendor/lit.js";var es=[["system",r("Instructions")],["tools",r("Tools")],["user",r("Questions")],["assistant",r("Answers")],["tool_results",r("Tool results")]],De={unknown:"",ok:"",warning:r("nearly full"),danger:r("full")},ns=.3,Dt=class extends ts{static properties={use:{attribute:!1}};constructor(){super(),this.use=null}createRenderRoot(){return this}render(){let{use:t}=this;return t?.total?M`<details class="gauge" data-state=${t.state}>
      <summary>${this.#t(t)}</summary>
      <div class="gauge-parts">
        <dl>
          ${es.map(([n,s])=>M`<div><dt>${s}</dt><dd>${Rt(t[n])}</dd></div>`)}
          <div class="gauge-total"><dt>${r("Total")}</dt><dd>${Rt(t.total)}</dd></div>
          ${t.limit?M`<div><dt>${r("Context window")}</dt><dd>${Rt(t.limit)}</dd></div>`:Lt}
        </dl>
        <p>${r("Token counts are estimates. If a conversation becomes too long, it is shortened for the model, but you can still read all of it.")}</p>
      </div>
    </details>`:Lt}#t({ratio:t,total:n,state:s}){if(t===null)return M`<span>${x("Context: {count} token","Context: {count} tokens",Number(n))}</span>`;let i=`${Math.round(t*100)} %`,o=De[s]&&`, ${De[s]}`;return M`<meter min="0" max="1" .value=${t} aria-hidden="true"></meter>
      ${s==="ok"?Lt:l("triangle-alert")}
      <span>${r("Context: {percent}",{percent:i})}${o}</span>`}};customElements.define("chat-gauge",Dt);function Rt(e){return Number(e).toLocaleString(H)}function Fr(e,t,n,s){let i=async()=>{let{id:o}=n.conversation,a=o?await et(`${s()}${o}/usage/`):null;!a||o!==n.conversation.id||(e.use=a,t.summary=a.summary,n.redraw())};n.addEventListener("switched",()=>{e.use=null,t.summary=null}),n.addEventListener("opened",o=>{o.detail.isNew||Se(()=>{i()})}),n.addEventListener("event",o=>{o.detail.type==="message.complete"&&i()}),n.addEventListener("listed",()=>{(e.use?.ratio??0)>=ns&&i()})}function Ne({text:e}){return M`<details class="summary-block">
    <summary>${l("chevron-right")}${r("Earlier conversation, summarized for the model")}</summary>
    <p class="summary-text" dir="auto">${e}</p>
    <p class="summary-note">${r("The model reads this summary instead of everything above.")}</p>
  </details>`}import{html as T,LitElement as As,nothing as C}from"../vendor/lit.js";import{html as Nt,LitElement as ss,nothing as ot}from"../vendor/lit.js";var L=class extends ss{static properties={label:{attribute:!1},actions:{attribute:!1},current:{state:!0}};constructor(){super(),this.label="",this.actions=[],this.current=""}createRenderRoot(){return this}render(){let t=this.actions.some(({name:n})=>n===this.current)?this.current:this.actions[0]?.name;return Nt`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#s}>
      ${this.actions.map(n=>this.#t(n,n.name===t))}
    </div>`}focusOn(t){let n=this.#e();(n.find(s=>s.dataset.action===t)??n[0])?.focus()}#t({name:t,icon:n,label:s,run:i,pressed:o,disabled:a,after:c,opensMenu:u},m){let S=({currentTarget:U})=>{!a&&U instanceof HTMLElement&&i(U)};return Nt`<button type="button" class="quiet" data-action=${t} title=${s} aria-label=${s}
        tabindex=${m?0:-1} aria-pressed=${o===void 0?ot:String(o)}
        aria-haspopup=${u?"menu":ot} aria-disabled=${a?"true":ot} @click=${S} @focus=${()=>this.current=t}>
        ${l(n)}
      </button>${c?Nt`<span class="actions-place">${c}</span>`:ot}`}#e(){return[...this.querySelectorAll("button")]}#s(t){let n=this.#e(),s=n.indexOf(document.activeElement),i=getComputedStyle(this).direction==="rtl"?"ArrowLeft":"ArrowRight",o=i==="ArrowLeft"?"ArrowRight":"ArrowLeft",c={[i]:s+1,[o]:s-1,Home:0,End:-1}[t.key];s<0||c===void 0||(t.preventDefault(),n.at(c%n.length)?.focus())}};customElements.define("action-row",L);function at(e,t,n,s){if(!e)return[];let{ids:i,at:o}=e;return[{name:"previous",icon:"chevron-left",label:t.previous,disabled:n||o===0,run:()=>s(i[o-1]??"","previous"),after:`${o+1}/${i.length}`},{name:"next",icon:"chevron-right",label:t.next,disabled:n||o===i.length-1,run:()=>s(i[o+1]??"","next")}]}function I(e,t,n,s){let i={type:t,message:n,name:s};e.dispatchEvent(new CustomEvent("branch-change",{bubbles:!0,detail:i}))}import{html as d,nothing as jt}from"../vendor/lit.js";import{html as w,LitElement as os,nothing as _t}from"../vendor/lit.js";var _e=[",",";","	","|"];function Ie(e,t){let n=rs(e),s=[],i=[],o=0;for(;o<e.length&&s.length<t;){let{cell:a,end:c}=is(e,o,n);if(i.push(a),o=c,e[o]===n){if(o+=1,o<e.length)continue;i.push("")}e[o]==="\r"&&e[o+1]===`
`&&(o+=1),o+=1,s.push(i),i=[]}return s}function is(e,t,n){if(e[t]!=='"')return Me(e,t,n);let s="",i=t+1;for(;;){let o=e.indexOf('"',i);if(o<0)return{cell:s+e.slice(i),end:e.length};if(s+=e.slice(i,o),e[o+1]!=='"'){let a=Me(e,o+1,n);return{cell:s+a.cell,end:a.end}}s+='"',i=o+2}}function Me(e,t,n){let s=t;for(;s<e.length&&e[s]!==n&&e[s]!==`
`&&e[s]!=="\r";)s+=1;return{cell:e.slice(t,s),end:s}}function rs(e){let[t]=e.split(/\r?\n/,1),n=_e.map(s=>t.split(s).length);return _e[n.indexOf(Math.max(...n))]}var Mt=2e5,je=100,as=/^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i,ls=/^text\/(?:csv|tab-separated-values)$/i;function Pe(e){return as.test(e.split(";")[0].trim())}var It=class extends os{static properties={address:{attribute:!1},name:{attribute:!1},type:{attribute:!1},text:{state:!0},size:{state:!0},problem:{state:!0}};constructor(){super(),this.address="",this.name="",this.type="",this.text=null,this.size=0,this.problem=""}createRenderRoot(){return this}render(){return w`<details class="attachment words" @toggle=${this.#i}>
      <summary>
        ${l("chevron-right")}${l("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#t()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${l("download")}${r("Download")}</a>
        ${/^text\/html\b/i.test(this.type)?w`<button type="button" class="link" @click=${this.#s}>${l("eye")}${r("Preview")}</button>`:_t}
        ${this.size>Mt?w`<span>${r("Only the beginning is shown. Total size: {size}.",{size:ye(this.size)})}</span>`:_t}
      </p>
    </details>`}#t(){if(this.problem)return w`<p class="field-error" role="alert">${this.problem}</p>`;if(this.text===null)return w`<p class="working">${r("Loading…")}</p>`;if(ls.test(this.type))return this.#e(Ie(this.text,je+1));let t=this.type==="text/markdown"?this.text:cs(this.text,this.name);return w`<markdown-text .text=${t} .complete=${!0}></markdown-text>`}#e([t=[],...n]){let s=n.length>=je||this.size>Mt;return w`<div class="prose-table table" tabindex="0" role="group" aria-label=${r("Table {name}",{name:this.name})}>
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
      ${s?w`<p class="preview-foot">${x("Showing only the first row","Showing only the first {count} rows",n.length)}</p>`:_t}`}async#s({currentTarget:t}){let{openFile:n}=await import("./artifact-panel-T3MYDG4I.js");try{await n(this.address,this.name,"html",t)}catch{this.problem=r("The file could not be loaded. Check your connection and try again.")}}async#i(t){if(!(!t.target.open||this.text!==null)){this.problem="";try{let s=await fetch(this.address,{headers:{Range:`bytes=0-${Mt-1}`}});if(!s.ok){this.problem=s.status===404?r("The file no longer exists."):r("The file can’t be shown. Download it instead.");return}let i=s.headers.get("Content-Range")?.split("/")[1],o=new Uint8Array(await s.arrayBuffer());this.size=Number(i??o.length),this.text=us(o)}catch{this.problem=r("The file could not be loaded. Check your connection, then close the preview and open it again.")}}}};customElements.define("file-preview",It);function cs(e,t){let n=Math.max(2,...[...e.matchAll(/`+/g)].map(([o])=>o.length)),s="`".repeat(n+1),i=t.match(/\.(\w{1,12})$/)?.[1]??"";return`${s}${i}
${e.replace(/\n$/,"")}
${s}`}function us(e){if(e[0]===255&&e[1]===254)return new TextDecoder("utf-16le").decode(e);if(e[0]===254&&e[1]===255)return new TextDecoder("utf-16be").decode(e);try{return new TextDecoder("utf-8",{fatal:!0}).decode(e,{stream:!0})}catch{return new TextDecoder("windows-1252").decode(e)}}var Be=/^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i,ds=/^(audio|video)\/[\w.+-]+$/i,hs=/^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;function lt(e){if(!e.length)return jt;let t=e.filter(Ue).length;return d`<ul class="attachments ${t>1?"gallery":""}" aria-label=${r("Attachments")}>
    ${e.map(n=>d`<li>${ps(n)}</li>`)}
  </ul>`}function ct(e){return e?.length?d`<p class="left-out">${l("circle-alert")}<span dir="auto">${r("Not imported: {names}",{names:e.join(", ")})}</span></p>`:jt}function Ue(e){return Be.test(e.type??"")?ms(e):""}function ps(e){let{type:t="",data:n}=e,s=Ue(e);if(s)return gs(e,s);let i=ds.exec(t)?.[1].toLowerCase();if(i){let a=$s(e);if(a)return bs(e,i,a)}if(n&&hs.test(t))return ys(e,n);if(n)return ws(e,n);let o=it(e.url??"");return o?fs(e,o.pathname):vs(e)}function fs(e,t){let{type:n=""}=e,s=R(e);if(Pe(n))return d`<file-preview .address=${t} .name=${s} .type=${n}></file-preview>`;let i=n.split(";")[0];return/^application\/pdf$/.test(n)?d`<a class="attachment file" href=${t} target="_blank" rel="noopener">
      ${l("file-text")}${G(e,i)}${l("external-link")}
    </a>`:d`<a class="attachment file" href="${t}?download" download=${s}>
    ${l("file-text")}${G(e,i)}${l("download")}
  </a>`}function ms({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:t&&/^data:image\//i.test(t)?t:t&&Ss(t)?A(t)?.href??"":""}function gs(e,t){let n=it(e.url??""),s=R(e),i=d`<img src=${t} alt=${s} loading="lazy" @error=${ks} />`;return d`<figure class="attachment picture">
    ${n?d`<a href=${n.pathname} target="_blank" rel="noopener" data-zoom>${i}</a>`:d`<button type="button" class="zoom" data-zoom>${i}</button>`}
    <p class="picture-missing">${l("image")}${r("This image can’t be shown.")}</p>
    <figcaption>
      ${n?d`<a href=${n.pathname} target="_blank" rel="noopener">${s}</a>`:s}
      ${Fe(e)}
    </figcaption>
  </figure>`}function $s({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:it(t??"")?.pathname??""}function bs(e,t,n){let s=R(e);return d`<figure class="attachment media">
    ${t==="audio"?d`<audio controls preload="metadata" src=${n} aria-label=${s}></audio>`:d`<video controls preload="metadata" src=${n} aria-label=${s}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${s}</span>
      <a class="quiet" href=${n.startsWith("data:")?n:`${n}?download`} download=${s} title=${r("Download")}>
        ${l("download")}<span class="visually-hidden">${r("Download {name}",{name:s})}</span>
      </a>
    </figcaption>
  </figure>`}function ys(e,t){let n=e.type==="text/markdown";return d`<details class="attachment words">
    <summary>${l("chevron-right")}${l("file-text")}<span>${R(e)}</span></summary>
    ${n?d`<markdown-text .text=${t} .complete=${!0}></markdown-text>`:d`<pre tabindex="0" role="group" aria-label=${R(e)}>${t}</pre>`}
    ${Fe(e)}
  </details>`}function ws(e,t){let n=`data:application/octet-stream;base64,${t.replace(/^data:[^,]*,/,"")}`,s=R(e),i=d`<a class="attachment file" href=${n} download=${s}>
    ${l("file-text")}${G(e,r("Download"))}
  </a>`;if(!/^text\/html\b/i.test(e.type??""))return i;return d`${i}<button type="button" class="button" @click=${o}>${l("eye")}${r("Preview {name}",{name:s})}</button>`;async function o({currentTarget:a}){let{openText:c}=await import("./artifact-panel-T3MYDG4I.js");await c(s,"html",xs(t),a)}}function xs(e){try{let t=Uint8Array.from(atob(e.replace(/^data:[^,]*,/,"")),n=>n.charCodeAt(0));return new TextDecoder().decode(t)}catch{return e}}function vs(e){let t=e.url??e.reference_url??"",n=A(t),s=l(Be.test(e.type??"")?"image":"file-text");return n?d`<a class="attachment file" href=${n.href} target="_blank" rel="noopener noreferrer">
    ${s}${G(e,n.host)}${l("external-link")}
  </a>`:d`<span class="attachment file">${s}${G(e,t)}</span>`}function G(e,t){return d`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${R(e)}</span>
    <span class="attachment-detail">${t}</span>
  </span>`}function Fe({reference_url:e}){let t=A(e??"");return t?d`<a href=${t.href} target="_blank" rel="noopener noreferrer">${r("Source: {host}",{host:t.host})}</a>`:jt}function R({title:e,type:t,url:n}){return e||$e(n??"")||t||r("Attachment")}function ks(e){let t=e.target;t.closest("[data-zoom]")?.removeAttribute("data-zoom"),t.closest("figure")?.setAttribute("data-missing","")}function Ss(e){return A(e)?.origin===location.origin}import{html as Pt,LitElement as Os,nothing as Es}from"../vendor/lit.js";var He=14,Cs=1400;function We(e){return e?Ts(e)?Pt`<folded-text .text=${e}></folded-text>`:Pt`<p class="question-text" dir="auto">${e}</p>`:Es}function Ts(e){return e.length>Cs||e.split(`
`,He+1).length>He}var Bt=class extends Os{static properties={text:{attribute:!1},unfolded:{type:Boolean,reflect:!0}};constructor(){super(),this.text="",this.unfolded=!1}createRenderRoot(){return this}render(){return Pt`<p class="question-text" dir="auto" @scroll=${this.#t}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#e}>
        ${this.unfolded?r("Show less"):r("Show all")}<span class="visually-hidden"> ${r("of the question")}</span>
      </button>`}#t(t){let n=t.target;this.unfolded||!n.scrollTop||(n.scrollTop=0,this.unfolded=!0)}#e(){this.unfolded=!this.unfolded,this.unfolded||this.updateComplete.then(()=>this.scrollIntoView({block:"nearest"}))}};customElements.define("folded-text",Bt);var qs={previous:r("Previous version of the question"),next:r("Next version of the question")},Ls=2e3,Ut=class extends As{static properties={question:{attribute:!1},state:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},editing:{state:!0},copied:{state:!0}};constructor(){super(),this.question=void 0,this.state="",this.branch=void 0,this.changeable=!1,this.limit=1/0,this.editing=!1,this.copied=!1}createRenderRoot(){return this}render(){let{question:t}=this;if(!t)return C;let{text:n,attachments:s,place:i,sender:o,application:a,left_out:c,created_at:u}=t;return T`${a?T`<p class="handover" dir="auto">${r("{title} answers from here on",{title:a.title})}</p>`:C}
      <h2 class="visually-hidden">${r("Question")}</h2>
      ${u?T`<time class="printed" datetime=${u}>${W(u)}</time>`:C}
      ${o?Ds(o):C}
      ${i?T`<p class="question-place" dir="auto">${[i.title,i.narrative].filter(Boolean).join(": ")}</p>`:C}
      ${this.editing?this.#i(t):We(n)} ${lt(s)} ${ct(c)}
      ${this.editing?C:this.#t(t)}`}#t(t){return T`<action-row .label=${r("Question actions")} .actions=${this.#e(t)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>`}#e({id:t,text:n}){let s=(o,a)=>I(this,"branch.switch",o,a),i=()=>I(this,"turn.delete",t,"delete");return[...at(this.branch,qs,!this.changeable,s),...this.changeable?[{name:"edit",icon:"pencil",label:r("Edit the question"),run:()=>this.edit()}]:[],...n?[{name:"copy",icon:this.copied?"check":"copy",label:r("Copy the question"),run:()=>this.#s(n)}]:[],...this.changeable?[{name:"delete",icon:"trash-2",label:r("Delete question and answer"),run:i}]:[]]}async#s(t){this.copied=await nt(t),setTimeout(()=>this.copied=!1,Ls)}#i({text:t,attachments:n}){return T`<form class="question-editor" @submit=${this.#c} @keydown=${this.#a}>
      <textarea aria-label=${r("Edit the question")} dir="auto" rows="3" maxlength=${Number.isFinite(this.limit)?this.limit:C}
        ?required=${!n.length} .defaultValue=${t}></textarea>
      <p class="question-state">${r("Your earlier answers are still there: switch with ‹ 1/2 ›.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#r}>${r("Cancel")}</button>
        <button class="button primary">${r("Send")}</button>
      </div>
    </form>`}edit(){return!this.changeable||this.editing?!1:(this.editing=!0,this.#o(),!0)}async#o(){await this.updateComplete;let t=this.#n();t?.focus(),t?.setSelectionRange(t.value.length,t.value.length),requestAnimationFrame(()=>requestAnimationFrame(()=>t?.scrollIntoView({block:"center"})))}#n(){return this.querySelector("textarea")}async#r(){this.editing=!1,await this.updateComplete;let t=this.querySelector("action-row");t instanceof L&&(await t.updateComplete,t.focusOn("edit"))}#a(t){t.isComposing||(t.key==="Escape"?(t.preventDefault(),this.#r()):st(t)&&t.target instanceof HTMLTextAreaElement&&(t.preventDefault(),t.currentTarget.requestSubmit()))}#c(t){t.preventDefault();let{question:n}=this,s=this.#n()?.value??"";if(!n||!this.changeable||!(s.trim()||n.attachments.length))return;this.editing=!1;let i={text:s,attachments:n.attachments,edits:n.id};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:i}))}};customElements.define("chat-question",Ut);function Rs(e,t){return e==="alarm"?r("Alarm"):e==="webhook"?r("Sent by the webhook “{title}”",{title:t}):r("Sent by the schedule “{title}”",{title:t})}function Ds({kind:e,title:t,at:n}){let s=Rs(e,t);return T`<p class="question-sender">
    ${l(n?"clock":"settings")}<span dir="auto">${s}</span>
    ${n?T`<time datetime=${n}>${W(n)}</time>`:C}
  </p>`}import{html as k,LitElement as gr,nothing as Z,repeat as $r}from"../vendor/lit.js";function Ge(e){let t=[];for(let s of e){let i=t.at(-1);if(s.role==="user"&&s.sender?.kind==="continuation"){i?.turn.role==="assistant"&&(i.goesOn=!0);continue}let o=s.role==="assistant"&&i?.turn.role==="assistant"&&i.goesOn;t.push({turn:s,asked:o?i.asked:i?.turn.role==="user"?i.turn:void 0,earlier:o?[...i.earlier,i.turn]:[],goesOn:!1,isLast:!1})}let n=t.at(-1);return n&&(n.isLast=!0),t}function Ke(e){let t=[],n=0,s=-1,i;for(let o of e){let{turn:a}=o;a.at>(i?.at??-1)+1&&(t.push({key:`gap ${n}`,turns:[],missing:i?{after:ze(i)}:{before:ze(a)}}),n+=1,s=-1);let c=Math.floor(a.at/8);c===s?t.at(-1)?.turns.push(o):t.push({key:Ns(c,i),turns:[o]}),s=c,i=a}return t}function Ns(e,t){return t&&Math.floor(t.at/8)===e?`turns ${e} end`:`turns ${e}`}function ze(e){return e.role==="user"?e.run??"":e.id}function ut(e){return e.role==="user"?e.id:e.message?.id}import{html as Ye}from"../vendor/lit.js";function Je({text:e,cancel:t,confirm:n}){return Ye`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${t}>
    <form @submit=${i=>{i.preventDefault(),n()}}>
      <h2 id="turn-deletion-heading">${r("Delete this question?")}</h2>
      ${e?Ye`<blockquote dir="auto">${e}</blockquote>`:""}
      <p>${r("The question and all its answers will be permanently deleted. Later questions are kept, but the model no longer reads the deleted messages.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${t}>${r("Cancel")}</button>
        <button class="button danger">${r("Delete")}</button>
      </div>
    </form>
  </dialog>`}import{html as St,LitElement as dr,nothing as _n,repeat as hr}from"../vendor/lit.js";import{html as f,LitElement as rr,nothing as g,repeat as or}from"../vendor/lit.js";import{html as oi,nothing as rn}from"../vendor/lit.js";import{html as Ft,nothing as Ht}from"../vendor/lit.js";function Ve(e){let{subagent:t}=e;if(!t)return Ht;let n=s=>Qe(s,"subagent-open",e.id);return Ft`<p class="subagent-buttons">
    ${t.agent?Ft`<span class="subagent-agent">${t.agent}</span>`:Ht}
    <button type="button" class="button" aria-label=${r("Open the sub-agent {name}",{name:t.name})} @click=${n}>${r("Open")}</button>
    ${Wt(e)}
  </p>`}function Wt({subagent:e}){if(e?.state!=="running")return Ht;let t=n=>Qe(n,"subagent-stop",e.key);return Ft`<button type="button" class="button" aria-label=${r("Stop the sub-agent {name}",{name:e.name})} @click=${t}>
    ${l("square")}${r("Stop")}
  </button>`}function Qe(e,t,n){e.target?.dispatchEvent(new CustomEvent(t,{bubbles:!0,detail:n}))}import{html as $,nothing as E,repeat as Js}from"../vendor/lit.js";import{html as D,nothing as zt}from"../vendor/lit.js";var _s=/^\[(\d{1,4})\] (.*\S.*)$/,Ms=600;function K(e){return e.map(Xe).filter(n=>n!==null).sort((n,s)=>Number(n.number)-Number(s.number))}function dt(e,t=[]){let n=t.map((s,i)=>ve(i+1,s)).filter(({place:s})=>s);return D`${lt(e.filter(s=>!Xe(s)))}
    ${Is([...K(e),...n])}`}function Xe({type:e,title:t,url:n,data:s,reference_url:i}){let[,o,a]=_s.exec(t??"")??[];return e!=="text/plain"||n||!s||s.length>Ms||!a?null:{number:o,place:a,sentence:s,address:A(i??"")?.href??""}}function Is(e){return e.length?D`<div class="sources">
    <h3>${r("Sources")}</h3>
    <ul>
      ${e.map(t=>D`<li>${js(t)}</li>`)}
    </ul>
  </div>`:zt}function js({number:e,place:t,sentence:n,address:s}){return D`<span class="source-number">${e}</span>
    <div dir="auto">
      ${s?D`<a href=${s} target="_blank" rel="noopener noreferrer">${t}</a>${Ps(s)}`:t}
      ${n?D`<q>${n}</q>`:zt}
    </div>`}function Ps(e){let t=new URL(e);return t.origin===location.origin?zt:D` (${t.host})`}var Bs=/^> #{4,5} (.{1,60}?):?\s*$/,Us=/^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/,Ze=/^(`{3,})/,Fs=/^(`{3,})(?:json)?\n([\s\S]*)\n\1$/;function Gt(e){return en(e,Bs).map(({match:n,lines:s})=>({heading:n?.[1]??"",text:s.join(`
`).trim()}))}function Kt(e){let t=en(e,Us);return t.some(({match:n})=>!n)?[]:t.map(({match:n,lines:s})=>({name:n?.[1]??"",text:[n?.[2]??"",...s].join(`
`).trim()}))}function ht(e){let t=Fs.exec(e)?.[2]??e;if(!/^\s*[[{]/.test(t))return null;try{return JSON.parse(t)}catch{return null}}function tn(e){let n=Gt(e).findLast(({heading:s})=>s==="Error")?.text.split(`
`).find(s=>s.trim()&&!Ze.test(s))??"";return n.length>200?`${n.slice(0,199)}…`:n}function en(e,t){let n=[],s="";for(let i of e.replace(/\r\n?/g,`
`).split(`
`)){let o=Ze.exec(i)?.[1]??"",a=s?null:t.exec(i);s&&o.length>=s.length?s="":s||(s=o),a?n.push({match:a,lines:[]}):n.length?n[n.length-1].lines.push(i):i.trim()&&n.push({match:null,lines:[i]})}return n}import{html as h,LitElement as Hs,nothing as pt}from"../vendor/lit.js";var nn=20,ft=1500,Ws=8,zs=3,Gs=/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i,Ks={Request:r("Request"),Response:r("Response"),Result:r("Result"),Error:r("Error"),Sources:r("Sources"),"Status Code":r("Status code")},Yt=class extends Hs{static properties={text:{attribute:!1},complete:{attribute:!1},sources:{attribute:!1},all:{state:!0},raw:{state:!0}};constructor(){super(),this.text="",this.complete=!1,this.sources=[],this.all=!1,this.raw=!1,this.isCut=!1}createRenderRoot(){return this}render(){if(!this.complete)return this.#n(this.text);if(this.raw)return h`<pre class="step-raw" tabindex="0" role="group" aria-label=${r("Raw text")}>${this.text}</pre>${this.#t()}`;this.isCut=!1;let t=Gt(this.text),n=t.map(i=>this.#e(i)),s=!this.isCut&&t.every(({heading:i,text:o})=>!i&&!ht(o)&&!Kt(o).length);return h`${n}${s?pt:this.#t()}`}#t(){let t=()=>this.all=!this.all,n=()=>this.raw=!this.raw,s=!this.raw&&(this.isCut||this.all);return h`<div class="step-buttons">
      ${s?h`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${t}>
            ${this.all?r("Show less"):r("Show all")}
          </button>`:pt}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${n}>${r("Raw")}</button>
    </div>`}#e({heading:t,text:n}){return h`${t?h`<h3 class=${t==="Error"?"step-error":""}>${Ks[t]??t}</h3>`:pt} ${this.#s(n)}`}#s(t){let n=Kt(t);if(n.length)return this.#c(n.map(i=>[i.name,this.#i(i.text)]));let s=ht(t);return s?this.#r(s,0):this.#o(t)}#i(t){let n=ht(t);return n?this.#r(n,1):t.startsWith("```")?this.#n(t):this.#a(t)}#o(t){return t.length<=ft?this.#n(t):(this.isCut=!0,h`<div class=${this.all?"":"step-cut"}>${this.#n(t)}</div>`)}#n(t){return h`<markdown-text .text=${t} .complete=${this.complete} .sources=${this.sources}></markdown-text>`}#r(t,n){if(t===null||t==="")return h`<span class="step-none">${r("none")}</span>`;if(typeof t!="object")return this.#a(String(t));if(n>zs)return h`<code>${JSON.stringify(t).slice(0,ft)}</code>`;if(!Array.isArray(t))return this.#c(Object.entries(t).map(([i,o])=>[i,this.#r(o,n+1)]));let s=Ys(t);return s.length?this.#u(s,t,n):t.length?h`<ul>${this.#l(t).map(i=>h`<li>${this.#r(i,n+1)}</li>`)}</ul>`:h`<span class="step-none">${r("none")}</span>`}#a(t){if(Gs.test(t))return h`<button type="button" class="zoom" data-zoom aria-label=${r("Picture")}><img src=${t} alt="" /></button>`;let n=t.length>ft;return this.isCut||=n,h`<span class="step-string" dir="auto">${n&&!this.all?`${t.slice(0,ft)}…`:t}</span>`}#c(t){return t.length?h`<dl class="step-pairs">
      ${this.#l(t).map(([n,s])=>h`<div><dt dir="auto">${n}</dt><dd>${s}</dd></div>`)}
    </dl>`:h`<span class="step-none">${r("none")}</span>`}#u(t,n,s){return h`<div class="table" tabindex="0" role="group" aria-label=${r("Table: {columns}",{columns:t.join(", ")})}>
      <table>
        <thead><tr>${t.map(i=>h`<th scope="col">${i}</th>`)}</tr></thead>
        <tbody>
          ${this.#l(n).map(i=>h`<tr>${t.map(o=>h`<td>${o in i?this.#r(i[o],s+1):pt}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`}#l(t){return this.isCut||=t.length>nn,this.all?t:t.slice(0,nn)}};customElements.define("step-text",Yt);function Ys(e){if(!e.every(s=>s!==null&&typeof s=="object"&&!Array.isArray(s)))return[];let n=[...new Set(e.flatMap(s=>Object.keys(s)))];return n.length<=Ws?n:[]}var Vs={running:{symbol:"loader-circle",words:r("Running")},done:{symbol:"check",words:r("Done")},failed:{symbol:"x",words:r("Failed")},stopped:{symbol:"square",words:r("Stopped")}},sn="Thinking",Qs=200,Xs=r("The model no longer reads this result, but it remains stored and visible.");function Y(e,t,n=new Set){return $`<ol class="steps" aria-label=${r("Steps")}>
    ${Js(e,s=>s.id,s=>Zs(s,t,n))}
  </ol>`}function Zs(e,t,n){let s=n.has(e.id),i=ni(e,s);return $`<li class="step ${s?"expired":""}" data-state=${e.state}
    title=${s?Xs:E}>
    ${ti(e)?ei(e,i,t):$`<div class="step-line">${i}</div>`}
    ${e.state==="failed"&&!e.unfolded?ii(e):E} ${Ve(e)}
    ${e.children.length?Y(e.children,t,n):E}
  </li>`}function ti({text:e,attachments:t}){return e!==""||t.length>0}function ei(e,t,n){let s=i=>{e.unfolded=i.target.open,n()};return $`<details .open=${e.unfolded} @toggle=${s}>
    <summary class="step-line">${t}${l("chevron-right")}</summary>
    ${e.unfolded?Jt(e):E}
  </details>`}function ni({title:e,state:t,seconds:n,text:s},i){let{symbol:o,words:a}=Vs[t];return e===sn&&t==="running"?si(s):e===sn&&t==="done"&&n!==null?$`<span class="step-mark">${l("brain")}</span>
      <span class="step-title">${r("Thought for {time}",{time:y(n)})}</span>`:$`<span class="step-mark">${l(o)}</span>
    <span class="step-title" dir="auto">${e}</span>
    <span class="step-state ${t==="done"?"visually-hidden":""}">${a}</span>
    ${i?$`<span class="visually-hidden">${r("(no longer read by the model)")}</span>`:E}
    ${n===null?E:$`<span class="step-time">${y(n)}</span>`}`}function si(e){let t=e.trimEnd().split(`
`).at(-1)??"";return $`<span class="step-mark">${l("brain")}</span>
    <span class="step-title">${r("Thinking")}…</span>
    <span class="step-thought" dir="auto">${t.slice(-Qs)}</span>`}function ii({text:e}){let t=tn(e);return t?$`<p class="step-cause" dir="auto">${t}</p>`:E}function Jt(e){return $`<div class="step-content">
    ${e.text?$`<step-text .text=${e.text} .complete=${e.state!=="running"}
          .sources=${K(e.attachments)}></step-text>`:E}
    ${e.length>e.text.length?ri(e):E}
    ${dt(e.attachments)}
  </div>`}function ri({id:e,text:t,length:n}){let s=({target:o})=>o.dispatchEvent(new CustomEvent("step-rest",{bubbles:!0,detail:e})),i=r("Show all {length} characters (the first {shown} are shown)",{length:n,shown:t.length});return $`<button type="button" class="link step-rest" @click=${s}>${i}</button>`}var ai={running:r("Working"),done:r("Done"),failed:r("Failed"),stopped:r("Stopped")};function on(e,{redraw:t,close:n}){let{subagent:s}=e;return s?oi`<dialog class="subagent" aria-labelledby="subagent-name" @close=${n}>
    <header>
      <h2 id="subagent-name" tabindex="-1">${s.name}</h2>
      <p class="subagent-line" role="status">
        ${[s.agent,ai[s.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="subagent-read" tabindex="0" role="group" aria-label=${r("Sub-agent activity")}>
      ${Jt(e)} ${e.children.length?Y(e.children,t):rn}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${Wt(e)}
      <button class="button" autofocus>${r("Close")}</button>
    </form>
  </dialog>`:rn}import{html as an,nothing as li}from"../vendor/lit.js";var ln={recalled:r("Recalled"),stored:r("Remembered"),changed:r("Changed"),forgotten:r("Forgot"),deleted:r("Deleted everything")};function cn(e){return e?.length?an`<details class="more-line memory-line">
    <summary>${l("chevron-right")}${r("Memory: {what}",{what:ci(e)})}</summary>
    <ul>
      ${e.map(({action:t,text:n})=>an`<li><b>${ln[t]}</b> <span dir="auto">${n}</span></li>`)}
    </ul>
    <a href="/memory/">${r("Your memories")}</a>
  </details>`:li}function ci(e){return Object.entries(ln).map(([t,n])=>({action:t,words:n.toLowerCase(),count:ui(e,t)})).filter(({count:t})=>t).map(({action:t,words:n,count:s})=>t==="deleted"?n:`${n} ${s}`).join(", ")}function ui(e,t){return e.filter(n=>n.action===t).length}function oa(e,t,n){e.hidden=n===null,t.memory=n??!0,e.ariaChecked=String(t.memory)}function aa(e,t,n,s){e.addEventListener("click",async()=>{let{id:i}=t.conversation,o=!t.memory;if(i&&!await tt(`${n()}${i}/memory/`,{on:String(o)})){s({text:r("That didn’t work. Check your connection and try again."),isProblem:!0});return}t.memory=o,e.ariaChecked=String(o),s({text:o?di:hi,isProblem:!1})})}var di=r("Memory is on for this conversation, starting with your next message."),hi=r("Memory is off for this conversation, starting with your next message.");import{html as vi,LitElement as ki,nothing as Si}from"../vendor/lit.js";import{html as N,LitElement as pi,live as fi,nothing as J}from"../vendor/lit.js";var Vt={rating:"",reason:"",comment:"",shares_transcript:!1},mi=[["wrong",r("Incorrect")],["incomplete",r("Incomplete")],["not_asked",r("Not what I asked for")],["slow",r("Too slow")],["unsafe",r("Unsafe")],["other",r("Something else")]],gi=2e3,un=100,$i=r("That didn’t work. Check your connection and try again."),mt=new Map,Qt=[],Xt;async function bi(e){return mt.has(e)||(Qt.push(e),Xt??=new Promise(t=>setTimeout(()=>t(yi()),50)),mt.set(e,Xt)),(await mt.get(e))?.get(e)??Vt}async function yi(){let e=Qt;Qt=[],Xt=void 0;let t=new Map;for(let n=0;n<e.length;n+=un){let s=e.slice(n,n+un).map(o=>["message",o]),i=await et(`/feedback/?${new URLSearchParams(s)}`);for(let[o,a]of Object.entries(i?.feedback??{}))t.set(o,a)}return t}function fa(e,t){mt.set(e,Promise.resolve(new Map([[e,t]])));for(let n of document.querySelectorAll("chat-feedback"))n instanceof gt&&n.message===e&&(n.given=t)}function dn(e){return!e||!document.getElementById("main")?.dataset.feedback?J:N`<chat-feedback .message=${e}></chat-feedback>`}var gt=class extends pi{static properties={message:{attribute:!1},given:{state:!0},isOpen:{state:!0},said:{state:!0},problem:{state:!0}};constructor(){super(),this.message="",this.given=Vt,this.isOpen=!1,this.said="",this.problem=""}createRenderRoot(){return this}willUpdate(t){t.has("message")&&this.#t(this.message)}async#t(t){let n=await bi(t);t===this.message&&!this.given.rating&&(this.given=n)}render(){return N`<span class="thumbs">${this.#e("up",r("Good answer"))}${this.#e("down",r("Bad answer"))}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem?N`<p class="feedback-problem" role="alert">${this.problem}</p>`:J}
      ${this.isOpen?this.#s():J}`}#e(t,n){let s=this.given.rating===t;return N`<button
      type="button"
      class="quiet thumb"
      data-rating=${t}
      title=${n}
      aria-pressed=${String(s)}
      aria-expanded=${s?String(this.isOpen):J}
      @click=${()=>this.#r(t)}
    >
      ${l(`thumbs-${t}`)}<span class="visually-hidden">${n}</span>
    </button>`}#s(){let{rating:t,reason:n,comment:s,shares_transcript:i}=this.given,o=`feedback-${this.message}`;return N`<form class="menu-popover feedback-form" popover aria-label=${r("Your feedback")} @submit=${this.#a} @toggle=${this.#i}>
      ${t==="down"?N`<fieldset class="reasons">
            <legend>${r("What was wrong with the answer? (optional)")}</legend>
            ${mi.map(([a,c])=>N`<label class="reason"><input type="radio" name="reason" value=${a} ?checked=${a===n} />${c}</label>`)}
          </fieldset>`:J}
      <details class="feedback-comment" ?open=${s!==""||t==="up"}>
        <summary>${l("plus")}${r("Add a comment")}</summary>
        <label class="visually-hidden" for="${o}-comment">${r("Comment (optional)")}</label>
        <textarea id="${o}-comment" name="comment" rows="3" maxlength=${gi} dir="auto"
          .value=${s}></textarea>
      </details>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${fi(i)} aria-describedby="${o}-share" />
        ${r("Include this question and answer")}
      </label>
      <p class="hint" id="${o}-share">
        ${r("Your rating and comment are visible to this app’s administrators. They see the conversation only if you include it.")}
      </p>
      <div class="feedback-buttons">
        <button class="button primary">${r("Send")}</button>
        <button type="button" class="button quiet" @click=${this.#u}>${r("Remove my feedback")}</button>
      </div>
    </form>`}updated(){let t=this.#o,n=this.#n;!t||!n||t.matches(":popover-open")||(t.showPopover(),be(t,n),n===document.activeElement&&t.querySelector("input")?.focus())}#i({newState:t}){t==="closed"?this.isOpen=!1:this.#n&&Object.assign(this.#n,{popoverTargetElement:this.#o,popoverTargetAction:"hide"})}get#o(){return this.querySelector(".feedback-form")}get#n(){return this.querySelector(`[data-rating=${this.given.rating||"up"}]`)}async#r(t){if(this.given.rating===t){this.isOpen=!this.isOpen;return}let n=t==="up"?"":this.given.reason;await this.#c({...this.given,rating:t,reason:n})&&(this.isOpen=!0)}async#a(t){t.preventDefault();let n=new FormData(t.target),s=a=>String(n.get(a)??""),i=n.has("shares_transcript"),o={...this.given,reason:s("reason"),comment:s("comment"),shares_transcript:i};await this.#c(o)&&this.#d()}async#c(t){let{shares_transcript:n,...s}=t,i=await tt(this.#h,n?{...s,shares_transcript:"on"}:s);return this.#l(i,r("Thank you for your feedback.")),i&&(this.given=t),i}async#u(){let t=await me(this.#h);this.#l(t,r("Your feedback was removed.")),t&&(this.#d(),this.given=Vt)}#l(t,n){this.said=t?n:"",this.problem=t?"":$i}#d(){this.isOpen=!1,this.#o?.hidePopover(),this.#n?.focus()}get#h(){return`/messages/${this.message}/feedback/`}};customElements.define("chat-feedback",gt);var Zt=class extends EventTarget{all=[];take(t){JSON.stringify(t)!==JSON.stringify(this.all)&&(this.all=t,this.dispatchEvent(new CustomEvent("change")))}},$t=new Zt;var V=null,hn="speechSynthesis"in window;function pn(e,t){bt();let n=new SpeechSynthesisUtterance(e);n.lang=xi(e),n.onend=n.onerror=()=>{V===t&&(V=null,t())},V=t,speechSynthesis.speak(n)}function bt(){let e=V;V=null,speechSynthesis.cancel(),e?.()}var wi=[[/[\u0590-\u05ff]/,"he"],[/[\u0600-\u06ff]/,"ar"],[/[\u0400-\u04ff]/,"ru"],[/[\u0370-\u03ff]/,"el"],[/[\u3040-\u30ff]/,"ja"],[/[\uac00-\ud7af]/,"ko"],[/[\u4e00-\u9fff]/,"zh"]];function xi(e){let t=e.slice(0,400);return wi.find(([s])=>s.test(t))?.[1]??document.documentElement.lang??""}var Oi={previous:r("Previous answer"),next:r("Next answer")},Ei=2e3,fn="with ",te=class extends ki{static properties={answer:{attribute:!1},version:{attribute:!1},earlier:{attribute:!1},asked:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},copied:{state:!0},reading:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.earlier=[],this.asked=void 0,this.branch=void 0,this.changeable=!1,this.copied=!1,this.reading=!1}#t=()=>this.requestUpdate();createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),$t.addEventListener("change",this.#t)}disconnectedCallback(){super.disconnectedCallback(),$t.removeEventListener("change",this.#t),this.reading&&bt()}render(){let{answer:t}=this;return t?vi`<div class="answer-foot">
      <action-row .label=${r("Answer actions")} .actions=${this.#e()}></action-row>
      <row-menu @chosen=${({detail:n})=>this.#o(n)}></row-menu>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>
      ${dn(t.message?.id)} ${Re(t)}
    </div>`:Si}#e(){let t=(s,i)=>I(this,"branch.switch",s,i);return[...at(this.branch,Oi,!this.changeable,t),this.#l()!==""&&{name:"copy",icon:this.copied?"check":"copy",label:r("Copy as Markdown"),run:()=>this.#r(this.#l())},this.#n!==""&&{name:"again",icon:"refresh-cw",label:r("Answer again"),run:()=>this.#u(this.#n)},this.reading&&{name:"hush",icon:"square",label:r("Stop reading"),run:()=>this.#a()},this.#s().length>0&&{name:"more",icon:"ellipsis",label:r("More options for this answer"),opensMenu:!0,run:s=>this.#i(s)}].filter(s=>s!==!1)}#s(){let t=this.#l()!=="",n=this.#n?$t.all:[];return[t&&{name:"text",icon:"file-text",words:r("Copy as text")},t&&hn&&{name:"read",icon:"volume-2",words:r("Read aloud")},...n.map(({id:i,title:o})=>({name:`${fn}${i}`,icon:"refresh-cw",words:r("Answer again with {title}",{title:o})})),(n.length>0||!!this.branch)&&this.#n!==""&&!!this.answer?.message&&{name:"compare",icon:"columns-2",words:r("Compare models")},this.#n!==""&&!!this.answer?.message&&{name:"fork",icon:"square-pen",words:r("New chat from here")},this.#n!==""&&{name:"delete",icon:"trash-2",words:r("Delete question and answer")}].filter(i=>i!==!1)}#i(t){let n=this.querySelector("row-menu");n instanceof xe&&n.open(this.#s(),t)}#o(t){t==="text"?this.#r(this.#d()):t==="read"?this.#c():t==="compare"?this.dispatchEvent(new CustomEvent("compare",{bubbles:!0,detail:this.#n})):t==="fork"?this.dispatchEvent(new CustomEvent("fork",{bubbles:!0,detail:this.answer?.message?.id})):t==="delete"?I(this,"turn.delete",this.#n,"delete"):this.#u(this.#n,t.slice(fn.length))}get#n(){return this.changeable&&this.asked&&!this.asked.sending?this.asked.id:""}async#r(t){this.copied=await nt(t),setTimeout(()=>this.copied=!1,Ei)}#a(){let t=this.querySelector("action-row");t instanceof L&&t.focusOn("more"),bt()}#c(){pn(this.#d(),()=>this.reading=!1),this.reading=!0}#u(t,n){let s=n?{again:t,deployment:n}:{again:t};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:s}))}#l(){return[...this.earlier,...this.answer?[this.answer]:[]].map(O).join("")}#d(){let t=new Set([...this.earlier,this.answer].map(s=>s?.id));return[...this.closest("chat-log")?.querySelectorAll("chat-answer")??[]].filter(s=>t.has(s.answer?.id)).flatMap(s=>[...s.querySelectorAll(".answer-text")]).map(s=>s.innerText).join(`
`)}};customElements.define("answer-foot",te);import{html as P,LitElement as Ki,nothing as wt}from"../vendor/lit.js";import{html as j,nothing as vn}from"../vendor/lit.js";import{html as b,nothing as yt}from"../vendor/lit.js";var mn=60,Ci=400;function ne(e,t,n){let s=[...new Set([...Object.keys(e),...Object.keys(t)])];return s.length?b`<div class="arguments">
    ${s.map((i,o)=>Object.hasOwn(t,i)?Ti(i,e[i],t[i],`${n}-${o}`):b`<div class="argument">
            <span class="argument-name">${i}</span>
            ${Li(i,e[i])}
          </div>`)}
  </div>`:yt}function gn(e,t,n){let s={};for(let[i,o]of Object.entries(n)){let a=e.elements.namedItem(`argument ${i}`);if(!Di(a))continue;let c=qi(a,o);if(a.setCustomValidity(c===$n?r("Enter JSON, such as [1, 2]."):""),!a.reportValidity())return null;c!==void 0&&JSON.stringify(c)!==JSON.stringify(t[i])&&(s[i]=c)}return s}function Ti(e,t,n,s){let i=n.description?b`<span class="hint" id="${s}-hint" dir="auto">${n.description}</span>`:yt;return b`<div class="argument">
    <label class="argument-name" for=${s}>${e}</label>
    ${Ai(e,t,n,s)} ${i}
  </div>`}function Ai(e,t,n,s){let i=`argument ${e}`,o=n.description?`${s}-hint`:yt,a=bn(n);if(n.enum)return b`<select id=${s} name=${i} aria-describedby=${o}>
      ${t===void 0?b`<option value=""></option>`:yt}
      ${n.enum.map((u,m)=>b`<option value=${m} ?selected=${Ri(u,t)}>${ee(u)}</option>`)}
    </select>`;if(a==="boolean")return b`<input type="checkbox" id=${s} name=${i} ?checked=${t===!0} aria-describedby=${o} />`;if(a==="integer"||a==="number")return b`<input type="number" id=${s} name=${i} step=${a==="integer"?"1":"any"}
      value=${t??""} ?required=${t!==void 0} aria-describedby=${o} />`;let c=t===void 0?"":ee(t);return a==="string"&&c.length<=mn&&!c.includes(`
`)?b`<input id=${s} name=${i} dir="auto" value=${c} aria-describedby=${o} />`:b`<textarea id=${s} name=${i} dir="auto" rows=${Math.min(8,c.split(`
`).length+1)}
    .defaultValue=${c} aria-describedby=${o}></textarea>`}var $n=Symbol("invalid");function qi(e,t){if(t.enum)return e.value?t.enum[Number(e.value)]:void 0;let n=bn(t);if(n==="boolean"){let s=e;return s.checked===s.defaultChecked?void 0:s.checked}if(!(e instanceof HTMLSelectElement||e.value===e.defaultValue)){if(n==="string")return e.value;if(e.value.trim()!==""){if(n==="integer"||n==="number")return Number(e.value);try{return JSON.parse(e.value)}catch{return $n}}}}function bn({type:e}){return[e].flat().find(t=>t&&t!=="null")??""}function Li(e,t){let n=ee(t),s=typeof t=="object"&&t!==null,i=s?"argument-value argument-code":"argument-value";return n.length<=Ci&&!n.includes(`
`)?b`<span class=${i} dir="auto">${n}</span>`:b`<div class=${i} dir=${s?"ltr":"auto"} tabindex="0" role="group" aria-label=${e}>${n}</div>`}function ee(e){if(typeof e=="string")return e;let t=JSON.stringify(e)??"";return t.length<=mn?t:JSON.stringify(e,null,2)}function Ri(e,t){return JSON.stringify(e)===JSON.stringify(t)}function Di(e){return e instanceof HTMLInputElement||e instanceof HTMLTextAreaElement||e instanceof HTMLSelectElement}var yn={"read-only":["file-text",r("Only reads data")],changes:["pencil",r("Makes changes")],destructive:["triangle-alert",r("Deletes or overwrites data")]},Ni={conversation:r("Don’t ask again in this conversation"),application:r("Don’t ask again in this app")};function kn({asked:e},t,n,s){let i=e.arguments??{},o=e.editable??{};if(e.four_eyes)return j`${wn(e.because)} ${xn(e.risk)} ${ne(i,{},t)}
      <p class="hint">${r("Another user must approve or deny this call. Ask an administrator of this server.")}</p>`;let a=u=>{let m=gn(u,i,o);if(m===null)return;let S=new FormData(u).get("always");s({outcome:"approved",arguments:m,...S?{always:String(S)}:{}})},c=u=>s({outcome:"denied",reason:String(new FormData(u).get("reason")??"").trim()});return j`<form
    novalidate
    @submit=${u=>{u.preventDefault(),a(u.target)}}
  >
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Tool call")}</legend>
      ${wn(e.because)} ${xn(e.risk)} ${ne(i,o,t)}
      <div class="arguments">
        ${Mi(e.always??[],t)}
        <div class="argument">
          <label class="argument-name" for="${t}-reason">${r("Reason for denying (optional)")}</label>
          <input id="${t}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${_i(c)} />
        </div>
      </div>
      <div class="interaction-buttons">
        <button class="button primary">${l("check")}${r("Approve")}</button>
        <button type="button" class="button" @click=${u=>c(Sn(u))}>
          ${l("x")}${r("Deny")}
        </button>
      </div>
    </fieldset>
  </form>`}function _i(e){return t=>{t.key!=="Enter"||t.isComposing||(t.preventDefault(),e(Sn(t)))}}function Sn(e){return e.currentTarget.form}function wn(e){return e?j`<p class="because">${l("circle-alert")}<span dir="auto">${e}</span></p>`:vn}function xn(e){let[t,n]=yn[e]??yn.changes;return j`<p class="risk" data-risk=${e}>${l(t)}${n}</p>`}function Mi(e,t){return e.length?j`<div class="argument">
    <label class="argument-name" for="${t}-always">${r("Next time")}</label>
    <select id="${t}-always" name="always">
      <option value="">${r("Ask again")}</option>
      ${e.map(n=>j`<option value=${n}>${Ni[n]??n}</option>`)}
    </select>
  </div>`:vn}import{html as p,nothing as v}from"../vendor/lit.js";var Ii={email:"email",uri:"url",date:"date"};function On({asked:e},t,n,s){let i=e.fields??[];return p`<form @submit=${a=>{a.preventDefault();let c=a.target;s({outcome:"accepted",content:Hi(c,i)})}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      <p class="interaction-question" dir="auto">${e.message}</p>
      ${e.mode==="url"?ji(e):p`${i.map((a,c)=>Bi(a,`${t}-${c}`))}
            <p class="hint">${r("Your answer is sent to this server. Don’t enter a password.")}</p>`}
      <div class="interaction-buttons">
        ${e.mode==="url"?Pi(e,n,s):p`<button class="button primary">${l("check")}${r("Send")}</button>`}
        <button type="button" class="button" @click=${()=>s({outcome:"declined"})}>${l("x")}${r("Decline")}</button>
        <button type="button" class="button" @click=${()=>s({outcome:"cancelled"})}>${r("Cancel")}</button>
      </div>
    </fieldset>
  </form>`}function ji({url:e,host:t,repeats:n}){return p`<p>${r("The server is asking you to open a page on this host:")} <strong class="interaction-host">${t}</strong></p>
    <p class="hint argument-value">${e}</p>
    ${n?p`<p class="hint">${r("When you’re done, return to this page and choose “Done”. The tool then runs again.")}</p>`:v}`}function Pi(e,t,n){if(!t)return v;let s=()=>n({outcome:"accepted"}),i=o=>p`<a class="button primary" href=${e.url}
    target="_blank" rel="noopener noreferrer" @click=${o?s:v}>${r("Open {host}",{host:e.host})}</a>`;return e.repeats?p`${i(!1)}
    <button type="button" class="button" @click=${s}>${l("check")}${r("Done")}</button>`:i(!0)}function Bi(e,t){let n=e.hint?p`<span class="hint" id="${t}-hint" dir="auto">${e.hint}</span>`:v;return e.type==="choices"?Fi(e,t,n):e.type==="boolean"?p`<div class="choices">
      <label class="choice" for=${t}>
        <input type="checkbox" id=${t} name="field ${e.name}" ?checked=${e.default===!0} aria-describedby=${e.hint?`${t}-hint`:v} />
        <span dir="auto">${e.label}</span>
      </label>
      ${n}
    </div>`:p`<div class="argument">
    <label class="argument-name" for=${t} dir="auto">${e.label}${e.required?"":` ${r("(optional)")}`}</label>
    ${Ui(e,t)} ${n}
  </div>`}function Ui(e,t){let{name:n,required:s}=e,i=e.hint?`${t}-hint`:v;return e.type==="choice"?p`<select id=${t} name="field ${n}" ?required=${s} aria-describedby=${i}>
      <option value=""></option>
      ${e.options?.map(({value:o,label:a})=>p`<option value=${o} ?selected=${o===e.default}>${a}</option>`)}
    </select>`:e.type==="string"?p`<input type=${Ii[e.format??""]??"text"} id=${t} name="field ${n}" dir="auto"
      value=${e.default??""} ?required=${s} minlength=${e.least??v} maxlength=${e.most??2e4}
      aria-describedby=${i} />`:p`<input type="number" id=${t} name="field ${n}" step=${e.type==="integer"?"1":"any"}
    value=${e.default??""} ?required=${s} min=${e.least??v} max=${e.most??v}
    aria-describedby=${i} />`}function Fi(e,t,n){let s=Array.isArray(e.default)?e.default:[];return p`<fieldset class="choices" aria-describedby=${e.hint?`${t}-hint`:v}>
    <legend class="argument-name" dir="auto">${e.label}</legend>
    ${e.options?.map(({value:i,label:o},a)=>p`<label class="choice" for="${t}-${a}">
        <input type="checkbox" id="${t}-${a}" name="field ${e.name}" value=${i} ?checked=${s.includes(i)} />
        <span dir="auto">${o}</span>
      </label>`)}
    ${n}
  </fieldset>`}function Hi(e,t){let n=new FormData(e),s=t.map(({name:i,type:o,required:a})=>{let c=n.getAll(`field ${i}`).map(String);return o==="boolean"?[i,c.length>0]:o==="choices"?[i,c.length||a?c:void 0]:c[0]?[i,o==="string"||o==="choice"?c[0]:Number(c[0])]:[i,void 0]});return Object.fromEntries(s.filter(([,i])=>i!==void 0))}import{html as _,nothing as Q}from"../vendor/lit.js";function En({asked:e},t,n,s,i){let o=e.input!=="text"&&e.options?.length>0;return _`<form @submit=${c=>{c.preventDefault();let u=new FormData(c.target),m=u.getAll("choice").map(String),S=String(u.get("text")??"").trim();i(m.length||S?{outcome:"answered",choices:m,text:S}:null)}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      ${e.title?_`<p class="interaction-question" dir="auto">${e.question}</p>`:Q}
      ${o?Wi(e.options,e.input==="multiple",e.question,t):Q}
      ${!o||e.freeform!==!1?zi(o,t):Q}
      ${s?_`<p class="field-error" role="alert">${s}</p>`:Q}
      <div class="interaction-buttons">
        <button class="button primary">${l("check")}${ge("to answer","Answer")}</button>
        <button type="button" class="button" @click=${()=>i({outcome:"skipped",choices:[],text:""})}>
          ${r("Skip")}
        </button>
      </div>
    </fieldset>
  </form>`}function Wi(e,t,n,s){return _`<fieldset class="choices">
    <legend class="visually-hidden">${n}</legend>
    ${e.map(({label:i,description:o},a)=>_`<label class="choice" for="${s}-${a}">
        <input type=${t?"checkbox":"radio"} id="${s}-${a}" name="choice" value=${i} />
        <span dir="auto">${i}${o?_`<span class="hint">${o}</span>`:Q}</span>
      </label>`)}
  </fieldset>`}function zi(e,t){let n=e?r("In your own words (optional)"):r("Your answer");return _`<div class="argument">
    <label class="argument-name" for="${t}-text">${n}</label>
    <textarea id="${t}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${i=>{st(i)&&(i.preventDefault(),i.target.form?.requestSubmit())}}></textarea>
  </div>`}import{html as Gi}from"../vendor/lit.js";function Cn({asked:e},t,n){return Gi`<p>
      ${r("You’ll sign in on this host:")} <strong>${e.host}</strong>. ${r("Tools can then use your account on this server:")}
      <strong>${e.server}</strong>.
    </p>
    <div class="interaction-buttons">
      <a class="button primary" href="/connect/${encodeURIComponent(e.account)}/" target="_blank" rel="noopener"
        >${l("external-link")}${r("Connect")}<span class="visually-hidden"> ${r("(opens in a new tab)")}</span></a
      >
      <button type="button" class="button" ?disabled=${!t} @click=${()=>n({outcome:"skipped"})}>
        ${r("Skip")}
      </button>
    </div>`}var ie=1e3,Yi=0,se=class extends Ki{static properties={interaction:{attribute:!1},version:{attribute:!1},status:{attribute:!1},problem:{state:!0}};#t=`interaction-${++Yi}`;#e=0;constructor(){super(),this.interaction=void 0,this.version=0,this.status="waiting",this.problem=""}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),this.#e=setInterval(()=>this.#s&&this.requestUpdate(),ie)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#e)}get#s(){return this.interaction!==void 0&&!this.interaction.resolved&&!Vi(this.status)}focus(){let t=this.querySelector("section");t?.scrollIntoView({block:"nearest"}),t?.focus({preventScroll:!0})}render(){let{interaction:t}=this;if(!t)return wt;if(t.kind==="client_tool")return this.#s?Xi(t):wt;if(!this.#s)return Zi(t);let{asked:n,due:s}=t;return P`<section class="interaction" tabindex="-1" aria-labelledby="${this.#t}-title" @keydown=${Ji}>
      <div class="interaction-head">
        <h3 id="${this.#t}-title" dir="auto">${re(n)}</h3>
        ${s===null?wt:P`<span class="time-left" role="timer" aria-live="off">${Qi(s)}</span>`}
      </div>
      ${this.#i(t)}
    </section>`}#i(t){let n=Ot(t,this.status)&&!t.sending,s=i=>this.#o(t,i);return t.kind==="approval"?kn(t,this.#t,n,s):t.kind==="question"?En(t,this.#t,n,this.problem,s):t.kind==="elicitation"?On(t,this.#t,n,s):t.kind==="sign_in"?Cn(t,n,s):P`<p class="hint">${r("This request can’t be answered on this page.")}</p>`}#o({key:t,kind:n},s){this.problem=s?"":r("Choose or enter an answer, or skip the question."),s&&this.dispatchEvent(new CustomEvent("answer",{bubbles:!0,detail:{key:t,kind:n,answer:s}}))}};customElements.define("chat-interaction",se);function Ji(e){e.key!=="Escape"||e.isComposing||(e.preventDefault(),document.getElementById("question")?.focus())}function re(e){return e.title||e.question||e.name||r("Your input is needed")}function Vi(e){return e==="done"||e==="failed"||e==="stopped"}function Qi(e){let t=Math.ceil(e-Date.now()/ie);if(t<=0)return r("Timed out");let n=t<10?r("{seconds} s",{seconds:t}):y(t);return r("{time} left",{time:n})}function Xi({asked:e,isHere:t}){return P`<p class="decision">
    ${l("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${re(e)}</span>
      <span>${t?r("Running on this page"):r("Running on the page where you sent the message")}</span>
    </span>
  </p>`}function Zi(e){let{resolved:t}=e,n=["approved","answered","accepted","connected"].includes(t?.answer.outcome??"");return P`<p class="decision" data-outcome=${n?"yes":"no"}>
    ${l(n?"check":"x")}
    <span>
      <span class="decision-title" dir="auto">${re(e.asked)}</span>
      <span>${tr(e)}</span>
      ${t?.answer.always?P`<a href="/approvals/">${r("Start asking again…")}</a>`:wt}
    </span>
  </p>`}function tr({kind:e,resolved:t}){if(!t)return r("Not decided: the answer ended first.");let{answer:n,by:s,at:i}=t,o=W(new Date(i*ie).toISOString()),a={name:s||r("an unknown user"),moment:o},c=Object.keys(n.arguments??{});switch(n.outcome){case"approved":return c.length?r("Approved by {name}, {moment}, with changes to {names}.",{...a,names:c.join(", ")}):r("Approved by {name}, {moment}.",a);case"denied":return n.reason?r("Denied by {name}, {moment}: {reason}",{...a,reason:n.reason}):r("Denied by {name}, {moment}.",a);case"answered":return r("Answered by {name}, {moment}: {answer}",{...a,answer:[...n.choices??[],n.text].filter(Boolean).join(", ")});case"accepted":return r("Answered by {name}, {moment}.",a);case"declined":return r("Declined by {name}, {moment}.",a);case"cancelled":return r("Canceled by {name}, {moment}.",a);case"lost":return r("Not answered: the call ended first.");case"connected":return r("Connected by {name}, {moment}.",a);case"skipped":return r("Skipped by {name}, {moment}.",a);default:return e==="approval"?r("Nobody decided in time, so the call was denied ({moment}).",{moment:o}):r("Nobody answered in time ({moment}).",{moment:o})}}import{html as B,LitElement as sr,nothing as X}from"../vendor/lit.js";var oe="steps",er=["none","compact","folded","full"],vt=new EventTarget,Tn=xt(nr());addEventListener("storage",({key:e,newValue:t})=>{e===oe&&qn(xt(t))});function An(){return Tn}function ol(e){try{localStorage.setItem(oe,xt(e))}catch{}qn(xt(e))}function qn(e){Tn=e,vt.dispatchEvent(new Event("change"))}function xt(e){return er.find(t=>t===e)??"folded"}function nr(){try{return localStorage.getItem(oe)}catch{return null}}var ae=class extends sr{static properties={steps:{attribute:!1},list:{attribute:!1},past:{attribute:!1}};constructor(){super(),this.steps=[],this.list=X,this.past=!1,this.redraw=()=>this.requestUpdate()}connectedCallback(){super.connectedCallback(),vt.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),vt.removeEventListener("change",this.redraw)}createRenderRoot(){return this}render(){let t=An(),n=this.steps.flatMap(Rn),s=n.findLast(({state:a})=>a==="running"),i=n.filter(({state:a})=>a==="failed").length,o=t==="folded"&&(!this.past||s||i);return t==="full"||t!=="none"&&(o||n.length===1)?this.list:t==="none"?s||i?B`<div class="step activity" data-state=${s?"running":"failed"}><div class="step-line">${Ln(n,s,i)}</div></div>`:X:B`<details class="step activity" data-state=${s?"running":i?"failed":"done"}>
      <summary class="step-line">${Ln(n,s,i)}${l("chevron-right")}</summary>
      ${this.list}
    </details>`}};customElements.define("step-activity",ae);function Ln(e,t,n){let s=e.reduce((o,a)=>o+(a.seconds??0),0),i=x("{count} step","{count} steps",e.length);return B`<span class="step-mark">${l(t?"loader-circle":n?"x":"check")}</span>
    <span class="step-title" dir="auto">${t?t.title:i}</span>
    ${t?B`<span class="step-state">${i}</span>`:X}
    ${n?B`<span class="step-state step-failures">${x("{count} failed","{count} failed",n)}</span>`:X}
    ${t?X:B`<span class="step-time">${y(s)}</span>`}`}function Rn(e){return[e,...e.children.flatMap(Rn)]}import{html as ir,nothing as Dn}from"../vendor/lit.js";function kt(e){return ir`<p class="working"><span class="dots" aria-hidden="true"></span>${e}</p>`}function Nn(e,t){return e?.role!=="user"?Dn:e.sending?kt(r("Sending…")):t?kt(`${r("Thinking")}…`):Dn}var le=class extends rr{static properties={answer:{attribute:!1},version:{attribute:!1},asked:{attribute:!1},earlier:{attribute:!1},goesOn:{attribute:!1},isLast:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},opened:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.asked=void 0,this.earlier=[],this.goesOn=!1,this.isLast=!1,this.branch=void 0,this.changeable=!1,this.opened="",this.addEventListener("subagent-open",t=>{this.opened=t.detail})}createRenderRoot(){return this}render(){let{answer:t}=this;if(!t)return g;let n=z(t.status);return f`
      ${this.earlier.length?g:f`<h2 class="visually-hidden">${r("Answer")}</h2>`}
      ${or(t.parts,s=>s,s=>this.#e(t,s,n))}
      ${dt(t.attachments,t.annotations)}
      ${t.continued?f`<p class="notice">${l("refresh-cw")}${r("This answer continued after an interruption.")}</p>`:g}
      ${n?cr(t):this.#s(t)} ${this.#t(t)}
    `}updated(){let t=this.querySelector("dialog.subagent");t instanceof HTMLDialogElement&&!t.open&&t.showModal()}#t(t){let n=t.steps.get(this.opened);return n?on(n,{redraw:()=>this.requestUpdate(),close:()=>this.opened=""}):g}#e(t,n,s){if(n.kind==="steps")return f`<step-activity .steps=${n.steps} .past=${!s||lr(t,n)}
        .list=${Y(n.steps,()=>this.requestUpdate(),t.expired)}></step-activity>`;if(n.kind==="notice")return f`<p class="notice" dir="auto">${l("circle-alert")}${n.text}</p>`;if(n.kind==="interaction")return f`<chat-interaction .interaction=${n.interaction} .version=${t.version}
        .status=${t.status}></chat-interaction>`;let i=!s||n!==t.parts.at(-1);return f`<markdown-text class="answer-text" ?data-growing=${!i} .text=${n.text} .complete=${i}
      .annotations=${[...t.annotations]}
      .sources=${K(t.attachments)}></markdown-text>`}#s(t){return f`${t.status==="failed"?this.#a(t):g}
      ${t.status==="stopped"?this.#o(t):g}
      ${t.status==="done"&&!this.goesOn?this.#i(t):g}
      ${ct(t.message?.left_out)} ${cn(t.message?.memories)}
      ${this.goesOn?g:f`<answer-foot .answer=${t} .version=${t.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable}></answer-foot>`}`}#i(t){return t.message?.finish_reason!=="length"?ar(t):f`<div class="stopped">
      <p class="notice">${l("triangle-alert")}${r("The answer reached the model’s length limit.")}</p>
      ${this.#r(r("Continue"),{continues:t.message.id})}
    </div>`}#o(t){let n=O(t).trim()?r("The answer is incomplete."):r("No answer was written.");return f`<div class="stopped">
      <p class="notice">${l("circle-alert")}<span><strong>${r("Stopped.")}</strong> ${n}</span></p>
      ${this.#n()}
    </div>`}#n(){return this.asked&&!this.asked.sending?this.#r(r("Try again"),{again:this.asked.id}):g}#r(t,n){return!this.isLast||!this.changeable?g:f`<button type="button" class="button" @click=${()=>this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:n}))}>${l("refresh-cw")}${t}</button>`}#a(t){let{error:n}=t;return f`<div class="failure">
      ${l("triangle-alert")}
      <div>
        <p>${n?.text??r("The answer could not be finished.")}</p>
        ${n?.reference?f`<p class="failure-reference">${r("Reference:")} <code>${n.reference}</code></p>`:g}
        ${this.#n()}
      </div>
    </div>`}};customElements.define("chat-answer",le);function ar(e){return e.message&&!O(e).trim()&&!e.attachments.length&&!e.message.left_out?.length?f`<p class="notice">${r("The model returned an empty answer.")}</p>`:g}function lr({parts:e},t){return e.slice(e.indexOf(t)+1).some(({kind:n})=>n==="text")}function cr(e){if(e.status==="waiting"&&Ce(e))return g;let t=e.parts.at(-1),n=[...e.steps.values()].some(({state:i})=>i==="running");return e.status==="running"&&(t?.kind==="text"||t?.kind==="steps"&&n)?g:kt(`${ur(e)}…`)}function ur(e){return e.status==="queued"?r("Queued"):e.status==="waiting"?q(e).some(rt)?r("Working on the page"):r("Waiting for another user"):e.parts.length?r("Working"):r("Thinking")}var ce=class extends dr{static properties={turns:{attribute:!1,hasChanged:pr},state:{attribute:!1},last:{attribute:!1},branches:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},summary:{attribute:!1},near:{attribute:!1}};constructor(){super(),this.turns=[],this.state="",this.last=!1,this.branches={},this.changeable=!1,this.limit=1/0,this.summary=null,this.near=!0,this.height=0,this.addEventListener("focusout",()=>this.requestUpdate())}createRenderRoot(){return this}place(t,n){this.classList.contains("resting")||(this.height=n),this.near=t}render(){let t=this.#t();return this.classList.toggle("resting",t),this.style.blockSize=t?`${this.height}px`:"",t?this.#e():St`${hr(this.turns,({turn:n})=>`${n.role} ${n.id}`,n=>n.turn.role==="user"?this.#s(n.turn):this.#i(n.turn,n))}`}#t(){if(this.near||this.last||!this.height||this.contains(document.activeElement))return!1;let t=document.getSelection();return!t||t.isCollapsed||!t.containsNode(this,!0)}#e(){let t=this.turns.map(({turn:n})=>n.role==="user"?n.text:O(n)).join(`
`);return St`<div hidden="until-found" @beforematch=${()=>this.near=!0}>${t}</div>`}#s(t){return St`<chat-question
      class="turn question"
      id="message-${t.id}"
      .question=${t}
      .state=${t.sending?"sending":"stored"}
      .branch=${this.branches[t.id]}
      .changeable=${this.changeable&&!t.sending}
      .limit=${this.limit}
    ></chat-question>`}#i(t,{asked:n,earlier:s,goesOn:i,isLast:o}){let a=ut(t);return St`<chat-answer
        class="turn answer"
        id=${a?`message-${a}`:_n}
        .answer=${t}
        .version=${t.version}
        .asked=${n}
        .earlier=${s}
        .goesOn=${i}
        .isLast=${o}
        .branch=${this.branches[s[0]?.id??t.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary&&this.summary.after===t.id?Ne(this.summary):_n}`}};customElements.define("chat-turns",ce);function Mn(e){return e.map(({turn:t})=>t.role==="user"?Number(t.sending):t.version).join()}function pr(e,t){return e.length!==t?.length||e.some((n,s)=>fr(n,t[s]))}function fr(e,t){return e.turn!==t.turn||e.asked!==t.asked||e.earlier.length!==t.earlier.length||e.goesOn!==t.goesOn||e.isLast!==t.isLast}import{html as ue,LitElement as mr,nothing as In}from"../vendor/lit.js";var he={intro_text:"",auto_submit:!0,chat_message_input_disabled:!1,starters:[]},de=class extends mr{static properties={offered:{attribute:!1}};constructor(){super(),this.offered=he}createRenderRoot(){return this}render(){let{starters:t,intro_text:n}=this.offered;return t.length?ue`<section class="starters" aria-label=${n||r("Suggestions")}>
      ${n?ue`<h3 dir="auto">${n}</h3>`:In}
      <ul>
        ${t.map(s=>ue`<li><button type="button" dir="auto" @click=${()=>this.#t(s)}>${s.title}</button></li>`)}
      </ul>
    </section>`:In}#t(t){this.dispatchEvent(new CustomEvent("starter",{bubbles:!0,detail:t}))}};customElements.define("chat-starters",de);var br=200,yr=3e3,wr="1200px 0px",xr="800px 0px",pe=class extends gr{static properties={turns:{attribute:!1},loaded:{attribute:!1},busy:{attribute:!1},branches:{attribute:!1},deleting:{state:!0},greeting:{attribute:!1},isOnly:{attribute:!1},heading:{attribute:!1},description:{attribute:!1},starters:{attribute:!1},ended:{attribute:!1},application:{attribute:!1},summary:{attribute:!1},problem:{attribute:!1}};#t=new IntersectionObserver(t=>this.#d(t),{rootMargin:wr});#e=Promise.resolve();#s=new IntersectionObserver(t=>this.#h(t),{rootMargin:xr});constructor(){super(),this.turns=[],this.loaded=!0,this.busy=!1,this.branches={},this.deleting=null,this.limit=1/0,this.addEventListener("branch-change",t=>this.#i(t)),this.greeting="",this.isOnly=!1,this.heading="",this.description="",this.application={letters:"",tile:""},this.ended=!1,this.summary=null,this.problem="",this.starters=he}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),addEventListener("beforeprint",this.drawAll),addEventListener("afterprint",this.#l)}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("beforeprint",this.drawAll),removeEventListener("afterprint",this.#l),this.#t.disconnect(),this.#s.disconnect()}render(){return this.loaded?this.turns.length?k`${$r(Ke(Ge(this.turns)),({key:t})=>t,t=>t.missing?this.#f(t.missing):this.#p(t.turns))}
    ${Nn(this.turns.at(-1),this.busy)}
    ${this.starters.chat_message_input_disabled&&!this.busy?k`<chat-starters .offered=${this.starters}></chat-starters>`:Z}
    ${this.deleting?this.#o(this.deleting):Z}`:this.#m():k`<p class="loading working">${r("Loading the conversation…")}</p>`}#i(t){let{type:n,message:s,isConfirmed:i}=t.detail;n!=="turn.delete"||i||(t.stopImmediatePropagation(),this.deleting={message:s,origin:t.target})}#o({message:t,origin:n}){let s=this.turns.find(({id:a})=>a===t),i=()=>{this.deleting=null,n.querySelector("action-row")?.focusOn(n.localName==="answer-foot"?"more":"delete")},o=()=>{this.deleting=null;let a={type:"turn.delete",message:t,name:"delete",isConfirmed:!0};this.dispatchEvent(new CustomEvent("branch-change",{detail:a}))};return Je({text:s?.role==="user"?s.text.slice(0,br):"",cancel:i,confirm:o})}updated(){let t=this.querySelector("dialog.turn-deletion");t instanceof HTMLDialogElement&&!t.open&&t.showModal();for(let n of this.#u)this.#t.observe(n);if(this.#s.disconnect(),!this.problem)for(let n of this.querySelectorAll(".gap"))this.#s.observe(n)}keepPlace(t){return this.#n(()=>this.#r(t))}#n(t){let n=this.#e.then(t);return this.#e=n.catch(()=>{}),n}async#r(t){let n=[...this.querySelectorAll(".turn")].find(i=>i.getBoundingClientRect().bottom>0),s=n?.getBoundingClientRect().top??0;t(),await this.#a(),n?.isConnected&&scrollBy({top:n.getBoundingClientRect().top-s,behavior:"instant"})}async#a(){await this.updateComplete,await Promise.all(this.#u.map(n=>n.updateComplete));let t=[...this.querySelectorAll("chat-answer")];await Promise.all(t.map(n=>n.updateComplete))}reveal(t){return this.#n(()=>this.#c(t))}async#c(t){let n=this.turns.find(o=>ut(o)===t);await this.updateComplete;let s=n&&this.#u.find(({turns:o})=>o.some(a=>a.turn===n));if(!s)return!1;s.near=!0,await this.#a();let i=document.getElementById(`message-${t}`);return i?(i.tabIndex=-1,i.scrollIntoView({block:"start",behavior:"instant"}),i.focus({preventScroll:!0}),i.toggleAttribute("data-found",!0),setTimeout(()=>i.removeAttribute("data-found"),yr),!0):!1}get#u(){return[...this.querySelectorAll("chat-turns")].map(t=>t)}drawAll=()=>{for(let t of this.#u)t.near=!0;return this.#a()};#l=()=>{this.#t.disconnect(),this.requestUpdate()};#d(t){this.keepPlace(()=>{for(let{target:n,isIntersecting:s,boundingClientRect:i}of t)n.place(s,i.height)})}#h(t){let s=t.find(({isIntersecting:i})=>i)?.target?.missing;s&&this.dispatchEvent(new CustomEvent("gap",{detail:s}))}#p(t){return k`<chat-turns
      .turns=${t}
      .state=${Mn(t)}
      .last=${t.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy&&!this.ended}
      .limit=${this.limit}
    ></chat-turns>`}#f(t){let n=()=>this.dispatchEvent(new CustomEvent("gap",{detail:t}));return k`<div class="gap" .missing=${t}>
      ${this.problem?k`<p class="notice problem" role="alert">${l("circle-alert")}<span>${this.problem}</span></p>`:Z}
      <button type="button" class="button" @click=${n}>${t.after?r("Show the next messages"):r("Show earlier messages")}</button>
    </div>`}#m(){if(this.greeting){let t=k`<p class="description" dir="auto"><strong>${this.heading}</strong> ${this.description}</p>`;return k`<div class="welcome"><h2 dir="auto">${this.greeting}</h2>${this.isOnly?t:Z}</div>`}return k`<div class="welcome">
      ${we(this.application,"large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description?k`<p class="description" dir="auto">${this.description}</p>`:Z}
    </div>`}};customElements.define("chat-log",pe);var vr=2e4;function tc(e){addEventListener("keydown",t=>{t.key?.toLowerCase()!=="p"||!(t.ctrlKey||t.metaKey)||t.shiftKey||t.altKey||document.querySelector(".turn")&&(t.preventDefault(),e())})}async function ec(){let e=[...document.querySelectorAll(".code")].filter(n=>n instanceof HTMLElement).filter(ke);if(!e.length)return;let{drawOnPaper:t}=await import("./diagrams-GFVV22RF.js");await Promise.race([t(e),new Promise(n=>setTimeout(n,vr))])}export{$t as a,q as b,Sr as c,Ce as d,rt as e,O as f,Se as g,qe as h,Nr as i,_r as j,Dt as k,Fr as l,oa as m,aa as n,se as o,re as p,tr as q,lt as r,L as s,fa as t,vt as u,An as v,ol as w,We as x,Ut as y,de as z,pe as A,tc as B,ec as C};
