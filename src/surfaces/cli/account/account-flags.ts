import { Option } from "commander";

import type { AccountSettings } from "../../../runtime/options.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import type { CliCommand } from "../command.ts";
import { formatFlag, wholeNumber } from "../input/option-values.ts";
import { collected } from "../mcp/server-flags.ts";
import { UsageError } from "../usage-error.ts";

export interface AccountFlags extends Omit<AccountSettings, "name" | "value" | "servers" | "parameters"> {
  readonly name?: readonly string[];
  readonly value?: readonly string[];
  readonly server?: readonly string[];
}

/** Adds the options of `account add`: the settings of an account. */
export function addAccountOptions(command: CliCommand): CliCommand {
  return command
    .addOption(
      new Option("--type <type>", "the kind of its credential")
        .choices(["apiKey", "basic", "bearer", "oauth"])
        .makeOptionMandatory(),
    )
    .addOption(new Option("--for <owner>", "who has a connection").choices(["caller", "everyone"]))
    .option("--server <origin>", "a server to which skills may send it; repeatable", collected)
    .option("--reveal <skill>", "a skill that may read the credential itself; repeatable", collected)
    .option("--private", "its service is at an address of a private network")
    .option("--test <url>", "a harmless request that shows whether the credential is accepted")
    .addOption(new Option("--in <place>", "apiKey: where it is sent").choices(["header", "query", "cookie", "body"]))
    .option("--name <name>", "apiKey: the name of the header, parameter, cookie or field; repeatable", collected)
    .option("--value <variable>", "apiKey: '${NAME}', a variable with the key; repeatable", collected)
    .option("--prefix <text>", "apiKey: a text before each value, such as 'Token '")
    .option("--username <user>", "basic: the user, or '${NAME}'")
    .option("--password <variable>", "basic: '${NAME}', a variable with the password")
    .option("--token <variable>", "bearer: '${NAME}', a variable with the token")
    .addOption(
      new Option(
        "--grant <grant>",
        "oauth: a person agrees in the browser or types a code, or the client asks for itself",
      ).choices(["code", "client", "device"]),
    )
    .option("--issuer <url>", "oauth: the provider, whose metadata have the other URLs")
    .option("--authorization-url <url>", "oauth: where a person agrees")
    .option("--token-url <url>", "oauth: where tokens are requested")
    .option("--device-url <url>", "oauth: where device codes are requested")
    .option("--revocation-url <url>", "oauth: where tokens are revoked")
    .option("--client-id <id>", "oauth: the id of the client, or '${NAME}'")
    .option("--client-secret <variable>", "oauth: '${NAME}', a variable with the secret of the client")
    .addOption(
      new Option("--client-auth <form>", "oauth: how the client proves who it is").choices(["basic", "post", "none"]),
    )
    .option("--scopes <scopes...>", "oauth: the scopes that are asked for")
    .option("--audience <audience>", "oauth: the audience of the tokens")
    .option("--resource <url>", "oauth: the resource of the tokens")
    .option("--callback-port <port>", "oauth: the local port to which the browser returns", wholeNumber);
}

const SECRETS = ["value", "password", "token", "clientSecret"] as const;

/** Reads the settings of an account from flags. A secret in a flag is refused: only the names of variables belong into settings. */
export function readAccountFlags(flags: AccountFlags): AccountSettings {
  for (const name of SECRETS) for (const value of [flags[name] ?? []].flat()) requireVariable(name, value);
  const { name, value, server, ...settings } = flags;
  const more = { name: toOneOrMore(name), value: toOneOrMore(value), servers: server };
  return withoutGaps({ ...settings, ...more }); // commander has checked the choices
}

function toOneOrMore(values: readonly string[] | undefined): string | readonly string[] | undefined {
  return values?.length === 1 ? values[0] : values;
}

function requireVariable(name: (typeof SECRETS)[number], value: string): void {
  if (/^\$\{[A-Za-z_]\w*\}$/.test(value)) return;
  const flag = formatFlag(name);
  throw new UsageError(
    `${flag} must be the name of a variable, as in ${flag} '\${MY_SECRET}': a value on the command line stays in the history of the ` +
      "shell, and would be in settings.yaml. Set the variable in the environment or in .env, or leave the flag out and run: " +
      "skillgate account connect",
  );
}
