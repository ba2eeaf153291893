import { useEffect, useState } from "preact/hooks";

import { formatLink, navigate } from "../../router.ts";

const TEXTS = [
  ["caller", "Caller", "owner"],
  ["method", "Method or skill", "MailSkill"],
] as const;

const TIMES = [
  ["since", "From"],
  ["until", "Until"],
] as const;

type FilterForm = Readonly<Record<(typeof TEXTS)[number][0] | (typeof TIMES)[number][0] | "decision", string>>;

/** The filter of the records. The address of the page has it, so that it can be shared. */
export function AuditFilterForm({ query }: { readonly query: URLSearchParams }) {
  const [form, setForm] = useState(() => readForm(query));
  const parameters = query.toString();
  useEffect(() => setForm(readForm(query)), [parameters]);
  const change = (name: keyof FilterForm, value: string): void => setForm({ ...form, [name]: value });
  const submit = (event: Event): void => {
    event.preventDefault();
    navigate(formatLink(["audit"], toParameters(form)));
  };
  return (
    <form class="toolbar filter" onSubmit={submit}>
      {TEXTS.map(([name, label, example]) => (
        <label key={name} class="field">
          <span>{label}</span>
          <input
            type="text"
            spellcheck={false}
            autocomplete="off"
            placeholder={example}
            value={form[name]}
            onInput={({ currentTarget }) => change(name, currentTarget.value)}
          />
        </label>
      ))}
      <label class="field">
        <span>Decision</span>
        <select value={form.decision} onChange={({ currentTarget }) => change("decision", currentTarget.value)}>
          <option value="">all</option>
          <option value="allowed">allowed</option>
          <option value="refused">refused</option>
        </select>
      </label>
      {TIMES.map(([name, label]) => (
        <label key={name} class="field">
          <span>{label}</span>
          <input
            type="datetime-local"
            value={form[name]}
            onInput={({ currentTarget }) => change(name, currentTarget.value)}
          />
        </label>
      ))}
      <button type="submit" class="button button-primary">
        Filter
      </button>
    </form>
  );
}

function readForm(query: URLSearchParams): FilterForm {
  return {
    caller: query.get("caller") ?? "",
    method: query.get("method") ?? "",
    decision: query.get("decision") ?? "",
    since: toLocalTime(query.get("since")),
    until: toLocalTime(query.get("until")),
  };
}

function toParameters({ since, until, ...texts }: FilterForm): Readonly<Record<string, string>> {
  return { ...texts, since: toMilliseconds(since), until: toMilliseconds(until) };
}

/** The form of the browser's field for times, in the zone of the reader. */
function toLocalTime(text: string | null): string {
  const date = new Date(Number(text ?? Number.NaN));
  if (Number.isNaN(date.getTime())) return "";
  const pad = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

function toMilliseconds(local: string): string {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? "" : String(time);
}
