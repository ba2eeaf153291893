import { useSignal } from "@preact/signals";

import type { PolicyTestSummary } from "../../../admin-messages.ts";
import type { ProblemDetails } from "../../../messages.ts";
import { request, toProblem } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Text } from "../../components/text.tsx";
import { DecisionBadge } from "./decision-badge.tsx";

const EXAMPLE = `tests:
  - { path: MailSkill.send, caller: { scopes: [mail:send] }, decision: ask }
`;

/** Compares a table of expected decisions with the policy. */
export function TestTable() {
  const text = useSignal(EXAMPLE);
  const summary = useSignal<PolicyTestSummary | undefined>(undefined);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      summary.value = await request<PolicyTestSummary>("/policy/test", { method: "POST", body: { text: text.value } });
      error.value = undefined;
    } catch (thrown) {
      error.value = toProblem(thrown);
    }
  };
  return (
    <Card title="Test a table of decisions">
      <form class="form" onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span class="visually-hidden">Table</span>
          <textarea
            rows={5}
            spellcheck={false}
            value={text.value}
            onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          />
          <small class="field-note">
            The form of policies/tests.yaml. A method that does not exist has default metadata. The text is not stored.
          </small>
        </label>
        <div>
          <button type="submit" class="button">
            Test
          </button>
        </div>
      </form>
      {error.value !== undefined && <ErrorNotice error={error.value} />}
      {summary.value !== undefined && error.value === undefined && <Results {...summary.value} />}
    </Card>
  );
}

function Results({ results }: PolicyTestSummary) {
  const passed = results.filter((result) => result.passed).length;
  return (
    <div class="explanation" role="status">
      <p>
        {passed} of {results.length} decisions as expected
      </p>
      <ul class="list">
        {results.map(({ line, path, caller, expected, decision, reasons, passed: isExpected }) => (
          <li key={line} class="list-row">
            <StatusBadge tone={isExpected ? "ok" : "bad"} label={isExpected ? "as expected" : `not ${expected}`} />
            <span class="list-main">
              <code>
                <Text value={path} limit={200} />
              </code>
              <span class="muted">
                <Text value={`${caller}, line ${line}. ${reasons.join(". ")}`} limit={400} />
              </span>
            </span>
            <DecisionBadge decision={decision} />
          </li>
        ))}
      </ul>
    </div>
  );
}
