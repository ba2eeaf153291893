import { sentence } from "../../../../errors.ts";
import type { Client, ClientRequest } from "../../../../model/client-requests.ts";
import type { Credential } from "../../../../model/account.ts";
import type { AccountRequest, CallContext, SkillAccount, SkillStore } from "../../../../model/skill.ts";
import { type AccountAnswer, createAccountResponse } from "../../../../shared/http/account-response.ts";
import type { Layout } from "../../type-reader/index.ts";
import { formatExportPath, type ImportedModule } from "./load-module.ts";
import type { InvokeRequest, StoreQuestion, Response } from "../messages.ts";
import { isFunction, valueAt } from "./values.ts";

/** Connects a running call to the runtime. */
export interface ReportChannel {
  readonly send: (response: Response) => void;
  /** Settles like the answer. */
  readonly ask: (call: number, question: StoreQuestion) => Promise<unknown>;
}

/** Calls the target of a request, with its arguments in the form that the method expects. */
export async function runCall(
  { call, target, path, input, context: facts, asks }: InvokeRequest,
  module: ImportedModule | undefined,
  signal: AbortSignal,
  { send, ask }: ReportChannel,
): Promise<unknown> {
  const askHost = (question: StoreQuestion): Promise<unknown> => ask(call, question);
  const client = asks && { client: createClient(asks, askHost) };
  const store = createStore(askHost);
  const account = createAccounts(askHost);
  const context: CallContext = Object.freeze({
    ...facts,
    ...createCallEvents(call, send),
    store,
    account,
    ...client,
    signal,
  });
  switch (target.via) {
    case "class": {
      const object = module?.objects.get(formatExportPath(target.path));
      return callMember(object, target.method, argumentsFor(target.layout, input, context), path);
    }
    case "function": {
      const holder = valueAt(module?.root, target.path.slice(0, -1));
      const name = target.path.at(-1);
      if (name !== undefined) return callMember(holder, name, argumentsFor(target.layout, input, context), path);
      return callFunction(module?.root, undefined, argumentsFor(target.layout, input, context), path);
    }
    case "skill": {
      const skill = module?.skills.get(formatExportPath(target.path));
      const method = skill?.methods.find(({ name }) => name === target.method);
      return method === undefined ? missing(path) : skill?.invoke(method, input, context);
    }
    case "tool":
      return module?.tools.get(formatExportPath(target.path))?.run(input, context, path) ?? missing(path);
    case "health":
      return checkHealth(target, module);
  }
}

/** Limit on log and progress events of one call; later ones are dropped. */
const MAX_EVENTS = 1_000;
const MAX_EVENT_CHARACTERS = 16_384;

/** Creates the log and progress functions of a call. */
function createCallEvents(call: number, send: (response: Response) => void): Pick<CallContext, "log" | "progress"> {
  let remaining = MAX_EVENTS;
  const short = (text: unknown): string => String(text).slice(0, MAX_EVENT_CHARACTERS);
  return {
    log: (level, text) => {
      if (remaining-- > 0) send({ kind: "log", call, level, text: short(text) });
    },
    progress: (done, total, text) => {
      if (remaining-- <= 0) return;
      send({
        kind: "progress",
        call,
        done,
        ...(total !== undefined && { total }),
        ...(text !== undefined && { text: short(text) }),
      });
    },
  };
}

/** Creates a proxy of the skill's store, which the runtime holds. */
function createStore(ask: (question: StoreQuestion) => Promise<unknown>): SkillStore {
  return Object.freeze({
    get: (key: string) => ask({ operation: "get", key }),
    set: async (key: string, value: unknown) => {
      await ask({ operation: "set", key, value });
    },
    delete: async (key: string) => (await ask({ operation: "delete", key })) === true,
    entries: async (prefix = "") => {
      const entries = await ask({ operation: "entries", prefix });
      return Array.isArray(entries) ? (entries as Awaited<ReturnType<SkillStore["entries"]>>) : [];
    },
  });
}

/** Creates proxies of accounts: the runtime makes the requests, and adds the credentials. */
function createAccounts(ask: (question: StoreQuestion) => Promise<unknown>): (name: string) => SkillAccount {
  return (name) =>
    Object.freeze({
      fetch: async (url: string | URL, { method, headers = {}, body }: AccountRequest = {}) => {
        const isSent = body === undefined || typeof body === "string" || body instanceof Uint8Array;
        const type = isSent || Object.keys(headers).some(isContentType) ? {} : { "content-type": "application/json" };
        const request = {
          ...(method !== undefined && { method }),
          headers: { ...type, ...headers },
          ...(body !== undefined && { body: isSent ? body : JSON.stringify(body) }),
        };
        const answer = await ask({ operation: "fetch", account: name, url: String(url), request });
        return createAccountResponse(answer as AccountAnswer);
      },
      credential: async () => (await ask({ operation: "credential", account: name })) as Credential,
    });
}

const isContentType = (name: string): boolean => name.toLowerCase() === "content-type";

/** Creates a proxy of the calling client. */
function createClient(asks: readonly ClientRequest[], ask: (question: StoreQuestion) => Promise<unknown>): Client {
  return Object.freeze({
    can: (request: ClientRequest) => asks.includes(request),
    ask: async (request: ClientRequest, params: Readonly<Record<string, unknown>>, key?: string) => {
      if (!asks.includes(request)) throw new Error(sentence("CLIENT_UNABLE", `the client does not support ${request}`));
      return ask({ operation: "client", request, params: { ...params }, ...(key !== undefined && { key }) });
    },
  });
}

function callMember(holder: unknown, name: string, args: readonly unknown[], path: string): unknown {
  return callFunction(isHolder(holder) ? Reflect.get(holder, name) : undefined, holder, args, path);
}

function isHolder(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function callFunction(fn: unknown, self: unknown, args: readonly unknown[], path: string): unknown {
  return isFunction(fn) ? Reflect.apply(fn, self, args) : missing(path);
}

function missing(path: string): never {
  throw new TypeError(`"${path}" is no longer a function`);
}

/** Orders named arguments by the declared parameters; absent ones are left to the method's defaults. */
function argumentsFor(
  layout: Layout,
  input: Readonly<Record<string, unknown>>,
  context: CallContext,
): readonly unknown[] {
  const values = layout.names.map((name) => reviveArguments(valueAt(input, [name]), valueAt(layout.revive, [name])));
  const last = layout.rest ? values.pop() : undefined;
  const args = layout.form === "object" ? [input] : [...values, ...(Array.isArray(last) ? last : [])];
  if (layout.context) return [...args, context];
  return args.slice(0, args.findLastIndex((value) => value !== undefined) + 1);
}

function reviveArguments(value: unknown, as: unknown): unknown {
  if (typeof value !== "string" || as === undefined) return value;
  return as === "Date" ? new Date(value) : new URL(value);
}

/** Runs the health check of the skill, or of its module if the skill has none. */
async function checkHealth(
  { of, path }: Extract<InvokeRequest["target"], { via: "health" }>,
  module: ImportedModule | undefined,
): Promise<unknown> {
  const askModule = (): unknown => askHealth(module?.root, () => ({ healthy: true, message: "ok" }));
  if (of === "skill") return module?.skills.get(formatExportPath(path))?.health(askModule);
  return of === "class" ? askHealth(module?.objects.get(formatExportPath(path)), askModule) : askModule();
}

function askHealth(holder: unknown, byDefault: () => unknown): unknown {
  const check: unknown = isHolder(holder) ? Reflect.get(holder, "healthCheck") : undefined;
  return isFunction(check) ? Reflect.apply(check, holder, []) : byDefault();
}
