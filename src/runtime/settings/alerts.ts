import { type AlertSettings, parseSigningSecret } from "../../alerts/index.ts";
import { fillIn, RUNTIME_SECTION_SCHEMAS, type Variables } from "../../config/index.ts";
import { sentence } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import { findSettingMistakes, readSettings } from "../../shared/settings/check-settings.ts";

/** Values in the section `alerts`. */
interface AlertSection {
  readonly url?: string;
  readonly secret?: string;
  readonly private: boolean;
}

export interface ParsedAlerts {
  /** `undefined` without the section, and if it has a mistake. */
  readonly settings: AlertSettings | undefined;
  /** Values that no text may show. */
  readonly secrets: readonly string[];
  readonly problems: readonly Problem[];
}

/** Parses the section `alerts`. */
export function parseAlerts(section: unknown, { variables }: { readonly variables: Variables }): ParsedAlerts {
  const schema = RUNTIME_SECTION_SCHEMAS.alerts;
  const mistakes = findSettingMistakes(schema, section, ["alerts"]).map(({ error }) => error);
  if (mistakes.length > 0) return refuse(mistakes);
  const missing = new Set<string>();
  const written = readSettings<AlertSection>(schema, section);
  const [url, secret] = [written.url, written.secret].map((text) => text && fillIn(text, variables, missing));
  if (missing.size > 0) return refuse([...missing].map((name) => `alerts: ${name} is not set`));
  if (url === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return refuse(["alerts.url must be an http or https address"]);
  const { username, password } = new URL(url);
  if (`${username}${password}` !== "")
    return refuse(["alerts.url must have no user name and no password: alerts.secret signs the messages"]);
  if (written.secret === secret) return refuse(["alerts.secret must be a variable, as in secret: ${ALERT_SECRET}"]);
  const key = parseSigningSecret(secret ?? "");
  if (key === undefined)
    return refuse([
      'alerts.secret must be whsec_ and 24 to 64 bytes in base64; make one with: echo "whsec_$(openssl rand -base64 32)"',
    ]);
  const settings = { url: new URL(url), secret: key, isPrivate: written.private };
  return { settings, secrets: [secret ?? ""], problems: [] };
}

function refuse(errors: readonly string[]): ParsedAlerts {
  const problems = errors.map((error) => ({ source: "settings", error: sentence("CONFIG_INVALID", error) }));
  return { settings: undefined, secrets: [], problems };
}
