import { expectAnswer, forget, nextId, valueOf } from "./answers.ts";
import { encode, encodeSettled, push, requireJson, revive, say } from "./crossing.ts";
import { callError, type CallFailure, stackHere } from "./errors.ts";
import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { bind, create, fix, freeze, NativePromise, weakGet, weakSet } from "./primordials.ts";

const pathOfMethod = new WeakMap<object, string>();

/**
 * `device`, with exactly the given paths on it: frozen objects without a prototype. It is a convenience for the
 * snippet and no border: the host checks every call again, whatever the guest claims. Runs before the snippet does.
 */
export function makeDevice(paths: readonly string[]): object {
  const device = create(null) as Record<string, unknown>;
  const skills: object[] = [];
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i] as string;
    const dot = path.indexOf(".");
    if (dot < 0) {
      device[path] = makeMethod(path);
      continue;
    }
    const skill = path.slice(0, dot);
    let methods = device[skill] as Record<string, unknown> | undefined;
    if (methods === undefined) {
      methods = create(null) as Record<string, unknown>;
      device[skill] = methods;
      push(skills, methods);
    }
    methods[path.slice(dot + 1)] = makeMethod(path);
  }
  for (let i = 0; i < skills.length; i++) freeze(skills[i]);
  return freeze(device);
}

/**
 * The blocking twin of a method of `device`: the snippet stands still until the answer is in. Anything else is what it is.
 * Of a member, with its name, it is bound to what it is a member of.
 */
export function waitFor(holder: unknown, name?: PropertyKey): unknown {
  if (name === undefined) return twinOf(holder);
  const member = (holder as Record<PropertyKey, unknown>)[name];
  const twin = twinOf(member);
  return twin === member && typeof member === "function" ? bind(member as () => unknown, holder) : twin;
}

function twinOf(method: unknown): unknown {
  const path = typeof method === "function" ? weakGet(pathOfMethod, method) : undefined;
  if (path === undefined) return method;
  return (...args: unknown[]): unknown => {
    const list = listOf(args);
    const id = nextId();
    const said = say(OP.wait, id, path, list) ?? { answer: host(OP.wait, id, path, requireJson(encode(list))) };
    const answer = valueOf(said.answer) as [number, unknown];
    if (answer[0] !== 0) return answer[0] === 2 ? revive(answer[1]) : answer[1];
    throw callError(answer[1] as CallFailure);
  };
}

/** Promises among the arguments are waited for, so that a forgotten `await` makes no difference. */
function makeMethod(path: string): object {
  const method = (...args: unknown[]): Promise<unknown> => {
    const list = listOf(args);
    const promise = new NativePromise(keepSettlers);
    const fulfil = fulfilLast;
    const reject = rejectLast;
    const id = expectAnswer(fulfil, reject);
    if (say(OP.call, id, path, list) !== undefined) return promise;
    forget(id);
    sayLater(path, list, fulfil, reject, stackHere());
    return promise;
  };
  fix(method, "name", path);
  weakSet(pathOfMethod, method, path);
  return freeze(method);
}

/** Says a call as JSON, perhaps only when promises among its arguments have settled. */
function sayLater(
  path: string,
  list: readonly unknown[],
  fulfil: (value: unknown) => void,
  reject: (reason: unknown) => void,
  stack: string,
): void {
  const id = expectAnswer(fulfil, reject, stack);
  const fail = (reason: unknown): void => {
    forget(id);
    reject(reason);
  };
  const call = (json: string | undefined): void => {
    try {
      host(OP.call, id, path, requireJson(json));
    } catch (reason) {
      fail(reason);
    }
  };
  encodeSettled(list, call, fail);
}

/** They settle the promise that was made last: one function for all of them is quicker than one for each. */
let fulfilLast: (value: unknown) => void;
let rejectLast: (reason: unknown) => void;

function keepSettlers(fulfil: typeof fulfilLast, reject: typeof rejectLast): void {
  fulfilLast = fulfil;
  rejectLast = reject;
}

/** JSON has no word for an argument that is left out: `{"$undefined": 1}` says so. At the end there is no need to. */
function listOf(args: unknown[]): unknown[] {
  while (args.length > 0 && args[args.length - 1] === undefined) args.length--;
  for (let i = 0; i < args.length; i++) if (args[i] === undefined) args[i] = { $undefined: 1 };
  return args;
}
