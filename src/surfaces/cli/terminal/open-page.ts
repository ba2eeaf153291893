import { spawn } from "node:child_process";

import { escaped } from "../text/layout.ts";

/** Opens a page in the browser of the user, and prints its address in case no browser opens. */
export function openPage(address: string, title: string): void {
  process.stderr.write(`${title}\n${escaped(address)}\n`);
  if (!process.stderr.isTTY) return; // a program that reads stderr gets the address and decides itself
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // no browser can be started; the address is already printed
  child.unref();
}

/** The programs that open a URL. None is a shell, which could run a part of the address as a command. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
