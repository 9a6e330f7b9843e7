import{c as et}from"./chunk-GFSGBITY.js";import{a as T,b as st,c as pe,d as fe}from"./chunk-LAQBZ7KR.js";import{b as it,d as me,f as rt}from"./chunk-TXRJREKV.js";import{a as c}from"./chunk-5OVPBSN4.js";import{a as nt}from"./chunk-7DWZTKXB.js";import{a as g,b as r,c as he,d as $}from"./chunk-GDVCXHG5.js";function ge(e){requestAnimationFrame(()=>requestAnimationFrame(e))}function $e(e,{key:t,kind:n,asked:s,due:i}){let o=L(e).find(a=>a.key===t&&a.kind===n);if(o)Object.assign(o,{asked:s,due:i});else{let a={key:t,kind:n,asked:s,due:i,resolved:null,sending:!1};e.parts.push({kind:"interaction",interaction:a})}}function be(e,{key:t,kind:n,answer:s,by:i,at:o}){let a=L(e).find(u=>u.key===t&&u.kind===n);a&&Object.assign(a,{resolved:{answer:s,by:i,at:o},sending:!1});let l=n==="client_tool"&&L(e).some(u=>ot(u));e.status==="waiting"&&!l&&(e.status="queued")}function L(e){return e.parts.flatMap(t=>t.kind==="interaction"?[t.interaction]:[])}function pr(e){if(e?.status!=="waiting")return;let[t,...n]=L(e).filter(i=>!i.resolved);return t?.kind==="question"&&!n.length&&!t.sending&&(t.asked.input==="text"||t.asked.freeform!==!1)?t:void 0}function ye(e){if(!e)return;let{status:t}=e;return L(e).find(n=>!n.asked.four_eyes&&!ot(n)&&St(n,t))}function ot({kind:e,resolved:t}){return e==="client_tool"&&!t}function St({kind:e,resolved:t},n){return!t&&(n==="waiting"||e==="elicitation"&&n==="running")}function H(e){return e==="queued"||e==="running"||e==="waiting"}function S(e){return e.parts.map(t=>t.kind==="text"?t.text:"").join("")}function we(e,t){switch(e.version+=1,t.type){case"run.status":return Et(e,t.status);case"message.delta":return Nn(e,t.text);case"stage.opened":return jn(e,t);case"stage.delta":return Pn(e,t);case"stage.closed":return Fn(e,t);case"attachment.added":e.attachments.push(t.attachment);return;case"annotation.added":e.annotations.push(t.annotation);return;case"notice.added":return In(e,t.notice,t.text);case"helper.began":return Bn(e,t);case"helper.ended":for(let{helper:n}of e.steps.values())n?.key===t.key&&(n.state=t.status);return;case"run.continued":e.continued=!0;return;case"answer.restarted":return _n(e,t);case"interaction.requested":return $e(e,t);case"interaction.resolved":return be(e,t);case"run.error":e.error={text:t.text,reference:t.reference};return;case"message.complete":return Wn(e,t.message)}}function Et(e,t){if(e.status=t,e.version+=1,!H(t))for(let n of e.steps.values())n.state==="running"&&(n.state="stopped"),n.helper?.state==="running"&&(n.helper.state="stopped")}function Nn(e,t){let n=e.parts.at(-1);n?.kind==="text"?n.text+=t:e.parts.push({kind:"text",text:t})}function _n(e,{text:t,attachments:n,annotations:s}){e.attachments=n,e.annotations=s;let i=t.length;if(!S(e).startsWith(t))xe(e,t);else{for(let o of e.parts)o.kind==="text"&&(o.text=o.text.slice(0,i),i-=o.text.length);e.parts=e.parts.filter(o=>o.kind!=="text"||o.text)}}function In(e,t,n){let s=e.parts.find(i=>i.kind==="notice"&&i.id===t);s?.kind==="notice"?s.text=n:e.parts.push({kind:"notice",id:t,text:n})}function xe(e,t){e.parts=e.parts.filter(n=>n.kind!=="text"),t&&e.parts.push({kind:"text",text:t})}function jn(e,t){let n=e.steps.get(t.stage);if(n){Object.assign(n,{title:t.title,text:"",length:0,state:"running",attachments:[]});return}let s={id:t.stage,title:t.title,text:"",length:0,state:"running",seconds:null,attachments:[],children:[],unfolded:!1};e.steps.set(s.id,s);let i=t.parent===null?void 0:e.steps.get(t.parent);if(i){i.children.push(s);return}let o=e.parts.at(-1);o?.kind==="steps"?o.steps.push(s):e.parts.push({kind:"steps",steps:[s]})}function Bn(e,{stage:t,key:n,name:s,agent:i}){let o=e.steps.get(t);o&&(o.helper={key:n,name:s,agent:i,state:"running"})}function Pn(e,t){let n=e.steps.get(t.stage);n&&(t.text&&(n.text+=t.text),t.length&&(n.length=t.length),t.title&&(n.title+=t.title),t.attachment&&n.attachments.push(t.attachment))}function Fn(e,t){let n=e.steps.get(t.stage);n&&(n.state=t.failed?"failed":"done",n.seconds=t.seconds)}function Wn(e,t){e.message=t,e.attachments=t.attachments??[],!(t.text===void 0||S(e)===t.text)&&xe(e,t.text)}var ve=class e{turns=[];title="";todo="";last=0;awaiting=!1;branches={};#t=[];#e=new Map;constructor(t){this.id=t}get running(){let t=this.turns.findLast(n=>n.role==="assistant");return t&&H(t.status)?t:null}take(t){if(t.conversation!==this.id||t.seq<=this.last)return!1;if(this.last=t.seq,this.awaiting=t.type==="message.added",t.type==="todo.changed"&&(this.todo=t.text),t.type==="message.complete"&&(this.todo=t.message.todo??this.todo),t.type==="message.added")this.#o(t.message,t.run);else{if(t.type==="branches.changed")return!0;we(this.#r(t.run),t)}return!0}expect({id:t,text:n,attachments:s,again:i,edits:o,continues:a}){let l=this.turns.findIndex(m=>m.role==="user"&&m.id===(i??o));if(this.#t=l<0?[]:this.turns.splice(i?l+1:l),i)return;let u={role:"user",id:t,at:this.#i,text:n,attachments:s,sending:!0};a&&(u.sender={kind:"continuation",title:"",untrusted:!1}),this.turns.push(u)}withdraw(t){this.turns=[...this.turns.filter(n=>n.id!==t),...this.#t],this.#t=[]}insert(t){let n=new Set(this.turns.map(({at:i})=>i)),s=t.filter(({at:i})=>!n.has(i)).flatMap(i=>this.#n(i));this.turns=[...this.turns,...s].sort((i,o)=>i.at-o.at)}complete(t,n){let s=this.turns.find(l=>l.role==="assistant"&&l.id===t.run),i=this.#n(t).find(l=>l.role==="assistant");if(s?.role!=="assistant"||i?.role!=="assistant")return;let[o,a]=[s.steps.get(n),i.steps.get(n)];o&&a&&Object.assign(o,{text:a.text,length:0}),s.version+=1}#n({run:t,at:n,events:s}){let i=new e(this.id);i.#e=this.#e;for(let[a,l]of s.entries())i.take({...l,conversation:this.id??"",run:t,seq:a+1});let o=(this.turns.at(-1)?.at??-1)<=n;i.todo&&o&&(this.todo=i.todo);for(let a of i.turns)a.at=n;return i.turns}get isWhole(){return this.turns.every(({at:t},n)=>t<=(this.turns[n-1]?.at??-1)+1)}get#i(){return(this.turns.at(-1)?.at??-1)+1}expire({answers:t}){this.#e=new Map(Object.entries(t).map(([n,s])=>[n,new Set(s)]));for(let n of this.turns)n.role==="assistant"&&(n.expired=this.#e.get(n.id)??new Set,n.version+=1)}settle(){this.awaiting=!1;let t=this.running;t&&Et(t,"stopped")}#o({id:t,role:n,text:s,attachments:i=[],place:o,sender:a,application:l,left_out:u},m){if(n!=="user")return;this.#t=[];let k=this.turns.find(U=>U.role==="user"&&(U.id===t||U.sending&&(U.text===s||Un(U,a)))),W={id:t,run:m,text:s,attachments:i,place:o,sender:a,application:l,left_out:u,sending:!1};k?.role==="user"?Object.assign(k,W):this.#s(()=>({role:n,at:this.#i,...W}))}#s(t){let n=this.turns.filter(i=>i.role==="user"&&i.sending);n.length&&(this.turns=this.turns.filter(i=>!n.includes(i)));let s=t();this.turns.push(s);for(let i of n)i.at=this.#i,this.turns.push(i);return s}#r(t){let n=this.turns.find(s=>s.role==="assistant"&&s.id===t);return n?.role==="assistant"?n:this.#s(()=>this.#a(t))}#a(t){let n=this.turns.findLast(s=>s.role==="user");return{role:"assistant",id:t,at:n?.role==="user"&&n.run===t?n.at:this.#i,status:"queued",parts:[],steps:new Map,attachments:[],annotations:[],error:null,message:null,expired:this.#e.get(t)??new Set,continued:!1,version:0}}};function Un(e,t){return e.sender?.kind==="continuation"&&t?.kind==="continuation"}import{html as Ot,nothing as Ct}from"../vendor/lit.js";function y(e){if(e<.05)return r("< {seconds} s",{seconds:ke(.1)});if(e<9.95)return r("{seconds} s",{seconds:ke(e)});let t=Math.round(e);return t<60?r("{seconds} s",{seconds:t}):r("{minutes} min {seconds} s",{minutes:Math.floor(t/60),seconds:t%60})}function Se(e){let t=new Date(e);return Number.isNaN(t.getTime())?"":t.toDateString()===new Date().toDateString()?t.toLocaleTimeString(g,{hour:"2-digit",minute:"2-digit"}):t.toLocaleDateString(g,{day:"numeric",month:"short"})}function ke(e){return e.toLocaleString(g,{minimumFractionDigits:1,maximumFractionDigits:1})}function Oe(e){let{message:t,id:n}=e;if(!t)return Ct;let s=[...Vn(t),...zn(e),...Jn(e)],i=document.getElementById("main")?.dataset.requests;return!s.length&&!i?Ct:Ot`<details class="more-line figures">
    <summary>${c("chevron-right")}<span class="visually-hidden">${r("Why this answer:")}</span>${Kn(t)}</summary>
    <dl>
      ${s.map(([o,a])=>Ot`<div><dt dir="auto">${o}</dt><dd dir="auto">${a}</dd></div>`)}
    </dl>
    ${i?Ot`<a href="/answers/${n}/requests/" target="_blank" rel="noopener"
          >${r("What the model saw")}<span class="visually-hidden"> ${r("(a new tab)")}</span></a
        >`:Ct}
  </details>`}var Hn=e=>r("{whole}, {some} of them from the cache",e),Gn=e=>r("{whole}, {some} of them for thinking",e);function zn({steps:e}){return[...e.values()].flatMap(({title:t,seconds:n})=>{let s=[t.replaceAll("`",""),n===null?"":y(n)];return s[1]?[s]:[]})}function Jn({message:e,attachments:t}){let n=(e?.memories??[]).filter(({action:o})=>o==="recalled"),s=t.filter(({reference_url:o})=>o);return[[r("Files read"),(e?.files_read??[]).join("; ")],[r("From memory"),n.map(({text:o})=>o).join("; ")],[r("Sources"),[...new Set(s.map(({title:o,reference_url:a})=>o||a))].join("; ")]].filter(([,o])=>o)}function Kn({seconds:e,usage:t,costs:n,models:s}){let i=Tt(t);return[e===void 0?"":y(e),i?$("{count} token","{count} tokens",i):"",n?Lt(n):""].filter(Boolean).join(" · ")||s?.join(", ")||r("Details")}function Vn({models:e,version:t,usage:n,costs:s,first_text_seconds:i,seconds:o}){return[[e?.length===1?r("Model"):r("Models"),e?.join(", ")],[r("Application version"),t],[r("Tokens in"),n&&Ee(n.prompt_tokens,n.cached_tokens,Hn)],[r("Tokens out"),n&&Ee(n.completion_tokens,n.reasoning_tokens,Gn)],[r("Cost"),s&&Lt(s)],[r("First text after"),i===void 0?"":y(i)],[r("Duration"),o===void 0?"":y(o)]].filter(([,l])=>l).map(([l,u])=>[l,String(u)])}function Ee(e,t,n){return e?t?n({whole:e,some:t}):e.toLocaleString(g):""}function Tt(e){return e?e.prompt_tokens+e.completion_tokens:0}function Lt(e){return Object.entries(e).map(([t,n])=>Yn(Number(n),t)).join(" + ")}function Yn(e,t){let n=e===0||e>=1?{}:{minimumSignificantDigits:2,maximumSignificantDigits:2};return e.toLocaleString(g,{style:"currency",currency:t,...n})}function Er(e){let t=e.flatMap(i=>i.role==="assistant"&&i.message?[i.message]:[]),n=t.reduce((i,{usage:o})=>i+Tt(o),0),s={};for(let i of t)for(let[o,a]of Object.entries(i.costs??{}))s[o]=(s[o]??0)+Number(a);return{tokens:n,costs:s,is_partial:t.some(i=>!i.costs&&Tt(i.usage))}}function Or({tokens:e,costs:t,is_partial:n}){let s=Lt(t);return[e?$("{count} token","{count} tokens",e):"",s&&n?r("at least {cost}",{cost:s}):s].filter(Boolean).join(" · ")}import{html as _,LitElement as Qn,nothing as At}from"../vendor/lit.js";var Xn=[["system",r("Instructions")],["tools",r("Tools")],["user",r("Questions")],["assistant",r("Answers")],["tool_results",r("Results of tools")]],Ce={unknown:"",ok:"",warning:r("nearly full"),danger:r("full")},Zn=.3,Rt=class extends Qn{static properties={use:{attribute:!1}};constructor(){super(),this.use=null}createRenderRoot(){return this}render(){let{use:t}=this;return t?.total?_`<details class="gauge" data-state=${t.state}>
      <summary>${this.#t(t)}</summary>
      <div class="gauge-parts">
        <dl>
          ${Xn.map(([n,s])=>_`<div><dt>${s}</dt><dd>${qt(t[n])}</dd></div>`)}
          <div class="gauge-total"><dt>${r("In all")}</dt><dd>${qt(t.total)}</dd></div>
          ${t.limit?_`<div><dt>${r("The model reads")}</dt><dd>${qt(t.limit)}</dd></div>`:At}
        </dl>
        <p>${r("Tokens, estimated. A conversation that becomes too long is shortened for the model; here it stays whole.")}</p>
      </div>
    </details>`:At}#t({ratio:t,total:n,state:s}){if(t===null)return _`<span>${$("Context: {count} token","Context: {count} tokens",Number(n))}</span>`;let i=`${Math.round(t*100)} %`,o=Ce[s]&&`, ${Ce[s]}`;return _`<meter min="0" max="1" .value=${t} aria-hidden="true"></meter>
      ${s==="ok"?At:c("triangle-alert")}
      <span>${r("Context: {percent}",{percent:i})}${o}</span>`}};customElements.define("chat-gauge",Rt);function qt(e){return Number(e).toLocaleString(g)}function Dr(e,t,n,s){let i=async()=>{let{id:o}=n.conversation,a=o?await rt(`${s()}${o}/usage/`):null;!a||o!==n.conversation.id||(e.use=a,t.summary=a.summary,n.redraw())};n.addEventListener("switched",()=>{e.use=null,t.summary=null}),n.addEventListener("opened",o=>{o.detail.isNew||ge(()=>{i()})}),n.addEventListener("event",o=>{o.detail.type==="message.complete"&&i()}),n.addEventListener("listed",()=>{(e.use?.ratio??0)>=Zn&&i()})}function Te({text:e}){return _`<details class="summary-block">
    <summary>${c("chevron-right")}${r("Earlier conversation, summarised for the model")}</summary>
    <p class="summary-text" dir="auto">${e}</p>
    <p class="summary-note">${r("The model reads this in place of everything above.")}</p>
  </details>`}import{html as R,LitElement as Os,nothing as q}from"../vendor/lit.js";import{html as Dt,LitElement as ts,nothing as at}from"../vendor/lit.js";var G=class extends ts{static properties={label:{attribute:!1},actions:{attribute:!1},current:{state:!0}};constructor(){super(),this.label="",this.actions=[],this.current=""}createRenderRoot(){return this}render(){let t=this.actions.some(({name:n})=>n===this.current)?this.current:this.actions[0]?.name;return Dt`<div class="actions" role="toolbar" aria-label=${this.label} @keydown=${this.#n}>
      ${this.actions.map(n=>this.#t(n,n.name===t))}
    </div>`}focusOn(t){let n=this.#e();(n.find(s=>s.dataset.action===t)??n[0])?.focus()}#t({name:t,icon:n,label:s,run:i,pressed:o,disabled:a,after:l,opensMenu:u},m){let k=({currentTarget:W})=>{!a&&W instanceof HTMLElement&&i(W)};return Dt`<button type="button" class="quiet" data-action=${t} title=${s} aria-label=${s}
        tabindex=${m?0:-1} aria-pressed=${o===void 0?at:String(o)}
        aria-haspopup=${u?"menu":at} aria-disabled=${a?"true":at} @click=${k} @focus=${()=>this.current=t}>
        ${c(n)}
      </button>${l?Dt`<span class="actions-place">${l}</span>`:at}`}#e(){return[...this.querySelectorAll("button")]}#n(t){let n=this.#e(),s=n.indexOf(document.activeElement),i=getComputedStyle(this).direction==="rtl"?"ArrowLeft":"ArrowRight",o=i==="ArrowLeft"?"ArrowRight":"ArrowLeft",l={[i]:s+1,[o]:s-1,Home:0,End:-1}[t.key];s<0||l===void 0||(t.preventDefault(),n.at(l%n.length)?.focus())}};customElements.define("action-row",G);function lt(e,t,n,s){if(!e)return[];let{ids:i,at:o}=e;return[{name:"previous",icon:"chevron-left",label:t.previous,disabled:n||o===0,run:()=>s(i[o-1]??"","previous"),after:`${o+1}/${i.length}`},{name:"next",icon:"chevron-right",label:t.next,disabled:n||o===i.length-1,run:()=>s(i[o+1]??"","next")}]}function I(e,t,n,s){let i={type:t,message:n,name:s};e.dispatchEvent(new CustomEvent("branch-change",{bubbles:!0,detail:i}))}import{html as d,nothing as It}from"../vendor/lit.js";import{html as w,LitElement as ss,nothing as Mt}from"../vendor/lit.js";var Le=[e=>r("{value} KB",{value:e}),e=>r("{value} MB",{value:e}),e=>r("{value} GB",{value:e}),e=>r("{value} TB",{value:e})];function Ae(e){if(e<1e3)return $("{count} byte","{count} bytes",e);let t=e/1e3,n=0;for(;t>=1e3&&n<Le.length-1;)t/=1e3,n+=1;return Le[n](t.toLocaleString(g,{maximumFractionDigits:t<10?1:0}))}var qe=[",",";","	","|"];function De(e,t){let n=ns(e),s=[],i=[],o=0;for(;o<e.length&&s.length<t;){let{cell:a,end:l}=es(e,o,n);if(i.push(a),o=l,e[o]===n){if(o+=1,o<e.length)continue;i.push("")}e[o]==="\r"&&e[o+1]===`
`&&(o+=1),o+=1,s.push(i),i=[]}return s}function es(e,t,n){if(e[t]!=='"')return Re(e,t,n);let s="",i=t+1;for(;;){let o=e.indexOf('"',i);if(o<0)return{cell:s+e.slice(i),end:e.length};if(s+=e.slice(i,o),e[o+1]!=='"'){let a=Re(e,o+1,n);return{cell:s+a.cell,end:a.end}}s+='"',i=o+2}}function Re(e,t,n){let s=t;for(;s<e.length&&e[s]!==n&&e[s]!==`
`&&e[s]!=="\r";)s+=1;return{cell:e.slice(t,s),end:s}}function ns(e){let[t]=e.split(/\r?\n/,1),n=qe.map(s=>t.split(s).length);return qe[n.indexOf(Math.max(...n))]}var Nt=2e5,Me=100,is=/^(?:text\/[\w.+-]+|application\/(?:(?:[\w.+-]+\+)?(?:json|xml)|jsonl|javascript|sql|toml|yaml|x-sh))$/i,rs=/^text\/(?:csv|tab-separated-values)$/i;function Ne(e){return is.test(e.split(";")[0].trim())}var _t=class extends ss{static properties={address:{attribute:!1},name:{attribute:!1},type:{attribute:!1},text:{state:!0},size:{state:!0},problem:{state:!0}};constructor(){super(),this.address="",this.name="",this.type="",this.text=null,this.size=0,this.problem=""}createRenderRoot(){return this}render(){return w`<details class="attachment words" @toggle=${this.#i}>
      <summary>
        ${c("chevron-right")}${c("file-text")}<span class="attachment-name">${this.name}</span>
      </summary>
      ${this.#t()}
      <p class="preview-foot">
        <a href="${this.address}?download" download=${this.name}>${c("download")}${r("Download")}</a>
        ${/^text\/html\b/i.test(this.type)?w`<button type="button" class="link" @click=${this.#n}>${c("eye")}${r("Preview")}</button>`:Mt}
        ${this.size>Nt?w`<span>${r("The beginning of {size}",{size:Ae(this.size)})}</span>`:Mt}
      </p>
    </details>`}#t(){if(this.problem)return w`<p class="field-error" role="alert">${this.problem}</p>`;if(this.text===null)return w`<p class="working">${r("Loading…")}</p>`;if(rs.test(this.type))return this.#e(De(this.text,Me+1));let t=this.type==="text/markdown"?this.text:os(this.text,this.name);return w`<markdown-text .text=${t} .complete=${!0}></markdown-text>`}#e([t=[],...n]){let s=n.length>=Me||this.size>Nt;return w`<div class="prose-table table" tabindex="0" role="group" aria-label=${r("Table {name}",{name:this.name})}>
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
      ${s?w`<p class="preview-foot">${$("The first row","The first {count} rows",n.length)}</p>`:Mt}`}async#n({currentTarget:t}){let{openFile:n}=await import("./artifact-panel-DWOAY7N5.js");try{await n(this.address,this.name,"html",t)}catch{this.problem=r("The file could not be loaded. Check the connection and try again.")}}async#i(t){if(!(!t.target.open||this.text!==null)){this.problem="";try{let s=await fetch(this.address,{headers:{Range:`bytes=0-${Nt-1}`}});if(!s.ok){this.problem=s.status===404?r("The file is no longer there."):r("The file cannot be shown.");return}let i=s.headers.get("Content-Range")?.split("/")[1],o=new Uint8Array(await s.arrayBuffer());this.size=Number(i??o.length),this.text=as(o)}catch{this.problem=r("The file could not be loaded. Check the connection, fold this and unfold it again.")}}}};customElements.define("file-preview",_t);function os(e,t){let n=Math.max(2,...[...e.matchAll(/`+/g)].map(([o])=>o.length)),s="`".repeat(n+1),i=t.match(/\.(\w{1,12})$/)?.[1]??"";return`${s}${i}
${e.replace(/\n$/,"")}
${s}`}function as(e){if(e[0]===255&&e[1]===254)return new TextDecoder("utf-16le").decode(e);if(e[0]===254&&e[1]===255)return new TextDecoder("utf-16be").decode(e);try{return new TextDecoder("utf-8",{fatal:!0}).decode(e,{stream:!0})}catch{return new TextDecoder("windows-1252").decode(e)}}var _e=/^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/i,ls=/^(audio|video)\/[\w.+-]+$/i,cs=/^(?:text\/(?!html)[\w.+-]+|application\/(?:[\w.+-]+\+)?json)$/i;function ct(e){if(!e.length)return It;let t=e.filter(Ie).length;return d`<ul class="attachments ${t>1?"gallery":""}" aria-label=${r("Attachments")}>
    ${e.map(n=>d`<li>${us(n)}</li>`)}
  </ul>`}function ut(e){return e?.length?d`<p class="left-out">${c("circle-alert")}<span dir="auto">${r("Not imported: {names}",{names:e.join(", ")})}</span></p>`:It}function Ie(e){return _e.test(e.type??"")?hs(e):""}function us(e){let{type:t="",data:n}=e,s=Ie(e);if(s)return ps(e,s);let i=ls.exec(t)?.[1].toLowerCase();if(i){let a=fs(e);if(a)return ms(e,i,a)}if(n&&cs.test(t))return gs(e,n);if(n)return $s(e,n);let o=st(e.url??"");return o?ds(e,o.pathname):ys(e)}function ds(e,t){let{type:n=""}=e,s=A(e);if(Ne(n))return d`<file-preview .address=${t} .name=${s} .type=${n}></file-preview>`;let i=n.split(";")[0];return/^application\/pdf$/.test(n)?d`<a class="attachment file" href=${t} target="_blank" rel="noopener">
      ${c("file-text")}${z(e,i)}${c("external-link")}
    </a>`:d`<a class="attachment file" href="${t}?download" download=${s}>
    ${c("file-text")}${z(e,i)}${c("download")}
  </a>`}function hs({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:t&&/^data:image\//i.test(t)?t:t&&xs(t)?T(t)?.href??"":""}function ps(e,t){let n=st(e.url??""),s=A(e),i=d`<img src=${t} alt=${s} loading="lazy" @error=${ws} />`;return d`<figure class="attachment picture">
    ${n?d`<a href=${n.pathname} target="_blank" rel="noopener" data-zoom>${i}</a>`:d`<button type="button" class="zoom" data-zoom>${i}</button>`}
    <figcaption>
      ${n?d`<a href=${n.pathname} target="_blank" rel="noopener">${s}</a>`:s}
      ${je(e)}
    </figcaption>
  </figure>`}function fs({type:e,url:t,data:n}){return n?n.startsWith("data:")?n:`data:${e};base64,${n}`:st(t??"")?.pathname??""}function ms(e,t,n){let s=A(e);return d`<figure class="attachment media">
    ${t==="audio"?d`<audio controls preload="metadata" src=${n} aria-label=${s}></audio>`:d`<video controls preload="metadata" src=${n} aria-label=${s}></video>`}
    <figcaption>
      <span class="attachment-name" dir="auto">${s}</span>
      <a class="quiet" href=${n.startsWith("data:")?n:`${n}?download`} download=${s} title=${r("Download")}>
        ${c("download")}<span class="visually-hidden">${r("Download {name}",{name:s})}</span>
      </a>
    </figcaption>
  </figure>`}function gs(e,t){let n=e.type==="text/markdown";return d`<details class="attachment words">
    <summary>${c("chevron-right")}${c("file-text")}<span>${A(e)}</span></summary>
    ${n?d`<markdown-text .text=${t} .complete=${!0}></markdown-text>`:d`<pre tabindex="0" role="group" aria-label=${A(e)}>${t}</pre>`}
    ${je(e)}
  </details>`}function $s(e,t){let n=`data:application/octet-stream;base64,${t.replace(/^data:[^,]*,/,"")}`,s=A(e),i=d`<a class="attachment file" href=${n} download=${s}>
    ${c("file-text")}${z(e,r("Download"))}
  </a>`;if(!/^text\/html\b/i.test(e.type??""))return i;return d`${i}<button type="button" class="button" @click=${o}>${c("eye")}${r("Preview {name}",{name:s})}</button>`;async function o({currentTarget:a}){let{open:l}=await import("./artifact-panel-DWOAY7N5.js");await l([{title:s,language:"html",text:bs(t)}],0,a)}}function bs(e){try{let t=Uint8Array.from(atob(e.replace(/^data:[^,]*,/,"")),n=>n.charCodeAt(0));return new TextDecoder().decode(t)}catch{return e}}function ys(e){let t=e.url??e.reference_url??"",n=T(t),s=c(_e.test(e.type??"")?"image":"file-text");return n?d`<a class="attachment file" href=${n.href} target="_blank" rel="noopener noreferrer">
    ${s}${z(e,n.host)}${c("external-link")}
  </a>`:d`<span class="attachment file">${s}${z(e,t)}</span>`}function z(e,t){return d`<span class="attachment-words">
    <span class="attachment-name" dir="auto">${A(e)}</span>
    <span class="attachment-detail">${t}</span>
  </span>`}function je({reference_url:e}){let t=T(e??"");return t?d`<a href=${t.href} target="_blank" rel="noopener noreferrer">${r("Source: {host}",{host:t.host})}</a>`:It}function A({title:e,type:t,url:n}){return e||pe(n??"")||t||r("Attachment")}function ws(e){let t=e.target;t.hidden=!0,t.closest("figure")?.setAttribute("data-missing","")}function xs(e){return T(e)?.origin===location.origin}import{html as jt,LitElement as vs,nothing as ks}from"../vendor/lit.js";var Be=14,Ss=1400;function Pe(e){return e?Es(e)?jt`<folded-text .text=${e}></folded-text>`:jt`<p class="question-text" dir="auto">${e}</p>`:ks}function Es(e){return e.length>Ss||e.split(`
`,Be+1).length>Be}var Bt=class extends vs{static properties={text:{attribute:!1},unfolded:{type:Boolean,reflect:!0}};constructor(){super(),this.text="",this.unfolded=!1}createRenderRoot(){return this}render(){return jt`<p class="question-text" dir="auto" @scroll=${this.#t}>${this.text}</p>
      <button type="button" class="link" aria-expanded=${String(this.unfolded)} @click=${this.#e}>
        ${this.unfolded?r("Show less"):r("Show all")}<span class="visually-hidden"> ${r("of the question")}</span>
      </button>`}#t(t){let n=t.target;this.unfolded||!n.scrollTop||(n.scrollTop=0,this.unfolded=!0)}#e(){this.unfolded=!this.unfolded,this.unfolded||this.updateComplete.then(()=>this.scrollIntoView({block:"nearest"}))}};customElements.define("folded-text",Bt);var Cs={previous:r("Previous version of the question"),next:r("Next version of the question")},Ts=2e3,Pt=class extends Os{static properties={question:{attribute:!1},state:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},editing:{state:!0},copied:{state:!0}};constructor(){super(),this.question=void 0,this.state="",this.branch=void 0,this.changeable=!1,this.limit=1/0,this.editing=!1,this.copied=!1}createRenderRoot(){return this}render(){let{question:t}=this;if(!t)return q;let{text:n,attachments:s,place:i,sender:o,application:a,left_out:l}=t;return R`${a?R`<p class="handover" dir="auto">${r("From here on: {title}",{title:a.title})}</p>`:q}
      <h2 class="visually-hidden">${r("Question")}</h2>
      ${o?As(o):q}
      ${i?R`<p class="question-place" dir="auto">${[i.title,i.narrative].filter(Boolean).join(": ")}</p>`:q}
      ${this.editing?this.#i(t):Pe(n)} ${ct(s)} ${ut(l)}
      ${this.editing?q:this.#t(t)}`}#t(t){return R`<action-row .label=${r("Actions of the question")} .actions=${this.#e(t)}></action-row>
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>`}#e({id:t,text:n}){let s=(o,a)=>I(this,"branch.switch",o,a),i=()=>I(this,"turn.delete",t,"delete");return[...lt(this.branch,Cs,!this.changeable,s),...this.changeable?[{name:"edit",icon:"pencil",label:r("Edit the question"),run:()=>this.edit()}]:[],...n?[{name:"copy",icon:this.copied?"check":"copy",label:r("Copy the question"),run:()=>this.#n(n)}]:[],...this.changeable?[{name:"delete",icon:"trash-2",label:r("Delete question and answer"),run:i}]:[]]}async#n(t){this.copied=await nt(t),setTimeout(()=>this.copied=!1,Ts)}#i({text:t,attachments:n}){return R`<form class="question-editor" @submit=${this.#u} @keydown=${this.#a}>
      <textarea aria-label=${r("Edit the question")} dir="auto" rows="3" maxlength=${Number.isFinite(this.limit)?this.limit:q}
        ?required=${!n.length} .defaultValue=${t}></textarea>
      <p class="question-state">${r("The answers so far stay on a branch of their own.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#r}>${r("Cancel")}</button>
        <button class="button primary">${r("Send")}</button>
      </div>
    </form>`}edit(){return!this.changeable||this.editing?!1:(this.editing=!0,this.#o(),!0)}async#o(){await this.updateComplete;let t=this.#s();t?.focus(),t?.setSelectionRange(t.value.length,t.value.length),requestAnimationFrame(()=>requestAnimationFrame(()=>t?.scrollIntoView({block:"center"})))}#s(){return this.querySelector("textarea")}async#r(){this.editing=!1,await this.updateComplete;let t=this.querySelector("action-row");t instanceof G&&(await t.updateComplete,t.focusOn("edit"))}#a(t){t.isComposing||(t.key==="Escape"?(t.preventDefault(),this.#r()):et(t)&&t.target instanceof HTMLTextAreaElement&&(t.preventDefault(),t.currentTarget.requestSubmit()))}#u(t){t.preventDefault();let{question:n}=this,s=this.#s()?.value??"";if(!n||!this.changeable||!(s.trim()||n.attachments.length))return;this.editing=!1;let i={text:s,attachments:n.attachments,edits:n.id};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:i}))}};customElements.define("chat-question",Pt);function Ls(e,t){return e==="alarm"?r("Alarm"):e==="webhook"?r("From the webhook “{title}”",{title:t}):r("From the schedule “{title}”",{title:t})}function As({kind:e,title:t,at:n}){let s=Ls(e,t);return R`<p class="question-sender">
    ${c(n?"clock":"settings")}<span dir="auto">${s}</span>
    ${n?R`<time datetime=${n}>${new Date(n).toLocaleString(g,{dateStyle:"medium",timeStyle:"short"})}</time>`:q}
  </p>`}import{html as C,LitElement as or,nothing as tt,repeat as ar}from"../vendor/lit.js";function We(e){let t=[];for(let s of e){let i=t.at(-1);if(s.role==="user"&&s.sender?.kind==="continuation"){i?.turn.role==="assistant"&&(i.goesOn=!0);continue}let o=s.role==="assistant"&&i?.turn.role==="assistant"&&i.goesOn;t.push({turn:s,asked:o?i.asked:i?.turn.role==="user"?i.turn:void 0,earlier:o?[...i.earlier,i.turn]:[],goesOn:!1,isLast:!1})}let n=t.at(-1);return n&&(n.isLast=!0),t}function Ue(e){let t=[],n=0,s=-1,i;for(let o of e){let{turn:a}=o;a.at>(i?.at??-1)+1&&(t.push({key:`gap ${n}`,turns:[],missing:i?{after:Fe(i)}:{before:Fe(a)}}),n+=1,s=-1);let l=Math.floor(a.at/8);l===s?t.at(-1)?.turns.push(o):t.push({key:qs(l,i),turns:[o]}),s=l,i=a}return t}function qs(e,t){return t&&Math.floor(t.at/8)===e?`turns ${e} end`:`turns ${e}`}function Fe(e){return e.role==="user"?e.run??"":e.id}function dt(e){return e.role==="user"?e.id:e.message?.id}import{html as He}from"../vendor/lit.js";function Ge({text:e,cancel:t,confirm:n}){return He`<dialog class="turn-deletion" aria-labelledby="turn-deletion-heading" @close=${t}>
    <form @submit=${i=>{i.preventDefault(),n()}}>
      <h2 id="turn-deletion-heading">${r("Delete this question?")}</h2>
      ${e?He`<blockquote dir="auto">${e}</blockquote>`:""}
      <p>${r("The question and all its answers will be gone for good. What you asked later stays, and the model reads it without them.")}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${t}>${r("Cancel")}</button>
        <button class="button danger">${r("Delete")}</button>
      </div>
    </form>
  </dialog>`}import{html as ze}from"../vendor/lit.js";function Je({letters:e,tile:t,emoji:n,icon:s},i=""){return ze`<span class="monogram ${i}" data-tile=${t} ?data-icon=${s||n} aria-hidden="true"
    >${s?ze`<img src=${s} alt="" />`:n||e}</span
  >`}import{html as kt,LitElement as nr,nothing as Dn,repeat as sr}from"../vendor/lit.js";import{html as f,LitElement as Xi,nothing as b,repeat as Zi}from"../vendor/lit.js";import{html as ei,nothing as en}from"../vendor/lit.js";import{html as Ft,nothing as Wt}from"../vendor/lit.js";function Ke(e){let{helper:t}=e;if(!t)return Wt;let n=s=>Ve(s,"helper-open",e.id);return Ft`<p class="helper-buttons">
    ${t.agent?Ft`<span class="helper-agent">${t.agent}</span>`:Wt}
    <button type="button" class="button" aria-label=${r("Open the helper {name}",{name:t.name})} @click=${n}>${r("Open")}</button>
    ${Ut(e)}
  </p>`}function Ut({helper:e}){if(e?.state!=="running")return Wt;let t=n=>Ve(n,"helper-stop",e.key);return Ft`<button type="button" class="button" aria-label=${r("Stop the helper {name}",{name:e.name})} @click=${t}>
    ${c("square")}${r("Stop")}
  </button>`}function Ve(e,t,n){e.target?.dispatchEvent(new CustomEvent(t,{bubbles:!0,detail:n}))}import{html as x,nothing as E,repeat as zs}from"../vendor/lit.js";import{html as D,nothing as Ht}from"../vendor/lit.js";var Rs=/^\[(\d{1,4})\] (.*\S.*)$/,Ds=600;function J(e){return e.map(Ye).filter(n=>n!==null).sort((n,s)=>Number(n.number)-Number(s.number))}function ht(e,t=[]){let n=t.map((s,i)=>fe(i+1,s)).filter(({place:s})=>s);return D`${ct(e.filter(s=>!Ye(s)))}
    ${Ms([...J(e),...n])}`}function Ye({type:e,title:t,url:n,data:s,reference_url:i}){let[,o,a]=Rs.exec(t??"")??[];return e!=="text/plain"||n||!s||s.length>Ds||!a?null:{number:o,place:a,sentence:s,address:T(i??"")?.href??""}}function Ms(e){return e.length?D`<div class="sources">
    <h3>${r("Sources")}</h3>
    <ul>
      ${e.map(t=>D`<li>${Ns(t)}</li>`)}
    </ul>
  </div>`:Ht}function Ns({number:e,place:t,sentence:n,address:s}){return D`<span class="source-number">${e}</span>
    <div dir="auto">
      ${s?D`<a href=${s} target="_blank" rel="noopener noreferrer">${t}</a>${_s(s)}`:t}
      ${n?D`<q>${n}</q>`:Ht}
    </div>`}function _s(e){let t=new URL(e);return t.origin===location.origin?Ht:D` (${t.host})`}var Is=/^> #{4,5} (.{1,60}?):?\s*$/,js=/^\*\*\*(.{1,80}?):\*\*\* ?(.*)$/,Qe=/^(`{3,})/,Bs=/^(`{3,})(?:json)?\n([\s\S]*)\n\1$/;function Gt(e){return Ze(e,Is).map(({match:n,lines:s})=>({heading:n?.[1]??"",text:s.join(`
`).trim()}))}function zt(e){let t=Ze(e,js);return t.some(({match:n})=>!n)?[]:t.map(({match:n,lines:s})=>({name:n?.[1]??"",text:[n?.[2]??"",...s].join(`
`).trim()}))}function pt(e){let t=Bs.exec(e)?.[2]??e;if(!/^\s*[[{]/.test(t))return null;try{return JSON.parse(t)}catch{return null}}function Xe(e){let n=Gt(e).findLast(({heading:s})=>s==="Error")?.text.split(`
`).find(s=>s.trim()&&!Qe.test(s))??"";return n.length>200?`${n.slice(0,199)}…`:n}function Ze(e,t){let n=[],s="";for(let i of e.replace(/\r\n?/g,`
`).split(`
`)){let o=Qe.exec(i)?.[1]??"",a=s?null:t.exec(i);s&&o.length>=s.length?s="":s||(s=o),a?n.push({match:a,lines:[]}):n.length?n[n.length-1].lines.push(i):i.trim()&&n.push({match:null,lines:[i]})}return n}import{html as h,LitElement as Ps,nothing as ft}from"../vendor/lit.js";var tn=20,mt=1500,Fs=8,Ws=3,Us=/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/i,Hs={Request:r("Request"),Response:r("Response"),Result:r("Result"),Error:r("Error"),Sources:r("Sources"),"Status Code":r("Status code")},Jt=class extends Ps{static properties={text:{attribute:!1},complete:{attribute:!1},sources:{attribute:!1},all:{state:!0},raw:{state:!0}};constructor(){super(),this.text="",this.complete=!1,this.sources=[],this.all=!1,this.raw=!1,this.isCut=!1}createRenderRoot(){return this}render(){if(!this.complete)return this.#s(this.text);if(this.raw)return h`<pre class="step-raw" tabindex="0" role="group" aria-label=${r("Raw text")}>${this.text}</pre>${this.#t()}`;this.isCut=!1;let t=Gt(this.text),n=t.map(i=>this.#e(i)),s=!this.isCut&&t.every(({heading:i,text:o})=>!i&&!pt(o)&&!zt(o).length);return h`${n}${s?ft:this.#t()}`}#t(){let t=()=>this.all=!this.all,n=()=>this.raw=!this.raw,s=!this.raw&&(this.isCut||this.all);return h`<div class="step-buttons">
      ${s?h`<button type="button" class="link" aria-expanded=${String(this.all)} @click=${t}>
            ${this.all?r("Show less"):r("Show all")}
          </button>`:ft}
      <button type="button" class="link" aria-pressed=${String(this.raw)} @click=${n}>${r("Raw")}</button>
    </div>`}#e({heading:t,text:n}){return h`${t?h`<h3 class=${t==="Error"?"step-error":""}>${Hs[t]??t}</h3>`:ft} ${this.#n(n)}`}#n(t){let n=zt(t);if(n.length)return this.#u(n.map(i=>[i.name,this.#i(i.text)]));let s=pt(t);return s?this.#r(s,0):this.#o(t)}#i(t){let n=pt(t);return n?this.#r(n,1):t.startsWith("```")?this.#s(t):this.#a(t)}#o(t){return t.length<=mt?this.#s(t):(this.isCut=!0,h`<div class=${this.all?"":"step-cut"}>${this.#s(t)}</div>`)}#s(t){return h`<markdown-text .text=${t} .complete=${this.complete} .sources=${this.sources}></markdown-text>`}#r(t,n){if(t===null||t==="")return h`<span class="step-none">${r("none")}</span>`;if(typeof t!="object")return this.#a(String(t));if(n>Ws)return h`<code>${JSON.stringify(t).slice(0,mt)}</code>`;if(!Array.isArray(t))return this.#u(Object.entries(t).map(([i,o])=>[i,this.#r(o,n+1)]));let s=Gs(t);return s.length?this.#l(s,t,n):t.length?h`<ul>${this.#c(t).map(i=>h`<li>${this.#r(i,n+1)}</li>`)}</ul>`:h`<span class="step-none">${r("none")}</span>`}#a(t){if(Us.test(t))return h`<button type="button" class="zoom" data-zoom aria-label=${r("Picture")}><img src=${t} alt="" /></button>`;let n=t.length>mt;return this.isCut||=n,h`<span class="step-string" dir="auto">${n&&!this.all?`${t.slice(0,mt)}…`:t}</span>`}#u(t){return t.length?h`<dl class="step-pairs">
      ${this.#c(t).map(([n,s])=>h`<div><dt dir="auto">${n}</dt><dd>${s}</dd></div>`)}
    </dl>`:h`<span class="step-none">${r("none")}</span>`}#l(t,n,s){return h`<div class="table" tabindex="0" role="group" aria-label=${r("Table: {columns}",{columns:t.join(", ")})}>
      <table>
        <thead><tr>${t.map(i=>h`<th scope="col">${i}</th>`)}</tr></thead>
        <tbody>
          ${this.#c(n).map(i=>h`<tr>${t.map(o=>h`<td>${o in i?this.#r(i[o],s+1):ft}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`}#c(t){return this.isCut||=t.length>tn,this.all?t:t.slice(0,tn)}};customElements.define("step-text",Jt);function Gs(e){if(!e.every(s=>s!==null&&typeof s=="object"&&!Array.isArray(s)))return[];let n=[...new Set(e.flatMap(s=>Object.keys(s)))];return n.length<=Fs?n:[]}var Js={running:{symbol:"loader-circle",words:r("Running")},done:{symbol:"check",words:r("Done")},failed:{symbol:"x",words:r("Failed")},stopped:{symbol:"square",words:r("Stopped")}},Ks=r("The model does not read this result any more; it stays stored and shown.");function K(e,t,n=new Set){return x`<ol class="steps" aria-label=${r("Steps")}>
    ${zs(e,s=>s.id,s=>Vs(s,t,n))}
  </ol>`}function Vs(e,t,n){let s=n.has(e.id),i=Xs(e,s);return x`<li class="step ${s?"expired":""}" data-state=${e.state}
    title=${s?Ks:E}>
    ${Ys(e)?Qs(e,i,t):x`<div class="step-line">${i}</div>`}
    ${e.state==="failed"&&!e.unfolded?Zs(e):E} ${Ke(e)}
    ${e.children.length?K(e.children,t,n):E}
  </li>`}function Ys({text:e,attachments:t}){return e!==""||t.length>0}function Qs(e,t,n){let s=i=>{e.unfolded=i.target.open,n()};return x`<details .open=${e.unfolded} @toggle=${s}>
    <summary class="step-line">${t}${c("chevron-right")}</summary>
    ${e.unfolded?Kt(e):E}
  </details>`}function Xs({title:e,state:t,seconds:n},s){let{symbol:i,words:o}=Js[t];return x`<span class="step-mark">${c(i)}</span>
    <span class="step-title" dir="auto">${e}</span>
    <span class="step-state ${t==="done"?"visually-hidden":""}">${o}</span>
    ${s?x`<span class="visually-hidden">${r(", not read by the model any more")}</span>`:E}
    ${n===null?E:x`<span class="step-time">${y(n)}</span>`}`}function Zs({text:e}){let t=Xe(e);return t?x`<p class="step-cause" dir="auto">${t}</p>`:E}function Kt(e){return x`<div class="step-content">
    ${e.text?x`<step-text .text=${e.text} .complete=${e.state!=="running"}
          .sources=${J(e.attachments)}></step-text>`:E}
    ${e.length>e.text.length?ti(e):E}
    ${ht(e.attachments)}
  </div>`}function ti({id:e,text:t,length:n}){let s=({target:o})=>o.dispatchEvent(new CustomEvent("step-rest",{bubbles:!0,detail:e})),i=r("Show all {length} characters; these are the first {shown}",{length:n,shown:t.length});return x`<button type="button" class="link step-rest" @click=${s}>${i}</button>`}var ni={running:r("At work"),done:r("Done"),failed:r("Failed"),stopped:r("Stopped")};function nn(e,{redraw:t,close:n}){let{helper:s}=e;return s?ei`<dialog class="helper" aria-labelledby="helper-name" @close=${n}>
    <header>
      <h2 id="helper-name" tabindex="-1">${s.name}</h2>
      <p class="helper-line" role="status">
        ${[s.agent,ni[s.state]].filter(Boolean).join(" · ")}
      </p>
    </header>
    <div class="helper-read" tabindex="0" role="group" aria-label=${r("What the helper does and says")}>
      ${Kt(e)} ${e.children.length?K(e.children,t):en}
    </div>
    <form method="dialog" class="dialog-buttons">
      ${Ut(e)}
      <button class="button" autofocus>${r("Close")}</button>
    </form>
  </dialog>`:en}import{html as sn,nothing as si}from"../vendor/lit.js";var rn={recalled:r("Recalled"),stored:r("Remembered"),changed:r("Changed"),forgotten:r("Forgot"),deleted:r("Deleted everything")};function on(e){return e?.length?sn`<details class="more-line memory-line">
    <summary>${c("chevron-right")}${r("Memory: {what}",{what:ii(e)})}</summary>
    <ul>
      ${e.map(({action:t,text:n})=>sn`<li><b>${rn[t]}</b> <span dir="auto">${n}</span></li>`)}
    </ul>
    <a href="/memory/">${r("What is remembered about you")}</a>
  </details>`:si}function ii(e){return Object.entries(rn).map(([t,n])=>({action:t,words:n.toLowerCase(),count:ri(e,t)})).filter(({count:t})=>t).map(({action:t,words:n,count:s})=>t==="deleted"?n:`${n} ${s}`).join(", ")}function ri(e,t){return e.filter(n=>n.action===t).length}function ta(e,t,n){e.hidden=n===null,t.memory=n??!0,e.ariaChecked=String(t.memory)}function ea(e,t,n,s){e.addEventListener("click",async()=>{let{id:i}=t.conversation,o=!t.memory;if(i&&!await it(`${n()}${i}/memory/`,{on:String(o)})){s({text:r("That did not work. Check the connection and try again."),isProblem:!0});return}t.memory=o,e.ariaChecked=String(o),s({text:o?oi:ai,isProblem:!1})})}var oi=r("This conversation has memory again, from your next message on."),ai=r("This conversation remembers nothing and recalls nothing, from your next message on.");import{html as dn,LitElement as yi,nothing as hn}from"../vendor/lit.js";import{html as M,LitElement as li,live as ci,nothing as V}from"../vendor/lit.js";var Yt={rating:"",reason:"",comment:"",shares_transcript:!1},ui=[["wrong",r("It is wrong")],["incomplete",r("It is incomplete")],["not_asked",r("It is not what I asked")],["slow",r("It was too slow")],["unsafe",r("It is unsafe")],["other",r("Something else")]],di=2e3,an=100,hi=r("That did not work. Check the connection and try again."),Vt=new Map,Qt=[],Xt;async function pi(e){return Vt.has(e)||(Qt.push(e),Xt??=new Promise(t=>setTimeout(()=>t(fi()),50)),Vt.set(e,Xt)),(await Vt.get(e))?.get(e)??Yt}async function fi(){let e=Qt;Qt=[],Xt=void 0;let t=new Map;for(let n=0;n<e.length;n+=an){let s=e.slice(n,n+an).map(o=>["message",o]),i=await rt(`/feedback/?${new URLSearchParams(s)}`);for(let[o,a]of Object.entries(i?.feedback??{}))t.set(o,a)}return t}function ln(e){return!e||!document.getElementById("main")?.dataset.feedback?V:M`<chat-feedback .message=${e}></chat-feedback>`}var Zt=class extends li{static properties={message:{attribute:!1},given:{state:!0},isOpen:{state:!0},said:{state:!0},problem:{state:!0}};constructor(){super(),this.message="",this.given=Yt,this.isOpen=!1,this.said="",this.problem=""}createRenderRoot(){return this}willUpdate(t){t.has("message")&&this.#t(this.message)}async#t(t){let n=await pi(t);t===this.message&&!this.given.rating&&(this.given=n)}render(){return M`<span class="thumbs">${this.#e("up",r("Good answer"))}${this.#e("down",r("Bad answer"))}</span>
      <span class="feedback-said" role="status">${this.said}</span>
      ${this.problem?M`<p class="feedback-problem" role="alert">${this.problem}</p>`:V}
      ${this.isOpen?this.#n():V}`}#e(t,n){let s=this.given.rating===t;return M`<button
      type="button"
      class="quiet thumb"
      data-rating=${t}
      title=${n}
      aria-pressed=${String(s)}
      aria-expanded=${s?String(this.isOpen):V}
      @click=${()=>this.#i(t)}
    >
      ${c(`thumbs-${t}`)}<span class="visually-hidden">${n}</span>
    </button>`}#n(){let{rating:t,reason:n,comment:s,shares_transcript:i}=this.given,o=`feedback-${this.message}`;return M`<form class="feedback-form" aria-label=${r("Your feedback")} @submit=${this.#o} @keydown=${this.#u}>
      ${t==="down"?M`<div>
            <label for="${o}-reason">${r("What is wrong with it? (optional)")}</label>
            <select id="${o}-reason" name="reason">
              <option value="">${r("Choose a reason")}</option>
              ${ui.map(([a,l])=>M`<option value=${a} ?selected=${a===n}>${l}</option>`)}
            </select>
          </div>`:V}
      <div>
        <label for="${o}-comment">${r("Comment (optional)")}</label>
        <textarea id="${o}-comment" name="comment" rows="3" maxlength=${di} dir="auto"
          .value=${s}></textarea>
      </div>
      <label class="feedback-share">
        <input type="checkbox" name="shares_transcript" .checked=${ci(i)} aria-describedby="${o}-share" />
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
    </form>`}async#i(t){if(this.given.rating===t){this.isOpen=!this.isOpen;return}let n=t==="up"?"":this.given.reason;await this.#s({...this.given,rating:t,reason:n})&&(this.isOpen=!0)}async#o(t){t.preventDefault();let n=new FormData(t.target),s=a=>String(n.get(a)??""),i=n.has("shares_transcript"),o={...this.given,reason:s("reason"),comment:s("comment"),shares_transcript:i};await this.#s(o)&&this.#l()}async#s(t){let{shares_transcript:n,...s}=t,i=await it(this.#c,n?{...s,shares_transcript:"on"}:s);return this.#a(i,r("Thank you for your feedback.")),i&&(this.given=t),i}async#r(){let t=await me(this.#c);this.#a(t,r("Your feedback was removed.")),t&&(this.#l(),this.given=Yt)}#a(t,n){this.said=t?n:"",this.problem=t?"":hi}#u(t){t.key==="Escape"&&(t.stopPropagation(),this.#l())}#l(){let t=this.querySelector(`[data-rating=${this.given.rating||"up"}]`);t instanceof HTMLElement&&t.focus(),this.isOpen=!1}get#c(){return`/messages/${this.message}/feedback/`}};customElements.define("chat-feedback",Zt);var te=class extends EventTarget{all=[];take(t){JSON.stringify(t)!==JSON.stringify(this.all)&&(this.all=t,this.dispatchEvent(new CustomEvent("change")))}},j=new te;import{html as gt,LitElement as mi}from"../vendor/lit.js";function ha(e,t){let{address:n,pinned:s,archived:i}=e;return[{name:"rename",words:r("Rename"),icon:"pencil"},!i&&{name:"pin",words:s?r("Unpin"):r("Pin"),icon:"pin"},!i&&{name:"go-on",words:r("Go on with…"),icon:"log-in"},!i&&{name:"move",words:r("Move to folder…"),icon:"folder"},t&&{name:"share",words:r("Share…"),icon:"external-link"},{name:"export",words:r("Export as Markdown"),icon:"download",href:`${n}download/`},{name:"export-json",words:r("Export as JSON"),icon:"code",href:`${n}download/?format=json`},{name:"print",words:r("Print"),icon:"file-text"},i?{name:"unarchive",words:r("Restore from the archive"),icon:"archive-restore"}:{name:"archive",words:r("Archive"),icon:"archive"},{name:"delete",words:r("Delete"),icon:"trash-2"}].filter(a=>a!==!1)}function pa(e,t){return[{name:"folder-content",words:r("Instructions and files…"),icon:"file-text"},{name:"rename-folder",words:r("Rename folder"),icon:"pencil"},e!==t[0]&&{name:"folder-up",words:r("Move up"),icon:"arrow-up"},e!==t.at(-1)&&{name:"folder-down",words:r("Move down"),icon:"arrow-down"},{name:"delete-folder",words:r("Delete folder, keep its conversations"),icon:"trash-2"}].filter(s=>s!==!1)}var Y=class extends mi{static properties={items:{state:!0}};constructor(){super(),this.items=[],this.opener=null}createRenderRoot(){return this}render(){return gt`<div class="row-menu" popover role="menu" aria-label=${r("More")} @keydown=${this.#i} @toggle=${this.#o}>
      ${this.items.map(t=>this.#t(t))}
    </div>`}#t({name:t,words:n,icon:s,href:i}){let o=gt`${c(s)}${n}`;return i?gt`<a role="menuitem" tabindex="-1" href=${i} download @click=${()=>this.#s()}>${o}</a>`:gt`<button type="button" role="menuitem" tabindex="-1" data-item=${t} @click=${()=>this.#r(t)}>
      ${o}
    </button>`}async open(t,n){this.items=t,this.opener=n,await this.updateComplete;let s=this.#e;s&&(s.showPopover(),gi(s,n.getBoundingClientRect()),this.#n[0]?.focus())}get#e(){return this.querySelector(".row-menu")}get#n(){return[...this.querySelectorAll("[role=menuitem]")].filter(t=>t instanceof HTMLElement)}#i(t){let n=this.#n,s=n.indexOf(document.activeElement),i={ArrowDown:s+1,ArrowUp:s-1,Home:0,End:-1};t.key==="Tab"&&this.#s(),t.key in i&&(t.preventDefault(),n.at(i[t.key]%n.length)?.focus())}#o(t){let n=t.newState==="open";this.opener?.setAttribute("aria-expanded",String(n)),!n&&this.contains(document.activeElement)&&this.opener?.focus()}#s(){this.opener?.focus(),this.#e?.hidePopover()}#r(t){this.#s(),this.dispatchEvent(new CustomEvent("chosen",{detail:t}))}};customElements.define("row-menu",Y);function gi(e,t){let{offsetWidth:n,offsetHeight:s}=e,o=getComputedStyle(e).direction==="rtl"?t.left:t.right-n,a=t.bottom+4,l=a+s>innerHeight-8?t.top-s-4:a;e.style.left=`${Math.max(8,Math.min(o,innerWidth-n-8))}px`,e.style.top=`${Math.max(8,l)}px`}var Q=null,cn="speechSynthesis"in window;function un(e,t){$t();let n=new SpeechSynthesisUtterance(e);n.lang=bi(e),n.onend=n.onerror=()=>{Q===t&&(Q=null,t())},Q=t,speechSynthesis.speak(n)}function $t(){let e=Q;Q=null,speechSynthesis.cancel(),e?.()}var $i=[[/[\u0590-\u05ff]/,"he"],[/[\u0600-\u06ff]/,"ar"],[/[\u0400-\u04ff]/,"ru"],[/[\u0370-\u03ff]/,"el"],[/[\u3040-\u30ff]/,"ja"],[/[\uac00-\ud7af]/,"ko"],[/[\u4e00-\u9fff]/,"zh"]];function bi(e){let t=e.slice(0,400);return $i.find(([s])=>s.test(t))?.[1]??document.documentElement.lang??""}var wi={previous:r("Previous answer"),next:r("Next answer")},xi=2e3,ee=class extends yi{static properties={answer:{attribute:!1},version:{attribute:!1},earlier:{attribute:!1},asked:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},copied:{state:!0},reading:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.earlier=[],this.asked=void 0,this.branch=void 0,this.changeable=!1,this.copied="",this.reading=!1}#t=()=>this.requestUpdate();createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),j.addEventListener("change",this.#t)}disconnectedCallback(){super.disconnectedCallback(),j.removeEventListener("change",this.#t),this.reading&&$t()}render(){let{answer:t}=this;return t?dn`<div class="answer-foot">
      <action-row .label=${r("Actions of the answer")} .actions=${this.#e()}></action-row>
      ${j.all.length&&this.changeable?dn`<row-menu @chosen=${({detail:n})=>this.#s(this.asked?.id??"",n)}></row-menu>`:hn}
      <span class="visually-hidden" aria-live="polite">${this.copied?r("Copied"):""}</span>
      ${ln(t.message?.id)} ${Oe(t)}
    </div>`:hn}#e(){let t=this.#r(),n=this.asked?.sending?"":this.asked?.id??"",s=(i,o)=>I(this,"branch.switch",i,o);return[...lt(this.branch,wi,!this.changeable,s),...t?[this.#n("copy","copy",r("Copy as Markdown"),t),this.#n("text","file-text",r("Copy as text"))]:[],...t&&cn?[this.#i()]:[],...n&&this.changeable?[{name:"again",icon:"refresh-cw",label:r("Answer again"),run:()=>this.#s(n)},...j.all.length?[this.#o()]:[],{name:"delete",icon:"trash-2",label:r("Delete question and answer"),run:()=>I(this,"turn.delete",n,"delete")}]:[]]}#n(t,n,s,i){let o=async()=>{this.copied=await nt(i??this.#a())?t:"",setTimeout(()=>this.copied="",xi)};return{name:t,icon:this.copied===t?"check":n,label:s,run:o}}#i(){let t=()=>{if(this.reading)return $t();un(this.#a(),()=>this.reading=!1),this.reading=!0},[n,s]=this.reading?["square",r("Stop reading")]:["volume-2",r("Read aloud")];return{name:"read",icon:n,label:s,run:t}}#o(){let t=j.all.map(({id:s,title:i})=>({name:s,words:r("With {title}",{title:i}),icon:"refresh-cw"})),n=s=>{let i=this.querySelector("row-menu");i instanceof Y&&i.open(t,s)};return{name:"again-with",icon:"ellipsis",label:r("Answer again with another model"),run:n,opensMenu:!0}}#s(t,n){let s=n?{again:t,deployment:n}:{again:t};this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:s}))}#r(){return[...this.earlier,...this.answer?[this.answer]:[]].map(S).join("")}#a(){let t=new Set([...this.earlier,this.answer].map(s=>s?.id));return[...this.closest("chat-log")?.querySelectorAll("chat-answer")??[]].filter(s=>t.has(s.answer?.id)).flatMap(s=>[...s.querySelectorAll(".answer-text")]).map(s=>s.innerText).join(`
`)}};customElements.define("answer-foot",ee);import{html as P,LitElement as Pi,nothing as yt}from"../vendor/lit.js";import{html as B,nothing as wn}from"../vendor/lit.js";import{html as v,nothing as bt}from"../vendor/lit.js";var pn=60;function se(e,t,n){let s=[...new Set([...Object.keys(e),...Object.keys(t)])];return s.length?v`<div class="arguments">
    ${s.map((i,o)=>Object.hasOwn(t,i)?vi(i,e[i],t[i],`${n}-${o}`):v`<div class="argument">
            <span class="argument-name">${i}</span>
            <span class="argument-value" dir="auto">${ne(e[i])}</span>
          </div>`)}
  </div>`:bt}function fn(e,t,n){let s={};for(let[i,o]of Object.entries(n)){let a=e.elements.namedItem(`argument ${i}`);if(!Oi(a))continue;let l=Si(a,o);if(a.setCustomValidity(l===mn?r("Write JSON, such as [1, 2]."):""),!a.reportValidity())return null;l!==void 0&&JSON.stringify(l)!==JSON.stringify(t[i])&&(s[i]=l)}return s}function vi(e,t,n,s){let i=n.description?v`<span class="hint" id="${s}-hint">${n.description}</span>`:bt;return v`<div class="argument">
    <label class="argument-name" for=${s}>${e}</label>
    ${ki(e,t,n,s)} ${i}
  </div>`}function ki(e,t,n,s){let i=`argument ${e}`,o=n.description?`${s}-hint`:bt,a=gn(n);if(n.enum)return v`<select id=${s} name=${i} aria-describedby=${o}>
      ${t===void 0?v`<option value=""></option>`:bt}
      ${n.enum.map((u,m)=>v`<option value=${m} ?selected=${Ei(u,t)}>${ne(u)}</option>`)}
    </select>`;if(a==="boolean")return v`<input type="checkbox" id=${s} name=${i} ?checked=${t===!0} aria-describedby=${o} />`;if(a==="integer"||a==="number")return v`<input type="number" id=${s} name=${i} step=${a==="integer"?"1":"any"}
      value=${t??""} ?required=${t!==void 0} aria-describedby=${o} />`;let l=t===void 0?"":ne(t);return a==="string"&&l.length<=pn&&!l.includes(`
`)?v`<input id=${s} name=${i} dir="auto" value=${l} aria-describedby=${o} />`:v`<textarea id=${s} name=${i} dir="auto" rows=${Math.min(8,l.split(`
`).length+1)}
    .defaultValue=${l} aria-describedby=${o}></textarea>`}var mn=Symbol("invalid");function Si(e,t){if(t.enum)return e.value?t.enum[Number(e.value)]:void 0;let n=gn(t);if(n==="boolean"){let s=e;return s.checked===s.defaultChecked?void 0:s.checked}if(!(e instanceof HTMLSelectElement||e.value===e.defaultValue)){if(n==="string")return e.value;if(e.value.trim()!==""){if(n==="integer"||n==="number")return Number(e.value);try{return JSON.parse(e.value)}catch{return mn}}}}function gn({type:e}){return[e].flat().find(t=>t&&t!=="null")??""}function ne(e){if(typeof e=="string")return e;let t=JSON.stringify(e)??"";return t.length<=pn?t:JSON.stringify(e,null,2)}function Ei(e,t){return JSON.stringify(e)===JSON.stringify(t)}function Oi(e){return e instanceof HTMLInputElement||e instanceof HTMLTextAreaElement||e instanceof HTMLSelectElement}var $n={"read-only":["file-text",r("Only reads")],changes:["pencil",r("Makes changes")],destructive:["triangle-alert",r("Destroys or overwrites something")]},Ci={conversation:r("Do not ask again in this conversation"),application:r("Do not ask again in this application")};function xn({asked:e},t,n,s){let i=e.arguments??{},o=e.editable??{};if(e.four_eyes)return B`${bn(e.because)} ${yn(e.risk)} ${se(i,{},t)}
      <p class="hint">${r("Somebody else has to decide about this: ask the people who run this server.")}</p>`;let a=u=>{let m=fn(u,i,o);if(m===null)return;let k=new FormData(u).get("always");s({outcome:"approved",arguments:m,...k?{always:String(k)}:{}})},l=u=>s({outcome:"denied",reason:String(new FormData(u).get("reason")??"").trim()});return B`<form
    novalidate
    @submit=${u=>{u.preventDefault(),a(u.target)}}
  >
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("The call")}</legend>
      ${bn(e.because)} ${yn(e.risk)} ${se(i,o,t)} ${Li(e.always??[],t)}
      <div class="argument">
        <label class="argument-name" for="${t}-reason">${r("Reason, if you deny it (optional)")}</label>
        <input id="${t}-reason" name="reason" maxlength="2000" dir="auto" @keydown=${Ti(l)} />
      </div>
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${r("Approve")}</button>
        <button type="button" class="button" @click=${u=>l(vn(u))}>
          ${c("x")}${r("Deny")}
        </button>
      </div>
    </fieldset>
  </form>`}function Ti(e){return t=>{t.key!=="Enter"||t.isComposing||(t.preventDefault(),e(vn(t)))}}function vn(e){return e.currentTarget.form}function bn(e){return e?B`<p class="because" dir="auto">${c("circle-alert")}<span>${e}</span></p>`:wn}function yn(e){let[t,n]=$n[e]??$n.changes;return B`<p class="risk" data-risk=${e}>${c(t)}${n}</p>`}function Li(e,t){return e.length?B`<fieldset class="choices">
    <legend class="argument-name">${r("Next time")}</legend>
    ${[["",r("Ask again")],...e.map(n=>[n,Ci[n]??n])].map(([n,s])=>B`<label class="choice" for="${t}-always-${n}">
        <input type="radio" id="${t}-always-${n}" name="always" value=${n} ?checked=${n===""} />
        <span>${s}</span>
      </label>`)}
  </fieldset>`:wn}import{html as p,nothing as O}from"../vendor/lit.js";var Ai={email:"email",uri:"url",date:"date"};function kn({asked:e},t,n,s){let i=e.fields??[];return p`<form @submit=${a=>{a.preventDefault();let l=a.target;s({outcome:"accepted",content:_i(l,i)})}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      <p class="interaction-question" dir="auto">${e.message}</p>
      ${e.mode==="url"?qi(e):i.map((a,l)=>Di(a,`${t}-${l}`))}
      <p class="hint">${r("What you answer goes to this server. Give it no password.")}</p>
      <div class="interaction-buttons">
        ${e.mode==="url"?Ri(e,n,s):p`<button class="button primary">${c("check")}${r("Send")}</button>`}
        <button type="button" class="button" @click=${()=>s({outcome:"declined"})}>${c("x")}${r("Decline")}</button>
        <button type="button" class="button" @click=${()=>s({outcome:"cancelled"})}>${r("Cancel")}</button>
      </div>
    </fieldset>
  </form>`}function qi({url:e,host:t,repeats:n}){return p`<p>${r("It wants you to open a page of this host:")} <strong class="interaction-host">${t}</strong></p>
    <p class="hint argument-value">${e}</p>
    ${n?p`<p class="hint">${r("Come back when you are done there: then the tool is called again.")}</p>`:O}`}function Ri(e,t,n){if(!t)return O;let s=()=>n({outcome:"accepted"}),i=o=>p`<a class="button primary" href=${e.url}
    target="_blank" rel="noopener noreferrer" @click=${o?s:O}>${r("Open {host}",{host:e.host})}</a>`;return e.repeats?p`${i(!1)}
    <button type="button" class="button" @click=${s}>${c("check")}${r("Done")}</button>`:i(!0)}function Di(e,t){let n=e.hint?p`<span class="hint" id="${t}-hint">${e.hint}</span>`:O;return e.type==="choices"?Ni(e,t,n):p`<div class="argument">
    <label class="argument-name" for=${t} dir="auto">${e.label}${e.required||e.type==="boolean"?"":` ${r("(optional)")}`}</label>
    ${Mi(e,t)} ${n}
  </div>`}function Mi(e,t){let{name:n,required:s}=e,i=e.hint?`${t}-hint`:O;return e.type==="boolean"?p`<input type="checkbox" id=${t} name="field ${n}" ?checked=${e.default===!0} aria-describedby=${i} />`:e.type==="choice"?p`<select id=${t} name="field ${n}" ?required=${s} aria-describedby=${i}>
      <option value=""></option>
      ${e.options?.map(({value:o,label:a})=>p`<option value=${o} ?selected=${o===e.default}>${a}</option>`)}
    </select>`:e.type==="string"?p`<input type=${Ai[e.format??""]??"text"} id=${t} name="field ${n}" dir="auto"
      value=${e.default??""} ?required=${s} minlength=${e.least??O} maxlength=${e.most??2e4}
      aria-describedby=${i} />`:p`<input type="number" id=${t} name="field ${n}" step=${e.type==="integer"?"1":"any"}
    value=${e.default??""} ?required=${s} min=${e.least??O} max=${e.most??O}
    aria-describedby=${i} />`}function Ni(e,t,n){let s=Array.isArray(e.default)?e.default:[];return p`<fieldset class="choices" aria-describedby=${e.hint?`${t}-hint`:O}>
    <legend class="argument-name" dir="auto">${e.label}</legend>
    ${e.options?.map(({value:i,label:o},a)=>p`<label class="choice" for="${t}-${a}">
        <input type="checkbox" id="${t}-${a}" name="field ${e.name}" value=${i} ?checked=${s.includes(i)} />
        <span dir="auto">${o}</span>
      </label>`)}
    ${n}
  </fieldset>`}function _i(e,t){let n=new FormData(e),s=t.map(({name:i,type:o,required:a})=>{let l=n.getAll(`field ${i}`).map(String);return o==="boolean"?[i,l.length>0]:o==="choices"?[i,l.length||a?l:void 0]:l[0]?[i,o==="string"||o==="choice"?l[0]:Number(l[0])]:[i,void 0]});return Object.fromEntries(s.filter(([,i])=>i!==void 0))}import{html as N,nothing as X}from"../vendor/lit.js";function Sn({asked:e},t,n,s,i){let o=e.input!=="text"&&e.options?.length>0;return N`<form @submit=${l=>{l.preventDefault();let u=new FormData(l.target),m=u.getAll("choice").map(String),k=String(u.get("text")??"").trim();i(m.length||k?{outcome:"answered",choices:m,text:k}:null)}}>
    <fieldset class="fields" ?disabled=${!n}>
      <legend class="visually-hidden">${r("Your answer")}</legend>
      ${e.title?N`<p class="interaction-question" dir="auto">${e.question}</p>`:X}
      ${o?Ii(e.options,e.input==="multiple",e.question,t):X}
      ${!o||e.freeform!==!1?ji(o,t):X}
      ${s?N`<p class="field-error" role="alert">${s}</p>`:X}
      <div class="interaction-buttons">
        <button class="button primary">${c("check")}${he("to answer","Answer")}</button>
        <button type="button" class="button" @click=${()=>i({outcome:"skipped",choices:[],text:""})}>
          ${r("Skip")}
        </button>
      </div>
    </fieldset>
  </form>`}function Ii(e,t,n,s){return N`<fieldset class="choices">
    <legend class="visually-hidden">${n}</legend>
    ${e.map(({label:i,description:o},a)=>N`<label class="choice" for="${s}-${a}">
        <input type=${t?"checkbox":"radio"} id="${s}-${a}" name="choice" value=${i} />
        <span dir="auto">${i}${o?N`<span class="hint">${o}</span>`:X}</span>
      </label>`)}
  </fieldset>`}function ji(e,t){let n=e?r("In your own words (optional)"):r("Your answer");return N`<div class="argument">
    <label class="argument-name" for="${t}-text">${n}</label>
    <textarea id="${t}-text" name="text" rows="2" maxlength="10000" dir="auto" @keydown=${i=>{et(i)&&(i.preventDefault(),i.target.form?.requestSubmit())}}></textarea>
  </div>`}import{html as Bi}from"../vendor/lit.js";function En({asked:e},t,n){return Bi`<p>
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
    </div>`}var re=1e3,Fi=0,ie=class extends Pi{static properties={interaction:{attribute:!1},version:{attribute:!1},status:{attribute:!1},problem:{state:!0}};#t=`interaction-${++Fi}`;#e=0;constructor(){super(),this.interaction=void 0,this.version=0,this.status="waiting",this.problem=""}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),this.#e=setInterval(()=>this.#n&&this.requestUpdate(),re)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#e)}get#n(){return this.interaction!==void 0&&!this.interaction.resolved&&!Ui(this.status)}focus(){let t=this.querySelector("section");t?.scrollIntoView({block:"nearest"}),t?.focus({preventScroll:!0})}render(){let{interaction:t}=this;if(!t)return yt;if(t.kind==="client_tool")return this.#n?Gi(t):yt;if(!this.#n)return zi(t);let{asked:n,due:s}=t;return P`<section class="interaction" tabindex="-1" aria-labelledby="${this.#t}-title" @keydown=${Wi}>
      <div class="interaction-head">
        <h3 id="${this.#t}-title" dir="auto">${oe(n)}</h3>
        ${s===null?yt:P`<span class="time-left" role="timer" aria-live="off">${Hi(s)}</span>`}
      </div>
      ${this.#i(t)}
    </section>`}#i(t){let n=St(t,this.status)&&!t.sending,s=i=>this.#o(t,i);return t.kind==="approval"?xn(t,this.#t,n,s):t.kind==="question"?Sn(t,this.#t,n,this.problem,s):t.kind==="elicitation"?kn(t,this.#t,n,s):t.kind==="sign_in"?En(t,n,s):P`<p class="hint">${r("This cannot be answered on this page.")}</p>`}#o({key:t,kind:n},s){this.problem=s?"":r("Choose or write something, or skip the question."),s&&this.dispatchEvent(new CustomEvent("answer",{bubbles:!0,detail:{key:t,kind:n,answer:s}}))}};customElements.define("chat-interaction",ie);function Wi(e){e.key!=="Escape"||e.isComposing||(e.preventDefault(),document.getElementById("question")?.focus())}function oe(e){return e.title||e.question||e.name||r("The answer needs you")}function Ui(e){return e==="done"||e==="failed"||e==="stopped"}function Hi(e){let t=Math.ceil(e-Date.now()/re);if(t<=0)return r("The time is over");let n=t<10?r("{seconds} s",{seconds:t}):y(t);return r("{time} left",{time:n})}function Gi({asked:e,isHere:t}){return P`<p class="decision">
    ${c("loader-circle")}
    <span>
      <span class="decision-title" dir="auto">${oe(e)}</span>
      <span>${t?r("On this page"):r("On the page that asked")}</span>
    </span>
  </p>`}function zi(e){let{resolved:t}=e,n=["approved","answered","accepted","connected"].includes(t?.answer.outcome??"");return P`<p class="decision">
    ${c(n?"check":"x")}
    <span>
      <span class="decision-title" dir="auto">${oe(e.asked)}</span>
      <span>${Ji(e)}</span>
      ${t?.answer.always?P`<a href="/approvals/">${r("Ask again from now on…")}</a>`:yt}
    </span>
  </p>`}function Ji({kind:e,resolved:t}){if(!t)return r("Not decided: the answer ended before.");let{answer:n,by:s,at:i}=t,o=Se(new Date(i*re).toISOString()),a={name:s||r("nobody"),moment:o},l=Object.keys(n.arguments??{});switch(n.outcome){case"approved":return l.length?r("Approved by {name}, {moment}, with changed {names}.",{...a,names:l.join(", ")}):r("Approved by {name}, {moment}.",a);case"denied":return n.reason?r("Denied by {name}, {moment}: {reason}",{...a,reason:n.reason}):r("Denied by {name}, {moment}.",a);case"answered":return r("Answered by {name}, {moment}: {answer}",{...a,answer:[...n.choices??[],n.text].filter(Boolean).join(", ")});case"accepted":return r("Answered by {name}, {moment}.",a);case"declined":return r("Declined by {name}, {moment}.",a);case"cancelled":return r("Cancelled by {name}, {moment}.",a);case"lost":return r("Not answered: the call ended before.");case"connected":return r("Connected by {name}, {moment}.",a);case"skipped":return r("Skipped by {name}, {moment}.",a);default:return e==="approval"?r("Nobody decided in time, so it was not done ({moment}).",{moment:o}):r("Nobody answered in time ({moment}).",{moment:o})}}import{html as F,LitElement as Yi,nothing as Z}from"../vendor/lit.js";var ae="steps",Ki=["none","compact","full"],xt=new EventTarget,On=wt(Vi());addEventListener("storage",({key:e,newValue:t})=>{e===ae&&Tn(wt(t))});function Cn(){return On}function il(e){try{localStorage.setItem(ae,wt(e))}catch{}Tn(wt(e))}function Tn(e){On=e,xt.dispatchEvent(new Event("change"))}function wt(e){return Ki.find(t=>t===e)??"full"}function Vi(){try{return localStorage.getItem(ae)}catch{return null}}var le=class extends Yi{static properties={steps:{attribute:!1},list:{attribute:!1}};constructor(){super(),this.steps=[],this.list=Z,this.redraw=()=>this.requestUpdate()}connectedCallback(){super.connectedCallback(),xt.addEventListener("change",this.redraw)}disconnectedCallback(){super.disconnectedCallback(),xt.removeEventListener("change",this.redraw)}createRenderRoot(){return this}render(){let t=Cn(),n=this.steps.flatMap(An);if(t==="full"||t==="compact"&&n.length===1)return this.list;let s=n.findLast(({state:o})=>o==="running"),i=n.filter(({state:o})=>o==="failed").length;return t==="none"?s||i?F`<div class="step activity" data-state=${s?"running":"failed"}><div class="step-line">${Ln(n,s,i)}</div></div>`:Z:F`<details class="step activity" data-state=${s?"running":i?"failed":"done"}>
      <summary class="step-line">${Ln(n,s,i)}${c("chevron-right")}</summary>
      ${this.list}
    </details>`}};customElements.define("step-activity",le);function Ln(e,t,n){let s=e.reduce((o,a)=>o+(a.seconds??0),0),i=$("{count} step","{count} steps",e.length);return F`<span class="step-mark">${c(t?"loader-circle":n?"x":"check")}</span>
    <span class="step-title" dir="auto">${t?t.title:i}</span>
    ${t?F`<span class="step-state">${i}</span>`:Z}
    ${n?F`<span class="step-state step-failures">${$("{count} failed","{count} failed",n)}</span>`:Z}
    ${t?Z:F`<span class="step-time">${y(s)}</span>`}`}function An(e){return[e,...e.children.flatMap(An)]}import{html as Qi,nothing as qn}from"../vendor/lit.js";function vt(e){return Qi`<p class="working"><span class="dots" aria-hidden="true"></span>${e}</p>`}function Rn(e,t){return e?.role!=="user"?qn:e.sending?vt(r("Sending…")):t?vt(`${r("Thinking")}…`):qn}var ce=class extends Xi{static properties={answer:{attribute:!1},version:{attribute:!1},asked:{attribute:!1},earlier:{attribute:!1},goesOn:{attribute:!1},isLast:{attribute:!1},branch:{attribute:!1},changeable:{attribute:!1},opened:{state:!0}};constructor(){super(),this.answer=void 0,this.version=0,this.asked=void 0,this.earlier=[],this.goesOn=!1,this.isLast=!1,this.branch=void 0,this.changeable=!1,this.opened="",this.addEventListener("helper-open",t=>{this.opened=t.detail})}createRenderRoot(){return this}render(){let{answer:t}=this;if(!t)return b;let n=H(t.status);return f`
      ${this.earlier.length?b:f`<h2 class="visually-hidden">${r("Answer")}</h2>`}
      ${Zi(t.parts,s=>s,s=>this.#e(t,s,n))}
      ${ht(t.attachments,t.annotations)}
      ${t.continued?f`<p class="notice">${c("refresh-cw")}${r("Continued after an interruption.")}</p>`:b}
      ${n?vt(`${er(t)}…`):this.#n(t)} ${this.#t(t)}
    `}updated(){let t=this.querySelector("dialog.helper");t instanceof HTMLDialogElement&&!t.open&&t.showModal()}#t(t){let n=t.steps.get(this.opened);return n?nn(n,{redraw:()=>this.requestUpdate(),close:()=>this.opened=""}):b}#e(t,n,s){if(n.kind==="steps")return f`<step-activity .steps=${n.steps}
        .list=${K(n.steps,()=>this.requestUpdate(),t.expired)}></step-activity>`;if(n.kind==="notice")return f`<p class="notice" dir="auto">${c("circle-alert")}${n.text}</p>`;if(n.kind==="interaction")return f`<chat-interaction .interaction=${n.interaction} .version=${t.version}
        .status=${t.status}></chat-interaction>`;let i=!s||n!==t.parts.at(-1);return f`<markdown-text class="answer-text" .text=${n.text} .complete=${i}
      .annotations=${[...t.annotations]}
      .sources=${J(t.attachments)}></markdown-text>`}#n(t){return f`${t.status==="failed"?this.#a(t):b}
      ${t.status==="stopped"?this.#o(t):b}
      ${t.status==="done"&&!this.goesOn?this.#i(t):b}
      ${ut(t.message?.left_out)} ${on(t.message?.memories)}
      ${this.goesOn?b:f`<answer-foot .answer=${t} .version=${t.version} .earlier=${this.earlier} .asked=${this.asked}
            .branch=${this.branch} .changeable=${this.changeable}></answer-foot>`}`}#i(t){return t.message?.finish_reason!=="length"?tr(t):f`<div class="stopped">
      <p class="notice">${c("triangle-alert")}${r("Cut off: the answer became too long for the model.")}</p>
      ${this.#r(r("Continue"),{continues:t.message.id})}
    </div>`}#o(t){let n=S(t).trim()?r("The answer is not complete."):r("There is no answer.");return f`<div class="stopped">
      <p class="notice">${c("circle-alert")}<span><strong>${r("Stopped.")}</strong> ${n}</span></p>
      ${this.#s()}
    </div>`}#s(){return this.asked&&!this.asked.sending?this.#r(r("Try again"),{again:this.asked.id}):b}#r(t,n){return!this.isLast||!this.changeable?b:f`<button type="button" class="button" @click=${()=>this.dispatchEvent(new CustomEvent("branch-ask",{bubbles:!0,detail:n}))}>${c("refresh-cw")}${t}</button>`}#a(t){let{error:n}=t;return f`<div class="failure">
      ${c("triangle-alert")}
      <div>
        <p>${n?.text??r("The answer could not be finished.")}</p>
        ${n?.reference?f`<p class="failure-reference">${r("Reference:")} <code>${n.reference}</code></p>`:b}
        ${this.#s()}
      </div>
    </div>`}};customElements.define("chat-answer",ce);function tr(e){return e.message&&!S(e).trim()&&!e.attachments.length&&!e.message.left_out?.length?f`<p class="notice">${r("The model had nothing to say.")}</p>`:b}function er(e){return e.status==="queued"?r("Waiting for its turn"):e.status==="waiting"?ye(e)?r("Waiting for you"):L(e).some(ot)?r("Working on the page"):r("Waiting for somebody else"):e.parts.length?r("Working"):r("Thinking")}var ue=class extends nr{static properties={turns:{attribute:!1,hasChanged:ir},state:{attribute:!1},last:{attribute:!1},branches:{attribute:!1},changeable:{attribute:!1},limit:{attribute:!1},summary:{attribute:!1},near:{attribute:!1}};constructor(){super(),this.turns=[],this.state="",this.last=!1,this.branches={},this.changeable=!1,this.limit=1/0,this.summary=null,this.near=!0,this.height=0,this.addEventListener("focusout",()=>this.requestUpdate())}createRenderRoot(){return this}place(t,n){this.classList.contains("resting")||(this.height=n),this.near=t}render(){let t=this.#t();return this.classList.toggle("resting",t),this.style.blockSize=t?`${this.height}px`:"",t?this.#e():kt`${sr(this.turns,({turn:n})=>`${n.role} ${n.id}`,n=>n.turn.role==="user"?this.#n(n.turn):this.#i(n.turn,n))}`}#t(){if(this.near||this.last||!this.height||this.contains(document.activeElement))return!1;let t=document.getSelection();return!t||t.isCollapsed||!t.containsNode(this,!0)}#e(){let t=this.turns.map(({turn:n})=>n.role==="user"?n.text:S(n)).join(`
`);return kt`<div hidden="until-found" @beforematch=${()=>this.near=!0}>${t}</div>`}#n(t){return kt`<chat-question
      class="turn question"
      id="message-${t.id}"
      .question=${t}
      .state=${t.sending?"sending":"stored"}
      .branch=${this.branches[t.id]}
      .changeable=${this.changeable&&!t.sending}
      .limit=${this.limit}
    ></chat-question>`}#i(t,{asked:n,earlier:s,goesOn:i,isLast:o}){let a=dt(t);return kt`<chat-answer
        class="turn answer"
        id=${a?`message-${a}`:Dn}
        .answer=${t}
        .version=${t.version}
        .asked=${n}
        .earlier=${s}
        .goesOn=${i}
        .isLast=${o}
        .branch=${this.branches[s[0]?.id??t.id]}
        .changeable=${this.changeable}
      ></chat-answer>
      ${this.summary&&this.summary.after===t.id?Te(this.summary):Dn}`}};customElements.define("chat-turns",ue);function Mn(e){return e.map(({turn:t})=>t.role==="user"?Number(t.sending):t.version).join()}function ir(e,t){return e.length!==t?.length||e.some((n,s)=>rr(n,t[s]))}function rr(e,t){return e.turn!==t.turn||e.asked!==t.asked||e.earlier.length!==t.earlier.length||e.goesOn!==t.goesOn||e.isLast!==t.isLast}var lr=200,cr=3e3,ur="1200px 0px",dr="800px 0px",de=class extends or{static properties={turns:{attribute:!1},loaded:{attribute:!1},busy:{attribute:!1},branches:{attribute:!1},deleting:{state:!0},heading:{attribute:!1},description:{attribute:!1},starters:{attribute:!1},ended:{attribute:!1},application:{attribute:!1},summary:{attribute:!1},problem:{attribute:!1}};#t=new IntersectionObserver(t=>this.#p(t),{rootMargin:ur});#e=Promise.resolve();#n=new IntersectionObserver(t=>this.#f(t),{rootMargin:dr});constructor(){super(),this.turns=[],this.loaded=!0,this.busy=!1,this.branches={},this.deleting=null,this.limit=1/0,this.addEventListener("branch-change",t=>this.#i(t)),this.heading="",this.description="",this.application={letters:"",tile:""},this.ended=!1,this.summary=null,this.problem="",this.starters={intro_text:"",auto_submit:!0,chat_message_input_disabled:!1,starters:[]}}createRenderRoot(){return this}connectedCallback(){super.connectedCallback(),addEventListener("beforeprint",this.#c),addEventListener("afterprint",this.#d)}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("beforeprint",this.#c),removeEventListener("afterprint",this.#d),this.#t.disconnect(),this.#n.disconnect()}render(){return this.loaded?this.turns.length?C`${ar(Ue(We(this.turns)),({key:t})=>t,t=>t.missing?this.#g(t.missing):this.#m(t.turns))}
    ${Rn(this.turns.at(-1),this.busy)}
    ${this.starters.chat_message_input_disabled&&!this.busy?this.#h():tt}
    ${this.deleting?this.#o(this.deleting):tt}`:this.#$():C`<p class="loading working">${r("Loading the conversation…")}</p>`}#i(t){let{type:n,message:s,isConfirmed:i}=t.detail;n!=="turn.delete"||i||(t.stopImmediatePropagation(),this.deleting={message:s,origin:t.target})}#o({message:t,origin:n}){let s=this.turns.find(({id:a})=>a===t),i=()=>{this.deleting=null,n.querySelector("action-row")?.focusOn("delete")},o=()=>{this.deleting=null;let a={type:"turn.delete",message:t,name:"delete",isConfirmed:!0};this.dispatchEvent(new CustomEvent("branch-change",{detail:a}))};return Ge({text:s?.role==="user"?s.text.slice(0,lr):"",cancel:i,confirm:o})}updated(){let t=this.querySelector("dialog.turn-deletion");t instanceof HTMLDialogElement&&!t.open&&t.showModal();for(let n of this.#l)this.#t.observe(n);if(this.#n.disconnect(),!this.problem)for(let n of this.querySelectorAll(".gap"))this.#n.observe(n)}keepPlace(t){return this.#s(()=>this.#r(t))}#s(t){let n=this.#e.then(t);return this.#e=n.catch(()=>{}),n}async#r(t){let n=[...this.querySelectorAll(".turn")].find(i=>i.getBoundingClientRect().bottom>0),s=n?.getBoundingClientRect().top??0;t(),await this.#a(),n?.isConnected&&scrollBy({top:n.getBoundingClientRect().top-s,behavior:"instant"})}async#a(){await this.updateComplete,await Promise.all(this.#l.map(n=>n.updateComplete));let t=[...this.querySelectorAll("chat-answer")];await Promise.all(t.map(n=>n.updateComplete))}reveal(t){return this.#s(()=>this.#u(t))}async#u(t){let n=this.turns.find(o=>dt(o)===t);await this.updateComplete;let s=n&&this.#l.find(({turns:o})=>o.some(a=>a.turn===n));if(!s)return!1;s.near=!0,await this.#a();let i=document.getElementById(`message-${t}`);return i?(i.tabIndex=-1,i.scrollIntoView({block:"start",behavior:"instant"}),i.focus({preventScroll:!0}),i.toggleAttribute("data-found",!0),setTimeout(()=>i.removeAttribute("data-found"),cr),!0):!1}get#l(){return[...this.querySelectorAll("chat-turns")].map(t=>t)}#c=()=>{for(let t of this.#l)t.near=!0};#d=()=>{this.#t.disconnect(),this.requestUpdate()};#p(t){this.keepPlace(()=>{for(let{target:n,isIntersecting:s,boundingClientRect:i}of t)n.place(s,i.height)})}#f(t){let s=t.find(({isIntersecting:i})=>i)?.target?.missing;s&&this.dispatchEvent(new CustomEvent("gap",{detail:s}))}#m(t){return C`<chat-turns
      .turns=${t}
      .state=${Mn(t)}
      .last=${t.at(-1)?.isLast}
      .summary=${this.summary}
      .branches=${this.branches}
      .changeable=${!this.busy&&!this.ended}
      .limit=${this.limit}
    ></chat-turns>`}#g(t){let n=()=>this.dispatchEvent(new CustomEvent("gap",{detail:t}));return C`<div class="gap" .missing=${t}>
      ${this.problem?C`<p class="notice problem" role="alert">${c("circle-alert")}<span>${this.problem}</span></p>`:tt}
      <button type="button" class="button" @click=${n}>${t.after?r("Show the next messages"):r("Show earlier messages")}</button>
    </div>`}#$(){return C`<div class="welcome">
      ${Je(this.application,"large")}
      <h2 dir="auto">${this.heading}</h2>
      ${this.description?C`<p class="description" dir="auto">${this.description}</p>`:tt}
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
    </section>`:tt}#b(t){this.dispatchEvent(new CustomEvent("starter",{detail:t}))}};customElements.define("chat-log",de);export{j as a,L as b,pr as c,ye as d,ot as e,S as f,ge as g,ve as h,Se as i,Er as j,Or as k,Rt as l,Dr as m,ta as n,ea as o,ie as p,oe as q,Ji as r,Ae as s,Je as t,ha as u,pa as v,ct as w,G as x,xt as y,Cn as z,il as A,Pe as B,Pt as C,de as D};
