/**
 * What the socket carries, as types; docs/chat.md describes it.
 *
 * @import { Annotation } from "./citations.js"
 *
 * @typedef {{type: string, title?: string, url?: string, data?: string, reference_url?: string}} Attachment
 *
 * @typedef {object} StoredMessage
 * @property {string} id
 * @property {"user" | "assistant"} role
 * @property {string} text
 * @property {string} [created_at]
 * @property {Attachment[]} [attachments]
 * @property {{prompt_tokens: number, completion_tokens: number}} [usage]
 * @property {number} [seconds]
 *
 * @typedef {"queued" | "running" | "done" | "failed" | "stopped"} RunStatus
 *
 * @typedef {object} Sequenced
 * @property {string} conversation
 * @property {string} run
 * @property {number} seq
 *
 * @typedef {{type: "conversation.opened", conversation: string, title: string, last: number,
 *   run: {id: string, status: RunStatus} | null}} Opened
 * @typedef {{type: "error", text: string, code: string}} Refusal
 *
 * @typedef {Sequenced & {type: "message.added", message: StoredMessage}} MessageAdded
 * @typedef {Sequenced & {type: "run.status", status: RunStatus}} StatusChanged
 * @typedef {Sequenced & {type: "message.delta", text: string}} MessageDelta
 * @typedef {Sequenced & {type: "stage.opened", stage: string, title: string, parent: string | null}} StageOpened
 * @typedef {Sequenced & {type: "stage.delta", stage: string, text?: string, title?: string,
 *   attachment?: Attachment}} StageDelta
 * @typedef {Sequenced & {type: "stage.closed", stage: string, failed: boolean, seconds: number}} StageClosed
 * @typedef {Sequenced & {type: "attachment.added", attachment: Attachment}} AttachmentAdded
 * @typedef {Sequenced & {type: "annotation.added", annotation: Annotation}} AnnotationAdded
 * @typedef {Sequenced & {type: "run.error", text: string, reference: string}} RunError
 * @typedef {Sequenced & {type: "message.complete", message: StoredMessage}} MessageComplete
 *
 * @typedef {MessageAdded | StatusChanged | MessageDelta | StageOpened | StageDelta | StageClosed
 *   | AttachmentAdded | AnnotationAdded | RunError | MessageComplete} Event
 * @typedef {Opened | Refusal | Event} Frame
 */

export {};
