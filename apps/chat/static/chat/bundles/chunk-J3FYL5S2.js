import{b as V,c as v,d as k,e as Q,f as J}from"./chunk-AIVDOXQE.js";import{b as R,d as X}from"./chunk-EMXBBFNF.js";import{a as l}from"./chunk-5OVPBSN4.js";import{a as Y,c as L,d as m,e as T,g}from"./chunk-IN3SOCHH.js";import{a as K,b as r,d as y}from"./chunk-GDVCXHG5.js";import{html as u,LitElement as te,nothing as $,repeat as ee}from"../vendor/lit.js";import{html as w,LitElement as qt,nothing as x,repeat as Ct}from"../vendor/lit.js";import{html as N,nothing as vt}from"../vendor/lit.js";function Z({name:i,url:t,type:e},s,n,o=!1){let a=R(t)?.pathname??"";return N`<div class="files-line">
    ${l(/^image\//.test(e)?"image":"file-text")}
    <span class="attachment-words">
      <a class="attachment-name" href=${a} target="_blank" rel="noopener" title=${i}>${i}</a>
      <span class="attachment-detail">${s}</span>
    </span>
    ${o?N`<a class="quiet" href="${a}?download" download=${i} title=${r("Download")}>
          ${l("download")}<span class="visually-hidden">${r("Download {name}",{name:i})}</span>
        </a>`:vt}
    <button type="button" class="quiet" title=${r("Delete")} @click=${n}>
      ${l("trash-2")}<span class="visually-hidden">${r("Delete {name}",{name:i})}</span>
    </button>
  </div>`}function tt({name:i},t,e){return N`<div class="files-question" role="group" aria-label=${r("Delete {name}",{name:i})}>
    <p>${r("“{name}” will be permanently deleted. Later answers can’t use it.",{name:i})}</p>
    <div class="dialog-buttons">
      <button type="button" class="button" @click=${t}>${r("Cancel")}</button>
      <button type="button" class="button danger" @click=${e}>${r("Delete")}</button>
    </div>
  </div>`}import{html as f,nothing as D}from"../vendor/lit.js";var et=/^image\/(?:png|jpeg|gif|webp|avif)$/,st=new WeakMap;function wt(i){let t=st.get(i);if(t)return t;let e=URL.createObjectURL(i);return st.set(i,e),e}function it(i,t){if(!i.items.length)return D;let{most:e}=i.limits,s=i.items.length-e;return f`<ul class="tray" aria-label=${r("Files to send")}>
      ${i.items.map(n=>f`<li>${bt(n,i,t)}</li>`)}
    </ul>
    ${s>0?f`<p class="tray-problem">${r("A question can have up to {most} files. Number of files to remove: {excess}.",{most:e,excess:s})}</p>`:D}`}function bt(i,t,e){let{id:s,name:n,state:o,isRetryable:a}=i,h=o==="failed"?"triangle-alert":et.test(i.type)?"image":"file-text",c=o==="sending"||o==="waiting",d=()=>{t.drop(s),e()};return f`<div class="chip" data-state=${o}>
    ${o!=="failed"&&i.file&&et.test(i.type)?f`<img class="chip-picture" src=${wt(i.file)} alt="" width="40" height="40" />`:l(h)}
    <span class="chip-words">
      <span class="chip-name" dir="auto" title=${n}>${n}</span>
      ${Et(i)}
    </span>
    ${a&&o==="failed"?f`<button type="button" class="quiet" title=${r("Retry")} @click=${()=>t.retry(s)}>
          ${l("refresh-cw")}<span class="visually-hidden">${r("Retry {name}",{name:n})}</span>
        </button>`:D}
    <button type="button" class="quiet" title=${c?r("Cancel"):r("Remove")} @click=${d}>
      ${l("x")}<span class="visually-hidden">${c?r("Cancel uploading {name}",{name:n}):r("Remove {name}",{name:n})}</span>
    </button>
  </div>`}function Et({state:i,name:t,size:e,progress:s,problem:n}){return i==="failed"?f`<span class="chip-detail">${n}</span>`:i==="waiting"?f`<span class="chip-detail">${r("Waiting")}</span>`:i==="sending"?f`<progress max="1" .value=${s} aria-label=${r("Uploading {name}",{name:t})}></progress>`:f`<span class="chip-detail">${e?v(e):r("Uploaded")}</span>`}var kt=3,H=r("The connection was lost."),xt=new Set([403,408,409]),M=class extends EventTarget{items=[];limits;#t;#e;#s=new Map;#n=1;constructor(t,e,s){super(),this.#t=t,this.limits=e,this.#e=s,addEventListener("online",()=>this.#f())}open(t,e,s,n){this.#s.set(t,this.items),this.items=this.#s.get(e)??[],this.#s.delete(e),this.#t=s,this.limits=n}get isPending(){return this.items.some(({state:t})=>t==="waiting"||t==="sending")}get isReady(){return this.items.every(({state:t})=>t==="done")}takes(t){let{types:e}=this.limits;return!e.length||e.some(s=>St(t,s))}add(t){let e=[...t].map(o=>this.#i(o));this.items=[...this.items,...e];let s=e.filter(({problem:o})=>o),n=e.length===1?r("{name} added.",{name:e[0].name}):y("{count} file added.","{count} files added.",e.length);return s.length?this.#d(s.map(({problem:o})=>o).join(" "),!0):e.length&&this.#d(n),this.#r(),e}drop(t){let e=this.items.find(s=>s.id===t);e&&(this.items=this.items.filter(s=>s!==e),e.request?.abort(),e.url&&!e.isBorrowed&&T(`/${e.url}`),this.#d(r("{name} removed.",{name:e.name})),this.#r())}retry(t){let e=this.items.find(s=>s.id===t);e?.isRetryable&&(this.#p(e,{state:"waiting",problem:"",progress:0}),this.#r())}take(){let t=this.items.filter(({state:e})=>e==="done");return this.items=this.items.filter(({state:e})=>e!=="done"),this.#h(),t.map(({name:e,type:s,url:n,isBorrowed:o})=>({title:e,type:s,url:n,isBorrowed:o}))}borrow({name:t,url:e,type:s,size:n}){this.items.some(o=>o.url===e)||(this.items=[...this.items,this.#o({name:t,url:e,type:s,size:n,state:"done",progress:1,isBorrowed:!0})],this.#d(r("{name} added.",{name:t})),this.#h())}giveBack(t){let e=t.map(({title:s,type:n,url:o="",isBorrowed:a=!1})=>this.#o({name:s||X(o),type:n,url:o,isBorrowed:a,state:"done",progress:1}));this.items=[...e,...this.items],e.length&&this.#h()}#i(t){let e=this.#l(t);return this.#o({name:t.name||"file",size:t.size,type:t.type,state:e?"failed":"waiting",problem:e,file:t})}#o(t){return{id:this.#n++,name:"",size:0,type:"",state:"waiting",progress:0,problem:"",isRetryable:!1,url:"",isBorrowed:!1,file:null,request:null,address:this.#t,conversation:this.#e(),...t}}#l({name:t,size:e,type:s}){let{limits:n}=this;return e>n.size?r("{name} is too large ({size}). The limit is {limit}.",{name:t,size:v(e),limit:v(n.size)}):e===0?r("“{name}” can’t be attached because it is empty or a folder.",{name:t}):s&&!this.takes(s)?r("{name} can’t be attached: its type is {type}. Allowed types: {types}.",{name:t,type:s,types:n.types.join(", ")}):""}#r(){let t=this.items.filter(({state:s})=>s==="sending").length,e=this.items.filter(({state:s})=>s==="waiting");for(let s of e.slice(0,Math.max(0,kt-t)))this.#u(s);this.#h()}#u(t){if(!t.file)return;let e=new XMLHttpRequest,s=new FormData;s.set("conversation",t.conversation),s.set("file",t.file,t.name),e.open("POST",t.address),e.responseType="json";for(let[n,o]of Object.entries(Y()))e.setRequestHeader(n,o);e.upload.addEventListener("progress",({loaded:n,total:o})=>this.#p(t,{progress:o?n/o:0})),e.addEventListener("load",()=>this.#a(t,e)),e.addEventListener("error",()=>this.#c(t,H,!0)),e.addEventListener("timeout",()=>this.#c(t,H,!0)),Object.assign(t,{request:e,state:"sending",progress:0}),e.send(s)}#a(t,{status:e,response:s}){if(e===201&&s?.url){let{name:a,url:h,size:c,type:d}=s;Object.assign(t,{name:a,url:h,size:c,type:d,state:"done",progress:1,request:null}),this.#d(r("{name} uploaded.",{name:a})),this.#r();return}let n=s?.error?.message,o=e===403?r("This page is out of date. Reload it and try again."):r("The server rejected the file. Try another file.");this.#c(t,n??o,e>=500||xt.has(e))}#c(t,e,s){Object.assign(t,{state:"failed",problem:e,isRetryable:s,request:null}),this.items.includes(t)&&this.#d(`${t.name}: ${e}`,!0),this.#r()}#f(){for(let{id:t,problem:e}of this.items)e===H&&this.retry(t)}#p(t,e){Object.assign(t,e),this.#h()}#h(){this.dispatchEvent(new CustomEvent("change"))}#d(t,e=!1){this.dispatchEvent(new CustomEvent("told",{detail:{text:t,isProblem:e}}))}};function St(i,t){return t==="*"||t==="*/*"?!0:t.endsWith("/*")?i.startsWith(t.slice(0,-1)):i===t}var Lt=4e3,nt=r("That didn’t work. Check the connection and try again."),B=class extends qt{static properties={folder:{state:!0},instructions:{state:!0},files:{state:!0},changes:{state:!0},problem:{state:!0},asked:{state:!0}};constructor(){super(),this.folder=null,this.instructions="",this.files=null,this.uploads=new M("",{size:0,types:[],most:1/0},()=>""),this.uploads.addEventListener("change",()=>this.#l()),this.uploads.addEventListener("told",t=>this.#g(t.detail.text)),this.shown="",this.changes=0,this.problem="",this.asked=null,this.opener=null}createRenderRoot(){return this}updated(){let t=this.querySelector("dialog");this.folder&&t&&!t.open&&t.showModal()}async open(t){this.opener=document.activeElement,this.files=null,this.problem="",this.asked=null,this.folder=t;let e=await g(this.#i("content"));this.folder===t&&(this.files=e?.files??null,this.instructions=e?.instructions??"",e&&this.#t(String(t.id),e.limits),e||(this.problem=r("The folder can’t be shown. Check the connection and try again.")),this.updateComplete.then(()=>this.#n?.focus()))}#t(t,e){this.uploads.open(this.shown||t,t,this.#i("files"),{...e,most:1/0}),this.shown=t,this.uploads.take()}render(){let{folder:t}=this;return t?w`<dialog class="folder-content" aria-labelledby="folder-heading" @close=${this.#d}>
      <form @submit=${this.#p}>
        <h2 id="folder-heading" dir="auto">${t.name}</h2>
        ${this.problem?w`<p class="field-error" role="alert">${this.problem}</p>`:x}
        ${this.files===null?this.problem?x:w`<p class="working">${r("Loading…")}</p>`:this.#e(this.files)}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#h}>${r("Close")}</button>
          ${this.files===null?x:w`<button class="button primary" >${r("Save instructions")}</button>`}
        </div>
      </form>
    </dialog>`:x}#e(t){let e=()=>this.querySelector("#folder-files")?.click();return w`<label for="folder-instructions">${r("Instructions for all conversations in this folder")}</label>
      <textarea
        id="folder-instructions"
        name="instructions"
        rows="5"
        dir="auto"
        maxlength=${Lt}
        aria-describedby="folder-instructions-hint"
        .value=${this.instructions}
      ></textarea>
      <p id="folder-instructions-hint" class="history-empty">${r("These instructions are sent to the model with each question, starting with your next question.")}</p>
      <h3 id="folder-files-heading" tabindex="-1">${r("Files")}</h3>
      <ul class="files-list" aria-labelledby="folder-files-heading">
        ${Ct(t,({url:s})=>s,s=>w`<li>${this.#s(s)}</li>`)}
      </ul>
      ${t.length?x:w`<p class="files-none">${r("No files yet. Files in this folder are sent with each question, as if you had attached them.")}</p>`}
      ${it(this.uploads,()=>this.#f(".folder-add"))}
      <button type="button" class="button folder-add" @click=${e}>
        ${l("paperclip")}${r("Add files")}
      </button>
      <input type="file" id="folder-files" multiple hidden aria-label=${r("Files in this folder")} @change=${this.#o} />`}#s(t){return t===this.asked?tt(t,()=>this.#c(),()=>this.#u(t)):Z(t,v(t.size),()=>this.#a(t))}get#n(){return this.querySelector("textarea")}#i(t){return`/conversations/folders/${this.folder?.id}/${t}/`}#o(t){let e=t.target;this.#r(),this.uploads.add(e.files??[]),e.value=""}#l(){let t=this.uploads.items.filter(({state:e})=>e==="done");this.folder&&this.files&&t.length&&(this.#r(),this.files=[...this.files,...t.map(({name:e,url:s,type:n,size:o})=>({name:e,url:s,type:n,size:o,updated_at:"",uploaded:!0}))],this.uploads.take()),this.changes+=1}#r(){this.instructions=this.#n?.value??this.instructions}async#u(t){if(this.problem="",this.#r(),!await T(R(t.url)?.pathname??"")){this.problem=nt;return}this.files=this.files?.filter(({url:e})=>e!==t.url)??null,this.#g(r("{name} deleted.",{name:t.name})),this.#c()}#a(t){this.#r(),this.asked=t,this.updateComplete.then(()=>this.#f(".files-question .button"))}#c(){this.asked=null,this.updateComplete.then(()=>this.#f("#folder-files-heading"))}#f(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}async#p(t){t.preventDefault(),this.#r();let{status:e,told:s}=await m(this.#i("content"),{instructions:this.instructions});this.problem=e===200?"":s?.error?.message??nt,!this.problem&&(this.#h(),this.#g(r("Instructions saved.")))}#h(){this.querySelector("dialog")?.close()}#d(){this.folder=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}#g(t){this.dispatchEvent(new CustomEvent("said",{detail:t}))}};customElements.define("folder-dialog",B);async function rt(i,t,e){switch(t){case"rename":return{asks:{kind:t,row:e}};case"move":return{asks:{kind:t,rows:[e]}};case"share":case"print":return{leaves:t};case"go-on":{let s=await g(`${e.address}go-on/`);return s?s.applications.length?{asks:{kind:t,row:e,applications:s.applications}}:{problem:r("No other app is available to you.")}:{problem:r("The apps can’t be listed. Check the connection and try again.")}}case"pin":return O(i,e,{pinned:String(!e.pinned)},e.pinned?r("Conversation unpinned."):r("Conversation pinned."));case"archive":return O(i,e,{archived:"true"},r("Conversation archived."));case"unarchive":return O(i,e,{archived:"false"},r("Conversation restored from the archive."));case"delete":return Tt(i,e);default:return{}}}async function ot(i,t,e){if(t==="rename-folder")return{asks:{kind:t,folder:e}};if(t==="delete-folder"){let{problem:a}=await i.changeFolders(`${e.id}/delete/`,{});return a?{problem:a}:(await i.refresh(),{said:r("Folder deleted. Its conversations were kept.")})}let s=i.folders.findIndex(({id:a})=>a===e.id),n=i.folders[s+(t==="folder-up"?-1:2)],{problem:o}=await i.changeFolders(`${e.id}/`,{before:n?String(n.id):""});return o?{problem:o}:{said:r("Folder moved.")}}async function at(i,t,e){let s={folder:e?String(e.id):"",...t.pinned?{pinned:"false"}:{}};return O(i,t,s,e?r("Conversation moved."):r("Conversation removed from its folder."))}async function O(i,t,e,s){let n=await i.arrange(t,e);return n?{problem:n}:{said:s,id:t.id}}async function Tt(i,t){return await L(`${t.address}delete/`,{})?(i.remove(t.id),{undoable:{rows:[t],text:r("Conversation deleted."),isDeletion:!0,undo:()=>i.restore(t)}}):{problem:r("The conversation was not deleted. Check the connection and try again.")}}import{html as b,LitElement as Rt,nothing as A}from"../vendor/lit.js";var Mt={rename:r("Rename conversation"),move:r("Move to a folder"),"go-on":r("Continue in another app"),"new-folder":r("New folder"),"rename-folder":r("Rename folder")},Ot={rename:200,"rename-folder":100,"new-folder":100},U=class extends Rt{static properties={asked:{state:!0},problem:{state:!0},isNew:{state:!0}};constructor(){super(),this.rows=void 0,this.asked=null,this.problem="",this.isNew=!1,this.opener=null}createRenderRoot(){return this}ask(t){this.opener=document.activeElement,this.problem="",this.isNew=t.kind==="move"&&!this.rows?.folders.length,this.asked=t}updated(){let t=this.querySelector("dialog");if(!this.asked||!t||t.open)return;t.showModal();let e=t.querySelector("input[name=text]");e instanceof HTMLInputElement&&e.select()}render(){let{asked:t}=this;return t?b`<dialog aria-labelledby="dialog-heading" @close=${this.#l}>
      <form @submit=${this.#r}>
        <h2 id="dialog-heading">${Mt[t.kind]}</h2>
        ${this.#t(t)}
        ${this.problem?b`<p class="field-error" role="alert">${this.problem}</p>`:A}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#o}>${r("Cancel")}</button>
          <button class="button primary">${It(t.kind)}</button>
        </div>
      </form>
    </dialog>`:A}#t(t){return t.kind==="move"?this.#n(t.rows):t.kind==="go-on"?this.#e(t.row,t.applications):this.#s(t.kind,At(t))}#e(t,e){return b`<fieldset class="folder-choice">
        <legend>${r("Choose an app for the next question in “{title}”",{title:t.title||r("Untitled")})}</legend>
        ${e.map(({slug:s,title:n})=>b`<label>
            <input type="radio" name="application" value=${s} required />
            <span dir="auto">${n}</span>
          </label>`)}
      </fieldset>
      <p class="history-empty">${r("The new app can read all messages in this conversation.")}</p>`}#s(t,e){return b`<label for="dialog-text">${t==="rename"?r("Title"):r("Name")}</label>
      <input id="dialog-text" name="text" maxlength=${Ot[t]} required autocomplete="off" .value=${e} />`}#n(t){let e=this.rows?.folders??[],s=n=>t.every(o=>o.folder===n);return b`<fieldset class="folder-choice">
        <legend>${Ft(t)}</legend>
        ${e.map(({id:n,name:o})=>this.#i(String(n),o,s(n)&&!this.isNew))}
        ${s(null)?A:this.#i("",r("No folder"),!1)}
        ${this.#i("new",r("New folder"),this.isNew)}
      </fieldset>
      ${this.isNew?this.#s("new-folder",""):A}`}#i(t,e,s){return b`<label>
      <input type="radio" name="folder" value=${t} required .checked=${s} @change=${()=>this.isNew=t==="new"} />
      <span dir="auto">${e}</span>
    </label>`}#o(){this.querySelector("dialog")?.close()}#l(){this.dispatchEvent(new CustomEvent("left")),this.asked=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}async#r(t){t.preventDefault();let{asked:e,rows:s}=this;if(!e||!s)return;let n=new FormData(t.target),o=String(n.get("text")??"").trim(),a=String(n.get(e.kind==="go-on"?"application":"folder")??"");this.problem=await Nt(s,e,o,a),!this.problem&&(this.#o(),this.dispatchEvent(new CustomEvent("done",{detail:Dt(e,o)})))}};customElements.define("history-dialog",U);function At(i){return i.kind==="rename"?i.row.title:i.kind==="rename-folder"?i.folder.name:""}function Ft(i){let[{title:t}]=i;return i.length>1?y("Choose a folder for {count} conversation","Choose a folder for {count} conversations",i.length):r("Choose a folder for “{title}”",{title:t||r("Untitled")})}function It(i){return i==="move"?r("Move"):i==="go-on"?r("Continue"):i==="new-folder"?r("Create"):r("Rename")}async function Nt(i,t,e,s){if(t.kind==="rename")return i.rename(t.row,e);if(t.kind==="rename-folder")return(await i.changeFolders(`${t.folder.id}/`,{name:e})).problem;if(t.kind==="new-folder")return(await i.changeFolders("",{name:e})).problem;if(t.kind==="go-on")return i.goOn(t.row,s);if(s!=="new")return lt(i,t.rows,s);let n=await i.changeFolders("",{name:e});return n.problem||lt(i,t.rows,String(n.folder))}function lt(i,t,e){return t.length>1?i.changeAll(t,{folder:e}):i.arrange(t[0],{folder:e})}function Dt(i,t){let{kind:e}=i;if(e==="rename")return{kind:e,said:r("Conversation renamed."),row:{...i.row,title:t}};if(e==="go-on")return{kind:e,said:r("The new app answers from your next message."),row:i.row};if(e==="move"){let s=y("{count} conversation moved.","{count} conversations moved.",i.rows.length);return{kind:e,said:i.rows.length>1?s:r("Conversation moved."),row:i.rows[0]}}return{kind:e,said:e==="new-folder"?r("Folder created."):r("Folder renamed.")}}var ht=1440*60*1e3;function ct(i,t,e){let s=new Set(t.map(({id:a})=>a)),n=new Map([["pinned",{key:"pinned",heading:r("Pinned"),rows:[]}]]);for(let a of t){let h=`folder ${a.id}`;n.set(h,{key:h,heading:a.name,rows:[],folder:a})}let o=new Date().setHours(0,0,0,0);for(let a of i){let h=a.folder!==null&&s.has(a.folder),c=a.pinned?"pinned":h?`folder ${a.folder}`:"";(c?n.get(c):Ht(n,a,o))?.rows.push(a)}return[...n.values()].filter(a=>a.folder||a.rows.length).map(a=>({...a,rows:Ut(a,e)}))}function Ht(i,{updated_at:t},e){let s=Bt(new Date(t),e),n=i.get(s)??{key:s,heading:s,rows:[]};return i.set(s,n),n}function Bt(i,t){if(i.getTime()>=t)return r("Today");if(i.getTime()>=t-ht)return r("Yesterday");if(i.getTime()>=t-7*ht)return r("Previous 7 days");let e=i.getFullYear()===new Date(t).getFullYear();return i.toLocaleDateString(K,{month:"long",...e?{}:{year:"numeric"}})}function Ut({key:i,rows:t},e){let s=e.find(n=>n.key===i)?.rows;return s?.length===t.length&&t.every((n,o)=>n===s[o])?s:t}var ut=r("That didn’t work. Check the connection and try again."),ft="main",Pt="archived",F=class extends EventTarget{#t=new Map;folders=[];#e=new Map;#s=new Set;#n=[];begin({conversations:t,next:e,folders:s}){this.#t=new Map(t.map(n=>[n.id,n])),this.folders=s,this.#e=new Map([[ft,e]]),this.#i()}get all(){return[...this.#t.values()]}get sections(){return this.#n}get archived(){return this.all.filter(({archived:t})=>t).toSorted(dt)}find(t){return this.#t.get(t??"")}hasMore(t){return this.#e.get(t)!==""}async more(t){let e=this.#e.get(t);if(e===""||this.#s.has(t))return;this.#s.add(t);let s=await g(`/conversations/?${new URLSearchParams({...jt(t),after:e??""})}`);if(this.#s.delete(t),!!s){for(let n of s.conversations)this.#t.set(n.id,n);this.#e.set(t,s.next),this.#i()}}async refresh(){let t=await g("/conversations/");t&&this.begin(t)}take({conversations:t,deleted:e,is_whole:s}){s||this.refresh();for(let n of t)this.#t.set(n.id,n);for(let n of e)this.#t.delete(n);this.#i()}takeFolders(t){this.folders=t,this.#i()}put(t){this.#t.set(t.id,t),this.#i()}remove(t){this.#t.delete(t)&&this.#i()}async arrange(t,e){let{status:s,told:n}=await m(`${t.address}arrange/`,e);return s!==200?S(n):(this.put(n.conversation),"")}async changeAll(t,e){let s=t.map(({id:a})=>a).join(),{status:n,told:o}=await m("/conversations/selected/",{conversations:s,...e});return n!==200?S(o):(this.take({type:"list.changed",conversations:o.conversations,deleted:e.deleted==="true"?o.changed:[],is_whole:!0}),"")}async goOn(t,e){let{status:s,told:n}=await m(`${t.address}go-on/`,{application:e});return s!==200?S(n):(this.put(n.conversation),"")}async rename(t,e){if(!await L(`${t.address}rename/`,{title:e}))return ut;let s=this.#t.get(t.id);return s&&this.put({...s,title:e}),""}async restore(t){let{status:e,told:s}=await m(`${t.address}restore/`,{});return e!==200?S(s):(this.put(s.conversation),"")}async changeFolders(t,e){let{status:s,told:n}=await m(`/conversations/folders/${t}`,e);return s!==200?{folder:null,problem:S(n)}:(this.takeFolders(n.folders),{folder:n.folder,problem:""})}collapse(t,e){t.collapsed!==e&&(this.takeFolders(this.folders.map(s=>s.id===t.id?{...s,collapsed:e}:s)),m(`/conversations/folders/${t.id}/`,{collapsed:String(e)}))}#i(){let t=this.all.filter(({archived:e})=>!e).toSorted(dt);this.#n=ct(t,this.folders,this.#n),this.dispatchEvent(new CustomEvent("change"))}};function jt(i){return i===ft||i===Pt?{part:i}:{folder:i}}function S(i){return i?.error?.message??ut}function dt(i,t){return i.updated_at<t.updated_at?1:i.updated_at>t.updated_at?-1:0}import{html as p,LitElement as Qt,nothing as C}from"../vendor/lit.js";import{html as q,ifDefined as zt,LitElement as _t,nothing as j,repeat as Wt}from"../vendor/lit.js";var Gt={running:r("In progress"),waiting:r("Waiting for you"),unread:r("Unread")},Kt=["F2","Shift+F10"].join(" "),P=class extends _t{static properties={rows:{attribute:!1},current:{attribute:!1},selection:{attribute:!1},version:{attribute:!1}};constructor(){super(),this.rows=[],this.current=null,this.selection=null,this.version=0}createRenderRoot(){return this}render(){return q`<ul class="history">
      ${Wt(this.rows,({id:t})=>t,t=>this.selection?.draw(t,k(t.application,"small"))??this.#t(t))}
    </ul>`}#t(t){let{id:e,title:s,state:n,address:o,application:a,updated_at:h}=t,c=e===this.current,d=s||r("Untitled");return q`<li
      class="history-entry"
      draggable="true"
      @dragstart=${E=>Yt(E,t)}
      @keydown=${E=>this.#e(E,t)}
    >
      <a
        href=${o}
        data-conversation=${e}
        title="${d} · ${a.title} · ${V(h)}"
        aria-current=${zt(c?"page":void 0)}
        aria-keyshortcuts=${Kt}
      >
        ${k(a,"small")}
        <span class="history-title" dir="auto">${d}</span>
        <span class="visually-hidden">${a.title}</span>
        ${c&&n==="unread"?j:Xt(n)} ${z(t.tags)}
      </a>
      <button
        type="button"
        class="quiet row-more"
        tabindex="-1"
        title=${r("More")}
        aria-haspopup="menu"
        @click=${E=>this.#s("row-menu",{row:t,button:E.currentTarget})}
      >
        ${l("ellipsis")}<span class="visually-hidden">${r("More options for {name}",{name:d})}</span>
      </button>
    </li>`}#e(t,e){let s=t.currentTarget,n=s.querySelector(".row-more"),o=t.key==="ContextMenu"||t.key==="F10"&&t.shiftKey,a=Vt(t,s);if(t.key==="F2")this.#s("row-rename",e);else if(o)this.#s("row-menu",{row:e,button:n});else if(a==="end")n.focus();else if(a==="start")s.querySelector("a")?.focus();else return;t.preventDefault()}#s(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e,bubbles:!0}))}};customElements.define("chat-history-section",P);function z(i){return i?.length?q`<span class="history-tags">
    <span class="visually-hidden">${r("Tags:")}</span>${i.map(t=>q` <bdi>${t}</bdi>`)}
  </span>`:j}var I="application/x-quickapps-conversation";function Yt({dataTransfer:i},{id:t}){i?.setData(I,t),i&&(i.effectAllowed="linkMove")}function Vt({key:i,altKey:t,ctrlKey:e,metaKey:s},n){if(t||e||s||!["ArrowLeft","ArrowRight"].includes(i))return"";let o=getComputedStyle(n).direction==="rtl";return i==="ArrowRight"===o?"start":"end"}function Xt(i){let t=Gt[i];return t?q`<span class="history-mark" data-state=${i} title=${t}><span class="visually-hidden">${t}</span></span>`:j}var Jt=200,_=class extends Qt{static properties={query:{state:!0},filters:{state:!0},hits:{state:!0},failed:{state:!0},answered:{state:!0},menu:{state:!0}};#t=0;constructor(){super(),this.query="",this.filters=[],this.hits=null,this.answered="",this.failed=!1,this.menu=null}createRenderRoot(){return this}render(){return p`<div class="history-search">
        ${l("search")}
        <label class="visually-hidden" for="history-query">${r("Search conversations")}</label>
        <input
          type="search"
          id="history-query"
          placeholder=${r("Search conversations")}
          dir="auto"
          autocomplete="off"
          maxlength="500"
          .value=${this.query}
          @input=${this.#u}
          @keydown=${this.#r}
        />
        <button type="button" class="quiet filter-button" title=${r("Filters")} aria-haspopup="menu" aria-expanded="false" @click=${this.#i}>
          ${l("sliders-horizontal")}<span class="visually-hidden">${r("Filters")}</span>
        </button>
      </div>
      ${this.menu?p`<search-filters .chosen=${this.filters} @filtered=${this.#o}></search-filters>`:C}
      ${this.menu?.filterChips(this.filters,t=>this.#l(t))} ${this.#e?this.#s():C}`}get#e(){let e=[...this.query.trim()?[["q",this.query]]:[],...this.filters.map(({name:s,value:n})=>[s,n])];return String(new URLSearchParams(e))}#s(){if(this.failed)return p`<p class="history-empty">${r("Search is unavailable. Check the connection and try again.")}</p>`;let t=this.#e!==this.answered,e=t?p`<p class="history-empty working">${r("Searching…")}</p>`:C;if(!this.hits?.length)return t?e:p`<p class="history-empty">${r("No results.")}</p>`;let s=Zt(new URLSearchParams(this.answered).get("q")??"");return p`${e}
      <ul class="history hits" aria-label=${r("Search results")} aria-busy=${t} ?inert=${t}>
        ${this.hits.map(n=>this.#n(n,s))}
      </ul>`}#n({id:t,title:e,address:s,application:n,excerpt:o,message:a,archived:h,tags:c},d){return p`<li class="history-entry">
      <a href="${s}${a?`#message-${a}`:""}" data-conversation=${t}>
        ${k(n,"small")}
        <span class="history-title" dir="auto">${pt(e||r("Untitled"),d)}</span>
        <span class="visually-hidden">${n.title}</span>
        ${h?p`<span class="hit-note">${r("Archived")}</span>`:C}
        ${z(c)} ${o?p`<span class="hit-excerpt" dir="auto">${pt(o,d)}</span>`:C}
      </a>
    </li>`}async#i({currentTarget:t}){this.menu=await import("./search-filters-EM5FOJEB.js"),await this.updateComplete;let e=this.querySelector("search-filters");t instanceof HTMLElement&&await e?.open(t)}#o({detail:t}){this.filters=t,this.#a(0)}#l(t){this.filters=this.filters.filter(e=>e!==t),this.querySelector("input")?.focus(),this.#a(0)}clear(){clearTimeout(this.#t),this.query="",this.filters=[],this.hits=null,this.answered="",this.dispatchEvent(new CustomEvent("searching",{detail:!1}))}#r(t){t.key==="ArrowDown"&&(t.preventDefault(),this.#e===this.answered&&this.querySelector("a")?.focus()),!(t.key!=="Escape"||!this.#e)&&(t.preventDefault(),this.clear())}#u(t){this.query=t.target.value,this.#a(Jt)}#a(t){if(clearTimeout(this.#t),this.failed=!1,!this.#e)return this.clear();this.dispatchEvent(new CustomEvent("searching",{detail:!0})),this.#t=setTimeout(()=>this.#c(this.#e),t)}async#c(t){let e=await g(`/conversations/search/?${t}`);if(t!==this.#e)return;this.failed=e===null,this.hits=e?.hits??null,this.answered=t;let s=this.hits?.length??0,n=s?y("{count} conversation found.","{count} conversations found.",s):r("No conversations found.");e&&this.dispatchEvent(new CustomEvent("said",{detail:n}))}};customElements.define("history-search",_);function Zt(i){return i.toLowerCase().split(/\s+/).filter(Boolean)}function pt(i,t){if(!t.length)return i;let e=new RegExp(`(${t.map(s=>s.replace(/[.*+?^${}()|[\]\\]/g,"\\$&")).join("|")})`,"giu");return i.split(e).map((s,n)=>n%2?p`<mark>${s}</mark>`:s)}var W=class extends te{static properties={current:{attribute:!1},shows:{state:!0},problem:{state:!0},rowsChanged:{state:!0},selection:{state:!0}};constructor(){super(),this.rows=new F,this.rows.addEventListener("change",()=>this.rowsChanged+=1),this.rowsChanged=0,this.current=null,this.shows="list",this.problem="",this.selection=null,this.chosen=null,this.addEventListener("keydown",t=>this.#g(t)),this.addEventListener("dragover",se),this.addEventListener("drop",t=>this.#b(t,null)),this.onMore=new IntersectionObserver(t=>{for(let{isIntersecting:e,target:s}of t)e&&this.#r(s)})}createRenderRoot(){return this}updated(){let t=this.#a;t&&(t.rows=this.rows),this.onMore.disconnect();for(let e of this.querySelectorAll("[data-more]"))this.onMore.observe(e)}render(){return u`<history-search ?hidden=${this.selection!==null} @searching=${this.#M} @said=${this.#w}></history-search>
      <h2 class="visually-hidden">${r("Conversations")}</h2>
      ${this.selection?this.#o(this.selection):$}
      ${this.problem?u`<p class="field-error" role="alert">${this.problem}</p>`:$}
      <div
        class="history-lists"
        ?hidden=${this.shows==="hits"}
        @keydown=${this.#x}
        @row-menu=${({detail:t})=>this.#S(t)}
        @row-rename=${({detail:t})=>this.#a?.ask({kind:"rename",row:t})}
      >
        ${this.shows==="archive"?this.#n():this.#t()}
      </div>
      <row-menu @chosen=${({detail:t})=>this.#C(t)}></row-menu>
      <history-dialog @done=${this.#O}></history-dialog>
      <folder-dialog @said=${this.#w}></folder-dialog>
      <tag-dialog @done=${this.#L}></tag-dialog>`}#t(){let{sections:t}=this.rows;return u`${ee(t,({key:e})=>e,e=>e.folder?this.#s(e,e.folder):this.#e(e))}
      ${t.some(({folder:e})=>!e)?$:u`<p class="history-empty">${r("Your conversations will be listed here.")}</p>`}
      ${this.#l("main",r("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection!==null}>
        <button type="button" class="quiet" @click=${()=>this.#a?.ask({kind:"new-folder"})}>
          ${l("folder-plus")}${r("New folder")}
        </button>
        ${this.#i(t.some(({rows:e})=>e.length))}
        <button type="button" class="quiet" @click=${this.#T}>${l("archive")}${r("Archived")}</button>
      </div>`}#e({key:t,heading:e,rows:s}){return u`<section class="history-section">
      <h3 class="history-heading" dir="auto">${e}</h3>
      <chat-history-section data-section=${t} .rows=${s} .current=${this.#u(s)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
    </section>`}#s({rows:t},e){let s=n=>this.rows.collapse(e,!n.target.open);return u`<section class="history-section history-folder" @drop=${n=>this.#b(n,e)}>
      <details ?open=${!e.collapsed} @toggle=${s}>
        <summary>${l("chevron-right")}${l("folder")}<h3 dir="auto">${e.name}</h3></summary>
        ${e.collapsed||t.length||this.rows.hasMore(String(e.id))?$:u`<p class="history-empty">${r("This folder is empty.")}</p>`}
        <chat-history-section .rows=${e.collapsed?[]:t} .current=${this.#u(t)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
        ${e.collapsed?$:this.#l(String(e.id),r("Show more conversations in this folder"))}
      </details>
      <button
        type="button"
        class="quiet row-more"
        title=${r("More")}
        aria-haspopup="menu"
        @click=${({currentTarget:n})=>this.#q(e,n)}
      >
        ${l("ellipsis")}<span class="visually-hidden">${r("More options for the folder {name}",{name:e.name})}</span>
      </button>
    </section>`}#n(){let t=this.rows.archived;return u`<button type="button" class="quiet history-back" @click=${this.#R}>
        ${l("chevron-right")}${r("Back to all conversations")}
      </button>
      <section class="history-section">
        <h3 class="history-heading" tabindex="-1">${r("Archived")}</h3>
        ${t.length||this.rows.hasMore("archived")?$:u`<p class="history-empty">${r("No archived conversations.")}</p>`}
        <chat-history-section .rows=${t} .current=${this.#u(t)} .selection=${this.selection} .version=${this.selection?this.rowsChanged:0}></chat-history-section>
      </section>
      ${this.#l("archived",r("Show older conversations"))}
      <div class="history-foot" ?hidden=${this.selection!==null||!t.length}>${this.#i(!0)}</div>`}#i(t){return t?u`<button type="button" class="quiet" @click=${()=>this.#p()}>${l("check")}${r("Select conversations")}</button>`:$}#o(t){return u`<selection-bar
      .count=${t.rows.length}
      .all=${t.hasAll}
      .full=${t.isFull}
      .archived=${this.shows==="archive"}
      @act=${({detail:e})=>this.#d(t,e)}
    ></selection-bar>`}#l(t,e){return this.rows.hasMore(t)?u`<button type="button" class="link history-more" data-more=${t} @click=${()=>this.rows.more(t)}>${e}</button>`:$}#r(t){t instanceof HTMLElement&&this.rows.more(t.dataset.more??"")}#u(t){return t.some(({id:e})=>e===this.current)?this.current:null}rename(t){let e=this.closest("[popover]");this.#a?.ask({kind:"rename",row:t}),!(!(e instanceof HTMLElement)||e.checkVisibility())&&(e.showPopover(),this.#a?.addEventListener("left",()=>e.hidePopover(),{once:!0}))}get#a(){return this.querySelector("history-dialog")}get#c(){return this.querySelector("folder-dialog")}get#f(){return this.querySelector("row-menu")}async#p(t){let{Selection:e}=await import("./selection-O6P7BA4Q.js"),s=new e(this.rows,()=>this.#k.map(({dataset:n})=>n.conversation??""));s.addEventListener("change",()=>this.rowsChanged+=1),s.addEventListener("said",n=>this.#w(n)),t&&s.toggle(t.id),this.problem="",this.selection=s,requestAnimationFrame(()=>this.#v(t?`[data-conversation="${t.id}"]`:"[data-conversation]"))}#h(){let t=document.activeElement?.closest("[data-conversation]"),e=t instanceof HTMLElement?t.dataset.conversation:this.selection?.last;this.selection=null,requestAnimationFrame(()=>this.#y(e))}async#d(t,e){if(e==="end")this.#h();else if(e==="all")t.selectAll();else if(e==="none")t.clear();else if(e==="tag")await this.#E(t.rows);else{let s=await t.act(e);s.undoable&&this.#h(),this.#$(s)}}#g(t){let{selection:e}=this,s=t.target instanceof Element&&t.target.closest("dialog, .row-menu");if(!(!e||s||t.defaultPrevented)){if(t.key==="Escape")this.#h();else if(t.key.toLowerCase()==="a"&&(t.ctrlKey||t.metaKey))e.selectAll();else return;t.preventDefault()}}get#k(){return[...this.querySelectorAll(".history-lists [data-conversation]")].filter(t=>t instanceof HTMLElement)}#x(t){let e={ArrowDown:1,ArrowUp:-1}[t.key],s=[...this.querySelectorAll("[data-conversation]")].filter(a=>a instanceof HTMLElement),n=document.activeElement?.closest(".history-entry")?.querySelector("[data-conversation]"),o=s.indexOf(n);!e||o<0||(t.preventDefault(),s[o+e]?.focus(),t.shiftKey&&this.selection?.step(s[o+e],s[o]))}#S({row:t,button:e}){this.chosen=t,this.#f?.open(Q(t,!!document.getElementById("main")?.dataset.account),e)}#q(t,e){this.chosen=t,e instanceof HTMLElement&&this.#f?.open(J(t,this.rows.folders),e)}async#C(t){let{chosen:e,rows:s}=this;if(!e)return;if(!("address"in e)){t==="folder-content"?await this.#c?.open(e):this.#$(await ot(s,t,e));return}if(t==="select")return void this.#p(e);if(t==="tags")return void this.#E([e]);let n=await rt(s,t,e);n.leaves&&this.#m(n.leaves,e),this.#$(n)}#$({said:t,problem:e="",id:s,undoable:n,asks:o}){this.problem=e,o&&this.#a?.ask(o),n&&this.#m("undoable",n),t&&(this.#m("said",t),this.updateComplete.then(()=>this.#y(s)))}#y(t=""){requestAnimationFrame(()=>{if(document.activeElement!==document.body)return;let s=(t?this.querySelector(`[data-conversation="${t}"]`):null)??this.querySelector("#history-query");s instanceof HTMLElement&&s.focus()})}#b(t,e){let s=this.rows.find(t.dataTransfer?.getData(I)??"");!s||t.defaultPrevented||(t.preventDefault(),s.folder!==(e?.id??null)&&at(this.rows,s,e).then(n=>this.#$(n)))}async#E(t){await import("./tag-dialog-A3M6PHLX.js"),await this.querySelector("tag-dialog")?.open(this.rows,t)}#L({detail:{said:t,rows:e}}){this.#m("said",t),this.selection&&this.#h(),this.#y(e[0].id)}#T(){this.shows="archive",this.rows.more("archived"),this.updateComplete.then(()=>this.#v("[tabindex='-1'].history-heading"))}#R(){this.selection=null,this.shows="list",this.updateComplete.then(()=>this.#v("#history-query"))}#v(t){let e=this.querySelector(t);e instanceof HTMLElement&&e.focus()}#M({detail:t}){this.shows=t?"hits":"list"}#w({detail:t}){this.#m("said",t)}#O({detail:{kind:t,said:e,row:s}}){this.#m("said",e),t==="rename"&&s&&this.#m("renamed",s),t==="move"&&(this.selection=null),this.#y(s?.id)}#m(t,e){this.dispatchEvent(new CustomEvent(t,{detail:e}))}};customElements.define("chat-history",W);function se(i){i.dataTransfer?.types.includes(I)&&i.preventDefault()}import{html as ie,LitElement as ne,nothing as re}from"../vendor/lit.js";var oe=10,ae=28,G=class extends ne{static properties={text:{state:!0}};#t=()=>{};#e=0;#s=0;#n=0;constructor(){super(),this.text=""}createRenderRoot(){return this}render(){return this.text?ie`<div class="toast" popover="manual" role="region" aria-label=${r("Latest actions")} @keydown=${this.#l}>
      <span>${this.text}</span>
      <button type="button" class="link" @click=${this.#o}>${r("Undo")}</button>
    </div>`:re}async show(t,e,{takesFocus:s=!0}={}){this.text=t,this.#t=e,this.#e=this.#s=0,clearInterval(this.#n),this.#n=setInterval(()=>this.#i(),1e3),await this.updateComplete;let n=this.querySelector(".toast");n instanceof HTMLElement&&!n.matches(":popover-open")&&n.showPopover(),s&&this.querySelector("button")?.focus()}#i(){this.#e+=1,this.querySelector(".toast:hover, :focus-visible")||(this.#s+=1),(this.#s>=oe||this.#e>=ae)&&this.hide()}hide(){clearInterval(this.#n);let t=this.contains(document.activeElement);this.text="",t&&this.dispatchEvent(new CustomEvent("left"))}#o(){this.hide(),this.#t()}#l(t){t.key==="Escape"&&(t.preventDefault(),this.hide())}};customElements.define("chat-toast",G);var mt="rail";function bs(){let i=document.getElementById("rail-toggle");i?.addEventListener("click",()=>{le(document.documentElement.dataset.rail!=="collapsed"),i.focus()}),gt()}function le(i){i?document.documentElement.dataset.rail="collapsed":delete document.documentElement.dataset.rail,gt();try{i?localStorage.setItem(mt,"collapsed"):localStorage.removeItem(mt)}catch{}}function gt(){let i=document.documentElement.dataset.rail==="collapsed";document.getElementById("rail-toggle")?.setAttribute("aria-expanded",String(!i))}var he="input, textarea, select, audio, video, iframe";function ks(i,t){let e=null;addEventListener("touchstart",({touches:o,target:a})=>{e=o.length===1&&t.checkVisibility()&&n(o[0].clientX,a)?{...$t(o[0]),wasOpen:s()}:null},{passive:!0}),addEventListener("touchmove",({touches:o})=>{o.length>1&&(e=null)},{passive:!0}),addEventListener("touchcancel",()=>e=null),addEventListener("touchend",({changedTouches:o})=>{if(!e)return;let a=$t(o[0]),h=(a.x-e.x)*(yt()?-1:1),c=Math.abs(h)>56&&Math.abs(h)>2*Math.abs(a.y-e.y),d=!(getSelection()?.isCollapsed??!0);c&&!d&&h>0!==e.wasOpen&&s()===e.wasOpen&&i.togglePopover(),e=null});let s=()=>i.matches(":popover-open");function n(o,a){return document.querySelector("dialog:modal")||(visualViewport?.scale??1)>1?!1:s()||(yt()?innerWidth-o:o)<innerWidth*.4&&!ce(a)}}function $t({clientX:i,clientY:t}){return{x:i,y:t}}function yt(){return document.documentElement.dir==="rtl"}function ce(i){if(i instanceof Element&&i.closest(he))return!0;for(let t=i instanceof Element?i:null;t;t=t.parentElement)if(t.scrollWidth>t.clientWidth+1&&/auto|scroll/.test(getComputedStyle(t).overflowX))return!0;return!1}export{it as a,Z as b,tt as c,M as d,W as e,G as f,bs as g,ks as h};
