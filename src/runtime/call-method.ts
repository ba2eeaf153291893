import { Cancellation } from "../../sandbox/index.ts";
import { formatDeprecation } from "../shared/deprecation.ts";
import { createError, type SkillgateError } from "../errors.ts";
import { getOriginal, type Method, type Skill } from "../model/catalog.ts";
import { truncateText } from "../shared/format-text.ts";
import { MAX_PATH_UNITS } from "../shared/names/skill-names.ts";
import { createUnknownNameError } from "../shared/suggest.ts";
import { answerTo, type Call, type CallResult, type Route, runCalls } from "../router/index.ts";
import type { RunRequest } from "./execution/run-services.ts";

/** Passes the log lines and the progress of a call to the runtime's listeners and to the run's observer. */
function createCallEvents(
  path: string,
  runId: string,
  { log, onSkillError, progress, observer = {} }: Pick<RunRequest, "log" | "onSkillError" | "progress" | "observer">,
): Pick<Call, "log" | "progress" | "client" | "requestValues" | "onSkillError"> {
  return {
    // Only to the owner: the observer may be a client.
    onSkillError: (stack) => onSkillError(path, runId, stack),
    log(level, text, sent) {
      log(path, runId, level, text);
      observer.log?.(path, level, text, sent);
    },
    progress(done, total, text) {
      progress(path, runId, done, total, text);
      observer.progress?.(path, done, total, text);
    },
    ...(observer.client !== undefined && { client: observer.client }),
    ...(observer.requestValues !== undefined && { requestValues: observer.requestValues }),
  };
}

export interface WantedCall {
  /** `Skill.method` */
  readonly path: string;
  /** Arguments by name. */
  readonly input?: Readonly<Record<string, unknown>>;
}

/** A request of calls without a program around them. */
export interface DirectRequest extends RunRequest {
  readonly runId: string;
}

/** One call without a program around it, through the same guards. Rejects with a `SkillgateError`. */
export async function callMethod(target: WantedCall, request: DirectRequest, route: Route): Promise<unknown> {
  const call = createDirectCall(target, 1, request);
  if (call === undefined) throw createUnknownMethodError(target.path, request);
  const { value, ...facts } = await answerTo(call, warning(route));
  request.observer?.answered?.(facts);
  return value;
}

/** Many calls, in order or all at once; one result for each, in the order of the calls (X3). */
export function callMethods(
  targets: readonly WantedCall[],
  request: DirectRequest,
  route: Route,
  parallel: boolean,
): Promise<readonly CallResult[]> {
  const calls = targets.map((each, index) => {
    const obstacle = request.whyUnavailable(each.path)?.message;
    return {
      name: each.path,
      call: createDirectCall(each, index + 1, request),
      ...(obstacle !== undefined && { obstacle }),
    };
  });
  return runCalls(warning(route), calls, { parallel });
}

/** Says of a deprecated method that it is one. */
function warning(route: Route): Route {
  return (call) => {
    const text = formatDeprecation(call.method);
    if (text !== undefined) {
      call.addNote(text);
      call.log("warn", text);
    }
    return route(call);
  };
}

function createDirectCall({ path, input = {} }: WantedCall, id: number, request: DirectRequest): Call | undefined {
  const { observer, runId, cancellable = new Cancellation() } = request;
  const call = createCall(path, request, { id, runId, cancellable, readArguments: () => [input] });
  return (
    call && {
      ...call,
      ...(observer?.wire && { onRawResult: observer.wire }),
      ...(observer?.deferSkills && { deferSkills: observer.deferSkills }),
      addNote: () => {},
      onEnded: () => {},
    }
  );
}

/** The parts of a call that depend on who makes it: a program, or another caller. */
interface CallOrigin extends Pick<Call, "id" | "runId" | "cancellable"> {
  readonly readArguments: (skill: Skill) => readonly unknown[];
}

/** Creates the router's request; `undefined` if the caller's catalog has no such method. */
export function createCall(
  path: string,
  request: RunRequest,
  { id, runId, cancellable, readArguments }: CallOrigin,
): Omit<Call, "addNote" | "onEnded"> | undefined {
  const { caller, catalog, approve, asksForEffects, within, automation } = request;
  const method = catalog.method(path);
  const skill = method && catalog.skill(method.skill);
  if (method === undefined || skill === undefined) return undefined;
  return {
    id,
    runId,
    ...(within && { within }),
    caller,
    skill,
    method: getOriginal(method),
    args: readArguments(skill),
    cancellable,
    ...createCallEvents(path, runId, request),
    ...(approve !== undefined && { approve }),
    ...(asksForEffects === true && { asksForEffects }),
    ...(automation !== undefined && { automation }),
    trace: request.trace,
  };
}

/** The method of a path; throws `METHOD_UNKNOWN`. */
export function methodAt(path: string, request: RunRequest): Method {
  const method = request.catalog.method(path);
  if (method === undefined) throw createUnknownMethodError(path, request);
  return method;
}

export function createUnknownMethodError(path: string, { catalog, whyUnavailable }: RunRequest): SkillgateError {
  if (path.length > MAX_PATH_UNITS) {
    const says = `${truncateText(path, 100)} is too long: a path has at most ${MAX_PATH_UNITS} characters`;
    return createError("METHOD_UNKNOWN", says, { suggestions: [] });
  }
  const unavailable = whyUnavailable(path);
  if (unavailable !== undefined) return unavailable;
  const paths = catalog.methods.map((each) => each.path);
  return createUnknownNameError("METHOD_UNKNOWN", path, paths, { path });
}
