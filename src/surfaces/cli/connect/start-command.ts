import { delimiter, join } from "node:path";

/** A command line as an entry of a client has it. */
export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** True for `npx`, which needs a `PATH` with Node. */
  readonly needsPath: boolean;
}

/** Facts about this installation. */
export interface Installation {
  /** The file of the command. */
  readonly bin: string;
  readonly version: string;
  /** The running Node. */
  readonly execPath: string;
  readonly path: string;
  readonly isWindows: boolean;
  /** Returns the file behind links; `undefined` if the path does not exist. */
  readonly findRealPath: (path: string) => string | undefined;
}

/**
 * Returns the command that starts this installation wherever a client runs it. The cache of npx may be emptied at any time, so
 * such an installation is started through npx, in the same version. On Windows, npx is a script that only a shell starts.
 */
export function getStartCommand(installation: Installation): StartCommand {
  const { bin, version, isWindows } = installation;
  if (!/[\\/]_npx[\\/]/.test(bin)) return { command: findNode(installation), args: [bin], needsPath: false };
  const args = ["-y", `skillgate@${version}`];
  if (isWindows) return { command: "cmd", args: ["/c", "npx", ...args], needsPath: true };
  return { command: "npx", args, needsPath: true };
}

/** Returns the path of Node by which a shell finds it: unlike its real path, it stays the same when Node is updated. */
function findNode({ execPath, path, isWindows, findRealPath }: Installation): string {
  const name = isWindows ? "node.exe" : "node";
  const separator = isWindows ? ";" : delimiter;
  const real = findRealPath(execPath);
  const candidates = path
    .split(separator)
    .filter(isAbsolutePath)
    .map((folder) => join(folder, name));
  return candidates.find((file) => real !== undefined && findRealPath(file) === real) ?? execPath;
}

function isAbsolutePath(folder: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(folder);
}
