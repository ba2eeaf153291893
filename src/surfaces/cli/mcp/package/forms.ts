/** Kinds of packages by their `registryType`; `remote` stands for the remote servers. */
export const PACKAGE_KINDS = ["npm", "pypi", "oci", "nuget", "mcpb", "remote"] as const;
export type PackageKind = (typeof PACKAGE_KINDS)[number];

/** The form in which a package is given: a registry entry, or a bundle. */
export type PackageForm = "entry" | "bundle";

/** Tells by the end of a path or address whether it is a `server.json` or a bundle; `undefined` for a command or the address of a server. */
export function findPackageForm(text: string): PackageForm | undefined {
  const [path = ""] = /^https?:/i.test(text) ? text.split(/[?#]/) : [text];
  if (/\.(?:mcpb|dxt)$/i.test(path)) return "bundle";
  const isEntry = /(?:^|[\\/])(?:[\w.-]+\.)?server\.json$/i.test(path) || text.startsWith(REGISTRY);
  return isEntry ? "entry" : undefined;
}

const REGISTRY = "https://registry.modelcontextprotocol.io/";
