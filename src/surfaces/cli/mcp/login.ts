import { spawn } from "node:child_process";

import type { Command } from "commander";
import { sentence, SkillgateError } from "../../../errors.ts";
import type { CommandAction } from "../command-action.ts";
import { UsageError } from "../usage-error.ts";
import { declaredNamed, openConfig } from "./files.ts";
import { startServer } from "./start-servers.ts";
import { escaped } from "../text/layout.ts";

/** Opens a page in the user's browser, and prints its address in case no browser opens. */
function openPage(url: URL, what: string): void {
  // The URL comes from a server: another scheme could start another program.
  if (!/^https?:$/.test(url.protocol))
    throw new UsageError(`Cannot open the login page of ${what}: its URL must start with http or https`);
  process.stderr.write(`Open this page to log in to ${escaped(what)}:\n${escaped(url.href)}\n`);
  if (!process.stderr.isTTY) return; // a program that reads stderr gets the address and decides itself
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url.href], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // no browser can be started; the address is already printed
  child.unref();
}

/** The programs that open a URL. None is a shell, which could run a part of the address as a command. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

export function addMcpLogin(mcp: Command, act: CommandAction): void {
  mcp
    .command("login")
    .description("log in to a remote server in the browser, if it requires that; the login is stored")
    .argument("<name>", "name of the server")
    .addHelpText("after", "\nExample:\n  skillgate mcp login linear")
    .action(
      act(async (session, name: string) => {
        const { config } = declaredNamed(name, await openConfig(session));
        if (config?.transport === "stdio")
          throw new UsageError(`Cannot log in to ${name}: it is a local process; set its keys with env`);
        const authorize = ({ url }: { readonly url: URL }): void => openPage(url, name);
        const { status, error = status } = await startServer(session, name, { mcp: { authorize } });
        if (status === "connected") return { exit: "ok", json: { name, status }, text: `${name} is connected` };
        const isSentence = error.includes("(SERVER_FAILED)");
        const message = isSentence ? error : sentence("SERVER_FAILED", `"${name}": ${error}`);
        throw new SkillgateError("SERVER_FAILED", message, { server: name, fix: FIX });
      }),
    );
}

const FIX = 'Try again, or configure a key of your own: -H "Authorization: Bearer ${TOKEN}"';
