import { isRecord, parseJson } from "../../../model/json.ts";

/** An event of `text/event-stream`. Data that is a JSON object or list is that value. */
export interface StreamEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: unknown;
}

/** Parses events (HTML, section 9.2.6). An event without its empty line at the end is left out, as browsers do. */
export function* parseEvents(text: string, parse: (json: string) => unknown): Generator<StreamEvent> {
  let fields: { event?: string; id?: string; data: string[] } = { data: [] };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === "") {
      const { data, ...rest } = fields;
      if (data.length > 0) yield { ...rest, data: parseData(data.join("\n"), parse) };
      fields = { data: [] };
      continue;
    }
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "data") fields.data.push(value);
    else if (name === "event" || name === "id") fields[name] = value;
  }
}

function parseData(data: string, parse: (json: string) => unknown): unknown {
  if (!/^\s*[[{]/.test(data)) return data;
  const value = parseJson(data);
  return isRecord(value) || Array.isArray(value) ? parse(data) : data;
}
