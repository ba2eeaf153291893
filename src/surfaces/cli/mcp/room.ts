export type { Client, ClientFile, ConfigOptions, Scope } from "../../../config/index.ts";

export type Room = Awaited<ReturnType<typeof openRoom>>;

/** What commands need of the configuration. It is loaded only when one of them runs: `--help` does without. */
export function openRoom() {
  return import("../../../config/index.ts");
}
