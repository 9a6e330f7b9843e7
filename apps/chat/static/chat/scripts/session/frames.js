/**
 * The types of the socket's frames; docs/chat-protocol.md describes them.
 *
 * @import { Annotation } from "../markdown/citations.js"
 *
 * @typedef {{type: string, title?: string, url?: string, data?: string, reference_url?: string}} Attachment
 *
 * @typedef {object} StoredMessage
 * @property {string} id
 * @property {"user" | "assistant"} role
 * @property {string} text in a whole turn left out where the deltas say it
 * @property {string} [created_at]
 * @property {Attachment[]} [attachments]
 * @property {Usage} [usage]
 * @property {string} [finish_reason] why the answer ends
 * @property {string[]} [models] that answered
 * @property {number} [version] of the application
 * @property {Record<string, string>} [costs] decimals by currency; missing where one is not known
 * @property {number} [first_text_seconds]
 * @property {number} [seconds]
 * @property {Place} [place] the place from which the user asked
 * @property {{slug: string, title: string}} [application] the application that answers from here on, if it changed
 * @property {string} [todo] the list that the conversation has after it
 * @property {Sender} [sender] the sender, if it is not the user
 * @property {string[]} [left_out] pictures and files that were missing from an import
 * @property {string[]} [files_read] names of files that an answer has read with tools
 * @property {MemoryNote[]} [memories] what an answer has read of memories, and written
 *
 * @typedef {{slug: string, title: string, narrative: string}} Place
 *
 * @typedef {{kind: "webhook" | "schedule" | "alarm" | "continuation", title: string, untrusted: boolean, at?: string}} Sender `at`: the time of a schedule or an alarm; a `continuation` continues the previous answer
 *
 * @typedef {{ids: string[], at: number}} Branch the alternatives of a message, and the index of the shown alternative; "" is an alternative that is being written
 *
 * @typedef {object} Usage
 * @property {number} prompt_tokens
 * @property {number} [cached_tokens] of the prompt
 * @property {number} completion_tokens
 * @property {number} [reasoning_tokens] of the completion
 *
 * @typedef {{action: "recalled" | "stored" | "changed" | "forgotten" | "deleted", text: string}} MemoryNote
 *
 * @typedef {"queued" | "running" | "waiting" | "done" | "failed" | "stopped"} RunStatus
 *
 * The socket omits IDs that are the same as in the previous frame.
 * @typedef {object} Sequenced
 * @property {string} conversation
 * @property {string} run
 * @property {number} seq
 *
 * A turn as a whole: the events of its run, joined, and its place in the conversation.
 * @typedef {{run: string, at: number, events: Event[]}} WholeTurn
 *
 * `turns` are the last ones, as they were up to the number `after`; `before` is the cursor of earlier ones.
 * @typedef {{type: "conversation.opened", conversation: string, title: string, last: number,
 *   branches?: Record<string, Branch>, run: {id: string, status: RunStatus} | null,
 *   after?: number, turns?: WholeTurn[], before?: string | null}} Opened `branches`: by the ids of questions, and of the runs of answers
 * @typedef {object} Queued
 * @property {string} id
 * @property {string} request the id that its page chose
 * @property {string} text
 * @property {Attachment[]} attachments
 * @property {boolean} held the message is sent only after the user confirms it
 * @property {string} problem why the message could not be sent, or ""
 *
 * @typedef {{type: "queue.changed", conversation: string, messages: Queued[]}} QueueChanged
 * @typedef {{type: "list.changed", conversations: import("../rail/rows.js").Row[], deleted: string[],
 *   is_whole: boolean}} ListChanged
 * @typedef {{type: "folders.changed", folders: import("../rail/rows.js").Folder[]}} FoldersChanged
 * @typedef {{type: "results.expired", conversation: string, answers: Record<string, string[]>}} ResultsExpired
 * @typedef {import("../notices/attention.js").Attention & {type: "attention.changed"}} AttentionChanged
 * @typedef {{type: "team.changed"}} TeamChanged
 * @typedef {{type: "read_only.changed", text: string}} ReadOnlyChanged `text`: the notice; "" when the site is not read-only any more
 * @typedef {{type: "error", text: string, code: string}} Refusal
 *
 * @typedef {Sequenced & {type: "message.added", message: StoredMessage}} MessageAdded
 * @typedef {Sequenced & {type: "branches.changed"}} BranchesChanged
 * @typedef {Sequenced & {type: "run.status", status: RunStatus}} StatusChanged
 * @typedef {Sequenced & {type: "message.delta", text: string}} MessageDelta
 * @typedef {Sequenced & {type: "stage.opened", stage: string, title: string, parent: string | null}} StageOpened
 * @typedef {Sequenced & {type: "stage.delta", stage: string, text?: string, title?: string,
 *   attachment?: Attachment, length?: number}} StageDelta `length` of the text that is cut here
 * @typedef {Sequenced & {type: "stage.closed", stage: string, failed: boolean, seconds: number | null}} StageClosed
 * @typedef {Sequenced & {type: "attachment.added", attachment: Attachment}} AttachmentAdded
 * @typedef {Sequenced & {type: "annotation.added", annotation: Annotation}} AnnotationAdded
 * @typedef {Sequenced & {type: "notice.added", notice: string, text: string}} NoticeAdded
 * @typedef {Sequenced & {type: "helper.began", key: string, stage: string, name: string,
 *   agent: string}} SubagentBegan
 * @typedef {Sequenced & {type: "helper.ended", key: string,
 *   status: "done" | "failed" | "stopped"}} SubagentEnded
 * @typedef {Sequenced & {type: "todo.changed", text: string}} TodoChanged
 * @typedef {Sequenced & {type: "run.continued"}} RunContinued
 * @typedef {Sequenced & {type: "answer.restarted", text: string, attachments: Attachment[],
 *   annotations: Annotation[]}} AnswerRestarted
 * @typedef {Sequenced & {type: "interaction.requested", key: string, kind: string,
 *   asked: Record<string, unknown>, due: number | null}} InteractionRequested
 * @typedef {{outcome: string, arguments?: Record<string, unknown>, reason?: string, always?: string,
 *   choices?: string[], text?: string, content?: Record<string, unknown>}} InteractionAnswer
 * @typedef {Sequenced & {type: "interaction.resolved", key: string, kind: string,
 *   answer: InteractionAnswer, by: string, at: number}} InteractionResolved
 * @typedef {Sequenced & {type: "run.error", text: string, reference: string}} RunError
 * @typedef {Sequenced & {type: "message.complete", message: StoredMessage}} MessageComplete
 *
 * @typedef {MessageAdded | BranchesChanged | StatusChanged | MessageDelta | StageOpened | StageDelta | StageClosed
 *   | AttachmentAdded | AnnotationAdded | NoticeAdded | SubagentBegan | SubagentEnded
 *   | TodoChanged | RunContinued | AnswerRestarted | InteractionRequested
 *   | InteractionResolved | RunError | MessageComplete} Event
 * @typedef {Opened | Refusal | QueueChanged | ListChanged | FoldersChanged | ResultsExpired | AttentionChanged
 *   | TeamChanged | ReadOnlyChanged | Event} Frame
 */

export {};
