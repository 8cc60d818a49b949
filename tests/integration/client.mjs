// A client of the official TypeScript SDK, of either generation, for tests to drive: it connects
// as its argument says, then does what each line of its input says, and answers with a line.
//
// Argument: {"sdk": "1" | "2", "mode": "legacy" | "auto", "to": {"command", "args"} | {"url", "headers"}}
// Input:    [method of the client, its argument]
// Output:   {"result": ...} | {"error": "..."}; {"changed": [names of tools]} when the list changes

import { createInterface } from "node:readline";

const { sdk, mode, to } = JSON.parse(process.argv[2]);
const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

async function load() {
  if (sdk === "2") {
    const [all, stdio] = await Promise.all([
      import("@modelcontextprotocol/client"),
      import("@modelcontextprotocol/client/stdio"),
    ]);
    return { ...all, ...stdio };
  }
  const root = "@modelcontextprotocol/sdk/client";
  const parts = await Promise.all(
    ["index", "stdio", "streamableHttp"].map((part) => import(`${root}/${part}.js`)),
  );
  return Object.assign({}, ...parts);
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await load();
const onChanged = (error, tools) => say({ changed: error ? String(error) : tools.map((t) => t.name) });
const client = new Client(
  { name: "tests", version: "1" },
  { versionNegotiation: { mode }, listChanged: { tools: { debounceMs: 0, onChanged } } },
);
const transport = to.url
  ? new StreamableHTTPClientTransport(new URL(to.url), { requestInit: { headers: to.headers } })
  : new StdioClientTransport(to);

const answer = async (work) => {
  try {
    say({ result: (await work()) ?? null });
  } catch (error) {
    say({ error: String(error) });
  }
};

await answer(() => client.connect(transport));
for await (const line of createInterface({ input: process.stdin })) {
  const [method, argument] = JSON.parse(line);
  await answer(() => client[method](argument));
}
await client.close();
