import { type AccessToken, type Caller, isCurrent } from "../../../model/caller.ts";
import { createCancelReason } from "../../../model/credential.ts";
import type { RunServices } from "../run-services.ts";

/** The rights of the caller while the run waits for a person. */
export interface RightsWatch {
  /** The access token that has ended. */
  readonly endedToken: AccessToken | undefined;
  /** Leaves the run when the token ends, until `stop`. */
  readonly start: () => void;
  readonly stop: () => void;
  /** Leaves the run if the token has ended, and ends it if the key is not valid any more; then it throws. */
  readonly require: () => Promise<void>;
}

/** The ways in which a run stops in this process: another process or a later request continues it, or none does. */
interface RunStops {
  readonly leave: () => void;
  readonly end: (why: string) => void;
}

/** Why a run ends whose key was revoked or has expired. */
export const KEY_ENDED = "its key is not valid any more";

/** The longest delay of a timer, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export function watchRights(
  caller: Caller,
  { findRights }: Pick<RunServices, "findRights">,
  stops: RunStops,
): RightsWatch {
  let timer: NodeJS.Timeout | undefined;
  let endedToken: AccessToken | undefined;
  const stop = (): void => clearTimeout(timer);
  const leave = (token: AccessToken): void => {
    endedToken = token;
    stops.leave();
  };
  const start = (): void => {
    const { token } = caller;
    stop();
    if (token === undefined) return;
    const delay = Math.min(Math.max(0, token.until - Date.now()), MAX_DELAY_MS);
    timer = setTimeout(() => (isCurrent(token) ? start() : leave(token)), delay);
  };
  return {
    get endedToken() {
      return endedToken;
    },
    start,
    stop,
    async require() {
      const rights = await findRights(caller);
      if (rights.kind === "valid") return;
      if (rights.kind === "unproved") leave(rights.token);
      else stops.end(KEY_ENDED);
      throw createCancelReason(KEY_ENDED);
    },
  };
}
