import { type Choice, Field, Form, type FormValues } from "../../components/form.tsx";
import { formatLink, navigate } from "../../router.ts";

const DECISIONS: readonly Choice[] = [
  ["", "all"],
  ["allowed", "allowed"],
  ["refused", "refused"],
];

/** The filter of the records. The address of the page has it, so that it can be shared. */
export function AuditFilterForm({ query }: { readonly query: URLSearchParams }) {
  const { caller, method, decision, since, until } = Object.fromEntries(query);
  const select = ({ since: from = "", until: to = "", ...texts }: FormValues): void =>
    navigate(formatLink(["audit"], { ...texts, since: toMilliseconds(from), until: toMilliseconds(to) }));
  return (
    <Form submit="Filter" class="filter" version={query.toString()} onSubmit={select}>
      <Field name="caller" label="Caller" placeholder="owner" value={caller} />
      <Field name="method" label="Method or skill" placeholder="MailSkill" value={method} />
      <Field name="decision" label="Decision" choices={DECISIONS} value={decision} />
      <Field name="since" label="From" type="datetime-local" value={toLocalTime(since)} />
      <Field name="until" label="Until" type="datetime-local" value={toLocalTime(until)} />
    </Form>
  );
}

/** The form of the browser's field for times, in the zone of the reader. */
function toLocalTime(milliseconds: string | undefined): string {
  const date = new Date(Number(milliseconds));
  if (Number.isNaN(date.getTime())) return "";
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

function toMilliseconds(local: string): string {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? "" : String(time);
}
