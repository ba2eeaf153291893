import { isRecord } from "../../model/json.ts";
import type { StoreLocation } from "../../store/index.ts";
import { getUserStateDir } from "../user-state-dir.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";
import { readSecretReference, type SecretContext } from "./secret-reference.ts";

/** Returns where the keys are that encrypt the credentials of accounts; reads nothing. `section` is the section `store`. */
export function readAccountKeys(
  section: unknown,
  context: SecretContext,
  { folder, url }: StoreLocation,
): RuntimeSettings["accountKeys"] {
  const written = isRecord(section) ? section["accountKey"] : undefined;
  return {
    variable: context.env["SKILLGATE_ACCOUNT_KEY"],
    readSetting: typeof written === "string" ? () => readSecretReference(written, context) : undefined,
    folder: getUserStateDir(context.env),
    store: url !== undefined ? "url" : folder !== undefined ? "folder" : "memory",
  };
}
