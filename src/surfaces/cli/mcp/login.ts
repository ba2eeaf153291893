import type { Command } from "commander";

import { sentence, SkillgateError } from "../../../errors.ts";
import type { Act } from "../act.ts";
import { UsageError } from "../usage-error.ts";
import { declaredNamed, openFiles } from "./files.ts";
import { liveNamed, startAll } from "./live.ts";

export function addMcpLogin(mcp: Command, act: Act): void {
  mcp
    .command("login")
    .description("log in to a server behind a URL, in the browser where it asks for that")
    .argument("<name>", "name of the server")
    .addHelpText("after", "\nExample:\n  skillgate mcp login linear")
    .action(
      act(async (session, name: string) => {
        const files = await openFiles(session);
        const { config, problem } = declaredNamed(name, files);
        if (config === undefined) throw new SkillgateError("CONFIG_INVALID", problem?.error ?? name, { server: name });
        if (config.transport === "stdio")
          throw new UsageError(`Cannot log in to ${name}: it is a process, which gets its keys by env`);
        const { status, error = status } = liveNamed(name, await startAll(session));
        if (status === "connected") return { exit: "ok", json: { name, status }, text: `${name} lets you in` };
        const isSentence = error.includes("(SERVER_FAILED)");
        throw new SkillgateError(
          "SERVER_FAILED",
          isSentence ? error : sentence("SERVER_FAILED", `"${name}": ${error}`),
          {
            server: name,
          },
        );
      }),
    );
}
