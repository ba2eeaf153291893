import { createKeys, isKeyText, type Keys } from "../../keys/index.ts";
import type { Runtime } from "../../runtime.ts";
import type { TokenCheck } from "./authenticate.ts";

/** Checks API keys against the database, which is opened for the first one. Each use reads it: a revocation counts at once. */
export function createKeyCheck(runtime: Pick<Runtime, "database">): TokenCheck {
  let keys: Promise<Keys> | undefined;
  return async (token) => {
    if (!isKeyText(token)) return undefined;
    keys ??= runtime.database().then((database) => createKeys(database));
    keys.catch(() => (keys = undefined)); // the next request tries again
    const caller = await (await keys).authenticate(token);
    return caller && { kind: "caller", caller };
  };
}
