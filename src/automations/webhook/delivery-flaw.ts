/** The headers of a request, by their names in lower case. Several headers of one name are a list. */
export type DeliveryHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Why a delivery is refused. `unverified`: it does not prove who sent it, so its sender learns no reason. `unreadable`: its body
 * cannot be used.
 */
export class DeliveryFlaw extends Error {
  readonly kind: "unverified" | "unreadable";

  constructor(kind: "unverified" | "unreadable", why: string) {
    super(why);
    this.kind = kind;
  }
}

/** More than services send. The signatures of a header are at most 16, of 128 digits each. */
const MAX_HEADER_UNITS = 4_096;

/** Returns a header; `undefined` if it is absent or empty. Throws for one that the request has twice, or that is too long. */
export function findHeader(headers: DeliveryHeaders, name: string): string | undefined {
  const values = Object.hasOwn(headers, name) ? [headers[name] ?? []].flat() : [];
  if (values.length > 1) throw new DeliveryFlaw("unverified", `the header ${name} is there ${values.length} times`);
  const value = values[0]?.trim() ?? "";
  if (value.length > MAX_HEADER_UNITS)
    throw new DeliveryFlaw("unverified", `the header ${name} has more than ${MAX_HEADER_UNITS} characters`);
  return value === "" ? undefined : value;
}

/** As `findHeader`; throws for an absent one. */
export function requireHeader(headers: DeliveryHeaders, name: string): string {
  const value = findHeader(headers, name);
  if (value === undefined)
    throw new DeliveryFlaw("unverified", `the header ${name} is absent: is the secret set at the service?`);
  return value;
}
