import type { ServerConfig } from "../../providers/mcp/index.ts";
import { maskWords } from "../shown.ts";

/** A well-formed part of an entry that is probably a mistake. */
interface LintFinding {
  readonly key: string;
  readonly error: string;
  readonly fix: string;
}

/** Several clients have time limits in milliseconds. */
const MAX_USUAL_SECONDS = 3_600;

/** Finds a mistake in a valid entry that would otherwise be noticed only later. */
export function lintServerEntry(
  server: string,
  { declared: entry, timeoutMs }: Pick<ServerConfig, "declared" | "timeoutMs">,
): LintFinding | undefined {
  const says = (key: string, what: string, fix: string): LintFinding => ({
    key,
    error: `MCP server '${server}': ${what}`,
    fix,
  });
  const { command, args, timeout } = entry;
  const isInSeconds = typeof timeout === "number" && timeoutMs === Math.ceil(timeout * 1000);
  if (isInSeconds && timeout > MAX_USUAL_SECONDS)
    return says(
      "timeout",
      `timeout is in seconds; ${timeout} s are more than an hour`,
      `write "timeout": ${timeout / 1000} if ${timeout} milliseconds are meant`,
    );
  if (typeof command !== "string" || (Array.isArray(args) && args.length > 0)) return undefined;
  const [program = "", ...rest] = command.trim().split(/\s+/);
  // The path of a program may contain spaces.
  if (rest.length === 0 || /[\\/$]/.test(program)) return undefined;
  const written = `write "command": ${JSON.stringify(program)}, "args": [${maskWords(rest)
    .map((word) => JSON.stringify(word))
    .join(", ")}]`;
  return says("command", "command must be the name of one program; its arguments belong in args", written);
}
