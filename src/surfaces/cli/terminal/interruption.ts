import { EXIT_CODES, type Exit } from "../exit-codes.ts";

/** The state of an interruption: the first signal asks the command to stop, the second ends the process. */
export interface Interruption {
  /** Fires at the first signal. */
  readonly signal: AbortSignal;
  /** The exit of the command, once a signal has arrived. */
  readonly exit: Exit | undefined;
  /** Calls `stop` at Ctrl-C. The command continues if it returns true, because there was work to stop. */
  readonly intercept: (this: void, stop: () => boolean) => void;
  /** Says that the command has finished its work after the signal: its own exit code counts. */
  readonly finish: (this: void) => void;
}

const EXIT_OF_SIGNAL = {
  SIGINT: "interrupted",
  SIGTERM: "terminated",
  SIGHUP: "hungUp",
} as const satisfies Partial<Record<NodeJS.Signals, Exit>>;

/** npm forwards the Ctrl-C that the terminal has also sent directly: signals this close together count as one. */
const SAME_SIGNAL_MS = 100;

/** After this time, a command that still waits, such as for the lock of a file, says how to end it. */
const NOTICE_MS = 1_500;
const NOTICE = "Not ended yet; Ctrl-C again ends it at once\n";

/** Listens for signals until the process ends. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let exit: Exit | undefined;
  let askedAt = -Infinity;
  let isFinished = false;
  let stopWork = (): boolean => false;
  for (const [signal, meaning] of Object.entries(EXIT_OF_SIGNAL)) {
    process.on(signal, () => {
      if (performance.now() - askedAt <= SAME_SIGNAL_MS) return;
      askedAt = performance.now();
      if (exit !== undefined) process.exit(EXIT_CODES[exit].code);
      if (signal === "SIGINT" && stopWork()) return;
      exit = meaning;
      controller.abort();
      if (signal === "SIGINT") setTimeout(() => process.stderr.write(NOTICE), NOTICE_MS).unref();
    });
  }
  return {
    signal: controller.signal,
    get exit() {
      return isFinished ? undefined : exit;
    },
    intercept(stop) {
      stopWork = stop;
    },
    finish: () => void (isFinished = true),
  };
}

/** Settles when the signal has fired. */
export function waitForInterruption(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Returns the result of the work. Rejects with the reason of the signal if that fires first. */
export async function unlessInterrupted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  let interrupt = (): void => {};
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = () => reject(signal.reason as Error);
  });
  signal.addEventListener("abort", interrupt);
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
}
