import{b as G,c as K,d as E,e as Y,f as V}from"./chunk-M7ZYXD7U.js";import{b as C}from"./chunk-EMXBBFNF.js";import{a as l}from"./chunk-5OVPBSN4.js";import{b as U,c as x,d as f,e as _,g as p}from"./chunk-IN3SOCHH.js";import{a as B,b as o,d as g}from"./chunk-GDVCXHG5.js";import{html as d,LitElement as Bt,nothing as m,repeat as Ut}from"../vendor/lit.js";import{html as $,LitElement as dt,nothing as k,repeat as ut}from"../vendor/lit.js";import{html as A,nothing as ht}from"../vendor/lit.js";function W({name:i,url:t,type:e},s,n,a=!1){let r=C(t)?.pathname??"";return A`<div class="files-line">
    ${l(/^image\//.test(e)?"image":"file-text")}
    <span class="attachment-words">
      <a class="attachment-name" href=${r} target="_blank" rel="noopener" title=${i}>${i}</a>
      <span class="attachment-detail">${s}</span>
    </span>
    ${a?A`<a class="quiet" href="${r}?download" download=${i} title=${o("Download")}>
          ${l("download")}<span class="visually-hidden">${o("Download {name}",{name:i})}</span>
        </a>`:ht}
    <button type="button" class="quiet" title=${o("Delete")} @click=${n}>
      ${l("trash-2")}<span class="visually-hidden">${o("Delete {name}",{name:i})}</span>
    </button>
  </div>`}function j({name:i},t,e){return A`<div class="files-question" role="group" aria-label=${o("Delete {name}",{name:i})}>
    <p>${o("“{name}” will be permanently deleted. Later answers can’t use it.",{name:i})}</p>
    <div class="dialog-buttons">
      <button type="button" class="button" @click=${t}>${o("Cancel")}</button>
      <button type="button" class="button danger" @click=${e}>${o("Delete")}</button>
    </div>
  </div>`}var ft=4e3,q=o("That didn’t work. Check the connection and try again."),O=class extends dt{static properties={folder:{state:!0},instructions:{state:!0},files:{state:!0},uploading:{state:!0},problem:{state:!0},asked:{state:!0}};constructor(){super(),this.folder=null,this.instructions="",this.files=null,this.uploading="",this.problem="",this.asked=null,this.opener=null}createRenderRoot(){return this}updated(){let t=this.querySelector("dialog");this.folder&&t&&!t.open&&t.showModal()}async open(t){this.opener=document.activeElement,this.files=null,this.problem=this.uploading="",this.asked=null,this.folder=t;let e=await p(this.#n("content"));this.folder===t&&(this.files=e?.files??null,this.instructions=e?.instructions??"",e||(this.problem=o("The folder can’t be shown. Check the connection and try again.")),this.updateComplete.then(()=>this.#t?.focus()))}render(){let{folder:t}=this;return t?$`<dialog class="folder-content" aria-labelledby="folder-heading" @close=${this.#d}>
      <form @submit=${this.#a}>
        <h2 id="folder-heading" dir="auto">${t.name}</h2>
        ${this.problem?$`<p class="field-error" role="alert">${this.problem}</p>`:k}
        ${this.files===null?this.problem?k:$`<p class="working">${o("Loading…")}</p>`:this.#e(this.files)}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#h}>${o("Close")}</button>
          ${this.files===null?k:$`<button class="button primary" ?disabled=${this.uploading!==""}>${o("Save instructions")}</button>`}
        </div>
      </form>
    </dialog>`:k}#e(t){let e=()=>this.querySelector("#folder-files")?.click();return $`<label for="folder-instructions">${o("Instructions for all conversations in this folder")}</label>
      <textarea
        id="folder-instructions"
        name="instructions"
        rows="5"
        dir="auto"
        maxlength=${ft}
        aria-describedby="folder-instructions-hint"
        .value=${this.instructions}
      ></textarea>
      <p id="folder-instructions-hint" class="history-empty">${o("These instructions are sent to the model with each question, starting with your next question.")}</p>
      <h3 id="folder-files-heading" tabindex="-1">${o("Files")}</h3>
      <ul class="files-list" aria-labelledby="folder-files-heading">
        ${ut(t,({url:s})=>s,s=>$`<li>${this.#i(s)}</li>`)}
      </ul>
      ${t.length?k:$`<p class="files-none">${o("No files yet. Files in this folder are sent with each question, as if you had attached them.")}</p>`}
      <p role="status">${this.uploading?o("“{name}” is being uploaded…",{name:this.uploading}):""}</p>
      <button type="button" class="button folder-add" aria-disabled=${String(this.uploading!=="")} @click=${e}>
        ${l("paperclip")}${o("Add files")}
      </button>
      <input type="file" id="folder-files" multiple hidden aria-label=${o("Files in this folder")} @change=${this.#s} />`}#i(t){return t===this.asked?j(t,()=>this.#l(),()=>this.#r(t)):W(t,K(t.size),()=>this.#o(t))}get#t(){return this.querySelector("textarea")}#n(t){return`/conversations/folders/${this.folder?.id}/${t}/`}async#s(t){let e=t.target,s=[...e.files??[]];e.value="",this.instructions=this.#t?.value??"",this.problem="";for(let n of s){this.uploading=n.name;let{stored:a,problem:r}=await pt(this.#n("files"),n);a?this.files=[...this.files??[],a]:this.problem=r}this.uploading="",this.problem||this.#u(g("File added.","{count} files added.",s.length))}async#r(t){if(this.problem="",this.instructions=this.#t?.value??"",!await _(C(t.url)?.pathname??"")){this.problem=q;return}this.files=this.files?.filter(({url:e})=>e!==t.url)??null,this.#u(o("{name} deleted.",{name:t.name})),this.#l()}#o(t){this.instructions=this.#t?.value??"",this.asked=t,this.updateComplete.then(()=>this.#c(".files-question .button"))}#l(){this.asked=null,this.updateComplete.then(()=>this.#c("#folder-files-heading"))}#c(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}async#a(t){t.preventDefault(),this.instructions=this.#t?.value??"";let{status:e,told:s}=await f(this.#n("content"),{instructions:this.instructions});this.problem=e===200?"":s?.error?.message??q,!this.problem&&(this.#h(),this.#u(o("Instructions saved.")))}#h(){this.querySelector("dialog")?.close()}#d(){this.folder=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}#u(t){this.dispatchEvent(new CustomEvent("said",{detail:t}))}};customElements.define("folder-dialog",O);async function pt(i,t){let e=new FormData;e.append("file",t);try{let s=await fetch(i,{method:"POST",body:e,headers:{"X-CSRFToken":U()}}),n=await s.json();return s.ok?{stored:n,problem:""}:{stored:null,problem:n.error?.message??q}}catch{return{stored:null,problem:q}}}async function z(i,t,e){switch(t){case"rename":return{asks:{kind:t,row:e}};case"move":return{asks:{kind:t,rows:[e]}};case"share":case"print":return{leaves:t};case"go-on":{let s=await p(`${e.address}go-on/`);return s?s.applications.length?{asks:{kind:t,row:e,applications:s.applications}}:{problem:o("No other app is available to you.")}:{problem:o("The apps can’t be listed. Check the connection and try again.")}}case"pin":return M(i,e,{pinned:String(!e.pinned)},e.pinned?o("Conversation unpinned."):o("Conversation pinned."));case"archive":return M(i,e,{archived:"true"},o("Conversation archived."));case"unarchive":return M(i,e,{archived:"false"},o("Conversation restored from the archive."));case"delete":return mt(i,e);default:return{}}}async function X(i,t,e){if(t==="rename-folder")return{asks:{kind:t,folder:e}};if(t==="delete-folder"){let{problem:r}=await i.changeFolders(`${e.id}/delete/`,{});return r?{problem:r}:(await i.refresh(),{said:o("Folder deleted. Its conversations were kept.")})}let s=i.folders.findIndex(({id:r})=>r===e.id),n=i.folders[s+(t==="folder-up"?-1:2)],{problem:a}=await i.changeFolders(`${e.id}/`,{before:n?String(n.id):""});return a?{problem:a}:{said:o("Folder moved.")}}async function Q(i,t,e){let s={folder:e?String(e.id):"",...t.pinned?{pinned:"false"}:{}};return M(i,t,s,e?o("Conversation moved."):o("Conversation removed from its folder."))}async function M(i,t,e,s){let n=await i.arrange(t,e);return n?{problem:n}:{said:s,id:t.id}}async function mt(i,t){return await x(`${t.address}delete/`,{})?(i.remove(t.id),{undoable:{rows:[t],text:o("Conversation deleted."),isDeletion:!0,undo:()=>i.restore(t)}}):{problem:o("The conversation was not deleted. Check the connection and try again.")}}import{html as v,LitElement as gt,nothing as T}from"../vendor/lit.js";var $t={rename:o("Rename conversation"),move:o("Move to a folder"),"go-on":o("Continue in another app"),"new-folder":o("New folder"),"rename-folder":o("Rename folder")},vt={rename:200,"rename-folder":100,"new-folder":100},R=class extends gt{static properties={asked:{state:!0},problem:{state:!0},isNew:{state:!0}};constructor(){super(),this.rows=void 0,this.asked=null,this.problem="",this.isNew=!1,this.opener=null}createRenderRoot(){return this}ask(t){this.opener=document.activeElement,this.problem="",this.isNew=t.kind==="move"&&!this.rows?.folders.length,this.asked=t}updated(){let t=this.querySelector("dialog");if(!this.asked||!t||t.open)return;t.showModal();let e=t.querySelector("input[name=text]");e instanceof HTMLInputElement&&e.select()}render(){let{asked:t}=this;return t?v`<dialog aria-labelledby="dialog-heading" @close=${this.#o}>
      <form @submit=${this.#l}>
        <h2 id="dialog-heading">${$t[t.kind]}</h2>
        ${this.#e(t)}
        ${this.problem?v`<p class="field-error" role="alert">${this.problem}</p>`:T}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#r}>${o("Cancel")}</button>
          <button class="button primary">${bt(t.kind)}</button>
        </div>
      </form>
    </dialog>`:T}#e(t){return t.kind==="move"?this.#n(t.rows):t.kind==="go-on"?this.#i(t.row,t.applications):this.#t(t.kind,yt(t))}#i(t,e){return v`<fieldset class="folder-choice">
        <legend>${o("Choose an app for the next question in “{title}”",{title:t.title||o("Untitled")})}</legend>
        ${e.map(({slug:s,title:n})=>v`<label>
            <input type="radio" name="application" value=${s} required />
            <span dir="auto">${n}</span>
          </label>`)}
      </fieldset>
      <p class="history-empty">${o("The new app can read all messages in this conversation.")}</p>`}#t(t,e){return v`<label for="dialog-text">${t==="rename"?o("Title"):o("Name")}</label>
      <input id="dialog-text" name="text" maxlength=${vt[t]} required autocomplete="off" .value=${e} />`}#n(t){let e=this.rows?.folders??[],s=n=>t.every(a=>a.folder===n);return v`<fieldset class="folder-choice">
        <legend>${wt(t)}</legend>
        ${e.map(({id:n,name:a})=>this.#s(String(n),a,s(n)&&!this.isNew))}
        ${s(null)?T:this.#s("",o("No folder"),!1)}
        ${this.#s("new",o("New folder"),this.isNew)}
      </fieldset>
      ${this.isNew?this.#t("new-folder",""):T}`}#s(t,e,s){return v`<label>
      <input type="radio" name="folder" value=${t} required .checked=${s} @change=${()=>this.isNew=t==="new"} />
      <span dir="auto">${e}</span>
    </label>`}#r(){this.querySelector("dialog")?.close()}#o(){this.dispatchEvent(new CustomEvent("left")),this.asked=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}async#l(t){t.preventDefault();let{asked:e,rows:s}=this;if(!e||!s)return;let n=new FormData(t.target),a=String(n.get("text")??"").trim(),r=String(n.get(e.kind==="go-on"?"application":"folder")??"");this.problem=await Et(s,e,a,r),!this.problem&&(this.#r(),this.dispatchEvent(new CustomEvent("done",{detail:kt(e,a)})))}};customElements.define("history-dialog",R);function yt(i){return i.kind==="rename"?i.row.title:i.kind==="rename-folder"?i.folder.name:""}function wt(i){let[{title:t}]=i;return i.length>1?g("Choose a folder for {count} conversation","Choose a folder for {count} conversations",i.length):o("Choose a folder for “{title}”",{title:t||o("Untitled")})}function bt(i){return i==="move"?o("Move"):i==="go-on"?o("Continue"):i==="new-folder"?o("Create"):o("Rename")}async function Et(i,t,e,s){if(t.kind==="rename")return i.rename(t.row,e);if(t.kind==="rename-folder")return(await i.changeFolders(`${t.folder.id}/`,{name:e})).problem;if(t.kind==="new-folder")return(await i.changeFolders("",{name:e})).problem;if(t.kind==="go-on")return i.goOn(t.row,s);if(s!=="new")return J(i,t.rows,s);let n=await i.changeFolders("",{name:e});return n.problem||J(i,t.rows,String(n.folder))}function J(i,t,e){return t.length>1?i.changeAll(t,{folder:e}):i.arrange(t[0],{folder:e})}function kt(i,t){let{kind:e}=i;if(e==="rename")return{kind:e,said:o("Conversation renamed."),row:{...i.row,title:t}};if(e==="go-on")return{kind:e,said:o("The new app answers from your next message."),row:i.row};if(e==="move"){let s=g("{count} conversation moved.","{count} conversations moved.",i.rows.length);return{kind:e,said:i.rows.length>1?s:o("Conversation moved."),row:i.rows[0]}}return{kind:e,said:e==="new-folder"?o("Folder created."):o("Folder renamed.")}}var Z=1440*60*1e3;function tt(i,t,e){let s=new Set(t.map(({id:r})=>r)),n=new Map([["pinned",{key:"pinned",heading:o("Pinned"),rows:[]}]]);for(let r of t){let c=`folder ${r.id}`;n.set(c,{key:c,heading:r.name,rows:[],folder:r})}let a=new Date().setHours(0,0,0,0);for(let r of i){let c=r.folder!==null&&s.has(r.folder),u=r.pinned?"pinned":c?`folder ${r.folder}`:"";(u?n.get(u):St(n,r,a))?.rows.push(r)}return[...n.values()].filter(r=>r.folder||r.rows.length).map(r=>({...r,rows:Ct(r,e)}))}function St(i,{updated_at:t},e){let s=xt(new Date(t),e),n=i.get(s)??{key:s,heading:s,rows:[]};return i.set(s,n),n}function xt(i,t){if(i.getTime()>=t)return o("Today");if(i.getTime()>=t-Z)return o("Yesterday");if(i.getTime()>=t-7*Z)return o("Previous 7 days");let e=i.getFullYear()===new Date(t).getFullYear();return i.toLocaleDateString(B,{month:"long",...e?{}:{year:"numeric"}})}function Ct({key:i,rows:t},e){let s=e.find(n=>n.key===i)?.rows;return s?.length===t.length&&t.every((n,a)=>n===s[a])?s:t}var st=o("That didn’t work. Check the connection and try again."),it="main",qt="archived",L=class extends EventTarget{#e=new Map;folders=[];#i=new Map;#t=new Set;#n=[];begin({conversations:t,next:e,folders:s}){this.#e=new Map(t.map(n=>[n.id,n])),this.folders=s,this.#i=new Map([[it,e]]),this.#s()}get all(){return[...this.#e.values()]}get sections(){return this.#n}get archived(){return this.all.filter(({archived:t})=>t).toSorted(et)}find(t){return this.#e.get(t??"")}hasMore(t){return this.#i.get(t)!==""}async more(t){let e=this.#i.get(t);if(e===""||this.#t.has(t))return;this.#t.add(t);let s=await p(`/conversations/?${new URLSearchParams({...Mt(t),after:e??""})}`);if(this.#t.delete(t),!!s){for(let n of s.conversations)this.#e.set(n.id,n);this.#i.set(t,s.next),this.#s()}}async refresh(){let t=await p("/conversations/");t&&this.begin(t)}take({conversations:t,deleted:e,is_whole:s}){s||this.refresh();for(let n of t)this.#e.set(n.id,n);for(let n of e)this.#e.delete(n);this.#s()}takeFolders(t){this.folders=t,this.#s()}put(t){this.#e.set(t.id,t),this.#s()}remove(t){this.#e.delete(t)&&this.#s()}async arrange(t,e){let{status:s,told:n}=await f(`${t.address}arrange/`,e);return s!==200?S(n):(this.put(n.conversation),"")}async changeAll(t,e){let s=t.map(({id:r})=>r).join(),{status:n,told:a}=await f("/conversations/selected/",{conversations:s,...e});return n!==200?S(a):(this.take({type:"list.changed",conversations:a.conversations,deleted:e.deleted==="true"?a.changed:[],is_whole:!0}),"")}async goOn(t,e){let{status:s,told:n}=await f(`${t.address}go-on/`,{application:e});return s!==200?S(n):(this.put(n.conversation),"")}async rename(t,e){if(!await x(`${t.address}rename/`,{title:e}))return st;let s=this.#e.get(t.id);return s&&this.put({...s,title:e}),""}async restore(t){let{status:e,told:s}=await f(`${t.address}restore/`,{});return e!==200?S(s):(this.put(s.conversation),"")}async changeFolders(t,e){let{status:s,told:n}=await f(`/conversations/folders/${t}`,e);return s!==200?{folder:null,problem:S(n)}:(this.takeFolders(n.folders),{folder:n.folder,problem:""})}collapse(t,e){t.collapsed!==e&&(this.takeFolders(this.folders.map(s=>s.id===t.id?{...s,collapsed:e}:s)),f(`/conversations/folders/${t.id}/`,{collapsed:String(e)}))}#s(){let t=this.all.filter(({archived:e})=>!e).toSorted(et);this.#n=tt(t,this.folders,this.#n),this.dispatchEvent(new CustomEvent("change"))}};function Mt(i){return i===it||i===qt?{part:i}:{folder:i}}function S(i){return i?.error?.message??st}function et(i,t){return i.updated_at<t.updated_at?1:i.updated_at>t.updated_at?-1:0}import{html as h,LitElement as Tt,nothing as w}from"../vendor/lit.js";var Lt=200,D=class extends Tt{static properties={query:{state:!0},filters:{state:!0},hits:{state:!0},failed:{state:!0},answered:{state:!0},hasMenu:{state:!0}};#e=0;constructor(){super(),this.query="",this.filters=[],this.hits=null,this.answered="",this.failed=!1,this.hasMenu=!1}createRenderRoot(){return this}render(){return h`<div class="history-search">
        ${l("search")}
        <label class="visually-hidden" for="history-query">${o("Search conversations")}</label>
        <input
          type="search"
          id="history-query"
          placeholder=${o("Search conversations")}
          dir="auto"
          autocomplete="off"
          maxlength="500"
          .value=${this.query}
          @input=${this.#a}
          @keydown=${this.#c}
        />
        <button type="button" class="quiet filter-button" title=${o("Filters")} aria-haspopup="menu" aria-expanded="false" @click=${this.#r}>
          ${l("sliders-horizontal")}<span class="visually-hidden">${o("Filters")}</span>
        </button>
      </div>
      ${this.hasMenu?h`<search-filters .chosen=${this.filters} @filtered=${this.#o}></search-filters>`:w}
      ${this.filters.length?this.#i():w} ${this.#t?this.#n():w}`}#i(){return h`<ul class="search-chips" aria-label=${o("Filters")}>
      ${this.filters.map(t=>h`<li>
          <button type="button" class="button" aria-label=${o("Remove the filter {name}",{name:t.title})} @click=${()=>this.#l(t)}>
            <span dir="auto">${t.title}</span>${l("x")}
          </button>
        </li>`)}
    </ul>`}get#t(){let e=[...this.query.trim()?[["q",this.query]]:[],...this.filters.map(({name:s,value:n})=>[s,n])];return String(new URLSearchParams(e))}#n(){if(this.failed)return h`<p class="history-empty">${o("Search is unavailable. Check the connection and try again.")}</p>`;let t=this.#t!==this.answered,e=t?h`<p class="history-empty working">${o("Searching…")}</p>`:w;if(!this.hits?.length)return t?e:h`<p class="history-empty">${o("No results.")}</p>`;let s=Ft(new URLSearchParams(this.answered).get("q")??"");return h`${e}
      <ul class="history hits" aria-label=${o("Search results")} aria-busy=${t} ?inert=${t}>
        ${this.hits.map(n=>this.#s(n,s))}
      </ul>`}#s({id:t,title:e,address:s,application:n,excerpt:a,message:r,archived:c},u){return h`<li class="history-entry">
      <a href="${s}${r?`#message-${r}`:""}" data-conversation=${t}>
        ${E(n,"small")}
        <span class="history-title" dir="auto">${nt(e||o("Untitled"),u)}</span>
        <span class="visually-hidden">${n.title}</span>
        ${c?h`<span class="hit-note">${o("Archived")}</span>`:w}
        ${a?h`<span class="hit-excerpt" dir="auto">${nt(a,u)}</span>`:w}
      </a>
    </li>`}async#r({currentTarget:t}){await import("./search-filters-ND3MFTQF.js"),this.hasMenu=!0,await this.updateComplete;let e=this.querySelector("search-filters");t instanceof HTMLElement&&await e?.open(t)}#o({detail:t}){this.filters=t,this.#h(0)}#l(t){this.filters=this.filters.filter(e=>e!==t),this.querySelector("input")?.focus(),this.#h(0)}clear(){clearTimeout(this.#e),this.query="",this.filters=[],this.hits=null,this.answered="",this.dispatchEvent(new CustomEvent("searching",{detail:!1}))}#c(t){t.key==="ArrowDown"&&(t.preventDefault(),this.#t===this.answered&&this.querySelector("a")?.focus()),!(t.key!=="Escape"||!this.#t)&&(t.preventDefault(),this.clear())}#a(t){this.query=t.target.value,this.#h(Lt)}#h(t){if(clearTimeout(this.#e),this.failed=!1,!this.#t)return this.clear();this.dispatchEvent(new CustomEvent("searching",{detail:!0})),this.#e=setTimeout(()=>this.#d(this.#t),t)}async#d(t){let e=await p(`/conversations/search/?${t}`);if(t!==this.#t)return;this.failed=e===null,this.hits=e?.hits??null,this.answered=t;let s=this.hits?.length??0,n=s?g("{count} conversation found.","{count} conversations found.",s):o("No conversations found.");e&&this.dispatchEvent(new CustomEvent("said",{detail:n}))}};customElements.define("history-search",D);function Ft(i){return i.toLowerCase().split(/\s+/).filter(Boolean)}function nt(i,t){if(!t.length)return i;let e=new RegExp(`(${t.map(s=>s.replace(/[.*+?^${}()|[\]\\]/g,"\\$&")).join("|")})`,"giu");return i.split(e).map((s,n)=>n%2?h`<mark>${s}</mark>`:s)}import{html as N,ifDefined as At,LitElement as Ot,nothing as ot,repeat as Rt}from"../vendor/lit.js";var Dt={running:o("In progress"),waiting:o("Waiting for you"),unread:o("Unread")},Nt=["F2","Shift+F10"].join(" "),I=class extends Ot{static properties={rows:{attribute:!1},current:{attribute:!1},selection:{attribute:!1},version:{attribute:!1}};constructor(){super(),this.rows=[],this.current=null,this.selection=null,this.version=0}createRenderRoot(){return this}render(){return N`<ul class="history">
      ${Rt(this.rows,({id:t})=>t,t=>this.selection?.draw(t,E(t.application,"small"))??this.#e(t))}
    </ul>`}#e(t){let{id:e,title:s,state:n,address:a,application:r,updated_at:c}=t,u=e===this.current,y=s||o("Untitled");return N`<li
      class="history-entry"
      draggable="true"
      @dragstart=${b=>It(b,t)}
      @keydown=${b=>this.#i(b,t)}
    >
      <a
        href=${a}
        data-conversation=${e}
        title="${y} · ${r.title} · ${G(c)}"
        aria-current=${At(u?"page":void 0)}
        aria-keyshortcuts=${Nt}
      >
        ${E(r,"small")}
        <span class="history-title" dir="auto">${y}</span>
        <span class="visually-hidden">${r.title}</span>
        ${u&&n==="unread"?ot:Pt(n)}
      </a>
      <button
        type="button"
        class="quiet row-more"
        tabindex="-1"
        title=${o("More")}
        aria-haspopup="menu"
        @click=${b=>this.#t("row-menu",{row:t,button:b.currentTarget})}
      >
        ${l("ellipsis")}<span class="visually-hidden">${o("More options for {name}",{name:y})}</span>
      </button>
    </li>`}#i(t,e){let s=t.currentTarget,n=s.querySelector(".row-more"),a=t.key==="ContextMenu"||t.key==="F10"&&t.shiftKey,r=Ht(t,s);if(t.key==="F2")this.#t("row-rename",e);else if(a)this.#t("row-menu",{row:e,button:n});else if(r==="end")n.focus();else if(r==="start")s.querySelector("a")?.focus();else return;t.preventDefault()}#t(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e,bubbles:!0}))}};customElements.define("chat-history-section",I);var F="application/x-quickapps-conversation";function It({dataTransfer:i},{id:t}){i?.setData(F,t),i&&(i.effectAllowed="linkMove")}function Ht({key:i,altKey:t,ctrlKey:e,metaKey:s},n){if(t||e||s||!["ArrowLeft","ArrowRight"].includes(i))return"";let a=getComputedStyle(n).direction==="rtl";return i==="ArrowRight"===a?"start":"end"}function Pt(i){let t=Dt[i];return t?N`<span class="history-mark" data-state=${i} title=${t}><span class="visually-hidden">${t}</span></span>`:ot}var H=class extends Bt{static properties={current:{attribute:!1},shows:{state:!0},problem:{state:!0},rowsChanged:{state:!0},selection:{state:!0}};constructor(){super(),this.rows=new L,this.rows.addEventListener("change",()=>this.rowsChanged+=1),this.rowsChanged=0,this.current=null,this.shows="list",this.problem="",this.selection=null,this.chosen=null,this.addEventListener("keydown",t=>this.#b(t)),this.addEventListener("dragover",_t),this.addEventListener("drop",t=>this.#y(t,null)),this.onMore=new IntersectionObserver(t=>{for(let{isIntersecting:e,target:s}of t)e&&this.#l(s)})}createRenderRoot(){return this}updated(){let t=this.#a;t&&(t.rows=this.rows),this.onMore.disconnect();for(let e of this.querySelectorAll("[data-more]"))this.onMore.observe(e)}render(){return d`<history-search ?hidden=${this.selection!==null} @searching=${this.#T} @said=${this.#v}></history-search>
      <h2 class="visually-hidden">${o("Conversations")}</h2>
      ${this.selection?this.#r(this.selection):m}
      ${this.problem?d`<p class="field-error" role="alert">${this.problem}</p>`:m}
      <div
        class="history-lists"
        ?hidden=${this.shows==="hits"}
        @keydown=${this.#k}
        @row-menu=${({detail:t})=>this.#S(t)}
        @row-rename=${({detail:t})=>this.#a?.ask({kind:"rename",row:t})}
      >
        ${this.shows==="archive"?this.#n():this.#e()}
      </div>
      <row-menu @chosen=${({detail:t})=>this.#C(t)}></row-menu>
      <history-dialog @done=${this.#L}></history-dialog>
      <folder-dialog @said=${this.#v}></folder-dialog>`}#e(){let{sections:t}=this.rows;return d`${Ut(t,({key:e})=>e,e=>e.folder?this.#t(e,e.folder):this.#i(e))}
      ${t.some(({folder:e})=>!e)?m:d`<p class="history-empty">${o("Your conversations will be listed here.")}</p>`}
      ${this.#o("main",o("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection!==null}>
        <button type="button" class="quiet" @click=${()=>this.#a?.ask({kind:"new-folder"})}>
          ${l("folder-plus")}${o("New folder")}
        </button>
        ${this.#s(t.some(({rows:e})=>e.length))}
        <button type="button" class="quiet" @click=${this.#q}>${l("archive")}${o("Archived")}</button>
      </div>`}#i({key:t,heading:e,rows:s}){return d`<section class="history-section">
      <h3 class="history-heading" dir="auto">${e}</h3>
      <chat-history-section data-section=${t} .rows=${s} .current=${this.#c(s)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
    </section>`}#t({rows:t},e){let s=n=>this.rows.collapse(e,!n.target.open);return d`<section class="history-section history-folder" @drop=${n=>this.#y(n,e)}>
      <details ?open=${!e.collapsed} @toggle=${s}>
        <summary>${l("chevron-right")}${l("folder")}<h3 dir="auto">${e.name}</h3></summary>
        ${e.collapsed||t.length||this.rows.hasMore(String(e.id))?m:d`<p class="history-empty">${o("This folder is empty.")}</p>`}
        <chat-history-section .rows=${e.collapsed?[]:t} .current=${this.#c(t)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
        ${e.collapsed?m:this.#o(String(e.id),o("Show more conversations in this folder"))}
      </details>
      <button
        type="button"
        class="quiet row-more"
        title=${o("More")}
        aria-haspopup="menu"
        @click=${({currentTarget:n})=>this.#x(e,n)}
      >
        ${l("ellipsis")}<span class="visually-hidden">${o("More options for the folder {name}",{name:e.name})}</span>
      </button>
    </section>`}#n(){let t=this.rows.archived;return d`<button type="button" class="quiet history-back" @click=${this.#M}>
        ${l("chevron-right")}${o("Back to all conversations")}
      </button>
      <section class="history-section">
        <h3 class="history-heading" tabindex="-1">${o("Archived")}</h3>
        ${t.length||this.rows.hasMore("archived")?m:d`<p class="history-empty">${o("No archived conversations.")}</p>`}
        <chat-history-section .rows=${t} .current=${this.#c(t)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
      </section>
      ${this.#o("archived",o("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection!==null||!t.length}>${this.#s(!0)}</div>`}#s(t){return t?d`<button type="button" class="quiet" @click=${()=>this.#u()}>${l("check")}${o("Select conversations")}</button>`:m}#r(t){return d`<selection-bar
      .count=${t.rows.length}
      .all=${t.hasAll}
      .full=${t.isFull}
      .archived=${this.shows==="archive"}
      @act=${({detail:e})=>this.#w(t,e)}
    ></selection-bar>`}#o(t,e){return this.rows.hasMore(t)?d`<button type="button" class="link history-more" data-more=${t} @click=${()=>this.rows.more(t)}>${e}</button>`:m}#l(t){t instanceof HTMLElement&&this.rows.more(t.dataset.more??"")}#c(t){return t.some(({id:e})=>e===this.current)?this.current:null}rename(t){let e=this.closest("[popover]");this.#a?.ask({kind:"rename",row:t}),!(!(e instanceof HTMLElement)||e.checkVisibility())&&(e.showPopover(),this.#a?.addEventListener("left",()=>e.hidePopover(),{once:!0}))}get#a(){return this.querySelector("history-dialog")}get#h(){return this.querySelector("folder-dialog")}get#d(){return this.querySelector("row-menu")}async#u(t){let{Selection:e}=await import("./selection-MLXRFKSK.js"),s=new e(this.rows,()=>this.#E.map(({dataset:n})=>n.conversation??""));s.addEventListener("change",()=>this.rowsChanged+=1),s.addEventListener("said",n=>this.#v(n)),t&&s.toggle(t.id),this.problem="",this.selection=s,requestAnimationFrame(()=>this.#$(t?`[data-conversation="${t.id}"]`:"[data-conversation]"))}#m(){let t=document.activeElement?.closest("[data-conversation]"),e=t instanceof HTMLElement?t.dataset.conversation:this.selection?.last;this.selection=null,requestAnimationFrame(()=>this.#g(e))}async#w(t,e){if(e==="end")this.#m();else if(e==="all")t.selectAll();else if(e==="none")t.clear();else{let s=await t.act(e);s.undoable&&this.#m(),this.#p(s)}}#b(t){let{selection:e}=this,s=t.target instanceof Element&&t.target.closest("dialog, .row-menu");if(!(!e||s||t.defaultPrevented)){if(t.key==="Escape")this.#m();else if(t.key.toLowerCase()==="a"&&(t.ctrlKey||t.metaKey))e.selectAll();else return;t.preventDefault()}}get#E(){return[...this.querySelectorAll(".history-lists [data-conversation]")].filter(t=>t instanceof HTMLElement)}#k(t){let e={ArrowDown:1,ArrowUp:-1}[t.key],s=[...this.querySelectorAll("[data-conversation]")].filter(r=>r instanceof HTMLElement),n=document.activeElement?.closest(".history-entry")?.querySelector("[data-conversation]"),a=s.indexOf(n);!e||a<0||(t.preventDefault(),s[a+e]?.focus(),t.shiftKey&&this.selection?.step(s[a+e],s[a]))}#S({row:t,button:e}){this.chosen=t,this.#d?.open(Y(t,!!document.getElementById("main")?.dataset.account),e)}#x(t,e){this.chosen=t,e instanceof HTMLElement&&this.#d?.open(V(t,this.rows.folders),e)}async#C(t){let{chosen:e,rows:s}=this;if(!e)return;if(!("address"in e)){t==="folder-content"?await this.#h?.open(e):this.#p(await X(s,t,e));return}if(t==="select")return void this.#u(e);let n=await z(s,t,e);n.leaves&&this.#f(n.leaves,e),this.#p(n)}#p({said:t,problem:e="",id:s,undoable:n,asks:a}){this.problem=e,a&&this.#a?.ask(a),n&&this.#f("undoable",n),t&&(this.#f("said",t),this.updateComplete.then(()=>this.#g(s)))}#g(t=""){requestAnimationFrame(()=>{if(document.activeElement!==document.body)return;let s=(t?this.querySelector(`[data-conversation="${t}"]`):null)??this.querySelector("#history-query");s instanceof HTMLElement&&s.focus()})}#y(t,e){let s=this.rows.find(t.dataTransfer?.getData(F)??"");!s||t.defaultPrevented||(t.preventDefault(),s.folder!==(e?.id??null)&&Q(this.rows,s,e).then(n=>this.#p(n)))}#q(){this.shows="archive",this.rows.more("archived"),this.updateComplete.then(()=>this.#$("[tabindex='-1'].history-heading"))}#M(){this.selection=null,this.shows="list",this.updateComplete.then(()=>this.#$("#history-query"))}#$(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}#T({detail:t}){this.shows=t?"hits":"list"}#v({detail:t}){this.#f("said",t)}#L({detail:{kind:t,said:e,row:s}}){this.#f("said",e),t==="rename"&&s&&this.#f("renamed",s),t==="move"&&(this.selection=null),this.#g(s?.id)}#f(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e}))}};customElements.define("chat-history",H);function _t(i){i.dataTransfer?.types.includes(F)&&i.preventDefault()}import{html as Gt,LitElement as Kt,nothing as Yt}from"../vendor/lit.js";var Vt=10,Wt=28,P=class extends Kt{static properties={text:{state:!0}};#e=()=>{};#i=0;#t=0;#n=0;constructor(){super(),this.text=""}createRenderRoot(){return this}render(){return this.text?Gt`<div class="toast" popover="manual" role="region" aria-label=${o("Latest actions")} @keydown=${this.#o}>
      <span>${this.text}</span>
      <button type="button" class="link" @click=${this.#r}>${o("Undo")}</button>
    </div>`:Yt}async show(t,e,{takesFocus:s=!0}={}){this.text=t,this.#e=e,this.#i=this.#t=0,clearInterval(this.#n),this.#n=setInterval(()=>this.#s(),1e3),await this.updateComplete;let n=this.querySelector(".toast");n instanceof HTMLElement&&!n.matches(":popover-open")&&n.showPopover(),s&&this.querySelector("button")?.focus()}#s(){this.#i+=1,this.querySelector(".toast:hover, :focus-visible")||(this.#t+=1),(this.#t>=Vt||this.#i>=Wt)&&this.hide()}hide(){clearInterval(this.#n);let t=this.contains(document.activeElement);this.text="",t&&this.dispatchEvent(new CustomEvent("left"))}#r(){this.hide(),this.#e()}#o(t){t.key==="Escape"&&(t.preventDefault(),this.hide())}};customElements.define("chat-toast",P);var rt="rail";function je(){let i=document.getElementById("rail-toggle");i?.addEventListener("click",()=>{jt(document.documentElement.dataset.rail!=="collapsed"),i.focus()}),at()}function jt(i){i?document.documentElement.dataset.rail="collapsed":delete document.documentElement.dataset.rail,at();try{i?localStorage.setItem(rt,"collapsed"):localStorage.removeItem(rt)}catch{}}function at(){let i=document.documentElement.dataset.rail==="collapsed";document.getElementById("rail-toggle")?.setAttribute("aria-expanded",String(!i))}var zt="input, textarea, select, audio, video, iframe";function Xe(i,t){let e=null;addEventListener("touchstart",({touches:a,target:r})=>{e=a.length===1&&t.checkVisibility()&&n(a[0].clientX,r)?{...lt(a[0]),wasOpen:s()}:null},{passive:!0}),addEventListener("touchmove",({touches:a})=>{a.length>1&&(e=null)},{passive:!0}),addEventListener("touchcancel",()=>e=null),addEventListener("touchend",({changedTouches:a})=>{if(!e)return;let r=lt(a[0]),c=(r.x-e.x)*(ct()?-1:1),u=Math.abs(c)>56&&Math.abs(c)>2*Math.abs(r.y-e.y),y=!(getSelection()?.isCollapsed??!0);u&&!y&&c>0!==e.wasOpen&&s()===e.wasOpen&&i.togglePopover(),e=null});let s=()=>i.matches(":popover-open");function n(a,r){return document.querySelector("dialog:modal")||(visualViewport?.scale??1)>1?!1:s()||(ct()?innerWidth-a:a)<innerWidth*.4&&!Xt(r)}}function lt({clientX:i,clientY:t}){return{x:i,y:t}}function ct(){return document.documentElement.dir==="rtl"}function Xt(i){if(i instanceof Element&&i.closest(zt))return!0;for(let t=i instanceof Element?i:null;t;t=t.parentElement)if(t.scrollWidth>t.clientWidth+1&&/auto|scroll/.test(getComputedStyle(t).overflowX))return!0;return!1}export{W as a,j as b,H as c,P as d,je as e,Xe as f};
