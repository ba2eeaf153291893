import type { EditorView } from "@codemirror/view";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { RecordedRunDetail, ProgramCheck } from "../../../run-messages.ts";
import { request } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { Icon } from "../../components/icon.tsx";
import { formatLink, navigate } from "../../router.ts";
import { showError } from "../../state/toasts.ts";
import type { PageProps } from "../index.ts";
import { Editor, moveCursor, replaceText } from "./editor.tsx";
import { PlanView } from "./plan-view.tsx";
import { useProgramRun } from "./program-run.ts";
import { RunView } from "./run-view.tsx";

/** The text of the editor in this browser. */
const STORAGE_KEY = "skillgate-playground";

/** Longer programs are not stored in the browser. */
const MAX_STORED_UNITS = 200_000;

const EXAMPLE = `// Call methods of skills: device.Skill.method({ … })
return 6 * 7;
`;

/** An editor in which a person writes a program as a model does: completion, check, plan, run. */
export function PlaygroundPage({ info, query }: PageProps) {
  const stored = useRef(localStorage.getItem(STORAGE_KEY) ?? EXAMPLE);
  const source = useRef(stored.current);
  const view = useRef<EditorView | null>(null);
  const check = useSignal<ProgramCheck | undefined>(undefined);
  const { run, start, stop } = useProgramRun();
  const [runId, token] = [query.get("run") ?? "", query.get("continue") ?? ""];
  const isRunning = run.value?.state === "running";

  useEffect(() => {
    if (runId === "") return;
    request<RecordedRunDetail>(`/runs/${encodeURIComponent(runId)}`)
      .then((recorded) => view.current && replaceText(view.current, recorded.source))
      .catch(showError);
  }, [runId]);

  const execute = (): void => {
    if (source.current.trim() === "") return;
    start({ source: source.current, ...(token !== "" && { continue: token }) });
  };
  return (
    <>
      {token !== "" && <ContinueNote token={token} />}
      <div class="columns playground">
        <Card
          title="Program"
          actions={
            isRunning ? (
              <button type="button" class="button button-danger" onClick={stop}>
                Stop
              </button>
            ) : (
              <button type="button" class="button button-primary" onClick={execute} title="Ctrl Enter">
                <Icon name="playground" />
                Run
              </button>
            )
          }
        >
          <Editor
            text={stored.current}
            view={view}
            onRun={execute}
            onCheck={(result) => (check.value = result)}
            onChange={(text) => {
              source.current = text;
              if (text.length <= MAX_STORED_UNITS) localStorage.setItem(STORAGE_KEY, text);
            }}
          />
          <p class="muted editor-help">
            <kbd>Ctrl Enter</kbd> runs, <kbd>Ctrl Space</kbd> completes, <kbd>Tab</kbd> leaves the editor
          </p>
          <PlanView
            check={check.value}
            onPlace={(line, column) => view.current && moveCursor(view.current, line, column)}
          />
        </Card>
        <RunView
          run={run.value}
          info={info}
          onPlace={(line, column) => view.current && moveCursor(view.current, line, column)}
        />
      </div>
    </>
  );
}

/** Says that the next run continues another one. */
function ContinueNote({ token }: { readonly token: string }) {
  return (
    <p class="notice">
      <span>
        The program continues <a href={formatLink(["runs", token])}>run {token.slice(0, 8)}</a>: what that run has done
        is not done again.
      </span>
      <button type="button" class="button button-small" onClick={() => navigate(formatLink(["playground"]))}>
        Run it on its own instead
      </button>
    </p>
  );
}
