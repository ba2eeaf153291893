import type { Command } from "commander";
import { sentence, SkillgateError } from "../../../errors.ts";
import type { CommandAction } from "../command-action.ts";
import { openPage } from "../terminal/open-page.ts";
import { UsageError } from "../usage-error.ts";
import { openConfig } from "./files.ts";
import { startServer } from "./start-servers.ts";
import { escaped } from "../text/layout.ts";

/** Opens the login page of a server. Its URL comes from the server: another scheme could start another program. */
function openLoginPage(url: URL, what: string): void {
  if (!/^https?:$/.test(url.protocol))
    throw new UsageError(`Cannot open the login page of ${what}: its URL must start with http or https`);
  openPage(url.href, `Open this page to log in to ${escaped(what)}:`);
}

export function addMcpLogin(mcp: Command, act: CommandAction): void {
  mcp
    .command("login")
    .description("log in to a remote server in the browser, if it requires that; the login is stored")
    .argument("<name>", "name of the server")
    .addHelpText("after", "\nExample:\n  skillgate mcp login linear")
    .action(
      act(async (session, name: string) => {
        const files = await openConfig(session);
        const { config } = files.configModule.findDeclaredServer(name, files);
        if (config?.transport === "stdio")
          throw new UsageError(`Cannot log in to ${name}: it is a local process; set its keys with env`);
        const authorize = ({ url }: { readonly url: URL }): void => openLoginPage(url, name);
        const { status, error = status } = await startServer(session, name, { mcp: { authorize } });
        if (status === "connected") return { exit: "ok", json: { name, status }, text: `${name} is connected` };
        const isSentence = error.includes("(SERVER_FAILED)");
        const message = isSentence ? error : sentence("SERVER_FAILED", `"${name}": ${error}`);
        throw new SkillgateError("SERVER_FAILED", message, { server: name, fix: FIX });
      }),
    );
}

const FIX = 'Try again, or configure a key of your own: -H "Authorization: Bearer ${TOKEN}"';
