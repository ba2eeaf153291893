import { createError } from "../../errors.ts";
import { getMethodFacts, type Guard } from "../call.ts";

/** Refuses a call that another process has decided on for other connections: a person may have approved those. */
export const decided: Guard = (next) => (call) => {
  const { method, decidedFor = [] } = call;
  const other = call.accounts().find(({ id }) => !isFromSettings(id) && !decidedFor.includes(id));
  if (other === undefined) return next(call);
  const says = `the account ${other.title} was connected again while ${method.path} waited`;
  throw createError("ACCOUNT_UNAVAILABLE", says, getMethodFacts(method));
};

/** The ids of credentials in settings differ between processes with and without these credentials. */
function isFromSettings(id: string): boolean {
  return id.startsWith("settings-");
}
