import { quoted } from "./declarations/text.ts";

/**
 * Reads from the description of a text what decides how it is written: the form of a date, the values, the syntax of a query, the
 * folder that a path is relative to. A form is returned whole or not at all.
 */

/** Maximum length of what is returned. */
const MAX_UNITS = 60;

/** Maximum fields of a query. */
const MAX_FIELDS = 8;

/** Finds the form of dates and times that a description names: `YYYY-MM-DDTHH:MM`, or several, joined by `|`. */
export function findDateForm(description: string): string | undefined {
  const forms = new Set<string>();
  for (const [word] of description.matchAll(WORDS)) {
    const form = word.replace(/[.,:;]+$/, "");
    if (DATE_FORM.test(form)) forms.add(form);
  }
  const all = [...forms].join("|");
  return all === "" || all.length > MAX_UNITS ? undefined : all;
}

/** Words with a year or an hour, and the time after a date. Quotes and brackets end a word. */
const WORDS =
  /(?<![\w:/.+-])(?:[Yy]{4}|[Mm]{2}|[Dd]{2}|[Hh]{2})[\w:/.+±-]{1,40}(?: [Hh]{2}:[Mm]{2}(?::[Ss]{2})?)?(?![\w±])/g;
const DATE_FORM =
  /^(?=.*(?:[Yy]{4}|[Hh]{2}:))(?:[Yy]{4}|[Mm]{2}|[Dd]{2}|[Hh]{2}|[Ss]{3}(?![Ss])|[Ss]{2}(?![Ss])|[Tt](?=[Hh])|[Zz]|[-/.:+± ])+$/;

/** Finds the values that a description lists in quotes, as a union: `one of 'open', 'closed'`. */
export function findListedValues(description: string): string | undefined {
  const found = LIST.exec(description);
  const [, list = "", rest = ""] = found ?? [];
  const clause =
    description
      .slice(0, found?.index)
      .split(/[.;\n]/)
      .at(-1) ?? "";
  if (CONDITIONAL.test(clause)) return undefined;
  const values = [...new Set([...list.matchAll(QUOTED)].map(([, , value = ""]) => quoted(value)))];
  if (values.length < 2) return undefined;
  const all = [...values, ...(/^,? ?(?:etc|\.\.\.|…)/.test(rest) ? ["…"] : [])].join("|");
  return all.length > MAX_UNITS ? undefined : all;
}

/** A list of values in quotes, and the next characters. Examples are no list of all values. */
const LIST =
  /\b(?:one of|(?<!\()either|(?:can|must|should) be(?: one of| either)?|values?(?: are| is)?|options?(?: are| is)?)\b[: (]{1,3}((?:["'`][^"'`\n]{1,30}["'`][, ]{0,2}(?:or |and )?){2,20})(.{0,6})/i;
const CONDITIONAL = /\b(?:if|when|for|unless)\b/i;
const QUOTED = /(["'`])([^"'`\n]{1,30})\1/g;

/** Finds the fields of a query that a description names: `from:`, `subject:`. */
export function findQueryFields(description: string): string | undefined {
  const fields = [...new Set([...description.matchAll(FIELD)].map(([field]) => field))];
  if (fields.length < 2) return undefined;
  const names = fields.slice(0, MAX_FIELDS).join(" ");
  return names.length > MAX_UNITS ? undefined : `${names}${fields.length > MAX_FIELDS ? " …" : ""}`;
}

/** A name directly before a colon, which a value, a quote, a comma or the end follows; not the end of a clause. */
const FIELD = /(?<![\w:/.-])[a-z][a-z_]{1,14}:(?=[,)"'`<\]}]|[a-z0-9]|$)(?!\/)/g;

/** Finds what a path is relative to, unless that is the working directory: `relative to the project root`. */
export function findPathBase(description: string): string | undefined {
  const [base] = /\brelative to [^.,;:()\n]{3,40}(?=[.,;:()\n]|$)/i.exec(description) ?? [];
  if (base !== undefined) return /working directory/i.test(base) ? undefined : base.trim();
  return /\b(absolute) (?:file )?path/i.exec(description)?.[1]?.toLowerCase();
}

/** Finds by which of its names a thing is asked for, if its own name does not say it: `key or name` for `project`. */
export function findIdentifier(name: string, description: string): string | undefined {
  const [, thing = "", first = "", second] = IDENTIFIER.exec(description.slice(0, MAX_UNITS)) ?? [];
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]/g, " ")
    .toLowerCase();
  if (!words.endsWith(thing.toLowerCase()) || thing === "") return undefined;
  if (second === undefined && first.toLowerCase() === "name") return undefined; // any text is a name
  return [first, second].flatMap((word) => word?.toLowerCase() ?? []).join(" or ");
}

/** The beginning of a description: `The project's key or name`. */
const IDENTIFIER =
  /^(?:the |an? |unique )?([a-z]+)(?:'s)? (id|key|slug|name|code|handle)(?: or (id|key|slug|name|code|handle))?\b/i;
