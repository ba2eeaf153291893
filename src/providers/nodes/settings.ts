import type { NetworkSettings } from "../../network/index.ts";

/** How this machine reaches the network of devices, and what it offers there. */
export interface NodeSettings extends NetworkSettings {
  /** Patterns of the methods that this machine offers. */
  readonly offer?: readonly string[];
  /** Scopes that callers on other machines hold here. */
  readonly scopes: readonly string[];
}

/** The longest call or result of a method in bytes. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
