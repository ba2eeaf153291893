import { join } from "node:path";

/** The folder of a user's logins to MCP servers and of the servers' offers; `undefined` for a user without a home. */
export function getUserStateDir(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_STATE_HOME: state, LOCALAPPDATA: local, HOME: home } = env;
  if (state) return join(state, "skillgate");
  if (process.platform === "win32") return local ? join(local, "skillgate") : undefined;
  return home ? join(home, ".local", "state", "skillgate") : undefined;
}
