import { Cancellation } from "../../../sandbox/index.ts";
import { SkillgateError } from "../../errors.ts";
import type { UsableAccounts } from "../../model/account.ts";
import { createCancelReason } from "../../model/credential.ts";
import type { CallAnswer, Guard, GuardedCall, Handler } from "../call.ts";
import type { UsedAccount } from "../used-accounts.ts";
import { markRefusal } from "./audit.ts";

/**
 * Refuses a call whose caller has not connected an account of the method, before a person is asked about it. Cancels a call whose
 * connection ends.
 */
export function accounts(usable: Pick<UsableAccounts, "refresh">): Guard {
  return (next) => (call) =>
    call.method.definition.accounts === undefined ? next(call) : callWithAccounts(call, next, () => usable.refresh());
}

async function callWithAccounts(call: GuardedCall, next: Handler, refresh: () => Promise<void>): Promise<CallAnswer> {
  const used = await findConnected(call, refresh);
  call.onAccounts?.(used);
  const end = new Cancellation();
  const stops = [
    call.cancellable.onCancel(() => end.cancel(call.cancellable.signal.reason as Error)),
    ...used.map((each) => cancelAtEnd(each, end)),
  ];
  try {
    return await next({ ...call, cancellable: end });
  } finally {
    for (const stop of stops) stop();
  }
}

/** Another process may have connected an account that is missing here. */
async function findConnected({ accounts }: GuardedCall, refresh: () => Promise<void>): Promise<readonly UsedAccount[]> {
  try {
    return accounts();
  } catch (error) {
    if (!(error instanceof SkillgateError)) throw error;
    if (error.code !== "ACCOUNT_MISSING") throw markRefusal(error);
    await refresh();
    return accounts();
  }
}

function cancelAtEnd({ account, id, title }: UsedAccount, cancellation: Cancellation): () => void {
  return account.onEnd(id, (end) => cancellation.cancel(createCancelReason(`the account ${title} ${end}`)));
}
