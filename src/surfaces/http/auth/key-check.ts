import { createKeys, createKeyWatch, isKeyText, type Keys, type KeyWatch } from "../../../keys/index.ts";
import type { Runtime } from "../../../runtime.ts";
import type { TokenCheck } from "./authenticate.ts";

/** Checks API keys, and ends their use when they are not valid any more. */
export interface KeyCheck {
  readonly check: TokenCheck;
  close(): void;
}

interface OpenKeys {
  readonly keys: Keys;
  readonly watch: KeyWatch;
}

/** Checks API keys against the database, which is opened for the first one. Each use reads it: a revocation counts at once. */
export function createKeyCheck(runtime: Pick<Runtime, "database">): KeyCheck {
  let opened: Promise<OpenKeys> | undefined;
  async function open(): Promise<OpenKeys> {
    const database = await runtime.database();
    return { keys: createKeys(database), watch: createKeyWatch(database) };
  }
  return {
    async check(token) {
      if (!isKeyText(token)) return undefined;
      opened ??= open();
      opened.catch(() => (opened = undefined)); // the next request tries again
      const { keys, watch } = await opened;
      const life = watch.follow(token);
      const caller = await keys.authenticate(token);
      return caller && { kind: "caller", caller, life };
    },
    close: () => void opened?.then(({ watch }) => watch.close()).catch(() => {}), // it was not opened
  };
}
