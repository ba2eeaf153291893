import {
  COLLATION_OPTIONS,
  DATE_OPTIONS,
  type FormatAnswer,
  type FormatRequest,
  LOCALE,
  MAX_REQUEST_BYTES,
  NUMBER_OPTIONS,
  type OptionValues,
} from "../guest/web/locale-options.ts";

/** Maximum formats that are kept for the next values: creating one takes longer than using it. */
const MAX_FORMATS = 32;
const MAX_MESSAGE = 300;

type LocaleFormat = Intl.DateTimeFormat | Intl.NumberFormat | Intl.Collator;

/** The options of each kind of request. */
const OPTIONS = { date: DATE_OPTIONS, number: NUMBER_OPTIONS, collation: COLLATION_OPTIONS } as const;

/** Formats dates and numbers and compares texts for guests, whose engine has no tables. The zone is UTC unless the guest names one. */
export class LocaleFormats {
  readonly #formats = new Map<string, LocaleFormat>();

  /** Answers a request with JSON. Nothing of the request is trusted. */
  answer(json: string | undefined): string {
    return JSON.stringify(this.#answer(json));
  }

  /** Forgets the formats, so that a run does not notice those of an earlier one. */
  clear(): void {
    this.#formats.clear();
  }

  #answer(json: string | undefined): FormatAnswer {
    const request = parseRequest(json);
    if (request === undefined) return { name: "RangeError", message: "Cannot format with options that are this long" };
    const problem = findProblem(request);
    if (problem !== undefined) return { name: "RangeError", message: `Cannot format ${problem}` };
    try {
      return { text: formatValue(this.#getFormat(request), request) };
    } catch (error) {
      const { timeZone } = request.options;
      if (typeof timeZone === "string" && error instanceof RangeError && error.message.includes(timeZone))
        return {
          name: "RangeError",
          message: `Cannot format in the time zone "${timeZone}": write UTC, or a name such as Europe/Berlin`,
        };
      // A message of V8 about the values of the guest.
      const { name, message } = error instanceof Error ? error : new RangeError("Cannot format this value");
      return { name, message: message.slice(0, MAX_MESSAGE) };
    }
  }

  #getFormat({ of, locale, options }: FormatRequest): LocaleFormat {
    const key = JSON.stringify([of, locale, options]);
    const cached = this.#formats.get(key);
    if (cached !== undefined) return cached;
    const created = createFormat(of, locale, options);
    const [oldest] = this.#formats.keys();
    if (this.#formats.size >= MAX_FORMATS && oldest !== undefined) this.#formats.delete(oldest);
    this.#formats.set(key, created);
    return created;
  }
}

function createFormat(of: FormatRequest["of"], locale: string, options: FormatRequest["options"]): LocaleFormat {
  if (of === "date") return new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
  // A language that Node does not have is compared as English: the default of Node is that of the machine.
  if (of === "collation") return new Intl.Collator([locale, "en-US"], options);
  return new Intl.NumberFormat(locale, options);
}

function formatValue(format: LocaleFormat, { to, value }: FormatRequest): string {
  if (to === "resolve") return JSON.stringify(format.resolvedOptions());
  if (format instanceof Intl.Collator) {
    const start = value.indexOf(" ") + 1;
    const end = start + Number.parseInt(value, 10);
    return String(format.compare(value.slice(start, end), value.slice(end)));
  }
  if (format instanceof Intl.DateTimeFormat) {
    const time = Number(value);
    return to === "text" ? format.format(time) : JSON.stringify(format.formatToParts(time));
  }
  const number = value.endsWith("n") ? BigInt(value.slice(0, -1)) : Number(value);
  return to === "text" ? format.format(number) : JSON.stringify(format.formatToParts(number));
}

function parseRequest(json: string | undefined): FormatRequest | undefined {
  if (json === undefined || json.length > MAX_REQUEST_BYTES) return undefined;
  try {
    const request = JSON.parse(json) as Partial<FormatRequest> | null;
    const { of, locale, options, to, value } = request ?? {};
    if (of !== "date" && of !== "number" && of !== "collation") return undefined;
    if (to !== "text" && to !== "parts" && to !== "resolve") return undefined;
    if (typeof locale !== "string" || typeof value !== "string") return undefined;
    if (typeof options !== "object" || options === null || Array.isArray(options)) return undefined;
    return { of, locale, options, to, value };
  } catch {
    return undefined;
  }
}

/** Says what of a request is not allowed. */
function findProblem({ of, locale, options }: FormatRequest): string | undefined {
  if (of !== "collation" && !LOCALE.test(locale))
    return `for the locale ${JSON.stringify(locale.slice(0, 40))}: only English is here, as en, en-US or en-GB; build the text yourself`;
  const names: Readonly<Record<string, OptionValues>> = OPTIONS[of];
  for (const [name, value] of Object.entries(options)) {
    const values = Object.hasOwn(names, name) ? names[name] : undefined;
    if (values === undefined) return `with the option ${JSON.stringify(name.slice(0, 40))}`;
    if (!isAllowed(value, values))
      return `with ${name} ${JSON.stringify(value).slice(0, 80)}: write ${formatValues(values)}`;
  }
  return undefined;
}

function isAllowed(value: unknown, values: OptionValues): boolean {
  if (values === "boolean") return typeof value === "boolean";
  if (values instanceof RegExp) return typeof value === "string" && values.test(value);
  const [least, most] = values;
  if (typeof least === "number") return typeof value === "number" && value >= least && value <= Number(most);
  return (values as readonly unknown[]).includes(value);
}

function formatList(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function formatValues(values: OptionValues): string {
  if (values === "boolean") return "true or false";
  if (values instanceof RegExp) return "a name of the standard";
  const [least, most] = values;
  return typeof least === "number" ? `a number from ${least} to ${most}` : formatList(values.map(String));
}
