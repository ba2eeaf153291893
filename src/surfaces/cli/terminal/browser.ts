import { spawn } from "node:child_process";

import { escaped } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";

/** Opens a page in the user's browser, and prints its address in case no browser opens. */
export function openPage(url: URL, what: string): void {
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
