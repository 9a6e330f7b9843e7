import{b as Y,c as _,d as S,e as V,f as K}from"./chunk-LX3IF6LZ.js";import{b as E}from"./chunk-CR2366M5.js";import{a as l}from"./chunk-5OVPBSN4.js";import{a as U,b as k,c as p,d as G,f as u}from"./chunk-TXRJREKV.js";import{a as B,b as n,d as b}from"./chunk-GDVCXHG5.js";import{html as d,LitElement as Ht,nothing as $,repeat as Pt}from"../vendor/lit.js";import{html as m,LitElement as ht,nothing as w,repeat as dt}from"../vendor/lit.js";import{html as O,nothing as ct}from"../vendor/lit.js";function W({name:i,url:t,type:e},s,r,a=!1){let o=E(t)?.pathname??"";return O`<div class="files-line">
    ${l(/^image\//.test(e)?"image":"file-text")}
    <span class="attachment-words">
      <a class="attachment-name" href=${o} target="_blank" rel="noopener" title=${i}>${i}</a>
      <span class="attachment-detail">${s}</span>
    </span>
    ${a?O`<a class="quiet" href="${o}?download" download=${i} title=${n("Download")}>
          ${l("download")}<span class="visually-hidden">${n("Download {name}",{name:i})}</span>
        </a>`:ct}
    <button type="button" class="quiet" title=${n("Delete")} @click=${r}>
      ${l("trash-2")}<span class="visually-hidden">${n("Delete {name}",{name:i})}</span>
    </button>
  </div>`}function j({name:i},t,e){return O`<div class="files-question" role="group" aria-label=${n("Delete {name}",{name:i})}>
    <p>${n("“{name}” will be permanently deleted. Later answers can’t use it.",{name:i})}</p>
    <div class="dialog-buttons">
      <button type="button" class="button" @click=${t}>${n("Keep")}</button>
      <button type="button" class="button danger" @click=${e}>${n("Delete")}</button>
    </div>
  </div>`}var ut=4e3,x=n("That didn’t work. Check the connection and try again."),R=class extends ht{static properties={folder:{state:!0},instructions:{state:!0},files:{state:!0},uploading:{state:!0},problem:{state:!0},asked:{state:!0}};constructor(){super(),this.folder=null,this.instructions="",this.files=null,this.uploading="",this.problem="",this.asked=null,this.opener=null}createRenderRoot(){return this}updated(){let t=this.querySelector("dialog");this.folder&&t&&!t.open&&t.showModal()}async open(t){this.opener=document.activeElement,this.files=null,this.problem=this.uploading="",this.asked=null,this.folder=t;let e=await u(this.#n("content"));this.folder===t&&(this.files=e?.files??null,this.instructions=e?.instructions??"",e||(this.problem=n("The folder can’t be shown. Check the connection and try again.")),this.updateComplete.then(()=>this.#e?.focus()))}render(){let{folder:t}=this;return t?m`<dialog class="folder-content" aria-labelledby="folder-heading" @close=${this.#f}>
      <form @submit=${this.#d}>
        <h2 id="folder-heading" dir="auto">${t.name}</h2>
        ${this.problem?m`<p class="field-error" role="alert">${this.problem}</p>`:w}
        ${this.files===null?this.problem?w:m`<p class="working">${n("Loading…")}</p>`:this.#t(this.files)}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#u}>${n("Close")}</button>
          ${this.files===null?w:m`<button class="button primary" ?disabled=${this.uploading!==""}>${n("Save instructions")}</button>`}
        </div>
      </form>
    </dialog>`:w}#t(t){let e=()=>this.querySelector("#folder-files")?.click();return m`<label for="folder-instructions">${n("Instructions for all conversations in this folder")}</label>
      <textarea
        id="folder-instructions"
        name="instructions"
        rows="5"
        dir="auto"
        maxlength=${ut}
        aria-describedby="folder-instructions-hint"
        .value=${this.instructions}
      ></textarea>
      <p id="folder-instructions-hint" class="history-empty">${n("The model reads them with each question, starting with the next one.")}</p>
      <h3 id="folder-files-heading" tabindex="-1">${n("Files")}</h3>
      <ul class="files-list" aria-labelledby="folder-files-heading">
        ${dt(t,({url:s})=>s,s=>m`<li>${this.#i(s)}</li>`)}
      </ul>
      ${t.length?w:m`<p class="files-none">${n("No files yet. They are sent with each question, as if they were attached.")}</p>`}
      <p role="status">${this.uploading?n("“{name}” is being uploaded…",{name:this.uploading}):""}</p>
      <button type="button" class="button folder-add" aria-disabled=${String(this.uploading!=="")} @click=${e}>
        ${l("paperclip")}${n("Add files")}
      </button>
      <input type="file" id="folder-files" multiple hidden aria-label=${n("Files of the folder")} @change=${this.#s} />`}#i(t){return t===this.asked?j(t,()=>this.#r(),()=>this.#o(t)):W(t,_(t.size),()=>this.#a(t))}get#e(){return this.querySelector("textarea")}#n(t){return`/conversations/folders/${this.folder?.id}/${t}/`}async#s(t){let e=t.target,s=[...e.files??[]];e.value="",this.instructions=this.#e?.value??"",this.problem="";for(let r of s){this.uploading=r.name;let{stored:a,problem:o}=await ft(this.#n("files"),r);a?this.files=[...this.files??[],a]:this.problem=o}this.uploading="",this.problem||this.#c(b("File added.","{count} files added.",s.length))}async#o(t){if(this.problem="",this.instructions=this.#e?.value??"",!await G(E(t.url)?.pathname??"")){this.problem=x;return}this.files=this.files?.filter(({url:e})=>e!==t.url)??null,this.#c(n("{name} deleted.",{name:t.name})),this.#r()}#a(t){this.instructions=this.#e?.value??"",this.asked=t,this.updateComplete.then(()=>this.#h(".files-question .button"))}#r(){this.asked=null,this.updateComplete.then(()=>this.#h("#folder-files-heading"))}#h(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}async#d(t){t.preventDefault(),this.instructions=this.#e?.value??"";let{status:e,told:s}=await p(this.#n("content"),{instructions:this.instructions});this.problem=e===200?"":s?.error?.message??x,!this.problem&&(this.#u(),this.#c(n("Instructions saved.")))}#u(){this.querySelector("dialog")?.close()}#f(){this.folder=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}#c(t){this.dispatchEvent(new CustomEvent("said",{detail:t}))}};customElements.define("folder-dialog",R);async function ft(i,t){let e=new FormData;e.append("file",t);try{let s=await fetch(i,{method:"POST",body:e,headers:{"X-CSRFToken":U()}}),r=await s.json();return s.ok?{stored:r,problem:""}:{stored:null,problem:r.error?.message??x}}catch{return{stored:null,problem:x}}}async function X(i,t,e){switch(t){case"rename":case"move":return{asks:{kind:t,row:e}};case"share":case"print":return{leaves:t};case"go-on":{let s=await u(`${e.address}go-on/`);return s?s.applications.length?{asks:{kind:t,row:e,applications:s.applications}}:{problem:n("No other app is available to you.")}:{problem:n("The apps can’t be listed. Check the connection and try again.")}}case"pin":return q(i,e,{pinned:String(!e.pinned)},e.pinned?n("No longer pinned."):n("Pinned."));case"archive":return q(i,e,{archived:"true"},n("Conversation archived."));case"unarchive":return q(i,e,{archived:"false"},n("Conversation restored from the archive."));case"delete":return pt(i,e);default:return{}}}async function z(i,t,e){if(t==="rename-folder")return{asks:{kind:t,folder:e}};if(t==="delete-folder"){let{problem:o}=await i.changeFolders(`${e.id}/delete/`,{});return o?{problem:o}:(await i.refresh(),{said:n("Folder deleted. Its conversations are still here.")})}let s=i.folders.findIndex(({id:o})=>o===e.id),r=i.folders[s+(t==="folder-up"?-1:2)],{problem:a}=await i.changeFolders(`${e.id}/`,{before:r?String(r.id):""});return a?{problem:a}:{said:n("Folder moved.")}}async function Q(i,t,e){let s={folder:e?String(e.id):"",...t.pinned?{pinned:"false"}:{}};return q(i,t,s,e?n("Conversation moved."):n("Conversation removed from its folder."))}async function q(i,t,e,s){let r=await i.arrange(t,e);return r?{problem:r}:{said:s,id:t.id}}async function pt(i,t){return await k(`${t.address}delete/`,{})?(i.remove(t.id),{deleted:t}):{problem:n("The conversation was not deleted. Check the connection and try again.")}}import{html as g,LitElement as mt,nothing as C}from"../vendor/lit.js";var gt={rename:n("Rename conversation"),move:n("Move to a folder"),"go-on":n("Continue in another app"),"new-folder":n("New folder"),"rename-folder":n("Rename folder")},yt={rename:200,"rename-folder":100,"new-folder":100},A=class extends mt{static properties={asked:{state:!0},problem:{state:!0},isNew:{state:!0}};constructor(){super(),this.rows=void 0,this.asked=null,this.problem="",this.isNew=!1,this.opener=null}createRenderRoot(){return this}ask(t){this.opener=document.activeElement,this.problem="",this.isNew=t.kind==="move"&&!this.rows?.folders.length,this.asked=t}updated(){let t=this.querySelector("dialog");if(!this.asked||!t||t.open)return;t.showModal();let e=t.querySelector("input[name=text]");e instanceof HTMLInputElement&&e.select()}render(){let{asked:t}=this;return t?g`<dialog aria-labelledby="dialog-heading" @close=${this.#a}>
      <form @submit=${this.#r}>
        <h2 id="dialog-heading">${gt[t.kind]}</h2>
        ${this.#t(t)}
        ${this.problem?g`<p class="field-error" role="alert">${this.problem}</p>`:C}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#o}>${n("Cancel")}</button>
          <button class="button primary">${vt(t.kind)}</button>
        </div>
      </form>
    </dialog>`:C}#t(t){return t.kind==="move"?this.#n(t.row):t.kind==="go-on"?this.#i(t.row,t.applications):this.#e(t.kind,$t(t))}#i(t,e){return g`<fieldset class="folder-choice">
        <legend>${n("Choose an app for the next question in “{title}”",{title:t.title||n("Untitled")})}</legend>
        ${e.map(({slug:s,title:r})=>g`<label>
            <input type="radio" name="application" value=${s} required />
            <span dir="auto">${r}</span>
          </label>`)}
      </fieldset>
      <p class="history-empty">${n("Your messages stay, and the new app reads them too.")}</p>`}#e(t,e){return g`<label for="dialog-text">${t==="rename"?n("Title"):n("Name")}</label>
      <input id="dialog-text" name="text" maxlength=${yt[t]} required autocomplete="off" .value=${e} />`}#n(t){let e=this.rows?.folders??[];return g`<fieldset class="folder-choice">
        <legend>${n("Folder of “{title}”",{title:t.title||n("Untitled")})}</legend>
        ${e.map(({id:s,name:r})=>this.#s(String(s),r,t.folder===s&&!this.isNew))}
        ${t.folder===null?C:this.#s("",n("No folder"),!1)}
        ${this.#s("new",n("A new folder"),this.isNew)}
      </fieldset>
      ${this.isNew?this.#e("new-folder",""):C}`}#s(t,e,s){return g`<label>
      <input type="radio" name="folder" value=${t} required .checked=${s} @change=${()=>this.isNew=t==="new"} />
      <span dir="auto">${e}</span>
    </label>`}#o(){this.querySelector("dialog")?.close()}#a(){this.dispatchEvent(new CustomEvent("left")),this.asked=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}async#r(t){t.preventDefault();let{asked:e,rows:s}=this;if(!e||!s)return;let r=new FormData(t.target),a=String(r.get("text")??"").trim(),o=String(r.get(e.kind==="go-on"?"application":"folder")??"");this.problem=await wt(s,e,a,o),!this.problem&&(this.#o(),this.dispatchEvent(new CustomEvent("done",{detail:bt(e,a)})))}};customElements.define("history-dialog",A);function $t(i){return i.kind==="rename"?i.row.title:i.kind==="rename-folder"?i.folder.name:""}function vt(i){return i==="move"?n("Move"):i==="go-on"?n("Continue"):i==="new-folder"?n("Create"):n("Rename")}async function wt(i,t,e,s){if(t.kind==="rename")return i.rename(t.row,e);if(t.kind==="rename-folder")return(await i.changeFolders(`${t.folder.id}/`,{name:e})).problem;if(t.kind==="new-folder")return(await i.changeFolders("",{name:e})).problem;if(t.kind==="go-on")return i.goOn(t.row,s);if(s!=="new")return i.arrange(t.row,{folder:s});let r=await i.changeFolders("",{name:e});return r.problem||i.arrange(t.row,{folder:String(r.folder)})}function bt(i,t){let{kind:e}=i;return e==="rename"?{kind:e,said:n("Conversation renamed."),row:{...i.row,title:t}}:e==="go-on"?{kind:e,said:n("Another app answers from your next message."),row:i.row}:e==="move"?{kind:e,said:n("Conversation moved."),row:i.row}:{kind:e,said:e==="new-folder"?n("Folder created."):n("Folder renamed.")}}var J=1440*60*1e3;function Z(i,t,e){let s=new Set(t.map(({id:o})=>o)),r=new Map([["pinned",{key:"pinned",heading:n("Pinned"),rows:[]}]]);for(let o of t){let c=`folder ${o.id}`;r.set(c,{key:c,heading:o.name,rows:[],folder:o})}let a=new Date().setHours(0,0,0,0);for(let o of i){let c=o.folder!==null&&s.has(o.folder),h=o.pinned?"pinned":c?`folder ${o.folder}`:"";(h?r.get(h):kt(r,o,a))?.rows.push(o)}return[...r.values()].filter(o=>o.folder||o.rows.length).map(o=>({...o,rows:St(o,e)}))}function kt(i,{updated_at:t},e){let s=Et(new Date(t),e),r=i.get(s)??{key:s,heading:s,rows:[]};return i.set(s,r),r}function Et(i,t){if(i.getTime()>=t)return n("Today");if(i.getTime()>=t-J)return n("Yesterday");if(i.getTime()>=t-7*J)return n("Previous 7 days");let e=i.getFullYear()===new Date(t).getFullYear();return i.toLocaleDateString(B,{month:"long",...e?{}:{year:"numeric"}})}function St({key:i,rows:t},e){let s=e.find(r=>r.key===i)?.rows;return s?.length===t.length&&t.every((r,a)=>r===s[a])?s:t}var et=n("That didn’t work. Check the connection and try again."),st="main",xt="archived",M=class extends EventTarget{#t=new Map;folders=[];#i=new Map;#e=new Set;#n=[];begin({conversations:t,next:e,folders:s}){this.#t=new Map(t.map(r=>[r.id,r])),this.folders=s,this.#i=new Map([[st,e]]),this.#s()}get all(){return[...this.#t.values()]}get sections(){return this.#n}get archived(){return this.all.filter(({archived:t})=>t).toSorted(tt)}find(t){return this.#t.get(t??"")}hasMore(t){return this.#i.get(t)!==""}async more(t){let e=this.#i.get(t);if(e===""||this.#e.has(t))return;this.#e.add(t);let s=await u(`/conversations/?${new URLSearchParams({...qt(t),after:e??""})}`);if(this.#e.delete(t),!!s){for(let r of s.conversations)this.#t.set(r.id,r);this.#i.set(t,s.next),this.#s()}}async refresh(){let t=await u("/conversations/");t&&this.begin(t)}take({conversations:t,deleted:e,is_whole:s}){s||this.refresh();for(let r of t)this.#t.set(r.id,r);for(let r of e)this.#t.delete(r);this.#s()}takeFolders(t){this.folders=t,this.#s()}put(t){this.#t.set(t.id,t),this.#s()}remove(t){this.#t.delete(t)&&this.#s()}async arrange(t,e){let{status:s,told:r}=await p(`${t.address}arrange/`,e);return s!==200?T(r):(this.put(r.conversation),"")}async goOn(t,e){let{status:s,told:r}=await p(`${t.address}go-on/`,{application:e});return s!==200?T(r):(this.put(r.conversation),"")}async rename(t,e){if(!await k(`${t.address}rename/`,{title:e}))return et;let s=this.#t.get(t.id);return s&&this.put({...s,title:e}),""}async restore(t){let{status:e,told:s}=await p(`${t.address}restore/`,{});return e!==200?T(s):(this.put(s.conversation),"")}async changeFolders(t,e){let{status:s,told:r}=await p(`/conversations/folders/${t}`,e);return s!==200?{folder:null,problem:T(r)}:(this.takeFolders(r.folders),{folder:r.folder,problem:""})}collapse(t,e){t.collapsed!==e&&(this.takeFolders(this.folders.map(s=>s.id===t.id?{...s,collapsed:e}:s)),p(`/conversations/folders/${t.id}/`,{collapsed:String(e)}))}#s(){let t=this.all.filter(({archived:e})=>!e).toSorted(tt);this.#n=Z(t,this.folders,this.#n),this.dispatchEvent(new CustomEvent("change"))}};function qt(i){return i===st||i===xt?{part:i}:{folder:i}}function T(i){return i?.error?.message??et}function tt(i,t){return i.updated_at<t.updated_at?1:i.updated_at>t.updated_at?-1:0}import{html as f,LitElement as Ct,nothing as L}from"../vendor/lit.js";var Tt=200,N=class extends Ct{static properties={query:{state:!0},hits:{state:!0},failed:{state:!0},answered:{state:!0}};#t=0;constructor(){super(),this.query="",this.hits=null,this.answered="",this.failed=!1}createRenderRoot(){return this}render(){return f`<div class="history-search">
        ${l("search")}
        <label class="visually-hidden" for="history-query">${n("Search conversations")}</label>
        <input
          type="search"
          id="history-query"
          placeholder=${n("Search conversations")}
          dir="auto"
          autocomplete="off"
          maxlength="500"
          .value=${this.query}
          @input=${this.#s}
          @keydown=${this.#n}
        />
      </div>
      ${this.query.trim()?this.#i():L}`}#i(){if(this.failed)return f`<p class="history-empty">${n("Search is unavailable. Check the connection and try again.")}</p>`;let t=this.query!==this.answered,e=t?f`<p class="history-empty working">${n("Searching…")}</p>`:L;if(!this.hits?.length)return t?e:f`<p class="history-empty">${n("No results.")}</p>`;let s=Mt(this.answered);return f`${e}
      <ul class="history hits" aria-label=${n("Search results")} aria-busy=${t} ?inert=${t}>
        ${this.hits.map(r=>this.#e(r,s))}
      </ul>`}#e({id:t,title:e,address:s,application:r,excerpt:a,message:o,archived:c},h){return f`<li class="history-entry">
      <a href="${s}${o?`#message-${o}`:""}" data-conversation=${t}>
        ${S(r,"small")}
        <span class="history-title" dir="auto">${it(e||n("Untitled"),h)}</span>
        <span class="visually-hidden">${r.title}</span>
        ${c?f`<span class="hit-note">${n("Archived")}</span>`:L}
        ${a?f`<span class="hit-excerpt" dir="auto">${it(a,h)}</span>`:L}
      </a>
    </li>`}clear(){clearTimeout(this.#t),this.query="",this.hits=null,this.answered="",this.dispatchEvent(new CustomEvent("searching",{detail:!1}))}#n(t){t.key==="ArrowDown"&&(t.preventDefault(),this.query===this.answered&&this.querySelector("a")?.focus()),!(t.key!=="Escape"||!this.query)&&(t.preventDefault(),this.clear())}#s(t){if(this.query=t.target.value,clearTimeout(this.#t),this.failed=!1,!this.query.trim())return this.clear();this.dispatchEvent(new CustomEvent("searching",{detail:!0})),this.#t=setTimeout(()=>this.#o(this.query),Tt)}async#o(t){let e=await u(`/conversations/search/?${new URLSearchParams({q:t})}`);if(t!==this.query)return;this.failed=e===null,this.hits=e?.hits??null,this.answered=t;let s=this.hits?.length??0,r=s?b("{count} conversation found.","{count} conversations found.",s):n("No conversations found.");e&&this.dispatchEvent(new CustomEvent("said",{detail:r}))}};customElements.define("history-search",N);function Mt(i){return i.toLowerCase().split(/\s+/).filter(Boolean)}function it(i,t){let e=new RegExp(`(${t.map(s=>s.replace(/[.*+?^${}()|[\]\\]/g,"\\$&")).join("|")})`,"giu");return i.split(e).map((s,r)=>r%2?f`<mark>${s}</mark>`:s)}import{html as D,ifDefined as Lt,LitElement as Ft,nothing as nt,repeat as Ot}from"../vendor/lit.js";var Rt={running:n("Being answered"),waiting:n("Waiting for you"),unread:n("Unread")},At=["F2","Shift+F10"].join(" "),I=class extends Ft{static properties={rows:{attribute:!1},current:{attribute:!1}};constructor(){super(),this.rows=[],this.current=null}createRenderRoot(){return this}render(){return D`<ul class="history">
      ${Ot(this.rows,({id:t})=>t,t=>this.#t(t))}
    </ul>`}#t(t){let{id:e,title:s,state:r,address:a,application:o,updated_at:c}=t,h=e===this.current,y=s||n("Untitled");return D`<li
      class="history-entry"
      draggable="true"
      @dragstart=${v=>Nt(v,t)}
      @keydown=${v=>this.#i(v,t)}
    >
      <a
        href=${a}
        data-conversation=${e}
        title="${y} · ${o.title} · ${Y(c)}"
        aria-current=${Lt(h?"page":void 0)}
        aria-keyshortcuts=${At}
      >
        ${S(o,"small")}
        <span class="history-title" dir="auto">${y}</span>
        <span class="visually-hidden">${o.title}</span>
        ${h&&r==="unread"?nt:It(r)}
      </a>
      <button
        type="button"
        class="quiet row-more"
        tabindex="-1"
        title=${n("More")}
        aria-haspopup="menu"
        @click=${v=>this.#e("row-menu",{row:t,button:v.currentTarget})}
      >
        ${l("ellipsis")}<span class="visually-hidden">${n("More for {name}",{name:y})}</span>
      </button>
    </li>`}#i(t,e){let s=t.currentTarget,r=s.querySelector(".row-more"),a=t.key==="ContextMenu"||t.key==="F10"&&t.shiftKey,o=Dt(t,s);if(t.key==="F2")this.#e("row-rename",e);else if(a)this.#e("row-menu",{row:e,button:r});else if(o==="end")r.focus();else if(o==="start")s.querySelector("a")?.focus();else return;t.preventDefault()}#e(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e,bubbles:!0}))}};customElements.define("chat-history-section",I);var F="application/x-quickapps-conversation";function Nt({dataTransfer:i},{id:t}){i?.setData(F,t),i&&(i.effectAllowed="linkMove")}function Dt({key:i,altKey:t,ctrlKey:e,metaKey:s},r){if(t||e||s||!["ArrowLeft","ArrowRight"].includes(i))return"";let a=getComputedStyle(r).direction==="rtl";return i==="ArrowRight"===a?"start":"end"}function It(i){let t=Rt[i];return t?D`<span class="history-mark" data-state=${i} title=${t}><span class="visually-hidden">${t}</span></span>`:nt}var H=class extends Ht{static properties={current:{attribute:!1},shows:{state:!0},problem:{state:!0},rowsChanged:{state:!0}};constructor(){super(),this.rows=new M,this.rows.addEventListener("change",()=>this.rowsChanged+=1),this.rowsChanged=0,this.current=null,this.shows="list",this.problem="",this.chosen=null,this.addEventListener("dragover",Bt),this.addEventListener("drop",t=>this.#g(t,null)),this.onMore=new IntersectionObserver(t=>{for(let{isIntersecting:e,target:s}of t)e&&this.#o(s)})}createRenderRoot(){return this}updated(){let t=this.#r;t&&(t.rows=this.rows),this.onMore.disconnect();for(let e of this.querySelectorAll("[data-more]"))this.onMore.observe(e)}render(){return d`<history-search @searching=${this.#k} @said=${this.#$}></history-search>
      <h2 class="visually-hidden">${n("Conversations")}</h2>
      ${this.problem?d`<p class="field-error" role="alert">${this.problem}</p>`:$}
      <div
        class="history-lists"
        ?hidden=${this.shows==="hits"}
        @keydown=${this.#u}
        @row-menu=${({detail:t})=>this.#f(t)}
        @row-rename=${({detail:t})=>this.#r?.ask({kind:"rename",row:t})}
      >
        ${this.shows==="archive"?this.#n():this.#t()}
      </div>
      <row-menu @chosen=${({detail:t})=>this.#v(t)}></row-menu>
      <history-dialog @done=${this.#E}></history-dialog>
      <folder-dialog @said=${this.#$}></folder-dialog>`}#t(){let{sections:t}=this.rows;return d`${Pt(t,({key:e})=>e,e=>e.folder?this.#e(e,e.folder):this.#i(e))}
      ${t.some(({folder:e})=>!e)?$:d`<p class="history-empty">${n("Your conversations will be listed here.")}</p>`}
      ${this.#s("main",n("Show older conversations"))}
      <div class="history-foot">
        <button type="button" class="quiet" @click=${()=>this.#r?.ask({kind:"new-folder"})}>
          ${l("folder-plus")}${n("New folder")}
        </button>
        <button type="button" class="quiet" @click=${this.#w}>${l("archive")}${n("Archived")}</button>
      </div>`}#i({key:t,heading:e,rows:s}){return d`<section class="history-section">
      <h3 class="history-heading" dir="auto">${e}</h3>
      <chat-history-section data-section=${t} .rows=${s} .current=${this.#a(s)}></chat-history-section>
    </section>`}#e({rows:t},e){let s=r=>this.rows.collapse(e,!r.target.open);return d`<section class="history-section history-folder" @drop=${r=>this.#g(r,e)}>
      <details ?open=${!e.collapsed} @toggle=${s}>
        <summary>${l("chevron-right")}${l("folder")}<h3 dir="auto">${e.name}</h3></summary>
        ${e.collapsed||t.length||this.rows.hasMore(String(e.id))?$:d`<p class="history-empty">${n("Nothing here yet.")}</p>`}
        <chat-history-section .rows=${e.collapsed?[]:t} .current=${this.#a(t)}></chat-history-section>
        ${e.collapsed?$:this.#s(String(e.id),n("Show more of this folder"))}
      </details>
      <button
        type="button"
        class="quiet row-more"
        title=${n("More")}
        aria-haspopup="menu"
        @click=${({currentTarget:r})=>this.#c(e,r)}
      >
        ${l("ellipsis")}<span class="visually-hidden">${n("More for the folder {name}",{name:e.name})}</span>
      </button>
    </section>`}#n(){let t=this.rows.archived;return d`<button type="button" class="quiet history-back" @click=${this.#b}>
        ${l("chevron-right")}${n("Back to all conversations")}
      </button>
      <section class="history-section">
        <h3 class="history-heading" tabindex="-1">${n("Archived")}</h3>
        ${t.length||this.rows.hasMore("archived")?$:d`<p class="history-empty">${n("No archived conversations.")}</p>`}
        <chat-history-section .rows=${t} .current=${this.#a(t)}></chat-history-section>
      </section>
      ${this.#s("archived",n("Show older conversations"))}`}#s(t,e){return this.rows.hasMore(t)?d`<button type="button" class="link history-more" data-more=${t} @click=${()=>this.rows.more(t)}>${e}</button>`:$}#o(t){t instanceof HTMLElement&&this.rows.more(t.dataset.more??"")}#a(t){return t.some(({id:e})=>e===this.current)?this.current:null}rename(t){let e=this.closest("[popover]");this.#r?.ask({kind:"rename",row:t}),!(!(e instanceof HTMLElement)||e.checkVisibility())&&(e.showPopover(),this.#r?.addEventListener("left",()=>e.hidePopover(),{once:!0}))}get#r(){return this.querySelector("history-dialog")}get#h(){return this.querySelector("folder-dialog")}get#d(){return this.querySelector("row-menu")}#u(t){let e={ArrowDown:1,ArrowUp:-1}[t.key],s=[...this.querySelectorAll("[data-conversation]")].filter(o=>o instanceof HTMLElement),r=document.activeElement?.closest(".history-entry")?.querySelector("[data-conversation]"),a=s.indexOf(r);!e||a<0||(t.preventDefault(),s[a+e]?.focus())}#f({row:t,button:e}){this.chosen=t,this.#d?.open(V(t,!!document.getElementById("main")?.dataset.account),e)}#c(t,e){this.chosen=t,e instanceof HTMLElement&&this.#d?.open(K(t,this.rows.folders),e)}async#v(t){let{chosen:e,rows:s}=this;if(!e)return;if(!("address"in e)){t==="folder-content"?await this.#h?.open(e):this.#p(await z(s,t,e));return}let r=await X(s,t,e);r.leaves&&this.#l(r.leaves,e),this.#p(r)}#p({said:t,problem:e="",id:s,deleted:r,asks:a}){this.problem=e,a&&this.#r?.ask(a),r&&this.#l("deleted",r),t&&(this.#l("said",t),this.updateComplete.then(()=>this.#m(s)))}#m(t=""){requestAnimationFrame(()=>{if(document.activeElement!==document.body)return;let s=(t?this.querySelector(`[data-conversation="${t}"]`):null)??this.querySelector("#history-query");s instanceof HTMLElement&&s.focus()})}#g(t,e){let s=this.rows.find(t.dataTransfer?.getData(F)??"");!s||t.defaultPrevented||(t.preventDefault(),s.folder!==(e?.id??null)&&Q(this.rows,s,e).then(r=>this.#p(r)))}#w(){this.shows="archive",this.rows.more("archived"),this.updateComplete.then(()=>this.#y("[tabindex='-1'].history-heading"))}#b(){this.shows="list",this.updateComplete.then(()=>this.#y("#history-query"))}#y(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}#k({detail:t}){this.shows=t?"hits":"list"}#$({detail:t}){this.#l("said",t)}#E({detail:{kind:t,said:e,row:s}}){this.#l("said",e),t==="rename"&&s&&this.#l("renamed",s),this.#m(s?.id)}#l(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e}))}};customElements.define("chat-history",H);function Bt(i){i.dataTransfer?.types.includes(F)&&i.preventDefault()}import{html as Ut,LitElement as Gt,nothing as Yt}from"../vendor/lit.js";var _t=10,Vt=28,P=class extends Gt{static properties={text:{state:!0}};#t=()=>{};#i=0;#e=0;#n=0;constructor(){super(),this.text=""}createRenderRoot(){return this}render(){return this.text?Ut`<div class="toast" popover="manual" role="region" aria-label=${n("Latest actions")} @keydown=${this.#a}>
      <span>${this.text}</span>
      <button type="button" class="link" @click=${this.#o}>${n("Undo")}</button>
    </div>`:Yt}async show(t,e,{takesFocus:s=!0}={}){this.text=t,this.#t=e,this.#i=this.#e=0,clearInterval(this.#n),this.#n=setInterval(()=>this.#s(),1e3),await this.updateComplete;let r=this.querySelector(".toast");r instanceof HTMLElement&&!r.matches(":popover-open")&&r.showPopover(),s&&this.querySelector("button")?.focus()}#s(){this.#i+=1,this.querySelector(".toast:hover, :focus-visible")||(this.#e+=1),(this.#e>=_t||this.#i>=Vt)&&this.hide()}hide(){clearInterval(this.#n);let t=this.contains(document.activeElement);this.text="",t&&this.dispatchEvent(new CustomEvent("left"))}#o(){this.hide(),this.#t()}#a(t){t.key==="Escape"&&(t.preventDefault(),this.hide())}};customElements.define("chat-toast",P);var rt="rail";function Ke(){let i=document.getElementById("rail-toggle");i?.addEventListener("click",()=>{Kt(document.documentElement.dataset.rail!=="collapsed"),i.focus()}),ot()}function Kt(i){i?document.documentElement.dataset.rail="collapsed":delete document.documentElement.dataset.rail,ot();try{i?localStorage.setItem(rt,"collapsed"):localStorage.removeItem(rt)}catch{}}function ot(){let i=document.documentElement.dataset.rail==="collapsed";document.getElementById("rail-toggle")?.setAttribute("aria-expanded",String(!i))}var Wt="input, textarea, select, audio, video, iframe";function je(i,t){let e=null;addEventListener("touchstart",({touches:a,target:o})=>{e=a.length===1&&t.checkVisibility()&&r(a[0].clientX,o)?{...at(a[0]),wasOpen:s()}:null},{passive:!0}),addEventListener("touchmove",({touches:a})=>{a.length>1&&(e=null)},{passive:!0}),addEventListener("touchcancel",()=>e=null),addEventListener("touchend",({changedTouches:a})=>{if(!e)return;let o=at(a[0]),c=(o.x-e.x)*(lt()?-1:1),h=Math.abs(c)>56&&Math.abs(c)>2*Math.abs(o.y-e.y),y=!(getSelection()?.isCollapsed??!0);h&&!y&&c>0!==e.wasOpen&&s()===e.wasOpen&&i.togglePopover(),e=null});let s=()=>i.matches(":popover-open");function r(a,o){return document.querySelector("dialog:modal")||(visualViewport?.scale??1)>1?!1:s()||(lt()?innerWidth-a:a)<innerWidth*.4&&!jt(o)}}function at({clientX:i,clientY:t}){return{x:i,y:t}}function lt(){return document.documentElement.dir==="rtl"}function jt(i){if(i instanceof Element&&i.closest(Wt))return!0;for(let t=i instanceof Element?i:null;t;t=t.parentElement)if(t.scrollWidth>t.clientWidth+1&&/auto|scroll/.test(getComputedStyle(t).overflowX))return!0;return!1}export{W as a,j as b,H as c,P as d,Ke as e,je as f};
