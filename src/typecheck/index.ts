import { findPackageFile } from "../../sandbox/package-files.ts";
import { findTypeScript } from "../shared/package/typescript.ts";
import { type OrderFailure, OrderThread, StartBudget, type ThreadEvents } from "../shared/threads/order-thread.ts";
import type { CheckReport, CheckRequest, Diagnostic } from "./protocol.ts";

export type { Diagnostic } from "./protocol.ts";

/** The longest duration of one check before its thread is ended. */
const LIMIT_MS = 2_000;

/** The default time that a program waits for its check. */
const DEADLINE_MS = 100;

/** The compiler takes more than twice as long for twice the code; longer code is mostly data. */
const MAX_CODE_CHARACTERS = 64 << 10;

/** Declarations that take the compiler about a second. */
const MAX_DECLARATION_CHARACTERS = 2 << 20;

/** Checks that wait for the thread. */
const MAX_WAITING = 4;

/** How long a thread without a check keeps the memory of the compiler. */
const IDLE_MS = 60_000;

/** The maximum number of threads that are started within a period; after that, programs run without a type-check. */
export const MAX_STARTS = 5;
const STARTS_WITHIN_MS = 5 * 60_000;

export interface TypecheckRequest {
  /** JavaScript, or TypeScript if `typescript` is true; statements of the body of an async function. */
  readonly code: string;
  readonly typescript?: boolean;
  /** TypeScript of `device`, with the skills that the code uses. */
  readonly declarations: string;
  /** How long the caller waits at most; 100 ms if missing. */
  readonly deadlineMs?: number;
}

export type TypecheckResult =
  | {
      readonly kind: "checked";
      /** In the order of the text. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly kind: "skipped"; readonly why: Skipped };

export type Skipped =
  /** The compiler is not installed, or its version cannot be used. */
  | "missing"
  /** The compiler is still loading. */
  | "cold"
  /** The code or the declarations are too long. */
  | "large"
  /** The deadline came first. */
  | "late"
  /** Too many checks wait already. */
  | "busy"
  /** The thread has crashed, or too many threads have. */
  | "crashed"
  | "closed";

export interface Typecheck {
  /** Never rejects, and never takes longer than its deadline. */
  check(request: TypecheckRequest): Promise<TypecheckResult>;
  /** True once the compiler is loaded. */
  readonly isWarm: boolean;
  /** Starts to load the compiler, without keeping the process alive. */
  load(): void;
  /** Loads the compiler in the background. Resolves with whether checks are possible now; never rejects. */
  warmUp(): Promise<boolean>;
  close(): Promise<void>;
}

interface QueuedCheck {
  readonly order: CheckRequest;
  readonly end: (result: TypecheckResult) => void;
}

export interface TypecheckOptions {
  /** Milliseconds that one check may take. */
  readonly limitMs?: number;
  /** Milliseconds without a check after which the thread ends. */
  readonly idleMs?: number;
  /** How often the thread may start within five minutes, idle ends not counted. */
  readonly maxStarts?: number;
}

/**
 * Checks the types of programs with the compiler of TypeScript, in a thread of its own. The thread makes one check at a
 * time, the newest first, and is ended and replaced when one takes too long or too much memory. It ends when it is idle; the
 * next check starts it again, and is skipped.
 */
export function createTypecheck(options: TypecheckOptions = {}): Typecheck {
  const { limitMs = LIMIT_MS, idleMs = IDLE_MS, maxStarts = MAX_STARTS } = options;
  const waiting = new Set<QueuedCheck>();
  const starts = new StartBudget(maxStarts, STARTS_WITHIN_MS);
  let thread: CheckThread | undefined;
  const installed = findTypeScript();
  let stopped: "missing" | "closed" | undefined =
    installed === undefined || installed.why !== undefined ? "missing" : undefined;
  let idle: NodeJS.Timeout | undefined;

  function open(): CheckThread | undefined {
    if (thread !== undefined || stopped !== undefined) return thread;
    if (!starts.take()) return undefined;
    thread = startThread({ idle: next, over: replace });
    return thread;
  }

  function obstacle({ code, declarations }: TypecheckRequest): Skipped | undefined {
    const state = open()?.state;
    if (stopped !== undefined) return stopped;
    if (state === undefined) return "crashed";
    if (code.length > MAX_CODE_CHARACTERS || declarations.length > MAX_DECLARATION_CHARACTERS) return "large";
    if (state === "starting") return "cold";
    return waiting.size >= MAX_WAITING ? "busy" : undefined;
  }

  function next(): void {
    if (thread?.state !== "idle") return;
    const newest = [...waiting].at(-1);
    clearTimeout(idle);
    if (newest === undefined) {
      idle = setTimeout(sleep, idleMs).unref();
      return;
    }
    waiting.delete(newest);
    thread.ask(newest.order, limitMs, (report) => newest.end(toResult(report)));
  }

  function sleep(): void {
    void thread?.close();
    thread = undefined;
    starts.giveBack();
  }

  function replace(): void {
    thread = undefined;
    for (const each of waiting) each.end({ kind: "skipped", why: "crashed" });
    open();
  }

  return {
    async check(request) {
      const why = obstacle(request);
      if (why !== undefined) return { kind: "skipped", why };
      const { code, typescript = false, declarations, deadlineMs = DEADLINE_MS } = request;
      return queueCheck(waiting, { code, typescript, declarations }, { deadlineMs, next });
    },
    get isWarm() {
      return thread?.state === "idle" || thread?.state === "busy";
    },
    load: () => void open(),
    async warmUp() {
      open()?.hold();
      return stopped === undefined && ((await open()?.warm) ?? false);
    },
    async close() {
      stopped = "closed";
      clearTimeout(idle);
      for (const each of waiting) each.end({ kind: "skipped", why: "closed" });
      await thread?.close();
    },
  };
}

/** The one of this process, and how many use it. */
let shared: { readonly typecheck: Typecheck; users: number } | undefined;

/**
 * Returns the one that all runtimes of this process share: each thread loads the compiler, which takes a second and 100 MB. It is
 * closed with the last of its users.
 */
export function shareTypecheck(): Typecheck {
  const used = (shared ??= { typecheck: createTypecheck(), users: 0 });
  used.users++;
  let isClosed = false;
  return {
    ...used.typecheck,
    async check(request) {
      return isClosed ? { kind: "skipped", why: "closed" } : used.typecheck.check(request);
    },
    get isWarm() {
      return !isClosed && used.typecheck.isWarm;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      if (--used.users > 0) return;
      shared = undefined;
      await used.typecheck.close();
    },
  };
}

/** Adds a check to those that wait. Resolves when it has been made, or its deadline has come. */
function queueCheck(
  waiting: Set<QueuedCheck>,
  order: CheckRequest,
  { deadlineMs, next }: { readonly deadlineMs: number; readonly next: () => void },
): Promise<TypecheckResult> {
  return new Promise((resolve) => {
    // When this thread was busy, the answer may be waiting to be read: let it be read first.
    const timer = setTimeout(() => setImmediate(() => each.end({ kind: "skipped", why: "late" })), deadlineMs);
    const each: QueuedCheck = {
      order,
      end: (result) => {
        clearTimeout(timer);
        waiting.delete(each);
        resolve(result);
      },
    };
    waiting.add(each);
    next();
  });
}

function toResult(report: CheckReport | OrderFailure): TypecheckResult {
  return typeof report === "object" && report.kind === "checked"
    ? { kind: "checked", diagnostics: report.diagnostics }
    : { kind: "skipped", why: "crashed" };
}

/** How long the compiler may take to load. */
const START_MS = 60_000;

/** Threads start from compiled files, also when this file itself runs from its source. */
function findEntry(): URL {
  return findPackageFile("src/typecheck/worker.js", () => new URL("./worker.js", import.meta.url));
}

type CheckThread = OrderThread<CheckRequest, CheckReport>;

/** Starts a thread with the compiler. */
function startThread(events: ThreadEvents): CheckThread {
  const limits = { stackSizeMb: 8, maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };
  return new OrderThread({ entry: findEntry(), name: "skillgate-typecheck", startMs: START_MS, limits }, events);
}
