import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { basename, join } from "node:path";

/** Returns the folder for state of a project between commands; it is outside of the project, which may be shared. */
export function getProjectStateDir(
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const { XDG_STATE_HOME: state = "", HOME: home = homedir() } = env;
  const project = `${basename(cwd)}-${createHash("sha256").update(cwd).digest("hex").slice(0, 8)}`;
  return join(state === "" ? join(home, ".local", "state") : state, "skillgate", project);
}
