import type { AccountRequest, LogLevel } from "../../../model/skill.ts";
import type { Caller } from "../../../model/caller.ts";
import type { ClientRequest } from "../../../model/client-requests.ts";
import type { JsonSchema } from "../../../model/json.ts";
import type { CallContext, MethodDefinition } from "../../../model/skill.ts";
import type { ExportPath, Layout, ModuleFormat } from "../type-reader/index.ts";

/** The file descriptor of the channel between the skill process and the runtime. */
export const CHANNEL = 3;

/** Describes why a skill process was killed, as a clause: the line that it writes to its stderr before. */
export function describeMemoryExcess(limitBytes: number): string {
  return `the skill process used more than ${Math.round(limitBytes / (1 << 20))} MB of memory`;
}

/** A message from the runtime to the skill process. */
export type Request =
  | LoadRequest
  | InvokeRequest
  | ({ readonly kind: "answered"; readonly ask: number } & AskResult)
  | { readonly kind: "cancel"; readonly call: number }
  | { readonly kind: "unload"; readonly module: string };

export interface LoadRequest {
  readonly kind: "load";
  /** Names the module in later requests; an earlier module of that name is replaced. */
  readonly module: string;
  /** The names of its skills, for messages. */
  readonly skills: readonly string[];
  readonly bundle: string;
  readonly format: ModuleFormat;
  /** Classes to instantiate. */
  readonly classes: readonly ExportPath[];
  /** Values that may be defined skills or tools. */
  readonly values: readonly ExportPath[];
  /** True if a working version is in use: this one replaces it only if all its classes can be instantiated. */
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
  readonly context: Pick<CallContext, "runId" | "callId" | "timeoutMs" | "settings" | "secrets"> & {
    readonly caller: Caller;
  };
  /** Requests that the caller can answer; absent if it answers none. */
  readonly asks?: readonly ClientRequest[];
  /** On the clock of `nowMs`. A call that has not started by then has moved to another process. */
  readonly startBy: number;
}

/** The callee in a module. */
export type CallTarget =
  | { readonly via: "class"; readonly path: ExportPath; readonly method: string; readonly layout: Layout }
  | { readonly via: "function"; readonly path: ExportPath; readonly layout: Layout }
  | { readonly via: "skill"; readonly path: ExportPath; readonly method: string }
  | { readonly via: "tool"; readonly path: ExportPath }
  | { readonly via: "health"; readonly of: "class" | "skill" | "module"; readonly path: ExportPath };

/** A message from the skill process. It runs untrusted code, so each report is parsed. */
export type Response =
  | { readonly kind: "ready" }
  | ({ readonly kind: "loaded" } & Loaded)
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "started" | "late" | "cancelled"; readonly call: number }
  /** With `isJson`, `value` is the text of the result: it is read several times as fast as data. */
  | { readonly kind: "result"; readonly call: number; readonly value: unknown; readonly isJson?: true }
  | {
      readonly kind: "error";
      readonly call: number;
      readonly failure: Failure;
      /** True if the call started the failing code but did not wait for it: a timer, or a promise that is not awaited. */
      readonly isStray: boolean;
    }
  | { readonly kind: "log"; readonly call: number; readonly level: LogLevel; readonly text: string }
  | {
      readonly kind: "progress";
      readonly call: number;
      readonly done: number;
      readonly total?: number;
      readonly text?: string;
    }
  | { readonly kind: "question"; readonly call: number; readonly ask: number; readonly question: StoreQuestion }
  /** A call of `path`, or a concurrent one, changed a built-in that all skills share; it was restored. */
  | { readonly kind: "changed"; readonly what: string; readonly path: string }
  /** An error outside of any call; `module` is the one whose code caused it, if that is known. */
  | { readonly kind: "stray"; readonly failure: Failure; readonly module?: string }
  /** The code of a module has printed a line, in a call of `path` or outside of calls. */
  | {
      readonly kind: "console";
      readonly level: LogLevel;
      readonly text: string;
      readonly module: string;
      readonly path?: string;
    };

/** Receives the log of the skills; `subject` is the method or the module that it comes from. */
export type SkillLog = (level: LogLevel, text: string, subject?: string) => void;

/** A request of a call for something outside its process: the store of its skill, or the caller. */
export type StoreQuestion =
  | {
      readonly operation: "client";
      readonly request: ClientRequest;
      readonly params: Readonly<Record<string, unknown>>;
      readonly key?: string;
    }
  | {
      readonly operation: "fetch";
      readonly account: string;
      readonly url: string;
      readonly request: AccountRequest;
    }
  | { readonly operation: "credential"; readonly account: string }
  | { readonly operation: "get" | "delete"; readonly key: string }
  | { readonly operation: "set"; readonly key: string; readonly value: unknown }
  | { readonly operation: "entries"; readonly prefix: string };

export type AskResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** An error of a skill. The stack is for the skill's author, never for a guest. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
}

/** The content of an imported module. */
export interface Loaded {
  /** One entry for each requested class, in order; a failure if it could not be instantiated. */
  readonly classes: readonly (Failure | undefined)[];
  readonly skills: readonly LoadedSkill[];
  readonly tools: readonly LoadedTool[];
  /** The schema of the module's settings. */
  readonly settings?: JsonSchema;
  /** The names of the accounts that the functions and classes of the module use. */
  readonly accounts?: readonly string[];
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
  /** If its name is empty, the export name is used. */
  readonly definition: MethodDefinition;
}

/** Returns milliseconds of a monotonic clock that all processes of this machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
