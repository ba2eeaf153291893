import { EXIT_CODES, type Exit } from "../exit-codes.ts";

/** Whether somebody wants the command to end. The first signal asks it to stop, the second stops it. */
export interface Interruption {
  /** Fires at the first signal. */
  readonly signal: AbortSignal;
  /** How the command ends, once it was asked to. */
  readonly exit: Exit | undefined;
}

const EXIT_OF_SIGNAL = {
  SIGINT: "interrupted",
  SIGTERM: "terminated",
  SIGHUP: "hungUp",
} as const satisfies Partial<Record<NodeJS.Signals, Exit>>;

/** npm passes on to us the Ctrl-C that the terminal has sent us already: signals this close together are one. */
const SAME_SIGNAL_MS = 100;

/** Listens from now on, until the process ends. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let exit: Exit | undefined;
  let askedAt = 0;
  for (const [signal, meaning] of Object.entries(EXIT_OF_SIGNAL)) {
    process.on(signal, () => {
      if (exit === undefined) {
        exit = meaning;
        askedAt = performance.now();
        controller.abort();
      } else if (performance.now() - askedAt > SAME_SIGNAL_MS) process.exit(EXIT_CODES[exit].code);
    });
  }
  return {
    signal: controller.signal,
    get exit() {
      return exit;
    },
  };
}
