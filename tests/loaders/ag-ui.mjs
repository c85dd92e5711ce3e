// Let the client of AG-UI verify the order of events, and make messages of them. Prints these by the
// name of the stream, or what is wrong.
import { readFileSync } from "node:fs";
import { HttpAgent, verifyEvents } from "@ag-ui/client";
import { from, lastValueFrom, toArray } from "rxjs";

const streams = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const made = {};
for (const [name, frames] of Object.entries(streams)) {
  try {
    await lastValueFrom(from(frames).pipe(verifyEvents(), toArray()));
    const agent = new HttpAgent({ url: "http://localhost" });
    agent.run = () => from(frames);
    await agent.runAgent();
    made[name] = { messages: agent.messages };
  } catch (fault) {
    made[name] = { fault: String(fault) };
  }
}
console.log(JSON.stringify(made));
