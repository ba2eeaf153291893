import type { EditorView } from "@codemirror/view";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { ProgramCheck, RecordedRunDetail } from "../../../program-messages.ts";
import { request } from "../../api.ts";
import { CodeEditor, moveCursor, replaceText } from "../../components/editor/code-editor.tsx";
import { Button, Card } from "../../components/elements.tsx";
import { Field } from "../../components/form.tsx";
import { useProgramRun } from "../../components/outcome/program-run.ts";
import { RunView } from "../../components/outcome/run-view.tsx";
import { SaveAutomationDialog } from "../../components/outcome/save-automation.tsx";
import { formatLink, navigate } from "../../router.ts";
import { showError } from "../../state/toasts.ts";
import type { PageProps } from "../index.ts";
import { addToHistory } from "./history.ts";
import { createProgramLanguage } from "./language.ts";
import { PlanView } from "./plan-view.tsx";
import { ProgramMenu } from "./program-menu.tsx";

/** The text of the editor in this browser. */
const STORAGE_KEY = "skillgate-playground";

/** Longer programs are not stored in the browser. */
const MAX_STORED_UNITS = 200_000;

const EXAMPLE = `// Call methods of skills: device.Skill.method({ … })
return 6 * 7;
`;

const READS_INPUT = /\bdevice\s*\.\s*input\b/;

/** An editor in which a person writes a program as a model does: completion, check, plan, run. */
export function PlaygroundPage({ info, query }: PageProps) {
  const linked = query.get("program") ?? "";
  const stored = useRef(linked || (localStorage.getItem(STORAGE_KEY) ?? EXAMPLE));
  const source = useRef(stored.current);
  const view = useRef<EditorView | null>(null);
  /** True if the program was changed after its run. */
  const isOutdated = useSignal(false);
  const input = useInput(stored.current);
  const check = useSignal<ProgramCheck | undefined>(undefined);
  const language = useMemo(() => createProgramLanguage((result) => (check.value = result)), []);
  const saving = useSaving(info);
  const { run, start, stop } = useProgramRun();
  const [runId, token] = [query.get("run") ?? "", query.get("continue") ?? ""];
  const isRunning = run.value?.state === "running";

  useEffect(() => {
    if (runId === "") return;
    request<RecordedRunDetail>(`/runs/${encodeURIComponent(runId)}`)
      .then((recorded) => view.current && replaceText(view.current, recorded.source))
      .catch(showError);
  }, [runId]);

  useEffect(() => {
    if (linked !== "" && view.current !== null && source.current !== linked) replaceText(view.current, linked);
  }, [linked]);

  const execute = (): void => {
    if (source.current.trim() === "") return;
    isOutdated.value = false;
    saving.source.current = source.current;
    addToHistory(source.current);
    start({ source: source.current, ...input.read(), ...(token !== "" && { continue: token }) });
  };
  const move = (line: number, column: number): void => {
    if (view.current !== null) moveCursor(view.current, line, column);
  };
  return (
    <>
      {token !== "" && <ContinueNote token={token} />}
      {linked !== "" && <p class="notice">This program came with the link. Read it before you run it.</p>}
      <div class="columns">
        <Card title="Program" actions={<RunButton isRunning={isRunning} onRun={execute} onStop={stop} />}>
          <ProgramMenu
            getProgram={() => source.current}
            onChoose={(program) => view.current !== null && replaceText(view.current, program)}
          />
          <CodeEditor
            label="Program"
            text={stored.current}
            extensions={language}
            view={view}
            onSubmit={execute}
            onChange={(text) => {
              source.current = text;
              isOutdated.value = true;
              input.notice(text);
              if (linked !== "" && text !== linked) navigate(formatLink(["playground"]), { replace: true });
              if (text.length <= MAX_STORED_UNITS) localStorage.setItem(STORAGE_KEY, text);
            }}
          />
          {input.field}
          <p class="muted small">
            <kbd>Ctrl Enter</kbd> runs, <kbd>Ctrl Space</kbd> completes, <kbd>Tab</kbd> leaves the editor
          </p>
          <PlanView check={check.value} onPlace={move} />
        </Card>
        <RunView run={run.value} info={info} onPlace={move} isOutdated={isOutdated.value} {...saving.listener}>
          Press <kbd>Ctrl Enter</kbd> in the editor.
        </RunView>
        {saving.dialog}
      </div>
    </>
  );
}

interface RunButtonProps {
  readonly isRunning: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

function RunButton({ isRunning, onRun, onStop }: RunButtonProps) {
  if (isRunning) return <Button label="Stop" tone="danger" onClick={onStop} />;
  return <Button label="Run" tone="primary" icon="playground" title="Ctrl Enter" onClick={onRun} />;
}

/** A field for the input of programs that take one. */
function useInput(program: string) {
  const isRead = useSignal(READS_INPUT.test(program));
  const json = useRef("");
  return {
    notice: (changed: string) => void (isRead.value = READS_INPUT.test(changed)),
    read: () => (isRead.value && json.current.trim() !== "" ? { input: json.current } : {}),
    field: isRead.value && (
      <Field
        label="Input"
        name="input"
        rows={2}
        placeholder='{"city": "Rome"}'
        note="JSON: the value that device.input() gives"
        onText={(text) => (json.current = text)}
      />
    ),
  };
}

/** Offers to save the last run as an automation, to readers who may. */
function useSaving({ admin }: PageProps["info"]) {
  const run = useSignal("");
  /** The program of the last run. */
  const source = useRef("");
  return {
    source,
    listener: admin.includes("ManageServers") ? { onSave: (id: string) => (run.value = id) } : {},
    dialog: run.value !== "" && (
      <SaveAutomationDialog run={run.value} source={source.current} onClose={() => (run.value = "")} />
    ),
  };
}

/** Says that the next run continues another one. */
function ContinueNote({ token }: { readonly token: string }) {
  return (
    <p class="notice">
      <span>
        The program continues <a href={formatLink(["runs", token])}>run {token.slice(0, 8)}</a>: what that run has done
        is not done again.
      </span>
      <Button label="Run it on its own instead" tone="small" onClick={() => navigate(formatLink(["playground"]))} />
    </p>
  );
}
