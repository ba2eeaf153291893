import { hash } from "node:crypto";

import type { CredentialEnd, CredentialLife } from "../model/credential.ts";
import type { Database, KeyRow } from "../store/index.ts";
import { findKeyId } from "./key-text.ts";

/** Ends the use of keys that are revoked, expire or get a new secret, whichever process changes them. */
export interface KeyWatch {
  /** Returns the life of a valid key. Create it before the key is read, so that it misses no change. */
  follow(text: string): CredentialLife;
  close(): void;
}

/** Milliseconds between two looks at the keys in use, in addition to the notices of the store: expiry changes no row. */
const RECHECK_MS = 1_000;

interface KeyUse {
  readonly id: string;
  readonly sha256: string;
  readonly listeners: Set<(why: CredentialEnd) => void>;
}

/** Creates a watch. While the store cannot be read, uses continue and the keys are read again later. */
export function createKeyWatch(
  { keys, watch }: Pick<Database, "keys" | "watch">,
  now: () => number = Date.now,
): KeyWatch {
  const uses = new Set<KeyUse>();
  let changes = 0;
  let isReading = false;
  let isStale = false;
  let recheck: NodeJS.Timeout | undefined;

  const stopWatching = watch(() => {
    changes++;
    void check();
  });

  function add(use: KeyUse): void {
    uses.add(use);
    recheck ??= setInterval(() => void check(), RECHECK_MS).unref();
  }

  function remove(use: KeyUse): void {
    uses.delete(use);
    if (uses.size > 0) return;
    clearInterval(recheck);
    recheck = undefined;
  }

  /** Reads the keys in use once more if they have changed meanwhile. */
  async function check(): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isStale && uses.size > 0) {
        isStale = false;
        for (const id of new Set([...uses].map((use) => use.id))) endUses(id, await keys.get(id));
      }
    } catch {
      // The next change or the next check reads the keys again.
    } finally {
      isReading = false;
    }
  }

  function endUses(id: string, key: KeyRow | undefined): void {
    for (const use of uses) {
      const why = use.id === id ? findEnd(use, key, now()) : undefined;
      if (why === undefined) continue;
      remove(use);
      for (const listener of use.listeners) listener(why);
    }
  }

  return {
    follow(text) {
      const changesBefore = changes;
      const use: KeyUse = { id: findKeyId(text) ?? "", sha256: hash("sha256", text), listeners: new Set() };
      return {
        onEnd(listener) {
          use.listeners.add(listener);
          add(use);
          if (changes !== changesBefore) void check();
          return () => {
            use.listeners.delete(listener);
            if (use.listeners.size === 0) remove(use);
          };
        },
      };
    },
    close() {
      stopWatching();
      for (const use of uses) remove(use);
    },
  };
}

function findEnd({ sha256 }: KeyUse, key: KeyRow | undefined, now: number): CredentialEnd | undefined {
  if (key === undefined || key.revoked !== null) return "the key was revoked";
  if (key.expires !== null && key.expires <= now) return "the key has expired";
  const isCurrent = sha256 === key.sha256;
  const isPrevious = sha256 === key.previousSha256 && key.previousExpires !== null && key.previousExpires > now;
  return isCurrent || isPrevious ? undefined : "the key has a new secret";
}
