/** Lengths in UTF-16 units up to which a client hands texts of a server to its model. */
export interface ClientLimits {
  readonly instructions: number;
  readonly description: number;
}

/** The first part of every text is complete in itself up to this length, as clients may cut texts without a word. */
export const COMPLETE_UNITS = 2_048;

/** Clients by the name in their `clientInfo`. */
const CLIENT_LIMITS: ReadonlyMap<unknown, ClientLimits> = new Map([
  ["claude-code", { instructions: COMPLETE_UNITS, description: COMPLETE_UNITS }],
]);

/** Some clients do not show instructions, so the description of `run_code` has the most useful methods as well. */
const OTHER_CLIENTS: ClientLimits = { instructions: Number.MAX_SAFE_INTEGER, description: COMPLETE_UNITS };

/** The name of a client of each kind; every other name has the limits of one of them. */
export const CLIENT_NAMES: readonly string[] = ["", ...CLIENT_LIMITS.keys()].map(String);

export function getClientLimits(clientName: unknown): ClientLimits {
  return CLIENT_LIMITS.get(clientName) ?? OTHER_CLIENTS;
}
