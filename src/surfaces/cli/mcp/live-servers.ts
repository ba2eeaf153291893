import { sentence, SkillgateError } from "../../../errors.ts";
import type { CliCommand } from "../command.ts";
import { openPage } from "../terminal/open-page.ts";
import { count, escaped, lines } from "../text/layout.ts";
import { warningsText } from "../text/output.ts";
import { createServerRow, serverText, toolsText } from "../text/server-texts.ts";
import { UsageError } from "../usage-error.ts";
import { findAddressCollisions } from "./collisions.ts";
import { openServer } from "./files.ts";
import { formatCalls, offerToObserve } from "./observe.ts";
import { openServers, type StartedServer, type StartedServers, startServer, startServers } from "./start-servers.ts";

export function addMcpList(mcp: CliCommand): void {
  mcp
    .command("list")
    .alias("ls")
    .description("show the MCP servers, and whether each connects within 5 seconds")
    .addHelpText("after", "\nExample:\n  skillgate mcp list --json")
    .run(async (session) => {
      const { runtime, hasUnreadFile, follow } = await openServers(session);
      const formatRow = createServerRow(runtime.servers, session.paint.out);
      const { servers, problems, otherProblems } = await follow((server) => {
        if (!session.flags.json) session.write("out", `${formatRow(server)}\n`);
      });
      const isUsable = servers.every(({ status }) => status === "connected" || status === "disabled");
      const isUnread = servers.length === 0 && hasUnreadFile;
      const collisions = await findAddressCollisions(runtime);
      return {
        exit: isUnread ? "usage" : isUsable ? "ok" : "unreachable",
        json: { servers, problems: [...problems, ...collisions] },
        text: servers.length > 0 || isUnread ? "" : "No MCP servers are configured",
        remarks: warningsText([...otherProblems, ...collisions], session.paint.err),
      };
    });
}

export function addMcpTools(mcp: CliCommand): void {
  mcp
    .command("tools")
    .description("list the tools of servers with their methods and descriptions")
    .argument("[name]", "name of the server (default: all servers)")
    .addHelpText("after", "\nExample:\n  skillgate mcp tools filesystem")
    .run(async (session, name: string | undefined) => {
      const live = await startServers(session, name);
      const listed = live.servers.map((server) => withTools(server, live));
      const isDown = name !== undefined && live.servers.some(({ status }) => status !== "connected");
      return {
        exit: isDown ? "unreachable" : "ok",
        json: { servers: listed },
        text: lines(listed.map((server) => toolsText(server, session.paint.out))) || "No MCP servers are configured",
      };
    });
}

/** A server with the descriptions of its tools. */
function withTools({ name, skill, status, error, tools, quarantined }: StartedServer, { runtime }: StartedServers) {
  return {
    name,
    skill,
    status,
    ...(error !== undefined && { error }),
    tools: tools.map((tool) => {
      const path = `${skill}.${tool.method}`;
      return { tool: tool.name, path, description: runtime.catalog.method(path)?.description ?? "" };
    }),
    quarantined,
  };
}

export function addMcpTest(mcp: CliCommand): void {
  mcp
    .command("test")
    .description("start a server and list its tools, or show why it fails")
    .argument("[name]", "name of the server (default: all enabled servers)")
    .option("--observe", "call methods that only read once, to observe the types of their results; without a question")
    .addHelpText("after", "\nExample:\n  skillgate mcp test filesystem")
    .run(async (session, name: string | undefined, { observe }: { readonly observe?: true }) => {
      const started = await startServers(session, name);
      const servers = started.servers.filter(({ status }) => name !== undefined || status !== "disabled");
      const tested = lines(servers.map((server) => serverText(server, session.paint.out)));
      // Shown before the question.
      if (tested !== "" && !session.flags.json) session.write("out", `${tested}\n`);
      const { calls, remark } = await offerToObserve(started.runtime, { name, isSure: observe === true }, session);
      return {
        exit: servers.every(({ status }) => status === "connected") ? "ok" : "unreachable",
        json: { servers, ...(observe === true && { calls }) },
        text: servers.length === 0 ? "No MCP servers to test" : formatCalls(calls),
        ...(remark !== undefined && { remarks: session.paint.err.dim(remark) }),
      };
    });
}

export function addMcpAccept(mcp: CliCommand): void {
  mcp
    .command("accept")
    .description("accept the tools of a server as they are now, after a look at what has changed")
    .argument("<name>", "name of the server")
    .addHelpText("after", "\nExample:\n  skillgate mcp accept filesystem")
    .run(async (session, name: string) => {
      const { runtime, servers } = await startServers(session, name);
      const isUp = servers.every(({ status }) => status === "connected");
      if (isUp) runtime.acceptTools(name);
      const changes = servers.flatMap((server) => server.changes);
      const texts = changes.map(({ tool, differences }) =>
        lines([`  ${tool}`, ...differences.map((difference) => `    ${difference}`)]),
      );
      return {
        exit: isUp ? "ok" : "unreachable",
        json: { name, accepted: isUp, changes },
        text: isUp ? lines([...texts, `Accepted ${count(changes.length, "change")} of ${name}`]) : "",
        remarks: lines(servers.flatMap(({ error }) => error ?? [])),
      };
    });
}

export function addMcpLogs(mcp: CliCommand): void {
  mcp
    .command("logs")
    .description("start a server and show what it prints on stderr")
    .argument("<name>", "name of the server")
    .addHelpText("after", "\nExample:\n  skillgate mcp logs filesystem")
    .run(async (session, name: string) => {
      const { status, error, transport, stderrTail } = await startServer(session, name);
      const nothing = transport === "stdio" ? `${name} printed nothing on stderr` : `${name} is not a local process`;
      return {
        exit: status === "connected" ? "ok" : "unreachable",
        json: { name, status, ...(error !== undefined && { error }), stderr: stderrTail },
        text: stderrTail,
        remarks: stderrTail === "" ? (error ?? nothing) : (error ?? ""),
      };
    });
}

/** Opens the login page of a server. Its URL comes from the server: another scheme could start another program. */
function openLoginPage(url: URL, what: string): void {
  if (!/^https?:$/.test(url.protocol))
    throw new UsageError(`Cannot open the login page of ${what}: its URL must start with http or https`);
  openPage(url.href, `Open this page to log in to ${escaped(what)}:`);
}

export function addMcpLogin(mcp: CliCommand): void {
  mcp
    .command("login")
    .description("log in to a remote server in the browser, if it requires that; the login is stored")
    .argument("<name>", "name of the server")
    .addHelpText("after", "\nExample:\n  skillgate mcp login linear")
    .run(async (session, name: string) => {
      const { config } = (await openServer(session, name)).server;
      if (config?.transport === "stdio")
        throw new UsageError(`Cannot log in to ${name}: it is a local process; set its keys with env`);
      const authorize = ({ url }: { readonly url: URL }): void => openLoginPage(url, name);
      const { status, error = status } = await startServer(session, name, { mcp: { authorize } });
      if (status === "connected") return { json: { name, status }, text: `${name} is connected` };
      const isSentence = error.includes("(SERVER_FAILED)");
      const message = isSentence ? error : sentence("SERVER_FAILED", `"${name}": ${error}`);
      throw new SkillgateError("SERVER_FAILED", message, { server: name, fix: FIX });
    });
}

const FIX = 'Try again, or configure a key of your own: -H "Authorization: Bearer ${TOKEN}"';
