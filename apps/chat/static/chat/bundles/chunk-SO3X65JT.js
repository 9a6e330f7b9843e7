import{b as V,c as v,d as J,e as Z}from"./chunk-5LVHU2E5.js";import{a as X}from"./chunk-5L3K4F5M.js";import{b as M,d as Q}from"./chunk-EMXBBFNF.js";import{a as l,c as E}from"./chunk-TKCLDTR7.js";import{a as G,c as L,d as m,e as T,g}from"./chunk-IN3SOCHH.js";import{b as K,c as r,e as A}from"./chunk-TZA5RPAC.js";import{html as u,LitElement as _t,nothing as y,repeat as Yt}from"../vendor/lit.js";import{html as w,LitElement as St,nothing as x,repeat as qt}from"../vendor/lit.js";import{html as I,nothing as yt}from"../vendor/lit.js";function tt({name:n,url:t,type:e},s,i,o=!1){let a=M(t)?.pathname??"";return I`<div class="files-line">
    ${l(/^image\//.test(e)?"image":"file-text")}
    <span class="attachment-words">
      <a class="attachment-name" href=${a} target="_blank" rel="noopener" title=${n}>${n}</a>
      <span class="attachment-detail">${s}</span>
    </span>
    ${o?I`<a class="quiet" href="${a}?download" download=${n} title=${r("Download")}>
          ${l("download")}<span class="visually-hidden">${r("Download {name}",{name:n})}</span>
        </a>`:yt}
    <button type="button" class="quiet" title=${r("Delete")} @click=${i}>
      ${l("trash-2")}<span class="visually-hidden">${r("Delete {name}",{name:n})}</span>
    </button>
  </div>`}function et({name:n},t,e){return I`<div class="files-question" role="group" aria-label=${r("Delete {name}",{name:n})}>
    <p>${r("“{name}” will be permanently deleted. Later answers can’t use it.",{name:n})}</p>
    <div class="dialog-buttons">
      <button type="button" class="button" @click=${t}>${r("Cancel")}</button>
      <button type="button" class="button danger" @click=${e}>${r("Delete")}</button>
    </div>
  </div>`}import{html as p,nothing as N}from"../vendor/lit.js";var st=/^image\/(?:png|jpeg|gif|webp|avif)$/,it=new WeakMap;function $t(n){let t=it.get(n);if(t)return t;let e=URL.createObjectURL(n);return it.set(n,e),e}function nt(n,t){if(!n.items.length)return N;let{most:e}=n.limits,s=n.items.length-e;return p`<ul class="tray" aria-label=${r("Files to send")}>
      ${n.items.map(i=>p`<li>${vt(i,n,t)}</li>`)}
    </ul>
    ${s>0?p`<p class="tray-problem">${r("A question can have up to {most} files. Number of files to remove: {excess}.",{most:e,excess:s})}</p>`:N}`}function vt(n,t,e){let{id:s,name:i,state:o,isRetryable:a}=n,h=o==="failed"?"triangle-alert":st.test(n.type)?"image":"file-text",c=o==="sending"||o==="waiting",d=()=>{t.drop(s),e()};return p`<div class="chip" data-state=${o}>
    ${o!=="failed"&&n.file&&st.test(n.type)?p`<img class="chip-picture" src=${$t(n.file)} alt="" width="40" height="40" />`:l(h)}
    <span class="chip-words">
      <span class="chip-name" dir="auto" title=${i}>${i}</span>
      ${wt(n)}
    </span>
    ${a&&o==="failed"?p`<button type="button" class="quiet" title=${r("Retry")} @click=${()=>t.retry(s)}>
          ${l("refresh-cw")}<span class="visually-hidden">${r("Retry {name}",{name:i})}</span>
        </button>`:N}
    <button type="button" class="quiet" title=${c?r("Cancel"):r("Remove")} @click=${d}>
      ${l("x")}<span class="visually-hidden">${c?r("Cancel uploading {name}",{name:i}):r("Remove {name}",{name:i})}</span>
    </button>
  </div>`}function wt({state:n,name:t,size:e,progress:s,problem:i}){return n==="failed"?p`<span class="chip-detail">${i}</span>`:n==="waiting"?p`<span class="chip-detail">${r("Waiting")}</span>`:n==="sending"?p`<progress max="1" .value=${s} aria-label=${r("Uploading {name}",{name:t})}></progress>`:p`<span class="chip-detail">${e?v(e):r("Uploaded")}</span>`}var bt=3,kt=/\.[^.]{1,10}$/,P=r("The connection was lost."),Et=new Set([403,408,409]),R=class extends EventTarget{items=[];limits;#t;#s;#i=new Map;#r=1;constructor(t,e,s){super(),this.#t=t,this.limits=e,this.#s=s,addEventListener("online",()=>this.#p())}open(t,e,s,i){this.#i.set(t,this.items),this.items=this.#i.get(e)??[],this.#i.delete(e),this.#t=s,this.limits=i}get isPending(){return this.items.some(({state:t})=>t==="waiting"||t==="sending")}get isReady(){return this.items.every(({state:t})=>t==="done")}takes(t){let{types:e}=this.limits;return!e.length||e.some(s=>xt(t,s))}add(t){let e=[...t].map(o=>this.#e(o));this.items=[...this.items,...e];let s=e.filter(({problem:o})=>o),i=e.length===1?r("{name} added.",{name:e[0].name}):A("{count} file added.","{count} files added.",e.length);return s.length?this.#c(s.map(({name:o,problem:a})=>`${o}: ${a}`).join(" "),!0):e.length&&this.#c(i),this.#o(),e}drop(t){let e=this.items.find(s=>s.id===t);e&&(this.items=this.items.filter(s=>s!==e),e.request?.abort(),e.url&&!e.isBorrowed&&T(`/${e.url}`),this.#c(r("{name} removed.",{name:e.name})),this.#o())}retry(t){let e=this.items.find(s=>s.id===t);e?.isRetryable&&(this.#f(e,{state:"waiting",problem:"",progress:0}),this.#o())}take(){let t=this.items.filter(({state:e})=>e==="done");return this.items=this.items.filter(({state:e})=>e!=="done"),this.#u(),t.map(({name:e,type:s,url:i,isBorrowed:o})=>({title:e,type:s,url:i,isBorrowed:o}))}borrow({name:t,url:e,type:s,size:i}){this.items.some(o=>o.url===e)||(this.items=[...this.items,this.#n({name:t,url:e,type:s,size:i,state:"done",progress:1,isBorrowed:!0})],this.#c(r("{name} added.",{name:t})),this.#u())}giveBack(t){let e=t.map(({title:s,type:i,url:o="",isBorrowed:a=!1})=>this.#n({name:s||Q(o),type:i,url:o,isBorrowed:a,state:"done",progress:1}));this.items=[...e,...this.items],e.length&&this.#u()}#e(t){let e=this.#a(t);return this.#n({name:t.name||"file",size:t.size,type:t.type,state:e?"failed":"waiting",problem:e,file:t})}#n(t){return{id:this.#r++,name:"",size:0,type:"",state:"waiting",progress:0,problem:"",isRetryable:!1,url:"",isBorrowed:!1,file:null,request:null,address:this.#t,conversation:this.#s(),...t}}#a({name:t,size:e,type:s}){let{limits:i}=this;if(e>i.size)return r("Too large ({size}). The limit is {limit}.",{size:v(e),limit:v(i.size)});if(e===0)return r("Can’t attach empty files or folders.");if(!s||this.takes(s))return"";let o=kt.exec(t)?.[0].toLowerCase();return o?r("Can’t attach {extension} files. Allowed: {names}.",{extension:o,names:i.names}):r("Can’t attach this type of file. Allowed: {names}.",{names:i.names})}#o(){let t=this.items.filter(({state:s})=>s==="sending").length,e=this.items.filter(({state:s})=>s==="waiting");for(let s of e.slice(0,Math.max(0,bt-t)))this.#d(s);this.#u()}#d(t){if(!t.file)return;let e=new XMLHttpRequest,s=new FormData;s.set("conversation",t.conversation),s.set("file",t.file,t.name),e.open("POST",t.address),e.responseType="json";for(let[i,o]of Object.entries(G()))e.setRequestHeader(i,o);e.upload.addEventListener("progress",({loaded:i,total:o})=>this.#f(t,{progress:o?i/o:0})),e.addEventListener("load",()=>this.#l(t,e)),e.addEventListener("error",()=>this.#h(t,P,!0)),e.addEventListener("timeout",()=>this.#h(t,P,!0)),Object.assign(t,{request:e,state:"sending",progress:0}),e.send(s)}#l(t,{status:e,response:s}){if(e===201&&s?.url){let{name:a,url:h,size:c,type:d}=s;Object.assign(t,{name:a,url:h,size:c,type:d,state:"done",progress:1,request:null}),this.#c(r("{name} uploaded.",{name:a})),this.#o();return}let i=s?.error?.message,o=e===403?r("This page is out of date. Reload it and try again."):r("The server rejected the file. Try another file.");this.#h(t,i??o,e>=500||Et.has(e))}#h(t,e,s){Object.assign(t,{state:"failed",problem:e,isRetryable:s,request:null}),this.items.includes(t)&&this.#c(`${t.name}: ${e}`,!0),this.#o()}#p(){for(let{id:t,problem:e}of this.items)e===P&&this.retry(t)}#f(t,e){Object.assign(t,e),this.#u()}#u(){this.dispatchEvent(new CustomEvent("change"))}#c(t,e=!1){this.dispatchEvent(new CustomEvent("told",{detail:{text:t,isProblem:e}}))}};function xt(n,t){return t==="*"||t==="*/*"?!0:t.endsWith("/*")?n.startsWith(t.slice(0,-1)):n===t}var Ct=4e3,rt=r("That didn’t work. Check your connection and try again."),H=class extends St{static properties={folder:{state:!0},instructions:{state:!0},files:{state:!0},changes:{state:!0},problem:{state:!0},asked:{state:!0}};constructor(){super(),this.folder=null,this.instructions="",this.files=null,this.uploads=new R("",{size:0,types:[],names:"",most:1/0},()=>""),this.uploads.addEventListener("change",()=>this.#a()),this.uploads.addEventListener("told",t=>this.#g(t.detail.text)),this.shown="",this.changes=0,this.problem="",this.asked=null,this.opener=null}createRenderRoot(){return this}updated(){let t=this.querySelector("dialog");this.folder&&t&&!t.open&&t.showModal()}async open(t){this.opener=document.activeElement,this.files=null,this.problem="",this.asked=null,this.folder=t;let e=await g(this.#e("content"));this.folder===t&&(this.files=e?.files??null,this.instructions=e?.instructions??"",e&&this.#t(String(t.id),e.limits),e||(this.problem=r("The folder can’t be shown. Check your connection and try again.")),this.updateComplete.then(()=>this.#r?.focus()))}#t(t,e){this.uploads.open(this.shown||t,t,this.#e("files"),{...e,names:"",most:1/0}),this.shown=t,this.uploads.take()}render(){let{folder:t}=this;return t?w`<dialog class="folder-content" aria-labelledby="folder-heading" @close=${this.#c}>
      <form @submit=${this.#f}>
        <h2 id="folder-heading" dir="auto">${t.name}</h2>
        ${this.problem?w`<p class="field-error" role="alert">${this.problem}</p>`:x}
        ${this.files===null?this.problem?x:w`<p class="working">${r("Loading…")}</p>`:this.#s(this.files)}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#u}>${r("Close")}</button>
          ${this.files===null?x:w`<button class="button primary" >${r("Save instructions")}</button>`}
        </div>
      </form>
    </dialog>`:x}#s(t){let e=()=>this.querySelector("#folder-files")?.click();return w`<label for="folder-instructions">${r("Instructions for all conversations in this folder")}</label>
      <textarea
        id="folder-instructions"
        name="instructions"
        rows="5"
        dir="auto"
        maxlength=${Ct}
        aria-describedby="folder-instructions-hint"
        .value=${this.instructions}
      ></textarea>
      <p id="folder-instructions-hint" class="history-empty">${r("These instructions are sent to the model with each question, starting with your next question.")}</p>
      <h3 id="folder-files-heading" tabindex="-1">${r("Files")}</h3>
      <ul class="files-list" aria-labelledby="folder-files-heading">
        ${qt(t,({url:s})=>s,s=>w`<li>${this.#i(s)}</li>`)}
      </ul>
      ${t.length?x:w`<p class="files-none">${r("No files yet. Files in this folder are sent with each question, as if you had attached them.")}</p>`}
      ${nt(this.uploads,()=>this.#p(".folder-add"))}
      <button type="button" class="button folder-add" @click=${e}>
        ${l("paperclip")}${r("Add files")}
      </button>
      <input type="file" id="folder-files" multiple hidden aria-label=${r("Files in this folder")} @change=${this.#n} />`}#i(t){return t===this.asked?et(t,()=>this.#h(),()=>this.#d(t)):tt(t,v(t.size),()=>this.#l(t))}get#r(){return this.querySelector("textarea")}#e(t){return`/conversations/folders/${this.folder?.id}/${t}/`}#n(t){let e=t.target;this.#o(),this.uploads.add(e.files??[]),e.value=""}#a(){let t=this.uploads.items.filter(({state:e})=>e==="done");this.folder&&this.files&&t.length&&(this.#o(),this.files=[...this.files,...t.map(({name:e,url:s,type:i,size:o})=>({name:e,url:s,type:i,size:o,updated_at:"",uploaded:!0}))],this.uploads.take()),this.changes+=1}#o(){this.instructions=this.#r?.value??this.instructions}async#d(t){if(this.problem="",this.#o(),!await T(M(t.url)?.pathname??"")){this.problem=rt;return}this.files=this.files?.filter(({url:e})=>e!==t.url)??null,this.#g(r("{name} deleted.",{name:t.name})),this.#h()}#l(t){this.#o(),this.asked=t,this.updateComplete.then(()=>this.#p(".files-question .button"))}#h(){this.asked=null,this.updateComplete.then(()=>this.#p("#folder-files-heading"))}#p(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}async#f(t){t.preventDefault(),this.#o();let{status:e,told:s}=await m(this.#e("content"),{instructions:this.instructions});this.problem=e===200?"":s?.error?.message??rt,!this.problem&&(this.#u(),this.#g(r("Instructions saved.")))}#u(){this.querySelector("dialog")?.close()}#c(){this.folder=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}#g(t){this.dispatchEvent(new CustomEvent("said",{detail:t}))}};customElements.define("folder-dialog",H);async function ot(n,t,e){switch(t){case"rename":return{asks:{kind:t,row:e}};case"move":return{asks:{kind:t,rows:[e]}};case"share":case"print":return{leaves:t};case"go-on":{let s=await g(`${e.address}go-on/`);return s?s.applications.length?{asks:{kind:t,row:e,applications:s.applications}}:{problem:r("No other app is available to you.")}:{problem:r("Couldn’t load your apps. Check your connection and try again.")}}case"pin":return O(n,e,{pinned:String(!e.pinned)},e.pinned?r("Conversation unpinned."):r("Conversation pinned."));case"archive":return O(n,e,{archived:"true"},r("Conversation archived."));case"unarchive":return O(n,e,{archived:"false"},r("Conversation restored from the archive."));case"delete":return Lt(n,e);default:return{}}}async function at(n,t,e){if(t==="rename-folder")return{asks:{kind:t,folder:e}};if(t==="delete-folder"){let{problem:a}=await n.changeFolders(`${e.id}/delete/`,{});return a?{problem:a}:(await n.refresh(),{said:r("Folder deleted. Its conversations were kept.")})}let s=n.folders.findIndex(({id:a})=>a===e.id),i=n.folders[s+(t==="folder-up"?-1:2)],{problem:o}=await n.changeFolders(`${e.id}/`,{before:i?String(i.id):""});return o?{problem:o}:{said:r("Folder moved.")}}async function lt(n,t,e){let s={folder:e?String(e.id):"",...t.pinned?{pinned:"false"}:{}};return O(n,t,s,e?r("Conversation moved."):r("Conversation removed from its folder."))}async function O(n,t,e,s){let i=await n.arrange(t,e);return i?{problem:i}:{said:s,id:t.id}}async function Lt(n,t){return await L(`${t.address}delete/`,{})?(n.remove(t.id),{undoable:{rows:[t],text:r("Conversation deleted."),isDeletion:!0,undo:()=>n.restore(t)}}):{problem:r("The conversation was not deleted. Check your connection and try again.")}}var ht=1440*60*1e3;function ct(n,t,e){let s=new Set(t.map(({id:a})=>a)),i=new Map([["pinned",{key:"pinned",heading:r("Pinned"),rows:[]}]]);for(let a of t){let h=`folder ${a.id}`;i.set(h,{key:h,heading:a.name,rows:[],folder:a})}let o=new Date().setHours(0,0,0,0);for(let a of n){let h=a.folder!==null&&s.has(a.folder),c=a.pinned?"pinned":h?`folder ${a.folder}`:"";(c?i.get(c):Tt(i,a,o))?.rows.push(a)}return[...i.values()].filter(a=>a.folder||a.rows.length).map(a=>({...a,rows:Mt(a,e)}))}function Tt(n,{updated_at:t},e){let s=At(new Date(t),e),i=n.get(s)??{key:s,heading:s,rows:[]};return n.set(s,i),i}function At(n,t){if(n.getTime()>=t)return r("Today");if(n.getTime()>=t-ht)return r("Yesterday");if(n.getTime()>=t-7*ht)return r("Previous 7 days");let e=n.getFullYear()===new Date(t).getFullYear();return n.toLocaleDateString(K,{month:"long",...e?{}:{year:"numeric"}})}function Mt({key:n,rows:t},e){let s=e.find(i=>i.key===n)?.rows;return s?.length===t.length&&t.every((i,o)=>i===s[o])?s:t}var ut=r("That didn’t work. Check your connection and try again."),pt="main",Rt="archived",F=class extends EventTarget{#t=new Map;folders=[];#s=new Map;#i=new Set;#r=[];begin({conversations:t,next:e,folders:s}){this.#t=new Map(t.map(i=>[i.id,i])),this.folders=s,this.#s=new Map([[pt,e]]),this.#e()}get all(){return[...this.#t.values()]}get sections(){return this.#r}get archived(){return this.all.filter(({archived:t})=>t).toSorted(dt)}find(t){return this.#t.get(t??"")}hasMore(t){return this.#s.get(t)!==""}async more(t){let e=this.#s.get(t);if(e===""||this.#i.has(t))return;this.#i.add(t);let s=await g(`/conversations/?${new URLSearchParams({...Ot(t),after:e??""})}`);if(this.#i.delete(t),!!s){for(let i of s.conversations)this.#t.set(i.id,i);this.#s.set(t,s.next),this.#e()}}async refresh(){let t=await g("/conversations/");t&&this.begin(t)}take({conversations:t,deleted:e,is_whole:s}){s||this.refresh();for(let i of t)this.#t.set(i.id,i);for(let i of e)this.#t.delete(i);this.#e()}takeFolders(t){this.folders=t,this.#e()}put(t){this.#t.set(t.id,t),this.#e()}remove(t){this.#t.delete(t)&&this.#e()}async arrange(t,e){let{status:s,told:i}=await m(`${t.address}arrange/`,e);return s!==200?S(i):(this.put(i.conversation),"")}async changeAll(t,e){let s=t.map(({id:a})=>a).join(),{status:i,told:o}=await m("/conversations/selected/",{conversations:s,...e});return i!==200?S(o):(this.take({type:"list.changed",conversations:o.conversations,deleted:e.deleted==="true"?o.changed:[],is_whole:!0}),"")}async goOn(t,e){let{status:s,told:i}=await m(`${t.address}go-on/`,{application:e});return s!==200?S(i):(this.put(i.conversation),"")}async rename(t,e){if(!await L(`${t.address}rename/`,{title:e}))return ut;let s=this.#t.get(t.id);return s&&this.put({...s,title:e}),""}async restore(t){let{status:e,told:s}=await m(`${t.address}restore/`,{});return e!==200?S(s):(this.put(s.conversation),"")}async changeFolders(t,e){let{status:s,told:i}=await m(`/conversations/folders/${t}`,e);return s!==200?{folder:null,problem:S(i)}:(this.takeFolders(i.folders),{folder:i.folder,problem:""})}collapse(t,e){t.collapsed!==e&&(this.takeFolders(this.folders.map(s=>s.id===t.id?{...s,collapsed:e}:s)),m(`/conversations/folders/${t.id}/`,{collapsed:String(e)}))}#e(){let t=this.all.filter(({archived:e})=>!e).toSorted(dt);this.#r=ct(t,this.folders,this.#r),this.dispatchEvent(new CustomEvent("change"))}};function Ot(n){return n===pt||n===Rt?{part:n}:{folder:n}}function S(n){return n?.error?.message??ut}function dt(n,t){return n.updated_at<t.updated_at?1:n.updated_at>t.updated_at?-1:0}import{html as f,LitElement as jt,nothing as C}from"../vendor/lit.js";import{html as q,ifDefined as Ft,LitElement as Dt,nothing as U,repeat as It}from"../vendor/lit.js";var Nt={running:r("In progress"),waiting:r("Waiting for you"),unread:r("Unread")},Pt=["F2","Shift+F10"].join(" "),B=class extends Dt{static properties={rows:{attribute:!1},current:{attribute:!1},selection:{attribute:!1},version:{attribute:!1}};constructor(){super(),this.rows=[],this.current=null,this.selection=null,this.version=0}createRenderRoot(){return this}render(){return q`<ul class="history">
      ${It(this.rows,({id:t})=>t,t=>this.selection?.draw(t,E(t.application,"small"))??this.#t(t))}
    </ul>`}#t(t){let{id:e,title:s,state:i,address:o,application:a,updated_at:h}=t,c=e===this.current,d=s||r("Untitled");return q`<li
      class="history-entry"
      draggable="true"
      @dragstart=${k=>Ht(k,t)}
      @keydown=${k=>this.#s(k,t)}
    >
      <a
        href=${o}
        data-conversation=${e}
        title="${d} · ${a.title} · ${V(h)}"
        aria-current=${Ft(c?"page":void 0)}
        aria-keyshortcuts=${Pt}
      >
        ${E(a,"small")}
        <span class="history-title" dir="auto">${d}</span>
        <span class="visually-hidden">${a.title}</span>
        ${c&&i==="unread"?U:Ut(i)} ${j(t.tags)}
      </a>
      <button
        type="button"
        class="quiet row-more"
        tabindex="-1"
        title=${r("More")}
        aria-haspopup="menu"
        @click=${k=>this.#i("row-menu",{row:t,button:k.currentTarget})}
      >
        ${l("ellipsis")}<span class="visually-hidden">${r("More options for {name}",{name:d})}</span>
      </button>
    </li>`}#s(t,e){let s=t.currentTarget,i=s.querySelector(".row-more"),o=t.key==="ContextMenu"||t.key==="F10"&&t.shiftKey,a=Bt(t,s);if(t.key==="F2")this.#i("row-rename",e);else if(o)this.#i("row-menu",{row:e,button:i});else if(a==="end")i.focus();else if(a==="start")s.querySelector("a")?.focus();else return;t.preventDefault()}#i(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e,bubbles:!0}))}};customElements.define("chat-history-section",B);function j(n){return n?.length?q`<span class="history-tags">
    <span class="visually-hidden">${r("Tags:")}</span>${n.map(t=>q` <bdi>${t}</bdi>`)}
  </span>`:U}var D="application/x-quickapps-conversation";function Ht({dataTransfer:n},{id:t}){n?.setData(D,t),n&&(n.effectAllowed="linkMove")}function Bt({key:n,altKey:t,ctrlKey:e,metaKey:s},i){if(t||e||s||!["ArrowLeft","ArrowRight"].includes(n))return"";let o=getComputedStyle(i).direction==="rtl";return n==="ArrowRight"===o?"start":"end"}function Ut(n){let t=Nt[n];return t?q`<span class="history-mark" data-state=${n} title=${t}><span class="visually-hidden">${t}</span></span>`:U}var Wt=200,W=class extends jt{static properties={query:{state:!0},filters:{state:!0},hits:{state:!0},failed:{state:!0},answered:{state:!0},menu:{state:!0}};#t=0;constructor(){super(),this.query="",this.filters=[],this.hits=null,this.answered="",this.failed=!1,this.menu=null}createRenderRoot(){return this}render(){return f`<div class="history-search">
        ${l("search")}
        <label class="visually-hidden" for="history-query">${r("Search conversations")}</label>
        <input
          type="search"
          id="history-query"
          placeholder=${r("Search")}
          dir="auto"
          autocomplete="off"
          maxlength="500"
          .value=${this.query}
          @input=${this.#d}
          @keydown=${this.#o}
        />
        <button type="button" class="quiet filter-button" title=${r("Filters")} aria-haspopup="menu" aria-expanded="false" @click=${this.#e}>
          ${l("sliders-horizontal")}<span class="visually-hidden">${r("Filters")}</span>
        </button>
      </div>
      ${this.menu?f`<search-filters .chosen=${this.filters} @filtered=${this.#n}></search-filters>`:C}
      ${this.menu?.filterChips(this.filters,t=>this.#a(t))} ${this.#s?this.#i():C}`}get#s(){let e=[...this.query.trim()?[["q",this.query]]:[],...this.filters.map(({name:s,value:i})=>[s,i])];return String(new URLSearchParams(e))}#i(){if(this.failed)return f`<p class="history-empty">${r("Search is unavailable. Check your connection and try again.")}</p>`;let t=this.#s!==this.answered,e=t?f`<p class="history-empty working">${r("Searching…")}</p>`:C;if(!this.hits?.length)return t?e:f`<p class="history-empty">${r("No results.")}</p>`;let s=zt(new URLSearchParams(this.answered).get("q")??"");return f`${e}
      <ul class="history hits" aria-label=${r("Search results")} aria-busy=${t} ?inert=${t}>
        ${this.hits.map(i=>this.#r(i,s))}
      </ul>`}#r({id:t,title:e,address:s,application:i,excerpt:o,message:a,archived:h,tags:c},d){return f`<li class="history-entry">
      <a href="${s}${a?`#message-${a}`:""}" data-conversation=${t}>
        ${E(i,"small")}
        <span class="history-title" dir="auto">${ft(e||r("Untitled"),d)}</span>
        <span class="visually-hidden">${i.title}</span>
        ${h?f`<span class="hit-note">${r("Archived")}</span>`:C}
        ${j(c)} ${o&&o!==e?f`<span class="hit-excerpt" dir="auto">${ft(o,d)}</span>`:C}
      </a>
    </li>`}async#e({currentTarget:t}){this.menu=await import("./search-filters-AMWXPVJR.js"),await this.updateComplete;let e=this.querySelector("search-filters");t instanceof HTMLElement&&await e?.open(t)}#n({detail:t}){this.filters=t,this.#l(0)}#a(t){this.filters=this.filters.filter(e=>e!==t),this.querySelector("input")?.focus(),this.#l(0)}clear(){clearTimeout(this.#t),this.query="",this.filters=[],this.hits=null,this.answered="",this.dispatchEvent(new CustomEvent("searching",{detail:!1}))}#o(t){t.key==="ArrowDown"&&(t.preventDefault(),this.#s===this.answered&&this.querySelector("a")?.focus()),!(t.key!=="Escape"||!this.#s)&&(t.preventDefault(),this.clear())}#d(t){this.query=t.target.value,this.#l(Wt)}#l(t){if(clearTimeout(this.#t),this.failed=!1,!this.#s)return this.clear();this.dispatchEvent(new CustomEvent("searching",{detail:!0})),this.#t=setTimeout(()=>this.#h(this.#s),t)}async#h(t){let e=await g(`/conversations/search/?${t}`);if(t!==this.#s)return;this.failed=e===null,this.hits=e?.hits??null,this.answered=t;let s=this.hits?.length??0,i=s?A("{count} conversation found.","{count} conversations found.",s):r("No conversations found.");e&&this.dispatchEvent(new CustomEvent("said",{detail:i}))}};customElements.define("history-search",W);function zt(n){return n.toLowerCase().split(/\s+/).filter(Boolean)}function ft(n,t){if(!t.length)return n;let e=new RegExp(`(${t.map(s=>s.replace(/[.*+?^${}()|[\]\\]/g,"\\$&")).join("|")})`,"giu");return n.split(e).map((s,i)=>i%2?f`<mark>${s}</mark>`:s)}var z=class extends _t{static properties={current:{attribute:!1},shows:{state:!0},problem:{state:!0},rowsChanged:{state:!0},selection:{state:!0}};constructor(){super(),this.rows=new F,this.rows.addEventListener("change",()=>this.rowsChanged+=1),this.rowsChanged=0,this.current=null,this.shows="list",this.problem="",this.selection=null,this.chosen=null,this.addEventListener("keydown",t=>this.#E(t)),this.addEventListener("dragover",Gt),this.addEventListener("drop",t=>this.#b(t,null)),this.onMore=new IntersectionObserver(t=>{for(let{isIntersecting:e,target:s}of t)e&&this.#o(s)})}createRenderRoot(){return this}updated(){this.onMore.disconnect();for(let t of this.querySelectorAll("[data-more]"))this.onMore.observe(t)}render(){return u`<history-search ?hidden=${this.selection!==null} @searching=${this.#R} @said=${this.#w}></history-search>
      <h2 class="visually-hidden">${r("Conversations")}</h2>
      ${this.selection?this.#n(this.selection):y}
      ${this.problem?u`<p class="field-error" role="alert">${this.problem}</p>`:y}
      <div
        class="history-lists"
        ?hidden=${this.shows==="hits"}
        @keydown=${this.#S}
        @row-menu=${({detail:t})=>this.#q(t)}
        @row-rename=${({detail:t})=>this.#l({kind:"rename",row:t})}
      >
        ${this.shows==="archive"?this.#r():this.#t()}
      </div>
      <row-menu @chosen=${({detail:t})=>this.#L(t)}></row-menu>
      <history-dialog @done=${this.#O}></history-dialog>
      <folder-dialog @said=${this.#w}></folder-dialog>
      <tag-dialog @done=${this.#T}></tag-dialog>`}#t(){let{sections:t}=this.rows;return u`${Yt(t,({key:e})=>e,e=>e.folder?this.#i(e,e.folder):this.#s(e))}
      ${t.some(({folder:e})=>!e)?y:u`<p class="history-empty">${r("Your conversations will be listed here.")}</p>`}
      ${this.#a("main",r("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection!==null}>
        ${t.length?u`<button type="button" class="rail-row" @click=${()=>this.#l({kind:"new-folder"})}>
              ${l("folder-plus")}${r("New folder")}
            </button>`:y}
        ${this.#e(t.some(({rows:e})=>e.length))}
        <button type="button" class="rail-row" @click=${this.#A}>${l("archive")}${r("Archived")}</button>
      </div>`}#s({key:t,heading:e,rows:s}){return u`<section class="history-section">
      <h3 class="history-heading" dir="auto">${e}</h3>
      <chat-history-section data-section=${t} .rows=${s} .current=${this.#d(s)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
    </section>`}#i({rows:t},e){let s=i=>this.rows.collapse(e,!i.target.open);return u`<section class="history-section history-folder" @drop=${i=>this.#b(i,e)}>
      <details ?open=${!e.collapsed} @toggle=${s}>
        <summary>${l("chevron-right")}${l("folder")}<h3 dir="auto">${e.name}</h3></summary>
        ${e.collapsed||t.length||this.rows.hasMore(String(e.id))?y:u`<p class="history-empty">${r("This folder is empty.")}</p>`}
        <chat-history-section .rows=${e.collapsed?[]:t} .current=${this.#d(t)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
        ${e.collapsed?y:this.#a(String(e.id),r("Show more conversations in this folder"))}
      </details>
      <button
        type="button"
        class="quiet row-more"
        title=${r("More")}
        aria-haspopup="menu"
        @click=${({currentTarget:i})=>this.#C(e,i)}
      >
        ${l("ellipsis")}<span class="visually-hidden">${r("More options for the folder {name}",{name:e.name})}</span>
      </button>
    </section>`}#r(){let t=this.rows.archived;return u`<button type="button" class="rail-row history-back" @click=${this.#M}>
        ${l("chevron-right")}${r("Back to all conversations")}
      </button>
      <section class="history-section">
        <h3 class="history-heading" tabindex="-1">${r("Archived")}</h3>
        ${t.length||this.rows.hasMore("archived")?y:u`<p class="history-empty">${r("No archived conversations.")}</p>`}
        <chat-history-section .rows=${t} .current=${this.#d(t)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
      </section>
      ${this.#a("archived",r("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection!==null||!t.length}>${this.#e(!0)}</div>`}#e(t){return t?u`<button type="button" class="rail-row" @click=${()=>this.#u()}>${l("check")}${r("Select conversations")}</button>`:y}#n(t){return u`<selection-bar
      .count=${t.rows.length}
      .all=${t.hasAll}
      .full=${t.isFull}
      .archived=${this.shows==="archive"}
      @act=${({detail:e})=>this.#g(t,e)}
    ></selection-bar>`}#a(t,e){return this.rows.hasMore(t)?u`<button type="button" class="link history-more" data-more=${t} @click=${()=>this.rows.more(t)}>${e}</button>`:y}#o(t){t instanceof HTMLElement&&this.rows.more(t.dataset.more??"")}#d(t){return t.some(({id:e})=>e===this.current)?this.current:null}rename(t){let e=this.closest("[popover]");this.#l({kind:"rename",row:t}),!(!(e instanceof HTMLElement)||this.checkVisibility())&&(e.showPopover(),this.#h?.addEventListener("left",()=>e.hidePopover(),{once:!0}))}async#l(t){await import("./dialog-B252IACU.js");let e=this.#h;e&&(e.rows=this.rows,e.ask(t))}get#h(){return this.querySelector("history-dialog")}get#p(){return this.querySelector("folder-dialog")}get#f(){return this.querySelector("row-menu")}async#u(t){let{Selection:e}=await import("./selection-E6O7EVQM.js"),s=new e(this.rows,()=>this.#x.map(({dataset:i})=>i.conversation??""));s.addEventListener("change",()=>this.rowsChanged+=1),s.addEventListener("said",i=>this.#w(i)),t&&s.toggle(t.id),this.problem="",this.selection=s,requestAnimationFrame(()=>this.#v(t?`[data-conversation="${t.id}"]`:"[data-conversation]"))}#c(){let t=document.activeElement?.closest("[data-conversation]"),e=t instanceof HTMLElement?t.dataset.conversation:this.selection?.last;this.selection=null,requestAnimationFrame(()=>this.#$(e))}async#g(t,e){if(e==="end")this.#c();else if(e==="all")t.selectAll();else if(e==="none")t.clear();else if(e==="tag")await this.#k(t.rows);else{let s=await t.act(e);s.undoable&&this.#c(),this.#y(s)}}#E(t){let{selection:e}=this,s=t.target instanceof Element&&t.target.closest("dialog, .row-menu");if(!(!e||s||t.defaultPrevented)){if(t.key==="Escape")this.#c();else if(t.key.toLowerCase()==="a"&&(t.ctrlKey||t.metaKey))e.selectAll();else return;t.preventDefault()}}get#x(){return[...this.querySelectorAll(".history-lists [data-conversation]")].filter(t=>t instanceof HTMLElement)}#S(t){let e={ArrowDown:1,ArrowUp:-1}[t.key],s=[...this.querySelectorAll("[data-conversation]")].filter(a=>a instanceof HTMLElement),i=document.activeElement?.closest(".history-entry")?.querySelector("[data-conversation]"),o=s.indexOf(i);!e||o<0||(t.preventDefault(),s[o+e]?.focus(),t.shiftKey&&this.selection?.step(s[o+e],s[o]))}#q({row:t,button:e}){this.chosen=t,this.#f?.open(J(t,!!document.getElementById("main")?.dataset.account),e)}#C(t,e){this.chosen=t,e instanceof HTMLElement&&this.#f?.open(Z(t,this.rows.folders),e)}async#L(t){let{chosen:e,rows:s}=this;if(!e)return;if(!("address"in e)){t==="folder-content"?await this.#p?.open(e):this.#y(await at(s,t,e));return}if(t==="select")return void this.#u(e);if(t==="tags")return void this.#k([e]);let i=await ot(s,t,e);i.leaves&&this.#m(i.leaves,e),this.#y(i)}#y({said:t,problem:e="",id:s,undoable:i,asks:o}){this.problem=e,o&&this.#l(o),i&&this.#m("undoable",i),t&&(this.#m("said",t),this.updateComplete.then(()=>this.#$(s)))}#$(t=""){requestAnimationFrame(()=>{if(document.activeElement!==document.body)return;let s=(t?this.querySelector(`[data-conversation="${t}"]`):null)??this.querySelector("#history-query");s instanceof HTMLElement&&s.focus()})}#b(t,e){let s=this.rows.find(t.dataTransfer?.getData(D)??"");!s||t.defaultPrevented||(t.preventDefault(),s.folder!==(e?.id??null)&&lt(this.rows,s,e).then(i=>this.#y(i)))}async#k(t){await import("./tag-dialog-QK26MTQI.js"),await this.querySelector("tag-dialog")?.open(this.rows,t)}#T({detail:{said:t,rows:e}}){this.#m("said",t),this.selection&&this.#c(),this.#$(e[0].id)}#A(){this.shows="archive",this.rows.more("archived"),this.updateComplete.then(()=>this.#v("[tabindex='-1'].history-heading"))}#M(){this.selection=null,this.shows="list",this.updateComplete.then(()=>this.#v("#history-query"))}#v(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}#R({detail:t}){this.shows=t?"hits":"list"}#w({detail:t}){this.#m("said",t)}#O({detail:{kind:t,said:e,row:s}}){this.#m("said",e),t==="rename"&&s&&this.#m("renamed",s),t==="move"&&(this.selection=null),this.#$(s?.id)}#m(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e}))}};customElements.define("chat-history",z);function Gt(n){n.dataTransfer?.types.includes(D)&&n.preventDefault()}import{html as Kt,LitElement as Vt,nothing as Xt}from"../vendor/lit.js";var Qt=10,Jt=28,_=class extends Vt{static properties={text:{state:!0}};#t=()=>{};#s=0;#i=0;#r=0;constructor(){super(),this.text=""}createRenderRoot(){return this}render(){return this.text?Kt`<div class="toast" popover="manual" role="region" aria-label=${r("Latest actions")} @keydown=${this.#a}>
      <span>${this.text}</span>
      <button type="button" class="link" @click=${this.#n}>${r("Undo")}</button>
    </div>`:Xt}async show(t,e,{takesFocus:s=!0}={}){this.text=t,this.#t=e,this.#s=this.#i=0,clearInterval(this.#r),this.#r=setInterval(()=>this.#e(),1e3),await this.updateComplete;let i=this.querySelector(".toast");i instanceof HTMLElement&&!i.matches(":popover-open")&&i.showPopover(),s&&this.querySelector("button")?.focus()}#e(){this.#s+=1,this.querySelector(".toast:hover, :focus-visible")||(this.#i+=1),(this.#i>=Qt||this.#s>=Jt)&&this.hide()}hide(){clearInterval(this.#r);let t=this.contains(document.activeElement);this.text="",t&&this.dispatchEvent(new CustomEvent("left"))}#n(){this.hide(),this.#t()}#a(t){t.key==="Escape"&&(t.preventDefault(),this.hide())}};customElements.define("chat-toast",_);var Zt="input, textarea, select, audio, video, iframe";function as(n,t){let e=null;addEventListener("touchstart",({touches:o,target:a})=>{e=o.length===1&&t.checkVisibility()&&i(o[0].clientX,a)?{...mt(o[0]),wasOpen:s()}:null},{passive:!0}),addEventListener("touchmove",({touches:o})=>{o.length>1&&(e=null)},{passive:!0}),addEventListener("touchcancel",()=>e=null),addEventListener("touchend",({changedTouches:o})=>{if(!e)return;let a=mt(o[0]),h=(a.x-e.x)*(gt()?-1:1),c=Math.abs(h)>56&&Math.abs(h)>2*Math.abs(a.y-e.y),d=!(getSelection()?.isCollapsed??!0);c&&!d&&h>0!==e.wasOpen&&s()===e.wasOpen&&n.togglePopover(),e=null});let s=()=>n.matches(":popover-open");function i(o,a){return document.querySelector("dialog:modal")||(visualViewport?.scale??1)>1?!1:s()||(gt()?innerWidth-o:o)<innerWidth*.4&&!te(a)}}function mt({clientX:n,clientY:t}){return{x:n,y:t}}function gt(){return document.documentElement.dir==="rtl"}function te(n){if(n instanceof Element&&n.closest(Zt))return!0;for(let t=n instanceof Element?n:null;t;t=t.parentElement)if(t.scrollWidth>t.clientWidth+1&&/auto|scroll/.test(getComputedStyle(t).overflowX))return!0;return!1}import{html as b,LitElement as ee,nothing as $}from"../vendor/lit.js";var se=8,Y=class extends ee{static properties={label:{type:String},icon:{type:String},options:{attribute:!1},value:{attribute:!1},words:{attribute:!1},hint:{type:String},disabled:{type:Boolean},query:{state:!0}};constructor(){super(),this.label="",this.icon="",this.options=[],this.value="",this.words="",this.hint="",this.disabled=!1,this.query=""}createRenderRoot(){return this}render(){let t=this.options.find(({value:s})=>s===this.value),e=this.words||(t?.title??"");return b`<button
        type="button"
        class="quiet choice-button"
        aria-haspopup="listbox"
        aria-expanded="false"
        aria-label="${this.label}: ${t?.name??t?.title??e}"
        aria-describedby=${this.hint||$}
        ?disabled=${this.disabled}
        title=${this.label}
        @click=${this.#d}
        @keydown=${this.#l}
      >
        ${this.icon?l(this.icon):$}<span class="choice-words" dir="auto">${e}</span>${l("chevron-down")}
      </button>
      <div class="menu-popover choice-popover" popover @toggle=${this.#o} @keydown=${this.#h}>
        ${this.options.length<se?$:this.#t()}
        <div role="listbox" aria-label=${this.label}>${this.#r.map((s,i,o)=>[this.#s(s,o[i-1]),this.#i(s)])}</div>
        ${this.#r.length?$:b`<p class="choices-none" role="status">${r("No results.")}</p>`}
      </div>`}#t(){return b`<input
      type="search"
      aria-label=${r("Search")}
      placeholder=${r("Search")}
      autocomplete="off"
      .value=${this.query}
      @input=${({target:t})=>this.query=t.value}
    />`}#s({group:t},e){return t&&t!==e?.group?b`<p class="choice-group" aria-hidden="true"><bdi>${t}</bdi></p>`:$}#i({value:t,title:e,detail:s,name:i}){let o=t===this.value;return b`<button type="button" role="option" tabindex="-1" aria-selected=${String(o)} aria-label=${i??$} data-value=${t} @click=${()=>this.#f(t)}>
      <span class="choice-option" dir="auto">${e}${s?b`<small>${s}</small>`:$}</span>
      ${o?l("check"):$}
    </button>`}get#r(){let t=this.query.trim().toLowerCase();return t?this.options.filter(({title:e,detail:s="",name:i=""})=>`${e} ${s} ${i}`.toLowerCase().includes(t)):this.options}get#e(){return this.querySelector(".choice-button")}get#n(){return this.querySelector(".choice-popover")}get#a(){return[...this.querySelectorAll("[role=option]")].filter(t=>t instanceof HTMLElement)}#o({newState:t}){this.#e?.setAttribute("aria-expanded",String(t==="open"))}#d(){this.#n?.matches(":popover-open")?this.#n.hidePopover():this.open()}focus(){this.#e?this.#e.focus():this.updateComplete.then(()=>this.#e?.focus())}open(){if(!this.#n||!this.#e)return;this.query="",this.#n.style.setProperty("--button-width",`${this.#e.offsetWidth}px`),this.#n.showPopover(),X(this.#n,this.#e);let t=this.querySelector("input")??this.querySelector("[aria-selected=true]")??this.#a[0];t instanceof HTMLElement&&t.focus()}#l(t){["ArrowDown","ArrowUp"].includes(t.key)&&(t.preventDefault(),this.open())}#h(t){let e=this.#a,s=e.indexOf(document.activeElement),i={ArrowDown:s+1,ArrowUp:s-1,Home:0,End:-1};if(t.key==="Tab"&&this.#n?.hidePopover(),t.key==="Enter"&&s<0&&e[0]?.click(),t.key.length===1&&s>=0&&t.key!==" ")return this.#p(t.key,e,s);let o=t.key in i&&!(s<0&&["Home","End"].includes(t.key));!o&&!(t.key==="Enter"&&s<0)||(t.preventDefault(),o&&e.at(i[t.key]%e.length)?.focus())}#p(t,e,s){[...e.slice(s+1),...e.slice(0,s+1)].find(({textContent:o})=>o?.trim().toLowerCase().startsWith(t.toLowerCase()))?.focus()}#f(t){this.#n?.hidePopover(),this.#e?.focus(),t!==this.value&&this.dispatchEvent(new CustomEvent("chosen",{detail:t}))}};customElements.define("choice-list",Y);export{Y as a,nt as b,tt as c,et as d,R as e,z as f,_ as g,as as h};
