import { type Database, getProcessName } from "../store/index.ts";

/** The claims of this process on runs. A claim that is not renewed ends, so that another process can continue the run. */
export interface Claims {
  /** The name of this process. */
  readonly by: string;
  add(run: string): void;
  remove(run: string): void;
  /** Returns when a claim that begins now ends, in milliseconds since 1970. */
  getEnd(): number;
  close(): void;
}

/** Milliseconds after which a claim ends, and between renewals. */
const CLAIM_MS = 60_000;
const RENEW_MS = 15_000;

/** Renews claims by a timer, which exists only while there are any. */
export function createClaims(open: () => Promise<Pick<Database, "runs">>, warn: (error: unknown) => void): Claims {
  const by = getProcessName();
  const claimed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const getEnd = (): number => Date.now() + CLAIM_MS;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const renew = (): void => {
    open()
      .then(({ runs }) => runs.renew(by, getEnd()))
      .catch(warn);
  };
  return {
    by,
    add(run) {
      claimed.add(run);
      timer ??= setInterval(renew, RENEW_MS).unref();
    },
    remove(run) {
      claimed.delete(run);
      if (claimed.size === 0) stop();
    },
    getEnd,
    close: stop,
  };
}
