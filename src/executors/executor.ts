import { openServer, type NetworkServer } from "../network/index.ts";
import { getProcessName } from "../store/index.ts";
import { connectFronts } from "./front-calls.ts";
import { type ExecutingRuntime, JobServer } from "./job-server.ts";
import { type ExecutorFacts, MAX_BYTES } from "./protocol.ts";
import type { ExecutorSettings } from "./settings.ts";
import { describeDifference, getVersionToken, parseVersion, type RuntimeVersion } from "./version.ts";

export interface StartExecutorOptions {
  readonly settings: ExecutorSettings;
  readonly runtime: ExecutingRuntime;
  readonly readVersion: () => RuntimeVersion;
  /** Gets a sentence about the connection each time that it changes. */
  readonly onState: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** An executor that takes runs. */
export interface StartedExecutor {
  /** The number of runs that fronts wait for. */
  readonly jobs: number;
  /**
   * Takes no more runs, and resolves when each run has ended or waits for a person, or after `timeoutMs`. Then close the
   * runtime, which leaves runs that wait to others, and call `close`.
   */
  drain(timeoutMs: number): Promise<void>;
  /** Waits until the ends of all runs are sent, and closes the connection. The runtime must be closed before. */
  close(): Promise<void>;
}

/** Executes the runs that fronts hand out, until `close`. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function startExecutor(options: StartExecutorOptions): Promise<StartedExecutor> {
  const { settings, runtime, readVersion, onState, warn } = options;
  const fronts = await connectFronts({ settings, warn });
  runtime.useFronts(fronts);
  const jobs = new JobServer({ settings, runtime, getToken: () => getVersionToken(readVersion()) });
  const server: NetworkServer = await openServer({
    settings,
    group: "executors",
    maxBytes: MAX_BYTES,
    describe: (): ExecutorFacts => ({
      process: getProcessName(),
      version: readVersion(),
      isTaking: jobs.isTaking,
    }),
    answer: (request) => jobs.answer(request),
    onFacts: createDifferenceReporter(readVersion, warn),
    onOpen: (where) => onState(`connected to ${where}`),
    onLost: (where) => {
      jobs.cancelAll("the connection to the NATS server is interrupted");
      onState(`the connection to ${where} is interrupted`);
    },
    onFailure: (where, failure) => onState(`cannot connect to ${where}: ${failure}`),
    warn,
  });
  const stopFollowing = runtime.on("catalog", () => server.update());
  return {
    get jobs() {
      return jobs.size;
    },
    async drain(timeoutMs) {
      jobs.isTaking = false;
      server.update();
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      const work = jobs.settle().then(() => runtime.runs.settle());
      await Promise.race([work, timeout]);
      clearTimeout(timer);
      jobs.leaveWaiting();
    },
    async close() {
      stopFollowing();
      jobs.isTaking = false;
      await jobs.whenEmpty();
      await Promise.all([server.close(), fronts.close()]);
    },
  };
}

/** Creates the function that reports why a front hands over no runs, once for each difference. */
function createDifferenceReporter(
  readVersion: () => RuntimeVersion,
  warn: (text: string) => void,
): (facts: unknown) => void {
  let last: string | undefined;
  return (facts) => {
    const version = parseVersion(facts);
    if (version === undefined) return;
    const difference = describeDifference(readVersion(), version);
    if (difference !== undefined && difference !== last) warn(`A server hands over no runs: it has ${difference}`);
    last = difference;
  };
}
