import { spawn } from "node:child_process";

import { escaped } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";

/** Opens a page in the person's browser, and says where it is in case that there is none. */
export function openPage(url: URL, what: string): void {
  // It comes from a server: anything but a page could start another program.
  if (!/^https?:$/.test(url.protocol))
    throw new UsageError(`Cannot open the login page of ${what}: its URL must start with http or https`);
  process.stderr.write(`Open this page to log in to ${escaped(what)}:\n${escaped(url.href)}\n`);
  if (!process.stderr.isTTY) return; // a program is told where the page is, and decides itself
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url.href], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // there is no browser here: the address is on the screen
  child.unref();
}

/** None of them is a shell, to which a part of an address could be a command. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
