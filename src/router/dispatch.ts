import { waitForTurn } from "../../sandbox/index.ts";
import type { OpenAccount } from "../model/account.ts";
import type { Caller } from "../model/caller.ts";
import type { Skill } from "../model/catalog.ts";
import type { Client } from "../model/client-requests.ts";
import { cloneData, NestedTooDeeply, NotCloneable } from "../shared/values/clone-data.ts";
import { requireBounds, TOO_DEEP } from "../shared/values/value-size.ts";
import type { CallContext, SkillAccount } from "../model/skill.ts";
import { createSkillAccount, createUndeclaredError } from "./skill-account.ts";
import { EMPTY_STORE } from "../shared/empty-store.ts";
import { findSkillError } from "../shared/errors/skill-error.ts";
import { createError, hidePlace } from "../errors.ts";
import {
  type CallElsewhere,
  getMethodFacts,
  requireInput,
  type GuardedCall,
  type Handler,
  pauseTimeout,
} from "./call.ts";
import { countAttempts, repeatRead } from "./repeat-read.ts";
import type { SecretView } from "./secret-placeholders.ts";
import { toGuestError } from "./to-guest-error.ts";
import type { KnownSecrets } from "../shared/secrets.ts";

/** The settings, secrets and store of one skill. */
export type SkillResources = Pick<CallContext, "settings" | "secrets" | "store">;

export interface DispatchOptions {
  /** Throws a `SkillgateError` if the skill cannot be called without what is missing. */
  readonly getResources: (skill: Skill) => SkillResources;
  /** Values that no guest may read in an error. */
  readonly secrets: KnownSecrets;
  /** Returns how a caller sees secrets in arguments and results of a skill. */
  readonly getView: (caller: Caller, skill: string) => SecretView;
  /** Makes a second attempt of a call that only reads, if the first one failed for a moment. */
  readonly retriesReads: boolean;
  /** Is called just before the provider; the call waits for a promise that it returns. */
  readonly onBegin: (call: GuardedCall) => Promise<void> | undefined;
  /** Returns the function that lets another process make calls with accounts; `undefined` if this process makes them. */
  readonly getElsewhere: () => CallElsewhere | undefined;
}

/** Resources of a skill without settings, secrets or a store. */
export const NO_RESOURCES: SkillResources = Object.freeze({
  settings: {},
  secrets: {},
  store: { ...EMPTY_STORE, set: () => Promise.reject(new Error("This skill has no store")) },
});

/** The innermost stage: calls the provider. Its errors become errors that a guest may read. */
export function dispatch({
  getResources,
  secrets,
  getView,
  retriesReads,
  onBegin,
  getElsewhere,
}: DispatchOptions): Handler {
  return async (call) => {
    const { skill, method } = call;
    const resources = getResources(skill);
    const start = onBegin(call);
    if (start !== undefined) await start;
    const elsewhere = getElsewhere();
    const mayBeElsewhere = method.definition.accounts !== undefined || skill.provided.saved !== undefined;
    const recorded = call.onBegin?.(call.argumentsDigest(), elsewhere !== undefined && mayBeElsewhere);
    if (recorded !== undefined) await recorded;
    const view = getView(call.caller, skill.name);
    const { context, close } = createContext(call, resources, { secrets, view });
    try {
      const attempt = (): Promise<unknown> =>
        elsewhere === undefined || method.definition.accounts === undefined
          ? skill.provided.invoke(method.definition, view.reveal(requireInput(call)), context)
          : elsewhere(call, requireInput(call));
      const returned = await (retriesReads ? repeatRead(call, attempt) : attempt());
      const pause = waitForTurn();
      if (pause !== undefined) await pause;
      const result = skill.kind === "code" ? toData(returned, method.path) : returned;
      requireBounds(result, `"${method.path}"`);
      const value = view.hide(result);
      if (!Object.is(value, result)) call.addNote(view.note);
      return { value, cached: false };
    } catch (error) {
      const stack = findSkillError(error)?.stack;
      if (stack !== undefined) call.onSkillError?.(secrets.maskText(stack));
      call.attempts.count = countAttempts(error) ?? call.attempts.count;
      throw toGuestError(hidePlace(error), call, secrets, (value) => view.hide(value));
    } finally {
      close();
    }
  };
}

/** Converts what a skill in this process returned, as the process of the other skills does; refuses what is not data. */
function toData(returned: unknown, path: string): unknown {
  try {
    return cloneData(returned);
  } catch (error) {
    if (error instanceof NotCloneable)
      throw createError("CALL_FAILED", `"${path}" did not return plain data: ${error.message}`);
    throw error instanceof NestedTooDeeply ? createError("NESTING_LIMIT", `"${path}" returned ${TOO_DEEP}`) : error;
  }
}

/** Creates the context that a method receives. Logs and progress are ignored after `close` and after cancellation. */
function createContext(
  call: GuardedCall,
  resources: SkillResources,
  { secrets: knownSecrets, view }: { readonly secrets: KnownSecrets; readonly view: SecretView },
): { context: CallContext; close: () => void } {
  let open = true;
  const isOpen = (): boolean => open && !call.cancellable.isCancelled;
  const context: CallContext = {
    caller: call.caller,
    runId: call.runId,
    callId: `${call.runId}/${call.id}`,
    ...(call.automation !== undefined && { automation: call.automation }),
    ...(call.pauseTimeoutFor !== undefined && { pauseTimeoutFor: (answer) => pauseForClient(call, answer) }),
    ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
    get signal() {
      return call.cancellable.signal;
    },
    settings: resources.settings,
    secrets: resources.secrets,
    store: resources.store,
    log: (level, text, sent) =>
      isOpen() && call.log(level, knownSecrets.maskMessage(text), sent && knownSecrets.maskTexts(view.hide(sent))),
    progress: (done, total, text) => isOpen() && call.progress(done, total, text && knownSecrets.maskMessage(text)),
    ...(call.client !== undefined && { client: patientClient(call, call.client, view) }),
    ...(call.requestValues !== undefined && call.skill.kind === "mcp" && { requestValues: call.requestValues }),
    addNote: (text) => isOpen() && call.addNote(knownSecrets.maskMessage(text)),
    ...(call.deferSkills !== undefined && { deferSkills: call.deferSkills }),
    ...(call.task !== undefined && call.skill.kind === "mcp" && { task: call.task }),
    account: (name) => findSkillAccount(call, name),
    ...(OPEN_ACCOUNTS.has(call.skill.kind) && { openAccount: (name: string) => openAccount(call, name) }),
    ...(call.onRawResult !== undefined && {
      wire: (result: unknown) => call.onRawResult?.(knownSecrets.maskValue(view.hide(result))),
    }),
  };
  return { context: Object.freeze(context), close: () => (open = false) };
}

/** The kinds of skills whose providers add credentials to requests. */
const OPEN_ACCOUNTS: ReadonlySet<string> = new Set(["api", "mcp"]);

function findSkillAccount(call: GuardedCall, name: string): SkillAccount {
  const used = call.accounts().find(({ account }) => account.name === name);
  if (used === undefined) throw createUndeclaredError(call.skill.name, name);
  const { account } = used;
  const { signal } = call.cancellable;
  return createSkillAccount({ account, skill: call.skill.name, open: () => openAccount(call, name), signal });
}

/** Opens the connection that was there when the call began, and that may have been approved. */
async function openAccount(call: GuardedCall, name: string): Promise<OpenAccount> {
  const used = call.accounts().find(({ account }) => account.name === name);
  if (used === undefined) throw new TypeError(`${call.method.path} does not have the account ${name}`);
  const opened = await used.account.open(call.caller);
  if (opened.id === used.id) return opened;
  const says = `the account ${used.title} was replaced by ${opened.title} while ${call.method.path} waited`;
  throw createError("ACCOUNT_UNAVAILABLE", says, getMethodFacts(call.method));
}

/** A client whose requests pause the timeout of the call. */
function patientClient(call: GuardedCall, client: Client, view: SecretView): Client {
  return {
    ...(client.era && { era: client.era }),
    ...(client.apps && { apps: client.apps }),
    can: (request) => client.can(request),
    ask: (request, params, key) => pauseForClient(call, client.ask(request, view.hide(params), key)),
  };
}

/** Pauses the timeout of a call for an answer of its client, or of a call beside it that the server may have asked for. */
function pauseForClient<Answer>(call: GuardedCall, answer: Promise<Answer>): Promise<Answer> {
  call.attempts.mayHaveAsked = true;
  return pauseTimeout(call, answer);
}
