/** The parts of a URL (URL standard, 4.1). */
export interface UrlRecord {
  scheme: string;
  username: string;
  password: string;
  /** Host in its final form; null if the URL has no `//`. */
  host: string | null;
  port: number | null;
  /** A list of segments, or the text of a path that is not one, as in `mailto:`. */
  path: string[] | string;
  query: string | null;
  fragment: string | null;
}

/** Special schemes of the URL standard, with their default ports. */
const PORTS: Readonly<Record<string, number | null>> = { http: 80, https: 443, ws: 80, wss: 443, ftp: 21, file: null };

export function isSpecial(scheme: string): boolean {
  return Object.hasOwn(PORTS, scheme);
}

export function defaultPort(scheme: string): number | null {
  return isSpecial(scheme) ? (PORTS[scheme] as number | null) : null;
}

export function writeUrl(url: UrlRecord): string {
  const { scheme, host, query, fragment } = url;
  const authority = host === null ? "" : `//${writeCredentials(url)}${writeHost(url)}`;
  // Without these two characters the path would be read as a host.
  const guard = host === null && typeof url.path !== "string" && url.path.length > 1 && url.path[0] === "" ? "/." : "";
  return `${scheme}:${authority}${guard}${writePath(url)}${query === null ? "" : `?${query}`}${fragment === null ? "" : `#${fragment}`}`;
}

export function writeHost({ host, port }: UrlRecord): string {
  return `${host ?? ""}${port === null ? "" : `:${port}`}`;
}

export function writePath({ path }: UrlRecord): string {
  return typeof path === "string" ? path : path.map((segment) => `/${segment}`).join("");
}

function writeCredentials({ username, password }: UrlRecord): string {
  if (username === "" && password === "") return "";
  return `${username}${password === "" ? "" : `:${password}`}@`;
}
