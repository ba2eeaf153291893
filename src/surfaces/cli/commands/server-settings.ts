import { type HttpServerSettings, parseServerSettings } from "../../http/opening/index.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";

/** The flags of `skillgate serve` that replace settings. */
export interface HttpFlags extends Partial<Pick<HttpServerSettings, "port" | "host" | "expose" | "names">> {
  /** False for `--no-auth`. */
  readonly auth: boolean;
  /** False for `--no-console`. */
  readonly console: boolean;
}

/** Parses the section `server` of the settings, and replaces what the flags state. Throws `CONFIG_INVALID`. */
export function resolveServerSettings(section: unknown, flags: HttpFlags): HttpServerSettings {
  const { port, host, expose, names, auth, console: hasConsole } = flags;
  const off = (isOn: boolean): false | undefined => (isOn ? undefined : false);
  const defined = withoutGaps({ port, host, expose, names, auth: off(auth), console: off(hasConsole) });
  const { oauth, ...settings } = parseServerSettings(section);
  const merged = parseServerSettings({ ...settings, ...defined });
  return oauth !== undefined && merged.auth ? { ...merged, oauth } : merged;
}
