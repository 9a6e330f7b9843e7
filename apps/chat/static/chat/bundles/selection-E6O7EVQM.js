import{a as l}from"./chunk-TKCLDTR7.js";import{c as s,e as a}from"./chunk-TZA5RPAC.js";import{html as h,LitElement as g,nothing as f}from"../vendor/lit.js";var u=100,v=class extends EventTarget{#t=new Set;#e=new Set;#s="";#n;#i;constructor(t,e){super(),this.#n=t,this.#i=e}get last(){return this.#s}get rows(){return[...this.#t].map(t=>this.#n.find(t)).filter(t=>t!==void 0)}get isFull(){return this.rows.length>=u}get hasAll(){return this.isFull||this.#i().every(t=>this.#t.has(t))}has(t){return this.#t.has(t)}toggle(t){let e=new Set(this.#t);e.delete(t)||e.add(t),this.#s=t,this.#e=new Set(e),this.#o(e)}extend(t){let e=this.#i(),n=e.indexOf(this.#s),i=e.indexOf(t);if(n<0||i<0)return this.toggle(t);this.#o(new Set([...this.#e,...e.slice(Math.min(n,i),Math.max(n,i)+1)]))}selectAll(){this.#s="",this.#o(new Set([...this.#t,...this.#i()]))}clear(){this.#s="",this.#o(new Set)}draw({id:t,title:e,application:n},i){let c=this.has(t);return h`<li class="history-entry">
      <button
        type="button"
        class="history-pick"
        role="checkbox"
        aria-checked=${c}
        data-conversation=${t}
        @click=${r=>r.shiftKey?this.extend(t):this.toggle(t)}
      >
        <span class="pick-box">${c?l("check"):f}</span>
        ${i}
        <span class="history-title" dir="auto">${e||s("Untitled")}</span>
        <span class="visually-hidden">${n.title}</span>
      </button>
    </li>`}async act(t){let{rows:e}=this;if(t==="move")return{asks:{kind:"move",rows:e}};let[n,i,c]=$(t,e.length),r=await this.#n.changeAll(e,n);return r?{problem:r}:{undoable:{rows:e,text:c,isDeletion:t==="delete",undo:()=>this.#n.changeAll(e,i)}}}step(t,e){t&&(this.#s||=e.dataset.conversation??"",this.extend(t.dataset.conversation??""))}#o(t){let e=[...t].filter(i=>this.#n.find(i)),n=e.length>u;this.#t=new Set(e.slice(0,u)),this.dispatchEvent(new CustomEvent("change")),this.dispatchEvent(new CustomEvent("said",{detail:n?b():p(this.#t.size)}))}},d=class extends g{static properties={count:{attribute:!1},all:{attribute:!1},archived:{attribute:!1},full:{attribute:!1}};constructor(){super(),this.count=0,this.all=!1,this.archived=!1,this.full=!1}createRenderRoot(){return this}render(){let{count:t,archived:e}=this;return h`<div class="selection-bar" role="toolbar" aria-label=${s("Selected conversations")}>
      <div class="selection-count">
        <button type="button" class="quiet" aria-keyshortcuts="Escape" title=${s("Cancel selection")} @click=${()=>this.#e("end")}>
          ${l("x")}<span class="visually-hidden">${s("Cancel selection")}</span>
        </button>
        <span>${this.full?b():p(t)}</span>
        ${this.full?f:h`<button type="button" class="link" @click=${()=>this.#e(this.all?"none":"all")}>
              ${this.all?s("Select none"):s("Select all")}
            </button>`}
      </div>
      <div class="selection-actions">
        ${e?this.#t("unarchive",s("Restore"),"archive-restore"):[this.#t("archive",s("Archive"),"archive"),this.#t("move",s("Move…"),"folder")]}
        ${this.#t("tag",s("Tag…"),"tag")}
        ${this.#t("delete",s("Delete"),"trash-2")}
      </div>
    </div>`}#t(t,e,n){return h`<button type="button" class="quiet" ?disabled=${!this.count} @click=${()=>this.#e(t)}>${l(n)}${e}</button>`}#e(t){this.dispatchEvent(new CustomEvent("act",{detail:t}))}};customElements.define("selection-bar",d);function $(o,t){if(o==="delete")return[{deleted:"true"},{deleted:"false"},a("{count} conversation deleted.","{count} conversations deleted.",t)];if(o==="archive")return[{archived:"true"},{archived:"false"},a("{count} conversation archived.","{count} conversations archived.",t)];let e=a("{count} conversation restored.","{count} conversations restored.",t);return[{archived:"false"},{archived:"true"},e]}function p(o){return a("{count} selected","{count} selected",o)}function b(){return s("{count} selected (maximum)",{count:String(u)})}export{v as Selection,d as SelectionBar};
