import type { KnownServer } from "../../../providers/mcp/known-server.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { toVisibleLine } from "../../../shared/visible-text.ts";

const HEADING =
  "\n\n## Servers\nThe MCP servers of the user, as skills. search_skills finds their methods, also those that are not named here; describe_function shows how to call one.\n";

/** Maximum length of the description of a server. */
const DESCRIPTION_UNITS = 80;

/** A shorter piece of a description says nothing. */
const MIN_DESCRIPTION_UNITS = 12;

/** The marks around a description, and at the end of a list of methods. */
const MARKS_UNITS = 3;

/** The last line, about servers for which no space is left. */
const MORE_UNITS = 24;

/**
 * Lists the servers that are not connected yet, within a number of characters: first the names of all, then what each is
 * for, then methods of each in turn, in the order of the server. Empty without servers.
 */
export function formatServers(servers: readonly KnownServer[], units: number): string {
  let left = units - HEADING.length - MORE_UNITS;
  const take = (text: string): boolean => {
    if (text.length > left) return false;
    left -= text.length;
    return true;
  };
  const namedServers = servers.filter(({ skill }) => take(`${skill}\n`));
  const share = Math.min(DESCRIPTION_UNITS, Math.floor(left / namedServers.length) - MARKS_UNITS);
  const lines = namedServers.map((server) => ({ server, start: formatStart(server, share), methods: [] as string[] }));
  for (const { server, start } of lines) left -= start.length - server.skill.length + MARKS_UNITS;
  const most = Math.max(0, ...namedServers.map(({ methods }) => methods.length));
  for (let rank = 0; rank < most; rank++)
    for (const { server, methods } of lines) {
      const method = server.methods[rank];
      if (method !== undefined && take(`, ${method}`)) methods.push(method);
    }
  const more = servers.length - namedServers.length;
  if (namedServers.length === 0) return "";
  return `${HEADING}${[...lines.map(formatLine), ...(more === 0 ? [] : [`and ${more} more`])].join("\n")}`;
}

function formatStart({ skill, description }: KnownServer, units: number): string {
  const line = toVisibleLine(description);
  return line === "" || units < MIN_DESCRIPTION_UNITS ? skill : `${skill} (${truncateText(line, units)})`;
}

function formatLine({
  server,
  start,
  methods,
}: {
  readonly server: KnownServer;
  readonly start: string;
  readonly methods: readonly string[];
}): string {
  if (methods.length === 0) return start;
  return `${start}: ${methods.join(", ")}${methods.length < server.methods.length ? ", …" : ""}`;
}
