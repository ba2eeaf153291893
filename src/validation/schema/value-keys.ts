import { isRecord } from "../../model/json.ts";

/** Writes a value so that values which JSON Schema counts as equal have one text: members in any order, `1.0` as `1`. */
export function writeKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeKey).join(",")}]`;
  if (!isRecord(value)) return typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "undefined");
  const members = Object.keys(value).toSorted();
  return `{${members.map((name) => `${JSON.stringify(name)}:${writeKey(value[name])}`).join(",")}}`;
}
