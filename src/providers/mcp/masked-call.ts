import { SkillgateError } from "../../errors.ts";
import type { RequestContext } from "../../model/skill.ts";
import { KnownSecrets } from "../../shared/secrets.ts";
import type { RequestConfig } from "./connections/request-config.ts";

/** Makes a call with the values of a request. Its result has none of the headers, and its errors have none of the values. */
export async function callMasked(
  context: RequestContext,
  { headerSecrets, values }: Pick<RequestConfig, "headerSecrets" | "values">,
  call: (context: RequestContext) => Promise<unknown>,
): Promise<unknown> {
  const secrets = new KnownSecrets().with(values);
  const { wire, progress, addNote } = context;
  const maskedContext: RequestContext = {
    ...context,
    progress: (done, total, text) => progress(done, total, text && secrets.maskMessage(text)),
    ...(wire && { wire: (result: unknown) => wire(headerSecrets.maskValue(result)) }),
    ...(addNote && { addNote: (text: string) => addNote(secrets.maskMessage(text)) }),
  };
  try {
    return headerSecrets.maskValue(await call(maskedContext));
  } catch (thrown) {
    throw maskCallError(thrown, secrets);
  }
}

/** Returns an error of a call without secrets, in its message, its facts and the error of the server that it comes from. */
function maskCallError(thrown: unknown, secrets: KnownSecrets): unknown {
  if (!(thrown instanceof SkillgateError)) return thrown;
  const { code, message, facts, cause } = thrown;
  const masked = cause instanceof Error ? maskCause(cause, secrets) : undefined;
  return new SkillgateError(code, secrets.maskText(message), secrets.maskTexts(facts), { cause: masked });
}

/** Keeps the code and the data, which clients of Skillgate get. */
function maskCause(cause: Error & { readonly code?: unknown; readonly data?: unknown }, secrets: KnownSecrets): Error {
  const { name, message, code, data } = cause;
  const error = new Error(secrets.maskText(message));
  return Object.assign(error, { name, code, ...(data !== undefined && { data: secrets.maskTexts(data) }) });
}
