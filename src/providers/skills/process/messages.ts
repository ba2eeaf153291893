import type { Caller } from "../../../model/caller.ts";
import type { ClientRequest } from "../../../model/client-requests.ts";
import type { JsonSchema } from "../../../model/json.ts";
import type { CallContext, MethodDefinition } from "../../../model/skill.ts";
import type { ExportPath, Layout, ModuleFormat } from "../type-reader/index.ts";

/** The file descriptor through which the process of the skills and the runtime talk. */
export const CHANNEL = 3;

/** What the process of the skills is told. */
export type Request =
  | LoadRequest
  | InvokeRequest
  | ({ readonly kind: "answered"; readonly ask: number } & AskResult)
  | { readonly kind: "cancel"; readonly call: number }
  | { readonly kind: "unload"; readonly module: string };

export interface LoadRequest {
  readonly kind: "load";
  /** Names the module in later orders; an earlier module of that name is replaced. */
  readonly module: string;
  readonly bundle: string;
  readonly format: ModuleFormat;
  /** Classes to make an object of. */
  readonly classes: readonly ExportPath[];
  /** Values that may be defined skills or tools. */
  readonly values: readonly ExportPath[];
  /** A version that works is in use: this one replaces it only if every class in it can be made. */
  readonly isReload: boolean;
}

export interface InvokeRequest {
  readonly kind: "invoke";
  readonly call: number;
  readonly module: string;
  readonly target: CallTarget;
  /** `Skill.method`, for messages. */
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: Pick<CallContext, "runId" | "callId" | "settings" | "secrets"> & { readonly caller: Caller };
  /** What whoever calls can be asked; absent where nobody can be asked. */
  readonly asks?: readonly ClientRequest[];
  /** On the clock of `nowMs`. A call that has not begun by then has been given to another process. */
  readonly startBy: number;
}

/** What is to be called in a module. */
export type CallTarget =
  | { readonly via: "class"; readonly path: ExportPath; readonly method: string; readonly layout: Layout }
  | { readonly via: "function"; readonly path: ExportPath; readonly layout: Layout }
  | { readonly via: "skill"; readonly path: ExportPath; readonly method: string }
  | { readonly via: "tool"; readonly path: ExportPath }
  | { readonly via: "health"; readonly of: "class" | "skill" | "module"; readonly path: ExportPath };

/** What the process of the skills tells. It runs code that is not ours, so each report is parsed. */
export type Response =
  | { readonly kind: "ready" }
  | ({ readonly kind: "loaded" } & Loaded)
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "started" | "late" | "cancelled"; readonly call: number }
  | { readonly kind: "result"; readonly call: number; readonly value: unknown }
  | {
      readonly kind: "error";
      readonly call: number;
      readonly failure: Failure;
      /** It came from the call, but not out of it: from a timer, or a promise that nobody awaits. */
      readonly isStray: boolean;
    }
  | { readonly kind: "log"; readonly call: number; readonly level: SkillLogLevel; readonly text: string }
  | {
      readonly kind: "progress";
      readonly call: number;
      readonly done: number;
      readonly total?: number;
      readonly text?: string;
    }
  | { readonly kind: "question"; readonly call: number; readonly ask: number; readonly question: StoreQuestion }
  /** A call of `path`, or another one beside it, has changed what all skills share; it was put back. */
  | { readonly kind: "changed"; readonly what: string; readonly path: string }
  | { readonly kind: "stray"; readonly failure: Failure };

/** What a call wants of what is not in its process: the store of its skill, and whoever calls. */
export type StoreQuestion =
  | {
      readonly operation: "client";
      readonly request: ClientRequest;
      readonly params: Readonly<Record<string, unknown>>;
      readonly key?: string;
    }
  | { readonly operation: "get" | "delete"; readonly key: string }
  | { readonly operation: "set"; readonly key: string; readonly value: unknown }
  | { readonly operation: "entries"; readonly prefix: string };

export type AskResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

export type SkillLogLevel = Parameters<CallContext["log"]>[0];

/** An error of a skill. The stack is for whoever mends it, never for a guest. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
}

/** What a module turned out to hold once it was imported. */
export interface Loaded {
  /** One entry for each class that was asked for, in order; a failure where it could not be made. */
  readonly classes: readonly (Failure | undefined)[];
  readonly skills: readonly LoadedSkill[];
  readonly tools: readonly LoadedTool[];
  /** What the module says its settings may be. */
  readonly settings?: JsonSchema;
  /** Values that are functions, but were not written as such. */
  readonly functions: readonly ExportPath[];
  /** Values that look like a tool but cannot be used. */
  readonly failures: readonly Failure[];
}

export interface LoadedSkill {
  readonly path: ExportPath;
  readonly name: string;
  readonly description: string;
  readonly guidance?: string;
  readonly settings?: JsonSchema;
  readonly methods: readonly MethodDefinition[];
}

export interface LoadedTool {
  readonly path: ExportPath;
  /** Where its own name is empty, the name under which it is exported counts. */
  readonly definition: MethodDefinition;
}

/** Milliseconds on a clock that all processes of this machine share, and that is never set. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
