import type { LogLine } from "../../../messages.ts";
import { EmptyState } from "../../components/elements.tsx";
import { type Choice, Field, FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { LogList } from "../../components/log-list.tsx";
import { countNoun } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLine["level"][];

const CHOICES: readonly Choice[] = [
  ["", "every level"],
  ["info", "info and above"],
  ["warn", "warnings and errors"],
  ["error", "errors"],
];

/** Lines that are drawn at once. */
const MAX_DRAWN = 300;

/** The newest lines that the server, its skills and its MCP servers have written. */
export function LogPage({ query }: PageProps) {
  const { q: text = "", level = "" } = Object.fromEntries(query);
  const select = (change: Readonly<Record<string, string>>): void =>
    navigate(formatLink(["log"], { q: text, level, ...change }), { replace: true });
  return (
    <>
      <div class="row">
        <FilterField
          label="Text"
          placeholder="Filter by text or method"
          class="wide"
          value={text}
          onChange={(q) => select({ q })}
        />
        <Field
          name="level"
          label="Level"
          isLabelHidden
          value={level}
          choices={CHOICES}
          onText={(value) => select({ level: value })}
        />
      </div>
      <Load<{ readonly lines: readonly LogLine[] }>
        path="/log"
        reloadOn={["call", "run", "servers", "store"]}
        lines={12}
      >
        {({ lines }) => <Lines lines={filterLines(lines, text, level)} />}
      </Load>
    </>
  );
}

function filterLines(lines: readonly LogLine[], text: string, level: string): readonly LogLine[] {
  const words = text.toLowerCase();
  const least = Math.max(
    0,
    LEVELS.findIndex((each) => each === level),
  );
  const isShown = (line: LogLine): boolean =>
    LEVELS.indexOf(line.level) >= least && `${line.path ?? ""} ${line.text}`.toLowerCase().includes(words);
  return lines.filter(isShown);
}

function Lines({ lines }: { readonly lines: readonly LogLine[] }) {
  if (lines.length === 0)
    return (
      <EmptyState icon="log" title="No lines">
        What skills, MCP servers and the server itself report since its start is listed here, the newest 1,000 lines.
      </EmptyState>
    );
  return (
    <>
      <p class="muted" role="status">
        {countNoun(lines.length, "line")}, the newest first
      </p>
      <LogList lines={lines.slice(0, MAX_DRAWN)} hasRuns />
      {lines.length > MAX_DRAWN && <p class="muted">Use the filter to see older lines.</p>}
    </>
  );
}
