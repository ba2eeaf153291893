import "./shared/package/require-node.ts"; // first: it throws where the program does not run in Node

export { defineSkill } from "./authoring/define-skill.ts";
export type { Approval, Approvals, GivenAnswer, ListedApproval } from "./approvals/index.ts";
export { type ErrorCode, SkillgateError } from "./errors.ts";
export { createKeys, type CreatedKey, type Keys, type WantedKey } from "./keys/index.ts";
export type { ApprovalAnswer, ApprovalRequest, ApprovalScope, ApprovalWait, Approve } from "./model/approval.ts";
export type { Caller } from "./model/caller.ts";
export type { Catalog, Method, Skill } from "./model/catalog.ts";
export type { Client, ClientRequest } from "./model/client-requests.ts";
export type { Limits } from "./model/limits.ts";
export type { CallRecord, GuestError, Outcome, Position, Usage, Violation } from "./model/outcome.ts";
export type { CallSite, Plan } from "./model/plan.ts";
export type {
  AccountRequest,
  AccountResponse,
  CallContext,
  MethodDefinition,
  MethodMetadata,
  ProvidedSkill,
  SkillAccount,
} from "./model/skill.ts";
export type { Timeouts } from "./model/timeouts.ts";
export type { Database, KeyRow } from "./store/index.ts";
export type { RuntimeOptions } from "./runtime/options.ts";
export {
  anthropicTool,
  catalogExport,
  getCategories as categoriesOf,
  methodExport,
  methodsByCapability,
  methodsByCategory,
  methodsByTag,
  ollamaTool,
  openaiTool,
  openapiExport,
} from "./registry/index.ts";
export type { AuditEntry, CallResult, Statistics } from "./router/index.ts";
export type { McpServerOptions, ServerUse } from "./runtime/mcp-options.ts";
export type { RuntimeTool, RuntimeToolOptions, RuntimeToolResult } from "./runtime/builtin-tools/index.ts";
export { createRuntime, type RunOptions, type Runtime, type RuntimeEvents } from "./runtime.ts";
