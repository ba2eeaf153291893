import type { CliCommand, CommandResult } from "../command.ts";
import { startHttpServer } from "../http-server.ts";
import { openServeLog } from "../serve-log.ts";
import type { CliSession } from "../session.ts";
import { waitForInterruption } from "../terminal/interruption.ts";
import { openPage } from "../terminal/open-page.ts";

export function addConsole(program: CliCommand): void {
  program
    .command("console")
    .description("open the web console of this project: in its running server, else in a server of its own")
    .addHelpText(
      "after",
      "\nThe printed link logs a browser in once, within five minutes. Ctrl-C ends a server of its own.",
    )
    .run(openConsole);
}

const TITLE = "Open this page (the link is valid once, for five minutes):";

async function openConsole(session: CliSession): Promise<CommandResult> {
  const { findLoginLink } = await import("../../console/index.ts");
  const link = await findLoginLink((await session.folders()).store);
  if (link === undefined) return serveConsole(session);
  openPage(link, TITLE);
  return { json: { url: link }, text: "" };
}

/** Serves until the command is interrupted. The server has no token of its own: links and keys log in. */
async function serveConsole(session: CliSession): Promise<CommandResult> {
  const { flags, paint, signal } = session;
  const log = openServeLog("text", { isVerbose: flags.verbose === true, paint: paint.err });
  const runtime = await session.openRuntime({ serve: { log: log.listener } });
  log.follow(runtime);
  runtime.automations.follow().catch(() => {}); // the store cannot be opened, which is reported as a problem
  const { parseServerSettings } = await import("../../http/index.ts");
  const settings = { ...parseServerSettings(runtime.sections["server"]), ...OWN_SERVER };
  const server = await startHttpServer({ runtime, settings, isToken: () => false, session, log });
  openPage(server.console?.createLoginLink(server.url) ?? server.url, TITLE);
  await waitForInterruption(signal);
  await server.close();
  return { json: { url: server.url }, text: "" };
}

/** The server of this command is for one person at this machine. */
const OWN_SERVER = { host: "127.0.0.1", port: 0, auth: true, console: true } as const;
