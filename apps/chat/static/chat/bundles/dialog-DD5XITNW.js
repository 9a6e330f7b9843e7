import{c as o,e as d}from"./chunk-TZA5RPAC.js";import{html as l,LitElement as h,nothing as a}from"../vendor/lit.js";var m={rename:o("Rename conversation"),move:o("Move to folder"),"go-on":o("Continue in another app"),"new-folder":o("New folder"),"rename-folder":o("Rename folder")},p={rename:200,"rename-folder":100,"new-folder":100},c=class extends h{static properties={asked:{state:!0},problem:{state:!0},isNew:{state:!0}};constructor(){super(),this.rows=void 0,this.asked=null,this.problem="",this.isNew=!1,this.opener=null}createRenderRoot(){return this}ask(e){this.opener=document.activeElement,this.problem="",this.isNew=e.kind==="move"&&!this.rows?.folders.length,this.asked=e}updated(){let e=this.querySelector("dialog");if(!this.asked||!e||e.open)return;e.showModal();let t=e.querySelector("input[name=text]");t instanceof HTMLInputElement&&t.select()}render(){let{asked:e}=this;return e?l`<dialog aria-labelledby="dialog-heading" @close=${this.#l}>
      <form @submit=${this.#s}>
        <h2 id="dialog-heading">${m[e.kind]}</h2>
        ${this.#o(e)}
        ${this.problem?l`<p class="field-error" role="alert">${this.problem}</p>`:a}
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${this.#n}>${o("Cancel")}</button>
          <button class="button primary">${b(e.kind)}</button>
        </div>
      </form>
    </dialog>`:a}#o(e){return e.kind==="move"?this.#i(e.rows):e.kind==="go-on"?this.#r(e.row,e.applications):this.#t(e.kind,g(e))}#r(e,t){return l`<fieldset class="folder-choice">
        <legend>${o("Choose an app for the next question in “{title}”",{title:e.title||o("Untitled")})}</legend>
        ${t.map(({slug:r,title:i})=>l`<label>
            <input type="radio" name="application" value=${r} required />
            <span dir="auto">${i}</span>
          </label>`)}
      </fieldset>
      <p class="history-empty">${o("The new app can read all messages in this conversation.")}</p>`}#t(e,t){return l`<label for="dialog-text">${e==="rename"?o("Title"):o("Name")}</label>
      <input id="dialog-text" name="text" maxlength=${p[e]} required autocomplete="off" .value=${t} />`}#i(e){let t=this.rows?.folders??[],r=i=>e.every(s=>s.folder===i);return l`<fieldset class="folder-choice">
        <legend>${w(e)}</legend>
        ${t.map(({id:i,name:s})=>this.#e(String(i),s,r(i)&&!this.isNew))}
        ${r(null)?a:this.#e("",o("No folder"),!1)}
        ${this.#e("new",o("New folder"),this.isNew)}
      </fieldset>
      ${this.isNew?this.#t("new-folder",""):a}`}#e(e,t,r){return l`<label>
      <input type="radio" name="folder" value=${e} required .checked=${r} @change=${()=>this.isNew=e==="new"} />
      <span dir="auto">${t}</span>
    </label>`}#n(){this.querySelector("dialog")?.close()}#l(){this.dispatchEvent(new CustomEvent("left")),this.asked=null,this.opener instanceof HTMLElement&&this.opener.isConnected&&this.opener.focus()}async#s(e){e.preventDefault();let{asked:t,rows:r}=this;if(!t||!r)return;let i=new FormData(e.target),s=String(i.get("text")??"").trim(),f=String(i.get(t.kind==="go-on"?"application":"folder")??"");this.problem=await v(r,t,s,f),!this.problem&&(this.#n(),this.dispatchEvent(new CustomEvent("done",{detail:$(t,s)})))}};customElements.define("history-dialog",c);function g(n){return n.kind==="rename"?n.row.title:n.kind==="rename-folder"?n.folder.name:""}function w(n){let[{title:e}]=n;return n.length>1?d("Choose a folder for {count} conversation","Choose a folder for {count} conversations",n.length):o("Choose a folder for “{title}”",{title:e||o("Untitled")})}function b(n){return n==="move"?o("Move"):n==="go-on"?o("Continue"):n==="new-folder"?o("Create"):o("Rename")}async function v(n,e,t,r){if(e.kind==="rename")return n.rename(e.row,t);if(e.kind==="rename-folder")return(await n.changeFolders(`${e.folder.id}/`,{name:t})).problem;if(e.kind==="new-folder")return(await n.changeFolders("",{name:t})).problem;if(e.kind==="go-on")return n.goOn(e.row,r);if(r!=="new")return u(n,e.rows,r);let i=await n.changeFolders("",{name:t});return i.problem||u(n,e.rows,String(i.folder))}function u(n,e,t){return e.length>1?n.changeAll(e,{folder:t}):n.arrange(e[0],{folder:t})}function $(n,e){let{kind:t}=n;if(t==="rename")return{kind:t,said:o("Conversation renamed."),row:{...n.row,title:e}};if(t==="go-on")return{kind:t,said:o("The new app will answer, starting with your next message."),row:n.row};if(t==="move"){let r=d("{count} conversation moved.","{count} conversations moved.",n.rows.length);return{kind:t,said:n.rows.length>1?r:o("Conversation moved."),row:n.rows[0]}}return{kind:t,said:t==="new-folder"?o("Folder created."):o("Folder renamed.")}}export{c as HistoryDialog};
