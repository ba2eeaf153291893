import { useEffect, useState } from "preact/hooks";

import type { RunComparison, RunNeighbours } from "../../../program-messages.ts";
import { request } from "../../api.ts";
import { Card, EmptyState } from "../../components/elements.tsx";
import { Heading } from "../../components/heading.tsx";
import { Load } from "../../components/load.tsx";
import { Program } from "../../components/program.tsx";
import { Code } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import { formatRunQuery, RunTable } from "./run-table.tsx";

interface RunChooserProps {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly hasCallers: boolean;
}

/** The list from which the run to compare with is chosen; the one before of the same program stands above it. */
export function RunChooser({ id, query, hasCallers }: RunChooserProps) {
  const program = query.get("program") ?? "";
  const open = (other: string): void => navigate(formatLink(["runs", id, "diff", other]));
  return (
    <>
      <Heading title={`Compare run ${id.slice(0, 8)}`} back={createWayBack(id)} />
      {program !== "" && <EarlierRun id={id} program={program} />}
      <RunTable
        segments={["runs", id, "diff"]}
        query={query}
        hasCallers={hasCallers}
        isRecorded
        onOpen={({ id: other }) => open(other)}
      >
        <EmptyState icon="runs" title="There is no other run">
          Run the program again in the playground.
        </EmptyState>
      </RunTable>
    </>
  );
}

/** The link to the comparison with the run before of the same program. */
function EarlierRun({ id, program }: { readonly id: string; readonly program: string }) {
  const [earlier, setEarlier] = useState<string | null>(null);
  useEffect(() => {
    request<RunNeighbours>(`/runs/${encodeURIComponent(id)}/neighbours?${formatRunQuery({ program }, true)}`).then(
      ({ next }) => setEarlier(next),
      () => {}, // the list says what is wrong
    );
  }, [id, program]);
  if (earlier === null)
    return (
      <p class="muted">
        This is the first recorded run of its program. <a href={formatLink(["runs", id, "diff"])}>Show all runs</a>
      </p>
    );
  return (
    <p class="row">
      <a class="button button-primary" href={formatLink(["runs", id, "diff", earlier])}>
        Compare with the previous run of this program
      </a>
      <span class="muted">
        or choose another one, also <a href={formatLink(["runs", id, "diff"])}>of other programs</a>
      </span>
    </p>
  );
}

function createWayBack(id: string): { readonly title: string; readonly href: string } {
  return { title: `Run ${id.slice(0, 8)}`, href: formatLink(["runs", id]) };
}

/** The differences between two runs, call by call. */
export function RunComparisonView({ first, second }: { readonly first: string; readonly second: string }) {
  return (
    <>
      <Heading title={`Runs ${first.slice(0, 8)} and ${second.slice(0, 8)}`} back={createWayBack(first)}>
        <a class="button button-small" href={formatLink(["runs", second])}>
          Run {second.slice(0, 8)}
        </a>
      </Heading>
      <Load<RunComparison> path={`/runs/${encodeURIComponent(first)}/diff/${encodeURIComponent(second)}`}>
        {({ differences }) => <Differences differences={differences} />}
      </Load>
    </>
  );
}

function Differences({ differences }: Pick<RunComparison, "differences">) {
  if (differences.length === 0)
    return (
      <EmptyState icon="runs" title="The runs are the same">
        Program, calls, answers and outcome are equal.
      </EmptyState>
    );
  return (
    <>
      {differences.map(({ call, path, part, first, second }, at) => (
        <Card key={at} title={call === undefined ? part : `Call ${call}, ${path}: ${part}`}>
          <div class="columns">
            {[first, second].map((value, side) => {
              const label = side === 0 ? "First run" : "Second run";
              return part === "source" ? (
                <Program key={label} label={label} source={value} />
              ) : (
                <Code key={label} label={label} value={value} />
              );
            })}
          </div>
        </Card>
      ))}
    </>
  );
}
