import { useSignal } from "@preact/signals";

import type { PolicyRowSummary, PolicySummary, PolicyTestSummary } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Card, EmptyState, StatusBadge, TextList } from "../../components/elements.tsx";
import { Field, Form } from "../../components/form.tsx";
import { PatternField } from "../../components/pattern-field.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text } from "../../components/text.tsx";
import type { PageProps } from "../index.ts";
import { Explain } from "./explain.tsx";

/** The rules that are in force, where they stand, and why they decide as they do. Files change them; this page does not. */
export function PolicyPage({ query }: PageProps) {
  return (
    <Load<PolicySummary> path="/policy" reloadOn={["catalog"]}>
      {(policy) => (
        <>
          <Introduction policy={policy} />
          <Explain query={query} file={policy.file} />
          <Rules policy={policy} />
          <TestTable />
        </>
      )}
    </Load>
  );
}

function Introduction({
  policy: { file, problems, asksDestructive, onlyTightens },
}: {
  readonly policy: PolicySummary;
}) {
  return (
    <>
      <p class="muted">
        {asksDestructive ? "Destructive calls ask first, unless a row decides. " : ""}
        {onlyTightens ? "The project is not trusted, so its policy can only tighten. " : ""}
        The rules are in <code>{file}</code>; a change is in force as soon as the file is saved.
      </p>
      {problems.length > 0 && (
        <div class="notice notice-error" role="alert">
          <p class="notice-title">The files have mistakes. The policy before the change stays in force.</p>
          <TextList texts={problems} />
        </div>
      )}
    </>
  );
}

function Rules({ policy: { file, rows, flows, roles } }: { readonly policy: PolicySummary }) {
  return (
    <>
      <Card title={countNoun(rows.length, "row")}>
        {rows.length === 0 && (
          <EmptyState icon="policy" title="No rows">
            The metadata of each method decides. To write rows, run <code>skillgate policy init</code>.
          </EmptyState>
        )}
        <ul class="list">
          {rows.map((row) => (
            <Row key={row.line} row={row} file={file} />
          ))}
        </ul>
      </Card>
      <Card title="Try the key of a row">
        <PatternField
          name="key"
          label="Key of a row"
          kind="row"
          placeholder="MailSkill.*"
          note="Which methods a row with this key would match. Nothing is written."
        />
      </Card>
      {flows.length > 0 && (
        <Card title="Flows">
          <ul class="list">
            {flows.map(({ from, to, decision }) => (
              <li key={`${from} ${to}`} class="list-row">
                <span class="list-main">
                  Results of <Text value={from} limit={200} /> in calls of <Text value={to} limit={200} />
                </span>
                <StatusBadge label={decision} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {roles.length > 0 && (
        <Card title="Roles">
          <ul class="list">
            {roles.map(({ name, scopes }) => (
              <li key={name} class="list-row">
                <Text in="span" class="list-main" value={name} limit={100} />
                <Text in="code" value={scopes.join(" ")} limit={300} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function Row({ row: { key, line, fields, methods }, file }: { readonly row: PolicyRowSummary; readonly file: string }) {
  const { decision, ...others } = fields;
  return (
    <li class="list-row">
      <span class="list-main">
        <Text in="code" value={key} limit={200} />
        {Object.entries(others).map(([name, value]) => (
          <Text key={name} in="span" class="muted" value={`${name}: ${JSON.stringify(value)}`} limit={200} />
        ))}
        <span class="muted">{countNoun(methods, "method")}</span>
      </span>
      <span class="muted" title={`${file}, line ${line}`}>
        line {line}
      </span>
      {typeof decision === "string" && <StatusBadge label={decision} />}
    </li>
  );
}

const EXAMPLE = `tests:
  - { path: MailSkill.send, caller: { scopes: [mail:send] }, decision: ask }
`;

/** Compares a table of expected decisions with the policy. */
function TestTable() {
  const summary = useSignal<PolicyTestSummary | undefined>(undefined);
  const test = async ({ text }: Readonly<Record<string, string>>): Promise<void> => {
    summary.value = undefined;
    summary.value = await request<PolicyTestSummary>("/policy/test", { method: "POST", body: { text } });
  };
  return (
    <Card title="Test a table of decisions">
      <Form submit="Test" onSubmit={test}>
        <Field
          name="text"
          label="Table"
          isLabelHidden
          rows={5}
          value={EXAMPLE}
          note="The form of policies/tests.yaml. A method that does not exist has default metadata. The text is not stored."
        />
      </Form>
      {summary.value !== undefined && <Results {...summary.value} />}
    </Card>
  );
}

function Results({ results }: PolicyTestSummary) {
  return (
    <div class="stack explanation" role="status">
      <p>
        {results.filter(({ passed }) => passed).length} of {results.length} decisions as expected
      </p>
      <ul class="list">
        {results.map(({ line, path, caller, expected, decision, reasons, passed }) => (
          <li key={line} class="list-row">
            <StatusBadge tone={passed ? "ok" : "bad"} label={passed ? "as expected" : `not ${expected}`} />
            <span class="list-main">
              <Text in="code" value={path} limit={200} />
              <Text in="span" class="muted" value={`${caller}, line ${line}. ${reasons.join(". ")}`} limit={400} />
            </span>
            <StatusBadge label={decision} />
          </li>
        ))}
      </ul>
    </div>
  );
}
