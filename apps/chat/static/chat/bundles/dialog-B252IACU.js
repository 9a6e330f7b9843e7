import{c as h}from"./chunk-TKCLDTR7.js";import{c as o,e as d}from"./chunk-TZA5RPAC.js";import{html as l,LitElement as m,nothing as a}from"../vendor/lit.js";var p={rename:o("Rename conversation"),move:o("Move to folder"),"go-on":o("Continue in another app"),"new-folder":o("New folder"),"rename-folder":o("Rename folder")},g=8,w={rename:200,"rename-folder":100,"new-folder":100},u=class extends m{static properties={asked:{state:!0},problem:{state:!0},isNew:{state:!0},query:{state:!0}};constructor(){super(),this.rows=void 0,this.asked=null,this.problem="",this.isNew=!1,this.query="",this.opener=null}createRenderRoot(){return this}ask(e){this.opener=document.activeElement,this.problem=this.query="",this.isNew=e.kind==="move"&&!this.rows?.folders.length,this.asked=e}updated(){let e=this.querySelector("dialog");if(!this.asked||!e||e.open)return;e.showModal();let t=e.querySelector("input[name=text]");t instanceof HTMLInputElement&&t.select()}render(){let{asked:e}=this;return e?l`<dialog aria-labelledby="dialog-heading" @close=${this.#l}>
      <form @submit=${this.#a}>
        <h2 id="dialog-heading">${p[e.kind]}</h2>
        ${this.#o(e)}
        ${this.problem?l`<p class="field-error" role="alert">${this.problem}</p>`:a}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#n}>${o("Cancel")}</button>
          <button class="button primary">${v(e.kind)}</button>
        </div>
      </form>
    </dialog>`:a}#o(e){return e.kind==="move"?this.#s(e.rows):e.kind==="go-on"?this.#r(e.row,e.applications):this.#t(e.kind,$(e))}#r(e,t){let r=this.query.trim().toLowerCase(),s=({title:i,detail:c})=>`${i} ${c}`.toLowerCase().includes(r);return l`${t.length<g?a:this.#i()}
      <fieldset class="folder-choice">
        <legend>${o("Choose an app for the next question in “{title}”",{title:e.title||o("Untitled")})}</legend>
        ${t.map(i=>l`<label class="application-option" ?hidden=${!s(i)}>
            <input type="radio" class="visually-hidden" name="application" value=${i.slug} required />
            ${h(i)}
            <span class="choice-option" dir="auto">${i.title}${i.detail?l`<small>${i.detail}</small>`:a}</span>
          </label>`)}
        ${t.some(s)?a:l`<p class="choices-none" role="status">${o("No results.")}</p>`}
      </fieldset>
      <p class="history-empty">${o("The new app can read all messages in this conversation.")}</p>`}#i(){let e=({target:t})=>this.query=t.value;return l`<input type="search" aria-label=${o("Search")} placeholder=${o("Search")} autocomplete="off" @input=${e} />`}#t(e,t){return l`<label for="dialog-text">${e==="rename"?o("Title"):o("Name")}</label>
      <input id="dialog-text" name="text" maxlength=${w[e]} required autocomplete="off" .value=${t} />`}#s(e){let t=this.rows?.folders??[],r=s=>e.every(i=>i.folder===s);return l`<fieldset class="folder-choice">
        <legend>${b(e)}</legend>
        ${t.map(({id:s,name:i})=>this.#e(String(s),i,r(s)&&!this.isNew))}
        ${r(null)?a:this.#e("",o("No folder"),!1)}
        ${this.#e("new",o("New folder"),this.isNew)}
      </fieldset>
      ${this.isNew?this.#t("new-folder",""):a}`}#e(e,t,r){return l`<label>
      <input type="radio" name="folder" value=${e} required .checked=${r} @change=${()=>this.isNew=e==="new"} />
      <span dir="auto">${t}</span>
    </label>`}#n(){this.querySelector("dialog")?.close()}#l(){this.dispatchEvent(new CustomEvent("left")),this.asked=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}async#a(e){e.preventDefault();let{asked:t,rows:r}=this;if(!t||!r)return;let s=new FormData(e.target),i=String(s.get("text")??"").trim(),c=String(s.get(t.kind==="go-on"?"application":"folder")??"");this.problem=await y(r,t,i,c),!this.problem&&(this.#n(),this.dispatchEvent(new CustomEvent("done",{detail:C(t,i)})))}};customElements.define("history-dialog",u);function $(n){return n.kind==="rename"?n.row.title:n.kind==="rename-folder"?n.folder.name:""}function b(n){let[{title:e}]=n;return n.length>1?d("Choose a folder for {count} conversation","Choose a folder for {count} conversations",n.length):o("Choose a folder for “{title}”",{title:e||o("Untitled")})}function v(n){return n==="move"?o("Move"):n==="go-on"?o("Continue"):n==="new-folder"?o("Create"):o("Rename")}async function y(n,e,t,r){if(e.kind==="rename")return n.rename(e.row,t);if(e.kind==="rename-folder")return(await n.changeFolders(`${e.folder.id}/`,{name:t})).problem;if(e.kind==="new-folder")return(await n.changeFolders("",{name:t})).problem;if(e.kind==="go-on")return n.goOn(e.row,r);if(r!=="new")return f(n,e.rows,r);let s=await n.changeFolders("",{name:t});return s.problem||f(n,e.rows,String(s.folder))}function f(n,e,t){return e.length>1?n.changeAll(e,{folder:t}):n.arrange(e[0],{folder:t})}function C(n,e){let{kind:t}=n;if(t==="rename")return{kind:t,said:o("Conversation renamed."),row:{...n.row,title:e}};if(t==="go-on")return{kind:t,said:o("The new app will answer, starting with your next message."),row:n.row};if(t==="move"){let r=d("{count} conversation moved.","{count} conversations moved.",n.rows.length);return{kind:t,said:n.rows.length>1?r:o("Conversation moved."),row:n.rows[0]}}return{kind:t,said:t==="new-folder"?o("Folder created."):o("Folder renamed.")}}export{u as HistoryDialog};
