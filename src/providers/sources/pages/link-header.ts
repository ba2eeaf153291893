/** `<https://api.example.com/items?page=2>; rel="next"` (RFC 8288). */
const LINK = /<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+\s*(?:=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g;

/** Finds the target of a relation in a `Link` header. */
export function findLink(header: string, relation: string): string | undefined {
  for (const [, target, parameters = ""] of header.matchAll(LINK)) {
    const [, quoted, plain = ""] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]*))/i.exec(parameters) ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes(relation)) return target;
  }
  return undefined;
}
