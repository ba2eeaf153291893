import { extname, win32 } from "node:path";

/** A command in the form that `spawn` requires. */
export interface Spelling {
  readonly command: string;
  readonly args: readonly string[];
  /** The arguments are already quoted. */
  readonly isVerbatim: boolean;
}

/** The environment in which a command is resolved: variables, and the existing files. */
export interface WindowsEnvironment {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly exists: (file: string) => boolean;
}

/**
 * Returns a command in the form that Windows requires. Programs are found by their extensions, and a script such as
 * `npx.cmd` can only be started by the command interpreter, which has quoting rules of its own.
 */
export function windowsSpelling(command: string, args: readonly string[], environment: WindowsEnvironment): Spelling {
  const file = findProgram(command, environment);
  if (file === undefined || !/\.(?:cmd|bat)$/i.test(file)) return { command: file ?? command, args, isVerbatim: false };
  // The interpreter parses the arguments of a script a second time.
  const line = [escaped(win32.normalize(file)), ...args.map((arg) => escaped(escaped(quoted(arg))))].join(" ");
  return {
    command: variable(environment, "ComSpec") ?? "cmd.exe",
    args: ["/d", "/s", "/c", `"${line}"`],
    isVerbatim: true,
  };
}

function findProgram(command: string, environment: WindowsEnvironment): string | undefined {
  const endings = (variable(environment, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";");
  const candidates = extname(command) === "" ? endings.map((ending) => command + ending) : [command];
  const isPath = /[\\/]/.test(command);
  const folders = isPath
    ? [environment.cwd]
    : (variable(environment, "PATH") ?? "").split(";").filter((folder) => folder !== "");
  const files = folders.flatMap((folder) => candidates.map((candidate) => win32.resolve(folder, candidate)));
  return files.find(environment.exists);
}

function variable({ env }: WindowsEnvironment, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name.toUpperCase())?.[1];
}

/** Quotes an argument as programs parse it: backslashes before a quote are doubled. */
function quoted(arg: string): string {
  return `"${arg.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\*)$/, "$1$1")}"`;
}

/** Escapes the special characters of the interpreter with a caret. */
function escaped(text: string): string {
  return text.replaceAll(/[()[\]%!^"`<>&|;, *?]/g, "^$&");
}
