import { useRef } from "preact/hooks";

import type { MethodDetail, SessionInfo } from "../../../messages.ts";
import { Button, Card } from "../../components/elements.tsx";
import { Form, type FormValues } from "../../components/form.tsx";
import { useProgramRun } from "../../components/outcome/program-run.ts";
import { RunView } from "../../components/outcome/run-view.tsx";
import { formatLink, navigate } from "../../router.ts";
import { Kind } from "./kind.tsx";
import { ArgumentFields, listArguments, readArguments } from "./argument-fields.tsx";

interface TryMethodProps {
  readonly method: MethodDetail;
  readonly info: SessionInfo;
}

/** A form for the arguments of a method. It runs a program of one call, so a call has the rights and questions of any other. */
export function TryMethod({ method, info }: TryMethodProps) {
  const fields = useRef(listArguments(method)).current;
  const { run, start, stop } = useProgramRun();
  const isRunning = run.value?.state === "running";
  const format = (values: FormValues): string => formatCall(method, readArguments(fields, values));
  const open = (values: FormValues): void => navigate(formatLink(["playground"], { program: format(values) }));
  return (
    <div class="columns">
      <Card title={method.path} actions={<Kind method={method} />}>
        <Form
          submit="Try it"
          onSubmit={(values) => start({ source: format(values) })}
          alternative={{ label: "Open in the playground", onSubmit: open }}
        >
          <ArgumentFields fields={fields} />
        </Form>
        {isRunning && <Button label="Stop" tone="danger" onClick={stop} />}
      </Card>
      <RunView run={run.value} info={info}>
        The call has your rights, and asks as every call does.
      </RunView>
    </div>
  );
}

/** Writes a program that calls the method. */
function formatCall({ access }: MethodDetail, args: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(args).map(([name, value]) => `  ${formatKey(name)}: ${JSON.stringify(value)},\n`);
  return `return await ${access}(${members.length === 0 ? "" : `{\n${members.join("")}}`});\n`;
}

/** In a literal, a bare `__proto__` would set the prototype. */
function formatKey(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
