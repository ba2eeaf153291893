import { useState } from "preact/hooks";

import type { PolicyExplanation } from "../../../admin-messages.ts";
import type { MethodSummary } from "../../../messages.ts";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import { useResource } from "../../state/resource.ts";
import { DecisionBadge } from "./decision-badge.tsx";

/** Methods that the field offers while a person types. */
const MAX_OFFERED = 1_000;

interface ExplainProps {
  readonly query: URLSearchParams;
  readonly file: string;
}

const CALLER_FIELDS = [
  ["caller", "Caller", "owner, or the name of a key"],
  ["scopes", "Scopes", "mail:send, mail:read"],
  ["roles", "Roles", "support"],
] as const;

type CallerForm = Readonly<Record<(typeof CALLER_FIELDS)[number][0], string>>;

/**
 * Asks for the decision on a method and a caller; the address of the page has both. Scopes and roles replace those of the
 * caller.
 */
export function Explain({ query, file }: ExplainProps) {
  const [path, setPath] = useState(query.get("path") ?? "");
  const caller = readCaller(query);
  const [form, setForm] = useState(caller);
  const { data } = useResource<{ readonly methods: readonly MethodSummary[] }>("/methods", { reloadOn: ["catalog"] });
  const submit = (event: Event): void => {
    event.preventDefault();
    navigate(formatLink(["policy"], { path: path.trim(), ...form }));
  };
  const askedPath = query.get("path") ?? "";
  return (
    <Card title="Explain a decision">
      <form class="toolbar" onSubmit={submit}>
        <label class="field field-inline">
          <span>Method</span>
          <input
            type="text"
            required
            list="policy-methods"
            placeholder="MailSkill.send"
            autocomplete="off"
            spellcheck={false}
            value={path}
            onInput={({ currentTarget }) => setPath(currentTarget.value)}
          />
        </label>
        <datalist id="policy-methods">
          {data.value?.methods.slice(0, MAX_OFFERED).map((method) => (
            <option key={method.path} value={method.path} />
          ))}
        </datalist>
        {CALLER_FIELDS.map(([name, label, example]) => (
          <label key={name} class="field field-inline">
            <span>{label}</span>
            <input
              type="text"
              placeholder={example}
              autocomplete="off"
              spellcheck={false}
              value={form[name]}
              onInput={({ currentTarget }) => setForm({ ...form, [name]: currentTarget.value })}
            />
          </label>
        ))}
        <button type="submit" class="button button-primary toolbar-submit">
          Explain
        </button>
      </form>
      {askedPath !== "" && <Answer path={askedPath} caller={caller} file={file} />}
    </Card>
  );
}

function readCaller(query: URLSearchParams): CallerForm {
  const read = (name: keyof CallerForm): string => (query.get(name) ?? "").trim();
  return { caller: read("caller"), scopes: read("scopes"), roles: read("roles") };
}

interface AnswerProps {
  readonly path: string;
  readonly caller: CallerForm;
  readonly file: string;
}

function Answer({ path, caller, file }: AnswerProps) {
  const written = Object.entries(caller).filter(([, value]) => value !== "");
  const parameters = new URLSearchParams([["path", path], ...written]);
  const { data, error } = useResource<PolicyExplanation>(`/policy/explain?${parameters}`, { reloadOn: ["catalog"] });
  if (error.value !== undefined) return <ErrorNotice error={error.value} />;
  if (data.value === undefined) return <div aria-busy="true" />;
  const { decision, reasons, rows } = data.value;
  return (
    <div class="explanation" role="status">
      <p class="list-row">
        <DecisionBadge decision={decision} />
        <span>
          <code>
            <Text value={data.value.path} limit={200} />
          </code>{" "}
          for <Text value={data.value.caller} limit={100} />
        </span>
      </p>
      <ul class="reasons">
        {reasons.map((reason) => (
          <li key={reason}>
            <Text value={reason} limit={600} />
          </li>
        ))}
      </ul>
      {rows.length > 0 && (
        <ul class="reasons muted">
          {rows.map(({ key, line, why }) => (
            <li key={line}>
              <code>
                <Text value={key} limit={200} />
              </code>{" "}
              in {file}, line {line}, {why}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
