/** The variables of a process; only harmless ones are passed on to children. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Variables that a program needs to start and to find its files; none of them is a secret. */
const PASSED_ON: ReadonlySet<string> = new Set(
  (process.platform === "win32"
    ? "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES " +
      "PROGRAMFILES(X86) PROGRAMW6432 SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR"
    : "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER"
  ).split(" "),
);

/** Returns the environment of a child process: the harmless part of ours, and the declared variables. */
export function childEnvironment(
  ours: ProcessEnvironment,
  declared: Readonly<Record<string, string>>,
): Record<string, string> {
  const passedOn = Object.entries(ours).filter(
    // A value that begins with `()` is an exported shell function: code, not data.
    ([name, value]) => PASSED_ON.has(name.toUpperCase()) && value !== undefined && !value.startsWith("()"),
  );
  return { ...(Object.fromEntries(passedOn) as Record<string, string>), ...declared };
}

/** Leaves out the secrets of Skillgate itself: the token of its server, and the keys that encrypt the credentials of accounts. */
export function withoutOwnSecrets<Value>(environment: Readonly<Record<string, Value>>): Record<string, Value> {
  const { SKILLGATE_TOKEN: _token, SKILLGATE_ACCOUNT_KEY: _key, ...rest } = environment;
  return rest;
}
