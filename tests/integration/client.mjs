// A client of the official TypeScript SDK, of either generation, for tests to drive: it connects
// as its argument says, then does what each line of its input says, and answers with a line. The
// packages are those of the folder in which it is started.
//
// Argument: {"sdk": "1" | "2", "mode": "legacy" | "auto", "to": {"command", "args"} | {"url", "headers"}}
// Input:    [method of the client, its argument]
// Output:   {"result": ...} | {"error": "..."}, and meanwhile {"progress": ...} of a call and
//           {"changed": [names of tools]}

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { sdk, mode, to } = JSON.parse(process.argv[2]);
const require = createRequire(process.cwd() + "/");
const modules = {
  1: ["index", "stdio", "streamableHttp"].map((part) => `@modelcontextprotocol/sdk/client/${part}.js`),
  2: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
}[sdk];
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = Object.assign(
  {},
  ...modules.map(require),
);

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const onChanged = (error, tools) => say({ changed: error ? String(error) : tools.map((t) => t.name) });
const onprogress = (progress) => say({ progress });
const client = new Client(
  { name: "tests", version: "1" },
  { versionNegotiation: { mode }, listChanged: { tools: { debounceMs: 0, onChanged } } },
);
const transport = to.url
  ? new StreamableHTTPClientTransport(new URL(to.url), { requestInit: { headers: to.headers } })
  : new StdioClientTransport(to);

// Where the options of a call stand among its arguments.
const calling = { 1: [undefined, { onprogress }], 2: [{ onprogress }] }[sdk];
const run = (method, argument) =>
  client[method](argument, ...(method === "callTool" ? calling : []));

async function answer(work) {
  try {
    say({ result: (await work()) ?? null });
  } catch (error) {
    say({ error: String(error) });
  }
}

await answer(() => client.connect(transport));
for await (const line of createInterface({ input: process.stdin })) {
  const [method, argument] = JSON.parse(line);
  await answer(() => run(method, argument));
}
await client.close();
