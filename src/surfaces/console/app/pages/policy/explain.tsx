import type { MethodSummary, PolicyExplanation } from "../../../messages.ts";
import { Card, StatusBadge, TextList } from "../../components/elements.tsx";
import { Field, Form } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";

/** Methods that the field offers while a person types. */
const MAX_OFFERED = 1_000;

interface ExplainProps {
  readonly query: URLSearchParams;
  readonly file: string;
}

const FIELDS = [
  ["path", "Method", "MailSkill.send"],
  ["caller", "Caller", "owner, or the name of a key"],
  ["scopes", "Scopes", "mail:send, mail:read"],
  ["roles", "Roles", "support"],
] as const;

/**
 * Asks for the decision on a method and a caller; the address of the page has both. Scopes and roles replace those of the
 * caller.
 */
export function Explain({ query, file }: ExplainProps) {
  const fields = FIELDS.map(([name]) => [name, (query.get(name) ?? "").trim()]).filter(([, value]) => value !== "");
  const parameters = new URLSearchParams(fields);
  return (
    <Card title="Explain a decision">
      <Form
        submit="Explain"
        class="row"
        version={parameters.toString()}
        onSubmit={(values) => navigate(formatLink(["policy"], values))}
      >
        {FIELDS.map(([name, label, placeholder]) => (
          <Field
            key={name}
            {...{ name, label, placeholder }}
            class="wide"
            required={name === "path"}
            value={parameters.get(name) ?? ""}
            {...(name === "path" && { list: "policy-methods" })}
          />
        ))}
        <Load<{ readonly methods: readonly MethodSummary[] }> path="/methods" reloadOn={["catalog"]} lines={0}>
          {({ methods }) => (
            <datalist id="policy-methods">
              {methods.slice(0, MAX_OFFERED).map(({ path }) => (
                <option key={path} value={path} />
              ))}
            </datalist>
          )}
        </Load>
      </Form>
      {parameters.has("path") && (
        <Load<PolicyExplanation> path={`/policy/explain?${parameters}`} reloadOn={["catalog"]} lines={1}>
          {(explanation) => <Explanation {...explanation} file={file} />}
        </Load>
      )}
    </Card>
  );
}

function Explanation({ path, caller, decision, reasons, rows, file }: PolicyExplanation & { readonly file: string }) {
  return (
    <div class="stack explanation" role="status">
      <p class="row">
        <StatusBadge label={decision} />
        <span>
          <Text in="code" value={path} limit={200} /> for <Text value={caller} limit={100} />
        </span>
      </p>
      <TextList class="reasons" texts={reasons} />
      <TextList
        class="reasons muted"
        texts={rows.map(({ key, line, why }) => `${key} in ${file}, line ${line}, ${why}`)}
      />
    </div>
  );
}
