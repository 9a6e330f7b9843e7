/**
 * The types of the studio's page data and of the server's responses.
 *
 * @typedef {Record<string, any>} Json an object in a manifest, or in a response from the server
 *
 * @typedef {object} Finding a problem in the draft
 * @property {"error" | "warning"} severity
 * @property {string} path in the manifest, or of a skill's file
 * @property {string} message
 *
 * @typedef {Finding & {label: string}} DraftFinding with its section and field
 *
 * @typedef {object} Draft
 * @property {Json} manifest
 * @property {string} title
 * @property {string} description
 * @property {string} icon
 * @property {Record<string, Record<string, string>>} skills the texts of their files, by skill name and path
 *
 * @typedef {object} State of the application
 * @property {string} name
 * @property {string} title
 * @property {number} number of the live version, or 0 if there is none
 * @property {boolean} has_draft
 * @property {boolean} can_discard
 * @property {boolean} can_publish
 * @property {boolean} takes_two another user has to publish
 * @property {boolean} [is_requested]
 * @property {string} notice
 * @property {string} take_over a URL, or ""
 *
 * @typedef {Draft & {version: number, state: State}} Stored
 *
 * @typedef {[text: string, value: string]} Pair
 * @typedef {{facts: Pair[], links: Pair[]}} Page about the application
 * @typedef {{role: string, content: string, name?: string, custom_content?: {state: unknown}}} Message
 *
 * @typedef {object} Holder a user or group that has a role, or can be given one
 * @property {"user" | "group"} kind
 * @property {string} what the word for the kind: a user, a group or a team
 * @property {string} name
 * @property {string} title
 *
 * @typedef {{is_enabled: boolean, origins: string[], has_key: boolean, algorithm: "" | "HS256" | "EdDSA", is_public: boolean, may_change: boolean}} Widget how other sites show the application
 *
 * @typedef {object} Access who may use the application
 * @property {boolean} is_enabled
 * @property {boolean} is_published
 * @property {"private" | "shared" | "public"} audience
 * @property {Holder | null} owner
 * @property {boolean} takes_two
 * @property {(Holder & {role: string})[]} grants
 * @property {boolean} may_enable
 * @property {boolean} may_grant
 * @property {boolean} may_rule
 * @property {boolean} finds_all the search finds everyone
 *
 * @typedef {{editor: "text" | "number" | "authorization" | "server", path: string, label: string, placeholder: string}} CardField
 *
 * @typedef {object} Kind of toolsets
 * @property {string} title
 * @property {CardField[]} fields on its card
 * @property {boolean} is_named
 * @property {boolean} is_remote a server lists its tools
 * @property {boolean} is_addable its card has every field that it requires
 * @property {boolean} is_written its tools are written in the manifest
 *
 * @typedef {{title: string, language: string, text: string}} Snippet
 * @typedef {{address: string, body: string, headers: [string, string][]}} Trial a request that demonstrates a door; `{message}` is replaced with the text
 * @typedef {{id: string, title: string, summary: string, address: string, snippets: Snippet[], trial: Trial | null}} Door for client programs
 *
 * @typedef {object} Labels
 * @property {Record<string, {title: string, paths: string[] | null}>} sections by ID; the parts of the draft that they edit, if they edit it
 * @property {Record<string, string>} fields by path, where `[]` is an index
 *
 * @typedef {{note: string, hint: string, missing: string, longest: number, first: string, only_new: string, audience: string, anyway: string, checks: string, no_issues: string, review: string}} PublishingTexts of the dialog for publishing
 *
 * @typedef {object} Facts
 * @property {string} slug
 * @property {string} csrf
 * @property {{letters: string, colour: number}} tile
 * @property {string[]} skill_endings
 * @property {number} upload_limit of a file, in bytes
 * @property {Record<string, Kind>} kinds of toolsets, by their type
 * @property {Labels} labels
 * @property {boolean} may_change
 * @property {boolean} may_archive
 * @property {boolean} may_publish
 * @property {PublishingTexts} publishing
 * @property {string} origin
 * @property {Record<string, string>} urls
 * @property {Access} access
 * @property {{doors: Door[], keys: string, own_keys: string, user: string, widget: Widget}} connect where keys are created, or ""
 * @property {Page} general
 * @property {Record<string, string>} panels the URLs of the sections that the server renders
 * @property {string} managed the directory of the application's managed files, or ""
 * @property {Message[]} replay
 *
 * @typedef {Stored & Facts} PageData
 *
 * @typedef {object} Deployment
 * @property {string} id
 * @property {string} name
 * @property {string} kind
 * @property {boolean} is_enabled
 * @property {string} can
 * @property {string} details
 * @property {number | null} window
 * @property {string[]} fallbacks
 *
 * @typedef {object} Choices the available choices
 * @property {Deployment[]} deployments
 * @property {{id: string, name: string}[]} applications
 * @property {{name: string, title: string, text: string}[]} prompts
 * @property {{name: string, description: string}[]} skills
 * @property {string[]} agents
 * @property {{path: string}[]} files
 * @property {string[]} secrets
 * @property {{name: string}[]} servers programs of this installation
 * @property {{template: string, title: string}[]} registered remote servers
 * @property {string[]} places host pages
 * @property {Record<string, string>} add URLs of forms, by kind
 *
 * @typedef {[kind: string, text: string, runs?: [isChanged: boolean, text: string][]]} Line
 *
 * @typedef {object} Difference a change that publishing makes at one path
 * @property {string} path
 * @property {string} label the section and the field
 * @property {string} kind
 * @property {string} before
 * @property {string} after
 * @property {Line[]} lines
 *
 * @typedef {{title: string, text: string}} Starter
 *
 * @typedef {"change" | "settled" | "findings" | "stored" | "saved" | "choices"} Occasion
 */

export {};
