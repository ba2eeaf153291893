import type { RefusalGroup, RefusalReport } from "../../program-messages.ts";
import { Chart } from "../components/chart.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Card, EmptyState, Facts } from "../components/elements.tsx";
import { Load } from "../components/load.tsx";
import { Code, countNoun, formatCount, Text, Time } from "../components/text.tsx";
import { type TableColumn, VirtualTable } from "../components/virtual-table.tsx";
import { formatLink, navigate } from "../router.ts";
import type { PageProps } from "./index.ts";

const COLUMNS: readonly TableColumn<RefusalGroup>[] = [
  { title: "Mistake", width: "208px", render: ({ code }) => <Text value={code} /> },
  { title: "Name", width: "2fr", render: ({ name }) => <Text value={name} limit={100} /> },
  {
    title: "Programs",
    width: "96px",
    narrow: "below",
    align: "end",
    render: ({ programs }) => countNoun(programs, "program"),
  },
  {
    title: "Callers",
    width: "88px",
    narrow: "below",
    align: "end",
    render: ({ callers }) => countNoun(callers, "caller"),
  },
  { title: "Last", width: "136px", narrow: "below", align: "end", render: ({ last }) => <Time at={last} /> },
];

/** The programs that were refused, by mistake and method: they show how to help models. */
export function RefusalsPage({ segments: [code, name = ""] }: PageProps) {
  return (
    <Load<RefusalReport> path="/refusals" reloadOn={["run", "catalog"]} lines={12}>
      {(report) => {
        const group = report.groups.find((each) => each.code === code && each.name === name);
        return (
          <>
            <Groups report={report} />
            {group !== undefined && <GroupDrawer group={group} />}
          </>
        );
      }}
    </Load>
  );
}

function Groups({ report: { programs, hidden, times, counts, groups } }: { readonly report: RefusalReport }) {
  if (programs === 0)
    return (
      <EmptyState icon="refusals" title="No refused programs">
        The check of a program finds its mistakes before anything runs. What it finds is listed here.
      </EmptyState>
    );
  return (
    <>
      <Card title="Refused programs over time">
        <Chart
          label={`${countNoun(programs, "refused program")} over time`}
          unit="count"
          times={times}
          series={[{ label: "Refused", color: "--warn", values: counts, isFilled: true }]}
        />
      </Card>
      <p class="muted table-count" role="status">
        <a href={formatLink(["runs"], { state: "refused" })}>{countNoun(programs, "refused program")}</a>
        {hidden > 0 && `, ${formatCount(hidden)} of them of callers whose programs you may not see`}
      </p>
      <VirtualTable
        label="Mistakes"
        columns={COLUMNS}
        rows={groups}
        getKey={({ code, name }) => `${code} ${name}`}
        onOpen={({ code, name }) => navigate(formatLink(["refusals", code, name]))}
      />
    </>
  );
}

function GroupDrawer({
  group: { code, name, programs, callers, last, example, help },
}: {
  readonly group: RefusalGroup;
}) {
  return (
    <Dialog form="drawer" title={`${code} ${name}`} onClose={() => navigate(formatLink(["refusals"]))}>
      <Facts
        facts={{
          Programs: formatCount(programs),
          Callers: formatCount(callers),
          Last: <Time at={last} />,
          Example: <a href={formatLink(["runs", example.run])}>run {example.run.slice(0, 8)}</a>,
        }}
      />
      <h3>What a model wrote</h3>
      <Text in="p" value={example.message} limit={1_000} />
      <Code label="The place in the program" value={example.frame} />
      {example.fix !== "" && <Text in="p" value={example.fix} limit={1_000} />}
      <h3>What helps</h3>
      <Text in="p" value={help.text} limit={1_000} />
      {help.edit !== "" && (
        <>
          <p class="muted">
            Write into <Text value={help.where} limit={300} />:
          </p>
          <Code label="The text to write" value={help.edit} />
        </>
      )}
    </Dialog>
  );
}
