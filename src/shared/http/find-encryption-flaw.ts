import type { Account } from "../../model/account.ts";
import { isNear } from "./addresses.ts";

/** Says why an address does not get the credential of an account: it is not encrypted on its way. `undefined` if it does. */
export function findEncryptionFlaw(
  url: URL,
  { name, isPrivate }: Pick<Account, "name" | "isPrivate">,
): string | undefined {
  if (url.protocol === "https:" || isPrivate || isNear(url)) return undefined;
  return (
    `${url.origin} is not an https address, and the credential of the account ${name} is sent only encrypted; write https://, ` +
    `or, if the server is in your own network: accounts: { ${name}: { private: true } }`
  );
}
