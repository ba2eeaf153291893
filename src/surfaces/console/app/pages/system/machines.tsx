import type { MachineReport } from "../../../messages.ts";
import { Card, EmptyState, TextList } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text } from "../../components/text.tsx";

/** The machines that offer their skills, and the processes that execute the runs. */
export function MachinesPage() {
  return (
    <Load<MachineReport> path="/machines" reloadOn={["catalog"]}>
      {({ devices, executors }) => (
        <div class="columns">
          <Card title="Devices">
            <Devices devices={devices} />
          </Card>
          <Card title="Executors">
            <Executors executors={executors} />
          </Card>
        </div>
      )}
    </Load>
  );
}

function Devices({ devices }: Pick<MachineReport, "devices">) {
  if (devices.length === 0)
    return (
      <EmptyState icon="machines" title="No devices">
        Other machines offer their skills with <code>skillgate node</code>, in the network of the section{" "}
        <code>nodes</code> of settings.yaml.
      </EmptyState>
    );
  return (
    <ul class="list">
      {devices.map(({ device, title, skills, methods, calls }) => (
        <li key={device} class="stack-tight">
          <div class="list-row">
            <Text in="strong" class="list-main" value={title === "" ? device : title} limit={100} />
            <span class="muted">{countNoun(methods, "method")}</span>
            <span class="muted">{countNoun(calls, "call")}</span>
          </div>
          <Text in="code" value={device} limit={100} />
          <TextList class="words" label="Skills" texts={skills} />
        </li>
      ))}
    </ul>
  );
}

function Executors({ executors }: Pick<MachineReport, "executors">) {
  if (executors === null)
    return (
      <EmptyState icon="machines" title="This server executes the runs itself">
        The section <code>executors</code> of settings.yaml hands them to processes that run{" "}
        <code>skillgate executor</code>.
      </EmptyState>
    );
  return (
    <>
      {executors.failure !== null && <Text in="p" class="notice notice-error" value={executors.failure} />}
      {executors.processes.length === 0 && <p class="muted">No executor of this version answers.</p>}
      <TextList class="list words" label="Executors" texts={executors.processes} />
    </>
  );
}
