import { registerCall, forgetCall, markSaid } from "./call-results.ts";
import { toAnswer } from "./found-methods.ts";
import { allowRaw, encodeSettled, push, requireJson, sendRaw } from "./serialization.ts";
import { atCall, stackHere } from "./errors.ts";
import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { create, data, define, fix, freeze, NativePromise, ownKeys, setPrototypeOf } from "./primordials.ts";
import { rememberCall } from "./touch.ts";

/**
 * Creates `device` and `devices`, with exactly the given paths on them: frozen objects without a prototype. It is a convenience for the
 * program and not a boundary: the host checks every call again. Runs before the program does.
 */
export function makeDevice(paths: readonly string[]): Devices {
  const device = createMembers();
  const devices = createMembers();
  const owners: object[] = [];
  let hasNodes = false;
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i] as string;
    const last = path.lastIndexOf(".");
    if (last < 0) {
      device[path] = makeMethod(path, path === "search_skills" || path === "describe" ? readAnswer : undefined);
      continue;
    }
    const first = path.indexOf(".");
    const isRemote = first < last;
    if (isRemote) hasNodes = true;
    const owner = isRemote ? getMember(devices, path.slice(0, first), owners) : device;
    const methods = getMember(owner, path.slice(isRemote ? first + 1 : 0, last), owners);
    methods[path.slice(last + 1)] = makeMethod(path);
  }
  for (let i = 0; i < owners.length; i++) freeze(owners[i]);
  return { device: freeze(device), devices: hasNodes ? freeze(devices) : undefined };
}

/** The objects by which a program calls methods. */
interface Devices {
  readonly device: object;
  /** The skills of other machines, `devices.name.Skill`; `undefined` without any. */
  readonly devices: object | undefined;
}

type DeviceMembers = Record<string, unknown>;

function createMembers(): DeviceMembers {
  return create(null) as DeviceMembers;
}

/** Returns a member that has members; creates it, and adds it to a list, if it does not exist. */
function getMember(owner: DeviceMembers, name: string, created: object[]): DeviceMembers {
  const existing = owner[name] as DeviceMembers | undefined;
  if (existing !== undefined) return existing;
  const members = createMembers();
  owner[name] = members;
  push(created, members);
  return members;
}

/**
 * Creates a method. It waits for promises among its arguments, so that a forgotten `await` makes no difference. `read` converts
 * the answers.
 */
export function makeMethod(path: string, read?: (answer: unknown) => unknown): object {
  const method = (...args: unknown[]): Promise<unknown> => {
    const list = toArgumentList(args);
    const promise = new NativePromise(keepSettlers);
    const settle = fulfilLast;
    const fulfil = read === undefined ? settle : (answer: unknown) => settle(read(answer));
    const reject = rejectLast;
    const id = registerCall(fulfil, reject);
    if (sendRaw(OP.call, id, path, list, promise)) {
      markSaid(id);
      rememberCall(promise, id);
      return promise;
    }
    forgetCall(id);
    sayLater(path, list, fulfil, reject, stackHere());
    return promise;
  };
  fix(method, "name", path);
  setPrototypeOf(method, METHOD);
  return freeze(method);
}

/** Prototype of methods. */
const METHOD = create(Function.prototype) as object;

/** Limits of `pages` that a program does not give. */
const MAX_ITEMS = 1_000;
const MAX_PAGES = 100;

/** The answer to a call that asks for a page: the host computes the arguments of the next one, null after the last. */
interface ReadPage {
  readonly items: readonly unknown[];
  readonly next: object | null;
}

/** Gives methods `pages`, which calls one for each page of a list, and returns one list. Runs once, before the snapshot is taken. */
export function installPages(): void {
  define(METHOD, "pages", function pages(this: unknown, args: object, options: PageOptions): Promise<unknown> {
    const { items = MAX_ITEMS, pages: most = MAX_PAGES } = options ?? NO_OPTIONS;
    return readPages(this as CallForPage, withMember(args, "includeResponse", [items, most]), stackHere());
  });
  freeze(METHOD);
}

type CallForPage = (args: object) => Promise<ReadPage>;

interface PageOptions {
  readonly items?: number;
  readonly pages?: number;
}

const NO_OPTIONS: PageOptions = {};

async function readPages(call: CallForPage, args: object, stack: string): Promise<unknown[]> {
  const list: unknown[] = [];
  try {
    for (let next: object | null = args; next !== null;) {
      const page: ReadPage = await call(next);
      for (let i = 0; i < page.items.length; i++) push(list, page.items[i]);
      next = page.next;
    }
  } catch (error) {
    throw atCall(error, stack);
  }
  return list;
}

/** Copies the arguments of a call: the program may change its own ones meanwhile. */
function withMember(args: object, name: string, value: unknown): object {
  const copy = {};
  const names = typeof args === "object" && args !== null ? ownKeys(args) : [];
  for (let i = 0; i < names.length; i++) data(copy, names[i] as string, (args as DeviceMembers)[names[i] as string]);
  data(copy, name, value);
  return copy;
}

/** Reads an answer about methods. It has a `toJSON`, so that values must be sent as JSON from now on. */
function readAnswer(answer: unknown): unknown {
  allowRaw(false);
  return toAnswer(answer, makeMethod);
}

/** Sends a call as JSON, after the promises among its arguments have settled. */
function sayLater(
  path: string,
  list: readonly unknown[],
  fulfil: (value: unknown) => void,
  reject: (reason: unknown) => void,
  stack: string,
): void {
  const id = registerCall(fulfil, reject, stack);
  const fail = (reason: unknown): void => {
    forgetCall(id);
    reject(reason);
  };
  const call = (json: string | undefined): void => {
    try {
      const argumentsJson = requireJson(json);
      markSaid(id);
      host(OP.call, id, path, argumentsJson);
    } catch (reason) {
      fail(reason);
    }
  };
  encodeSettled(list, call, fail);
}

/** Settlers of the newest promise: one executor for all promises is faster than one for each. */
let fulfilLast: (value: unknown) => void;
let rejectLast: (reason: unknown) => void;

function keepSettlers(fulfil: typeof fulfilLast, reject: typeof rejectLast): void {
  fulfilLast = fulfil;
  rejectLast = reject;
}

/** Writes undefined arguments as `{"$undefined": 1}`, because JSON cannot hold them; drops them at the end. */
function toArgumentList(args: unknown[]): unknown[] {
  while (args.length > 0 && args[args.length - 1] === undefined) args.length--;
  for (let i = 0; i < args.length; i++) if (args[i] === undefined) args[i] = { $undefined: 1 };
  return args;
}
