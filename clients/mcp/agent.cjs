// An agent by the TypeScript SDK, unchanged: agent.cjs URL KEY QUESTION prints what it is told, as JSON.
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

async function main([url, key, question]) {
  const agent = new Client({ name: "test", version: "1" });
  const headers = { Authorization: `Bearer ${key}` };
  await agent.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await agent.listTools();
  const found = await agent.callTool({ name: "search", arguments: { query: question } });
  const { resources } = await agent.listResources();
  const document = await agent.readResource({ uri: resources[0].uri });
  await agent.close();
  console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), found, resources, document }));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
