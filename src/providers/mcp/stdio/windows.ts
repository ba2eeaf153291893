import { extname, win32 } from "node:path";

/** A command as `spawn` wants it. */
export interface Spelling {
  readonly command: string;
  readonly args: readonly string[];
  /** The arguments are quoted already. */
  readonly isVerbatim: boolean;
}

/** What Windows is asked about: variables by any case of their names, and which files there are. */
export interface WindowsPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly exists: (file: string) => boolean;
}

/**
 * A command as Windows wants it. It looks for programs by their endings, and a script such as `npx.cmd` can only be started
 * by the command interpreter, which has rules of its own for quoting.
 */
export function windowsSpelling(command: string, args: readonly string[], place: WindowsPlace): Spelling {
  const file = findProgram(command, place);
  if (file === undefined || !/\.(?:cmd|bat)$/i.test(file)) return { command: file ?? command, args, isVerbatim: false };
  // What a script passes on is read by the interpreter a second time.
  const line = [escaped(win32.normalize(file)), ...args.map((arg) => escaped(escaped(quoted(arg))))].join(" ");
  return { command: variable(place, "ComSpec") ?? "cmd.exe", args: ["/d", "/s", "/c", `"${line}"`], isVerbatim: true };
}

function findProgram(command: string, place: WindowsPlace): string | undefined {
  const endings = (variable(place, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";");
  const candidates = extname(command) === "" ? endings.map((ending) => command + ending) : [command];
  const isPath = /[\\/]/.test(command);
  const folders = isPath ? [place.cwd] : (variable(place, "PATH") ?? "").split(";").filter((folder) => folder !== "");
  const files = folders.flatMap((folder) => candidates.map((candidate) => win32.resolve(folder, candidate)));
  return files.find(place.exists);
}

function variable({ env }: WindowsPlace, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name.toUpperCase())?.[1];
}

/** As programs read their arguments: backslashes before a quote are doubled. */
function quoted(arg: string): string {
  return `"${arg.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\*)$/, "$1$1")}"`;
}

/** As the interpreter reads a line: what means something to it stands behind a caret. */
function escaped(text: string): string {
  return text.replaceAll(/[()[\]%!^"`<>&|;, *?]/g, "^$&");
}
